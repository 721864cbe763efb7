//! An author's figure: sliders, values bound to models or formulas, and one of six drawings of them. Here are the types
//! that a step of kind `figure` becomes; `fields.rs` is its TOML, `build.rs` reads it, `eval.rs` puts numbers into it, `picture.rs`
//! is what comes out, `rows.rs` the same as a table.
//!
//! A figure comes from an untrusted file, so everything in it is bounded: the limits stand below, each is refused with
//! its place, and what one picture costs is held by [`eval`].

pub mod build;
pub mod eval;
pub mod fields;
mod graph;
mod parts;
pub mod picture;
pub mod rows;
mod scope;
mod sheet;

pub use eval::picture;
pub use picture::Picture;

use crate::chapter::ModelRef;
use std::collections::BTreeSet;
use vramlab_units::{Formula, Localized};

pub const MAX_SLIDERS: usize = 8;
pub const MAX_VALUES: usize = 40;
pub const MAX_MODELS: usize = 12;
pub const MAX_SERIES: usize = 8;
pub const MAX_BARS: usize = 64;
pub const MAX_PARTS: usize = 12;
pub const MAX_SQUARES: u64 = 4_096;
pub const MAX_ROWS: usize = 40;
pub const MAX_SPANS: usize = 2_000;
pub const MAX_NODES: usize = 60;
pub const MAX_EDGES: usize = 120;
pub const MAX_COLUMNS: usize = 12;
pub const MAX_CASES: usize = 12;
/// Nodes of all formulas together: what one evaluation of everything may cost.
pub const MAX_FORMULA_NODES: usize = 6_000;

/// What a mark can stand for, so that it has that thing's colour or hatch everywhere in the course.
pub const ROLES: &[&str] = &[
    "parameters",
    "gradients",
    "optimizer",
    "activations",
    "kv_cache",
    "workspace",
    "registers",
    "l1",
    "l2",
    "hbm",
    "peer",
    "host",
    "disk",
    "free",
    "fragmented",
    "unknown",
];

#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What to try; Markdown above the figure.
    pub text: Localized,
    pub alt: Localized,
    /// The finding in words; `$name` stands for a live value.
    pub caption: Localized,
    /// Captions for particular states: the first whose condition holds is shown instead.
    pub cases: Vec<Case>,
    pub sliders: Vec<Slider>,
    pub values: Vec<NamedValue>,
    /// Names of values shown as key numbers.
    pub key: Vec<String>,
    pub drawing: Drawing,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub when: Expr,
    pub caption: Localized,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Slider {
    pub name: String,
    pub means: Localized,
    pub unit: String,
    pub min: f64,
    pub max: f64,
    pub step: f64,
    pub start: f64,
    pub is_log: bool,
}

/// A number with a name. It may use the sliders, and the values before it.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValue {
    pub name: String,
    pub means: Localized,
    pub unit: String,
    pub source: ValueSource,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValueSource {
    Constant(f64),
    Formula(Formula),
    Model(ModelRef),
}

/// A formula over the names of the figure, with its unit as it is printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub formula: Formula,
    pub unit: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    Line(Lines),
    Bar(Bars),
    Bytes(ByteSquares),
    Gantt(Gantt),
    Graph(Graph),
    Table(Sheet),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    #[default]
    Linear,
    Log2,
    Log10,
}

/// The vertical axis. Without ends it fits the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct YAxis {
    pub label: Localized,
    pub scale: Scale,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Index of the slider that runs along x.
    pub sweep: usize,
    pub x_scale: Scale,
    pub x_min: f64,
    pub x_max: f64,
    pub y: YAxis,
    pub series: Vec<Series>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    #[default]
    Solid,
    /// An ideal, a prediction.
    Dashed,
    /// A limit that nothing passes.
    Ceiling,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub value: Expr,
    pub label: Localized,
    pub role: Option<&'static str>,
    pub style: Style,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    pub y: YAxis,
    /// A line across: what bars should not pass.
    pub limit: Option<Part>,
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub label: Localized,
    /// From the bottom up; one for a plain bar.
    pub parts: Vec<Part>,
}

/// A part of a bar or of a byte grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub value: Expr,
    pub label: Localized,
    pub role: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ByteSquares {
    /// Bytes of one square.
    pub square_bytes: f64,
    /// The square as the author wrote it: `64 MiB`.
    pub square: String,
    pub parts: Vec<Part>,
    /// Bytes of one unit of each part's value.
    pub bytes_per_unit: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Gantt {
    pub unit: String,
    pub rows: Vec<GanttRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GanttRow {
    pub label: Localized,
    pub spans: Vec<TimeSpan>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TimeSpan {
    pub label: Localized,
    pub role: Option<&'static str>,
    pub start: Expr,
    pub length: Expr,
    /// How often the interval comes, and from start to start.
    pub repeat: Option<(Expr, Expr)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub id: String,
    pub label: Localized,
    pub value: Option<Expr>,
    pub role: Option<&'static str>,
    /// Column and row; all nodes have one, the author's or by the edges.
    pub at: (f64, f64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Indices of nodes.
    pub from: usize,
    pub to: usize,
    pub label: Localized,
    pub value: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub columns: Vec<Column>,
    pub rows: SheetRows,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub label: Localized,
    pub unit: String,
    pub value: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SheetRows {
    /// One row for each value of a slider.
    Sweep {
        slider: usize,
        values: Vec<f64>,
    },
    Written(Vec<(Localized, Vec<Expr>)>),
}

impl Figure {
    pub fn slider(&self, name: &str) -> Option<usize> {
        self.sliders.iter().position(|slider| slider.name == name)
    }

    /// For each value whether it depends on the slider called `name`.
    pub fn dependents(&self, name: &str) -> Vec<bool> {
        let mut moved = BTreeSet::from([name]);
        let mut out = Vec::with_capacity(self.values.len());
        for value in &self.values {
            let is_moved = match &value.source {
                ValueSource::Constant(_) => false,
                ValueSource::Formula(formula) => formula.names().iter().any(|name| moved.contains(name)),
                ValueSource::Model(from) => names_in(from).iter().any(|name| moved.contains(name.as_str())),
            };
            if is_moved {
                moved.insert(&value.name);
            }
            out.push(is_moved);
        }
        out
    }
}

/// Numbers, words and lists in a model's settings, all counted.
pub(crate) fn n_values(from: &ModelRef) -> usize {
    fn count(value: &vramlab_units::Value) -> usize {
        match value {
            vramlab_units::Value::Array(list) => 1 + list.iter().map(count).sum::<usize>(),
            vramlab_units::Value::Object(map) => 1 + map.values().map(count).sum::<usize>(),
            _ => 1,
        }
    }
    from.set.values().map(count).sum()
}

/// The `$names` in a model's settings, once for each time they stand there.
pub(crate) fn names_in(from: &ModelRef) -> Vec<String> {
    fn walk(value: &vramlab_units::Value, out: &mut Vec<String>) {
        match value {
            vramlab_units::Value::String(text) => out.extend(text.strip_prefix('$').map(str::to_owned)),
            vramlab_units::Value::Array(list) => list.iter().for_each(|item| walk(item, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    from.set.values().for_each(|value| walk(value, &mut out));
    out
}
