//! What the six drawings share: colours by role or by order, numbers on axes, text that is measured before it is placed.

use crate::ink;
use egui::{Align2, Color32, FontId, Galley, Painter, Pos2, Rect, Stroke, StrokeKind};
use std::sync::Arc;
use vramlab_kit::paint::{self, Area};
use vramlab_kit::tokens::Role;
use vramlab_kit::{Axis, Spread, Tokens, Type};
use vramlab_lesson::figure::rows::title;
use vramlab_lesson::figure::{Scale, YAxis};
use vramlab_units::show::{THIN, binary_unit_bytes, bytes_binary, number, readable};
use vramlab_units::{Bytes, Lang, Localized};

/// What painting needs beside the picture.
pub struct Brush<'a> {
    pub painter: Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
}

/// How a mark is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    Color(Color32),
    Area(Area),
}

impl Brush<'_> {
    pub fn px(&self, points: f32) -> f32 {
        self.tokens.px(points)
    }

    pub fn say<'t>(&self, text: &'t Localized) -> &'t str {
        text.get(self.lang)
    }

    /// The fill of `role`, or of the mark's place among `n`.
    pub fn fill(&self, role: Option<&str>, idx: usize, n: usize) -> Fill {
        let far = |level: f32| Fill::Color(self.tokens.hierarchy(level / 6.0));
        match role {
            Some("parameters") => Fill::Color(self.tokens.role(Role::Parameters)),
            Some("gradients") => Fill::Color(self.tokens.role(Role::Gradients)),
            Some("optimizer") => Fill::Color(self.tokens.role(Role::Optimizer)),
            Some("activations") => Fill::Color(self.tokens.role(Role::Activations)),
            Some("kv_cache") => Fill::Color(self.tokens.role(Role::KvCache)),
            Some("workspace") => Fill::Color(self.tokens.role(Role::Workspace)),
            Some("registers") => far(0.0),
            Some("l1") => far(1.0),
            Some("l2") => far(2.0),
            Some("hbm") => far(3.0),
            Some("peer") => far(4.0),
            Some("host") => far(5.0),
            Some("disk") => far(6.0),
            Some("free") => Fill::Area(Area::Free),
            Some("fragmented") => Fill::Area(Area::Fragmented),
            Some(_) => Fill::Area(Area::Unknown),
            None => Fill::Color(self.tokens.series(idx, n)),
        }
    }

    /// The colour of a line; areas without data are lines in grey.
    pub fn color(&self, role: Option<&str>, idx: usize, n: usize) -> Color32 {
        match self.fill(role, idx, n) {
            Fill::Color(color) => color,
            Fill::Area(_) => self.tokens.muted,
        }
    }

    pub fn block(&self, rect: Rect, fill: Fill, radius: f32) {
        match fill {
            Fill::Color(color) => {
                self.painter.rect_filled(rect, radius, color);
            }
            Fill::Area(kind) => paint::area(&self.painter, self.tokens, rect, kind),
        }
    }

    pub fn font(&self, role: Type) -> FontId {
        self.tokens.font(role)
    }

    /// Text broken into lines at `width`.
    pub fn wrapped(&self, text: &str, role: Type, color: Color32, width: f32) -> Arc<Galley> {
        self.painter.layout(text.to_owned(), self.font(role), color, width.max(self.px(24.0)))
    }

    /// As [`Self::wrapped`], each line centred about the place where it is painted.
    pub fn centred(&self, text: &str, role: Type, color: Color32, width: f32) -> Arc<Galley> {
        let mut job = egui::text::LayoutJob::simple(text.to_owned(), self.font(role), color, width.max(self.px(24.0)));
        job.halign = egui::Align::Center;
        self.painter.layout_job(job)
    }

    /// Text on one line, cut with `…` at `width`.
    pub fn cut(&self, text: &str, role: Type, color: Color32, width: f32) -> Arc<Galley> {
        let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), self.font(role), color);
        job.wrap = egui::text::TextWrapping::truncate_at_width(width.max(self.px(16.0)));
        self.painter.layout_job(job)
    }

    pub fn text(&self, at: Pos2, anchor: Align2, text: &str, role: Type, color: Color32) -> Rect {
        ink::text(&self.painter, at, anchor, text, self.font(role), color)
    }

    pub fn width(&self, text: &str, role: Type) -> f32 {
        ink::text_width(&self.painter, text, self.font(role))
    }

    /// Where a picture cannot be drawn, its reason.
    pub fn nothing(&self, area: Rect) {
        let words = match self.lang {
            Lang::Zh => "这里没有能画的值：对数轴只画大于 0 的数",
            Lang::En => "no value here can be drawn: a logarithmic axis holds numbers above 0",
        };
        let text = self.wrapped(words, Type::Note, self.tokens.muted, area.width());
        self.painter.galley(area.center() - text.size() / 2.0, text, self.tokens.muted);
    }

    pub fn hairline_rect(&self, rect: Rect, radius: f32, color: Color32) {
        self.painter.rect_stroke(rect, radius, Stroke::new(1.0, color), StrokeKind::Inside);
    }
}

/// Black or white, whichever is read on `fill`.
pub fn ink_on(tokens: &Tokens, fill: Color32) -> Color32 {
    let luma = |color: Color32| {
        let [r, g, b, _] = color.to_array().map(f32::from);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (ink, surface) = (tokens.ink, tokens.surface);
    if (luma(fill) - luma(ink)).abs() > (luma(fill) - luma(surface)).abs() { ink } else { surface }
}

pub fn spread(scale: Scale, unit: &str) -> Spread {
    match scale {
        Scale::Linear if binary_unit_bytes(unit).is_some() => Spread::Binary,
        Scale::Log10 if binary_unit_bytes(unit).is_some() => Spread::Log2,
        Scale::Linear => Spread::Linear,
        Scale::Log2 => Spread::Log2,
        Scale::Log10 => Spread::Log10,
    }
}

/// The title of an axis. Bytes have their unit at each tick.
pub fn axis_title(lang: Lang, label: &str, unit: &str) -> String {
    let is_bytes = binary_unit_bytes(unit).is_some() && !label.is_empty();
    title(lang, label, if is_bytes { "" } else { unit })
}

/// A number at an axis, short; ratios in percent, bytes in the unit that fits.
pub fn tick(value: f64, unit: &str) -> String {
    if let Some(bytes) = binary_unit_bytes(unit).filter(|_| value >= 0.0) {
        return bytes_binary(Bytes((value * bytes).round() as u64));
    }
    if unit == "%" {
        return format!("{}{THIN}%", number(value * 100.0));
    }
    for (limit, letter) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value.abs() >= limit && value.abs() >= 1e4 {
            return format!("{}{letter}", number(value / limit));
        }
    }
    number(value)
}

/// The vertical axis around `values`, within the author's ends. A linear one of positive values begins at 0.
pub fn y_axis(y: &YAxis, unit: &str, values: impl Iterator<Item = f64>) -> Option<Axis> {
    let is_linear = y.scale == Scale::Linear;
    let zero = is_linear.then_some(0.0);
    let values: Vec<f64> = values.chain(zero).chain(y.min).chain(y.max).collect();
    let most = values.iter().copied().filter(|value| value.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let fitted = Axis::around(spread(y.scale, unit), values);
    // The kit's ends are coarse; the first tick that nothing passes is end enough.
    let top = fitted.and_then(|axis| axis.ticks(8).into_iter().find(|tick| *tick >= most && *tick > axis.min));
    let (min, max) = (y.min.or(fitted.map(|axis| axis.min))?, y.max.or(top).or(fitted.map(|axis| axis.max))?);
    Axis::new(spread(y.scale, unit), min, max)
}

/// `KV cache: 12.4 GiB`.
pub fn named(lang: Lang, label: &str, value: f64, unit: &str) -> String {
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    match label {
        "" => readable(value, unit),
        label => format!("{label}{colon}{}", readable(value, unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_kit::tokens::Theme;

    /// A role that fell through would be painted as "unknown".
    #[test]
    fn every_role_of_the_format_has_its_look() {
        for theme in Theme::ALL {
            let tokens = Tokens::new(theme, 1.0);
            let ctx = egui::Context::default();
            let painter = Painter::new(ctx, egui::LayerId::background(), Rect::EVERYTHING);
            let brush = Brush { painter, tokens: &tokens, lang: Lang::En };
            for role in vramlab_lesson::figure::ROLES {
                let fill = brush.fill(Some(role), 0, 1);
                assert_eq!(fill == Fill::Area(Area::Unknown), *role == "unknown", "{role}");
            }
        }
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(
            (tick(0.5, "%").as_str(), tick(20_000.0, "ms").as_str(), tick(1_024.0, "1").as_str()),
            ("50\u{2009}%", "20k", "1024")
        );
    }

    /// 65,536 KiB are 64 MiB, and 102,400 MiB are 100 GiB.
    #[test]
    fn bytes_have_the_unit_that_fits() {
        let read = |value: f64, unit: &str| tick(value, unit).replace(THIN, " ");
        assert_eq!((read(65_536.0, "KiB"), read(102_400.0, "MiB")), ("64 MiB".to_owned(), "100 GiB".to_owned()));
        assert_eq!((read(0.0, "MiB"), read(1_536.0, "B")), ("0 B".to_owned(), "1.5 KiB".to_owned()));
        assert_eq!(axis_title(Lang::En, "memory", "MiB"), "memory");
        let axis = y_axis(&YAxis::default(), "MiB", [700.0].into_iter()).unwrap();
        assert!(axis.ticks(8).iter().all(|tick| tick % 128.0 == 0.0), "{:?}", axis.ticks(8));
    }

    #[test]
    fn an_axis_of_positive_values_begins_at_zero_and_keeps_the_authors_ends() {
        let free = y_axis(&YAxis::default(), "1", [3.0, 9.2].into_iter()).unwrap();
        assert_eq!((free.min, free.max), (0.0, 10.0));
        let held = YAxis { min: Some(2.0), max: Some(4.0), ..YAxis::default() };
        let held = y_axis(&held, "1", [3.0, 900.0].into_iter()).unwrap();
        assert_eq!((held.min, held.max), (2.0, 4.0));
        assert!(y_axis(&YAxis { scale: Scale::Log10, ..YAxis::default() }, "1", [0.0, -1.0].into_iter()).is_none());
    }
}
