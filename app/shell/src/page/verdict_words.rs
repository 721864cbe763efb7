//! A verdict in words: did the effect show, how does the ratio compare with the model's, do the counters agree. That the
//! effect is there and that the model is right are two marks. `point_name.rs` names the points.

use crate::experiments::ExperimentState;
use crate::page::chart;
use crate::page::point_name;
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_gpu::manifest::Experiment;
use vramlab_gpu::verdict::{Counters, Judged, Verdict};
use vramlab_kit::tokens::{Tokens, Type, Verdict as Tone};
use vramlab_units::{Lang, Localized, Text, show};

const SHOWN: Text = Text::new("效应出现", "Effect shown");
const HIDDEN: Text = Text::new("效应被掩盖", "Effect hidden");
const INVALID: Text = Text::new("这次运行无效", "This run is invalid");
const INCOMPLETE: Text = Text::new("还没有跑完", "Not complete yet");
const RATIO: Text = Text::new("{measure}，{ratio} 倍：{pair}", "{measure}, {ratio}×: {pair}");
const MODEL_SAYS: Text = Text::new("模型说 {ratio} 倍（误差 {error}）", "the model says {ratio}× (error {error})");
const FAR_OFF: Text = Text::new(
    "模型差得远 · 实测 {measured} 倍，模型 {model} 倍（误差 {error}）",
    "The model is far off · measured {measured}×, model {model}× (error {error})",
);
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
    let Words { tone, effect, far_off } = words(judged, experiment, lang);
    widgets::verdict(ui, tokens, tone, &effect);
    if let Some(far_off) = far_off {
        widgets::verdict(ui, tokens, Tone::Caution, &far_off);
    }
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

/// A verdict for the eye: the effect with its tone, and what is to be said of a model that is far off.
pub struct Words {
    pub tone: Tone,
    pub effect: String,
    pub far_off: Option<String>,
}

/// The two marks of a verdict.
pub fn words(judged: &Judged, experiment: &Experiment, lang: Lang) -> Words {
    let verdict = &judged.verdict;
    let (tone, effect) = match verdict {
        Verdict::Shown { ratio, .. } => {
            (Tone::Good, format!("{} · {}", SHOWN.get(lang), ratio_words(experiment, *ratio, verdict, lang)))
        }
        Verdict::Hidden { ratio, cause, .. } => {
            let why = cause.as_ref().map_or(NO_CAUSE.get(lang), |cause| cause.says.get(lang));
            let ratio = ratio_words(experiment, *ratio, verdict, lang);
            (Tone::Caution, format!("{} · {ratio} · {why}", HIDDEN.get(lang)))
        }
        Verdict::Invalid { series, x, why } => {
            let why = chart::invalid_words(why, &experiment.measure.unit);
            (Tone::Bad, format!("{} · {series} @ {}: {}", INVALID.get(lang), show::number(*x), why.get(lang)))
        }
        Verdict::Incomplete => (Tone::Neutral, INCOMPLETE.get(lang).to_owned()),
    };
    Words { tone, effect, far_off: far_off(verdict, lang) }
}

/// The verdict as a tone and one text, for notebooks and exports.
pub fn verdict_words(judged: &Judged, experiment: &Experiment, lang: Lang) -> (Tone, String) {
    let Words { tone, effect, far_off } = words(judged, experiment, lang);
    (tone, far_off.map_or(effect.clone(), |far_off| format!("{effect} · {far_off}")))
}

fn far_off(verdict: &Verdict, lang: Lang) -> Option<String> {
    let (measured, model) = verdict.ratios().filter(|_| verdict.is_far_off())?;
    let text = FAR_OFF.get(lang).replace("{measured}", &show::number(measured));
    Some(text.replace("{model}", &show::number(model)).replace("{error}", &signed(verdict.model_error()?)))
}

/// A relative error with its sign, to a tenth of a per cent: `+10.7 %`.
fn signed(error: f64) -> String {
    let rounded = (error.abs() * 1000.0).round() / 1000.0;
    let sign = match (rounded == 0.0, error < 0.0) {
        (true, _) => "",
        (false, true) => "−",
        (false, false) => "+",
    };
    format!("{sign}{}", show::with_unit(rounded, "%"))
}

fn ratio_words(experiment: &Experiment, ratio: f64, verdict: &Verdict, lang: Lang) -> String {
    let pair = point_name::pair(experiment, &experiment.effect.larger, &experiment.effect.smaller, lang);
    let measure = experiment.measure.title.get(lang).split([',', ';', '，', '；']).next().unwrap_or_default();
    let out =
        RATIO.get(lang).replace("{measure}", measure).replace("{pair}", &pair).replace("{ratio}", &show::number(ratio));
    let out = point_name::tidy(&out);
    let agrees = verdict.ratios().zip(verdict.model_error()).filter(|_| !verdict.is_far_off());
    let Some(((_, expected), error)) = agrees else { return out };
    let model = MODEL_SAYS.get(lang).replace("{ratio}", &show::number(expected)).replace("{error}", &signed(error));
    format!("{out}{}{model}", if lang == Lang::Zh { "；" } else { "; " })
}

/// The finding in both languages, for the chart's spoken label.
pub fn finding(judged: &Judged, experiment: &Experiment) -> Localized {
    Localized::both(verdict_words(judged, experiment, Lang::Zh).1, verdict_words(judged, experiment, Lang::En).1)
}
