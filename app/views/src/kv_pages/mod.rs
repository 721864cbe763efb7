//! Two pools of keys and values with the same requests: a place of the longest length for each, or pages. Below them the
//! table of one request, and how many run over time.
//!
//! The machine is `vramlab_model::kv_paging`. `question.rs` is what the reader sets, `layout.rs` the geometry, `paint.rs`
//! the picture, `words.rs` the sentences.

pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{PointerButton, Sense, Ui};
use layout::{Geometry, Side};
use paint::Scene;
use question::{BLOCKS, LONGEST, Question};
use vramlab_kit::{Tokens, Verdict, legend};
use vramlab_model::kv_paging::{Lengths, MOST_STEPS, Policy, Pool, Running};
use vramlab_model::kv_waste::waste;
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const PAGE: Text = Text::new("一页", "Page");
const LONGEST_NAME: Text = Text::new("最长", "Longest");
const COMES: Text = Text::new("来的请求", "Requests");
const STEPS_PER_SEC: f64 = 16.0;
/// Steps over which the curve is drawn.
const N_STEPS: u64 = 400;

/// The pools at the step shown.
pub struct Shown {
    pub reserved: Pool,
    pub paged: Pool,
}

/// Requests that run, step by step.
pub struct History {
    pub reserved: Vec<u16>,
    pub paged: Vec<u16>,
}

/// See the module's docs.
pub struct KvPages {
    question: Question,
    play: Steps,
    shown: (u64, Shown),
    history: History,
    /// The furthest step shown: the curve goes no further, so that it tells no prediction.
    seen: u64,
    picked: usize,
}

fn history(question: Question, policy: Policy) -> Vec<u16> {
    let mut pool = Pool::new(question.setup(), policy);
    let mut out = vec![pool.running.len() as u16];
    for _ in 0..N_STEPS {
        pool.step();
        out.push(pool.running.len() as u16);
    }
    out
}

fn shown(question: Question, step: u64) -> Shown {
    let after = |policy| Pool::after(question.setup(), policy, step);
    Shown { reserved: after(Policy::Reserved), paged: after(Policy::Paged) }
}

fn lengths_name(lengths: Lengths) -> Text {
    match lengths {
        Lengths::Short => Text::new("都短", "short"),
        Lengths::Mixed => Text::new("长短不一", "mixed"),
        Lengths::Long => Text::new("都近最长", "near the longest"),
    }
}

impl KvPages {
    fn new(question: Question, step: u64, picked: usize) -> Self {
        let step = step.min(N_STEPS);
        let history =
            History { reserved: history(question, Policy::Reserved), paged: history(question, Policy::Paged) };
        let play = Steps::new(step as usize + 1, N_STEPS as usize + 1, STEPS_PER_SEC);
        Self { question, play, shown: (step, shown(question, step)), history, seen: step, picked }
    }

    fn step(&self) -> u64 {
        self.play.now().saturating_sub(1) as u64
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut next = self.question;
        controls::row(ui, tokens, |flow| {
            let tokens_of = |n: &u64| (*n, n.to_string());
            let pages: Vec<(u64, String)> = BLOCKS.iter().map(tokens_of).collect();
            controls::choice(flow, tokens, PAGE.get(lang), &mut next.block_tokens, &pages);
            let longest: Vec<(u64, String)> = LONGEST.iter().map(tokens_of).collect();
            controls::choice(flow, tokens, LONGEST_NAME.get(lang), &mut next.max_len, &longest);
            let kinds = Lengths::ALL.map(|lengths| (lengths, lengths_name(lengths).get(lang).to_owned()));
            controls::choice(flow, tokens, COMES.get(lang), &mut next.lengths, &kinds);
        });
        if next != self.question {
            *self = Self::new(next, self.step(), self.picked);
        }
    }

    /// The chosen request while it runs, else the one that has run longest.
    fn shown_request(&self) -> usize {
        let running = &self.shown.1.paged.running;
        let is_running = running.iter().any(|request| request.id == self.picked);
        running.first().filter(|_| !is_running).map_or(self.picked, |request| request.id)
    }

    /// The request that holds a slot, with its logical page and the slots used there.
    fn holder(&self, side: Side, slot: u64) -> Option<(&Running, usize, u64)> {
        let (pool, place) = self.pool(side);
        pool.running.iter().find_map(|request| {
            let page = request.pages.iter().position(|page| u64::from(*page) == slot / place)?;
            Some((request, page, request.tokens.saturating_sub(page as u64 * place).min(place)))
        })
    }

    fn pool(&self, side: Side) -> (&Pool, u64) {
        match side {
            Side::Reserved => (&self.shown.1.reserved, self.question.max_len),
            Side::Paged => (&self.shown.1.paged, self.question.block_tokens),
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.play.keys(ui, &response, cx.has_motion);
        let over = response.hover_pos().and_then(|at| geometry.hit(at));
        let pointer = response.interact_pointer_pos();
        if let Some(step) = pointer.and_then(|at| geometry.step_at(at, N_STEPS as f32)) {
            self.play.seek(step.round() as usize + 1);
        }
        let whose = over.and_then(|(side, slot)| self.holder(side, slot).map(|(request, ..)| request.id));
        if response.clicked_by(PointerButton::Primary)
            && let Some(id) = whose
        {
            self.picked = id;
        }
        let step = self.step();
        if step != self.shown.0 {
            self.shown = (step, shown(self.question, step));
            self.seen = self.seen.max(step);
        }
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            shown: &self.shown.1,
            history: &self.history,
            step,
            seen: self.seen,
            picked: whose.unwrap_or_else(|| self.shown_request()),
            block_tokens: self.question.block_tokens,
            max_len: self.question.max_len,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        legend(ui, tokens, &paint::legend(tokens).map(|(mark, text)| (mark, text.get(lang))));
        let said = over.map(|(side, slot)| words::slot(side, self.holder(side, slot), self.pool(side).1, lang));
        figure::readout_ui(ui, tokens, &said.unwrap_or_else(|| words::HINT.get(lang).to_owned()));
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let Shown { reserved, paged } = &self.shown.1;
        let share = |pool: &Pool| with_unit(waste(pool.used(), pool.kept()), "%");
        let exact = |pool: &Pool| format!("1 − {} ÷ {}", pool.used(), pool.kept());
        vec![
            KeyNumber::new(Text::new("预留：在跑", "reserved: run"), reserved.running.len().to_string()),
            KeyNumber::new(Text::new("预留：空占", "reserved: empty"), share(reserved))
                .exact(exact(reserved))
                .judged(Verdict::Caution),
            KeyNumber::new(Text::new("分页：在跑", "paged: run"), paged.running.len().to_string()),
            KeyNumber::new(Text::new("分页：空占", "paged: empty"), share(paged))
                .exact(exact(paged))
                .judged(Verdict::Good),
            KeyNumber::new(Text::new("分页：让出", "paged: gave way"), paged.preempted.to_string()),
        ]
    }
}

impl View for KvPages {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        self.play.tick(cx);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(self.shown.0, &self.shown.1.reserved, &self.shown.1.paged, lang)
    }

    fn params(&self) -> Map {
        self.question.params(self.step().min(MOST_STEPS), self.picked)
    }

    fn data(&self) -> DataTable {
        let header = ["step", "running, reserved", "running, paged"].map(str::to_owned).to_vec();
        let rows = self.history.reserved.iter().zip(&self.history.paged).take(self.seen as usize + 1).enumerate();
        let rows = rows.map(|(step, (a, b))| vec![step.to_string(), a.to_string(), b.to_string()]).collect();
        DataTable { header, rows }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for KvPages {
    const ID: &'static str = "kv_pages";
    const TITLE: Text = Text::new("预留与分页（paging）", "Reserving and paging");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(Question::from_args(args)?, args.uint("step"), args.uint("request") as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prediction asks for step 60: at the start of the run neither the curve nor its table goes there.
    #[test]
    fn the_curve_goes_as_far_as_the_reader_has() {
        let at = |step: u64| {
            let map = [("step".to_owned(), step.into())].into_iter().collect();
            KvPages::open(&Args::check(&KvPages::fields(), &map).unwrap()).unwrap()
        };
        assert_eq!(at(0).data().rows, [["0", "8", "46"]]);
        let view = at(60);
        assert_eq!(view.data().rows.last().unwrap(), &["60", "8", "25"]);
        assert_eq!(view.data().rows.len(), 61);
    }

    #[test]
    fn a_slot_belongs_to_the_request_that_holds_its_page() {
        let args = Args::check(&KvPages::fields(), &Map::new()).unwrap();
        let view = KvPages::open(&args).unwrap();
        for side in [Side::Reserved, Side::Paged] {
            let (pool, place) = view.pool(side);
            for request in &pool.running {
                let (logical, page) = (request.pages.len() - 1, *request.pages.last().unwrap());
                let (found, at, used) = view.holder(side, u64::from(page) * place + place - 1).unwrap();
                assert_eq!((found.id, at), (request.id, logical));
                assert_eq!(used, request.tokens - logical as u64 * place);
            }
        }
    }
}
