//! Who needs whom in a linked module: its functions, and the constants and variables in its memory, by the relocations
//! that the linker leaves in it when it is asked to (`--emit-relocs`).

use anyhow::{Context as _, bail, ensure};
use std::collections::HashMap;
use std::ops::Range;
use wasmparser::{
    DataKind, ExternalKind, KnownCustom, Linking, LinkingSectionReader, Name, Operator, Parser, Payload,
    RelocationEntry, RelocationType, SymbolInfo, TypeRef,
};

/// A reference: the byte of the node at which it stands, and the node that it leads to.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub at: u32,
    pub to: usize,
}

/// A constant or a variable: where it lies in memory, and what it refers to.
#[derive(Clone, Debug)]
pub struct Object {
    pub place: Range<u32>,
    pub links: Vec<Link>,
}

/// Nodes are numbered: the functions by their index, then the objects in the order of their addresses.
#[derive(Default)]
pub struct Links {
    /// What each function refers to.
    pub functions: Vec<Vec<Link>>,
    /// How long the body of each is, bytes; 0 of an imported one.
    pub sizes: Vec<usize>,
    pub objects: Vec<Object>,
    /// What is called from outside.
    pub roots: Vec<usize>,
    /// The mangled names of functions, by their index.
    names: HashMap<usize, String>,
    /// What lies in memory at the start: address and bytes.
    segments: Vec<(u32, Vec<u8>)>,
}

impl Links {
    pub fn read(wasm: &[u8]) -> anyhow::Result<Self> {
        let raw = Raw::read(wasm)?;
        ensure!(!raw.relocations.is_empty(), "the module has no relocations: it was linked without `--emit-relocs`");
        let mut this = Self {
            functions: vec![Vec::new(); raw.n_imported + raw.bodies.len()],
            sizes: std::iter::repeat_n(0, raw.n_imported).chain(raw.bodies.iter().map(Range::len)).collect(),
            objects: raw.places().into_iter().map(|place| Object { place, links: Vec::new() }).collect(),
            roots: raw.roots.clone(),
            names: raw.names.clone(),
            segments: raw.segments.iter().map(|(file, at)| (*at, wasm[file.clone()].to_vec())).collect(),
        };
        for (section, entries) in &raw.relocations {
            for entry in entries {
                this.link(&raw, *section, entry)?;
            }
        }
        Ok(this)
    }

    fn link(&mut self, raw: &Raw, section: u32, entry: &RelocationEntry) -> anyhow::Result<()> {
        let Some(to) = self.target(raw, entry)? else { return Ok(()) };
        if let Some((_, start)) = raw.code.filter(|(code, _)| *code == section) {
            let at = start + entry.offset as usize;
            let idx = raw.bodies.partition_point(|body| body.end <= at);
            let body = raw.bodies.get(idx).filter(|body| body.contains(&at)).context("a relocation in no function")?;
            self.functions[raw.n_imported + idx].push(Link { at: (at - body.start) as u32, to });
        } else if let Some((_, start)) = raw.data.filter(|(data, _)| *data == section) {
            let at = start + entry.offset as usize;
            let found = raw.segments.iter().find(|(file, _)| file.contains(&at));
            let (file, address) = found.context("a relocation in no segment")?;
            let at = address + (at - file.start) as u32;
            let idx = self.object_at(at).context("a relocation in no object")?;
            let object = &mut self.objects[idx];
            object.links.push(Link { at: at - object.place.start, to });
        }
        Ok(())
    }

    /// The node that a relocation leads to; none for one of types, globals and debug information.
    fn target(&self, raw: &Raw, entry: &RelocationEntry) -> anyhow::Result<Option<usize>> {
        use RelocationType::{
            EventIndexLeb, FunctionOffsetI32, GlobalIndexI32, GlobalIndexLeb, SectionOffsetI32, TableNumberLeb,
            TypeIndexLeb,
        };
        let is_other = matches!(
            entry.ty,
            TypeIndexLeb
                | GlobalIndexLeb
                | GlobalIndexI32
                | TableNumberLeb
                | EventIndexLeb
                | FunctionOffsetI32
                | SectionOffsetI32
        );
        if is_other {
            return Ok(None);
        }
        let symbol = raw.symbols.get(entry.index as usize).context("a relocation to no symbol")?;
        Ok(match *symbol {
            Symbol::Function(idx) => Some(idx),
            Symbol::Object(_) => {
                raw.place(symbol).and_then(|place| self.object_at(place.start)).map(|idx| self.functions.len() + idx)
            }
            Symbol::Other => bail!("a relocation to a symbol of another kind"),
        })
    }

    fn object_at(&self, address: u32) -> Option<usize> {
        let idx = self.objects.partition_point(|object| object.place.end <= address);
        self.objects.get(idx).filter(|object| object.place.contains(&address)).map(|_| idx)
    }

    /// What a node refers to.
    pub fn of(&self, node: usize) -> &[Link] {
        match node.checked_sub(self.functions.len()) {
            None => &self.functions[node],
            Some(idx) => &self.objects[idx].links,
        }
    }

    /// The name of a function as Rust writes it, without the hash; empty for an object.
    pub fn name(&self, node: usize) -> String {
        self.names.get(&node).map(|name| format!("{:#}", rustc_demangle::demangle(name))).unwrap_or_default()
    }

    /// The bytes at an address, if so many lie there at the start.
    pub fn bytes(&self, place: Range<u32>) -> Option<&[u8]> {
        self.segments.iter().find_map(|(at, bytes)| {
            let start = place.start.checked_sub(*at)? as usize;
            bytes.get(start..start + place.len())
        })
    }

    /// Every node that is reached from the roots over links that `is_open` lets through.
    pub fn reached(&self, is_open: impl Fn(usize, &Link) -> bool) -> Vec<bool> {
        let mut is_reached = vec![false; self.functions.len() + self.objects.len()];
        let mut stack = self.roots.clone();
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut is_reached[node], true) {
                stack.extend(self.of(node).iter().filter(|link| is_open(node, link)).map(|link| link.to));
            }
        }
        is_reached
    }
}

#[derive(Clone, Copy)]
enum Symbol {
    Function(usize),
    Object(wasmparser::DefinedDataSymbol),
    Other,
}

/// The parts of the file that matter here.
#[derive(Default)]
struct Raw {
    n_imported: usize,
    roots: Vec<usize>,
    names: HashMap<usize, String>,
    /// Number and start in the file of the sections with code and data.
    code: Option<(u32, usize)>,
    data: Option<(u32, usize)>,
    bodies: Vec<Range<usize>>,
    /// Where the bytes of a segment stand in the file, and their address.
    segments: Vec<(Range<usize>, u32)>,
    symbols: Vec<Symbol>,
    relocations: Vec<(u32, Vec<RelocationEntry>)>,
}

impl Raw {
    fn read(wasm: &[u8]) -> anyhow::Result<Self> {
        let mut this = Self::default();
        let mut n_sections = 0;
        for payload in Parser::new(0).parse_all(wasm) {
            let payload = payload?;
            let is_entry = matches!(payload, Payload::CodeSectionEntry(_));
            let section = n_sections;
            n_sections += u32::from(payload.as_section().is_some() && !is_entry);
            this.take(section, payload)?;
        }
        Ok(this)
    }

    fn take(&mut self, section: u32, payload: Payload<'_>) -> anyhow::Result<()> {
        match payload {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    self.n_imported += usize::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    self.roots.extend((export.kind == ExternalKind::Func).then_some(export.index as usize));
                }
            }
            Payload::StartSection { func, .. } => self.roots.push(func as usize),
            Payload::CodeSectionStart { range, .. } => self.code = Some((section, range.start)),
            Payload::CodeSectionEntry(body) => self.bodies.push(body.range()),
            Payload::DataSection(segments) => {
                self.data = Some((section, segments.range().start));
                for segment in segments {
                    self.segments.push(place_of(&segment?)?);
                }
            }
            Payload::CustomSection(custom) => self.take_custom(custom.as_known())?,
            _ => {}
        }
        Ok(())
    }

    fn take_custom(&mut self, custom: KnownCustom<'_>) -> anyhow::Result<()> {
        match custom {
            KnownCustom::Linking(linking) => self.symbols = symbols(&linking)?,
            KnownCustom::Reloc(relocations) => {
                let entries = relocations.entries().into_iter().collect::<Result<_, _>>()?;
                self.relocations.push((relocations.section_index(), entries));
            }
            KnownCustom::Name(names) => {
                for name in names {
                    let Name::Function(map) = name? else { continue };
                    for naming in map {
                        let naming = naming?;
                        self.names.insert(naming.index as usize, naming.name.to_owned());
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Where an object lies in memory.
    fn place(&self, symbol: &Symbol) -> Option<Range<u32>> {
        let Symbol::Object(object) = symbol else { return None };
        let at = self.segments.get(object.index as usize)?.1 + object.offset;
        Some(at..at + object.size)
    }

    /// The places of all objects, in order; those that overlap are one.
    fn places(&self) -> Vec<Range<u32>> {
        let mut all: Vec<_> = self.symbols.iter().filter_map(|symbol| self.place(symbol)).collect();
        all.retain(|place| !place.is_empty());
        all.sort_by_key(|place| (place.start, place.end));
        let mut out: Vec<Range<u32>> = Vec::new();
        for place in all {
            match out.last_mut().filter(|last| place.start < last.end) {
                Some(last) => last.end = last.end.max(place.end),
                None => out.push(place),
            }
        }
        out
    }
}

/// Where the bytes of a segment stand in the file, and their address.
fn place_of(segment: &wasmparser::Data<'_>) -> anyhow::Result<(Range<usize>, u32)> {
    let DataKind::Active { offset_expr, .. } = &segment.kind else { bail!("a passive data segment") };
    let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
        bail!("a data segment without a fixed address")
    };
    let end = segment.range.end;
    Ok((end - segment.data.len()..end, value as u32))
}

fn symbols(linking: &LinkingSectionReader<'_>) -> anyhow::Result<Vec<Symbol>> {
    let mut out = Vec::new();
    for part in linking.subsections() {
        let Linking::SymbolTable(table) = part? else { continue };
        for symbol in table {
            out.push(match symbol? {
                SymbolInfo::Func { index, .. } => Symbol::Function(index as usize),
                SymbolInfo::Data { symbol: Some(object), .. } => Symbol::Object(object),
                _ => Symbol::Other,
            });
        }
    }
    Ok(out)
}
