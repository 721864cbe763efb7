//! The evidence chip: every number on screen says where it comes from.

use crate::paint;
use crate::tokens::{Tokens, Type};
use egui::{Color32, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use vramlab_units::{Lang, Text};

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    Cited { source: String, date: String },
    Model,
    Recorded { device: String, driver: String, date: String },
    Live { device: String, is_cpu: bool },
    Counter,
}

impl Evidence {
    /// The text of the chip: `录制 · H200 · 580.159 · 2026-11-30`.
    pub fn label(&self, lang: Lang) -> String {
        let parts: Vec<&str> = match self {
            Self::Cited { source, date } => vec![CITED.get(lang), source, date],
            Self::Model => vec![MODEL.get(lang)],
            Self::Recorded { device, driver, date } => vec![RECORDED.get(lang), device, driver, date],
            Self::Live { device, is_cpu: false } => vec![LIVE.get(lang), device],
            Self::Live { device, is_cpu: true } => vec![LIVE.get(lang), device, CPU_EVIDENCE.get(lang)],
            Self::Counter => vec![COUNTER.get(lang)],
        };
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    /// Shorter labels for where there is no room: the driver goes before the date. The tooltip has all.
    fn shorter(&self, lang: Lang) -> Vec<String> {
        let Self::Recorded { device, date, .. } = self else { return Vec::new() };
        let undriven = Self::Recorded { device: device.clone(), driver: String::new(), date: date.clone() };
        vec![undriven.label(lang), format!("{} · {device}", RECORDED.get(lang))]
    }

    /// What the kind of evidence means, for the tooltip.
    pub fn meaning(&self, lang: Lang) -> &'static str {
        match self {
            Self::Cited { .. } => CITED_MEANS,
            Self::Model => MODEL_MEANS,
            Self::Recorded { .. } => RECORDED_MEANS,
            Self::Live { is_cpu: false, .. } => LIVE_MEANS,
            Self::Live { is_cpu: true, .. } => CPU_MEANS,
            Self::Counter => COUNTER_MEANS,
        }
        .get(lang)
    }
}

const CITED: Text = Text::new("引用", "cited");
const MODEL: Text = Text::new("模型", "model");
const RECORDED: Text = Text::new("录制", "recorded");
const LIVE: Text = Text::new("实测", "live");
const CPU_EVIDENCE: Text = Text::new("CPU 证据", "CPU evidence");
const COUNTER: Text = Text::new("计数器", "counter");
const CITED_MEANS: Text = Text::new("取自公开资料，注明来源与日期。", "From a public source, named with its date.");
const MODEL_MEANS: Text = Text::new(
    "由模型算出，公式就在页面上；没有测量。",
    "Computed by a model whose formula is on the page; nothing was measured.",
);
const RECORDED_MEANS: Text =
    Text::new("在这块卡上测过并存下；现在是重放。", "Measured on this card and stored; what you see is a replay.");
const LIVE_MEANS: Text = Text::new("刚刚在你的设备上测得。", "Measured on your device just now.");
const CPU_MEANS: Text = Text::new(
    "刚刚在这台机器的处理器上测得；它说明道理，不代表 GPU 的数值。",
    "Measured on this machine's processor just now; it shows the principle, not a GPU's numbers.",
);
const COUNTER_MEANS: Text = Text::new("硬件计数器给出同样的数。", "The hardware counters give the same number.");

/// Shows where a number comes from; the tooltip says what that means.
pub fn chip(ui: &mut Ui, tokens: &Tokens, evidence: &Evidence, lang: Lang) -> Response {
    let label = evidence.label(lang);
    let ink = match evidence {
        Evidence::Model | Evidence::Cited { .. } => tokens.muted,
        Evidence::Recorded { .. } => tokens.accent,
        Evidence::Live { .. } => tokens.on_accent,
        Evidence::Counter => tokens.ink,
    };
    let tick_width = if *evidence == Evidence::Counter { tokens.px(16.0) } else { 0.0 };
    let most = paint::most_width(ui) - 2.0 * tokens.px(10.0) - tick_width;
    let fits = |label: &String| paint::text(ui, tokens, Type::Small, ink, label.as_str()).size().x <= most;
    let shown = std::iter::once(label.clone()).chain(evidence.shorter(lang)).find(fits).unwrap_or(label.clone());
    let galley = paint::elided(ui, tokens, Type::Small, ink, shown, most);
    let size = galley.size() + vec2(2.0 * tokens.px(10.0) + tick_width, 0.0);
    let (rect, response) = ui.allocate_exact_size(vec2(size.x, tokens.px(24.0)), Sense::hover());
    paint_ground(ui, tokens, evidence, rect);
    let left = rect.left() + tokens.px(10.0);
    if tick_width > 0.0 {
        let square = Rect::from_min_size(pos2(left - tokens.px(4.0), rect.top()), vec2(tick_width, rect.height()));
        crate::icons::Icon::Check.paint(ui.painter(), tokens, square, tokens.good);
    }
    ui.painter().galley(pos2(left + tick_width, rect.center().y - galley.size().y / 2.0), galley, ink);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{label}. {}", evidence.meaning(lang))));
    response.on_hover_text(format!("{label}\n{}", evidence.meaning(lang)))
}

fn paint_ground(ui: &Ui, tokens: &Tokens, evidence: &Evidence, rect: Rect) {
    let radius = rect.height() / 2.0;
    let rect = rect.shrink(0.5);
    let outline = Stroke::new(1.0, crate::palette::mix(tokens.line, tokens.muted, 0.35));
    let (fill, edge) = match evidence {
        Evidence::Model => {
            return paint::dashed_rect(ui.painter(), rect, radius, outline, tokens.px(3.0));
        }
        Evidence::Cited { .. } | Evidence::Counter => (Color32::TRANSPARENT, outline),
        Evidence::Recorded { .. } => (tokens.accent_soft, Stroke::NONE),
        Evidence::Live { .. } => (tokens.accent, Stroke::NONE),
    };
    ui.painter().rect(rect, radius, fill, edge, StrokeKind::Middle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_chip_loses_the_driver_before_the_date() {
        let recorded =
            Evidence::Recorded { device: "H200".into(), driver: "PyTorch 2.11".into(), date: "2026-11-30".into() };
        assert_eq!(recorded.shorter(Lang::En), ["recorded · H200 · 2026-11-30", "recorded · H200"]);
        assert!(Evidence::Model.shorter(Lang::Zh).is_empty());
    }

    #[test]
    fn a_chip_names_device_driver_and_date_and_leaves_out_what_is_unknown() {
        let recorded = |driver: &str| Evidence::Recorded {
            device: "H200".into(),
            driver: driver.into(),
            date: "2026-11-30".into(),
        };
        assert_eq!(recorded("580.159").label(Lang::Zh), "录制 · H200 · 580.159 · 2026-11-30");
        assert_eq!(recorded("").label(Lang::En), "recorded · H200 · 2026-11-30");
        let cpu = Evidence::Live { device: "EPYC".into(), is_cpu: true };
        assert_eq!(cpu.label(Lang::En), "live · EPYC · CPU evidence");
    }
}
