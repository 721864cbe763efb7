//! Makes the static web page out of a compiled wasm module: `cargo xtask web` runs it. A tool, never shipped.
//!
//! `site.rs` names and writes the files, `text.rs` makes the text version of each chapter, `guide.rs` that of routes and
//! handbook, `html.rs` turns lesson Markdown into HTML. `links.rs`, `parts.rs` and `split.rs` cut the program in two, so
//! that the first page does not wait for what it does without.

mod guide;
mod html;
mod links;
mod parts;
mod site;
mod split;
mod text;

use anyhow::{Context as _, bail};
use links::Links;
use parts::Parts;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use walrus::{FunctionId, ModuleConfig};

const USAGE: &str = "usage: vramlab-bindgen WASM PAGE_DIR OUT_DIR";

fn main() -> anyhow::Result<()> {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [wasm, page, out] = args.as_slice() else { bail!(USAGE) };
    let bound = out.with_file_name("web-bound");
    let bytes = std::fs::read(wasm).with_context(|| wasm.display().to_string())?;
    bind(&bytes, &bound).with_context(|| format!("binding {}", wasm.display()))?;
    let n_files = site::write(&bound, page, out)?;
    std::fs::remove_dir_all(&bound)?;
    eprintln!("{n_files} files in {}", out.display());
    Ok(())
}

/// What the `wasm-bindgen` command does, by its library, and then the cut. Binaryen's `wasm-opt -Oz` is not run: it makes
/// the module an eighth smaller and its brotli a twentieth larger, which is what travels.
fn bind(wasm: &[u8], out: &Path) -> anyhow::Result<()> {
    let links = Links::read(wasm)?;
    let parts = parts::parts(&links)?;
    eprintln!("{}", parts.said);
    let (module, ids) = parse(wasm)?;
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_module("vramlab", module).web(true)?.typescript(false).omit_default_module_path(true);
    let mut bound = bindgen.generate_output()?;
    rename(bound.wasm_mut(), &ids, &parts);
    bound.emit(out)?;
    let whole = out.join("vramlab_bg.wasm");
    let cut = split::split(&std::fs::read(&whole)?, &parts.late_data(&links))?;
    std::fs::write(&whole, cut.first)?;
    std::fs::write(out.join("vramlab_late.wasm"), cut.late)?;
    Ok(())
}

/// The module, and what its functions are called in it by their index in the file.
fn parse(wasm: &[u8]) -> anyhow::Result<(walrus::Module, Vec<FunctionId>)> {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let found = Arc::clone(&ids);
    let mut config = ModuleConfig::new();
    config.strict_validate(false).generate_producers_section(false);
    config.on_parse(move |_, indices| {
        let all = (0..).map_while(|idx| indices.get_func(idx).ok()).collect();
        *found.lock().map_err(|_| anyhow::anyhow!("the list of functions is lost"))? = all;
        Ok(())
    });
    let mut module = config.parse(wasm)?;
    let is_link = |name: &str| name == "linking" || name.starts_with("reloc.");
    let links: Vec<_> = module.customs.iter().filter(|(_, it)| is_link(it.name())).map(|(id, _)| id).collect();
    links.into_iter().for_each(|id| drop(module.customs.delete(id)));
    let ids = std::mem::take(&mut *ids.lock().map_err(|_| anyhow::anyhow!("the list of functions is lost"))?);
    Ok((module, ids))
}

/// Gives every function a name of its own that says to which part it belongs; what the binding added belongs to the first.
fn rename(module: &mut walrus::Module, ids: &[FunctionId], parts: &Parts) {
    let late: std::collections::HashSet<FunctionId> =
        ids.iter().enumerate().filter(|(idx, _)| parts.is_late[*idx]).map(|(_, id)| *id).collect();
    for (idx, function) in module.funcs.iter_mut().enumerate() {
        let part = if late.contains(&function.id()) { split::LATE } else { "first " };
        let before = function.name.take().unwrap_or_default();
        function.name = Some(format!("{part}{idx} {before}"));
    }
}
