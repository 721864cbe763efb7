//! An author's figure: sliders, one of six drawings, key numbers. The numbers are computed by `lesson::figure`; here they
//! are painted, and the reader moves the sliders.
//!
//! Lines and bars are painted on the kit's axes and not with egui_plot: at 0.38 that crate has no logarithmic axis, and
//! the curves of this course are read on log2 and log10; its items are reached by pointer only, while here arrow keys
//! move the marker and every value is spoken; and its fonts, ticks and hover labels are its own. What it would add,
//! panning and zooming, a figure whose ranges are the author's does not need.
//!
//! Each drawing is a file with `size` and `paint`; `paint` returns what can be pointed at, in words.

mod bar;
mod bytes;
mod gantt;
mod graph;
mod line;
mod look;
mod sheet;
mod words;
mod work;

pub(crate) use look::ink_on;

use crate::controls;
use crate::figure;
use crate::view::{DataTable, View, ViewCx};
use egui::{EventFilter, Key, Painter, Pos2, Rect, Response, ScrollArea, Sense, StrokeKind, Ui, Vec2};
use look::Brush;
use std::sync::Arc;
use vramlab_kit::widgets::key_number;
use vramlab_kit::{Slider, Tokens, Verdict};
use vramlab_lesson::answer::Values;
use vramlab_lesson::figure::picture::{Drawn, LinePicture, Picture};
use vramlab_lesson::figure::{self as author, Drawing, Figure, Scale};
use vramlab_units::{FieldError, Lang, Map, Text, show};

const SHOW: Text = Text::new("怎么算的", "How it is computed");
const HIDE: Text = Text::new("收起算式", "Hide the working");

/// See the module's docs.
pub struct AuthorFigure {
    figure: Arc<Figure>,
    sliders: Values,
    /// What the sliders show, or why they show nothing.
    picture: Result<Picture, String>,
    /// What they showed at the start.
    start: Option<Picture>,
    /// Which thing the keyboard is on.
    cursor: Option<usize>,
    /// Whether formulas and models are shown below.
    shows_work: bool,
}

/// What can be pointed at: areas, and which words belong to each.
#[derive(Default)]
pub struct Items {
    pub areas: Vec<(Rect, usize)>,
    pub words: Vec<String>,
    /// Words for the place under the pointer, where that is not a thing: on a plot.
    pub hovered: Option<String>,
}

impl Items {
    /// Adds a thing and the area where it is.
    pub fn push(&mut self, area: Rect, words: String) {
        self.areas.push((area, self.words.len()));
        self.words.push(words);
    }

    fn at(&self, pos: Pos2) -> Option<usize> {
        // What is painted last lies on top.
        self.areas.iter().rev().find(|(area, _)| area.contains(pos)).map(|(_, idx)| *idx)
    }
}

impl AuthorFigure {
    /// Opens a figure; `params` are sliders by name. A slider that does not exist or cannot stand there is an error.
    pub fn open(figure: Arc<Figure>, params: &Map) -> Result<Self, FieldError> {
        let mut sliders: Values = figure.sliders.iter().map(|slider| (slider.name.clone(), slider.start)).collect();
        for (name, value) in params {
            let Some(slider) = figure.sliders.iter().find(|slider| slider.name == *name) else {
                let known: Vec<&str> = figure.sliders.iter().map(|slider| slider.name.as_str()).collect();
                let hint = vramlab_units::field::did_you_mean(name, known.iter().copied()).map(str::to_owned);
                return Err(FieldError::Unknown { field: name.clone(), hint, known: known.join(", ") });
            };
            let legal = || format!("a number from {} to {}", slider.min, slider.max);
            match value.as_f64().filter(|value| (slider.min..=slider.max).contains(value)) {
                Some(value) => sliders.insert(name.clone(), value),
                None => return Err(FieldError::illegal(name, value, legal())),
            };
        }
        let mut this =
            Self { figure, sliders, picture: Err(String::new()), start: None, cursor: None, shows_work: false };
        this.start = author::picture(&this.figure, &Values::new(), &|id, set| vramlab_model::eval(id, set)).ok();
        this.recompute();
        Ok(this)
    }

    fn recompute(&mut self) {
        let picture = author::picture(&self.figure, &self.sliders, &|id, set| vramlab_model::eval(id, set));
        self.picture = picture.map_err(|error| error.to_string());
    }

    /// The lines of the start, if another slider than that of the x axis has been moved since.
    fn ghost(&self) -> Option<&LinePicture> {
        let Drawing::Line(lines) = &self.figure.drawing else { return None };
        let is_moved = |(idx, slider): (usize, &author::Slider)| {
            idx != lines.sweep && self.sliders.get(&slider.name).is_some_and(|value| *value != slider.start)
        };
        match self.start.as_ref().map(|picture| &picture.drawn) {
            Some(Drawn::Line(line)) if self.figure.sliders.iter().enumerate().any(is_moved) => Some(line),
            _ => None,
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) -> bool {
        let mut is_changed = false;
        controls::row(ui, tokens, |flow| {
            for slider in &self.figure.sliders {
                let Some(value) = self.sliders.get_mut(&slider.name) else { continue };
                let range = slider.min..=slider.max;
                let mut widget = Slider::new(slider.means.get(lang), value, range).step(slider.step).width(150.0);
                if slider.is_log {
                    widget = widget.log();
                }
                let unit = slider.unit.clone();
                let widget = widget.shown(move |value| show::readable(value, &unit)).default_value(slider.start);
                is_changed |= flow.item(|ui| widget.show(ui, tokens)).changed();
            }
        });
        is_changed
    }

    /// Where on the page the figure is, wide ones inside a scroll area of their own.
    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let Ok(picture) = &self.picture else { return };
        let room = ui.available_width();
        let brush = Brush { painter: ui.painter().clone(), tokens, lang };
        let size = size_of(&brush, &picture.drawn, room.max(figure::LEAST_WIDTH));
        let words = if size.x > room + 0.5 {
            vramlab_kit::paint::show_scroll_bar(ui);
            let scrolled = ScrollArea::horizontal().id_salt("author-figure");
            scrolled.show(ui, |ui| self.picture_ui(ui, tokens, lang, size)).inner
        } else {
            self.picture_ui(ui, tokens, lang, size)
        };
        figure::readout_ui(ui, tokens, &words);
    }

    /// Paints the picture, lets the reader steer it, and gives the line under it.
    fn picture_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, size: Vec2) -> String {
        let Ok(picture) = &self.picture else { return String::new() };
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let response = if response.has_focus() { response.interact(Sense::click_and_drag()) } else { response };
        let brush = Brush { painter: ui.painter_at(rect.expand(tokens.px(4.0))), tokens, lang };
        let hover = response.hover_pos();
        let items = paint(&brush, rect, &picture.drawn, self.ghost(), hover);
        let n = items.words.len();
        let at = hover.and_then(|pos| items.at(pos));
        let picked = at.or(self.cursor.filter(|idx| response.has_focus() && *idx < n));
        outline(&brush.painter, tokens, &items, picked);
        let words = items.hovered.clone().or_else(|| picked.and_then(|idx| items.words.get(idx)).cloned());
        let rest = words.clone().unwrap_or_else(|| words::rest(&picture.drawn, lang, self.ghost().is_some()));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, picture.caption.get(lang), words.as_deref().filter(|_| response.has_focus()));
        let before = self.cursor;
        let marker = self.steer(&brush, ui, &response, rect, (n, at));
        let moved = self.cursor.filter(|_| self.cursor != before);
        if let Some((area, _)) = moved.and_then(|idx| items.areas.iter().find(|(_, of)| *of == idx)) {
            ui.scroll_to_rect(area.expand(tokens.px(8.0)), None);
        }
        if let Some((name, value)) = marker {
            self.sliders.insert(name, value);
            self.recompute();
        }
        rest
    }

    /// Pointer and keyboard. Along a line they move the slider of the x axis; elsewhere the cursor goes from thing to
    /// thing.
    fn steer(
        &mut self,
        brush: &Brush<'_>,
        ui: &Ui,
        response: &Response,
        rect: Rect,
        (n, at): (usize, Option<usize>),
    ) -> Option<(String, f64)> {
        if response.clicked_by(egui::PointerButton::Primary) {
            response.request_focus();
            self.cursor = at.or(self.cursor);
        }
        let along = keys(ui, response);
        if let (Drawing::Line(lines), Ok(picture)) = (&self.figure.drawing, &self.picture) {
            let Drawn::Line(drawn) = &picture.drawn else { return None };
            let slider = &self.figure.sliders[lines.sweep];
            let is_held = response.clicked() || response.dragged();
            let pointed = response.interact_pointer_pos().filter(|_| is_held);
            let share = pointed
                .and_then(|pos| line::x_from_pos(brush, rect, line::Seen { line: drawn, start: self.ghost() }, pos));
            let moved = (along != 0).then(|| stepped(slider, lines.x_scale, drawn.at, along));
            let value = share.or(moved).map(|value| snapped(slider, value));
            return value.filter(|value| *value != drawn.at).map(|value| (slider.name.clone(), value));
        }
        if along != 0 && n > 0 {
            let next = self.cursor.map_or(0, |idx| idx as i64 + along);
            self.cursor = Some(next.clamp(0, n as i64 - 1) as usize);
        }
        None
    }
}

/// A value of the slider.
fn snapped(slider: &author::Slider, value: f64) -> f64 {
    let steps = ((value - slider.min) / slider.step).round();
    (slider.min + steps * slider.step).clamp(slider.min, slider.max)
}

/// One key press: a step of the slider, or a fortieth of a logarithmic axis if that is more.
fn stepped(slider: &author::Slider, scale: Scale, value: f64, along: i64) -> f64 {
    let ratio = match scale {
        Scale::Linear => 1.0,
        Scale::Log2 | Scale::Log10 => (slider.max / slider.min.max(f64::MIN_POSITIVE)).powf(1.0 / 40.0),
    };
    let by_ratio = value * ratio.powi(along as i32);
    let by_step = value + along as f64 * slider.step;
    if (by_ratio - value).abs() > slider.step { by_ratio } else { by_step }
}

/// Steps along by arrow keys while the figure has the keyboard.
fn keys(ui: &Ui, response: &Response) -> i64 {
    if !response.has_focus() {
        return 0;
    }
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let presses = |key| ui.input(|input| input.num_presses(key)) as i64;
    let far = 1_000_000 * (presses(Key::End) - presses(Key::Home));
    presses(Key::ArrowRight) - presses(Key::ArrowLeft) + 5 * (presses(Key::PageUp) - presses(Key::PageDown)) + far
}

fn size_of(brush: &Brush<'_>, drawn: &Drawn, width: f32) -> Vec2 {
    match drawn {
        Drawn::Line(line) => line::size(brush, line, width),
        Drawn::Bar(bars) => bar::size(brush, bars, width),
        Drawn::Bytes(grid) => bytes::size(brush, grid, width),
        Drawn::Gantt(gantt) => gantt::size(brush, gantt, width),
        Drawn::Graph(graph) => graph::size(brush, graph, width),
        Drawn::Table(sheet) => sheet::size(brush, sheet, width),
    }
}

fn paint(brush: &Brush<'_>, rect: Rect, drawn: &Drawn, start: Option<&LinePicture>, hover: Option<Pos2>) -> Items {
    match drawn {
        Drawn::Line(line) => line::paint(brush, rect, line::Seen { line, start }, hover),
        Drawn::Bar(bars) => bar::paint(brush, rect, bars),
        Drawn::Bytes(grid) => bytes::paint(brush, rect, grid),
        Drawn::Gantt(gantt) => gantt::paint(brush, rect, gantt),
        Drawn::Graph(graph) => graph::paint(brush, rect, graph),
        Drawn::Table(sheet) => sheet::paint(brush, rect, sheet),
    }
}

/// A frame around what is picked.
fn outline(painter: &Painter, tokens: &Tokens, items: &Items, picked: Option<usize>) {
    for (area, _) in items.areas.iter().filter(|(_, idx)| Some(*idx) == picked) {
        painter.rect_stroke(area.expand(1.0), 3.0, tokens.stroke(1.5, tokens.accent), StrokeKind::Outside);
    }
}

impl View for AuthorFigure {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        if self.controls_ui(ui, tokens, lang) {
            self.recompute();
        }
        ui.add_space(tokens.space.xs);
        if let Err(problem) = &self.picture {
            return figure::problem_ui(ui, tokens, problem);
        }
        self.figure_ui(ui, tokens, lang);
        let Ok(picture) = &self.picture else { return };
        ui.add_space(tokens.space.xs);
        controls::row(ui, tokens, |flow| {
            for key in &picture.key {
                let (value, label) = (show::readable(key.value, &key.unit), key.label.get(lang));
                let exact = format!("{} {}", key.value, if key.unit == "%" { "" } else { &key.unit });
                flow.item(|ui| key_number(ui, tokens, label, &value, Some(exact.trim()), Verdict::Neutral));
            }
            if !self.figure.values.is_empty() {
                let label = if self.shows_work { HIDE.get(lang) } else { SHOW.get(lang) };
                self.shows_work ^= controls::button(flow, tokens, label);
            }
        });
        if self.shows_work {
            work::ui(ui, tokens, lang, &self.figure, &picture.values);
        }
    }

    fn finding(&self, lang: Lang) -> String {
        match &self.picture {
            Ok(picture) => picture.caption.get(lang).to_owned(),
            Err(problem) => problem.clone(),
        }
    }

    fn params(&self) -> Map {
        self.sliders.iter().map(|(name, value)| (name.clone(), vramlab_lesson::answer::json(*value))).collect()
    }

    fn data(&self) -> DataTable {
        self.picture.as_ref().map(|picture| words::data(&picture.drawn)).unwrap_or_default()
    }
}
