//! `list`: what there is, with ids and titles.

use super::Exit;
use super::layout::{labelled, plain, table};
use super::say::Say;
use serde_json::{Value, json};
use vramlab_gpu::manifest::{Experiment, Kernel};
use vramlab_shell::Library;
use vramlab_units::show::number;
use vramlab_units::{Lang, Localized};

pub const SCHEMA: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    Chapters,
    Visualizers,
    Models,
    Kernels,
    Experiments,
    Traces,
}

impl Kind {
    fn id(self) -> &'static str {
        match self {
            Self::Chapters => "chapters",
            Self::Visualizers => "visualizers",
            Self::Models => "models",
            Self::Kernels => "kernels",
            Self::Experiments => "experiments",
            Self::Traces => "traces",
        }
    }
}

#[derive(clap::Args)]
pub struct Args {
    /// What to list.
    #[arg(value_enum)]
    kind: Kind,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let library = Library::built_in();
    let (header, items) = match args.kind {
        Kind::Chapters => (["steps", "state"].as_slice(), chapters(&library)),
        Kind::Visualizers => ([].as_slice(), visualizers()),
        Kind::Models => ([].as_slice(), models()),
        Kind::Kernels => (["backends"].as_slice(), kernels(&library)),
        Kind::Experiments => ([].as_slice(), experiments(&library)),
        Kind::Traces => (["device", "date"].as_slice(), traces(&library)),
    };
    if say.is_json {
        say.json(&json!({ "schema": SCHEMA, "kind": args.kind.id(), "items": items }));
    } else if args.kind == Kind::Experiments {
        let blocks: Vec<String> = items.iter().map(|item| experiment_text(item, say.lang)).collect();
        say.data(&blocks.join("\n\n"));
    } else {
        say.data(&text(header, &items, say.lang));
    }
    Ok(Exit::Fine)
}

fn text(extra: &[&str], items: &[Value], lang: Lang) -> String {
    let header: Vec<&str> = ["id", "title"].iter().chain(extra).copied().collect();
    let row = |item: &Value| {
        let title = plain(
            item["title"][lang.code()].as_str().or(item["title"][lang.other().code()].as_str()).unwrap_or_default(),
        );
        [cell(&item["id"]), title].into_iter().chain(extra.iter().map(|key| cell(&item[*key]))).collect()
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    table(&header, &rows, &[])
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What an author has to know of an experiment: its axes, its lines, what may be set.
fn experiment_text(item: &Value, lang: Lang) -> String {
    let is_zh = lang == Lang::Zh;
    let named = |item: &Value| {
        item["title"][lang.code()]
            .as_str()
            .or(item["title"][lang.other().code()].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let in_brackets = |name: String, note: &str| match (note, is_zh) {
        ("" | "1", _) => name,
        (note, true) => format!("{name}（{note}）"),
        (note, false) => format!("{name} ({note})"),
    };
    let list = |key: &str| item[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let values: Vec<String> =
        item["x"]["values"].as_array().into_iter().flatten().filter_map(Value::as_f64).map(number).collect();
    let colon = if is_zh { "：" } else { ": " };
    let x = match named(&item["x"]) {
        name if name.is_empty() => item["x"]["id"].as_str().unwrap_or_default().to_owned(),
        name => name,
    };
    let x = in_brackets(x, item["x"]["unit"].as_str().unwrap_or_default());
    let y = in_brackets(named(&item["y"]), item["y"]["unit"].as_str().unwrap_or_default());
    let series: Vec<String> = list("series").iter().map(|one| in_brackets(cell(&one["id"]), &named(one))).collect();
    let set: Vec<String> =
        list("set").iter().map(|one| format!("{}{colon}{}", cell(&one["id"]), cell(&one["legal"]))).collect();
    let semicolon = if is_zh { "；" } else { "; " };
    let backend = cell(&item["backend"]);
    let traces = item["traces"].as_u64().unwrap_or_default();
    let head = format!("{} · {} · {backend}", cell(&item["id"]), named(item));
    let note = if is_zh { format!("{traces} 份录制") } else { format!("recordings: {traces}") };
    let lines = [
        ("x", format!("{x}{colon}{}", values.join(", "))),
        ("y", y),
        ("series", series.join(semicolon)),
        ("set", if set.is_empty() { "–".to_owned() } else { set.join(semicolon) }),
    ];
    let lines = lines.iter().map(|(label, text)| format!("  {}", labelled(2, label, 8, text)));
    std::iter::once(format!("{} · {note}", plain(&head))).chain(lines).collect::<Vec<_>>().join("\n")
}

fn title(title: &Localized) -> Value {
    json!(title)
}

fn chapters(library: &Library) -> Vec<Value> {
    let item = |row: vramlab_shell::library::Row| {
        json!({
            "id": row.id,
            "title": title(&row.title),
            "layer": row.layer,
            "steps": row.is_written.then_some(row.n_steps),
            "state": if row.is_written { "written" } else { "planned" },
        })
    };
    library.search("").into_iter().map(item).collect()
}

fn visualizers() -> Vec<Value> {
    let item = |entry: &vramlab_views::Entry| {
        let fields: Vec<Value> = (entry.fields)()
            .iter()
            .map(|spec| json!({ "key": spec.key, "unit": spec.unit, "legal": spec.legal(), "default": spec.default }))
            .collect();
        json!({ "id": entry.id, "title": title(&entry.title.into()), "fields": fields })
    };
    vramlab_views::VISUALIZERS.iter().map(item).collect()
}

fn models() -> Vec<Value> {
    let item = |entry: &vramlab_model::Entry| json!({ "id": entry.id, "title": title(&entry.title.into()), "source": entry.source, "example": entry.example });
    vramlab_model::MODELS.iter().map(item).collect()
}

fn kernels(library: &Library) -> Vec<Value> {
    let item = |(slug, kernel): (&String, &vramlab_gpu::manifest::Kernel)| {
        let backends: Vec<&str> =
            [kernel.cuda.as_ref().map(|_| "cuda"), kernel.cpu.as_ref().map(|_| "cpu")].into_iter().flatten().collect();
        json!({ "id": slug, "title": title(&kernel.title), "about": kernel.about, "backends": backends })
    };
    library.kernels().kernels.iter().map(item).collect()
}

fn experiments(library: &Library) -> Vec<Value> {
    let item = |(id, experiment): (&String, &Experiment)| {
        let kernel = library.experiment(id).map(|(_, kernel)| kernel);
        let unit_of = |key: &str| kernel.and_then(|kernel| kernel.params.iter().find(|param| param.key == key));
        let (sweep, measure) = (&experiment.sweep, &experiment.measure);
        let series: Vec<Value> =
            experiment.series.iter().map(|one| json!({ "id": one.id, "title": title(&one.title) })).collect();
        let set: Vec<Value> = kernel.map_or(Vec::new(), |kernel| settable(experiment, kernel));
        json!({
            "id": id,
            "title": title(&experiment.title),
            "asks": experiment.asks,
            "backend": experiment.backend.id(),
            "x": {
                "id": sweep.param,
                "title": title(&sweep.title),
                "unit": unit_of(&sweep.param).map(|param| &param.unit),
                "values": sweep.values,
            },
            "y": { "title": title(&measure.title), "unit": measure.unit },
            "series": series,
            "set": set,
            "traces": library.trace_paths(id).len(),
        })
    };
    library.kernels().experiments.iter().map(item).collect()
}

/// The parameters that a step may fix with `set`.
fn settable(experiment: &Experiment, kernel: &Kernel) -> Vec<Value> {
    let item = |param: &vramlab_gpu::manifest::Param| {
        json!({
            "id": param.key,
            "title": title(&param.means),
            "unit": param.unit,
            "legal": param.legal(),
            "default": param.default,
        })
    };
    vramlab_gpu::plan::settable(experiment, kernel).into_iter().map(item).collect()
}

fn traces(library: &Library) -> Vec<Value> {
    let of_experiment = |id: &String| library.trace_paths(id);
    let item = |path: String| {
        let bytes = vramlab_content::get(&path).and_then(vramlab_content::Content::here).unwrap_or_default();
        match library.recorded(&path, bytes) {
            Ok(recorded) => json!({
                "id": path,
                "title": library.experiment(&recorded.run.experiment).map(|(experiment, _)| title(&experiment.title)),
                "experiment": recorded.run.experiment,
                "device": recorded.run.device.name,
                "date": recorded.run.date,
                "is_stale": recorded.is_stale,
                "points": recorded.run.points.len(),
            }),
            Err(why) => json!({ "id": path, "title": null, "error": why }),
        }
    };
    library.kernels().experiments.keys().flat_map(of_experiment).map(item).collect()
}
