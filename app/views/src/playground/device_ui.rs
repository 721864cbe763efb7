//! What the GPU says, below the editor: the compiler's messages with their lines, what the kernel takes of an SM, its results and
//! counters, its PTX.

use super::desk::Desk;
use super::device::{Busy, There, Wish};
use super::{judged_ui, text_ui, words};
use crate::controls::{self, Flow};
use crate::view::ViewAction;
use egui::{Grid, Label, RichText, Ui};
use vramlab_gpu::RunError;
use vramlab_gpu::build::{Severity, Taken};
use vramlab_gpu::protocol::Inspect;
use vramlab_kit::{Button, Tokens, Type};
use vramlab_trace::{OracleOutcome, Point};
use vramlab_units::show::{grouped, number};
use vramlab_units::{Lang, Text};

/// Lines of PTX that are shown; all of them can be copied.
const PTX_ROWS: usize = 400;

/// The device's buttons, among the others.
pub fn buttons_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, desk: &mut Desk) {
    if !desk.is_attended {
        return;
    }
    if desk.device.busy != Busy::No {
        if flow.item(|ui| Button::secondary(words::STOP.get(lang)).show(ui, tokens)).clicked() {
            desk.device.wish = Some(Wish::Cancel);
        }
        return;
    }
    let (why, can_compile) = match &desk.device.there {
        There::Absent { why, can_compile } => (Some(why.get(lang).to_owned()), *can_compile),
        There::Unknown | There::Ready(_) => (None, true),
    };
    for (label, asked) in [(words::COMPILE, Inspect::Only), (words::RUN, Inspect::AndRun)] {
        let is_possible = asked == Inspect::Only && can_compile;
        let button = Button::secondary(label.get(lang)).unavailable(why.as_deref().filter(|_| !is_possible));
        if flow.item(|ui| button.show(ui, tokens)).clicked() {
            desk.device.wish = Some(Wish::Ask(asked));
        }
    }
}

/// One line on whether a GPU is here and what it does.
pub fn state_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &Desk) {
    if !desk.is_attended {
        return;
    }
    let said = match (&desk.device.busy, &desk.device.there) {
        (Busy::Opening(_), _) => words::OPENING.get(lang).to_owned(),
        (Busy::Running(_), There::Ready(name)) => words::RUNNING.get(lang).replace("{}", name),
        (Busy::Running(_), _) => words::COMPILING.get(lang).to_owned(),
        (Busy::No, There::Absent { why, can_compile: true }) => words::NO_RUN.get(lang).replace("{}", why.get(lang)),
        (Busy::No, There::Absent { why, .. }) => words::ABSENT.get(lang).replace("{}", why.get(lang)),
        (Busy::No, _) => return,
    };
    text_ui(ui, tokens, &said, Type::Small, tokens.muted);
}

/// Everything that came back.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<ViewAction>) {
    if !desk.device.knows_anything() {
        return;
    }
    ui.add_space(tokens.space.s);
    let title = match (&desk.device.there, &desk.device.build) {
        (There::Ready(name), _) => words::ON_DEVICE.get(lang).replace("{}", name),
        (There::Absent { .. }, Some(build)) => words::COMPILED.get(lang).replace("{}", &build.arch),
        (There::Absent { .. }, None) => words::COMPILER.get(lang).to_owned(),
        _ => words::ON_GPU.get(lang).to_owned(),
    };
    text_ui(ui, tokens, &title, Type::NoteStrong, tokens.ink);
    if !desk.is_device_current() {
        text_ui(ui, tokens, words::DEVICE_STALE.get(lang), Type::Note, tokens.caution);
    }
    error_ui(ui, tokens, lang, desk);
    messages_ui(ui, tokens, lang, desk);
    if let Some(point) = &desk.device.point {
        result_ui(ui, tokens, lang, desk, point);
    }
    if let Some(build) = &desk.device.build {
        ui.add_space(tokens.space.xs);
        taken_ui(ui, tokens, lang, &build.entries);
    }
    ptx_ui(ui, tokens, lang, desk, actions);
}

fn error_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &Desk) {
    let Some(error) = &desk.device.error else { return };
    let said = error.say(lang);
    let stop = if lang == Lang::Zh { "。" } else { ". " };
    let what = if said.advice.is_empty() { said.what } else { format!("{}{stop}{}", said.what, said.advice) };
    judged_ui(ui, tokens, false, &what);
    if let RunError::Died { last_words: Some(words), .. } = error {
        text_ui(ui, tokens, words, Type::MonoSmall, tokens.muted);
    }
}

/// The compiler's messages; one with a line goes there. A log that is not understood is shown as it came.
fn messages_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk) {
    let said = desk.device.said();
    for said in &said {
        let color = if said.severity == Severity::Error { tokens.bad } else { tokens.caution };
        ui.horizontal_wrapped(|ui| {
            if let Some(line) = said.line
                && Button::quiet(&words::line(line, lang)).show(ui, tokens).clicked()
            {
                desk.jump = Some(line);
            }
            let text = RichText::new(&said.text).font(tokens.font(Type::MonoSmall)).color(color);
            ui.add(Label::new(text).wrap());
        });
    }
    let log = desk.device.log();
    if said.is_empty() && !log.is_empty() {
        text_ui(ui, tokens, log, Type::MonoSmall, tokens.muted);
    }
}

fn result_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &Desk, point: &Point) {
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    if let Some(oracle) = &point.oracle {
        let is_right = matches!(oracle, OracleOutcome::Passed { .. });
        let said = words::oracle(oracle, lang);
        judged_ui(ui, tokens, is_right, &format!("{}{colon}{said}", words::RIGHT.get(lang)));
        if let Some(ns) = point.median_ns().filter(|_| is_right) {
            let said = words::TIME.get(lang).replace("{}", &number(ns / 1e3));
            text_ui(ui, tokens, &said, Type::Note, tokens.ink);
        }
    }
    // A text that the processor does not play is judged here alone.
    for judged in desk.counted().iter().flatten().filter(|_| !desk.is_played()) {
        let comma = if lang == Lang::Zh { "，" } else { ", " };
        let said = format!("{}{comma}{}", words::goal(&judged.goal, lang), words::counted(judged, lang));
        judged_ui(ui, tokens, judged.is_met, &said);
    }
    if point.counters.is_empty() {
        if let Some(rung) = &desk.device.rung {
            let said = words::NO_COUNTERS.get(lang).replace("{}", &rung.why);
            text_ui(ui, tokens, &said, Type::Small, tokens.muted);
        }
        return;
    }
    let cell = |text: String, color| Label::new(RichText::new(text).font(tokens.font(Type::MonoSmall)).color(color));
    egui::ScrollArea::horizontal().id_salt("counters").show(ui, |ui| {
        Grid::new("counters").spacing([tokens.space.m, tokens.space.xxs]).show(ui, |ui| {
            for (name, value) in &point.counters {
                ui.add(cell(name.clone(), tokens.muted));
                ui.add(cell(grouped(*value), tokens.ink));
                ui.end_row();
            }
        });
    });
}

const TAKEN: [Text; 8] = [
    Text::new("kernel", "kernel"),
    Text::new("寄存器", "registers"),
    Text::new("共享内存", "shared"),
    Text::new("本地内存", "local"),
    Text::new("溢出（写/读）", "spilled (st/ld)"),
    Text::new("block/SM", "blocks/SM"),
    Text::new("占用率", "occupancy"),
    Text::new("卡在", "limited by"),
];

fn taken_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, entries: &[Taken]) {
    let cell = |text: String, color| Label::new(RichText::new(text).font(tokens.font(Type::MonoSmall)).color(color));
    egui::ScrollArea::horizontal().id_salt("taken").show(ui, |ui| {
        Grid::new("taken").spacing([tokens.space.m, tokens.space.xxs]).show(ui, |ui| {
            for header in TAKEN {
                ui.add(cell(header.get(lang).to_owned(), tokens.muted));
            }
            ui.end_row();
            for taken in entries {
                let is_spilling = taken.spilled.is_some_and(|(stores, loads)| stores + loads > 0);
                for (column, text) in row(taken, lang).into_iter().enumerate() {
                    let color = if column == 4 && is_spilling { tokens.caution } else { tokens.ink };
                    ui.add(cell(text, color));
                }
                ui.end_row();
            }
        });
    });
}

fn row(taken: &Taken, lang: Lang) -> [String; 8] {
    let shared = taken.static_bytes + taken.dynamic_bytes;
    let spilled = taken.spilled.map_or("–".to_owned(), |(stores, loads)| format!("{stores} / {loads} B"));
    let blocks = match taken.driver_blocks {
        // The driver has the last word; where the model says otherwise, both are shown.
        Some(driver) if driver != taken.blocks_per_sm => format!("{driver} ({})", taken.blocks_per_sm),
        _ => taken.blocks_per_sm.to_string(),
    };
    [
        taken.entry.clone(),
        taken.registers.to_string(),
        format!("{shared} B"),
        format!("{} B", taken.local_bytes),
        spilled,
        blocks,
        format!("{} %", number(100.0 * taken.occupancy)),
        words::limiter(&taken.limiter, lang),
    ]
}

fn ptx_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<ViewAction>) {
    let Some(build) = desk.device.build.as_ref().filter(|build| !build.ptx.is_empty()) else { return };
    let ptx = build.ptx.clone();
    let mut shows = desk.device.shows_ptx;
    controls::row(ui, tokens, |flow| {
        controls::toggle(flow, tokens, words::PTX.get(lang), &mut shows);
        if controls::button(flow, tokens, words::COPY_PTX.get(lang)) {
            actions.push(ViewAction::CopyText(ptx.clone()));
        }
    });
    desk.device.shows_ptx = shows;
    if shows {
        let head: Vec<&str> = ptx.lines().take(PTX_ROWS).collect();
        egui::ScrollArea::both().id_salt("ptx").max_height(tokens.px(300.0)).show(ui, |ui| {
            let text = RichText::new(head.join("\n")).font(tokens.font(Type::MonoSmall)).color(tokens.ink);
            ui.add(Label::new(text).extend());
        });
    }
}
