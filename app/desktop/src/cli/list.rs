//! `list`: what there is, with ids and titles.

use super::Exit;
use super::layout::{plain, table};
use super::say::Say;
use serde_json::{Value, json};
use vramlab_shell::Library;
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
        Kind::Experiments => (["backend", "traces"].as_slice(), experiments(&library)),
        Kind::Traces => (["device", "date"].as_slice(), traces(&library)),
    };
    if say.is_json {
        say.json(&json!({ "schema": SCHEMA, "kind": args.kind.id(), "items": items }));
    } else {
        say.data(&text(header, &items, say.lang));
    }
    Ok(Exit::Fine)
}

fn text(extra: &[&str], items: &[Value], lang: Lang) -> String {
    let header: Vec<&str> = ["id", "title"].iter().chain(extra).copied().collect();
    let cell = |value: &Value| match value {
        Value::String(text) => plain(text),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    let row = |item: &Value| {
        let title = plain(
            item["title"][lang.code()].as_str().or(item["title"][lang.other().code()].as_str()).unwrap_or_default(),
        );
        [cell(&item["id"]), title].into_iter().chain(extra.iter().map(|key| cell(&item[*key]))).collect()
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    table(&header, &rows, &[])
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
    let item = |(id, experiment): (&String, &vramlab_gpu::manifest::Experiment)| {
        json!({
            "id": id,
            "title": title(&experiment.title),
            "asks": experiment.asks,
            "backend": experiment.backend.id(),
            "traces": library.trace_paths(id).len(),
        })
    };
    library.kernels().experiments.iter().map(item).collect()
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
