//! Opens a model file: the head of a large one, a folder by its config.json, and names for what is none.

use super::fault;
use crate::cli::fault::Fault;
use crate::cli::say::Say;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use vramlab_modelfile::{Head, Model, Problem, read};
use vramlab_shell::intake::{Use, recognise, use_of};
use vramlab_sniff::Kind;
use vramlab_units::Lang;

/// The beginning that is enough for nearly every file; more is read where a header asks for it.
const FIRST: u64 = 32 << 20;
/// A header larger than this is none.
const MOST: u64 = 1 << 30;

/// The model, and the file's name.
pub fn open(path: &Path, given: &[(String, String)], say: &Say) -> Result<(Model, String), Fault> {
    let inside = path.join("config.json");
    let path = if path.is_dir() { inside.as_path() } else { path };
    let name = path.display().to_string();
    let failed = |error: std::io::Error| Fault::usage(format!("{error}: {name}"));
    let mut file = File::open(path).map_err(failed)?;
    let n_bytes = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    let mut want = FIRST;
    loop {
        (&mut file).take(want - bytes.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        match read(Head { bytes: &bytes, n_bytes: n_bytes.max(bytes.len() as u64) }, given) {
            Ok(model) => return Ok((model, name)),
            Err(Problem { need: Some(need), .. }) if need > want && need <= MOST => want = (want * 2).max(need),
            Err(problem) => {
                if let Some(other) = other(path, &bytes, n_bytes, say) {
                    return Err(other);
                }
                let at = if problem.place.is_some() { format!("{name}: ") } else { String::new() };
                let fault = fault(&problem, say);
                return Err(Fault { what: format!("{at}{}", fault.what), ..fault });
            }
        }
    }
}

/// A file of another kind is named, with the command that opens it.
fn other(path: &Path, bytes: &[u8], n_bytes: u64, say: &Say) -> Option<Fault> {
    let sniffed = recognise(vramlab_sniff::Head { bytes, n_bytes });
    let name = path.display().to_string();
    let command = match sniffed.kind {
        Kind::Snapshot | Kind::MemorySummary => format!("vramlab snapshot {name}"),
        // A model's file, or text that its own reader says more about.
        Kind::HfConfig | Kind::Safetensors | Kind::SafetensorsIndex | Kind::Gguf | Kind::Json => return None,
        Kind::Html | Kind::LfsPointer | Kind::Empty => return None,
        Kind::Text if bytes.trim_ascii_start().starts_with(b"{") => return None,
        _ if use_of(sniffed.kind) != Use::No => format!("vramlab {name}"),
        _ => String::new(),
    };
    let kind = sniffed.kind.name().get(say.lang);
    let models = "config.json, .safetensors, model.safetensors.index.json, .gguf";
    let help = match (command.is_empty(), say.lang) {
        (false, Lang::Zh) => format!("{command} 打开它；fit 读的是模型的文件：{models}"),
        (false, Lang::En) => format!("`{command}` opens it; fit reads the file of a model: {models}"),
        (true, Lang::Zh) => format!("fit 读的是模型的文件：{models}"),
        (true, Lang::En) => format!("fit reads the file of a model: {models}"),
    };
    Some(Fault::usage(format!("{name}: {kind}")).help(help))
}
