//! Charts for tests and pictures. The measured values are those of the H200 table of the course (chapter 02); they are
//! not shown to a reader, who sees runs and recorded traces.

use vramlab_kit::Role;
use vramlab_units::Localized;
use vramlab_views::experiment_chart::{
    Axis, Band, Ceiling, ChartData, Measured, Predicted, ReaderMark, Scale, Series, SeriesColor,
};

/// Every sample with its name.
pub fn all() -> Vec<(&'static str, ChartData)> {
    vec![("sweep", sweep()), ("bars", bars()), ("many", many()), ("empty", ChartData::default())]
}

/// A log-log sweep with one series, a band, a reader's mark and an invalid point.
pub fn sweep() -> ChartData {
    let strides = [1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 24.0, 32.0, 64.0];
    let rates = [4478.0, 2305.0, 1549.0, 1168.0, 586.0, 292.0, 281.0, 251.0, 180.0];
    let predicted = [4623.0, 2311.5, 1541.0, 1155.75, 577.9, 289.0, 289.0, 289.0, 289.0];
    let mut measured: Vec<Measured> = strides.iter().zip(rates).map(|(x, y)| point(*x, y, y * 0.01)).collect();
    measured[6].invalid = Some(Localized::both("时钟没有稳定", "the clocks had not settled"));
    let predicted = strides.iter().zip(predicted).map(|(x, y)| Predicted { x: *x, y }).collect();
    let series = Series {
        id: "reads".into(),
        label: Localized::both("读取", "reads"),
        color: SeriesColor::Role(Role::Parameters),
        predicted,
        measured,
    };
    ChartData {
        x: axis("步长", "stride", "", Scale::Log2),
        y: axis("有用带宽", "useful rate", "GB/s", Scale::Log10),
        series: vec![series],
        bands: vec![Band { from: 8.5, to: 15.5, label: Localized::both("64 字节块", "64-byte pieces") }],
        ceilings: vec![Ceiling {
            y: 4814.0, label: Localized::both("显存峰值 4814 GB/s", "memory peak 4814 GB/s")
        }],
        reader: vec![ReaderMark { x: 8.0, y: 900.0, curve: 0 }],
        gaps: Vec::new(),
        spread_label: Localized::both("p10–p90", "p10–p90"),
        finding: Localized::both("步长加倍，有用带宽减半。", "Each doubling of the stride halves the useful rate."),
        caption: "NVIDIA H200, 2026-11-30".into(),
    }
}

/// Categories with bars; one without a value.
pub fn bars() -> ChartData {
    let names = ["naive", "tile", "tile + pad", "swizzle"].map(str::to_owned).to_vec();
    let measured = vec![
        point(0.0, 620.0, 30.0),
        point(1.0, 240.0, 4.0),
        point(2.0, 131.0, 2.0),
        Measured {
            x: 3.0, invalid: Some(Localized::both("结果不对", "the result is wrong")), ..Measured::default()
        },
    ];
    let predicted = [(0.0, 559.2), (1.0, 111.8), (2.0, 111.8), (3.0, 111.8)].map(|(x, y)| Predicted { x, y }).to_vec();
    let series = Series {
        id: "us".into(),
        label: Localized::both("时间", "time"),
        color: SeriesColor::Role(Role::Parameters),
        predicted,
        measured,
    };
    ChartData {
        x: axis("做法", "method", "", Scale::Category(names)),
        y: axis("时间", "time", "µs", Scale::Linear),
        series: vec![series],
        finding: Localized::both("垫一列之后接近下限。", "With padding the time comes close to the floor."),
        ..ChartData::default()
    }
}

/// Several series on a linear axis: wavefronts by stride for three widths.
pub fn many() -> ChartData {
    let gcd = |a: u64| (1..=32).rev().find(|d| a.is_multiple_of(*d) && 32_u64.is_multiple_of(*d)).unwrap_or(1);
    let one = |idx: usize, width: u64| {
        let lanes = width / 4;
        let value = |stride: u64| (gcd(stride * lanes).min(32) * lanes).min(32) as f64 / 1.0;
        Series {
            id: format!("w{width}"),
            label: Localized::both(format!("{width} 字节"), format!("{width} bytes")),
            color: SeriesColor::Order,
            predicted: (1..=33).map(|s| Predicted { x: s as f64, y: value(s) }).collect(),
            measured: (1..=33).map(|s| point(s as f64, value(s) * (1.0 + 0.01 * idx as f64), 0.0)).collect(),
        }
    };
    ChartData {
        x: axis("步长", "stride", "element", Scale::Linear),
        y: axis("每次读取的周期", "cycles per load", "", Scale::Log2),
        series: vec![one(0, 4), one(1, 8), one(2, 16)],
        finding: Localized::both("周期数跟着 gcd(步长, 32) 走。", "Cycles follow gcd(stride, 32)."),
        ..ChartData::default()
    }
}

fn axis(zh: &str, en: &str, unit: &str, scale: Scale) -> Axis {
    Axis { label: Localized::both(zh, en), unit: unit.into(), scale }
}

fn point(x: f64, y: f64, spread: f64) -> Measured {
    Measured { x, y: Some(y), spread: Some((y - spread, y + spread)), n_samples: 21, ..Measured::default() }
}

/// A chapter with an author's figure of each kind.
pub fn six_figures() -> vramlab_lesson::Chapter {
    let text = include_str!("../../../../tests/data/figures/90_six_figures/chapter.toml");
    let parsed = vramlab_lesson::parse("90_six_figures", "chapter.toml", text.as_bytes());
    assert_eq!(parsed.problems.iter().map(vramlab_lesson::render).collect::<String>(), "");
    parsed.chapter.expect("a chapter without a problem opens")
}
