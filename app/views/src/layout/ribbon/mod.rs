//! Memory as a ribbon coloured by field: a struct to edit, three layouts, and the sectors that 32 lanes fetch.
//!
//! `question.rs` is what the reader sets and the model's answer, `paint.rs` geometry and picture, `words.rs` the sentences.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{EventFilter, Key, PointerButton, Response, Sense, Ui};
use paint::{Geometry, Scene};
use question::{ALIGNS, Answer, Layout, Question, SIZES, WIDTHS};
use vramlab_kit::{Area, Mark, Tokens, Verdict, legend};
use vramlab_model::kernels::struct_fields::{LANES, SECTOR};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const LAYOUT: Text = Text::new("排法", "Layout");
const WIDTH: Text = Text::new("一块", "Block");
const BASE: Text = Text::new("起点", "Start");
const WORST: Text = Text::new("扇区留不住（每个字段重取）", "sectors do not stay (each field fetches anew)");
const SIZE: Text = Text::new("字节", "bytes");
const ALIGN: Text = Text::new("对齐", "align");
const READ: Text = Text::new("读它", "read it");

/// See the module's docs.
pub struct FieldRibbon {
    question: Question,
    selected: usize,
    lane: u64,
}

impl FieldRibbon {
    fn take(&mut self, next: Option<Question>) {
        if let Some(next) = next {
            self.selected = self.selected.min(next.fields.len() - 1);
            self.question = next;
        }
    }

    fn layout_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let options = Layout::ALL.map(|layout| (layout, words::layout(layout).get(lang).to_owned()));
            controls::choice(flow, tokens, LAYOUT.get(lang), &mut question.layout, &options);
            if question.layout == Layout::Aosoa {
                let widths = WIDTHS.map(|width| (width, width.to_string()));
                controls::choice(flow, tokens, WIDTH.get(lang), &mut question.width, &widths);
            }
            let bases = [0, 4, 16].map(|base| (base, format!("+{base} B")));
            controls::choice(flow, tokens, BASE.get(lang), &mut question.base, &bases);
            controls::toggle(flow, tokens, WORST.get(lang), &mut question.is_worst);
        });
    }

    fn editor_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let at = self.selected;
        let field = self.question.fields[at].clone();
        let mut next = None;
        controls::row(ui, tokens, |flow| {
            let mut bytes = field.bytes;
            let label = format!("{}: {}", field.name, SIZE.get(lang));
            if controls::choice(flow, tokens, &label, &mut bytes, &SIZES.map(|size| (size, size.to_string()))) {
                next = self.question.resize(at, bytes);
            }
            let mut align = field.align;
            let aligns = ALIGNS.map(|align| (align, align.to_string()));
            if controls::choice(flow, tokens, ALIGN.get(lang), &mut align, &aligns) {
                next = self.question.edited(|next| next.fields[at].align = align);
            }
            controls::toggle(flow, tokens, READ.get(lang), &mut self.question.is_read[at]);
            let mut button = |zh, en| controls::button(flow, tokens, Text::new(zh, en).get(lang));
            if button("往前挪", "Move up") {
                next = at.checked_sub(1).and_then(|other| self.question.swap(at, other));
                self.selected = if next.is_some() { at - 1 } else { at };
            }
            if button("往后挪", "Move down") {
                next = self.question.swap(at, at + 1);
                self.selected = if next.is_some() { at + 1 } else { at };
            }
            if button("加一个字段", "Add a field") {
                next = self.question.added();
            }
            if button("删掉", "Remove") {
                next = self.question.removed(at);
            }
        });
        self.take(next);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let before = self.question.answer();
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.question, &before);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.keys(ui, &response);
        let answer = self.question.answer();
        let over = response.hover_pos();
        if let Some(at) = response.interact_pointer_pos().filter(|_| response.clicked_by(PointerButton::Primary)) {
            response.request_focus();
            if let Some(field) = geometry.field_at(&answer, &self.question, at) {
                self.selected = field;
            } else if let Some(lane) = geometry.lane_at(at) {
                self.lane = lane;
            }
        }
        let lane = over.and_then(|at| geometry.lane_at(at));
        let sector = over.and_then(|at| geometry.sector_at(at)).filter(|at| *at < answer.shown / SECTOR);
        let field = over.and_then(|at| geometry.field_at(&answer, &self.question, at));
        let lit = lane.or_else(|| (response.has_focus() && sector.is_none()).then_some(self.lane));
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            question: &self.question,
            answer: &answer,
            selected: self.selected,
            lane: lit,
            sector,
        }
        .paint();
        let said = match (field, sector, lit) {
            (Some(field), _, _) => Some(words::field(&self.question, &answer, field, lang)),
            (_, Some(sector), _) => Some(words::sector(&self.question, &answer, sector, lang)),
            (_, _, Some(lane)) => Some(words::lane(&self.question, lane, lang)),
            _ => None,
        };
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), said.as_deref().filter(|_| response.has_focus()));
        self.legend_ui(ui, tokens, lang);
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    fn legend_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let hue = |at| Mark::Square(tokens.tint(paint::color(tokens, at), 0.75));
        let mut marks: Vec<(Mark, &str)> =
            self.question.fields.iter().enumerate().map(|(at, field)| (hue(at), field.name.as_str())).collect();
        marks.push((Mark::Square(tokens.tint(tokens.muted, 0.22)), words::UNREAD.get(lang)));
        if self.question.answer().padding > 0 {
            marks.push((Mark::Area(Area::CachedFree), words::PADDING.get(lang)));
        }
        legend(ui, tokens, &marks);
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::ArrowRight) {
            self.lane = (self.lane + 1).min(LANES - 1);
        } else if pressed(Key::ArrowLeft) {
            self.lane = self.lane.saturating_sub(1);
        } else if pressed(Key::ArrowDown) {
            self.selected = (self.selected + 1).min(self.question.fields.len() - 1);
        } else if pressed(Key::ArrowUp) {
            self.selected = self.selected.saturating_sub(1);
        } else if response.clicked() && !response.clicked_by(PointerButton::Primary) {
            self.question.is_read[self.selected] ^= true;
        }
    }

    fn key_numbers(&self, answer: &Answer) -> Vec<KeyNumber> {
        let share = answer.efficiency(self.question.is_worst);
        let fetched = answer.fetched(self.question.is_worst) * SECTOR;
        let verdict = match share {
            _ if answer.read.is_empty() => Verdict::Neutral,
            share if share > 0.99 => Verdict::Good,
            _ => Verdict::Caution,
        };
        vec![
            KeyNumber::new(Text::new("扇区，留得住", "sectors, cached"), answer.once.to_string()),
            KeyNumber::new(Text::new("扇区，留不住", "sectors, worst"), answer.worst.to_string()),
            KeyNumber::new(Text::new("有用", "useful"), super::percent(share))
                .fraction(format!("{} ÷ {fetched} B", answer.useful))
                .exact(share.to_string())
                .judged(verdict),
        ]
    }
}

impl View for FieldRibbon {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.layout_ui(ui, tokens, lang);
        self.editor_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(&self.question.answer()));
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.question.answer(), lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let answer = self.question.answer();
        let names = answer.read.iter().map(|at| format!("{} (B)", self.question.fields[*at].name));
        let header = ["sector".to_owned()].into_iter().chain(names).collect();
        let rows = answer
            .touched
            .iter()
            .map(|touched| [touched.sector].iter().chain(&touched.by_field).map(u64::to_string).collect())
            .collect();
        DataTable { header, rows }
    }
}

impl Visualizer for FieldRibbon {
    const ID: &'static str = "field_ribbon";
    const TITLE: Text = Text::new("字段在内存里的排法", "Fields in memory");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let question = Question::from_args(args)?;
        let selected = question.read().first().copied().unwrap_or(0);
        Ok(Self { question, selected, lane: 0 })
    }
}
