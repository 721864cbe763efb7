//! Operators to lasso: what may become one kernel, and what that saves.
//!
//! `question.rs` is the graph, its partition and the models' sums; `layout.rs` the geometry, `paint.rs` the picture, `words.rs`
//! the sentences.

mod layout;
mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{
    ComboBox, EventFilter, Key, Label, PointerButton, Pos2, Rect, Response, RichText, Role, ScrollArea, Sense,
    TextEdit, Ui, WidgetInfo,
};
use layout::Geometry;
use paint::Scene;
use question::{MOST_ROW, MOST_TEXT, PRESETS, Question};
use vramlab_kit::{Button, Mark, Slider, Tokens, Type, Verdict, legend};
use vramlab_model::kernels::fuse_rules::Refusal;
use vramlab_units::show::number;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const GRAPH: Text = Text::new("图", "Graph");
const OWN: Text = Text::new("自己写的", "your own");
const EDIT: Text = Text::new("改图", "Edit the graph");
const UNDO: Text = Text::new("撤销", "Undo");
const APART: Text = Text::new("全部拆开", "All apart");
const FUSE: Text = Text::new("合并所选", "Fuse what is picked");
const SPLIT: Text = Text::new("拆开所选", "Split what is picked");
const ROW: Text = Text::new("一行", "A row");
const BARRIER: Text = Text::new("可用全网格屏障", "grid barrier allowed");
const THREAD: Text = Text::new(
    "一个线程，最费的那个 kernel；归约的一行由 256 个线程分",
    "of a thread, in the dearest kernel; 256 threads share a row that is reduced",
);
const OPERATORS: Text = Text::new("算子", "Operators");
const SIZES: Text = Text::new("字节", "Bytes");
const FORM: Text = Text::new(
    "算子：名字 类别 输入 > 输出，用 ; 隔开，类别是 map、reduce、gemm、opaque（库里现成的）。字节：x=2e6 w=2000。",
    "Operators: name kind inputs > output, with ; between; a kind is map, reduce, gemm or opaque (a library's). Bytes: x=2e6 w=2000.",
);
/// Partitions that can be taken back.
const MOST_PAST: usize = 64;

/// See the module's docs.
pub struct FusionLasso {
    question: Question,
    past: Vec<Vec<usize>>,
    /// Operators that are picked but not fused, and the rule they break if they were asked to be.
    picked: Vec<usize>,
    refused: Option<Refusal>,
    lasso_from: Option<Pos2>,
    cursor: usize,
    draft: (String, String),
    wrong: Option<String>,
    is_editing: bool,
}

impl FusionLasso {
    fn new(question: Question) -> Self {
        let draft = (question.operators.clone(), question.sizes.clone());
        Self {
            question,
            past: Vec::new(),
            picked: Vec::new(),
            refused: None,
            lasso_from: None,
            cursor: 0,
            draft,
            wrong: None,
            is_editing: false,
        }
    }

    /// Another partition; the old one can be taken back.
    fn take(&mut self, of: Vec<usize>) {
        self.refused = self.question.refusal(&of);
        if self.refused.is_some() {
            return;
        }
        self.picked.clear();
        if self.question.of != of {
            self.past.push(std::mem::replace(&mut self.question.of, of));
            let extra = self.past.len().saturating_sub(MOST_PAST);
            self.past.drain(..extra);
        }
    }

    fn fuse(&mut self) {
        if self.picked.len() > 1 {
            self.take(self.question.fused(&self.picked));
        }
    }

    fn split(&mut self) {
        self.take(self.question.split(&self.picked));
    }

    fn toggle(&mut self, op: usize) {
        self.refused = None;
        match self.picked.iter().position(|other| *other == op) {
            Some(at) => drop(self.picked.remove(at)),
            None => self.picked.push(op),
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let title = if self.question.is_own() { OWN } else { self.question.preset.label };
            if let Some(preset) = flow.item(|ui| preset_ui(ui, tokens, lang, title.get(lang))) {
                *self = Self { is_editing: self.is_editing, ..Self::new(Question::of(preset)) };
            }
            let edit = Button::quiet(EDIT.get(lang)).selected(self.is_editing);
            if flow.item(|ui| edit.show(ui, tokens)).clicked() {
                self.is_editing = !self.is_editing;
            }
            if self.question.has_rows() {
                self.room_ui(flow, tokens, lang);
            }
        });
        if self.is_editing {
            self.editor_ui(ui, tokens, lang);
        }
        controls::row(ui, tokens, |flow| {
            let is_apart = self.question.groups().is_empty();
            let asked = |flow: &mut controls::Flow<'_>, text: Text, why: Option<&str>| {
                flow.item(|ui| Button::quiet(text.get(lang)).unavailable(why).show(ui, tokens)).clicked()
            };
            let none = Text::new("还没有可撤销的", "nothing to undo").get(lang);
            if asked(flow, UNDO, self.past.is_empty().then_some(none))
                && let Some(of) = self.past.pop()
            {
                self.question.of = of;
                self.picked.clear();
                self.refused = None;
            }
            let none = Text::new("已经全部分开", "they are apart").get(lang);
            if asked(flow, APART, is_apart.then_some(none)) {
                self.take((0..self.question.ops.len()).collect());
            }
            let few = Text::new("先选至少两个", "pick two at least").get(lang);
            if asked(flow, FUSE, (self.picked.len() < 2).then_some(few)) {
                self.fuse();
            }
            let few = Text::new("先选一个", "pick one").get(lang);
            if asked(flow, SPLIT, self.picked.is_empty().then_some(few)) {
                self.split();
            }
        });
    }

    fn room_ui(&mut self, flow: &mut controls::Flow<'_>, tokens: &Tokens, lang: Lang) {
        let mut row = self.question.row_bytes as f64;
        let slider = Slider::new(ROW.get(lang), &mut row, 64.0..=MOST_ROW as f64).log().step(4.0).width(80.0);
        let slider = slider.default_value(self.question.preset.row_bytes as f64).shown(words::bytes);
        let mut next = self.question.clone();
        if flow.item(|ui| slider.show(ui, tokens)).changed() {
            next.row_bytes = row.round() as u64;
        }
        controls::toggle(flow, tokens, BARRIER.get(lang), &mut next.is_grid_barrier);
        if (next.row_bytes, next.is_grid_barrier) != (self.question.row_bytes, self.question.is_grid_barrier) {
            self.refused = next.refusal(&next.of);
            self.question = next;
            if self.refused.is_some() {
                // What the row no longer lets be one kernel falls apart, with the reason said.
                let all: Vec<usize> = (0..self.question.ops.len()).collect();
                self.past.push(std::mem::replace(&mut self.question.of, all));
            }
        }
    }

    fn editor_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let mut is_changed = false;
        for (text, name, rows) in [(&mut self.draft.0, OPERATORS, 3), (&mut self.draft.1, SIZES, 2)] {
            ui.label(RichText::new(name.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            let edit = TextEdit::multiline(text)
                .font(tokens.font(Type::Mono))
                .desired_rows(rows)
                .desired_width(f32::INFINITY)
                .char_limit(MOST_TEXT);
            let response = ui.add(edit);
            response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, name.get(lang)));
            is_changed |= response.changed();
        }
        if is_changed {
            let (operators, sizes) = (self.draft.0.trim().to_owned(), self.draft.1.trim().to_owned());
            match Question::read(self.question.preset, &operators, &sizes, "") {
                Ok(question) => {
                    let (draft, row) = (std::mem::take(&mut self.draft), self.question.row_bytes);
                    let question = Question { row_bytes: row, ..question };
                    *self = Self { draft, is_editing: true, ..Self::new(question) };
                }
                Err(why) => self.wrong = Some(why.to_string()),
            }
        }
        if let Some(wrong) = &self.wrong {
            figure::problem_ui(ui, tokens, wrong);
        }
        let form = RichText::new(FORM.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
        ui.add(Label::new(form).wrap());
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        ScrollArea::horizontal().id_salt("operators").show(ui, |ui| self.graph_ui(ui, cx, width));
        let tokens = cx.tokens;
        legend(
            ui,
            tokens,
            &[
                (Mark::Square(tokens.tint(paint::hbm(tokens), 0.75)), words::HBM.get(cx.lang)),
                (Mark::Square(paint::chip(tokens)), words::CHIP.get(cx.lang)),
                (Mark::Square(tokens.tint(tokens.category(1), 0.24)), words::GROUP.get(cx.lang)),
            ],
        );
    }

    fn graph_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>, width: f32) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.question);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        let lasso = self.lasso(ui, &response, &geometry);
        self.keys(ui, &response);
        let over = response.hover_pos();
        let op = over.and_then(|at| geometry.op_at(at));
        let tensor = over.filter(|_| op.is_none()).and_then(|at| geometry.tensor_at(at, tokens.px(9.0)));
        let may = if self.picked.len() > 1 { self.question.refusal(&self.question.fused(&self.picked)) } else { None };
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            picked: &self.picked,
            is_refused: may.is_some(),
            lasso,
            cursor: response.has_focus().then_some(self.cursor),
            over: op,
            over_tensor: tensor,
        }
        .paint();
        let said = match (may, op, tensor) {
            (Some(why), ..) => {
                words::finding(&self.question, &self.question.sums(&self.question.of), Some(why.said().get(lang)), lang)
            }
            (None, _, _) if self.picked.len() > 1 => words::offer(
                &self.question,
                &self.picked,
                &self.question.sums(&self.question.fused(&self.picked)),
                lang,
            ),
            (_, Some(op), _) => words::op(&self.question, op, lang),
            (_, _, Some(tensor)) => words::tensor(&self.question, &geometry.tensors[tensor], lang),
            _ if response.has_focus() && self.cursor < self.question.ops.len() => {
                words::op(&self.question, self.cursor, lang)
            }
            _ => words::HINT.get(lang).to_owned(),
        };
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        figure::readout_ui(ui, tokens, &said);
    }

    /// The pointer: a frame picks what is in it and fuses when let go, a click picks one.
    fn lasso(&mut self, ui: &Ui, response: &Response, geometry: &Geometry) -> Option<Rect> {
        if response.drag_started_by(PointerButton::Primary) {
            response.request_focus();
            self.lasso_from = ui.input(|input| input.pointer.press_origin());
            self.refused = None;
        }
        let at = response.interact_pointer_pos();
        let frame = self.lasso_from.zip(at).map(|(from, at)| Rect::from_two_pos(from, at));
        if let Some(frame) = frame {
            self.picked = geometry.inside(frame);
        }
        if response.drag_stopped() && self.lasso_from.take().is_some() {
            match self.picked.len() {
                0 => self.refused = None,
                1 => {}
                _ => self.fuse(),
            }
            return None;
        }
        if response.clicked_by(PointerButton::Primary) {
            response.request_focus();
            match at.and_then(|at| geometry.op_at(at)) {
                Some(op) => {
                    self.cursor = op;
                    self.toggle(op);
                }
                None => {
                    self.picked.clear();
                    self.refused = None;
                }
            }
        }
        frame.filter(|_| self.lasso_from.is_some())
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let last = self.question.ops.len().saturating_sub(1);
        if pressed(Key::ArrowRight) || pressed(Key::ArrowDown) {
            self.cursor = (self.cursor + 1).min(last);
        } else if pressed(Key::ArrowLeft) || pressed(Key::ArrowUp) {
            self.cursor = self.cursor.saturating_sub(1);
        } else if pressed(Key::Home) {
            self.cursor = 0;
        } else if pressed(Key::End) {
            self.cursor = last;
        } else if pressed(Key::Backspace) || pressed(Key::Delete) {
            if self.picked.is_empty() {
                self.picked.push(self.cursor);
            }
            self.split();
        } else if pressed(Key::Enter) && self.picked.len() > 1 {
            self.fuse();
        } else if response.clicked() && !response.clicked_by(PointerButton::Primary) {
            self.toggle(self.cursor);
        }
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let sums = self.question.sums(&self.question.of);
        let saved = 1.0 - sums.bytes / sums.apart.max(1.0);
        let mut numbers = vec![
            KeyNumber::new(words::NOW, words::precise(sums.bytes)).exact(format!("{} B", sums.bytes)),
            KeyNumber::new(Text::new("省下", "saved"), format!("{} %", number(100.0 * saved)))
                .exact(format!("1 − {} ÷ {}", sums.bytes, sums.apart))
                .judged(if saved > 0.0 { Verdict::Good } else { Verdict::Neutral }),
            KeyNumber::new(Text::new("启动", "launches"), format!("{} / {}", sums.launches, self.question.ops.len())),
        ];
        if let Some(registers) = sums.registers {
            let over = registers > 255;
            let number = KeyNumber::new(Text::new("寄存器（估）", "registers, about"), registers.to_string())
                .exact(THREAD.get(lang).to_owned());
            numbers.push(if over { number.judged(Verdict::Bad) } else { number });
        }
        numbers
    }
}

fn preset_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, title: &str) -> Option<&'static question::Preset> {
    ui.label(RichText::new(GRAPH.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    let mut chosen = None;
    let wide = tokens.px(240.0).min(ui.available_width() - tokens.px(12.0));
    let text = RichText::new(title).font(tokens.font(Type::Note));
    let response = ComboBox::from_id_salt("graph").selected_text(text).width(wide).truncate().show_ui(ui, |ui| {
        for preset in &PRESETS {
            let label = preset.label.get(lang);
            if ui.selectable_label(label == title, label).clicked() {
                chosen = Some(preset);
            }
        }
    });
    let name = format!("{}: {title}", GRAPH.get(lang));
    response.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    chosen
}

impl View for FusionLasso {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        let sums = self.question.sums(&self.question.of);
        let why = self.refused.as_ref().map(Refusal::said);
        words::finding(&self.question, &sums, why.as_ref().map(|why| why.get(lang)), lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["tensor", "size (B)", "writes", "reads", "moved (B)"].map(str::to_owned).to_vec();
        let row = |name: String| {
            let (size, crossing) = (self.question.bytes_of(&name), self.question.crossing(&name));
            let moved = size * crossing.times() as f64;
            let written = u64::from(crossing.is_written).to_string();
            vec![name, size.to_string(), written, crossing.reads.to_string(), moved.to_string()]
        };
        DataTable { header, rows: self.question.tensors().into_iter().map(row).collect() }
    }
}

impl Visualizer for FusionLasso {
    const ID: &'static str = "fusion_lasso";
    const TITLE: Text = Text::new("圈起来，合成一个 kernel", "Lasso operators into one kernel");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self::new(Question::from_args(args)?))
    }
}
