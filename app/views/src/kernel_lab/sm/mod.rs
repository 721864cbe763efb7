//! One SM and what keeps further blocks out: slots, registers, shared memory; where occupancy falls next; the waves of a grid.
//!
//! `question.rs` is what the reader sets and the models' answer, `layout.rs` the places, `paint.rs` the SM, `cliff.rs` the cliff
//! finder, `words.rs` the sentences.

mod cliff;
mod layout;
mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{ComboBox, EventFilter, Key, PointerButton, Response, RichText, Role, Sense, Ui, WidgetInfo};
use layout::Geometry;
use paint::Scene;
pub use paint::{register, shared};
use question::{Answer, MOST_GRID, MOST_SMS, MOST_STATIC, Question, SHARED_STEP};
use vramlab_kit::{Area, Mark, Slider, Tokens, Type, Verdict, legend};
use vramlab_model::kernels::architecture::{MOST_REGISTERS, Sm};
use vramlab_model::kernels::occupancy_cliff::{Axis, Stretch};
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

const CAPABILITY: Text = Text::new("计算能力", "Capability");
const THREADS: Text = Text::new("线程", "Threads");
const REGISTERS: Text = Text::new("寄存器", "Registers");
const DYNAMIC: Text = Text::new("动态共享内存", "Dynamic shared");
const STATIC: Text = Text::new("静态", "Static");
const OPT_IN: Text = Text::new("申明要超过 48 KiB", "asks for more than 48 KiB");
const AXIS: Text = Text::new("断崖图横轴", "Cliffs along");
const GRID: Text = Text::new("网格 block", "Blocks of the grid");
const SMS: Text = Text::new("SM 个数", "SMs");
const RESERVED: Text = Text::new("驱动留的 1 KiB", "1 KiB kept by the driver");
const FREE: Text = Text::new("空着", "free");

/// See the module's docs.
pub struct SmOccupancy {
    question: Question,
}

impl SmOccupancy {
    fn launch_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let sm = flow.item(|ui| capability_ui(ui, tokens, lang, question.sm));
            if let Some(sm) = sm {
                question.set_sm(sm);
            }
            let mut number =
                |label: Text, value: &mut u64, (least, most, step, start): (u64, u64, u64, u64), is_bytes: bool| {
                    let mut at = *value as f64;
                    let slider = Slider::new(label.get(lang), &mut at, least as f64..=most as f64).step(step as f64);
                    let slider = slider.default_value(start as f64).width(110.0);
                    let shown = move |at: f64| {
                        let whole = at.round().max(0.0) as u64;
                        if is_bytes { words::bytes(whole) } else { whole.to_string() }
                    };
                    if flow.item(|ui| slider.shown(shown).show(ui, tokens)).changed() {
                        *value = at.round().max(0.0) as u64;
                    }
                };
            let launch = &mut question.launch;
            number(THREADS, &mut launch.threads, (0, 1024, 32, 256), false);
            launch.threads = launch.threads.max(1);
            number(REGISTERS, &mut launch.registers, (0, MOST_REGISTERS, 1, 32), false);
            let most = Axis::Shared.ends(question.sm).1 / SHARED_STEP * SHARED_STEP;
            number(DYNAMIC, &mut launch.dynamic_bytes, (0, most, SHARED_STEP, 0), true);
            number(STATIC, &mut launch.static_bytes, (0, MOST_STATIC, SHARED_STEP, 0), true);
            controls::toggle(flow, tokens, OPT_IN.get(lang), &mut launch.is_opt_in);
        });
    }

    fn grid_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let question = &mut self.question;
        controls::row(ui, tokens, |flow| {
            let options = Axis::ALL.map(|axis| (axis, words::axis(axis).get(lang).to_owned()));
            controls::choice(flow, tokens, AXIS.get(lang), &mut question.axis, &options);
            let mut number = |label: Text, value: &mut u64, most: u64, start: u64| {
                let mut at = *value as f64;
                let slider = Slider::new(label.get(lang), &mut at, 1.0..=most as f64).step(1.0).log();
                let slider =
                    slider.default_value(start as f64).width(100.0).shown(|at| (at.round() as u64).to_string());
                if flow.item(|ui| slider.show(ui, tokens)).changed() {
                    *value = at.round().max(1.0) as u64;
                }
            };
            number(GRID, &mut question.grid, MOST_GRID, 1057);
            number(SMS, &mut question.sms, MOST_SMS, 132);
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.question);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click_and_drag());
        self.drag(&response, &geometry);
        self.keys(ui, &response);
        let answer = self.question.answer();
        let over = response.hover_pos();
        let picked = over.and_then(|at| geometry.block_at(&self.question, &answer, at));
        let stair = over.filter(|at| geometry.chart.contains(*at)).and_then(|at| {
            let value = geometry.value_at(&self.question, at);
            answer.stretches.iter().copied().find(|part| (part.from..=part.to).contains(&value))
        });
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        let scene =
            Scene { painter, tokens, lang, geometry: &geometry, question: &self.question, answer: &answer, picked };
        scene.paint();
        scene.cliff(stair);
        figure::focus_ring(ui, tokens, &response);
        let said = self.readout(&answer, picked, stair, over.is_some_and(|at| geometry.waves.contains(at)), lang);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(words::HINT.get(lang)));
        let marks = [
            (Mark::Square(tokens.tint(paint::warp(tokens), 0.9)), words::WARPS.get(lang)),
            (Mark::Square(tokens.tint(paint::register(tokens), 0.9)), words::REGISTERS.get(lang)),
            (Mark::Square(tokens.tint(paint::shared(tokens), 0.9)), words::SHARED.get(lang)),
            (Mark::Square(tokens.tint(tokens.muted, 0.55)), RESERVED.get(lang)),
            (Mark::Area(Area::Free), FREE.get(lang)),
        ];
        legend(ui, tokens, &marks);
        figure::readout_ui(ui, tokens, &said);
    }

    fn readout(
        &self,
        answer: &Answer,
        picked: Option<u64>,
        stair: Option<Stretch>,
        is_wave: bool,
        lang: Lang,
    ) -> String {
        match (picked, stair) {
            (Some(block), _) => words::block(&self.question, block, lang),
            (None, Some(part)) => words::stair(&self.question, part, lang),
            (None, None) if is_wave => words::waves(&self.question, answer, lang),
            (None, None) => words::HINT.get(lang).to_owned(),
        }
    }

    fn drag(&mut self, response: &Response, geometry: &Geometry) {
        let Some(at) = response.interact_pointer_pos() else { return };
        if response.clicked_by(PointerButton::Primary) || response.drag_started_by(PointerButton::Primary) {
            response.request_focus();
        }
        let from = response.ctx.input(|input| input.pointer.press_origin()).unwrap_or(at);
        let is_inside = geometry.chart.expand(geometry.label).contains(from);
        if is_inside && (response.dragged_by(PointerButton::Primary) || response.clicked_by(PointerButton::Primary)) {
            self.question.set_value(geometry.value_at(&self.question, at));
        }
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let question = &mut self.question;
        if pressed(Key::ArrowRight) {
            question.set_value(question.moved(true));
        } else if pressed(Key::ArrowLeft) {
            question.set_value(question.moved(false));
        } else if pressed(Key::ArrowUp) || pressed(Key::ArrowDown) {
            let place = question.answer().place;
            let rise = place.and_then(|place| place.rise).map(|part| part.to);
            let fall = place.and_then(|place| place.fall).map(|part| part.from);
            if let Some(value) = if pressed(Key::ArrowUp) { rise } else { fall } {
                question.set_value(value);
            }
        } else if response.clicked() && !response.clicked_by(PointerButton::Primary) {
            let at = Axis::ALL.iter().position(|axis| *axis == question.axis).unwrap_or(0);
            question.axis = Axis::ALL[(at + 1) % Axis::ALL.len()];
        }
    }

    fn key_numbers(&self, answer: &Answer) -> Vec<KeyNumber> {
        let most = self.question.sm.warps;
        let judged = if answer.blocks == 0 { Verdict::Bad } else { Verdict::Neutral };
        let mut numbers = vec![
            KeyNumber::new(Text::new("一个 SM 上的 block", "blocks on an SM"), answer.blocks.to_string())
                .judged(judged),
            KeyNumber::new(Text::new("占用率", "occupancy"), words::percent(answer.occupancy))
                .fraction(format!("{} ÷ {most}", answer.warps)),
        ];
        if let Some((n, share, _)) = answer.waves {
            numbers.push(KeyNumber::new(Text::new("几波", "waves"), n.to_string()));
            numbers.push(
                KeyNumber::new(Text::new("位置用上", "places used"), words::percent(share)).exact(share.to_string()),
            );
        }
        numbers
    }
}

/// The SM chosen from the list, if another was.
fn capability_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, now: Sm) -> Option<Sm> {
    ui.label(RichText::new(CAPABILITY.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    let mut chosen = None;
    let named = |sm: Sm| match sm.cc {
        80 => "8.0 · A100".to_owned(),
        89 => "8.9 · L40S, L4".to_owned(),
        90 => "9.0 · H100, H200".to_owned(),
        100 => "10.0 · B200".to_owned(),
        _ => sm.name(),
    };
    let text = RichText::new(named(now)).font(tokens.font(Type::Note));
    let wide = tokens.px(150.0).min(ui.available_width() - tokens.px(12.0));
    let response = ComboBox::from_id_salt("capability").selected_text(text).width(wide).truncate().show_ui(ui, |ui| {
        for sm in question::sms() {
            if ui.selectable_label(sm == now, named(sm)).clicked() {
                chosen = Some(sm);
            }
        }
    });
    let name = format!("{}: {}", CAPABILITY.get(lang), named(now));
    response.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    chosen
}

impl View for SmOccupancy {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.launch_ui(ui, tokens, lang);
        self.grid_ui(ui, tokens, lang);
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
        let unit = if self.question.axis == Axis::Shared { "shared (B)" } else { self.question.axis.name() };
        let header = [&format!("{unit}, first"), &format!("{unit}, last"), "blocks", "warps", "occupancy"];
        let header = header.map(str::to_owned).to_vec();
        let most = self.question.sm.warps as f64;
        let row = |part: &Stretch| {
            let share = (part.warps as f64 / most).to_string();
            let mut row: Vec<String> = [part.from, part.to, part.blocks, part.warps].map(|n| n.to_string()).to_vec();
            row.push(share);
            row
        };
        DataTable { header, rows: self.question.answer().stretches.iter().map(row).collect() }
    }
}

impl Visualizer for SmOccupancy {
    const ID: &'static str = "sm_occupancy";
    const TITLE: Text = Text::new("一个 SM 放得下几个 block", "How many blocks one SM holds");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)? })
    }
}
