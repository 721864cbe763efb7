//! Drawings, each made from its own fields: lines, bars, byte grids, Gantt charts.

use super::scope::Scope;
use super::{
    Bar, Bars, ByteSquares, Expr, Gantt, GanttRow, Lines, MAX_BARS, MAX_PARTS, MAX_ROWS, MAX_SERIES, Part, Scale,
    Series, Slider, Style, TimeSpan, YAxis,
};
use crate::read::{inner, number, tables, text};
use crate::tree::Table;

/// Bytes of the units that a byte grid knows.
const BYTE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1_024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// The list in the field `key`, which a drawing needs.
pub fn list<'t>(scope: &mut Scope<'_, '_>, table: &'t Table, key: &str, most: usize, path: &str) -> Vec<&'t Table> {
    let mut list = tables(table, key);
    if list.is_empty() {
        let draw = text(table, "draw").unwrap_or_default();
        let what = format!("a figure with draw = \"{draw}\" needs at least one {key}");
        let help = format!("write [[step.{key}]]");
        scope.fail("missing-field", &format!("{path}.draw"), what, Some(&help));
    }
    scope.is_short(list.len(), most, &format!("of {key}"), &format!("{path}.{key}"));
    list.truncate(most);
    list
}

fn scale(table: Option<&Table>) -> Option<Scale> {
    Some(match text(table?, "scale")?.as_str() {
        "log2" => Scale::Log2,
        "log10" => Scale::Log10,
        _ => Scale::Linear,
    })
}

fn y_axis(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> YAxis {
    let Some(y) = inner(table, "y") else { return YAxis::default() };
    let axis = YAxis {
        label: scope.reader.localized(y, "label"),
        scale: scale(Some(y)).unwrap_or_default(),
        min: number(y, "min"),
        max: number(y, "max"),
    };
    ends(scope, axis.min, axis.max, axis.scale, &format!("{path}.y"));
    axis
}

/// Ends that no axis can have.
fn ends(scope: &mut Scope<'_, '_>, min: Option<f64>, max: Option<f64>, scale: Scale, path: &str) {
    if let (Some(min), Some(max)) = (min, max)
        && min >= max
    {
        scope.fail("out-of-range", &format!("{path}.max"), format!("the axis ends at {max} and begins at {min}"), None);
    }
    for (key, end) in [("min", min), ("max", max)] {
        if let Some(end) = end.filter(|end| scale != Scale::Linear && *end <= 0.0) {
            let what = format!("a logarithmic axis has only values above 0; this end is {end}");
            scope.fail("out-of-range", &format!("{path}.{key}"), what, None);
        }
    }
}

pub fn sweep(scope: &mut Scope<'_, '_>, table: &Table, path: &str, sliders: &[Slider]) -> Option<usize> {
    let name = text(table, "sweep")?;
    let found = sliders.iter().position(|slider| slider.name == name);
    if found.is_none() {
        let known: Vec<&str> = sliders.iter().map(|slider| slider.name.as_str()).collect();
        let help = format!("the sliders are {}", known.join(", "));
        let help = if known.is_empty() { "add a [[step.slider]] for it".to_owned() } else { help };
        scope.fail("unknown-symbol", &format!("{path}.sweep"), format!("no slider is called \"{name}\""), Some(&help));
    }
    found
}

pub fn lines(scope: &mut Scope<'_, '_>, table: &Table, path: &str, sliders: &[Slider]) -> Option<Lines> {
    let list = list(scope, table, "series", MAX_SERIES, path);
    let y = y_axis(scope, table, path);
    let Some(x) = inner(table, "x") else {
        let help = "x = { sweep = \"n\" } names the slider that runs along x";
        scope.fail("missing-field", &format!("{path}.draw"), "a line needs the field \"x\"".to_owned(), Some(help));
        return None;
    };
    let sweep = sweep(scope, x, &format!("{path}.x"), sliders)?;
    let slider = &sliders[sweep];
    let by_slider = if slider.is_log { Scale::Log2 } else { Scale::Linear };
    let x_scale = scale(Some(x)).unwrap_or(by_slider);
    let (x_min, x_max) = (number(x, "min").unwrap_or(slider.min), number(x, "max").unwrap_or(slider.max));
    if x_scale != Scale::Linear && x_min <= 0.0 && number(x, "min").is_none() {
        let (name, min) = (&slider.name, slider.min);
        let what = format!("x runs over {name} from {min}; a logarithmic axis has only values above 0");
        let help = format!("let the slider {name} begin above 0, give x a min, or write scale = \"linear\"");
        scope.fail("out-of-range", &format!("{path}.slider[{sweep}].min"), what, Some(&help));
    } else {
        ends(scope, Some(x_min), Some(x_max), x_scale, &format!("{path}.x"));
    }
    let mut series: Vec<Series> = Vec::new();
    for (idx, from) in list.into_iter().enumerate() {
        let path = format!("{path}.series[{idx}]");
        let Some(value) = scope.expr(from, "value", &path) else { continue };
        if let Some(first) = series.first() {
            let unit = first.value.unit.clone();
            scope.is_in(&value, &unit, "the first line", &format!("{path}.value"));
        }
        let style = match text(from, "style").as_deref() {
            Some("dashed") => Style::Dashed,
            Some("ceiling") => Style::Ceiling,
            _ => Style::Solid,
        };
        series.push(Series { label: scope.label(from, &value), role: scope.role(from), style, value });
    }
    Some(Lines { sweep, x_scale, x_min, x_max, y, series })
}

fn part(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<Part> {
    let value = scope.expr(table, "value", path)?;
    Some(Part { label: scope.label(table, &value), role: scope.role(table), value })
}

pub fn bars(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<Bars> {
    let list = list(scope, table, "bar", MAX_BARS, path);
    let y = y_axis(scope, table, path);
    if y.scale != Scale::Linear {
        let what = "bars stand on 0, which a logarithmic axis does not have".to_owned();
        scope.fail("out-of-range", &format!("{path}.y.scale"), what, Some("draw lines, or leave the scale linear"));
    }
    let (mut bars, mut unit) = (Vec::new(), None::<String>);
    for (idx, from) in list.into_iter().enumerate() {
        let path = format!("{path}.bar[{idx}]");
        let parts = tables(from, "parts");
        if parts.is_empty() == (text(from, "value").is_none()) {
            let what = "a bar has either a value or parts".to_owned();
            scope.fail("missing-field", &path, what, Some("value = \"…\", or parts = [{ value = \"…\" }, …]"));
            continue;
        }
        scope.is_short(parts.len(), MAX_PARTS, "parts", &format!("{path}.parts"));
        let mut made = Vec::new();
        if parts.is_empty() {
            made.extend(part(scope, from, &path).map(|part| (part, format!("{path}.value"))));
        }
        for (idx, from) in parts.into_iter().take(MAX_PARTS).enumerate() {
            let path = format!("{path}.parts[{idx}]");
            made.extend(part(scope, from, &path).map(|part| (part, format!("{path}.value"))));
        }
        for (part, path) in &made {
            let unit = unit.get_or_insert_with(|| part.value.unit.clone()).clone();
            scope.is_in(&part.value, &unit, "the first bar", path);
        }
        let parts = made.into_iter().map(|(part, _)| part).collect();
        bars.push(Bar { label: scope.reader.localized(from, "label"), parts });
    }
    let limit = inner(table, "limit").and_then(|from| part(scope, from, &format!("{path}.limit")));
    if let (Some(limit), Some(unit)) = (&limit, &unit) {
        scope.is_in(&limit.value, unit, "the bars", &format!("{path}.limit.value"));
    }
    Some(Bars { y, limit, bars })
}

pub fn bytes(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<ByteSquares> {
    let list = list(scope, table, "part", MAX_PARTS, path);
    let square = text(table, "square");
    let square_bytes = square.as_deref().and_then(bytes_from_text);
    if square_bytes.is_none() {
        let what = match &square {
            Some(square) => format!("\"{}\" is not a number of bytes", crate::read::shorten(square)),
            None => "a byte grid needs the field \"square\"".to_owned(),
        };
        let path = if square.is_some() { format!("{path}.square") } else { format!("{path}.draw") };
        let meant = square.as_deref().and_then(meant).map(|meant| format!("did you mean {meant}?"));
        let help = meant.unwrap_or_else(|| "square = \"64 MiB\": a number, and B, KiB … TiB or kB … TB".to_owned());
        scope.fail("missing-field", &path, what, Some(&help));
    }
    let is_binary = |unit: &str| unit.ends_with("iB");
    // B goes with both.
    let mut system = square.as_deref().map(unit_of).filter(|unit| *unit != "B").map(str::to_owned);
    let (mut parts, mut bytes_per_unit) = (Vec::new(), Vec::new());
    for (idx, from) in list.into_iter().enumerate() {
        let path = format!("{path}.part[{idx}]");
        let Some(part) = part(scope, from, &path) else { continue };
        match BYTE_UNITS.iter().find(|(unit, _)| *unit == part.value.unit) {
            Some((unit, bytes)) => {
                let first = if *unit == "B" {
                    (*unit).to_owned()
                } else {
                    system.get_or_insert_with(|| (*unit).to_owned()).clone()
                };
                if is_binary(unit) != is_binary(&first) && *unit != "B" {
                    let what = format!("this is in {unit}, and {first} stands before it in the same figure");
                    let help = "keep to one of them: kB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024";
                    scope.fail("mixed-units", &format!("{path}.value"), what, Some(help));
                }
                bytes_per_unit.push(*bytes);
                parts.push(part);
            }
            None => {
                let what = format!("a square is bytes; this is in {}", part.value.unit);
                scope.fail("unlike-units", &format!("{path}.value"), what, Some("B, KiB … TiB or kB … TB"));
            }
        }
    }
    Some(ByteSquares { square_bytes: square_bytes?, square: square?, parts, bytes_per_unit })
}

/// What stands behind the number.
fn unit_of(text: &str) -> &str {
    text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim()
}

/// The squares that somebody may mean who writes `1 KB`, `64 Mib` or `2 G`.
fn meant(square: &str) -> Option<String> {
    let unit = unit_of(square);
    let number = square.trim().strip_suffix(unit)?.trim();
    number.parse::<f64>().ok().filter(|number| *number > 0.0)?;
    let letter = unit.chars().next().filter(|c| "kKmMgGtT".contains(*c))?;
    let rest = unit[1..].to_ascii_lowercase();
    let letter = letter.to_ascii_uppercase();
    let decimal = if letter == 'K' { 'k' } else { letter };
    match rest.as_str() {
        "ib" => Some(format!("\"{number} {letter}iB\"")),
        "" | "b" => {
            Some(format!("\"{number} {decimal}B\" (powers of 1000) or \"{number} {letter}iB\" (powers of 1024)"))
        }
        _ => None,
    }
}

fn bytes_from_text(text: &str) -> Option<f64> {
    let text = text.trim();
    let len = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..len].parse().ok()?;
    let (_, bytes) = BYTE_UNITS.iter().find(|(unit, _)| *unit == text[len..].trim())?;
    (number > 0.0 && number * bytes >= 1.0).then_some(number * bytes)
}

pub fn gantt(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<Gantt> {
    let list = list(scope, table, "row", MAX_ROWS, path);
    let (mut rows, mut unit) = (Vec::new(), None::<String>);
    for (idx, from) in list.into_iter().enumerate() {
        let path = format!("{path}.row[{idx}]");
        let spans = tables(from, "spans");
        if spans.is_empty() {
            let what = "a row of a Gantt chart has spans".to_owned();
            scope.fail("missing-field", &path, what, Some("spans = [{ start = \"0\", length = \"t\" }]"));
        }
        scope.is_short(spans.len(), MAX_ROWS, "spans", &format!("{path}.spans"));
        let mut made = Vec::new();
        for (idx, from) in spans.into_iter().take(MAX_ROWS).enumerate() {
            made.extend(time_span(scope, from, &format!("{path}.spans[{idx}]"), &mut unit));
        }
        rows.push(GanttRow { label: scope.reader.localized(from, "label"), spans: made });
    }
    Some(Gantt { unit: unit?, rows })
}

fn time_span(scope: &mut Scope<'_, '_>, table: &Table, path: &str, unit: &mut Option<String>) -> Option<TimeSpan> {
    let length = scope.expr(table, "length", path)?;
    let start = scope.expr(table, "start", path)?;
    let of_all = unit.get_or_insert_with(|| length.unit.clone()).clone();
    scope.is_in(&length, &of_all, "the first interval", &format!("{path}.length"));
    if !is_zero(&start) {
        scope.is_in(&start, &of_all, "its length", &format!("{path}.start"));
    }
    let repeat = match (scope.expr(table, "times", path), scope.expr(table, "every", path)) {
        (Some(times), Some(every)) => {
            scope.is_in(&times, "1", "a count", &format!("{path}.times"));
            scope.is_in(&every, &of_all, "the length", &format!("{path}.every"));
            Some((times, every))
        }
        _ => None,
    };
    if repeat.is_none() && (table.get("times").is_some() != table.get("every").is_some()) {
        let what = "an interval that repeats has both `times` and `every`".to_owned();
        scope.fail("missing-field", path, what, None);
    }
    Some(TimeSpan { label: scope.reader.localized(table, "label"), role: scope.role(table), start, length, repeat })
}

/// A 0 has any unit.
pub fn is_zero(expr: &Expr) -> bool {
    matches!(expr.formula.root, vramlab_units::formula::Node::Number(value) if value == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_a_number_of_bytes() {
        assert_eq!(bytes_from_text("64 MiB"), Some(67_108_864.0));
        assert_eq!(bytes_from_text("1.5 kB"), Some(1_500.0));
        for bad in ["", "64", "MiB", "0 B", "-1 B", "64 MB/s", "1e9 B", "nan B", "0.5 B"] {
            assert_eq!(bytes_from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_square_that_is_nearly_one_names_what_may_be_meant() {
        let both = "\"1 kB\" (powers of 1000) or \"1 KiB\" (powers of 1024)";
        assert_eq!(meant("1 KB").as_deref(), Some(both));
        assert_eq!(meant("64 Mib").as_deref(), Some("\"64 MiB\""));
        assert_eq!(meant("2G").as_deref(), Some("\"2 GB\" (powers of 1000) or \"2 GiB\" (powers of 1024)"));
        assert_eq!(["64", "KB", "1 块", "3 s", "0 KB", ""].map(meant), [const { None }; 6]);
    }
}
