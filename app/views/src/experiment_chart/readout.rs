//! The words of a chart: its legend, the box beside a picked point, and what a screen reader hears.

use super::data::{ChartData, Measured};
use super::layout::{Picked, PointRef, is_bars};
use super::paint::{Brush, color_of};
use crate::ink::{self, Shade};
use egui::{Align2, CornerRadius, Painter, Pos2, Rect, pos2, vec2};
use vramlab_kit::paint::dashed_rect;
use vramlab_kit::{Tokens, Type};
use vramlab_units::{Lang, Text, show};

const PREDICTED: Text = Text::new("模型预测", "model predicts");
const MEASURED: Text = Text::new("实测中位数", "measured median");
const YOURS: Text = Text::new("你的预测", "your prediction");
const INVALID: Text = Text::new("无效", "invalid");
const ERROR: Text = Text::new("相对误差", "relative error");
const SAMPLES: Text = Text::new("个样本", "samples");
const SPREAD: Text = Text::new("离散", "spread");
const NO_VALUE: Text = Text::new("没有数值", "no value");

/// What a legend entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Predicted,
    Measured,
    Series(usize),
    Invalid,
    Reader,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LegendItem {
    pub sign: Sign,
    pub label: String,
}

/// The signs that occur in the chart; the series too if `with_series` and there are several.
pub fn legend(data: &ChartData, lang: Lang, with_series: bool) -> Vec<LegendItem> {
    let item = |sign: Sign, text: Text| LegendItem { sign, label: text.get(lang).to_owned() };
    let any_measured =
        |wanted: fn(&Measured) -> bool| data.series.iter().any(|series| series.measured.iter().any(wanted));
    let mut items = Vec::new();
    if data.series.iter().any(|series| !series.predicted.is_empty()) {
        items.push(item(Sign::Predicted, PREDICTED));
    }
    let has_names = with_series && data.series.len() > 1;
    if any_measured(|point| point.invalid.is_none()) && !has_names {
        items.push(item(Sign::Measured, MEASURED));
    }
    if has_names {
        let named = |(idx, series): (usize, &super::Series)| LegendItem {
            sign: Sign::Series(idx),
            label: series.label.get(lang).to_owned(),
        };
        items.extend(data.series.iter().enumerate().map(named));
    }
    if any_measured(|point| point.invalid.is_some()) {
        items.push(item(Sign::Invalid, INVALID));
    }
    if !data.reader.is_empty() {
        items.push(item(Sign::Reader, YOURS));
    }
    items
}

pub fn item_width(painter: &Painter, tokens: &Tokens, item: &LegendItem) -> f32 {
    tokens.px(26.0 + 6.0 + 18.0) + ink::text_width(painter, &item.label, tokens.font(Type::Small))
}

/// Paints the items from `start`, wrapping at `right`.
pub fn legend_paint(brush: &Brush<'_>, data: &ChartData, items: &[LegendItem], start: Pos2, right: f32) {
    let tokens = brush.tokens;
    let mut at = start;
    for item in items {
        let width = item_width(brush.painter, tokens, item);
        if at.x > start.x && at.x + width > right + tokens.px(18.0) {
            at = pos2(start.x, at.y + tokens.px(19.0));
        }
        let middle = at + vec2(tokens.px(13.0), tokens.px(8.0));
        sign_paint(brush, data, item.sign, middle);
        let place = pos2(at.x + tokens.px(32.0), middle.y);
        ink::text(
            brush.painter,
            place,
            Align2::LEFT_CENTER,
            item.label.as_str(),
            tokens.font(Type::Small),
            tokens.muted,
        );
        at.x += width;
    }
}

fn sign_paint(brush: &Brush<'_>, data: &ChartData, sign: Sign, middle: Pos2) {
    let Brush { painter, tokens, .. } = brush;
    let half = tokens.px(13.0);
    let bar = Rect::from_center_size(middle, vec2(tokens.px(14.0), tokens.px(12.0)));
    let ends = [middle - vec2(half, 0.0), middle + vec2(half, 0.0)];
    match sign {
        Sign::Predicted if is_bars(data) => {
            dashed_rect(painter, bar, 2.0, tokens.stroke(1.3, tokens.ink), tokens.px(3.0))
        }
        Sign::Predicted => {
            ink::dashes(painter, &ends, tokens.stroke(1.3, tokens.ink), tokens.px(5.0), tokens.px(4.0));
            painter.circle(middle, tokens.px(4.5), tokens.surface, tokens.stroke(1.3, tokens.ink));
        }
        Sign::Measured | Sign::Series(_) => {
            let color = match sign {
                Sign::Series(idx) => color_of(tokens, data, idx),
                _ if data.series.len() > 1 => tokens.muted, // solid is what counts here; the names stand at the lines
                _ => color_of(tokens, data, 0),
            };
            if is_bars(data) {
                painter.rect_filled(bar, CornerRadius::same(2), color);
                return;
            }
            painter.line_segment(ends, tokens.stroke(2.0, color));
            painter.circle_filled(middle, tokens.px(4.0), color);
        }
        Sign::Invalid => ink::strike(painter, middle, tokens.px(6.0), tokens.stroke(1.6, tokens.bad)),
        Sign::Reader => {
            let edge = tokens.stroke(1.0, tokens.surface);
            ink::diamond(painter, middle, tokens.px(6.5), tokens.ink, edge);
        }
    }
}

/// The lines of the box beside a picked point: exact values, the spread, the reason of an invalid one.
pub fn lines(lang: Lang, data: &ChartData, picked: Picked) -> Vec<(String, Shade)> {
    let x_text = |x: f64| format!("{} = {}", data.x.label.get(lang), data.x.exact(x));
    if let PointRef::Reader(idx) = picked.point {
        let Some(mark) = data.reader.get(idx) else { return Vec::new() };
        return vec![
            (x_text(mark.x), Shade::Ink),
            (format!("{} {}", YOURS.get(lang), data.y.exact(mark.y)), Shade::Ink),
        ];
    }
    let Some(series) = data.series.get(picked.series_idx) else { return Vec::new() };
    let x = match picked.point {
        PointRef::Measured(idx) => series.measured.get(idx).map(|point| point.x),
        PointRef::Predicted(idx) => series.predicted.get(idx).map(|point| point.x),
        PointRef::Reader(_) => None,
    };
    let Some(x) = x else { return Vec::new() };
    let name = if data.series.len() > 1 { format!("{} · ", series.label.get(lang)) } else { String::new() };
    let mut lines = vec![(name + &x_text(x), Shade::Ink)];
    let measured = series.measured.iter().find(|point| point.x == x);
    if let Some(point) = measured {
        measured_lines(lang, data, point, &mut lines);
    }
    if let Some(point) = series.predicted.iter().find(|point| point.x == x) {
        lines.push((format!("{} {}", PREDICTED.get(lang), data.y.exact(point.y)), Shade::Muted));
    }
    if let Some(error) = measured.and_then(|point| point.relative_error) {
        let sign = if error > 0.0 { "+" } else { "" };
        lines.push((format!("{} {sign}{}", ERROR.get(lang), show::with_unit(error, "%")), Shade::Muted));
    }
    lines
}

fn measured_lines(lang: Lang, data: &ChartData, point: &Measured, lines: &mut Vec<(String, Shade)>) {
    let value = point.y.map_or_else(|| NO_VALUE.get(lang).to_owned(), |y| data.y.exact(y));
    let samples = match (point.n_samples, lang) {
        (0, _) => String::new(),
        (n, Lang::Zh) => format!("，{n} {}", SAMPLES.get(lang)),
        (n, Lang::En) => format!(", {n} {}", SAMPLES.get(lang)),
    };
    lines.push((format!("{} {value}{samples}", MEASURED.get(lang)), Shade::Ink));
    if let Some((low, high)) = point.spread {
        let label = if data.spread_label.is_empty() { SPREAD.get(lang) } else { data.spread_label.get(lang) };
        lines.push((format!("{label} {} – {}", show::number(low), data.y.exact(high)), Shade::Muted));
    }
    if let Some(why) = &point.invalid {
        let colon = if lang == Lang::Zh { "：" } else { ": " };
        lines.push((format!("{}{colon}{}", INVALID.get(lang), why.get(lang)), Shade::Bad));
    }
}

/// The finding, followed by the picked point if there is one.
pub fn spoken(data: &ChartData, picked: Option<Picked>, lang: Lang) -> String {
    let mut text = data.finding.get(lang).to_owned();
    let Some(picked) = picked else { return text };
    for (line, _) in lines(lang, data, picked) {
        text.push_str(if lang == Lang::Zh { "。" } else { ". " });
        text.push_str(&line);
    }
    text
}
