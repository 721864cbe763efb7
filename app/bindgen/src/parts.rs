//! What of the program the first page does without. It goes into a second module, which the page fetches while the first
//! one already runs.
//!
//! Late are the visualizers and models that no first chapter names, the [`DOORS`], and whatever only they reach:
//! functions, words, tables. Nobody keeps a list of it: the registries' rows and the chapters say it themselves.

use crate::links::{Link, Links};
use anyhow::{bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use vramlab_content::{Content, rule};

/// Functions that start something late: nothing that only they reach is in the first part. They are never inlined, and code
/// that may call one before the late module is here asks `Platform::rest` first.
const DOORS: &[&str] = &[
    // Pages of their own.
    "vramlab_shell::snapshot::page::ui",
    "vramlab_shell::fit::page::ui",
    "vramlab_shell::profile::page::ui",
    "vramlab_shell::playground::page::ui",
    "<vramlab_shell::app::App>::advance_desks",
    "<vramlab_shell::app::App>::receive",
    "<vramlab_shell::app::App>::follow_desks",
    // Kernels that the first chapter does not show.
    "vramlab_content::late_bytes",
];

/// What the rasteriser of glyphs can do and no glyph asks for, by a part of the name: it fills outlines with one colour, in
/// 8 bits. Its blend modes, gradients, pictures and the way in 32 bits are a fifth of the program.
const UNASKED: &[&str] = &[
    "vello_cpu::fine::highp",
    "vello_cpu::fine::common::",
    "vello_cpu::fine::lowp::blend",
    "vello_cpu::fine::lowp::gradient",
    "vello_cpu::fine::lowp::image",
    "vello_common::encode::GradientLut",
    "peniko::blend::BlendMode",
];
/// The compiler makes one function of two that are alike, under either name: only what is too large for that counts.
const UNASKED_BYTES: usize = 1_000;

/// A row of a registry is known by the function that it holds: how its name begins and ends.
const ROWS: [(&str, &str); 2] = [
    ("<vramlab_views::view::entry<", ">::call_once"),
    ("<vramlab_model::", " as vramlab_model::registry::Model>::run"),
];

/// What is late, by node of the graph, with what is to be said about it.
pub struct Parts {
    pub is_late: Vec<bool>,
    pub said: String,
}

/// A registry in memory: where it lies among the objects, how long a row is, and the id in each.
struct Registry {
    object: usize,
    row_len: u32,
    ids: Vec<String>,
}

pub fn parts(links: &Links) -> anyhow::Result<Parts> {
    let names: Vec<String> = (0..links.functions.len()).map(|node| links.name(node)).collect();
    let mut registries = Vec::new();
    for marker in ROWS {
        let found = find(links, &names, marker)?;
        ensure!(!found.is_empty(), "no registry with rows like {marker:?} is in the program");
        registries.extend(found);
    }
    let first = first_ids();
    let late_rows: BTreeMap<usize, &Registry> = registries.iter().map(|found| (found.object, found)).collect();
    let is_late_start = starts(links, &names)?;
    let is_open = |node: usize, link: &Link| {
        let is_function = link.to < names.len();
        let registry = node.checked_sub(names.len()).and_then(|object| late_rows.get(&object));
        let is_late_row = registry.is_some_and(|registry| {
            registry.ids.get((link.at / registry.row_len) as usize).is_some_and(|id| !first.contains(id))
        });
        !(is_function && (is_late_row || is_late_start[link.to]))
    };
    let is_late: Vec<bool> = links.reached(is_open).into_iter().map(|is_reached| !is_reached).collect();
    let said = told(links, &is_late, &registries, &first);
    Ok(Parts { is_late, said })
}

/// Whether a function is a door or unasked for. Every entry of the two lists must be in the program.
fn starts(links: &Links, names: &[String]) -> anyhow::Result<Vec<bool>> {
    let is_unasked = |node: usize, part: &&str| links.sizes[node] >= UNASKED_BYTES && names[node].contains(*part);
    for door in DOORS {
        ensure!(names.iter().any(|name| name == door), "`{door}` is not in the program: is it inlined or renamed?");
    }
    for part in UNASKED {
        let is_there = (0..names.len()).any(|node| is_unasked(node, part));
        ensure!(is_there, "no large function of the program has `{part}` in its name");
    }
    let is_start =
        |node: usize| DOORS.contains(&names[node].as_str()) || UNASKED.iter().any(|part| is_unasked(node, part));
    Ok((0..names.len()).map(is_start).collect())
}

/// The registries whose rows hold functions of such a name. There are several of one when the linker kept copies.
fn find(links: &Links, names: &[String], (start, end): (&str, &str)) -> anyhow::Result<Vec<Registry>> {
    let mut out = Vec::new();
    for (object, it) in links.objects.iter().enumerate() {
        let is_row =
            |link: &&Link| names.get(link.to).is_some_and(|name| name.starts_with(start) && name.ends_with(end));
        let n_rows = it.links.iter().filter(is_row).count();
        if n_rows < 2 {
            continue;
        }
        let row_len = it.place.len() / n_rows;
        ensure!(it.place.len() % n_rows == 0, "{n_rows} rows like {start:?} in {} bytes", it.place.len());
        let ids = (0..n_rows).map(|row| id_in_row(links, object, row, row_len)).collect::<anyhow::Result<_>>()?;
        out.push(Registry { object, row_len: row_len as u32, ids });
    }
    Ok(out)
}

/// The only text of a row that is a plain id.
fn id_in_row(links: &Links, object: usize, row: usize, row_len: usize) -> anyhow::Result<String> {
    let it = &links.objects[object];
    let start = (row * row_len) as u32;
    let in_row = it.links.iter().filter(|link| (start..start + row_len as u32).contains(&link.at));
    let ids: BTreeSet<String> =
        in_row.filter_map(|link| text_at(links, it.place.start + link.at)).filter(|t| is_id(t)).collect();
    match ids.into_iter().collect::<Vec<_>>().as_slice() {
        [id] => Ok(id.clone()),
        others => bail!("row {row} of a registry has not one id but {others:?}"),
    }
}

/// The text that an address and the length after it point at.
fn text_at(links: &Links, at: u32) -> Option<String> {
    let number = |at: u32| Some(u32::from_le_bytes(links.bytes(at..at + 4)?.try_into().ok()?));
    let (start, len) = (number(at)?, number(at + 4)?);
    let bytes = links.bytes(start..start.checked_add(len)?)?;
    Some(std::str::from_utf8(bytes).ok()?.to_owned())
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Every word in quotes of the chapters that the page opens on, and of the experiments that they name: the ids of the
/// visualizers and models that they need are among them.
fn first_ids() -> BTreeSet<String> {
    let text = |path| vramlab_content::get(path).and_then(Content::here).map(String::from_utf8_lossy);
    let chapters: Vec<_> = vramlab_content::list(rule::FIRST_CHAPTER)
        .filter(|path| path.ends_with("/chapter.toml"))
        .filter_map(text)
        .collect();
    let owned = |text: &str| rule::quoted(text).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let kernels: BTreeSet<&str> = chapters.iter().flat_map(|text| rule::kernels_of(text)).collect();
    let manifests = vramlab_content::list("kernels/")
        .filter(|path| path.ends_with(".toml") && !rule::is_late(path, &kernels))
        .filter_map(text);
    chapters.iter().flat_map(|text| owned(text)).chain(manifests.flat_map(|text| owned(&text))).collect()
}

fn told(links: &Links, is_late: &[bool], registries: &[Registry], first: &BTreeSet<String>) -> String {
    let ids: BTreeSet<&String> = registries.iter().flat_map(|registry| &registry.ids).collect();
    let kept: Vec<&str> = ids.iter().filter(|id| first.contains(**id)).map(|id| id.as_str()).collect();
    let (functions, objects) = is_late.split_at(links.functions.len());
    let count = |part: &[bool]| part.iter().filter(|is_late| **is_late).count();
    format!(
        "late: {} of {} functions, {} of {} constants, {} of {} visualizers and models; first: {}",
        count(functions),
        functions.len(),
        count(objects),
        objects.len(),
        ids.len() - kept.len(),
        ids.len(),
        kept.join(", ")
    )
}

impl Parts {
    /// Where the late constants lie in memory, in order.
    pub fn late_data(&self, links: &Links) -> Vec<Range<u32>> {
        let n_functions = links.functions.len();
        let mut out: Vec<Range<u32>> = Vec::new();
        let late = links.objects.iter().enumerate().filter(|(idx, _)| self.is_late[n_functions + idx]);
        for (_, object) in late {
            match out.last_mut().filter(|last| last.end == object.place.start) {
                Some(last) => last.end = object.place.end,
                None => out.push(object.place.clone()),
            }
        }
        out
    }
}
