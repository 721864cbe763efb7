//! Baseline against candidate: two kept runs, their comparison or the reason why there is none, in words.

use crate::library::Library;
use crate::notebook::Entry;
use vramlab_gpu::manifest::Experiment;
use vramlab_gpu::verdict::{Compared, DRIFT, Difference, Overall, PointChange, Side, compare};
use vramlab_kit::tokens::Verdict as Tone;
use vramlab_model::samples::Change;
use vramlab_units::{Lang, Text, show};

const IMPROVED: Text = Text::new("变好", "Improved");
const REGRESSED: Text = Text::new("变差", "Regressed");
const NO_DIFFERENCE: Text = Text::new("看不出差别", "No difference detected");
const INSUFFICIENT: Text = Text::new("样本不够", "Insufficient samples");
const MIXED: Text = Text::new("有好有坏", "Mixed");
const AT: Text = Text::new("{n} 个点{word}", "{word} at {n}");
const OF: Text = Text::new("共 {n} 个点", "of {n} points");
const DRIFTS: Text = Text::new(
    "差别都在 {} 以内：同一张卡上重启一次程序，中位数也会移动这么多。两边交替多跑几次再下结论",
    "All differences are within {}: on the same card a new start of the program moves medians as much. Run both in turn \
     a few more times before you conclude",
);
const NO_EXPERIMENT: Text = Text::new(
    "这个版本里没有实验“{}”，判断不了",
    "this version does not have the experiment \"{}\", so the runs cannot be judged",
);

/// What came of setting two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub enum Versus {
    Compared(Compared),
    Refused(Difference),
    /// The program does not have the experiment.
    Unknown(String),
}

impl Versus {
    /// `lenses` are those through which the two runs were chosen; empty is the measure.
    pub fn of<'a>(baseline: &'a Entry, candidate: &'a Entry, lenses: [&'a str; 2], library: &Library) -> Self {
        let Some((experiment, kernel)) = library.experiment(&baseline.run.experiment) else {
            return Self::Unknown(baseline.run.experiment.clone());
        };
        let side = |idx: usize, entry: &'a Entry| Side {
            run: &entry.run,
            lens: Some(lenses[idx]).filter(|id| !id.is_empty()),
        };
        let found = compare(side(0, baseline), side(1, candidate), experiment, kernel);
        found.map_or_else(Self::Refused, Self::Compared)
    }

    /// The reason why there is no comparison.
    pub fn refusal(&self, lang: Lang) -> Option<String> {
        match self {
            Self::Compared(_) => None,
            Self::Refused(difference) => Some(difference.sentence(lang)),
            Self::Unknown(experiment) => Some(NO_EXPERIMENT.get(lang).replace("{}", experiment)),
        }
    }

    /// The same behind a title that says "not comparable".
    pub fn reason(&self, lang: Lang) -> Option<String> {
        match self {
            Self::Refused(difference) => Some(difference.reason(lang)),
            _ => self.refusal(lang),
        }
    }

    pub fn compared(&self) -> Option<&Compared> {
        match self {
            Self::Compared(compared) => Some(compared),
            _ => None,
        }
    }
}

/// A point's verdict in a word.
pub fn change_word(change: Change) -> Text {
    match change {
        Change::Improved => IMPROVED,
        Change::Regressed => REGRESSED,
        Change::NoDifference => NO_DIFFERENCE,
        Change::Insufficient => INSUFFICIENT,
    }
}

pub fn change_tone(change: Change) -> Tone {
    match change {
        Change::Improved => Tone::Good,
        Change::Regressed => Tone::Bad,
        Change::NoDifference => Tone::Neutral,
        Change::Insufficient => Tone::Caution,
    }
}

/// The verdict over all points: a tone, a word, and how many points say what.
pub fn overall_words(compared: &Compared, lang: Lang) -> (Tone, String, String) {
    let (tone, word) = match compared.overall() {
        Overall::Improved => (Tone::Good, IMPROVED),
        Overall::Regressed => (Tone::Bad, REGRESSED),
        Overall::NoDifference => (Tone::Neutral, NO_DIFFERENCE),
        Overall::Insufficient => (Tone::Caution, INSUFFICIENT),
        Overall::Mixed => (Tone::Caution, MIXED),
    };
    let all = [Change::Improved, Change::Regressed, Change::NoDifference, Change::Insufficient];
    let mut parts: Vec<String> = Vec::new();
    for change in all {
        let n = compared.count(change);
        if n > 0 {
            let word = change_word(change).get(lang);
            let word = if lang == Lang::En { word.to_lowercase() } else { word.to_owned() };
            parts.push(AT.get(lang).replace("{n}", &n.to_string()).replace("{word}", &word));
        }
    }
    let total = OF.get(lang).replace("{n}", &compared.points.len().to_string());
    let sentence = match lang {
        Lang::Zh => format!("{total}：{}", parts.join("，")),
        Lang::En => format!("{} {total}", parts.join(", ")),
    };
    (tone, word.get(lang).to_owned(), sentence)
}

/// A caution where a new start of the program alone would make such a difference.
pub fn drift_words(compared: &Compared, lang: Lang) -> Option<String> {
    let percent = show::with_unit(DRIFT, "%");
    compared.is_within_drift().then(|| DRIFTS.get(lang).replace("{}", &percent))
}

/// A point as the reader knows it: the series where there are several, and the swept value or its label.
pub fn point_name(experiment: &Experiment, series: &str, x: Option<f64>, lang: Lang) -> String {
    let label = x.and_then(|x| {
        let at = experiment.sweep.values.iter().position(|value| *value == x)?;
        experiment.sweep.labels.get(at).map(|label| label.get(lang).to_owned())
    });
    let x = label.or_else(|| x.map(show::number)).unwrap_or_else(|| "–".to_owned());
    if experiment.series.len() < 2 {
        return x;
    }
    let title = experiment.series.iter().find(|known| known.id == series);
    let title = title.map_or(series, |series| series.title.get(lang));
    if experiment.sweep.values.len() == 1 { title.to_owned() } else { format!("{title} · {x}") }
}

/// `1.20×`, or a dash.
pub fn gain_words(point: &PointChange) -> String {
    point.gain.map_or_else(|| "–".to_owned(), |gain| format!("{gain:.3}×"))
}
