//! A gradient of which only the largest entries are sent, step by step, with the debt that keeps the rest.
//!
//! `paint.rs` is the picture, `words.rs` the sentences. All numbers are model `topk_feedback`'s; every round has the same
//! gradient, so that what was sent and what is owed must add up to steps × gradient.

mod paint;
mod words;

use super::{Answer, asking};
use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use paint::{Geometry, Scene};
use vramlab_kit::{Area, Mark, Tokens, legend};
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const K: Text = Text::new("每步传几个", "Sent a step");
/// Steps that can be walked.
pub const ROUNDS: usize = 24;
const MOST: usize = 12;
const STEPS_PER_SEC: f64 = 1.0;
const START: &str = "0.5 -0.4 0.3 -0.2";

/// What stands after a number of rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Entries sent in the last round.
    pub now: Vec<usize>,
    pub sent: Vec<f64>,
    pub owed: Vec<f64>,
    pub owed_share: f64,
}

/// See the module's docs.
pub struct ResidualDebt {
    gradient: Vec<f64>,
    k: u64,
    play: Steps,
    /// After 1, 2, … rounds.
    states: Vec<State>,
    entry: usize,
}

fn shown(gradient: &[f64]) -> String {
    gradient.iter().map(|value| number(*value)).collect::<Vec<_>>().join(" ")
}

fn states(gradient: &[f64], k: u64) -> Result<Vec<State>, FieldError> {
    let after = |rounds: usize| {
        let question =
            asking([("gradient", shown(gradient).into()), ("k", k.into()), ("rounds", (rounds as u64).into())]);
        let answer = Answer::of("topk_feedback", question)?;
        let places: Vec<usize> = answer.list("places").into_iter().map(|place| place as usize).collect();
        let now = places[places.len().saturating_sub(k as usize)..].to_vec();
        let (sent, owed) = (answer.list("sent"), answer.list("residual"));
        Ok(State { now, sent, owed, owed_share: answer.num("owed_share") })
    };
    (1..=ROUNDS).map(after).collect()
}

impl ResidualDebt {
    fn new(gradient: Vec<f64>, k: u64, step: usize) -> Result<Self, FieldError> {
        let states = states(&gradient, k)?;
        Ok(Self { gradient, k, play: Steps::new(step, ROUNDS, STEPS_PER_SEC), states, entry: 0 })
    }

    fn again(&mut self) {
        if let Ok(states) = states(&self.gradient, self.k) {
            self.states = states;
        }
    }

    fn state(&self) -> &State {
        &self.states[self.play.now().clamp(1, ROUNDS) - 1]
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let before = self.k;
        let most = self.gradient.len() as u64;
        controls::row(ui, tokens, |flow| {
            controls::slider(flow, tokens, K.get(lang), &mut self.k, 1..=most.max(2), |k| format!("{k} / {most}"));
        });
        self.k = self.k.min(most);
        if before != self.k {
            self.again();
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, self.gradient.len());
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        if let Some(entry) = figure::moved_over(ui, &response).and_then(|at| geometry.entry_at(at)) {
            self.entry = entry;
        }
        if let Some((entry, value)) =
            response.interact_pointer_pos().filter(|_| response.dragged()).and_then(|at| geometry.pulled(at))
            && self.gradient[entry] != value
        {
            self.gradient[entry] = value;
            self.again();
        }
        self.play.keys(ui, &response, cx.has_motion);
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let (state, step) = (self.state(), self.play.now());
        let gradient = &self.gradient;
        Scene { painter, tokens, lang, geometry: &geometry, gradient, state, step, entry: self.entry }.paint();
        let said = words::step(gradient, state, step, self.entry, lang);
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        let marks = [
            (Mark::Square(paint::sent(tokens)), Text::new("已经传出", "sent so far")),
            (Mark::Area(Area::CachedFree), Text::new("还欠着", "owed")),
            (Mark::Predicted, Text::new("步数 × 梯度", "steps × gradient")),
        ];
        legend(ui, tokens, &marks.map(|(mark, text)| (mark, text.get(lang))));
        figure::readout_ui(ui, tokens, &said);
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let state = self.state();
        let n = self.gradient.len() as f64;
        let worst = state.owed.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let names: Vec<String> = state.now.iter().map(|entry| entry.to_string()).collect();
        vec![
            KeyNumber::new(Text::new("这一步传的", "sent in this step"), names.join(", ")),
            KeyNumber::new(Text::new("流量", "traffic"), with_unit(self.k as f64 / n, "%")),
            KeyNumber::new(Text::new("最大的一笔欠账", "largest debt"), number(worst)),
            KeyNumber::new(Text::new("欠的 ÷ 全部", "owed over all"), with_unit(state.owed_share, "%")),
        ]
    }
}

impl View for ResidualDebt {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        self.play.tick(cx);
        self.figure_ui(ui, cx);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(self.k, self.gradient.len(), self.play.now(), self.state(), lang)
    }

    fn params(&self) -> Map {
        asking([
            ("gradient", shown(&self.gradient).into()),
            ("k", self.k.into()),
            ("step", (self.play.now() as u64).into()),
        ])
    }

    fn data(&self) -> DataTable {
        let header = ["step", "entry", "gradient", "sent so far", "owed"].map(str::to_owned).to_vec();
        let rows = self.states.iter().enumerate().flat_map(|(round, state)| {
            let row = move |entry: usize| {
                let numbers =
                    [self.gradient[entry], state.sent[entry], state.owed[entry]].map(|value| value.to_string());
                [(round + 1).to_string(), entry.to_string()].into_iter().chain(numbers).collect()
            };
            (0..self.gradient.len()).map(row)
        });
        DataTable { header, rows: rows.collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for ResidualDebt {
    const ID: &'static str = "residual_debt";
    const TITLE: Text = Text::new("没传的，记在账上", "What is not sent is owed");

    fn fields() -> Vec<FieldSpec> {
        let gradient = Text::new("梯度，空格隔开，2 到 12 个", "The gradient, 2 to 12 numbers apart by blanks");
        vec![
            FieldSpec::new("gradient", "", FieldKind::Text { max_len: 200 }, gradient).default_value(START),
            FieldSpec::int("k", "1", 1, MOST as i64, Text::new("每步传几个", "Entries sent in a step"))
                .default_value(1),
            FieldSpec::int("step", "1", 1, ROUNDS as i64, Text::new("走到第几步", "Steps that are over"))
                .default_value(1),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let words: Vec<&str> = args.text("gradient").split_whitespace().collect();
        let gradient: Vec<f64> =
            words.iter().filter_map(|word| word.parse().ok()).filter(|value: &f64| value.abs() <= 1.0).collect();
        if gradient.len() != words.len() || !(2..=MOST).contains(&gradient.len()) {
            return Err(FieldError::conflict("gradient", format!("it must be 2 to {MOST} numbers from -1 to 1")));
        }
        Self::new(gradient, args.uint("k"), args.uint("step") as usize)
    }
}
