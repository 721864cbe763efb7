//! `new` and `migrate`: for people who write chapters.

use super::Exit;
use super::fault::Fault;
use super::record::write;
use super::say::Say;
use anyhow::Context as _;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use vramlab_lesson::migrate::{Migrated, migrate as migrate_text};
use vramlab_units::Lang;

#[derive(clap::Args)]
pub struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// A commented chapter that passes `check`. With --lang it carries one language, else both.
    Chapter {
        /// The chapter's id, which is its folder's name: 40_my_chapter.
        id: String,
        /// The folder to make it in.
        #[arg(long, default_value = ".")]
        dir: PathBuf,
    },
}

pub fn new(args: &New, lang: Option<Lang>, say: &Say) -> anyhow::Result<Exit> {
    let What::Chapter { id, dir } = &args.what;
    let text = vramlab_lesson::scaffold::scaffold(id, lang).map_err(|error| Fault::usage(error.to_string()))?;
    let folder = dir.join(id);
    let path = folder.join("chapter.toml");
    if path.exists() {
        let what = format!("{} exists already; nothing was changed", path.display());
        return Err(Fault::usage(what).help("choose another id, or another folder with --dir").into());
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    write(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    let shown = path.display().to_string();
    if say.is_json {
        say.json(&json!({ "schema": 1, "path": shown }));
    } else {
        say.data(&shown);
    }
    say.note(&format!("next: vramlab --lessons {}   (shows it, and again after every change)", dir.display()));
    say.note(&format!("      vramlab check {}", folder.display()));
    Ok(Exit::Fine)
}

#[derive(clap::Args)]
pub struct Migrate {
    /// A chapter file, or a folder of them. Each is rewritten in place; what it was stays beside it as *.before.
    path: PathBuf,
    /// Prints what would change and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

pub fn migrate(args: &Migrate, say: &Say) -> anyhow::Result<Exit> {
    let mut files = Vec::new();
    chapters_below(&args.path, 0, &mut files);
    if files.is_empty() {
        let what = format!("there is no chapter at {}", args.path.display());
        return Err(Fault::usage(what).help("give a .toml file, or a folder with chapter.toml in it or below").into());
    }
    let mut done = Vec::new();
    let mut exit = Exit::Fine;
    for file in files {
        match migrate_file(&file, args.dry_run) {
            Ok(migrated) => done.push(report(&file, &migrated, args.dry_run, say)),
            Err(why) => {
                say.error(&format!("{why}: {}", file.display()), None);
                exit = Exit::Findings;
            }
        }
    }
    if say.is_json {
        say.json(&json!({ "schema": 1, "is_dry_run": args.dry_run, "files": done }));
    }
    Ok(exit)
}

fn report(file: &Path, migrated: &Migrated, is_dry_run: bool, say: &Say) -> Value {
    let to = vramlab_lesson::SCHEMA;
    if !say.is_json {
        let words = match (migrated.from == to, is_dry_run) {
            (true, _) => format!("is version {to} already"),
            (false, true) => format!("would go from version {} to {to}", migrated.from),
            (false, false) => format!("version {} to {to}", migrated.from),
        };
        say.data(&format!("{}: {words}", file.display()));
        migrated.changes.iter().for_each(|change| say.data(&format!("  {change}")));
    }
    json!({ "file": file, "from": migrated.from, "to": to, "changes": migrated.changes })
}

fn migrate_file(file: &Path, is_dry_run: bool) -> Result<Migrated, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    if bytes.len() > vramlab_lesson::parse::MAX_FILE_BYTES {
        return Err(format!("a chapter has at most {} bytes", vramlab_lesson::parse::MAX_FILE_BYTES));
    }
    let migrated = migrate_text(&bytes).map_err(|error| error.to_string())?;
    if !is_dry_run && migrated.text.as_bytes() != bytes {
        let before = file.with_extension("toml.before");
        write(&before, &bytes)
            .and_then(|()| write(file, migrated.text.as_bytes()))
            .map_err(|error| error.to_string())?;
    }
    Ok(migrated)
}

/// `chapter.toml` in the folder and below; a file is taken as it is.
fn chapters_below(path: &Path, depth: usize, out: &mut Vec<PathBuf>) {
    if path.is_file() {
        out.push(path.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        let is_chapter = entry.file_name().is_some_and(|name| name == "chapter.toml");
        if is_chapter || (entry.is_dir() && !entry.is_symlink() && depth < 8) {
            chapters_below(&entry, depth + 1, out);
        }
    }
}
