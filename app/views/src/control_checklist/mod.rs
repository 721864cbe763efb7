//! What one forgot to control: two intervals that look apart, ten controls, and what is left of the verdict without some.
//!
//! The rule is `vramlab_model::control_check`. `layout.rs` is the geometry, `paint.rs` the picture, `words.rs` the sentences.

pub mod layout;
pub mod paint;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{PointerButton, Sense, Ui};
use layout::Geometry;
use paint::Scene;
use vramlab_kit::{Tokens, Verdict};
use vramlab_model::control_check::{CONTROLS, Control, Worth, worth};
use vramlab_model::samples::{Change, Interval, change};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const CASE: Text = Text::new("两个区间", "Two intervals");
const ALL: Text = Text::new("全做到", "keep all");
const NONE: Text = Text::new("全漏掉", "leave all out");
const N: usize = 20;

/// Pairs of intervals to judge, made up for the purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Apart,
    Overlap,
}

impl Case {
    const BOTH: [Self; 2] = [Self::Apart, Self::Overlap];

    fn id(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Overlap => "overlap",
        }
    }

    fn name(self) -> Text {
        match self {
            Self::Apart => Text::new("分得开", "apart"),
            Self::Overlap => Text::new("有重叠", "overlapping"),
        }
    }

    pub fn intervals(self) -> [(f64, f64); 2] {
        match self {
            Self::Apart => [(9.8, 10.2), (9.0, 9.5)],
            Self::Overlap => [(9.8, 10.2), (10.1, 10.4)],
        }
    }

    pub fn ends(self) -> (f64, f64) {
        (8.8, 10.6)
    }

    pub fn ticks(self) -> [f64; 4] {
        [9.0, 9.5, 10.0, 10.5]
    }

    fn change(self) -> Change {
        let [base, candidate] =
            self.intervals().map(|(low, high)| Some(Interval { low, median: f64::midpoint(low, high), high, n: N }));
        change(base, candidate)
    }
}

/// See the module's docs.
pub struct ControlChecklist {
    case: Case,
    kept: [bool; 10],
    cursor: usize,
}

impl ControlChecklist {
    fn worth(&self) -> (Worth, Option<&'static Control>) {
        worth(&self.kept)
    }

    fn missing(&self) -> usize {
        self.kept.iter().filter(|kept| !**kept).count()
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let cases = Case::BOTH.map(|case| (case, case.name().get(lang).to_owned()));
            controls::choice(flow, tokens, CASE.get(lang), &mut self.case, &cases);
            if controls::button(flow, tokens, ALL.get(lang)) {
                self.kept = [true; 10];
            }
            if controls::button(flow, tokens, NONE.get(lang)) {
                self.kept = [false; 10];
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.cursor, CONTROLS.len());
        let over = response.hover_pos().and_then(|at| geometry.hit(at));
        let by_pointer = response.clicked_by(PointerButton::Primary);
        let pressed = if by_pointer { over } else { response.clicked().then_some(self.cursor) };
        if let Some(idx) = pressed {
            self.kept[idx] = !self.kept[idx];
            self.cursor = idx;
        }
        let hovered = over.or_else(|| response.has_focus().then_some(self.cursor));
        let (worth, hangs_on) = self.worth();
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let (case, kept, change) = (self.case, &self.kept, self.case.change());
        Scene { painter, tokens, lang, geometry: &geometry, case, change, kept, worth, hangs_on, hovered }.paint();
        figure::focus_ring(ui, tokens, &response);
        let detail = CONTROLS.get(self.cursor).map(|control| control.name.get(lang));
        figure::speak(&response, &self.finding(lang), detail.filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }
}

impl View for ControlChecklist {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        let (left, _) = self.worth();
        let verdict = match left {
            Worth::Repeatable => Verdict::Good,
            Worth::OneDay => Verdict::Neutral,
            Worth::Hint => Verdict::Caution,
            Worth::Nothing => Verdict::Bad,
        };
        let numbers = [
            KeyNumber::new(Text::new("还剩", "what is left"), words::level(left).get(lang)).judged(verdict),
            KeyNumber::new(Text::new("漏掉的", "left out"), format!("{} / {}", self.missing(), CONTROLS.len())),
        ];
        controls::key_numbers(ui, tokens, lang, &numbers);
    }

    fn finding(&self, lang: Lang) -> String {
        let (left, worst) = self.worth();
        words::finding(left, self.case.change(), worst, self.missing(), lang)
    }

    fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("case".into(), self.case.id().into());
        for (control, kept) in CONTROLS.iter().zip(self.kept) {
            map.insert(control.id.into(), kept.into());
        }
        map
    }

    fn data(&self) -> DataTable {
        let header = ["control", "kept", "without it"].map(str::to_owned).to_vec();
        let row = |(control, kept): (&Control, &bool)| {
            vec![control.name.en.to_owned(), kept.to_string(), control.without.id().to_owned()]
        };
        DataTable { header, rows: CONTROLS.iter().zip(&self.kept).map(row).collect() }
    }
}

impl Visualizer for ControlChecklist {
    const ID: &'static str = "control_checklist";
    const TITLE: Text = Text::new("漏掉了什么（controls）", "What was not controlled");

    fn fields() -> Vec<FieldSpec> {
        let options = Case::BOTH.map(|case| case.id().into()).to_vec();
        let doc = Text::new("哪两个区间", "Which two intervals");
        let mut out = vec![FieldSpec::new("case", "", FieldKind::Choice { options }, doc).default_value("apart")];
        let kept =
            |control: &Control| FieldSpec::new(control.id, "", FieldKind::Bool, control.name).default_value(true);
        out.extend(CONTROLS.iter().map(kept));
        out
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let case = Case::BOTH.into_iter().find(|case| case.id() == args.text("case")).unwrap_or(Case::Apart);
        Ok(Self { case, kept: CONTROLS.map(|control| args.flag(control.id)), cursor: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_falls_with_what_is_left_out() {
        let open = |pairs: &[&str]| {
            let map = pairs.iter().map(|key| ((*key).to_owned(), false.into())).collect();
            ControlChecklist::open(&Args::check(&ControlChecklist::fields(), &map).unwrap()).unwrap()
        };
        assert_eq!(open(&[]).worth().0, Worth::Repeatable);
        assert_eq!(open(&["interleaved", "warmed_up"]).worth().0, Worth::Hint);
        assert_eq!(open(&["same_work"]).missing(), 1);
        assert_eq!((Case::Apart.change(), Case::Overlap.change()), (Change::Improved, Change::NoDifference));
    }
}
