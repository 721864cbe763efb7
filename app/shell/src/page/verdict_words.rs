//! A verdict in words: did the effect show, how does the ratio compare with the model's, do the counters agree.

use crate::experiments::ExperimentState;
use crate::page::chart;
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_gpu::manifest::Experiment;
use vramlab_gpu::verdict::{Counters, Judged, Verdict};
use vramlab_kit::tokens::{Tokens, Type, Verdict as Tone};
use vramlab_units::{Bytes, Lang, Localized, Text, show};

const SHOWN: Text = Text::new("效应出现", "Effect shown");
const HIDDEN: Text = Text::new("效应被掩盖", "Effect hidden");
const INVALID: Text = Text::new("这次运行无效", "This run is invalid");
const INCOMPLETE: Text = Text::new("还没有跑完", "Not complete yet");
const RATIO: Text = Text::new("{larger} 是 {smaller} 的 {ratio} 倍", "{larger} is {ratio}× {smaller}");
const MODEL_SAYS: Text = Text::new("模型说 {ratio} 倍（误差 {error}）", "the model says {ratio}× (error {error})");
const NO_CAUSE: Text = Text::new("没有找到已知的原因", "none of the known causes applies");
const AGREE: Text =
    Text::new("计数器与模型一致（{n} 项，{rung}）", "counters agree with the model ({n} checks, {rung})");
const DIFFER: Text =
    Text::new("计数器有 {wrong}/{n} 项与模型不同（{rung}）", "{wrong} of {n} counters differ from the model ({rung})");
const STALE: Text =
    Text::new("录制之后内核或实验改过", "the kernel or the experiment has changed since this was recorded");

/// The verdict under a chart: the sentence, the counters, what is wrong with the recording.
pub fn verdict_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    state: &ExperimentState,
    judged: &Judged,
    experiment: &Experiment,
) {
    let (tone, words) = verdict_words(judged, experiment, lang);
    widgets::verdict(ui, tokens, tone, &words);
    let rung = state.shown().map(|(run, _)| rung_name(&run.counter_rung).to_owned()).unwrap_or_default();
    match judged.counters {
        Counters::Agree { n_checked } => {
            let text = AGREE.get(lang).replace("{n}", &n_checked.to_string()).replace("{rung}", &rung);
            ui.label(RichText::new(format!("✓ {text}")).font(tokens.font(Type::Note)).color(tokens.muted));
        }
        Counters::Differ { n_wrong, n_checked } => {
            let text = DIFFER.get(lang).replace("{wrong}", &n_wrong.to_string()).replace("{n}", &n_checked.to_string());
            let text = text.replace("{rung}", &rung);
            ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.caution));
        }
        Counters::NotRead => {}
    }
    if let Some(recorded) = state.shown_recording() {
        if recorded.is_stale {
            ui.label(RichText::new(STALE.get(lang)).font(tokens.font(Type::Note)).color(tokens.caution));
        }
        for damage in &recorded.damage {
            ui.label(RichText::new(damage).font(tokens.font(Type::Note)).color(tokens.caution));
        }
    }
}

/// The rung of the ladder by which counters were read.
fn rung_name(rung: &str) -> &str {
    match rung {
        "cupti" => "CUPTI",
        "ncu" => "Nsight Compute",
        other => other,
    }
}

/// The verdict as a tone and a sentence, the ratio beside the model's.
pub fn verdict_words(judged: &Judged, experiment: &Experiment, lang: Lang) -> (Tone, String) {
    match &judged.verdict {
        Verdict::Shown { ratio, expected, .. } => {
            (Tone::Good, format!("{} · {}", SHOWN.get(lang), ratio_words(experiment, *ratio, *expected, lang)))
        }
        Verdict::Hidden { ratio, expected, cause, .. } => {
            let why = cause.as_ref().map_or(NO_CAUSE.get(lang), |cause| cause.says.get(lang));
            let ratio = ratio_words(experiment, *ratio, *expected, lang);
            (Tone::Caution, format!("{} · {ratio} · {why}", HIDDEN.get(lang)))
        }
        Verdict::Invalid { series, x, why } => {
            let why = chart::invalid_words(why, &experiment.measure.unit);
            (Tone::Bad, format!("{} · {series} @ {}: {}", INVALID.get(lang), show::number(*x), why.get(lang)))
        }
        Verdict::Incomplete => (Tone::Neutral, INCOMPLETE.get(lang).to_owned()),
    }
}

fn ratio_words(experiment: &Experiment, ratio: f64, expected: Option<f64>, lang: Lang) -> String {
    let name = |reference: &str| point_name(experiment, reference, lang);
    let mut out = RATIO
        .get(lang)
        .replace("{larger}", &name(&experiment.effect.larger))
        .replace("{smaller}", &name(&experiment.effect.smaller))
        .replace("{ratio}", &show::number(ratio));
    if let Some(expected) = expected.filter(|expected| *expected != 0.0) {
        let error = show::with_unit((ratio - expected).abs() / expected, "%");
        let model = MODEL_SAYS.get(lang).replace("{ratio}", &show::number(expected)).replace("{error}", &error);
        out = format!("{out}{}{model}", if lang == Lang::Zh { "；" } else { "; " });
    }
    out
}

/// `read@8` as the reader knows it: the category's name, or the parameter's value.
fn point_name(experiment: &Experiment, reference: &str, lang: Lang) -> String {
    let Some((series, x)) = vramlab_gpu::plan::split_reference(reference) else { return reference.to_owned() };
    let at = experiment.sweep.values.iter().position(|value| *value == x);
    let label = at.and_then(|at| experiment.sweep.labels.get(at)).map(|label| label.get(lang).to_owned());
    let name = match experiment.sweep.title.get(lang) {
        "" => &experiment.sweep.param,
        title => title,
    };
    let is_bytes = experiment.sweep.param.ends_with("_bytes");
    let number = if is_bytes { show::bytes_binary(Bytes(x as u64)) } else { show::number(x) };
    let x = label.unwrap_or_else(|| format!("{name} {number}"));
    if experiment.series.len() < 2 {
        return x;
    }
    let title = experiment.series.iter().find(|candidate| candidate.id == series);
    format!("{} ({x})", title.map_or(series, |series| series.title.get(lang)))
}

/// The finding in both languages, for the chart's spoken label.
pub fn finding(judged: &Judged, experiment: &Experiment) -> Localized {
    Localized::both(verdict_words(judged, experiment, Lang::Zh).1, verdict_words(judged, experiment, Lang::En).1)
}
