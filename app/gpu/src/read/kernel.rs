//! `kernel.toml`.

use super::names::{Names, check_text, formula, is_identifier};
use super::tree::{Doc, Table, hint, json};
use crate::launch::{Arg, TensorMap, entry_params};
use crate::manifest::{Buffer, CpuRoutine, CudaLaunch, Fill, HostRoutine, Kernel, Oracle, Param, Then};
use crate::oracle::{self, WithKind};
use std::collections::BTreeMap;

const FILLS: [(&str, Fill); 7] = [
    ("random", Fill::Random),
    ("unit_f64", Fill::UnitF64),
    ("unit_f32", Fill::UnitF32),
    ("unit_bf16", Fill::UnitBf16),
    ("shuffled", Fill::Shuffled),
    ("poison", Fill::Poison),
    ("zero", Fill::Zero),
];

/// Architectures that a source may be compiled for with all their own instructions.
const ARCHS: [&str; 1] = ["sm_90a"];

/// Every name that follows from a kernel's parameters, for the formulas of its experiments.
pub fn point_names(kernel: &Kernel) -> Names {
    let mut names = Names::device().with(kernel.params.iter().map(|param| param.key.clone()));
    names = names.with(kernel.derive.iter().map(|(name, _)| name));
    names = names.with(kernel.work.iter().map(|(name, _)| format!("work.{name}")));
    names = names.with(kernel.buffers.iter().map(|buffer| format!("bytes.{}", buffer.name)));
    if ["est_ns", "bytes_moved"].iter().any(|name| kernel.work.get(name).is_some()) {
        names.push("est_ns");
    }
    names
}

/// Reads the kernel of folder `slug`. What was wrong is in `doc`.
pub fn read(doc: &Doc<'_>, slug: &str) -> Option<Kernel> {
    let root = doc.parse()?;
    let span = 0..doc.text.find('\n').unwrap_or(doc.text.len());
    let table = Table::new(doc, root.get_ref(), span);
    let params = params(&table);
    let mut names = Names::device().with(params.iter().map(|param| param.key.clone()));
    let derive = table.formulas("derive", "", &mut names);
    table.need("work");
    let work = table.formulas("work", "work.", &mut names);
    let buffers = buffers(&table, &names);
    let mut kernel = Kernel {
        schema: table.schema(),
        slug: slug.to_owned(),
        title: table.localized("title"),
        about: table.localized("about"),
        params,
        derive,
        buffers,
        work,
        oracle: Oracle { id: String::new(), tolerance: 0.0, with: BTreeMap::new() },
        cuda: None,
        cuda_host: None,
        cpu: None,
        safety: table.localized("safety"),
    };
    let names = point_names(&kernel);
    kernel.oracle = oracle(&table, &kernel, &names);
    kernel.cuda = table.opt_table("cuda").map(|cuda| cuda_launch(cuda, &kernel, &names));
    kernel.cpu = table.opt_table("cpu").map(|cpu| cpu_routine(cpu, &names));
    kernel.cuda_host = table.opt_table("cuda_host").map(|host| host_routine(host, &names));
    if !kernel.runs_on_cuda() && kernel.cpu.is_none() {
        let what = "the kernel runs nowhere: it has neither [cuda] nor [cuda_host] nor [cpu]";
        doc.problem("missing-field", table.span.clone(), what, None);
    }
    table.finish();
    Some(kernel)
}

fn params(table: &Table<'_, '_>) -> Vec<Param> {
    let mut out: Vec<Param> = Vec::new();
    for item in table.tables("param") {
        let param = Param {
            key: item.text("key"),
            unit: item.text("unit"),
            min: item.number("min"),
            max: item.number("max"),
            default: item.number("default"),
            options: item.opt_numbers("options"),
            means: item.localized("means"),
        };
        check_param(&item, &param, &out);
        item.finish();
        out.push(param);
    }
    out
}

fn check_param(item: &Table<'_, '_>, param: &Param, earlier: &[Param]) {
    let complain = |rule, field: &str, what: String| item.doc.problem(rule, item.span_of(field), what, None);
    let key = &param.key;
    if !is_identifier(key) || earlier.iter().any(|known| known.key == *key) {
        complain("bad-name", "key", format!("\"{key}\" is not a new parameter name; use letters, digits and _"));
    }
    if param.unit.trim().is_empty() && item.get("unit").is_some() {
        complain("missing-unit", "unit", format!("{key} has no unit; a plain count has unit \"1\""));
    }
    if param.min > param.max {
        complain("bad-range", "min", format!("{key}: min {} is above max {}", param.min, param.max));
    } else if !param.allows(param.default) {
        complain("bad-range", "default", format!("{key}: default {} must be {}", param.default, param.legal()));
    }
    for option in param.options.iter().filter(|option| !(param.min..=param.max).contains(*option)) {
        complain("bad-range", "options", format!("{key}: option {option} is outside {} to {}", param.min, param.max));
    }
}

fn buffers(table: &Table<'_, '_>, names: &Names) -> Vec<Buffer> {
    let mut out: Vec<Buffer> = Vec::new();
    for item in table.tables("buffer") {
        let name = item.text("name");
        if !is_identifier(&name) || out.iter().any(|known| known.name == name) {
            item.doc.problem("bad-name", item.span_of("name"), format!("\"{name}\" is not a new buffer name"), None);
        }
        let bytes = item.formula("bytes", names);
        let word = item.text("fill");
        let fill = FILLS.iter().find(|(known, _)| *known == word).map(|(_, fill)| *fill);
        if fill.is_none() && item.get("fill").is_some() {
            let what = format!("there is no fill \"{word}\"");
            item.doc.problem("unknown-fill", item.span_of("fill"), what, hint(&word, FILLS.map(|(known, _)| known)));
        }
        let (keep, set) = (item.opt_formula("keep", names), item.opt_formula("set", names));
        if (keep.is_some() || set.is_some()) && fill.is_some_and(|fill| fill != Fill::Random) {
            let what = "keep and set choose bits of random words; this fill has none";
            item.doc.problem("bad-fill", item.span_of("fill"), what, None);
        }
        item.finish();
        out.push(Buffer { name, bytes, fill: fill.unwrap_or(Fill::Poison), keep, set });
    }
    out
}

fn oracle(table: &Table<'_, '_>, kernel: &Kernel, names: &Names) -> Oracle {
    let Some(item) = table.need_table("oracle") else {
        return Oracle { id: String::new(), tolerance: 0.0, with: BTreeMap::new() };
    };
    let id = item.text("id");
    let tolerance = item.opt_number("tolerance").unwrap_or(0.0);
    if tolerance < 0.0 {
        item.doc.problem("bad-range", item.span_of("tolerance"), "tolerance is negative", None);
    }
    let entry = oracle::find(&id);
    if entry.is_none() && item.get("id").is_some() {
        let known = oracle::ORACLES.iter().map(|entry| entry.id);
        item.doc.problem("unknown-id", item.span_of("id"), format!("there is no oracle \"{id}\""), hint(&id, known));
    }
    let with = item.opt_table("with");
    let given = with.as_ref().map(|with| with.entries()).unwrap_or_default();
    let mut out = BTreeMap::new();
    for (name, span, node) in given {
        let Some(entry) = entry else { continue };
        let Some(spec) = entry.with.iter().find(|spec| spec.name == name) else {
            let what = format!("oracle \"{id}\" knows no \"{name}\"");
            item.doc.problem("unknown-field", span, what, hint(&name, entry.with.iter().map(|spec| spec.name)));
            continue;
        };
        let field = format!("oracle.with.{name}");
        let value = match spec.kind {
            WithKind::Input | WithKind::Output => buffer_name(&item, &field, node, kernel, spec.kind),
            WithKind::Whole | WithKind::Number => formula(item.doc, &field, node, names),
            WithKind::PerElement(extra) => formula(item.doc, &field, node, &names.clone().with(extra.iter().copied())),
        };
        out.insert(name, value);
    }
    for spec in entry.map(|entry| entry.with).unwrap_or_default() {
        if spec.default.is_none() && !out.contains_key(spec.name) {
            let what = format!("oracle \"{id}\" needs with.{}: {}", spec.name, spec.about);
            item.doc.problem("missing-field", item.span.clone(), what, None);
        }
    }
    item.finish();
    Oracle { id, tolerance, with: out }
}

fn buffer_name(
    item: &Table<'_, '_>,
    field: &str,
    node: &toml::Spanned<toml::de::DeValue<'_>>,
    kernel: &Kernel,
    kind: WithKind,
) -> String {
    let name = node.get_ref().as_str().unwrap_or_default().to_owned();
    let Some(buffer) = kernel.buffers.iter().find(|buffer| buffer.name == name) else {
        let what = format!("{field}: there is no buffer \"{name}\"");
        item.doc.problem("unknown-id", node.span(), what, hint(&name, kernel.buffers.iter().map(|b| b.name.as_str())));
        return name;
    };
    if item.doc.has("unknown-fill") {
        return name;
    }
    let is_blank = matches!(buffer.fill, Fill::Poison | Fill::Zero);
    if kind == WithKind::Output && !is_blank {
        let what = format!("{field}: \"{name}\" is an output, so its fill must be poison or zero");
        item.doc.problem("bad-fill", node.span(), what, None);
    }
    if kind == WithKind::Input && is_blank {
        let what = format!("{field}: \"{name}\" is an input, so its fill must be random, shuffled or one of unit_*");
        item.doc.problem("bad-fill", node.span(), what, None);
    }
    name
}

fn cuda_launch(item: Table<'_, '_>, kernel: &Kernel, names: &Names) -> CudaLaunch {
    let source = item.text("source");
    check_source(&item, &source);
    let arch = item.opt_text("arch");
    if let Some(arch) = arch.as_deref().filter(|arch| !ARCHS.contains(arch)) {
        let what = format!(
            "arch \"{arch}\" is not known; an architecture with instructions of its own is {}",
            ARCHS.join(", ")
        );
        item.doc.problem("unknown-id", item.span_of("arch"), what, hint(arch, ARCHS));
    }
    let entry = item.text("entry");
    for name in entry_params(&entry) {
        check_text(item.doc, "entry", name, item.span_of("entry"), names);
    }
    let mut define = BTreeMap::new();
    if let Some(table) = item.opt_table("define") {
        for (name, span, node) in table.entries() {
            if !is_identifier(&name) {
                item.doc.problem("bad-name", span, format!("\"{name}\" is not a macro name"), None);
            }
            define.insert(name.clone(), formula(item.doc, &format!("define.{name}"), node, names));
        }
    }
    let launch = CudaLaunch {
        source,
        arch,
        entry,
        grid: item.formula("grid", names),
        grid_y: item.opt_formula("grid_y", names),
        block: item.formula("block", names),
        block_y: item.opt_formula("block_y", names),
        shared: item.opt_formula("shared", names),
        define,
        args: texts(&item, "args"),
        cycles: texts(&item, "cycles"),
        then: item.tables("then").into_iter().map(|then| following(then, kernel, names)).collect(),
    };
    check_args(&item, &launch.args, &launch.cycles, kernel, names);
    item.finish();
    launch
}

fn check_source(item: &Table<'_, '_>, source: &str) {
    if !source.ends_with(".cu") || source.contains(['/', '\\']) {
        let what = format!("source \"{source}\" must be a .cu file in the kernel's own folder");
        item.doc.problem("bad-path", item.span_of("source"), what, None);
    }
}

/// A launch of `[[cuda.then]]`.
fn following(item: Table<'_, '_>, kernel: &Kernel, names: &Names) -> Then {
    let then = Then {
        entry: item.text("entry"),
        when: item.opt_formula("when", names),
        grid: item.formula("grid", names),
        block: item.formula("block", names),
        shared: item.opt_formula("shared", names),
        args: texts(&item, "args"),
    };
    for name in entry_params(&then.entry) {
        check_text(item.doc, "entry", name, item.span_of("entry"), names);
    }
    check_args(&item, &then.args, &[], kernel, names);
    item.finish();
    then
}

fn check_args(item: &Table<'_, '_>, args: &[String], cycles: &[String], kernel: &Kernel, names: &Names) {
    item.need("args");
    let known = || kernel.buffers.iter().map(|buffer| buffer.name.as_str());
    let span = item.span_of("args");
    for arg in args {
        match Arg::split(arg) {
            Err(what) => item.doc.problem("bad-argument", part_of(item, "args", arg), what, None),
            Ok(("ptr", name)) if !known().any(|buffer| buffer == name) => {
                let what = format!("args: there is no buffer \"{name}\"");
                item.doc.problem("unknown-id", part_of(item, "args", arg), what, hint(name, known()));
            }
            Ok(("ptr", _)) => {}
            Ok(("tensor_map", text)) => check_map(item, arg, text, kernel, names),
            Ok((_, text)) => check_text(item.doc, arg, text, span.clone(), names),
        }
    }
    for name in cycles.iter().filter(|name| !known().any(|buffer| buffer == name.as_str())) {
        let what = format!("cycles: there is no buffer \"{name}\"");
        item.doc.problem("unknown-id", part_of(item, "cycles", name), what, hint(name, known()));
    }
}

/// A buffer and the four formulas of a tensor map.
fn check_map(item: &Table<'_, '_>, arg: &str, text: &str, kernel: &Kernel, names: &Names) {
    let known = || kernel.buffers.iter().map(|buffer| buffer.name.as_str());
    let Some((name, formulas)) = TensorMap::split(text) else {
        let what = format!("args: \"{arg}\" needs BUFFER; ROWS; COLUMNS; BOX_ROWS; BOX_COLUMNS");
        return item.doc.problem("bad-argument", part_of(item, "args", arg), what, None);
    };
    if !known().any(|buffer| buffer == name) {
        let what = format!("args: there is no buffer \"{name}\"");
        item.doc.problem("unknown-id", part_of(item, "args", arg), what, hint(name, known()));
    }
    for formula in formulas {
        check_text(item.doc, arg, formula, item.span_of("args"), names);
    }
}

/// The place of one text in a list of texts.
fn part_of(item: &Table<'_, '_>, key: &str, text: &str) -> std::ops::Range<usize> {
    let span = item.span_of(key);
    match item.doc.text.get(span.clone()).and_then(|raw| raw.find(text)) {
        Some(at) => span.start + at..span.start + at + text.len(),
        None => span,
    }
}

fn texts(item: &Table<'_, '_>, key: &'static str) -> Vec<String> {
    let Some(node) = item.get(key) else { return Vec::new() };
    let list = json(node.get_ref()).and_then(|value| serde_json::from_value::<Vec<String>>(value).ok());
    list.unwrap_or_else(|| {
        item.doc.problem("wrong-kind", node.span(), format!("{key} must be a list of texts"), None);
        Vec::new()
    })
}

fn cpu_routine(item: Table<'_, '_>, names: &Names) -> CpuRoutine {
    let with = routine_inputs(&item, "cpu", names);
    let routine = item.text("routine");
    item.finish();
    CpuRoutine { routine, with }
}

fn host_routine(item: Table<'_, '_>, names: &Names) -> HostRoutine {
    let with = routine_inputs(&item, "cuda_host", names);
    let (routine, source) = (item.text("routine"), item.opt_text("source"));
    if let Some(source) = &source {
        check_source(&item, source);
    }
    item.finish();
    HostRoutine { routine, source, with }
}

/// The formulas of `with`, by the routine's own names.
fn routine_inputs(item: &Table<'_, '_>, part: &str, names: &Names) -> BTreeMap<String, String> {
    let Some(table) = item.opt_table("with") else { return BTreeMap::new() };
    let input = |(name, _, node): (String, _, _)| {
        let text = formula(item.doc, &format!("{part}.with.{name}"), node, names);
        (name, text)
    };
    table.entries().into_iter().map(input).collect()
}
