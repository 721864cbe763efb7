//! Baseline against candidate in the panel: the two chosen runs, the verdict or the refusal, the points, the exports.

use super::row::{BASELINE, CANDIDATE};
use super::state::{Pick, Side};
use super::table::{self, Cell};
use crate::action::{Action, ExportFormat};
use crate::app::App;
use crate::report::{
    self, Pair, Sheet, Versus, change_tone, change_word, drift_words, gain_words, overall_words, point_name,
};
use crate::widgets;
use egui::{Label, RichText, Ui};
use vramlab_gpu::manifest::Experiment;
use vramlab_gpu::verdict::{Compared, PointChange};
use vramlab_kit::Icon;
use vramlab_kit::tokens::{Tokens, Type, Verdict as Tone};
use vramlab_kit::widgets::{Button, Note, finding};
use vramlab_model::samples::Interval;
use vramlab_units::{Lang, Text, show};

const TITLE: Text = Text::new("基线与候选", "Baseline against candidate");
const CHOOSE: Text = Text::new("再选一次运行", "choose another run");
const CLEAR: Text = Text::new("清除比较", "Clear the comparison");
const REFUSED: Text = Text::new("不能比较", "Not comparable");
const METHOD: Text =
    Text::new("中位数的 95 % 区间不重叠才算有差别。", "Medians differ only if their 95 % intervals do not overlap.");
const EXPORT: Text = Text::new("报告", "Report");
const MORE: Text = Text::new("还有 {n} 个点，报告里都有。", "{n} more points; the report has them all.");
const GAIN: Text = Text::new("倍数", "Gain");
const MOST_POINTS: usize = 8;

/// Nothing until a run is chosen.
pub fn ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    let picks = Side::ALL.map(|side| app.notebook_view.pick(side).cloned());
    if picks.iter().all(Option::is_none) {
        return;
    }
    let found = app.notebook_view.versus(&app.notebook, &app.library);
    let mut is_cleared = false;
    widgets::card_small(ui, tokens, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new(TITLE.get(lang)).font(tokens.font(Type::NoteStrong)));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                is_cleared = Button::icon_only(Icon::Close, CLEAR.get(lang)).show(ui, tokens).clicked();
            });
        });
        for (pick, word) in picks.iter().zip([BASELINE, CANDIDATE]) {
            slot_ui(app, ui, tokens, lang, pick.as_ref(), word);
        }
        let Some((base_idx, new_idx, versus)) = found else { return };
        ui.add_space(tokens.space.xs);
        let experiment = app.library.experiment(&app.notebook.entries[base_idx].run.experiment);
        let experiment = experiment.map(|(experiment, _)| experiment);
        result_ui(ui, tokens, lang, &versus, experiment);
        if let Some(format) = super::formats_ui(ui, tokens, EXPORT.get(lang)) {
            let lens = picks[0].as_ref().map(|pick| pick.lens.clone()).unwrap_or_default();
            actions.push(export(app, lang, [base_idx, new_idx], &versus, lens, format));
        }
    });
    if is_cleared {
        app.notebook_view.forget_picks();
    }
    ui.add_space(tokens.space.s);
}

/// One side: the run's number, title and date, or what to do.
fn slot_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang, pick: Option<&Pick>, word: Text) {
    let entry = pick.and_then(|pick| app.notebook.entries.iter().find(|entry| entry.n == pick.n));
    let text = match (entry, pick) {
        (Some(entry), Some(pick)) => {
            let title = app.library.experiment_title(&entry.run.experiment, lang);
            let lens = app.library.lens_title(&entry.run.experiment, &pick.lens, lang);
            match lens {
                Some(lens) => format!("#{} · {title} · {lens}", entry.n),
                None => format!("#{} · {} · {title}", entry.n, entry.run.date),
            }
        }
        _ => CHOOSE.get(lang).to_owned(),
    };
    ui.horizontal(|ui| {
        let label = RichText::new(word.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
        ui.label(label);
        let color = if entry.is_some() { tokens.ink } else { tokens.muted };
        ui.add(Label::new(RichText::new(text).font(tokens.font(Type::Note)).color(color)).truncate());
    });
}

fn result_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, versus: &Versus, experiment: Option<&Experiment>) {
    let Some(compared) = versus.compared() else {
        let why = versus.reason(lang).unwrap_or_default();
        Note::new(Tone::Caution, REFUSED.get(lang), &why).show(ui, tokens);
        return;
    };
    let (tone, word, sentence) = overall_words(compared, lang);
    finding(ui, tokens, tone, &word, &sentence);
    if let Some(caution) = drift_words(compared, lang) {
        Note::new(Tone::Caution, "", &caution).show(ui, tokens);
    }
    let small = |text: &str| RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted);
    ui.add(Label::new(small(METHOD.get(lang))).wrap());
    ui.add_space(tokens.space.xxs);
    table_ui(ui, tokens, lang, compared, experiment);
    let n_more = compared.points.len().saturating_sub(MOST_POINTS);
    if n_more > 0 {
        ui.label(small(&MORE.get(lang).replace("{n}", &n_more.to_string())));
    }
}

/// Widths of name, baseline, candidate and gain.
const SHARES: [f32; 4] = [0.25, 0.23, 0.27, 0.25];

fn table_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, compared: &Compared, experiment: Option<&Experiment>) {
    let spacing = std::mem::replace(&mut ui.spacing_mut().item_spacing.y, 0.0);
    let head = |text: &str| Cell::new(text, Type::Small, tokens.muted);
    let unit = if compared.unit == "1" { "" } else { compared.unit.as_str() };
    let cells = [head(unit), head(BASELINE.get(lang)), head(CANDIDATE.get(lang)), head(GAIN.get(lang))];
    table::row(ui, tokens, SHARES, cells);
    for point in compared.points.iter().take(MOST_POINTS) {
        let name = experiment
            .map_or_else(|| point.series.clone(), |experiment| point_name(experiment, &point.series, point.x, lang));
        point_ui(ui, tokens, lang, name, point);
    }
    ui.spacing_mut().item_spacing.y = spacing;
}

fn point_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, name: String, point: &PointChange) {
    let tone = change_tone(point.change);
    let (sign, color) = match tone {
        Tone::Good => ("▲", tokens.good),
        Tone::Bad => ("▼", tokens.bad),
        Tone::Caution => ("?", tokens.caution),
        Tone::Neutral => ("=", tokens.muted),
    };
    let median = |median: Option<f64>| {
        Cell::new(median.map_or_else(|| "–".to_owned(), show::number), Type::MonoSmall, tokens.ink)
    };
    let gain = Cell::new(format!("{sign} {}", gain_words(point)), Type::MonoSmall, color);
    let cells = [Cell::new(name, Type::Small, tokens.ink), median(point.medians[0]), median(point.medians[1]), gain];
    let interval = |found: Option<Interval>, n: usize| match found {
        Some(found) => format!("[{}, {}] n = {n}", show::number(found.low), show::number(found.high)),
        None => format!("n = {n}"),
    };
    let [base, new] = [(point.baseline, point.n_samples[0]), (point.candidate, point.n_samples[1])];
    let about = format!(
        "{} · 95 % {} → {}",
        change_word(point.change).get(lang),
        interval(base.0, base.1),
        interval(new.0, new.1)
    );
    table::row(ui, tokens, SHARES, cells).on_hover_text(about);
}

fn export(app: &App, lang: Lang, idx: [usize; 2], versus: &Versus, lens: String, format: ExportFormat) -> Action {
    let side = |idx: usize| {
        let entry = &app.notebook.entries[idx];
        (entry, Sheet::of(entry, &app.notebook, &app.library, lang))
    };
    let experiment = app.library.experiment(&app.notebook.entries[idx[0]].run.experiment);
    let experiment = experiment.map(|(experiment, _)| experiment);
    let pair = Pair { baseline: side(idx[0]), candidate: side(idx[1]), lens, versus, experiment };
    let (name, text) = match format {
        ExportFormat::Json => ("json", report::versus_json(&pair)),
        ExportFormat::Csv => ("csv", report::versus_csv(&pair)),
        ExportFormat::Markdown => ("md", report::versus_markdown(&pair, lang)),
    };
    Action::SaveText { name: format!("vramlab-report.{name}"), text }
}
