//! A small tensor of four axes and the line of memory that it lies on: strides, offsets both ways, contiguity, padded channels.
//!
//! `question.rs` is what the reader sets and the model's strides, `paint.rs` geometry and picture, `words.rs` the sentences.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use paint::{Geometry, Scene};
use question::{MOST, MULTIPLES, PRESETS, Question};
use vramlab_kit::{Area, Mark, Tokens, legend};
use vramlab_model::kernels::tensor_strides::{AXES, ORDERS, order_from};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const ORDER: Text = Text::new("顺序", "Order");
const PAD: Text = Text::new("通道补到的倍数", "Channels to a multiple of");

/// See the module's docs.
pub struct TensorOrder {
    question: Question,
}

impl TensorOrder {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let mut order = question.order;
            let presets = PRESETS.map(|name| (order_from(name).unwrap_or(order), name.to_uppercase()));
            controls::choice(flow, tokens, ORDER.get(lang), &mut order, &presets);
            question.order = order;
            for (at, most) in MOST.into_iter().enumerate() {
                let name = AXES[at].to_uppercase();
                controls::slider(flow, tokens, &name, &mut question.shape[at], 1..=most, |size| size.to_string());
            }
            let multiples = MULTIPLES.map(|multiple| (multiple, multiple.to_string()));
            controls::choice(flow, tokens, PAD.get(lang), &mut question.multiple, &multiples);
        });
        question.keep_inside();
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.question);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.keys(ui, &response);
        if let Some(at) = response.interact_pointer_pos().filter(|_| response.clicked_by(PointerButton::Primary)) {
            response.request_focus();
            if let Some(place) = geometry.axis_at(at) {
                self.question.swap(place);
            } else if let Some(offset) = geometry.offset_at(&self.question, at) {
                self.choose(offset);
            }
        }
        let over = response.hover_pos();
        let chosen = self.question.offset(self.question.at);
        let offset = over.and_then(|at| geometry.offset_at(&self.question, at)).unwrap_or(chosen);
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let axis = over.and_then(|at| geometry.axis_at(at));
        Scene { painter, tokens, lang, geometry: &geometry, question: &self.question, offset, axis }.paint();
        let said = words::element(&self.question, self.question.index(offset), lang);
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        let names: Vec<String> =
            (0..self.question.shape[1]).map(|at| format!("{} {at}", words::CHANNEL.get(lang))).collect();
        let mut marks: Vec<(Mark, &str)> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (Mark::Square(tokens.tint(tokens.category(at), 0.75)), name.as_str()))
            .collect();
        if self.question.waste() > 0.0 {
            marks.push((Mark::Area(Area::CachedFree), words::PADDED.get(lang)));
        }
        legend(ui, tokens, &marks);
        figure::readout_ui(ui, tokens, &said);
        figure::readout_ui(ui, tokens, words::HINT.get(lang));
    }

    /// The element at `offset` is kept, if it is not padding.
    fn choose(&mut self, offset: u64) {
        let at = self.question.index(offset);
        if !self.question.is_padding(at) {
            self.question.at = at;
        }
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let (offset, last) = (self.question.offset(self.question.at), self.question.n_stored());
        let is_used = |at: &u64| !self.question.is_padding(self.question.index(*at));
        if pressed(Key::ArrowRight) {
            if let Some(next) = (offset + 1..last).find(is_used) {
                self.choose(next);
            }
        } else if pressed(Key::ArrowLeft) {
            if let Some(next) = (0..offset).rev().find(is_used) {
                self.choose(next);
            }
        } else if pressed(Key::ArrowDown) || pressed(Key::ArrowUp) {
            let name = self.question.name();
            let at = ORDERS.iter().position(|order| *order == name).unwrap_or(0);
            let step = if pressed(Key::ArrowDown) { 1 } else { ORDERS.len() - 1 };
            self.question.order = order_from(ORDERS[(at + step) % ORDERS.len()]).unwrap_or(self.question.order);
        }
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let yes = |is: bool| match (is, lang) {
            (true, Lang::Zh) => "是",
            (true, Lang::En) => "yes",
            (false, Lang::Zh) => "否",
            (false, Lang::En) => "no",
        };
        let question = &self.question;
        let mut numbers = vec![
            KeyNumber::new(Text::new("步长 (N, C, H, W)", "strides (N, C, H, W)"), words::tuple(question.strides())),
            KeyNumber::new(Text::new("位置", "offset"), question.offset(question.at).to_string()),
            KeyNumber::new(Text::new("contiguous", "contiguous"), yes(question.is_dense([0, 1, 2, 3]))),
            KeyNumber::new(Text::new("channels_last", "channels_last"), yes(question.is_dense([0, 2, 3, 1]))),
        ];
        if question.waste() > 0.0 {
            numbers.push(KeyNumber::new(Text::new("多占", "more memory"), super::percent(question.waste())));
        }
        numbers
    }
}

impl View for TensorOrder {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header = ["offset", "n", "c", "h", "w"].map(str::to_owned).to_vec();
        let row =
            |offset: u64| [offset].iter().chain(&self.question.index(offset)).map(u64::to_string).collect::<Vec<_>>();
        DataTable { header, rows: (0..self.question.n_stored()).map(row).collect() }
    }
}

impl Visualizer for TensorOrder {
    const ID: &'static str = "tensor_order";
    const TITLE: Text = Text::new("张量的轴与步长", "Axes and strides of a tensor");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)? })
    }
}
