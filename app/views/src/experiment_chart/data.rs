//! What an experiment chart shows: axes, predicted and measured points, the reader's own prediction, marked ranges.
//! Built from a `gpu` plan and a `trace::Run` by the shell; nothing here is computed from other numbers.

use super::scale::{Scale, Tick};
use crate::view::DataTable;
use std::ops::RangeInclusive;
use vramlab_kit::Role;
use vramlab_units::{Bytes, Lang, Localized, show};

/// The unit of thousandths, which are told as per cent.
pub const PERMILLE: &str = "permille";

/// One axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What the axis shows, without the unit: "useful rate".
    pub label: Localized,
    /// Printed after the label and after exact values; empty or `1` for a pure number.
    pub unit: String,
    pub scale: Scale,
}

/// How a series is coloured. Stored as a role or an order, resolved by the theme when painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesColor {
    Role(Role),
    /// By its order among the series of the chart.
    Order,
}

/// A value that the model expects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    pub x: f64,
    pub y: f64,
}

/// A measured point. On a category axis `x` is the index of the category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub x: f64,
    /// The median; `None` when the run gave no value at all, which [`Self::invalid`] then explains.
    pub y: Option<f64>,
    /// Ends of the spread bar, in the unit of the axis.
    pub spread: Option<(f64, f64)>,
    pub n_samples: usize,
    /// (measured − predicted) / predicted, as the verdict computed it.
    pub relative_error: Option<f64>,
    /// Why this is not shown as a measurement. The point is struck through.
    pub invalid: Option<Localized>,
}

/// One line of the sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// As named in the experiment.
    pub id: String,
    pub label: Localized,
    pub color: SeriesColor,
    pub predicted: Vec<Predicted>,
    pub measured: Vec<Measured>,
}

/// A marked range of the x axis: "64-byte pieces" between 8 and 16.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    pub from: f64,
    pub to: f64,
    pub label: Localized,
}

/// A level that nothing can pass: the peak of the memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    pub y: f64,
    pub label: Localized,
}

/// What the reader predicted before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReaderMark {
    pub x: f64,
    pub y: f64,
    /// Marks of one curve are joined; each prediction is a curve of its own.
    pub curve: usize,
}

/// Where a drawn curve lies farthest from the truth, with how far in words: "2.1×".
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderGap {
    pub x: f64,
    pub given: f64,
    pub truth: f64,
    pub label: String,
}

/// Everything a chart shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartData {
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    pub bands: Vec<Band>,
    pub ceilings: Vec<Ceiling>,
    pub reader: Vec<ReaderMark>,
    pub gaps: Vec<ReaderGap>,
    /// What the spread bars reach from and to: "p10–p90".
    pub spread_label: Localized,
    /// The finding in words: what a screen reader hears of the chart.
    pub finding: Localized,
    /// Device, driver, date and parameters, for exports.
    pub caption: String,
}

impl Axis {
    /// Bytes: their numbers are written in B, KiB, MiB, GiB, each with its unit.
    pub fn is_bytes(&self) -> bool {
        show::binary_unit_bytes(&self.unit).is_some() && !matches!(self.scale, Scale::Category(_))
    }

    /// Whether each tick carries its own unit: bytes, and thousandths, which are read as per cent.
    pub fn has_units_at_ticks(&self) -> bool {
        self.is_bytes() || self.unit == PERMILLE
    }

    /// At most `max` ticks inside `range` (axis coordinates): for bytes at multiples of a power of two.
    pub fn ticks(&self, range: &RangeInclusive<f64>, max: usize) -> Vec<Tick> {
        let mut ticks = match (&self.scale, self.is_bytes()) {
            (Scale::Linear, true) => Scale::binary_ticks(range, max),
            (Scale::Log10, true) => {
                let by = std::f64::consts::LOG2_10;
                Scale::Log2.ticks(&(range.start() * by..=range.end() * by), max)
            }
            (scale, _) => scale.ticks(range, max),
        };
        for tick in &mut ticks {
            tick.label = match show::binary_unit_bytes(&self.unit).filter(|_| self.is_bytes() && tick.value >= 0.0) {
                Some(bytes) => show::bytes_binary(Bytes((tick.value * bytes).round() as u64)),
                None if self.unit == PERMILLE => show::with_unit(tick.value / 1000.0, "%"),
                None => continue,
            };
        }
        ticks
    }

    /// `useful rate (GB/s)`, with the brackets of the language. A unit that stands at the ticks is not said again.
    pub fn title(&self, lang: Lang) -> String {
        if self.has_units_at_ticks() { self.label.get(lang).to_owned() } else { self.column(lang) }
    }

    /// The head of a column of plain numbers.
    fn column(&self, lang: Lang) -> String {
        let label = self.label.get(lang);
        match (self.unit.as_str(), lang) {
            ("" | "1", _) => label.to_owned(),
            (unit, Lang::Zh) => format!("{label}（{unit}）"),
            (unit, Lang::En) => format!("{label} ({unit})"),
        }
    }

    /// `value` with its unit, to six digits: for the pointer, where the exact number is wanted.
    pub fn exact(&self, value: f64) -> String {
        if let Scale::Category(names) = &self.scale {
            return names.get(value.round().max(0.0) as usize).cloned().unwrap_or_default();
        }
        let text = six_digits(value);
        match self.unit.as_str() {
            "" | "1" => text,
            PERMILLE => show::with_unit(value / 1000.0, "%"),
            unit => format!("{text}{}{unit}", show::THIN),
        }
    }
}

impl ChartData {
    /// The numbers behind the chart: unrounded, units in the header.
    pub fn table(&self, lang: Lang) -> DataTable {
        let text = |zh: &str, en: &str| if lang == Lang::Zh { zh.to_owned() } else { en.to_owned() };
        let with_unit = |label: String| match self.y.unit.as_str() {
            "" | "1" => label,
            unit => format!("{label} ({unit})"),
        };
        let spread = match self.spread_label.get(lang) {
            "" => text("离散", "spread"),
            label => label.to_owned(),
        };
        let header = vec![
            text("系列", "series"),
            self.x.column(lang),
            with_unit(text("预测", "predicted")),
            with_unit(text("实测中位数", "measured median")),
            with_unit(format!("{spread} ↓")),
            with_unit(format!("{spread} ↑")),
            text("样本数", "samples"),
            text("无效原因", "invalid because"),
        ];
        DataTable { header, rows: self.series.iter().flat_map(|series| self.rows(series, lang)).collect() }
    }

    fn rows(&self, series: &Series, lang: Lang) -> Vec<Vec<String>> {
        let mut xs: Vec<f64> =
            series.predicted.iter().map(|p| p.x).chain(series.measured.iter().map(|m| m.x)).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let name = series.label.get(lang);
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let row = |x: f64| {
            let predicted = series.predicted.iter().find(|p| p.x == x).map(|p| p.y);
            let measured = series.measured.iter().find(|m| m.x == x);
            let spread = measured.and_then(|m| m.spread);
            vec![
                if name.is_empty() { series.id.clone() } else { name.to_owned() },
                if matches!(self.x.scale, Scale::Category(_)) { self.x.exact(x) } else { x.to_string() },
                number(predicted),
                number(measured.and_then(|m| m.y)),
                number(spread.map(|s| s.0)),
                number(spread.map(|s| s.1)),
                measured.map(|m| m.n_samples.to_string()).unwrap_or_default(),
                measured.and_then(|m| m.invalid.as_ref()).map(|why| why.get(lang).to_owned()).unwrap_or_default(),
            ]
        };
        xs.into_iter().map(row).collect()
    }
}

fn six_digits(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (5 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values_keep_six_digits() {
        let axis = Axis { unit: "GB/s".into(), ..Axis::default() };
        assert_eq!(axis.exact(4478.126), "4478.13\u{2009}GB/s");
        assert_eq!(axis.exact(0.000_123_456_7), "0.000123457\u{2009}GB/s");
        assert_eq!(axis.exact(1_234_567.0), "1234567\u{2009}GB/s");
        assert_eq!(axis.exact(f64::NAN), "–\u{2009}GB/s");
    }

    /// 65,536 KiB are 64 MiB, 102,400 MiB are 100 GiB, 750 thousandths are 75 %; and 3 and 10 million bytes are no
    /// places for a tick.
    #[test]
    fn bytes_and_thousandths_have_the_unit_that_fits() {
        let read = |unit: &str, scale: Scale, low: f64, high: f64| -> Vec<String> {
            let range = scale.to_axis(low).unwrap()..=scale.to_axis(high).unwrap();
            let axis = Axis { unit: unit.into(), scale, ..Axis::default() };
            axis.ticks(&range, 5).into_iter().map(|tick| tick.label.replace(show::THIN, " ")).collect()
        };
        assert_eq!(read("KiB", Scale::Log2, 4096.0, 65_536.0), ["4 MiB", "8 MiB", "16 MiB", "32 MiB", "64 MiB"]);
        assert_eq!(read("MiB", Scale::Linear, 0.0, 142_628.0), ["0 B", "32 GiB", "64 GiB", "96 GiB", "128 GiB"]);
        assert_eq!(read("B", Scale::Log10, 2e6, 2e7), ["2 MiB", "4 MiB", "8 MiB", "16 MiB"]);
        assert_eq!(read(PERMILLE, Scale::Linear, 0.0, 800.0), ["0 %", "20 %", "40 %", "60 %", "80 %"]);
        let axis = Axis { label: Localized::both("块", "block"), unit: "MiB".into(), ..Axis::default() };
        assert_eq!((axis.title(Lang::En).as_str(), axis.column(Lang::En).as_str()), ("block", "block (MiB)"));
    }

    #[test]
    fn the_table_holds_every_x_once_and_leaves_unknown_cells_empty() {
        let series = Series {
            id: "reads".into(),
            label: Localized::both("读取", "reads"),
            color: SeriesColor::Order,
            predicted: vec![Predicted { x: 1.0, y: 4600.0 }, Predicted { x: 2.0, y: 2300.0 }],
            measured: vec![Measured {
                x: 2.0,
                y: Some(2305.5),
                spread: Some((2300.0, 2310.0)),
                n_samples: 21,
                ..Measured::default()
            }],
        };
        let y =
            Axis { label: Localized::both("有用带宽", "useful rate"), unit: "GB/s".into(), scale: Scale::Log10 };
        let table = ChartData { y, series: vec![series], ..ChartData::default() }.table(Lang::En);
        assert_eq!(table.header[3], "measured median (GB/s)");
        assert_eq!(table.rows[0], ["reads", "1", "4600", "", "", "", "", ""]);
        assert_eq!(table.rows[1], ["reads", "2", "2300", "2305.5", "2300", "2310", "21", ""]);
    }
}
