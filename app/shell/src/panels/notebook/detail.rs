//! What an open row tells: hypothesis, level of evidence with what is missing, configuration, and the points with their
//! intervals and their share of the floor.

use super::table::{self, Cell};
use crate::action::Action;
use crate::app::App;
use crate::report::{Line, Sheet, point_name};
use egui::{Frame, Label, Margin, RichText, TextEdit, Ui};
use vramlab_gpu::manifest::Experiment;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Lang, Text, show};

const HYPOTHESIS: Text = Text::new("假设", "Hypothesis");
const HINT: Text = Text::new("你改了什么？为什么会变？", "What did you change, and why should it matter?");
const LACKS: Text = Text::new("再上一级还缺：{}", "For the next level: {}");
const POINT: Text = Text::new("测点", "Point");
const MEDIAN: Text = Text::new("中位数", "Median");
const INTERVAL: Text = Text::new("95 % 区间", "95 %");
const FLOOR: Text = Text::new("下界", "Floor");
const FLOOR_MEANS: Text = Text::new(
    "下界是按要搬的字节和峰值带宽算出的最短时间；100 % 就是快到头了。",
    "The floor is the least time by the bytes to move and the peak bandwidth; 100 % is as fast as it gets.",
);
const MORE: Text = Text::new("还有 {n} 个点，导出里都有。", "{n} more points; the exports have them all.");
/// Points that are listed; a sweep of three series has more than a margin should hold.
const MOST_POINTS: usize = 12;

pub fn ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, idx: usize, actions: &mut Vec<Action>) {
    let Some(entry) = app.notebook.entries.get(idx) else { return };
    let sheet = app.notebook_view.sheet(entry, &app.notebook, &app.library, lang);
    let margin = Margin { left: 28, right: 12, top: 4, bottom: 12 };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.set_width(ui.available_width());
        hypothesis_ui(ui, tokens, lang, idx, &entry.hypothesis, actions);
        note(ui, tokens, tokens.ink, &sheet.verdict);
        if let Some(evidence) = &sheet.evidence {
            note(ui, tokens, tokens.ink, &format!("{} · {}", evidence.level.id(), evidence.level.means().get(lang)));
            if !evidence.lacks.is_empty() {
                note(ui, tokens, tokens.muted, &LACKS.get(lang).replace("{}", evidence.lacks.get(lang)));
            }
        }
        let same: Vec<String> = sheet.workload.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if !same.is_empty() {
            let text = RichText::new(same.join(" · ")).font(tokens.font(Type::MonoSmall)).color(tokens.muted);
            ui.add(Label::new(text).wrap());
        }
        let experiment = app.library.experiment(&entry.run.experiment).map(|(experiment, _)| experiment);
        points_ui(ui, tokens, lang, &sheet, experiment);
    });
}

fn note(ui: &mut Ui, tokens: &Tokens, color: egui::Color32, text: &str) {
    ui.add(Label::new(RichText::new(text).font(tokens.font(Type::Note)).color(color)).wrap());
}

fn hypothesis_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, idx: usize, kept: &str, actions: &mut Vec<Action>) {
    let mut text = kept.to_owned();
    let label = ui.label(RichText::new(HYPOTHESIS.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
    let edit = TextEdit::multiline(&mut text)
        .hint_text(HINT.get(lang))
        .font(tokens.font(Type::Note))
        .desired_rows(2)
        .desired_width(f32::INFINITY);
    if ui.add(edit).labelled_by(label.id).changed() {
        actions.push(Action::SetHypothesis { run_idx: idx, text });
    }
    ui.add_space(tokens.space.xxs);
}

/// Widths of name, median, interval and share of the floor.
const SHARES: [f32; 4] = [0.3, 0.21, 0.31, 0.18];

fn points_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, sheet: &Sheet, experiment: Option<&Experiment>) {
    if sheet.lines.is_empty() {
        return;
    }
    ui.add_space(tokens.space.xs);
    ui.spacing_mut().item_spacing.y = 0.0;
    let title = experiment.map(|experiment| experiment.measure.title.get(lang)).unwrap_or_default();
    let unit = if sheet.unit == "1" { String::new() } else { format!(" · {}", sheet.unit) };
    note_small(ui, tokens, &format!("{title}{unit}"));
    let has_floor = sheet.lines.iter().any(|line| line.floor_ns.is_some());
    let head = |text: Text| Cell::new(text.get(lang), Type::Small, tokens.muted);
    let floor = if has_floor { head(FLOOR) } else { Cell::new("", Type::Small, tokens.muted) };
    let row = table::row(ui, tokens, SHARES, [head(POINT), head(MEDIAN), head(INTERVAL), floor]);
    if has_floor {
        row.on_hover_text(FLOOR_MEANS.get(lang));
    }
    for line in sheet.lines.iter().take(MOST_POINTS) {
        line_ui(ui, tokens, lang, line, experiment);
    }
    let n_more = sheet.lines.len().saturating_sub(MOST_POINTS);
    if n_more > 0 {
        note_small(ui, tokens, &MORE.get(lang).replace("{n}", &n_more.to_string()));
    }
}

fn note_small(ui: &mut Ui, tokens: &Tokens, text: &str) {
    let text = RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted);
    ui.add(Label::new(text).wrap());
}

fn line_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, line: &Line, experiment: Option<&Experiment>) {
    let dash = || "–".to_owned();
    let name = experiment.map_or_else(
        || line.x.map_or_else(dash, show::number),
        |experiment| point_name(experiment, &line.series, line.x, lang),
    );
    let mono = |text: Option<String>| Cell::new(text.unwrap_or_else(dash), Type::MonoSmall, tokens.ink);
    let interval = line.interval.map(|[low, high]| format!("{}–{}", show::number(low), show::number(high)));
    let share = line.floor_ns.map(|_| line.share_of_floor().map_or_else(dash, |share| show::with_unit(share, "%")));
    let measured = match line.invalid {
        Some(_) => Cell::new("×", Type::MonoSmall, tokens.bad),
        None => mono(line.measured.map(show::number)),
    };
    let share = Cell::new(share.unwrap_or_default(), Type::MonoSmall, tokens.ink);
    let row =
        table::row(ui, tokens, SHARES, [Cell::new(name, Type::Small, tokens.ink), measured, mono(interval), share]);
    if let Some(why) = &line.invalid {
        row.on_hover_text(why.get(lang));
    }
}
