//! A step with five defects, mended in an order of the reader's: a row a fix, the model's bar and the measured one.
//!
//! `question.rs` is the order, `recorded.rs` the 32 steps, `layout.rs` the geometry, `paint.rs` the picture, `words.rs` the
//! sentences. Times are the model's (`capstone_step`) and those of the recorded run.

mod layout;
mod paint;
mod question;
mod recorded;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::{Geometry, ROWS};
use paint::Scene;
use question::{ORDERS, Order};
use recorded::{Bar, PATH, Steps};
use vramlab_kit::{Mark, Tokens, legend};
use vramlab_model::capstone_step::FIXES;
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const START: Text = Text::new("次序", "Order");
const OWN: Text = Text::new("自己的", "your own");
const HINT: Text = Text::new(
    "上面细的是模型，下面粗的是实测；斜纹是这一处修掉的。灰色的行是还能修的，按一下就修。",
    "The thin bar is the model, the thick one measured; hatched is what this fix took away. Grey rows can be mended next: press one.",
);
const MODEL: Text = Text::new("还没有录制，只有模型。", "There is no recording yet; this is the model alone.");

enum State {
    Waiting,
    There,
    /// There is none, or it cannot be read: the model alone.
    Failed,
}

/// See the module's docs.
pub struct StepWaterfall {
    order: Order,
    steps: Steps,
    state: State,
    cursor: usize,
}

impl StepWaterfall {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let known = ORDERS.iter().position(|(text, _)| *text == self.order.text());
            let mut options: Vec<(Option<usize>, String)> =
                ORDERS.iter().enumerate().map(|(idx, (_, name))| (Some(idx), name.get(lang).to_owned())).collect();
            if known.is_none() {
                options.push((None, OWN.get(lang).to_owned()));
            }
            let mut chosen = known;
            if controls::choice(flow, tokens, START.get(lang), &mut chosen, &options)
                && let Some(order) = chosen.and_then(|idx| Order::parse(ORDERS[idx].0).ok())
            {
                self.order = order;
            }
            for fix in 0..FIXES.len() {
                let mut is_on = self.order.0.contains(&fix);
                if controls::toggle(flow, tokens, words::FIX[fix].get(lang), &mut is_on).changed() {
                    self.order.switch(fix);
                }
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let most = self.steps.predicted[0].whole.max(self.steps.best(0).whole);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, most);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.cursor, ROWS);
        let hovered = response.hover_pos().and_then(|at| geometry.hit(at));
        let picked = hovered.or_else(|| response.has_focus().then_some(self.cursor));
        if response.clicked()
            && let Some(fix) = picked.and_then(|row| self.offered(row))
        {
            self.order.switch(fix);
        }
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        Scene { painter, tokens, lang, geometry: &geometry, order: &self.order, steps: &self.steps, picked }.paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let rest = match &self.state {
            State::Failed => MODEL.get(lang),
            _ => HINT.get(lang),
        };
        figure::readout_ui(ui, tokens, rest);
        let marks: Vec<(Mark, &str)> = (0..words::PART.len())
            .map(|part| (Mark::Square(paint::colour(tokens, part)), words::PART[part].get(lang)))
            .collect();
        legend(ui, tokens, &marks);
    }

    /// The fix that a row of the figure offers.
    fn offered(&self, row: usize) -> Option<usize> {
        self.order.open().get(row.checked_sub(self.order.0.len() + 1)?).copied()
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let n = self.order.0.len();
        let bits = self.order.bits(n) as usize;
        let (predicted, measured) = (self.steps.predicted[bits], self.steps.measured[bits]);
        let bar = measured.unwrap_or(predicted);
        let dash = || "–".to_owned();
        let error = measured.map_or_else(dash, |it| words::change(predicted.whole, it.whole));
        vec![
            KeyNumber::new(Text::new("模型", "model"), words::ms(predicted.whole)),
            KeyNumber::new(Text::new("实测", "measured"), measured.map_or_else(dash, |it| words::ms(it.whole))),
            KeyNumber::new(Text::new("实测比模型", "measured against model"), error),
            KeyNumber::new(
                Text::new("比基线快", "against the baseline"),
                with_unit(self.steps.best(0).whole / bar.whole, "×"),
            ),
            KeyNumber::new(Text::new("显存峰值", "peak of the memory"), with_unit(bar.peak_mib, "MiB")),
            KeyNumber::new(
                Text::new("每秒的行", "rows a second"),
                with_unit(self.steps.rows / bar.whole / 1.0e3, if lang == Lang::Zh { "百万行" } else { "million" }),
            ),
        ]
    }
}

impl View for StepWaterfall {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.order, &self.steps, lang)
    }

    fn params(&self) -> Map {
        self.order.params()
    }

    fn data(&self) -> DataTable {
        let header = ["fixes", "predicted (ms)", "measured (ms)", "measured peak (MiB)"].map(str::to_owned).to_vec();
        let cell = |bar: Option<Bar>, of: fn(&Bar) -> f64| bar.map(|bar| of(&bar).to_string()).unwrap_or_default();
        let row = |bits: usize| {
            let names: Vec<&str> = (0..FIXES.len()).filter(|fix| bits >> fix & 1 == 1).map(|fix| FIXES[fix]).collect();
            vec![
                if names.is_empty() { "none".to_owned() } else { names.join("+") },
                self.steps.predicted[bits].whole.to_string(),
                cell(self.steps.measured[bits], |bar| bar.whole),
                cell(self.steps.measured[bits], |bar| bar.peak_mib),
            ]
        };
        DataTable { header, rows: (0..recorded::N).map(row).collect() }
    }

    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        self.steps.device.clone()
    }

    fn wants(&self) -> Option<String> {
        matches!(self.state, State::Waiting).then(|| PATH.to_owned())
    }

    fn take(&mut self, asset: Result<&[u8], String>) {
        self.state = match asset.and_then(Steps::read) {
            Ok(steps) => {
                self.steps = steps;
                State::There
            }
            Err(_) => State::Failed,
        };
    }
}

impl Visualizer for StepWaterfall {
    const ID: &'static str = "step_waterfall";
    const TITLE: Text = Text::new("一步的瀑布图", "The step as a waterfall");

    fn fields() -> Vec<FieldSpec> {
        Order::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { order: Order::from_args(args)?, steps: Steps::predicted_only(), state: State::Waiting, cursor: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(order: &str) -> StepWaterfall {
        let given = Map::from_iter([("order".to_owned(), order.into())]);
        StepWaterfall::open(&Args::check(&StepWaterfall::fields(), &given).unwrap()).unwrap()
    }

    /// All orders end at the same step; the same fix is worth more or less on the way.
    #[test]
    fn all_orders_end_together() {
        let end = |order: &str| {
            let view = open(order);
            view.steps.best(view.order.bits(5)).whole
        };
        assert!(ORDERS[1..].iter().all(|(order, _)| (end(order) - end(ORDERS[1].0)).abs() < 1e-12));
        let gain = |before: u32, fix: u32| {
            let steps = Steps::predicted_only();
            1.0 - steps.best(before | fix).whole / steps.best(before).whole
        };
        assert!(gain(2, 16) < 0.05 && gain(0, 2) > 0.2, "{} {}", gain(2, 16), gain(0, 2));
    }

    #[test]
    fn rows_below_offer_what_is_not_mended() {
        let view = open("fused pinned");
        assert_eq!(
            (0..ROWS).map(|row| view.offered(row)).collect::<Vec<_>>(),
            [None, None, None, Some(1), Some(2), Some(4)]
        );
        assert_eq!(view.data().rows.len(), 32);
        assert!(view.finding(Lang::En).contains("after 2 of 5 fixes"), "{}", view.finding(Lang::En));
    }
}
