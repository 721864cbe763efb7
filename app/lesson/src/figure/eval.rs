//! Puts numbers into a figure; what comes out is in `picture.rs`. What one picture costs is bounded: values that a sweep
//! does not move are computed once, and the number of points shrinks as the formulas grow and the models asked get more.

use super::picture::{
    BarPicture, BytePicture, Curve, Drawn, GanttPicture, GraphPicture, Interval, KeyValue, LinePicture, NodePicture,
    PartValue, Picture, TablePicture, TableRow,
};
use super::{
    ByteSquares, Drawing, Expr, Figure, Gantt, Graph, Lines, MAX_SPANS, MAX_SQUARES, Scale, Series, Sheet, SheetRows,
    ValueSource,
};
use crate::answer::{Eval, Values, ask};
use std::collections::BTreeMap;
use vramlab_units::{Bytes, FieldError, Formula, Localized, show};

/// Most points of a line, most nodes of formulas evaluated and most questions to models for one sweep.
const MAX_POINTS: usize = 160;
const SWEEP_NODES: usize = 200_000;
const SWEEP_ASKS: usize = 256;

/// The picture of `figure` with the sliders at `sliders`; one that is not in it stands at its start.
pub fn picture(figure: &Figure, sliders: &Values, ask: Eval<'_>) -> Result<Picture, FieldError> {
    let run = Run { figure, ask };
    let values = run.values(sliders)?;
    let key = figure.key.iter().filter_map(|name| run.key(name, &values)).collect();
    let caption = run.caption(&values)?;
    let drawn = run.drawn(&values, true)?;
    Ok(Picture { values, caption, key, drawn })
}

/// As [`picture`], without what a sweep costs: for trying many states.
pub fn probe(figure: &Figure, sliders: &Values, ask: Eval<'_>) -> Result<(), FieldError> {
    let run = Run { figure, ask };
    let values = run.values(sliders)?;
    run.caption(&values)?;
    run.drawn(&values, false).map(drop)
}

struct Run<'a> {
    figure: &'a Figure,
    ask: Eval<'a>,
}

impl Run<'_> {
    fn values(&self, sliders: &Values) -> Result<Values, FieldError> {
        let start = |slider: &super::Slider| sliders.get(&slider.name).copied().unwrap_or(slider.start);
        let mut values: Values =
            self.figure.sliders.iter().map(|slider| (slider.name.clone(), start(slider))).collect();
        for idx in 0..self.figure.values.len() {
            self.compute(idx, &mut values)?;
        }
        Ok(values)
    }

    fn compute(&self, idx: usize, values: &mut Values) -> Result<(), FieldError> {
        let value = &self.figure.values[idx];
        let number = match &value.source {
            ValueSource::Constant(number) => *number,
            ValueSource::Formula(formula) => evaluate(formula, values, &value.name)?,
            ValueSource::Model(from) => ask(from, values, self.ask)?,
        };
        values.insert(value.name.clone(), number);
        Ok(())
    }

    fn key(&self, name: &str, values: &Values) -> Option<KeyValue> {
        let of = |label: &Localized, unit: &str| {
            let value = *values.get(name)?;
            Some(KeyValue { label: label.clone(), value, unit: unit.to_owned() })
        };
        let value = self.figure.values.iter().find(|value| value.name == name);
        let slider = self.figure.sliders.iter().find(|slider| slider.name == name);
        value
            .map(|value| (&value.means, &value.unit))
            .or(slider.map(|s| (&s.means, &s.unit)))
            .and_then(|(m, u)| of(m, u))
    }

    fn caption(&self, values: &Values) -> Result<Localized, FieldError> {
        let mut caption = &self.figure.caption;
        for case in &self.figure.cases {
            if number(&case.when, values)? != 0.0 {
                caption = &case.caption;
                break;
            }
        }
        let units = self.figure.values.iter().map(|value| (value.name.as_str(), value.unit.as_str()));
        let units = units.chain(self.figure.sliders.iter().map(|slider| (slider.name.as_str(), slider.unit.as_str())));
        let printed: BTreeMap<&str, String> =
            units.filter_map(|(name, unit)| Some((name, show::readable(*values.get(name)?, unit)))).collect();
        let each = |words: &Option<String>| words.as_ref().map(|words| substitute(words, &printed));
        Ok(Localized { zh: each(&caption.zh), en: each(&caption.en) })
    }

    fn drawn(&self, values: &Values, is_whole: bool) -> Result<Drawn, FieldError> {
        Ok(match &self.figure.drawing {
            Drawing::Line(lines) => Drawn::Line(self.lines(lines, values, is_whole)?),
            Drawing::Bar(bars) => {
                let unit = bars.bars.iter().flat_map(|bar| &bar.parts).map(|part| part.value.unit.clone()).next();
                let made = bars
                    .bars
                    .iter()
                    .map(|bar| Ok((bar.label.clone(), parts(&bar.parts, values, bar.parts.len() > 1)?)));
                let made = made.collect::<Result<_, FieldError>>()?;
                let limit = bars.limit.as_ref().map(|it| Ok((it.label.clone(), number(&it.value, values)?)));
                let limit = limit.transpose()?;
                Drawn::Bar(BarPicture { y: bars.y.clone(), unit: unit.unwrap_or_default(), limit, bars: made })
            }
            Drawing::Bytes(grid) => Drawn::Bytes(squares(grid, values)?),
            Drawing::Gantt(gantt) => Drawn::Gantt(intervals(gantt, values)?),
            Drawing::Graph(graph) => Drawn::Graph(graph_of(graph, values)?),
            Drawing::Table(sheet) => Drawn::Table(self.table(sheet, values, is_whole)?),
        })
    }

    fn lines(&self, lines: &Lines, values: &Values, is_whole: bool) -> Result<LinePicture, FieldError> {
        let slider = &self.figure.sliders[lines.sweep];
        let now = |series: &Series| number(&series.value, values);
        let now = lines.series.iter().map(now).collect::<Result<Vec<_>, _>>()?;
        let mut curves: Vec<Curve> = lines
            .series
            .iter()
            .zip(now)
            .map(|(series, now)| Curve {
                label: series.label.clone(),
                role: series.role,
                style: series.style,
                points: Vec::new(),
                now: Some(now),
            })
            .collect();
        let mut sweep = Sweep::new(self, lines, values);
        for x in sweep.places(is_whole) {
            let at = sweep.at(x);
            for (curve, series) in curves.iter_mut().zip(&lines.series) {
                let y = at.as_ref().and_then(|values| number(&series.value, values).ok());
                curve.points.push((x, y));
            }
        }
        Ok(LinePicture {
            x_label: slider.means.clone(),
            x_unit: slider.unit.clone(),
            x_scale: lines.x_scale,
            x_min: lines.x_min,
            x_max: lines.x_max,
            y: lines.y.clone(),
            y_unit: lines.series.first().map(|series| series.value.unit.clone()).unwrap_or_default(),
            at: values.get(&slider.name).copied().unwrap_or(slider.start),
            curves,
        })
    }

    fn table(&self, sheet: &Sheet, values: &Values, is_whole: bool) -> Result<TablePicture, FieldError> {
        let columns = sheet.columns.iter().map(|column| (column.label.clone(), column.unit.clone())).collect();
        let rows = match &sheet.rows {
            SheetRows::Written(rows) => {
                let row = |(label, cells): &(Localized, Vec<Expr>)| {
                    let cells = cells.iter().map(|cell| number(cell, values).map(Some)).collect::<Result<_, _>>()?;
                    Ok(TableRow { label: label.clone(), cells, is_current: false })
                };
                rows.iter().map(row).collect::<Result<_, FieldError>>()?
            }
            SheetRows::Sweep { slider, values: places } => {
                let slider = &self.figure.sliders[*slider];
                let now = values.get(&slider.name).copied().unwrap_or(slider.start);
                let mut mover = Mover::new(self, &slider.name, values);
                let places = if is_whole { places.as_slice() } else { &[] };
                let row = |place: &f64| {
                    let at = mover.at(*place);
                    let cell = |expr: &Expr| at.as_ref().and_then(|values| number(expr, values).ok());
                    let cells = sheet.columns.iter().map(|column| column.value.as_ref().and_then(cell)).collect();
                    let label = show::grouped_with_unit(*place, &slider.unit);
                    TableRow { label: Localized::both(label.clone(), label), cells, is_current: *place == now }
                };
                places.iter().map(row).collect()
            }
        };
        let row_head = match &sheet.rows {
            SheetRows::Sweep { slider, .. } => self.figure.sliders[*slider].means.clone(),
            SheetRows::Written(_) => Localized::default(),
        };
        Ok(TablePicture { row_head, columns, rows })
    }
}

/// Recomputes what one slider moves.
struct Mover<'a> {
    run: &'a Run<'a>,
    name: String,
    moved: Vec<usize>,
    values: Values,
}

impl<'a> Mover<'a> {
    fn new(run: &'a Run<'a>, name: &str, values: &Values) -> Self {
        let moved = run.figure.dependents(name).into_iter().enumerate().filter(|(_, is_moved)| *is_moved);
        Self { run, name: name.to_owned(), moved: moved.map(|(idx, _)| idx).collect(), values: values.clone() }
    }

    /// All values with the slider at `x`; nothing where one of them cannot be computed.
    fn at(&mut self, x: f64) -> Option<&Values> {
        self.values.insert(self.name.clone(), x);
        for idx in &self.moved {
            self.run.compute(*idx, &mut self.values).ok()?;
        }
        Some(&self.values)
    }

    /// Whether a model is asked anew at each place.
    fn n_models(&self) -> usize {
        let is_model = |idx: &&usize| matches!(self.run.figure.values[**idx].source, ValueSource::Model(_));
        self.moved.iter().filter(is_model).count()
    }

    fn n_nodes(&self) -> usize {
        let nodes = |idx: &usize| match &self.run.figure.values[*idx].source {
            ValueSource::Formula(formula) => formula.n_nodes(),
            _ => 1,
        };
        self.moved.iter().map(nodes).sum()
    }
}

struct Sweep<'a> {
    mover: Mover<'a>,
    lines: &'a Lines,
    step: (f64, f64),
}

impl<'a> Sweep<'a> {
    fn new(run: &'a Run<'a>, lines: &'a Lines, values: &Values) -> Self {
        let slider = &run.figure.sliders[lines.sweep];
        Self { mover: Mover::new(run, &slider.name, values), lines, step: (slider.min, slider.step) }
    }

    fn at(&mut self, x: f64) -> Option<&Values> {
        self.mover.at(x)
    }

    /// Where the lines are computed, from left to right. A model is only asked what the slider can ask.
    fn places(&self, is_whole: bool) -> Vec<f64> {
        let Lines { x_min, x_max, x_scale, series, .. } = self.lines;
        let n_models = self.mover.n_models();
        let n_nodes = self.mover.n_nodes() + series.iter().map(|series| series.value.formula.n_nodes()).sum::<usize>();
        let n_points = if is_whole { MAX_POINTS } else { 2 };
        let n_points = n_points.min(SWEEP_NODES / n_nodes.max(1)).min(SWEEP_ASKS / n_models.max(1)).max(2);
        let place = |idx: usize| {
            let share = idx as f64 / (n_points - 1) as f64;
            let x = match x_scale {
                Scale::Linear => x_min + (x_max - x_min) * share,
                Scale::Log2 | Scale::Log10 => x_min * (x_max / x_min).powf(share),
            };
            let (first, step) = self.step;
            let x = if n_models > 0 { first + ((x - first) / step).round() * step } else { x };
            x.clamp(*x_min, *x_max)
        };
        let mut places: Vec<f64> = (0..n_points).map(place).collect();
        places.dedup();
        places
    }
}

fn evaluate(formula: &Formula, values: &Values, field: &str) -> Result<f64, FieldError> {
    formula.eval(&|name| values.get(name).copied()).map_err(|error| FieldError::conflict(field, error.what))
}

fn number(expr: &Expr, values: &Values) -> Result<f64, FieldError> {
    evaluate(&expr.formula, values, &expr.formula.source)
}

fn parts(parts: &[super::Part], values: &Values, is_stack: bool) -> Result<Vec<PartValue>, FieldError> {
    let value = |part: &super::Part| {
        let value = number(&part.value, values)?;
        if is_stack && value < 0.0 {
            let why = format!("a part of a stack cannot be {}", show::number(value));
            return Err(FieldError::conflict(&part.value.formula.source, why));
        }
        Ok(PartValue { label: part.label.clone(), role: part.role, value })
    };
    parts.iter().map(value).collect()
}

fn squares(grid: &ByteSquares, values: &Values) -> Result<BytePicture, FieldError> {
    let mut made = parts(&grid.parts, values, true)?;
    let mut sizes = Vec::new();
    for ((part, bytes), from) in made.iter_mut().zip(&grid.bytes_per_unit).zip(&grid.parts) {
        let in_unit = part.value;
        part.value *= bytes;
        sizes.push(match from.value.unit.as_str() {
            "B" if grid.square.ends_with("iB") => show::bytes_binary(Bytes(part.value.round() as u64)),
            unit => show::readable(in_unit, unit),
        });
    }
    let n_squares: f64 = made.iter().map(|part| (part.value / grid.square_bytes).ceil()).sum();
    if n_squares > MAX_SQUARES as f64 {
        let why = format!("{} squares of {}; a grid has at most {MAX_SQUARES}", show::number(n_squares), grid.square);
        return Err(FieldError::conflict("square", why));
    }
    Ok(BytePicture { square_bytes: grid.square_bytes, square: grid.square.clone(), parts: made, sizes })
}

fn intervals(gantt: &Gantt, values: &Values) -> Result<GanttPicture, FieldError> {
    let (mut rows, mut n_left, mut end) = (Vec::new(), MAX_SPANS, 0.0_f64);
    for row in &gantt.rows {
        let mut made = Vec::new();
        for (kind_idx, span) in row.spans.iter().enumerate() {
            let (start, length) = (number(&span.start, values)?, number(&span.length, values)?);
            if length < 0.0 {
                let why = format!("an interval cannot be {} long", show::number(length));
                return Err(FieldError::conflict(&span.length.formula.source, why));
            }
            let (times, every) = match &span.repeat {
                Some((times, every)) => (whole(times, values)?, number(every, values)?),
                None => (1.0, 0.0),
            };
            if times > n_left as f64 {
                let why = format!("more than {MAX_SPANS} intervals");
                let field = span.repeat.as_ref().map_or("times", |(times, _)| times.formula.source.as_str());
                return Err(FieldError::conflict(field, why));
            }
            for n in 0..times.max(0.0) as usize {
                let start = start + n as f64 * every;
                end = end.max(start + length);
                made.push(Interval { label: span.label.clone(), role: span.role, start, length, kind_idx });
                n_left -= 1;
            }
        }
        rows.push((row.label.clone(), made));
    }
    let is_placed = |interval: &Interval| (interval.start + interval.length).is_finite();
    if !rows.iter().flat_map(|(_, made)| made).all(is_placed) {
        return Err(FieldError::conflict("start", "an interval ends nowhere"));
    }
    Ok(GanttPicture { unit: gantt.unit.clone(), end, rows })
}

/// How often an interval comes. A part of a time is none: the author says which whole number is meant.
fn whole(times: &Expr, values: &Values) -> Result<f64, FieldError> {
    let (value, source) = (number(times, values)?, &times.formula.source);
    if (value - value.round()).abs() > 1e-9 * value.abs().max(1.0) {
        let why =
            format!("an interval cannot come {} times; write floor({source}) or ceil({source})", show::number(value));
        return Err(FieldError::conflict(source, why));
    }
    Ok(value.round())
}

fn graph_of(graph: &Graph, values: &Values) -> Result<GraphPicture, FieldError> {
    let printed = |value: &Option<Expr>| {
        let print = |expr: &Expr| Ok(show::readable(number(expr, values)?, &expr.unit));
        value.as_ref().map(print).transpose()
    };
    let nodes = graph.nodes.iter().map(|node| {
        Ok(NodePicture { label: node.label.clone(), value: printed(&node.value)?, role: node.role, at: node.at })
    });
    let nodes = nodes.collect::<Result<_, FieldError>>()?;
    let edges = graph.edges.iter().map(|edge| Ok((edge.from, edge.to, edge.label.clone(), printed(&edge.value)?)));
    Ok(GraphPicture { nodes, edges: edges.collect::<Result<_, FieldError>>()? })
}

/// `$name` replaced by the value as it is read.
fn substitute(words: &str, printed: &BTreeMap<&str, String>) -> String {
    let mut out = String::with_capacity(words.len());
    let mut rest = words;
    while let Some(at) = rest.find('$') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let len = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        out.push_str(before);
        match printed.get(&after[..len]) {
            Some(value) => {
                out.push_str(value);
                rest = &after[len..];
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}
