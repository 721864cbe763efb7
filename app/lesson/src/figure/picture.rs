//! What a figure shows for one state of its sliders, as plain data for whoever draws, prints or speaks it.

use super::{Scale, Style, YAxis};
use crate::answer::Values;
use vramlab_units::Localized;

/// Everything that is shown for one state of the sliders.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub values: Values,
    pub caption: Localized,
    pub key: Vec<KeyValue>,
    pub drawn: Drawn,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KeyValue {
    pub label: Localized,
    pub value: f64,
    pub unit: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    Line(LinePicture),
    Bar(BarPicture),
    Bytes(BytePicture),
    Gantt(GanttPicture),
    Graph(GraphPicture),
    Table(TablePicture),
}

#[derive(Clone, Debug, PartialEq)]
pub struct LinePicture {
    pub x_label: Localized,
    pub x_unit: String,
    pub x_scale: Scale,
    pub x_min: f64,
    pub x_max: f64,
    pub y: YAxis,
    pub y_unit: String,
    /// Where the slider stands.
    pub at: f64,
    pub curves: Vec<Curve>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub label: Localized,
    pub role: Option<&'static str>,
    pub style: Style,
    /// A place without a value is a gap.
    pub points: Vec<(f64, Option<f64>)>,
    /// The value where the slider stands.
    pub now: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BarPicture {
    pub y: YAxis,
    pub unit: String,
    /// What bars should not pass, with its name.
    pub limit: Option<(Localized, f64)>,
    pub bars: Vec<(Localized, Vec<PartValue>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartValue {
    pub label: Localized,
    pub role: Option<&'static str>,
    pub value: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BytePicture {
    pub square_bytes: f64,
    pub square: String,
    /// In bytes.
    pub parts: Vec<PartValue>,
    /// Each part as it is read: in the author's unit, in the square's system if that is B.
    pub sizes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GanttPicture {
    pub unit: String,
    /// When the last interval ends.
    pub end: f64,
    pub rows: Vec<(Localized, Vec<Interval>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    pub label: Localized,
    pub role: Option<&'static str>,
    pub start: f64,
    pub length: f64,
    /// Of which interval of the row this is one, for colours by order.
    pub kind_idx: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GraphPicture {
    pub nodes: Vec<NodePicture>,
    /// From, to, label, value with unit.
    pub edges: Vec<(usize, usize, Localized, Option<String>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NodePicture {
    pub label: Localized,
    pub value: Option<String>,
    pub role: Option<&'static str>,
    pub at: (f64, f64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TablePicture {
    /// What the rows are named by.
    pub row_head: Localized,
    pub columns: Vec<(Localized, String)>,
    pub rows: Vec<TableRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    pub label: Localized,
    pub cells: Vec<Option<f64>>,
    /// The row at the slider's value.
    pub is_current: bool,
}
