//! What the reader sets: a workload, the card, and the plan that is looked at.

use vramlab_model::bottleneck::{Machine, Work};
use vramlab_model::plan_pareto::{MOST_TOGGLES, Plan, State, TOGGLES, Toggle, all, pareto, parse, walk};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub const GIB: f64 = 1_073_741_824.0;
/// The limits of the card's slider, GiB.
pub const LEAST_CARD: f64 = 20.0;
pub const MOST_CARD: f64 = 80.0;

/// A workload and its peak, named by what binds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    Launches,
    Link,
    Compute,
}

impl Preset {
    pub const ALL: [Self; 3] = [Self::Launches, Self::Link, Self::Compute];

    pub fn id(self) -> &'static str {
        match self {
            Self::Launches => "launches",
            Self::Link => "link",
            Self::Compute => "compute",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Launches => Text::new("一千次小启动", "a thousand launches"),
            Self::Link => Text::new("拷贝占大头", "mostly copies"),
            Self::Compute => Text::new("算力占大头", "mostly arithmetic"),
        }
    }

    /// Bytes, FLOP, launches, bytes over the link, and the peak in GiB.
    fn numbers(self) -> [f64; 5] {
        match self {
            Self::Launches => [4.8e9, 9.895e10, 1000.0, 5.5e7, 60.0],
            Self::Link => [4.8e9, 9.895e10, 100.0, 2.2e8, 60.0],
            Self::Compute => [4.8e9, 3.958e12, 100.0, 5.5e7, 60.0],
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub preset: Preset,
    pub card_gib: f64,
    pub toggles: Vec<Toggle>,
    toggles_text: String,
    /// The plan that is looked at, as bits.
    pub bits: u32,
}

/// All plans of a question, and those that nothing beats.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub plans: Vec<Plan>,
    pub set: Vec<Plan>,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let options = Preset::ALL.iter().map(|preset| preset.id().into()).collect();
        let preset = Text::new("哪种工作量", "Which workload");
        let card = Text::new("卡上能用的显存", "Memory of the card that may be used");
        let toggles = Text::new(
            "改动，如 fuse bytes*0.5 launches*0.25 peak-1G; graph launches=1",
            "The changes, as in fuse bytes*0.5 launches*0.25 peak-1G; graph launches=1",
        );
        let plan = Text::new("看哪个方案，如 fuse+overlap", "The plan that is looked at, as in fuse+overlap");
        vec![
            FieldSpec::new("preset", "", FieldKind::Choice { options }, preset).default_value(Preset::Launches.id()),
            FieldSpec::num("card_gib", "GiB", LEAST_CARD, MOST_CARD, card).default_value(64),
            FieldSpec::new("toggles", "", FieldKind::Text { max_len: 2048 }, toggles).default_value(TOGGLES),
            FieldSpec::new("plan", "", FieldKind::Text { max_len: 128 }, plan).default_value(""),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let preset = Preset::ALL.into_iter().find(|preset| preset.id() == args.text("preset"));
        let preset = preset.ok_or_else(|| FieldError::conflict("preset", "is not among its options"))?;
        let toggles_text = args.text("toggles").to_owned();
        let toggles = parse(&toggles_text)?;
        let mut bits = 0;
        for word in args.text("plan").split([' ', '+']).filter(|word| !word.is_empty() && *word != "none") {
            let Some(at) = toggles.iter().position(|toggle| toggle.id == word) else {
                let known = toggles.iter().map(|toggle| toggle.id.as_str()).collect::<Vec<_>>().join(", ");
                return Err(FieldError::conflict("plan", format!("{word} is not among the changes; they are {known}")));
            };
            bits |= 1 << at;
        }
        Ok(Self { preset, card_gib: args.num("card_gib"), toggles, toggles_text, bits })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("preset".into(), self.preset.id().into());
        map.insert("card_gib".into(), self.card_gib.into());
        map.insert("toggles".into(), self.toggles_text.as_str().into());
        map.insert("plan".into(), self.name(self.bits).into());
        map
    }

    pub fn name(&self, bits: u32) -> String {
        Plan { bits, time_ms: 0.0, peak: 0, refused: None }.name(&self.toggles)
    }

    pub fn base(&self) -> State {
        let [bytes, flop, launches, link_bytes, peak] = self.preset.numbers();
        let work = Work { bytes, flop, launches, link_bytes };
        let machine = Machine { peak_gb_per_s: 4800.0, peak_tflop_per_s: 989.5, launch_us: 2.5, link_gb_per_s: 55.0 };
        State { work, machine, is_overlapped: false, peak: (peak * GIB) as i64 }
    }

    pub fn capacity(&self) -> u64 {
        (self.card_gib * GIB) as u64
    }

    pub fn answer(&self) -> Found {
        let plans = all(&self.base(), &self.toggles, self.capacity());
        let set = pareto(&plans);
        Found { plans, set }
    }

    /// The states of the plan that is looked at, the baseline first.
    pub fn way(&self) -> Vec<State> {
        let plan = Plan { bits: self.bits, time_ms: 0.0, peak: 0, refused: None };
        walk(&self.base(), plan.toggles(&self.toggles), self.capacity()).0
    }

    pub fn n_toggles(&self) -> usize {
        self.toggles.len().min(MOST_TOGGLES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(given: serde_json::Value) -> Result<Question, FieldError> {
        Question::from_args(&Args::check(&Question::fields(), given.as_object().unwrap()).unwrap())
    }

    /// Brief 10, vectors 3 to 5, at the plan that is looked at.
    #[test]
    fn a_plan_walks_through_its_steps() {
        let question = open(serde_json::json!({"plan": "overlap+fuse"})).unwrap();
        let times: Vec<f64> = question.way().iter().map(|state| state.timing().step_ms).collect();
        assert!(times.iter().zip([3.5, 1.625, 1.0]).all(|(found, wanted)| (found - wanted).abs() < 1e-9), "{times:?}");
        assert_eq!(question.name(question.bits), "fuse+overlap");
    }

    #[test]
    fn a_word_that_is_no_change_is_named() {
        assert_eq!(open(serde_json::json!({"plan": "magic"})).unwrap_err().field(), "plan");
        assert_eq!(open(serde_json::json!({"toggles": "magic"})).unwrap_err().field(), "toggles");
    }
}
