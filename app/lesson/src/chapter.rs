//! What a chapter is once it has been read. The schema of the TOML is these types; `parse.rs` fills them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use vramlab_units::{Lang, Localized, Map};

/// The schema version this program writes and reads.
pub const SCHEMA: u32 = 1;

/// A chapter that could be opened. Steps that could not be read are [`StepBody::Broken`]; the rest works.
#[derive(Clone, Debug, PartialEq)]
pub struct Chapter {
    /// The folder's name: `02_access_patterns`. Progress is keyed by it.
    pub id: String,
    /// The leading number, if any; it only sorts.
    pub number: Option<u32>,
    pub title: Localized,
    /// The puzzle in one line, shown under the title.
    pub subtitle: Localized,
    /// What the reader can do afterwards.
    pub outcome: Localized,
    /// Grouping in the rail: `analyse`, `model`, `system`, `deployment`, `synthesis`.
    pub layer: String,
    pub minutes: u32,
    /// The single language of a one-language chapter; `None` if it carries both.
    pub lang: Option<Lang>,
    pub steps: Vec<Step>,
    pub audits: Vec<Audit>,
    pub reviews: Vec<Question>,
}

/// One step of the column.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Stable id, unique in the chapter; progress and links are keyed by it.
    pub id: String,
    pub title: Localized,
    pub body: StepBody,
    /// Byte range in the chapter's source, for messages.
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StepBody {
    Prose {
        text: Localized,
    },
    Equation(Equation),
    Visualizer(VisualizerStep),
    /// Shared, so that a page sees at once whether its figure has been read anew.
    Figure(Arc<crate::figure::Figure>),
    Predict(Predict),
    Experiment(ExperimentStep),
    Check(Question),
    /// A step that could not be read; shown as a card with its problem.
    Broken {
        problem: crate::Problem,
    },
}

/// A formula with live values. `value` is a `vramlab_units::Formula`; each symbol gets its number from the reader's
/// sliders, from a model, or is a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// The name of the left side, e.g. `efficiency`.
    pub result: String,
    pub result_unit: String,
    pub value: String,
    pub symbols: Vec<Symbol>,
    /// Prose under the formula.
    pub text: Localized,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Name in the formula.
    pub name: String,
    /// How it is printed, if different from the name.
    pub shown: Option<String>,
    pub unit: String,
    pub means: Localized,
    pub source: SymbolSource,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SymbolSource {
    Constant(f64),
    /// A slider in the equation's own card.
    Slider {
        min: f64,
        max: f64,
        step: f64,
        start: f64,
    },
    /// One field of a model's answer; `set` may name other symbols of the equation as `"$stride"`.
    Model(ModelRef),
}

/// A question to a registry model: `{ model = "coalescing", set = { stride_bytes = 8 }, take = "sectors" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRef {
    pub model: String,
    pub set: Map,
    pub take: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VisualizerStep {
    /// Id in the visualizer registry.
    pub show: String,
    pub params: Map,
    /// One sentence: what to try or to look for. The figure's finding is computed by the figure itself.
    pub text: Localized,
    /// For the text version and where the figure cannot be drawn.
    pub alt: Localized,
}

/// A question asked before anything is revealed. Nothing here is graded.
#[derive(Clone, Debug, PartialEq)]
pub struct Predict {
    pub question: Question,
    /// Id of the step that reveals the truth, if one does: the gap is drawn there.
    pub revealed_by: Option<String>,
    /// Where on the x axis of that step's chart a number is drawn, if it is in the chart's unit.
    pub at_x: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentStep {
    /// `SLUG/NAME` in `kernels/`.
    pub run: String,
    pub text: Localized,
    /// What to say when predicted and measured agree.
    pub explain: Localized,
    /// Parameters the chapter sets, within the experiment's ranges.
    pub set: Map,
    pub alt: Localized,
    /// What the run is called beside the others of its card; the experiment's own title if empty.
    pub name: Localized,
    /// Further runs that are looked at in the same card. They have none of their own.
    pub also: Vec<ExperimentStep>,
}

impl ExperimentStep {
    /// Every run of the card, the first one first.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.also)
    }

    /// The run at `idx` of [`Self::all`], the first one if there is none.
    pub fn at(&self, idx: usize) -> &Self {
        idx.checked_sub(1).and_then(|idx| self.also.get(idx)).unwrap_or(self)
    }
}

/// A question with an answer: in a predict box, as a check, or in the review deck.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub id: String,
    pub ask: Localized,
    pub form: Form,
    /// Shown after answering.
    pub explain: Localized,
    /// Three strengths: a question back, the relevant fact, the first line of the working.
    pub hints: Vec<Localized>,
    /// Parameters drawn anew at each review, by name: `$stride` in `ask` and in `answer.set` is replaced.
    pub redraw: BTreeMap<String, Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    Number {
        answer: Answer,
        unit: String,
        /// Relative tolerance; 0 asks for the exact value.
        tolerance: f64,
        /// Range of the ruler; a log ruler if the ends are a factor of 100 apart.
        min: f64,
        max: f64,
    },
    Choice {
        options: Vec<Choice>,
    },
    /// As `Choice`, with any number of right options.
    Multi {
        options: Vec<Choice>,
    },
    /// Items are written in the right order and shown shuffled.
    Order {
        items: Vec<Localized>,
    },
    /// A curve drawn on the empty plot of the experiment that reveals it. Only in a predict step.
    Sketch(Sketch),
}

/// What is drawn: axes, places and units come from the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// Which run of the revealing card, if it has several; else the first.
    pub run: Option<String>,
    /// Which series of the experiment; else its first.
    pub series: Option<String>,
    /// Range of the y axis, in the experiment's unit.
    pub min: f64,
    pub max: f64,
}

/// What a sketch needs to know of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    pub series: Vec<String>,
    /// How many places its sweep has.
    pub n_places: usize,
    /// Its y axis is logarithmic.
    pub is_log: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Model(ModelRef),
    /// Only where no model can compute it; the checker warns if one could.
    Typed {
        value: f64,
        source: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub text: Localized,
    pub is_right: bool,
    /// Why it is tempting, and what observation refutes it; for the right one, why it holds.
    pub why: Localized,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    True,
    Assumptions,
    Unsupported,
    False,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::True, Self::Assumptions, Self::Unsupported, Self::False];

    pub fn id(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::Assumptions => "assumptions",
            Self::Unsupported => "unsupported",
            Self::False => "false",
        }
    }
}

/// A published claim, restated in our words, that the reader judges and then tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    pub id: String,
    pub claim: Localized,
    /// What kind of source made it: a vendor's sheet, a glossary, a cost article.
    pub source: Localized,
    pub verdict: Verdict,
    pub why: Localized,
    /// The step in this chapter where it can be tested.
    pub test: Option<String>,
}

/// What exists, for the checker. The program implements it over its registries; tests over tables.
pub trait Registry {
    fn visualizers(&self) -> Vec<&str>;
    fn models(&self) -> Vec<&str>;
    fn experiments(&self) -> Vec<&str>;
    /// Checks the parameters of a visualizer; the error is shown as it is.
    fn check_visualizer(&self, id: &str, params: &Map) -> Result<(), vramlab_units::FieldError>;
    /// Checks settings of an experiment.
    fn check_experiment(&self, id: &str, set: &Map) -> Result<(), vramlab_units::FieldError>;
    /// Whether the experiment declares an expected effect.
    fn has_effect(&self, id: &str) -> bool;
    /// The series and axes of an experiment, for curves that are predicted.
    fn shape_of(&self, id: &str) -> Option<Shape>;
    /// Asks a model.
    fn eval(&self, model: &str, set: &Map) -> Result<Map, vramlab_units::FieldError>;
    /// Unit of one field of a model's answer, to be compared with the unit that a question prints.
    fn answer_unit(&self, model: &str, field: &str) -> Option<String>;
    /// Unit of one field of a model's question; `None` if it is not known.
    fn question_unit(&self, _model: &str, _field: &str) -> Option<String> {
        None
    }
    /// Whether the embedded fonts can draw `c`.
    fn has_glyph(&self, c: char) -> bool;
    /// Files of the pack, for images and links: whether `path` exists beside the chapter.
    fn has_file(&self, chapter: &str, path: &str) -> bool;
    /// Chapters that links may point to.
    fn chapters(&self) -> Vec<&str>;
    /// Kernels that the playground opens, for links.
    fn kernels(&self) -> Vec<&str>;
}
