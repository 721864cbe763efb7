//! The texts of the exports. CSV and JSON carry unrounded numbers with units in the header and English keys; Markdown is
//! a report for people, in their language.

use super::sheet::{Line, Sheet};
use super::versus::{Versus, change_word, drift_words, gain_words, overall_words, point_name};
use crate::notebook::Entry;
use serde_json::{Value, json};
use std::fmt::Write as _;
use vramlab_gpu::manifest::Experiment;
use vramlab_gpu::verdict::{Compared, PointChange};
use vramlab_model::samples::Interval;
use vramlab_units::{Lang, Text, show};

/// Version of the JSON of a comparison.
pub const REPORT_SCHEMA: u32 = 1;

const NOTEBOOK: Text = Text::new("显存实验台 · 笔记本", "VRAM Lab notebook");
const VERSUS: Text = Text::new("基线与候选", "Baseline against candidate");
const BASELINE: Text = Text::new("基线", "baseline");
const CANDIDATE: Text = Text::new("候选", "candidate");
const HYPOTHESIS: Text = Text::new("假设", "hypothesis");
const NO_HYPOTHESIS: Text = Text::new("（没有写）", "(none written)");
const VERDICT: Text = Text::new("结论", "verdict");
const LEVEL: Text = Text::new("证据等级", "level of evidence");
const LACKS: Text = Text::new("再上一级还缺", "for the next level");
const FLOOR: Text = Text::new("下界", "floor");
const FLOOR_MEANS: Text = Text::new(
    "下界：按要搬的字节与峰值带宽，一次启动最少要的时间；表里是它占实测时间的份额，100 % 就是快到头了",
    "floor: the least time of a launch by the bytes it must move and the peak bandwidth; tables give its share of the \
     measured time, and 100 % is as fast as it gets",
);
const CONFIGURATION: Text = Text::new("配置", "configuration");
const SAMPLES: Text = Text::new("样本", "samples");
const POINT: Text = Text::new("测点", "point");
const PREDICTED: Text = Text::new("预测", "predicted");
const MEASURED: Text = Text::new("实测", "measured");
const ERROR: Text = Text::new("误差", "error");
const INTERVAL: Text = Text::new("95 % 区间", "95 % interval");
const GAIN: Text = Text::new("提升", "gain");
const LENS: Text = Text::new("视角", "lens");
const METHOD: Text = Text::new(
    "方法：中位数的 95 % 区间取次序统计量，两个区间不重叠才算有差别，每边至少 6 个样本",
    "method: 95 % intervals of the medians from order statistics; two medians differ when the intervals do not overlap, \
     from six samples a side",
);

const CSV_HEADER: &str = "run,experiment,backend,device,driver,date,mode,level,hypothesis,series,x,predicted,measured,\
                          low95,high95,unit,relative_error,n_samples,median_ns,mad_ns,floor_ns,invalid";

/// One line a point; every sample is in the JSON export.
pub fn notebook_csv(kept: &[(&Entry, Sheet)]) -> String {
    let mut out = format!("{CSV_HEADER}\n");
    for (entry, sheet) in kept {
        for line in &sheet.lines {
            let cells: Vec<String> = csv_cells(entry, sheet, line).iter().map(|cell| csv_cell(cell)).collect();
            let _ = writeln!(out, "{}", cells.join(","));
        }
    }
    out
}

fn csv_cells(entry: &Entry, sheet: &Sheet, line: &Line) -> Vec<String> {
    let run = &entry.run;
    let level = sheet.evidence.as_ref().map_or("", |evidence| evidence.level.id());
    vec![
        entry.n.to_string(),
        run.experiment.clone(),
        run.backend.id().to_owned(),
        run.device.name.clone(),
        run.device.driver.clone(),
        run.date.clone(),
        run.mode.clone(),
        level.to_owned(),
        entry.hypothesis.clone(),
        line.series.clone(),
        exact(line.x),
        exact(line.predicted),
        exact(line.measured),
        exact(line.interval.map(|ends| ends[0])),
        exact(line.interval.map(|ends| ends[1])),
        sheet.unit.clone(),
        exact(line.error()),
        line.n_samples.to_string(),
        exact(line.median_ns),
        exact(line.mad_ns),
        exact(line.floor_ns),
        line.invalid.as_ref().map(|why| why.get(Lang::En).to_owned()).unwrap_or_default(),
    ]
}

fn exact(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Quotes a cell where needed, and disarms what a spreadsheet would take for a formula.
fn csv_cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let text = if !is_number && text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Every kept run as a report.
pub fn notebook_markdown(kept: &[(&Entry, Sheet, Option<&Experiment>)], lang: Lang) -> String {
    let mut out = format!("# {}\n\n{}\n", NOTEBOOK.get(lang), FLOOR_MEANS.get(lang));
    for (entry, sheet, experiment) in kept {
        let _ = writeln!(out, "\n## {} · {}\n", entry.n, one_line(&sheet.title));
        out.push_str(&facts(entry, sheet, lang));
        out.push_str(&points_table(sheet, *experiment, lang));
    }
    out
}

/// Hypothesis, verdict, level and configuration as a list.
fn facts(entry: &Entry, sheet: &Sheet, lang: Lang) -> String {
    let mut out = String::new();
    let mut item = |name: Text, text: &str| {
        let _ = writeln!(out, "- {}{}{}", name.get(lang), if lang == Lang::Zh { "：" } else { ": " }, one_line(text));
    };
    item(HYPOTHESIS, if entry.hypothesis.is_empty() { NO_HYPOTHESIS.get(lang) } else { &entry.hypothesis });
    item(VERDICT, &sheet.verdict);
    if let Some(evidence) = &sheet.evidence {
        item(LEVEL, &format!("{} · {}", evidence.level.id(), evidence.level.means().get(lang)));
        if !evidence.lacks.is_empty() {
            item(LACKS, evidence.lacks.get(lang));
        }
    }
    item(CONFIGURATION, &configuration(entry, sheet));
    out.push('\n');
    out
}

/// Device, driver, date, back end, and what stayed the same over the run.
fn configuration(entry: &Entry, sheet: &Sheet) -> String {
    let run = &entry.run;
    let mut parts = vec![
        run.experiment.clone(),
        run.device.name.clone(),
        run.device.driver.clone(),
        run.date.clone(),
        run.backend.id().to_owned(),
        run.mode.clone(),
    ];
    parts.extend(sheet.workload.iter().map(|(key, value)| format!("{key} = {value}")));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn points_table(sheet: &Sheet, experiment: Option<&Experiment>, lang: Lang) -> String {
    let unit = if sheet.unit.is_empty() || sheet.unit == "1" { String::new() } else { format!(" ({})", sheet.unit) };
    let head = [POINT, PREDICTED, MEASURED, INTERVAL, ERROR, SAMPLES, FLOOR].map(|text| text.get(lang));
    let mut out = format!(
        "| {} | {}{unit} | {}{unit} | {} | {} | {} | {} |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        head[0], head[1], head[2], head[3], head[4], head[5], head[6]
    );
    for line in &sheet.lines {
        let name = match experiment {
            Some(experiment) => point_name(experiment, &line.series, line.x, lang),
            None => format!("{} · {}", line.series, line.x.map_or_else(|| "–".to_owned(), show::number)),
        };
        let measured = match &line.invalid {
            Some(why) => why.get(lang).to_owned(),
            None => rounded(line.measured),
        };
        let interval = line.interval.map_or_else(|| "–".to_owned(), |[low, high]| between(low, high));
        let error = line.error().map_or_else(|| "–".to_owned(), |error| format!("{:+.1} %", error * 100.0));
        let floor = line.share_of_floor().map_or_else(|| "–".to_owned(), |share| show::with_unit(share, "%"));
        let cells = [name, rounded(line.predicted), measured, interval, error, line.n_samples.to_string(), floor];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn rounded(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), show::number)
}

fn between(low: f64, high: f64) -> String {
    format!("{} … {}", show::number(low), show::number(high))
}

/// Text of the reader's in one line, so that it cannot start a heading or a list of its own.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Two runs and what came of comparing them.
pub struct Pair<'a> {
    pub baseline: (&'a Entry, Sheet),
    pub candidate: (&'a Entry, Sheet),
    /// The lens through which both are seen; empty is the measure.
    pub lens: String,
    pub versus: &'a Versus,
    pub experiment: Option<&'a Experiment>,
}

/// The comparison as a report.
pub fn versus_markdown(pair: &Pair<'_>, lang: Lang) -> String {
    let mut out = format!("# {} · {}\n\n", VERSUS.get(lang), one_line(&pair.candidate.1.title));
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    match pair.versus.compared() {
        Some(compared) => {
            let (_, word, sentence) = overall_words(compared, lang);
            let _ = writeln!(out, "**{word}**{colon}{sentence}\n");
            let caution = drift_words(compared, lang).unwrap_or_default();
            for line in [caution.as_str(), METHOD.get(lang), FLOOR_MEANS.get(lang)] {
                let _ = if line.is_empty() { Ok(()) } else { writeln!(out, "{line}\n") };
            }
        }
        None => {
            let _ = writeln!(out, "{}\n", pair.versus.refusal(lang).unwrap_or_default());
        }
    }
    if !pair.lens.is_empty() {
        let _ = writeln!(out, "{}{colon}{}\n", LENS.get(lang), pair.lens);
    }
    for (name, (entry, sheet)) in [(BASELINE, &pair.baseline), (CANDIDATE, &pair.candidate)] {
        let _ = writeln!(out, "## {} · {}\n", name.get(lang), entry.n);
        out.push_str(&facts(entry, sheet, lang));
    }
    out.push_str(&changes_table(pair, lang));
    out
}

fn changes_table(pair: &Pair<'_>, lang: Lang) -> String {
    let Some(compared) = pair.versus.compared() else { return String::new() };
    let unit = if compared.unit == "1" { String::new() } else { format!(" ({})", compared.unit) };
    let mut out = format!(
        "| {} | {}{unit} | {}{unit} | {} | {} | {} | {} |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
        POINT.get(lang),
        BASELINE.get(lang),
        CANDIDATE.get(lang),
        GAIN.get(lang),
        FLOOR.get(lang),
        SAMPLES.get(lang),
        VERDICT.get(lang)
    );
    for point in &compared.points {
        let name = pair
            .experiment
            .map_or_else(|| point.series.clone(), |experiment| point_name(experiment, &point.series, point.x, lang));
        let side = |interval: Option<Interval>, median: Option<f64>| match interval {
            Some(found) => format!("{} [{}]", show::number(found.median), between(found.low, found.high)),
            None => rounded(median),
        };
        let cells = [
            name,
            side(point.baseline, point.medians[0]),
            side(point.candidate, point.medians[1]),
            gain_words(point),
            floor_words(pair, point),
            format!("{} / {}", point.n_samples[0], point.n_samples[1]),
            change_word(point.change).get(lang).to_owned(),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// The same point on the sheets of both runs.
fn lines<'a>(pair: &'a Pair<'_>, point: &PointChange) -> [Option<&'a Line>; 2] {
    [&pair.baseline.1, &pair.candidate.1]
        .map(|sheet| sheet.lines.iter().find(|line| line.series == point.series && line.x == point.x))
}

/// How close both came to the floor: `92.3 % → 97.2 %`.
fn floor_words(pair: &Pair<'_>, point: &PointChange) -> String {
    let share = |line: Option<&Line>| {
        let share = line.and_then(Line::share_of_floor);
        share.map_or_else(|| "–".to_owned(), |share| show::with_unit(share, "%"))
    };
    let [base, new] = lines(pair, point);
    format!("{} → {}", share(base), share(new))
}

/// One line a point of both runs.
pub fn versus_csv(pair: &Pair<'_>) -> String {
    let mut out = String::from(
        "baseline,candidate,experiment,lens,series,x,unit,base_median,base_low95,base_high95,base_n,cand_median,\
         cand_low95,cand_high95,cand_n,gain,floor_ns,base_time_ns,cand_time_ns,verdict\n",
    );
    for point in pair.versus.compared().iter().flat_map(|compared| &compared.points) {
        let low = |side: Option<Interval>| exact(side.map(|found| found.low));
        let high = |side: Option<Interval>| exact(side.map(|found| found.high));
        let [base, new] = lines(pair, point);
        let cells = [
            pair.baseline.0.n.to_string(),
            pair.candidate.0.n.to_string(),
            pair.candidate.0.run.experiment.clone(),
            pair.lens.clone(),
            point.series.clone(),
            exact(point.x),
            pair.versus.compared().map(|compared| compared.unit.clone()).unwrap_or_default(),
            exact(point.medians[0]),
            low(point.baseline),
            high(point.baseline),
            point.n_samples[0].to_string(),
            exact(point.medians[1]),
            low(point.candidate),
            high(point.candidate),
            point.n_samples[1].to_string(),
            exact(point.gain),
            exact(new.and_then(|line| line.floor_ns)),
            exact(base.and_then(|line| line.median_ns)),
            exact(new.and_then(|line| line.median_ns)),
            point.change.id().to_owned(),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

/// The comparison with both runs whole, so that it can be opened again.
pub fn versus_json(pair: &Pair<'_>) -> String {
    let side = |interval: Option<Interval>, median: Option<f64>, n: usize| {
        json!({
            "median": median,
            "low95": interval.map(|found| found.low),
            "high95": interval.map(|found| found.high),
            "n_samples": n,
        })
    };
    let compared = pair.versus.compared();
    let points: Vec<Value> = compared
        .iter()
        .flat_map(|compared| &compared.points)
        .map(|point| {
            json!({
                "series": point.series,
                "x": point.x,
                "params": point.params,
                "baseline": side(point.baseline, point.medians[0], point.n_samples[0]),
                "candidate": side(point.candidate, point.medians[1], point.n_samples[1]),
                "gain": point.gain,
                "floor_ns": lines(pair, point)[1].and_then(|line| line.floor_ns),
                "verdict": point.change.id(),
            })
        })
        .collect();
    let level = |sheet: &Sheet| sheet.evidence.as_ref().map(|evidence| evidence.level.id());
    let report = json!({
        "vramlab_report": REPORT_SCHEMA,
        "lens": (!pair.lens.is_empty()).then_some(&pair.lens),
        "verdict": compared.map(|compared| compared.overall().id()),
        "refused": pair.versus.refusal(Lang::En),
        "unit": compared.map(|compared| compared.unit.clone()),
        "within_drift": compared.map(Compared::is_within_drift),
        "less_is_better": compared.map(|compared| compared.is_less_better),
        "points": points,
        "levels": { "baseline": level(&pair.baseline.1), "candidate": level(&pair.candidate.1) },
        "baseline": pair.baseline.0,
        "candidate": pair.candidate.0,
    });
    serde_json::to_string_pretty(&report).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_a_spreadsheet_would_run_is_disarmed() {
        assert_eq!(csv_cell("=1+1"), "'=1+1");
        assert_eq!(csv_cell("-1.5"), "-1.5");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn a_hypothesis_cannot_start_a_heading() {
        assert_eq!(one_line("half\n# not a heading"), "half # not a heading");
    }
}
