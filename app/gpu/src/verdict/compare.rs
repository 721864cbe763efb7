//! May two runs stand side by side? Only if nothing but the device's mood differs; otherwise the difference is named.

use super::change::Side;
use std::collections::BTreeMap;
use vramlab_trace::{Point, Run};
use vramlab_units::{Lang, Map, Text};

/// The first thing in which two runs differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub what: Text,
    /// The parameter or setting, if it is one.
    pub key: Option<String>,
    pub left: String,
    pub right: String,
}

impl Difference {
    fn new(what: Text, left: impl Into<String>, right: impl Into<String>) -> Option<Self> {
        let (left, right) = (left.into(), right.into());
        (left != right).then_some(Self { what, key: None, left, right })
    }

    /// The refusal in a whole sentence.
    pub fn sentence(&self, lang: Lang) -> String {
        match lang {
            Lang::Zh => format!("这两次运行不能比较：{}", self.reason(lang)),
            Lang::En => format!("these runs cannot be compared: {}", self.reason(lang)),
        }
    }

    /// What differs, and how.
    pub fn reason(&self, lang: Lang) -> String {
        let what = match &self.key {
            Some(key) if lang == Lang::Zh => format!("{} {key} ", self.what.zh),
            Some(key) => format!("{} {key}", self.what.en),
            None => self.what.get(lang).to_owned(),
        };
        match lang {
            Lang::Zh => format!("{what}不同，一次是 {}，另一次是 {}", self.left, self.right),
            Lang::En => format!("{what} differs, {} against {}", self.left, self.right),
        }
    }
}

/// `Ok` if the runs answer the same question on the same device: one may be called faster than the other. Dates,
/// drivers, clocks and the number of samples may differ; that is what a comparison is for.
pub fn comparable(left: &Run, right: &Run) -> Result<(), Difference> {
    let found = Difference::new(Text::new("实验", "the experiment"), &left.experiment, &right.experiment)
        .or_else(|| Difference::new(Text::new("后端", "the back end"), left.backend.id(), right.backend.id()))
        .or_else(|| Difference::new(Text::new("设备", "the device"), &left.device.name, &right.device.name))
        .or_else(|| differing_facts(left, right))
        .or_else(|| {
            let what = Text::new("内核或实验的版本", "the version of the kernel or experiment");
            Difference::new(what, &left.content_hash, &right.content_hash)
        })
        .or_else(|| differing_maps(Text::new("设置", "the setting"), &left.settings, &right.settings))
        .or_else(|| differing_points(left, right));
    found.map_or(Ok(()), Err)
}

/// [`comparable`] for runs that are seen through a lens: two lenses show different things even of one run.
pub fn comparable_through(left: Side<'_>, right: Side<'_>) -> Result<(), Difference> {
    const MEASURE: &str = "measure";
    comparable(left.run, right.run)?;
    let lens = Text::new("视角", "the lens");
    let differs = Difference::new(lens, left.lens.unwrap_or(MEASURE), right.lens.unwrap_or(MEASURE));
    differs.map_or(Ok(()), Err)
}

/// Parameters that make a workload, by the word that readers know them by; the others keep their key.
fn workload(key: &str) -> Option<Text> {
    Some(match key {
        "model" | "n_params" => Text::new("模型", "the model"),
        "dtype" | "precision" | "elem_bytes" => Text::new("数值类型", "the number type"),
        "batch" | "n_batch" => Text::new("批大小", "the batch"),
        "length" | "seq_len" | "n_tokens" => Text::new("长度", "the length"),
        _ => return None,
    })
}

/// Cards of one name come in several sizes.
fn differing_facts(left: &Run, right: &Run) -> Option<Difference> {
    let fact = |value: Option<f64>| value.map_or("?".to_owned(), |value| value.to_string());
    let sm_count = Text::new("SM 数量", "the number of SMs");
    let memory = Text::new("显存大小", "the size of the memory");
    let mig = Text::new("MIG 状态", "the MIG state");
    Difference::new(sm_count, fact(left.device.sm_count), fact(right.device.sm_count))
        .or_else(|| Difference::new(memory, fact(left.device.total_bytes), fact(right.device.total_bytes)))
        .or_else(|| Difference::new(mig, fact(left.device.mig), fact(right.device.mig)))
}

fn differing_maps(what: Text, left: &Map, right: &Map) -> Option<Difference> {
    let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
    let text = |value: &vramlab_units::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = |map: &Map, key: &str| map.get(key).map_or("?".to_owned(), text);
    let is_equal = |key: &str| match (left.get(key), right.get(key)) {
        (Some(a), Some(b)) => a == b || (a.is_number() && a.as_f64() == b.as_f64()),
        _ => false,
    };
    keys.into_iter().find(|key| !is_equal(key)).map(|key| Difference {
        what: workload(key).unwrap_or(what),
        key: workload(key).is_none().then(|| key.clone()),
        left: shown(left, key),
        right: shown(right, key),
    })
}

/// Sizes planned for different free memory make different runs. Points are matched by their rank within a series; a
/// quick run has fewer, so parameters that vary along a series in either run are not held against each other.
fn differing_points(left: &Run, right: &Run) -> Option<Difference> {
    let (left, right) = (fixed_params(left), fixed_params(right));
    left.iter().find_map(|(series, params)| {
        let other = right.get(series)?;
        let shared = |map: &Map, other: &Map| -> Map {
            map.iter()
                .filter(|(key, _)| other.contains_key(*key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        differing_maps(Text::new("参数", "the parameter"), &shared(params, other), &shared(other, params))
    })
}

/// Per series, the parameters that are the same at all of its points.
fn fixed_params(run: &Run) -> BTreeMap<&str, Map> {
    let mut out: BTreeMap<&str, Map> = BTreeMap::new();
    for Point { series, params, .. } in &run.points {
        match out.get_mut(series.as_str()) {
            None => drop(out.insert(series, params.clone())),
            Some(fixed) => fixed.retain(|key, value| params.get(key) == Some(value)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;

    /// Both runs have `key`, with different values at every point.
    #[track_caller]
    fn refused(key: &str, left: &str, right: &str, sentence: [&str; 2]) {
        let with = |value: &str| {
            let mut run = run(|_| 1.25);
            run.points.iter_mut().for_each(|point| drop(point.params.insert(key.to_owned(), value.into())));
            run
        };
        let difference = comparable(&with(left), &with(right)).unwrap_err();
        assert_eq!([difference.sentence(Lang::Zh), difference.sentence(Lang::En)], sentence);
    }

    #[test]
    fn a_different_workload_is_named_in_the_readers_words() {
        refused(
            "dtype",
            "bf16",
            "fp32",
            [
                "这两次运行不能比较：数值类型不同，一次是 bf16，另一次是 fp32",
                "these runs cannot be compared: the number type differs, bf16 against fp32",
            ],
        );
        refused(
            "batch",
            "8",
            "16",
            [
                "这两次运行不能比较：批大小不同，一次是 8，另一次是 16",
                "these runs cannot be compared: the batch differs, 8 against 16",
            ],
        );
    }
}
