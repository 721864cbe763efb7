//! What is printed of a run: predicted, measured and error side by side with a small chart, the verdict, the evidence.
//! Live and recorded runs go through the same code. `track.rs` draws the marks.

use super::layout::{COLUMNS, plain, right, width, wrap};
use super::say::{Ink, Say};
use super::track::{Axis, track};
use serde_json::{Value, json};
use vramlab_gpu::manifest::{Experiment, Kernel};
use vramlab_gpu::verdict::{self, Counters, Judged, JudgedPoint, Verdict};
use vramlab_kit::tokens::Verdict as Tone;
use vramlab_shell::experiments::Recorded;
use vramlab_shell::page::chart::invalid_words;
use vramlab_shell::page::point_name;
use vramlab_shell::page::verdict_words::{Words, words};
use vramlab_trace::{Backend, Run};
use vramlab_units::{Lang, Text, show};

pub const SCHEMA: u32 = 1;

const PREDICTED: Text = Text::new("预测", "predicted");
const MEASURED: Text = Text::new("实测", "measured");
const ERROR: Text = Text::new("误差", "error");
const LIVE: Text = Text::new("现场测量", "measured just now");
const RECORDED: Text = Text::new("录制", "recorded");
const DRIVER: Text = Text::new("驱动", "driver");
const AGREE: Text = Text::new("硬件计数器与模型一致（{n} 项）", "hardware counters agree with the model ({n} checks)");
const DIFFER: Text =
    Text::new("硬件计数器有 {wrong}/{n} 项与模型不同", "{wrong} of {n} hardware counters differ from the model");
const STALE: Text = Text::new(
    "录制之后内核或实验改过；`vramlab record` 能重录",
    "the kernel or the experiment has changed since this was recorded; `vramlab record` makes a new one",
);
const KEY: Text = Text::new("○ 预测  ● 实测  ◉ 两者重合", "○ predicted  ● measured  ◉ both");
const IN_UNIT: Text = Text::new("，单位 {}", ", in {}");
const LOG: Text = Text::new("，对数刻度", ", on a logarithmic scale");
const QUICK: Text = Text::new("快速：点和样本较少", "quick: fewer points and samples");
const FULL: Text = Text::new("完整测量", "full measurement");
const SCRIPTED: Text = Text::new("脚本演的，不是测量", "played from a script, not measured");

/// A judged run.
pub struct Report<'a> {
    pub experiment: &'a Experiment,
    kernel: &'a Kernel,
    pub run: &'a Run,
    pub judged: Judged,
    /// The recording it comes from; nothing if it has just been measured.
    recorded: Option<&'a Recorded>,
}

impl<'a> Report<'a> {
    pub fn live(run: &'a Run, (experiment, kernel): (&'a Experiment, &'a Kernel)) -> Self {
        Self { experiment, kernel, run, judged: verdict::judge(run, experiment, kernel), recorded: None }
    }

    pub fn recorded(recorded: &'a Recorded, known: (&'a Experiment, &'a Kernel)) -> Self {
        Self { recorded: Some(recorded), ..Self::live(&recorded.run, known) }
    }

    pub fn is_recorded(&self) -> bool {
        self.recorded.is_some()
    }

    /// The run as text for a terminal.
    pub fn text(&self, say: &Say) -> String {
        let lang = say.lang;
        let mut out = vec![say.ink(Ink::Strong, &plain(self.experiment.title.get(lang)))];
        out.push(say.ink(Ink::Muted, &plain(&wrap(&self.evidence(lang), COLUMNS, ""))));
        out.push(String::new());
        out.extend(self.chart(say));
        out.push(String::new());
        out.extend(self.words(say));
        out.join("\n")
    }

    /// Table and chart in one: a line a point.
    pub fn chart(&self, say: &Say) -> Vec<String> {
        let lang = say.lang;
        let points = &self.judged.points;
        let labels: Vec<String> = points.iter().map(|point| self.label(point, lang)).collect();
        let title = plain(&self.x_title(lang));
        let first = labels.iter().map(|label| width(label)).chain([width(&title)]).max().unwrap_or_default().max(4);
        let values = points.iter().flat_map(|point| [point.predicted, point.value]).flatten();
        let axis = Axis::over(values, self.experiment.measure.scale.starts_with("log"));
        let columns = 78usize.saturating_sub(first + 2 + 11 + 11 + 9).clamp(16, 40);
        let mut out = self.caption(say, axis);
        out.push(self.header(say, &title, first, axis, columns));
        let mut series = None;
        for (point, label) in points.iter().zip(&labels) {
            if self.experiment.series.len() > 1 && series != Some(&point.series) {
                series = Some(&point.series);
                out.push(say.ink(Ink::Strong, &format!("  {}", self.series_title(&point.series, lang))));
            }
            out.push(self.line(say, point, &right(label, first), axis, columns));
        }
        out
    }

    /// What is drawn, in which unit and on which scale; what the marks mean.
    fn caption(&self, say: &Say, axis: Axis) -> Vec<String> {
        let measure = &self.experiment.measure;
        let mut title = measure.title.get(say.lang).to_owned();
        let unit = unit_name(&measure.unit, say.lang);
        if !unit.is_empty() && !title.to_lowercase().contains(&unit) {
            title.push_str(&say.text(IN_UNIT).replace("{}", &unit));
        }
        if axis.is_log {
            title.push_str(say.text(LOG));
        }
        vec![plain(&wrap(&title, COLUMNS, "  ")), say.ink(Ink::Muted, &format!("  {}", say.text(KEY)))]
    }

    fn header(&self, say: &Say, title: &str, first: usize, axis: Axis, columns: usize) -> String {
        let unit = match unit_name(&self.experiment.measure.unit, say.lang) {
            unit if unit.is_empty() => unit,
            unit => format!(" {unit} "),
        };
        let (lo, hi) = (show::number(axis.lo), show::number(axis.hi));
        let room = columns.saturating_sub(width(&lo) + width(&hi) + 2);
        let middle = if width(&unit) + 2 <= room { unit } else { String::new() };
        let (before, after) = ((room - width(&middle)) / 2, (room - width(&middle)).div_ceil(2));
        let scale = format!("{lo} {}{middle}{} {hi}", "─".repeat(before), "─".repeat(after));
        let head = format!(
            "  {}  {}  {}  {}  ",
            right(title, first),
            right(say.text(PREDICTED), 9),
            right(say.text(MEASURED), 9),
            right(say.text(ERROR), 7)
        );
        say.ink(Ink::Muted, &plain(&(head + &scale)))
    }

    fn line(&self, say: &Say, point: &JudgedPoint, label: &str, axis: Axis, columns: usize) -> String {
        let number = |value: Option<f64>| right(&plain(&value.map_or("–".to_owned(), show::number)), 9);
        let marks = match (&point.invalid, &point.why) {
            (Some(invalid), _) => {
                let words = invalid_words(invalid, &self.experiment.measure.unit);
                say.ink(Ink::Bad, &plain(words.get(say.lang)))
            }
            (None, Some(why)) if point.value.is_none() => say.ink(Ink::Muted, &plain(why)),
            _ => track(axis, columns, point.predicted, point.value),
        };
        let line = format!(
            "  {label}  {}  {}  {}  {marks}",
            number(point.predicted),
            say.ink(Ink::Accent, &number(point.value)),
            right(&point.rel_error.map_or("–".to_owned(), percent), 7),
        );
        line.trim_end().to_owned()
    }

    /// Verdict, counters, and what is wrong with a recording.
    pub fn words(&self, say: &Say) -> Vec<String> {
        let Words { tone, effect, far_off } = words(&self.judged, self.experiment, say.lang);
        let (ink, mark) = match tone {
            Tone::Good => (Ink::Good, "✓"),
            Tone::Bad => (Ink::Bad, "✗"),
            Tone::Caution => (Ink::Caution, "!"),
            Tone::Neutral => (Ink::Muted, "·"),
        };
        let mut out = vec![say.ink(ink, &under(mark, &effect))];
        out.extend(far_off.map(|text| say.ink(Ink::Caution, &under("!", &text))));
        match self.judged.counters {
            Counters::NotRead => {}
            Counters::Agree { n_checked } => {
                let text = say.text(AGREE).replace("{n}", &n_checked.to_string());
                out.push(say.ink(Ink::Good, &under("✓", &text)));
            }
            Counters::Differ { n_wrong, n_checked } => {
                let text = say.text(DIFFER).replace("{wrong}", &n_wrong.to_string());
                out.push(say.ink(Ink::Caution, &under("!", &text.replace("{n}", &n_checked.to_string()))));
            }
        }
        if let Some(recorded) = self.recorded {
            let stale = recorded.is_stale.then(|| say.text(STALE).to_owned());
            out.extend(stale.iter().chain(&recorded.damage).map(|text| say.ink(Ink::Caution, &under("!", text))));
        }
        out
    }

    /// Where the numbers come from.
    pub fn evidence(&self, lang: Lang) -> String {
        let device = &self.run.device;
        let kind = match (self.recorded.is_some(), self.run.backend) {
            (_, Backend::Fake) => SCRIPTED,
            (true, _) => RECORDED,
            (false, _) => LIVE,
        };
        let mut parts = vec![kind.get(lang).to_owned(), device.name.clone()];
        if !device.driver.is_empty() {
            let is_gpu = self.run.backend == Backend::Cuda;
            parts.push(if is_gpu { format!("{} {}", DRIVER.get(lang), device.driver) } else { device.driver.clone() });
        }
        let mode = match self.run.mode.as_str() {
            "quick" => QUICK.get(lang),
            "full" => FULL.get(lang),
            other => other,
        };
        parts.extend([self.run.date.clone(), mode.to_owned()]);
        parts.join(" · ")
    }

    /// What is swept, with its unit where the values do not carry one.
    fn x_title(&self, lang: Lang) -> String {
        let sweep = &self.experiment.sweep;
        let title = point_name::title(sweep, lang);
        let param = self.kernel.params.iter().find(|param| param.key == sweep.param);
        let unit = param.map(|param| unit_name(&param.unit, lang)).unwrap_or_default();
        let says_it = |unit: &str| title.contains(unit.trim_end_matches('s'));
        if unit.is_empty() || !sweep.labels.is_empty() || says_it(&unit) {
            return title;
        }
        match lang {
            Lang::Zh => format!("{title}（{unit}）"),
            Lang::En => format!("{title} ({unit})"),
        }
    }

    fn label(&self, point: &JudgedPoint, lang: Lang) -> String {
        point.x.map_or("?".to_owned(), |x| plain(&point_name::value(&self.experiment.sweep, x, lang)))
    }

    fn series_title(&self, id: &str, lang: Lang) -> String {
        let found = self.experiment.series.iter().find(|series| series.id == id);
        found.map_or(id.to_owned(), |series| plain(series.title.get(lang)))
    }

    /// The run as data.
    pub fn json(&self) -> Value {
        let mut out = json!({
            "schema": SCHEMA,
            "experiment": self.experiment.id,
            "title": self.experiment.title,
            "evidence": if self.is_recorded() { "recorded" } else { "live" },
            "backend": self.run.backend,
            "mode": self.run.mode,
            "date": self.run.date,
            "device": self.run.device,
            "program": self.run.program,
            "settings": self.run.settings,
            "unit": self.experiment.measure.unit,
            "verdict": self.judged.verdict.id(),
            "effect": self.effect(),
            "counters": self.counters(),
            "points": self.judged.points.iter().map(point_json).collect::<Vec<_>>(),
        });
        if let Some(recorded) = self.recorded {
            out["trace"] = json!({
                "path": recorded.path, "is_stale": recorded.is_stale, "damage": recorded.damage,
            });
        }
        out
    }

    fn effect(&self) -> Value {
        let effect = &self.experiment.effect;
        let mut out = json!({
            "larger": effect.larger,
            "smaller": effect.smaller,
            "at_least": effect.at_least,
            "sentence": effect.sentence,
        });
        match &self.judged.verdict {
            Verdict::Shown { ratio, expected, range } => {
                out["ratio"] = json!(ratio);
                out["expected"] = json!(expected);
                out["range"] = json!(range);
            }
            Verdict::Hidden { ratio, expected, range, cause } => {
                out["ratio"] = json!(ratio);
                out["expected"] = json!(expected);
                out["range"] = json!(range);
                out["cause"] = json!(cause.as_ref().map(|cause| json!({ "id": cause.id, "says": cause.says })));
            }
            Verdict::Invalid { series, x, why } => out["invalid"] = json!({ "series": series, "x": x, "why": why }),
            Verdict::Incomplete => {}
        }
        if let Some(error) = self.judged.verdict.model_error() {
            out["model_error"] = json!(error);
            out["model_is_far_off"] = json!(self.judged.verdict.is_far_off());
        }
        out
    }

    fn counters(&self) -> Value {
        let rung = &self.run.counter_rung;
        match self.judged.counters {
            Counters::NotRead => json!({ "rung": rung, "n_checked": 0, "n_wrong": 0 }),
            Counters::Agree { n_checked } => json!({ "rung": rung, "n_checked": n_checked, "n_wrong": 0 }),
            Counters::Differ { n_wrong, n_checked } => {
                json!({ "rung": rung, "n_checked": n_checked, "n_wrong": n_wrong })
            }
        }
    }
}

fn point_json(point: &JudgedPoint) -> Value {
    json!({
        "series": point.series,
        "x": point.x,
        "predicted": point.predicted,
        "measured": point.value,
        "p10_p90": point.range,
        "rel_error": point.rel_error,
        "spread": point.spread,
        "invalid": point.invalid,
        "why": point.why,
        "counters": point.counters.iter().map(|check| json!({
            "metric": check.metric, "counted": check.counted, "expected": check.expected, "agrees": check.agrees,
        })).collect::<Vec<_>>(),
    })
}

/// A unit as a word where it is one; sizes in bytes carry theirs with the number.
fn unit_name(unit: &str, lang: Lang) -> String {
    let name = match unit {
        "1" | "" | "B" => return String::new(),
        "line" => Text::new("缓存行", "cache lines"),
        "cycle" => Text::new("周期", "cycles"),
        "word" => Text::new("字", "words"),
        "element" => Text::new("元素", "elements"),
        "thread" => Text::new("线程", "threads"),
        "row" => Text::new("行", "rows"),
        "field" => Text::new("字段", "fields"),
        other => return other.to_owned(),
    };
    name.get(lang).to_owned()
}

/// `+7.1 %`, `−12 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let text = match percent.abs() {
        p if p >= 99.5 => format!("{:.0}", percent.abs()),
        p if p < 0.05 => return "0 %".to_owned(),
        p => format!("{p:.1}"),
    };
    format!("{}{text} %", if percent < 0.0 { "−" } else { "+" })
}

/// `text` wrapped beside a mark.
fn under(mark: &str, text: &str) -> String {
    // Thin spaces hold numbers and units together; they become plain ones after the lines are set.
    let body = plain(&wrap(text, COLUMNS, "    "));
    format!("  {mark} {}", body.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_carry_their_sign() {
        assert_eq!(percent(0.071), "+7.1 %");
        assert_eq!(percent(-0.5), "−50.0 %");
        assert_eq!(percent(-1.5), "−150 %");
        assert_eq!(percent(0.0001), "0 %");
    }
}
