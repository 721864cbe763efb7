//! Cuts a bound module in two: a first one that runs alone, and a late one that joins it in the same memory and table.
//!
//! The late module holds functions that the first reaches over the table only. Their places in the table are empty until it
//! comes, as are the constants that nothing else needs. A late function that the first one calls by name gets a place in
//! the table too, and the first one keeps a stand-in that calls through it.

use anyhow::{Context as _, bail};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use walrus::ir::{CallIndirect, Instr, Value, Visitor, dfs_in_order};
use walrus::{
    ConstExpr, DataKind, ElementItems, ElementKind, ExportItem, FunctionBuilder, FunctionId, FunctionKind, GlobalKind,
    ImportKind, ImportedFunction, Module, ModuleConfig, TableId,
};

/// What the late module imports comes from here: the exports of the first.
const FROM: &str = "first";
/// How the names of functions begin that are late.
pub const LATE: &str = "late ";

/// A gap of fewer bytes in memory is not worth a segment of its own.
const SMALL_GAP: u32 = 12;

/// Both modules.
pub struct Parts {
    pub first: Vec<u8>,
    pub late: Vec<u8>,
}

/// Cuts `whole`. Late are the functions whose names say so, and what lies in memory at `late_data`: ranges of constants in
/// order, without a variable in them.
pub fn split(whole: &[u8], late_data: &[Range<u32>]) -> anyhow::Result<Parts> {
    let mut first = parse(whole)?;
    let mut late = parse(whole)?;
    let called = called_by_name(&first);
    let shared = shared(&late);
    let mut new_places = NewPlaces { table: table_of(&first)?, start: 0 };
    new_places.start = first.tables.get(new_places.table).initial;
    make_first(&mut first, &called, &shared, &new_places, late_data)?;
    new_places.table = table_of(&late)?;
    make_late(&mut late, &called, &shared, &new_places, late_data)?;
    Ok(Parts { first: first.emit_wasm(), late: late.emit_wasm() })
}

struct NewPlaces {
    table: TableId,
    /// The place of the first of the functions that are called by name.
    start: u64,
}

fn parse(bytes: &[u8]) -> anyhow::Result<Module> {
    // The names have served when the modules are written, but for whoever follows a call into the late one.
    let has_names = std::env::var_os("VRAMLAB_WEB_NAMES").is_some();
    ModuleConfig::new()
        .strict_validate(false)
        .generate_name_section(has_names)
        .generate_producers_section(false)
        .parse(bytes)
}

fn is_late(module: &Module, id: FunctionId) -> bool {
    name(module, id).starts_with(LATE)
}

fn name(module: &Module, id: FunctionId) -> &str {
    module.funcs.get(id).name.as_deref().unwrap_or_default()
}

fn id_of(module: &Module, name: &str) -> anyhow::Result<FunctionId> {
    module.funcs.by_name(name).with_context(|| format!("no function {name}"))
}

/// The table of functions.
fn table_of(module: &Module) -> anyhow::Result<TableId> {
    module.tables.main_function_table()?.context("the module has no table of functions")
}

/// The functions that instructions name.
#[derive(Default)]
struct Named(Vec<FunctionId>);

impl Visitor<'_> for Named {
    fn visit_function_id(&mut self, id: &FunctionId) {
        self.0.push(*id);
    }
}

fn named_by(module: &Module, id: FunctionId) -> Vec<FunctionId> {
    let FunctionKind::Local(function) = &module.funcs.get(id).kind else { return Vec::new() };
    let mut named = Named::default();
    dfs_in_order(&mut named, function, function.entry_block());
    named.0
}

/// Names of the late functions that others call by name.
fn called_by_name(module: &Module) -> Vec<String> {
    let mut out = BTreeSet::new();
    for (id, _) in module.funcs.iter_local().filter(|(id, _)| !is_late(module, *id)) {
        let late = named_by(module, id).into_iter().filter(|id| is_late(module, *id));
        out.extend(late.map(|id| name(module, id).to_owned()));
    }
    out.into_iter().collect()
}

/// Names of the functions of the first module that late ones call.
fn shared(module: &Module) -> Vec<String> {
    let mut out = BTreeSet::new();
    for (id, _) in module.funcs.iter_local().filter(|(id, _)| is_late(module, *id)) {
        let others = named_by(module, id).into_iter().filter(|id| !is_late(module, *id));
        out.extend(others.map(|id| name(module, id).to_owned()));
    }
    out.into_iter().collect()
}

fn late_functions(module: &Module) -> HashSet<FunctionId> {
    module.funcs.iter().map(|function| function.id()).filter(|id| is_late(module, *id)).collect()
}

fn make_first(
    module: &mut Module,
    called: &[String],
    shared: &[String],
    places: &NewPlaces,
    late_data: &[Range<u32>],
) -> anyhow::Result<()> {
    let late = late_functions(module);
    keep_places(module, |id| !late.contains(&id))?;
    for (idx, name) in called.iter().enumerate() {
        stand_in(module, id_of(module, name)?, places.table, places.start + idx as u64)?;
    }
    grow(module, places.table, called.len());
    for (idx, name) in shared.iter().enumerate() {
        let id = id_of(module, name)?;
        module.exports.add(&short(idx), id);
    }
    for (name, item) in whole_items(module) {
        module.exports.add(&name, item);
    }
    let is_late_byte = |at: u32| {
        let next = late_data.partition_point(|range| range.end <= at);
        late_data.get(next).is_some_and(|range| range.start <= at)
    };
    keep_data(module, |segment| runs(segment, |at, byte| byte != 0 && !is_late_byte(at)))?;
    walrus::passes::gc::run(module);
    Ok(())
}

fn make_late(
    module: &mut Module,
    called: &[String],
    shared: &[String],
    places: &NewPlaces,
    late_data: &[Range<u32>],
) -> anyhow::Result<()> {
    let late = late_functions(module);
    module.start = None;
    keep_places(module, |id| late.contains(&id))?;
    grow(module, places.table, called.len());
    let ids = called.iter().map(|name| id_of(module, name)).collect::<anyhow::Result<Vec<_>>>()?;
    add_places(module, places.table, places.start, ids);
    let items = whole_items(module);
    let old: Vec<_> = module.exports.iter().map(|export| export.id()).collect();
    old.into_iter().for_each(|id| module.exports.delete(id));
    for (idx, name) in shared.iter().enumerate() {
        let id = id_of(module, name)?;
        let ty = module.funcs.get(id).ty();
        let import = module.imports.add(FROM, &short(idx), ImportKind::Function(id));
        module.funcs.get_mut(id).kind = FunctionKind::Import(ImportedFunction { import, ty });
    }
    for (name, item) in items {
        import_item(module, &name, item);
    }
    keep_data(module, |(at, bytes)| {
        let all = *at..*at + bytes.len() as u32;
        late_data
            .iter()
            .map(|range| range.start.max(all.start)..range.end.min(all.end))
            .filter(|r| !r.is_empty())
            .collect()
    })?;
    walrus::passes::gc::run(module);
    Ok(())
}

/// `0` to `z`, `00` …: names that cost little.
fn short(idx: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut out = String::from("$");
    let mut rest = idx;
    loop {
        out.push(char::from(DIGITS[rest % 36]));
        rest /= 36;
        if rest == 0 {
            return out;
        }
    }
}

/// Memories, tables and variable globals, which both modules share whole.
fn whole_items(module: &Module) -> Vec<(String, ExportItem)> {
    let memories = module.memories.iter().map(|memory| ExportItem::Memory(memory.id()));
    let tables = module.tables.iter().map(|table| ExportItem::Table(table.id()));
    let globals = module.globals.iter().filter(|global| global.mutable).map(|global| ExportItem::Global(global.id()));
    let items = memories.chain(tables).chain(globals);
    items.enumerate().map(|(idx, item)| (format!("${}", short(idx)), item)).collect()
}

fn import_item(module: &mut Module, name: &str, item: ExportItem) {
    match item {
        ExportItem::Memory(id) => {
            let import = module.imports.add(FROM, name, ImportKind::Memory(id));
            module.memories.get_mut(id).import = Some(import);
        }
        ExportItem::Table(id) => {
            let import = module.imports.add(FROM, name, ImportKind::Table(id));
            module.tables.get_mut(id).import = Some(import);
        }
        ExportItem::Global(id) => {
            let import = module.imports.add(FROM, name, ImportKind::Global(id));
            module.globals.get_mut(id).kind = GlobalKind::Import(import);
        }
        ExportItem::Function(_) | ExportItem::Tag(_) => {}
    }
}

/// Puts a call through the table in the place of a late function's body.
fn stand_in(module: &mut Module, id: FunctionId, table: TableId, place: u64) -> anyhow::Result<()> {
    let ty = module.funcs.get(id).ty();
    let (params, results) = (module.types.params(ty).to_vec(), module.types.results(ty).to_vec());
    let args: Vec<_> = params.iter().map(|param| module.locals.add(*param)).collect();
    let mut builder = FunctionBuilder::new(&mut module.types, &params, &results);
    let mut body = builder.func_body();
    for arg in &args {
        body.local_get(*arg);
    }
    body.i32_const(i32::try_from(place)?);
    body.instr(Instr::CallIndirect(CallIndirect { ty, table }));
    module.funcs.get_mut(id).kind = FunctionKind::Local(builder.local_func(args));
    Ok(())
}

fn grow(module: &mut Module, table: TableId, n: usize) {
    let table = module.tables.get_mut(table);
    table.initial += n as u64;
    table.maximum = table.maximum.map(|maximum| maximum + n as u64);
}

fn add_places(module: &mut Module, table: TableId, start: u64, ids: Vec<FunctionId>) {
    let offset = ConstExpr::Value(Value::I32(start as i32));
    let element = module.elements.add(ElementKind::Active { table, offset }, ElementItems::Functions(ids));
    module.tables.get_mut(table).elem_segments.insert(element);
}

/// Leaves only the wanted functions in the tables, each at its place.
fn keep_places(module: &mut Module, is_wanted: impl Fn(FunctionId) -> bool) -> anyhow::Result<()> {
    let mut kept = Vec::new();
    let mut old = Vec::new();
    for element in module.elements.iter() {
        let (ElementKind::Active { table, offset }, ElementItems::Functions(ids)) = (&element.kind, &element.items)
        else {
            bail!("a segment of the table that is not a list of functions at a fixed place")
        };
        let ConstExpr::Value(Value::I32(start)) = offset else { bail!("a segment of the table without a fixed place") };
        old.push((*table, element.id()));
        let mut run: Vec<FunctionId> = Vec::new();
        for (idx, id) in ids.iter().enumerate() {
            if is_wanted(*id) {
                run.push(*id);
            } else if !run.is_empty() {
                kept.push((*table, *start as u64 + (idx - run.len()) as u64, std::mem::take(&mut run)));
            }
        }
        kept.extend((!run.is_empty()).then(|| (*table, *start as u64 + (ids.len() - run.len()) as u64, run)));
    }
    for (table, element) in old {
        module.tables.get_mut(table).elem_segments.remove(&element);
        module.elements.delete(element);
    }
    kept.into_iter().for_each(|(table, start, ids)| add_places(module, table, start, ids));
    Ok(())
}

/// Runs of bytes that are wanted, over gaps that are too small to pay.
fn runs((start, bytes): &(u32, Vec<u8>), is_wanted: impl Fn(u32, u8) -> bool) -> Vec<Range<u32>> {
    let mut out: Vec<Range<u32>> = Vec::new();
    for (at, byte) in (*start..).zip(bytes) {
        if !is_wanted(at, *byte) {
            continue;
        }
        match out.last_mut().filter(|last| at - last.end < SMALL_GAP) {
            Some(last) => last.end = at + 1,
            None => out.push(at..at + 1),
        }
    }
    out
}

/// Leaves only the wanted ranges of what lies in memory at the start.
fn keep_data(module: &mut Module, wanted: impl Fn(&(u32, Vec<u8>)) -> Vec<Range<u32>>) -> anyhow::Result<()> {
    let mut old = Vec::new();
    let mut kept = Vec::new();
    for data in module.data.iter() {
        let DataKind::Active { memory, offset: ConstExpr::Value(Value::I32(start)) } = &data.kind else {
            bail!("a data segment without a fixed address")
        };
        old.push((*memory, data.id()));
        let segment = (*start as u32, data.value.clone());
        for range in wanted(&segment) {
            let bytes = &segment.1[(range.start - segment.0) as usize..(range.end - segment.0) as usize];
            kept.push((*memory, range.start, bytes.to_vec()));
        }
    }
    for (memory, data) in old {
        module.memories.get_mut(memory).data_segments.remove(&data);
        module.data.delete(data);
    }
    for (memory, at, bytes) in kept {
        let offset = ConstExpr::Value(Value::I32(at as i32));
        let data = module.data.add(DataKind::Active { memory, offset }, bytes);
        module.memories.get_mut(memory).data_segments.insert(data);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
