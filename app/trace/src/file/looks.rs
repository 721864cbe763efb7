//! What a file that is no trace looks like, so that the message can say it.

use vramlab_units::Text;

/// By its first bytes, never by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    Empty,
    Html,
    Json,
    Zip,
    Png,
    Gzip,
    Zstd,
    Pickle,
    /// A pointer of Git LFS in place of the file.
    LfsPointer,
    Text,
    Binary,
}

impl Looks {
    pub fn of(bytes: &[u8]) -> Self {
        let head = &bytes[..bytes.len().min(512)];
        let magic: &[(&[u8], Self)] = &[
            (b"PK\x03\x04", Self::Zip),
            (b"PK\x05\x06", Self::Zip),
            (b"\x89PNG", Self::Png),
            (b"\x1f\x8b", Self::Gzip),
            (b"\x28\xb5\x2f\xfd", Self::Zstd),
            (b"version https://git-lfs", Self::LfsPointer),
        ];
        if bytes.is_empty() {
            return Self::Empty;
        }
        if let Some((_, looks)) = magic.iter().find(|(magic, _)| head.starts_with(magic)) {
            return *looks;
        }
        if head[0] == 0x80 && head.get(1).is_some_and(|protocol| (2..=5).contains(protocol)) {
            return Self::Pickle;
        }
        Self::of_text(head)
    }

    fn of_text(head: &[u8]) -> Self {
        // A cut in the middle of a character at the end of the window is no reason to call it binary.
        let text = match std::str::from_utf8(head) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return Self::Binary,
        };
        if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
            return Self::Binary;
        }
        let start = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
        if ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag)) {
            Self::Html
        } else if start.starts_with('{') || start.starts_with('[') {
            Self::Json
        } else {
            Self::Text
        }
    }

    /// "… looks like X".
    pub fn text(self) -> Text {
        match self {
            Self::Empty => Text::new("空文件", "an empty file"),
            Self::Html => Text::new("HTML 网页，可能是登录页或错误页", "an HTML page, perhaps a login or error page"),
            Self::Json => Text::new("JSON 文本", "JSON text"),
            Self::Zip => {
                Text::new("zip 压缩包；先解压，再打开里面的文件", "a zip archive; unpack it and open the file inside")
            }
            Self::Png => Text::new("PNG 图片", "a PNG picture"),
            Self::Gzip => Text::new("gzip 压缩文件；先解压", "a gzip file; unpack it first"),
            Self::Zstd => Text::new("zstd 压缩文件；先解压", "a zstd file; unpack it first"),
            Self::Pickle => Text::new("Python pickle，也许是显存快照", "a Python pickle, perhaps a memory snapshot"),
            Self::LfsPointer => Text::new(
                "Git LFS 指针；用 git lfs pull 取回文件本身",
                "a Git LFS pointer; fetch the file with git lfs pull",
            ),
            Self::Text => Text::new("文本文件", "a text file"),
            Self::Binary => Text::new("不认识的二进制文件", "an unknown binary file"),
        }
    }
}
