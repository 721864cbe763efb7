//! What a model is, from the files that it travels in: Hugging Face `config.json`, safetensors and GGUF headers.
//!
//! Read `arch.rs` first: the description that every reader fills, each field with its origin. [`read`] recognises a file
//! by its content; `config/` resolves a configuration, `safetensors.rs` and `gguf/` read headers. `parts.rs` counts the
//! parameters matrix by matrix, `format.rs` gives them bytes, `kv.rs` what a token leaves in the cache.
//! Nothing is guessed in silence: what a file does not say is in `Architecture::unknown`, with what to add.
//! No files, clocks or threads; every count that a file states is held against the bytes that are there.

pub mod arch;
pub mod config;
pub mod dtype;
pub mod field;
pub mod format;
pub mod gguf;
pub mod json;
pub mod kv;
pub mod parts;
pub mod problem;
pub mod safetensors;
pub mod tensors;

pub use arch::{Architecture, Attention, Fact, Family, Layer, Origin, Unknown};
pub use dtype::Dtype;
pub use field::Field;
pub use format::Format;
pub use parts::{Part, Role};
pub use problem::Problem;
pub use tensors::Tensors;

use json::Node;

/// Largest configuration that is read; real ones have a few kilobytes.
pub const MAX_CONFIG: usize = 16 << 20;

/// The beginning of a file, and how long the whole is.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    pub bytes: &'a [u8],
    pub n_bytes: u64,
}

impl<'a> Head<'a> {
    /// A file that is here whole.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, n_bytes: bytes.len() as u64 }
    }
}

/// Which kind of file described the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Config,
    Safetensors,
    SafetensorsIndex,
    Gguf,
}

impl Source {
    pub fn id(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Safetensors => "safetensors",
            Self::SafetensorsIndex => "safetensors_index",
            Self::Gguf => "gguf",
        }
    }
}

/// A model as its file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub source: Source,
    pub arch: Architecture,
    /// What the file stores, where it lists tensors.
    pub tensors: Option<Tensors>,
}

/// Reads a model file by its content. `given` are settings of the reader, `key = value` as a configuration would hold them;
/// they win over the file. A [`Problem`] with `need` asks for more bytes from the beginning of the file.
pub fn read(head: Head<'_>, given: &[(String, String)]) -> Result<Model, Problem> {
    let bytes = head.bytes;
    if bytes.is_empty() {
        return Err(Problem::new("文件是空的", "the file is empty"));
    }
    if bytes.starts_with(b"GGUF") {
        return gguf::read(head, given);
    }
    if bytes.get(8) == Some(&b'{') && !bytes.starts_with(b"{") && !bytes.starts_with(b" ") {
        return safetensors::read(head, given);
    }
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes[start..]);
    if let Some(problem) = not_a_model(text) {
        return Err(problem);
    }
    if head.n_bytes > MAX_CONFIG as u64 {
        let mb = head.n_bytes / 1_000_000;
        return Err(Problem::new(
            format!("文件有 {mb} MB；config.json 只有几 kB，权重文件该以 safetensors 或 GGUF 的文件头开头"),
            format!(
                "the file has {mb} MB; a config.json has a few kB, and a file of weights begins with a safetensors or GGUF \
                 header"
            ),
        ));
    }
    let root = json::parse(text, json::Limits::config()).map_err(|error| error.problem(text))?;
    if let Some(model) = safetensors::index(&root, given)? {
        return Ok(model);
    }
    let arch = config::resolve(&root, text, given)?;
    Ok(Model { source: Source::Config, arch, tensors: None })
}

/// Files that are often saved in the place of a model's, by their first bytes.
fn not_a_model(text: &[u8]) -> Option<Problem> {
    let begins = |word: &[u8]| text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word);
    if begins(b"version https://git-lfs") {
        return Some(Problem::new(
            "这是 Git LFS 指针，不是文件本身；用 git lfs pull 取回真正的文件",
            "this is a Git LFS pointer and not the file itself; `git lfs pull` fetches the real one",
        ));
    }
    if begins(b"<!doctype") || begins(b"<html") || begins(b"<?xml") {
        return Some(Problem::new(
            "这是网页，可能是登录页或错误页，不是 config.json；登录后重新下载",
            "this is a web page, perhaps for login or an error, and no config.json; log in and download it again",
        ));
    }
    if begins(b"PK\x03\x04") || begins(b"\x80") {
        return Some(Problem::new(
            "这是 PyTorch 检查点（zip 或 pickle）；这里读 config.json、safetensors 和 GGUF",
            "this is a PyTorch checkpoint (zip or pickle); config.json, safetensors and GGUF are read here",
        ));
    }
    (!begins(b"{")).then(|| {
        let seen: String = String::from_utf8_lossy(&text[..text.len().min(12)]).escape_default().to_string();
        Problem::new(
            format!("不是模型文件：开头是 “{seen}”；这里读 config.json、safetensors 和 GGUF"),
            format!("no model file: it begins with \"{seen}\"; config.json, safetensors and GGUF are read here"),
        )
    })
}

/// A number that a reader typed or a file holds, as JSON would.
pub(crate) fn node_of(text: &str) -> Node {
    json::parse(text.trim().as_bytes(), json::Limits::config())
        .unwrap_or_else(|_| Node { at: 0, value: json::Value::Text(text.trim().to_owned()) })
}
