//! A real `torch.cuda.memory_summary()`, decoded row by row. The table is `snapshot::SummaryTable`, the one that the
//! snapshot page shows; here are the texts that come with the program.

use crate::controls;
use crate::snapshot::SummaryTable;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use vramlab_snapshot::summary::{METRICS, Pool, Summary, read_text};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

/// A text with its name in addresses and what ran.
struct Recorded {
    id: &'static str,
    label: Text,
    text: &'static str,
}

const RECORDED: &[Recorded] = &[
    Recorded {
        id: "kv_cat",
        label: Text::new("KV 缓存逐步拼接", "growing KV cache"),
        text: include_str!("../../../../assets/summaries/kv_cat.txt"),
    },
    Recorded {
        id: "mlp_adam",
        label: Text::new("MLP，Adam", "MLP, Adam"),
        text: include_str!("../../../../assets/summaries/mlp_adam.txt"),
    },
    Recorded {
        id: "resnet50_b32",
        label: Text::new("ResNet-50", "ResNet-50"),
        text: include_str!("../../../../assets/summaries/resnet50_b32.txt"),
    },
];
const RUN: Text = Text::new("哪次运行", "Run");
const EVIDENCE: [&str; 3] = ["H200", "PyTorch 2.11", "2026-11-30"];

/// See the module's docs.
pub struct MemorySummary {
    run: usize,
    summary: Summary,
    table: SummaryTable,
}

impl MemorySummary {
    fn of(run: usize, chosen: usize) -> Self {
        let text = RECORDED.get(run).map_or("", |recorded| recorded.text);
        Self { run, summary: read_text(text), table: SummaryTable { chosen } }
    }
}

impl View for MemorySummary {
    fn ui(&mut self, ui: &mut egui::Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let mut run = self.run;
        controls::row(ui, tokens, |flow| {
            let runs: Vec<(usize, String)> =
                RECORDED.iter().enumerate().map(|(idx, run)| (idx, run.label.get(lang).to_owned())).collect();
            controls::choice(flow, tokens, RUN.get(lang), &mut run, &runs);
        });
        if run != self.run {
            *self = Self::of(run, self.table.chosen);
        }
        ui.add_space(tokens.space.s);
        self.table.ui(ui, tokens, lang, &self.summary);
    }

    fn finding(&self, lang: Lang) -> String {
        self.table.words(&self.summary, lang)
    }

    fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("run".into(), RECORDED.get(self.run).map_or("", |run| run.id).into());
        map.insert("row".into(), METRICS.get(self.table.chosen).map_or("", |metric| metric.key).into());
        map
    }

    fn data(&self) -> DataTable {
        let header = ["row", "current", "peak", "allocated", "freed"].map(str::to_owned).to_vec();
        let cell = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
        let rows = self.summary.rows.iter().filter(|row| row.pool == Pool::All);
        let rows = rows.map(|row| {
            let name = METRICS[row.metric].key.to_owned();
            vec![name, cell(row.current), cell(row.peak), cell(row.allocated), cell(row.freed)]
        });
        DataTable { header, rows: rows.collect() }
    }

    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        Some(EVIDENCE.map(str::to_owned))
    }
}

impl Visualizer for MemorySummary {
    const ID: &'static str = "memory_summary";
    const TITLE: Text = Text::new("分配器统计表", "memory_summary()");

    fn fields() -> Vec<FieldSpec> {
        let runs = RECORDED.iter().map(|run| run.id.into()).collect();
        let rows = METRICS.iter().map(|metric| metric.key.into()).collect();
        let choice = |key, options, doc| FieldSpec::new(key, "", FieldKind::Choice { options }, doc);
        vec![
            choice("run", runs, Text::new("哪次运行的表", "The table of which run")).default_value("kv_cat"),
            choice("row", rows, Text::new("选中哪一行", "The row that is chosen")).default_value("reserved_bytes"),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let run = RECORDED.iter().position(|run| run.id == args.text("run"));
        let row = METRICS.iter().position(|metric| metric.key == args.text("row"));
        let unknown = |key| FieldError::conflict(key, "is not among its options");
        Ok(Self::of(run.ok_or_else(|| unknown("run"))?, row.ok_or_else(|| unknown("row"))?))
    }
}
