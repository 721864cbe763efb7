//! Why a request was refused, as a way down a row of questions: each with the numbers that answer it, each with the cause
//! that a yes leads to.
//!
//! `question.rs` is what the reader sets, `layout.rs` the geometry, `paint.rs` the picture, `words.rs` the sentences. The
//! rule itself is `vramlab_alloc::refusal`.

mod layout;
mod paint;
mod question;
mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::Geometry;
use paint::{Bar, Look, Scene, Way};
use question::{Field, Given, Preset, Question};
use vramlab_alloc::refusal::{Cause, classify};
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_units::show::with_unit;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const CASE: Text = Text::new("哪一例", "Case");
const GROWING: Text = Text::new("每步都涨", "grows every step");
const MESSAGE: Text = Text::new(
    "公开报告里的报错：数字是消息里写的，空洞多大它没有说。",
    "A message from a public report: the numbers are its own; how large the holes are it does not say.",
);
const HINT: Text =
    Text::new("把指针放在一个问题上，看它是怎么算的。", "Rest the pointer on a question to see its working.");

const RECORDED: [&str; 3] = ["H200", "PyTorch 2.11", "2026-11-30"];

/// See the module's docs.
pub struct OomTree {
    question: Question,
    cursor: usize,
    stops: Vec<f64>,
}

impl OomTree {
    fn cause(&self) -> Cause {
        classify(&self.question.given.evidence())
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let cases: Vec<(Preset, String)> =
                Preset::ALL.iter().map(|preset| (*preset, preset.label().get(lang).to_owned())).collect();
            let mut preset = self.question.preset;
            if controls::choice(flow, tokens, CASE.get(lang), &mut preset, &cases) {
                self.question.set_preset(preset);
            }
            let before = self.question.given;
            for field in Field::ALL {
                bytes_slider(flow, tokens, lang, &self.stops, field, &mut self.question.given);
            }
            controls::toggle(flow, tokens, GROWING.get(lang), &mut self.question.given.is_growing);
            if self.question.given != before {
                self.question.preset = Preset::Custom;
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.cursor, Cause::ALL.len());
        let hovered = response.hover_pos().and_then(|at| geometry.hit(at));
        let picked = hovered.or_else(|| response.has_focus().then_some(self.cursor));
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let bars = Cause::ALL.map(|cause| bars(cause, &self.question.given, lang));
        Scene { painter, tokens, lang, geometry: &geometry, ways: ways(self.cause()), bars, picked }.paint();
        let said = picked.map(|idx| words::working(Cause::ALL[idx], &self.question.given, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), said.as_deref().filter(|_| response.has_focus()));
        let rest = if self.question.preset.source().is_some() { MESSAGE } else { HINT };
        figure::readout_ui(ui, tokens, &said.unwrap_or_else(|| rest.get(lang).to_owned()));
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let given = &self.question.given;
        let evidence = given.evidence();
        let number = |label, bytes: u64| KeyNumber::new(label, words::size(bytes)).exact(format!("{bytes}\u{2009}B"));
        let fragmentation =
            if given.knows_holes() { with_unit(evidence.fragmentation(), "%") } else { "–".to_owned() };
        vec![
            KeyNumber::new(Text::new("原因", "cause"), words::title(self.cause()).get(lang)).judged(Verdict::Caution),
            number(Text::new("缓存里空闲", "free in the cache"), evidence.inactive),
            KeyNumber::new(Text::new("碎片率", "fragmentation"), fragmentation)
                .exact(Text::new("1 − 最大空洞 ÷ 全部空洞", "1 − largest hole ÷ all holes").get(lang).to_owned()),
            number(Text::new("清空缓存后可用", "free after a flush"), evidence.after_flush()),
            number(Text::new("分配器之外", "held outside"), evidence.outside().unwrap_or(0)),
        ]
    }
}

/// 0, then powers of two from 1 MiB with their halves between.
fn stops() -> Vec<f64> {
    let mib = (1_u64 << 20) as f64;
    let steps = (0..=36).map(|half| if half % 2 == 0 { 2_f64.powi(half / 2) } else { 1.5 * 2_f64.powi(half / 2) });
    [0.0].into_iter().chain(steps.map(|step| step * mib)).collect()
}

/// A slider of bytes. A number between two stops is shown as it is until the slider moves.
fn bytes_slider(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, stops: &[f64], field: Field, given: &mut Given) {
    let value = given.get(field);
    let mut number = value as f64;
    let range = 0.0..=stops.last().copied().unwrap_or(1.0);
    let slider = Slider::new(field.label().get(lang), &mut number, range).stops(stops).width(66.0);
    let slider = slider.shown(|bytes| words::size(bytes.max(0.0) as u64));
    if flow.item(|ui| slider.show(ui, tokens)).changed() {
        given.set(field, number.max(0.0) as u64);
    }
}

fn ways(cause: Cause) -> [Way; 6] {
    let end = Cause::ALL.iter().position(|other| *other == cause).unwrap_or(0);
    std::array::from_fn(|idx| match idx.cmp(&end) {
        std::cmp::Ordering::Less => Way::Passed,
        std::cmp::Ordering::Equal => Way::Ends,
        std::cmp::Ordering::Greater => Way::NotReached,
    })
}

/// The evidence of a node.
fn bars(cause: Cause, given: &Given, lang: Lang) -> Vec<Bar> {
    let evidence = given.evidence();
    let request = (Text::new("申请", "request"), given.request, Look::Solid);
    let rows = match cause {
        Cause::TooBig => {
            vec![
                request,
                (Text::new("最多能拿到", "could get at most"), evidence.attainable().unwrap_or(0), Look::Limit),
            ]
        }
        Cause::FitsNow => vec![
            request,
            (Text::new("空闲 + 可归还", "free + releasable"), evidence.after_flush(), Look::Limit),
            (Text::new("最大空洞", "largest hole"), given.largest_hole, Look::Holes),
        ],
        Cause::Fragmentation => {
            vec![request, (Text::new("空闲 + 缓存空闲", "free + cached free"), evidence.unused(), Look::Limit)]
        }
        Cause::Outside => vec![
            (Text::new("分配器之外", "held outside"), evidence.outside().unwrap_or(0), Look::Solid),
            (Text::new("整卡的一成", "a tenth of the card"), words::tenth(given), Look::Limit),
        ],
        Cause::Leak | Cause::Capacity => Vec::new(),
    };
    let most = rows.iter().map(|(_, bytes, _)| *bytes).max().unwrap_or(0).max(1) as f32;
    let bar = |(label, bytes, look): (Text, u64, Look)| Bar {
        label: label.get(lang),
        value: words::size(bytes),
        share: bytes as f32 / most,
        look,
    };
    let mut out: Vec<Bar> = rows.into_iter().map(bar).collect();
    if cause == Cause::FitsNow && !given.knows_holes() {
        out.pop();
        let value = words::NOT_TOLD.get(lang).to_owned();
        out.push(Bar {
            label: Text::new("最大空洞", "largest hole").get(lang), value, share: -1.0, look: Look::Holes
        });
    }
    if cause == Cause::Leak {
        let value = words::growing(given, lang).to_owned();
        out.push(Bar {
            label: Text::new("步末的已分配", "at step ends").get(lang),
            value,
            share: -1.0,
            look: Look::Solid,
        });
    }
    out
}

impl View for OomTree {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question.given, self.cause(), lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let evidence = self.question.given.evidence();
        let header = ["cause", "holds"].map(str::to_owned).to_vec();
        let row = |cause: &Cause| vec![cause.id().to_owned(), format!("{}", cause.holds(&evidence) == Some(true))];
        DataTable { header, rows: Cause::ALL.iter().map(row).collect() }
    }

    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        self.question.preset.is_recorded().then(|| RECORDED.map(str::to_owned))
    }

    fn cited(&self, _lang: Lang) -> Option<(String, String)> {
        self.question.preset.source().map(|(source, date)| (source.to_owned(), date.to_owned()))
    }
}

impl Visualizer for OomTree {
    const ID: &'static str = "oom_tree";
    const TITLE: Text = Text::new("OOM 决策树", "Decision tree of an OOM");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)?, cursor: 0, stops: stops() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_ends_at_the_cause() {
        let args = Args::check(&OomTree::fields(), &Map::new()).unwrap();
        let tree = OomTree::open(&args).unwrap();
        assert_eq!(tree.cause(), Cause::Fragmentation);
        let [first, second, third, rest @ ..] = ways(tree.cause());
        assert_eq!([first, second, third], [Way::Passed, Way::Passed, Way::Ends]);
        assert!(rest.iter().all(|way| *way == Way::NotReached));
    }

    #[test]
    fn every_node_has_room_for_its_bars() {
        let args = Args::check(&OomTree::fields(), &Map::new()).unwrap();
        let given = OomTree::open(&args).unwrap().question.given;
        for cause in Cause::ALL {
            assert_eq!(bars(cause, &given, Lang::Zh).len(), layout::n_bars(cause), "{cause:?}");
        }
    }

    /// The longest bar of a node is whole, and lengths compare.
    #[test]
    fn lengths_are_bytes() {
        let args = Args::check(&OomTree::fields(), &Map::new()).unwrap();
        let given = OomTree::open(&args).unwrap().question.given;
        let shares = |cause| bars(cause, &given, Lang::En).iter().map(|bar| bar.share).collect::<Vec<f32>>();
        assert_eq!(shares(Cause::FitsNow), [1.0, 0.0, 9.0 / 20.0]);
        assert_eq!(shares(Cause::Fragmentation), [20.0 / 33.0, 1.0]);
    }
}
