//! Author's figures: whether the models they ask exist and answer at every position of every slider, in the units that
//! the figure says, and whether everything declared is used.

use super::Checker;
use super::asks::{described, units_meet};
use crate::answer::Values;
use crate::chapter::ModelRef;
use crate::figure::{Drawing, Expr, Figure, Scale, SheetRows, Slider, ValueSource, eval, names_in, picture};
use vramlab_units::{FieldError, Lang, Localized};

/// Positions of one slider that are tried, the others at their start.
const MAX_TRIED: u64 = 48;
/// Most characters of a name in the picture.
const MAX_NAME: usize = 80;

impl Checker<'_> {
    pub(super) fn figure(&mut self, figure: &Figure, path: &str) {
        let mut is_askable = true;
        for (idx, value) in figure.values.iter().enumerate() {
            if let ValueSource::Model(from) = &value.source {
                let at = format!("{path}.value[{idx}].from");
                if self.has_model(from, &at) {
                    self.unit_of(from, &value.unit, &at, &format!("{path}.value[{idx}].unit"));
                    self.units_of_question(figure, from, &at);
                } else {
                    is_askable = false;
                }
            }
        }
        self.unused(figure, path);
        self.names(figure, path);
        if is_askable {
            self.states(figure, path);
        }
    }

    /// A slider in GiB must not become a model's bytes.
    fn units_of_question(&mut self, figure: &Figure, from: &ModelRef, path: &str) {
        for (field, value) in &from.set {
            let Some(name) = value.as_str().and_then(|text| text.strip_prefix('$')) else { continue };
            let slider = figure.sliders.iter().find(|slider| slider.name == name).map(|slider| &slider.unit);
            let value = figure.values.iter().find(|value| value.name == name).map(|value| &value.unit);
            let (Some(given), Some(wanted)) = (slider.or(value), self.registry.question_unit(&from.model, field))
            else {
                continue;
            };
            if !units_meet(given, &wanted) {
                let what = format!("${name} is in {given}; the model {} takes {field} in {wanted}", from.model);
                let help = format!("convert it by a value with the unit {wanted}");
                self.error("wrong-unit", &format!("{path}.set.{field}"), what, Some(help));
            }
        }
    }

    /// Names stand in the picture, on one line.
    fn names(&mut self, figure: &Figure, path: &str) {
        for (at, text) in texts(figure) {
            let is_prose = ["text", "alt", "caption"].iter().any(|key| at == *key || at.ends_with(".caption"));
            let longest = [&text.zh, &text.en].into_iter().flatten().map(|words| words.chars().count()).max();
            if let Some(n) = longest.filter(|n| !is_prose && *n > MAX_NAME) {
                let what = format!("{n} characters; a name in a figure may have {MAX_NAME}");
                self.error(
                    "too-long",
                    &format!("{path}.{at}"),
                    what,
                    Some("the text above has room for more".to_owned()),
                );
            }
        }
    }

    fn unused(&mut self, figure: &Figure, path: &str) {
        let used = used_names(figure);
        let sliders = figure.sliders.iter().enumerate().map(|(idx, slider)| (format!("slider[{idx}]"), &slider.name));
        let values = figure.values.iter().enumerate().map(|(idx, value)| (format!("value[{idx}]"), &value.name));
        for (at, name) in sliders.chain(values) {
            if !used.iter().any(|used| used == name) {
                let what = format!("{name} is declared, and nothing in the figure uses it");
                self.warn("unused-name", &format!("{path}.{at}.name"), what, Some("delete it".to_owned()));
            }
        }
    }

    /// Moves each slider over its range, the others at their start, and all to their ends together: the first state
    /// without a picture is noted.
    fn states(&mut self, figure: &Figure, path: &str) {
        let registry = self.registry;
        for sliders in tried(&figure.sliders) {
            if let Err(error) = eval::probe(figure, &sliders, &|id, set| registry.eval(id, set)) {
                let at = blamed(figure, &error, path);
                let help = match error.field() {
                    "square" => "let one square hold more bytes",
                    _ => "narrow the slider, or catch the case with if(…)",
                };
                let what = format!("{error}{}", described(&sliders));
                return self.error("out-of-range", &at, what, Some(help.to_owned()));
            }
        }
        self.gaps(figure, path);
    }

    /// A line of which nothing can be drawn, a cell of a table without a value.
    fn gaps(&mut self, figure: &Figure, path: &str) {
        let registry = self.registry;
        let Ok(shown) = eval::picture(figure, &Values::new(), &|id, set| registry.eval(id, set)) else { return };
        if let picture::Drawn::Table(sheet) = &shown.drawn {
            for (row_idx, row) in sheet.rows.iter().enumerate() {
                let Some(column) = row.cells.iter().position(Option::is_none) else { continue };
                let (row, column) = (row.label.get(Lang::En), sheet.columns[column].0.get(Lang::En));
                let what = format!("the table has no value at {row} in the column \"{column}\"");
                let help = "leave the row out, or catch the case with if(…)".to_owned();
                return self.error("out-of-range", &format!("{path}.rows.values[{row_idx}]"), what, Some(help));
            }
        }
        if let picture::Drawn::Line(line) = &shown.drawn {
            let is_log = line.y.scale != Scale::Linear;
            let is_drawn = |y: f64| !is_log || y > 0.0;
            let is_empty = |curve: &picture::Curve| !curve.points.iter().filter_map(|(_, y)| *y).any(is_drawn);
            if let Some(idx) = line.curves.iter().position(is_empty) {
                let why = if is_log { " above 0, as its logarithmic axis needs" } else { "" };
                let what = format!("no point of this line from {} to {} has a value{why}", line.x_min, line.x_max);
                self.error("out-of-range", &format!("{path}.series[{idx}].value"), what, None);
            }
        }
    }
}

/// The states that are tried.
fn tried(sliders: &[Slider]) -> Vec<Values> {
    let mut out = vec![Values::new()];
    for slider in sliders {
        let n_steps = ((slider.max - slider.min) / slider.step + 1e-9).floor().max(1.0);
        let n_tried = n_steps.min(MAX_TRIED as f64) as u64;
        let position = |n: u64| {
            let steps = (n_steps * n as f64 / n_tried as f64).round();
            (slider.min + steps * slider.step).min(slider.max)
        };
        out.extend((0..=n_tried).map(|n| Values::from([(slider.name.clone(), position(n))])));
    }
    for corner in 0..1_u32 << sliders.len().min(6) {
        let end = |(idx, slider): (usize, &Slider)| {
            let is_high = corner >> idx.min(31) & 1 == 1;
            (slider.name.clone(), if is_high { slider.max } else { slider.min })
        };
        out.push(sliders.iter().enumerate().map(end).collect());
    }
    out
}

/// Where the thing stands that an evaluation failed at.
fn blamed(figure: &Figure, error: &FieldError, path: &str) -> String {
    let field = error.field();
    let is_its = |value: &crate::figure::NamedValue| match &value.source {
        ValueSource::Model(from) => from.set.contains_key(field) || from.take == field,
        _ => value.name == field,
    };
    if let Some(idx) = figure.values.iter().position(is_its) {
        return match figure.values[idx].source {
            ValueSource::Model(_) => format!("{path}.value[{idx}].from"),
            _ => format!("{path}.value[{idx}].formula"),
        };
    }
    if field == "square" {
        return format!("{path}.square");
    }
    let found = exprs(figure).into_iter().find(|(_, expr)| expr.formula.source == field);
    found.map_or_else(|| format!("{path}.draw"), |(at, _)| format!("{path}.{at}"))
}

/// Every formula of the drawing and the captions, with its place.
fn exprs(figure: &Figure) -> Vec<(String, &Expr)> {
    let mut out = Vec::new();
    for (idx, case) in figure.cases.iter().enumerate() {
        out.push((format!("case[{idx}].when"), &case.when));
    }
    match &figure.drawing {
        Drawing::Line(lines) => {
            out.extend(lines.series.iter().enumerate().map(|(idx, one)| (format!("series[{idx}].value"), &one.value)));
        }
        Drawing::Bar(bars) => {
            for (idx, bar) in bars.bars.iter().enumerate() {
                let parts = bar.parts.iter().enumerate();
                out.extend(parts.map(|(part, one)| (format!("bar[{idx}].parts[{part}].value"), &one.value)));
            }
            out.extend(bars.limit.as_ref().map(|limit| ("limit.value".to_owned(), &limit.value)));
        }
        Drawing::Bytes(grid) => {
            out.extend(grid.parts.iter().enumerate().map(|(idx, one)| (format!("part[{idx}].value"), &one.value)));
        }
        Drawing::Gantt(gantt) => {
            for (idx, row) in gantt.rows.iter().enumerate() {
                for (span_idx, span) in row.spans.iter().enumerate() {
                    let at = |key: &str| format!("row[{idx}].spans[{span_idx}].{key}");
                    out.extend([(at("start"), &span.start), (at("length"), &span.length)]);
                    if let Some((times, every)) = &span.repeat {
                        out.extend([(at("times"), times), (at("every"), every)]);
                    }
                }
            }
        }
        Drawing::Graph(graph) => {
            for (idx, node) in graph.nodes.iter().enumerate() {
                out.extend(node.value.iter().map(|value| (format!("node[{idx}].value"), value)));
            }
            for (idx, edge) in graph.edges.iter().enumerate() {
                out.extend(edge.value.iter().map(|value| (format!("edge[{idx}].value"), value)));
            }
        }
        Drawing::Table(sheet) => {
            for (idx, column) in sheet.columns.iter().enumerate() {
                out.extend(column.value.iter().map(|value| (format!("column[{idx}].value"), value)));
            }
            if let SheetRows::Written(rows) = &sheet.rows {
                for (idx, (_, cells)) in rows.iter().enumerate() {
                    out.extend(cells.iter().enumerate().map(|(cell, one)| (format!("row[{idx}].cells[{cell}]"), one)));
                }
            }
        }
    }
    out
}

fn used_names(figure: &Figure) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for value in &figure.values {
        match &value.source {
            ValueSource::Constant(_) => {}
            ValueSource::Formula(formula) => out.extend(formula.names().into_iter().map(str::to_owned)),
            ValueSource::Model(from) => out.extend(names_in(from)),
        }
    }
    for (_, expr) in exprs(figure) {
        out.extend(expr.formula.names().into_iter().map(str::to_owned));
    }
    let swept = match &figure.drawing {
        Drawing::Line(lines) => Some(lines.sweep),
        Drawing::Table(sheet) => match &sheet.rows {
            SheetRows::Sweep { slider, .. } => Some(*slider),
            SheetRows::Written(_) => None,
        },
        _ => None,
    };
    out.extend(swept.map(|idx| figure.sliders[idx].name.clone()));
    out.extend(named_in_words(figure));
    out
}

/// Names of key numbers and in captions.
pub(super) fn named_in_words(figure: &Figure) -> Vec<String> {
    let mut out = figure.key.clone();
    let captions = figure.cases.iter().map(|case| &case.caption).chain([&figure.caption]);
    for words in captions.flat_map(|caption| [&caption.zh, &caption.en]).flatten() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        out.extend(words.split('$').skip(1).map(|after| after.chars().take_while(|c| is_word(*c)).collect()));
    }
    out
}

/// Every text of a figure, with its place.
pub fn texts(figure: &Figure) -> Vec<(String, &Localized)> {
    let mut out = vec![
        ("text".to_owned(), &figure.text),
        ("alt".to_owned(), &figure.alt),
        ("caption".to_owned(), &figure.caption),
    ];
    for (idx, case) in figure.cases.iter().enumerate() {
        out.push((format!("case[{idx}].caption"), &case.caption));
    }
    for (idx, slider) in figure.sliders.iter().enumerate() {
        out.push((format!("slider[{idx}].means"), &slider.means));
    }
    for (idx, value) in figure.values.iter().enumerate() {
        out.push((format!("value[{idx}].means"), &value.means));
    }
    let (list, labels): (&str, Vec<&Localized>) = match &figure.drawing {
        Drawing::Line(lines) => {
            out.push(("y.label".to_owned(), &lines.y.label));
            ("series", lines.series.iter().map(|one| &one.label).collect())
        }
        Drawing::Bar(bars) => {
            out.push(("y.label".to_owned(), &bars.y.label));
            for (idx, bar) in bars.bars.iter().enumerate() {
                let parts = bar.parts.iter().enumerate();
                out.extend(parts.map(|(part, one)| (format!("bar[{idx}].parts[{part}].label"), &one.label)));
            }
            out.extend(bars.limit.as_ref().map(|limit| ("limit.label".to_owned(), &limit.label)));
            ("bar", bars.bars.iter().map(|bar| &bar.label).collect())
        }
        Drawing::Bytes(grid) => ("part", grid.parts.iter().map(|part| &part.label).collect()),
        Drawing::Gantt(gantt) => {
            for (idx, row) in gantt.rows.iter().enumerate() {
                let spans = row.spans.iter().enumerate();
                out.extend(spans.map(|(span, one)| (format!("row[{idx}].spans[{span}].label"), &one.label)));
            }
            ("row", gantt.rows.iter().map(|row| &row.label).collect())
        }
        Drawing::Graph(graph) => {
            let edges = graph.edges.iter().enumerate();
            out.extend(edges.map(|(idx, edge)| (format!("edge[{idx}].label"), &edge.label)));
            ("node", graph.nodes.iter().map(|node| &node.label).collect())
        }
        Drawing::Table(sheet) => {
            if let SheetRows::Written(rows) = &sheet.rows {
                out.extend(rows.iter().enumerate().map(|(idx, (label, _))| (format!("row[{idx}].label"), label)));
            }
            ("column", sheet.columns.iter().map(|column| &column.label).collect())
        }
    };
    out.extend(labels.into_iter().enumerate().map(|(idx, label)| (format!("{list}[{idx}].label"), label)));
    out
}
