//! `vramlab FILE` where no window can open: what the file is, by its content, and where it would be handled.

use super::Exit;
use super::say::Say;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use vramlab_shell::intake::{Use, in_a_line, recognise, use_of};
use vramlab_sniff::{Head, Sniffed};

pub const SCHEMA: u32 = 1;

/// Says what each file is; a file that is of no use here is a finding.
pub fn run(files: &[PathBuf], say: &Say) -> anyhow::Result<Exit> {
    let mut all = Vec::new();
    let mut is_fine = true;
    for path in files {
        let name = path.display().to_string();
        if path.is_dir() {
            is_fine = false;
            say.error(&format!("a folder needs the window: {name}"), Some("vramlab check DIR looks through lessons"));
            continue;
        }
        let (bytes, n_bytes) =
            crate::native::read_for_opening(path).map_err(|error| anyhow::anyhow!("{error}: {name}"))?;
        let sniffed = recognise(Head { bytes: &bytes, n_bytes });
        is_fine &= use_of(sniffed.kind) != Use::No;
        if !say.is_json {
            tell(path, &sniffed, say);
            if let Some(message) = super::snapshot::message::of(&bytes) {
                super::snapshot::message::lines(&message, say);
            }
        }
        all.push(as_json(&name, &sniffed, n_bytes));
    }
    if say.is_json {
        say.json(&json!({ "schema": SCHEMA, "files": all }));
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}

fn tell(path: &Path, sniffed: &Sniffed, say: &Say) {
    let lang = say.lang;
    say.data(&format!("{}\n  {}", path.display(), in_a_line(sniffed, lang)));
    for fact in &sniffed.facts {
        say.data(&format!("  {}  {}", fact.name.get(lang), fact.value.get(lang)));
    }
    if let Some(warning) = &sniffed.warning {
        say.data(&format!("  ! {}", warning.get(lang)));
    }
}

fn as_json(name: &str, sniffed: &Sniffed, n_bytes: u64) -> Value {
    let facts: Vec<Value> =
        sniffed.facts.iter().map(|fact| json!({ "name": fact.name.en, "value": fact.value })).collect();
    let chapter = match use_of(sniffed.kind) {
        Use::Later { chapter, .. } => Some(chapter),
        _ => None,
    };
    json!({
        "file": name,
        "kind": sniffed.kind.id(),
        "bytes": n_bytes,
        "opens": use_of(sniffed.kind) == Use::Open,
        "chapter": chapter,
        "facts": facts,
        "warning": sniffed.warning,
    })
}
