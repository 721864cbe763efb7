//! Lenses: the same run, other observables. A lens is one way to look at an experiment (memory, inference, kernel,
//! training); each holds one observable or several, formulas over what a point is known by and what was measured there.
//! The measure itself belongs to one of them. A lens that would say nothing true is absent, with its reason.
//!
//! These are the types that `experiment.toml` fills; `read/lens.rs` reads them, `verdict/lens.rs` looks through them.

use crate::manifest::{Experiment, Measure};
use serde::{Deserialize, Serialize};
use vramlab_units::{Localized, Text};

/// A way to look at a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LensKind {
    Memory,
    Inference,
    #[default]
    Kernel,
    Training,
}

impl LensKind {
    pub const ALL: [Self; 4] = [Self::Memory, Self::Inference, Self::Kernel, Self::Training];

    /// As written in manifests and addresses.
    pub fn id(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Inference => "inference",
            Self::Kernel => "kernel",
            Self::Training => "training",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    pub fn title(self) -> Text {
        match self {
            Self::Memory => Text::new("显存", "Memory"),
            Self::Inference => Text::new("推理", "Inference"),
            Self::Kernel => Text::new("内核", "Kernel"),
            Self::Training => Text::new("训练", "Training"),
        }
    }
}

/// One observable of a run beside its measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lens {
    pub of: LensKind,
    /// Unique in its experiment; `lens=ID` in an address.
    pub id: String,
    /// Formula, unit, title, limits and scale, as of a measure.
    pub shows: Measure,
    /// What is expected, by formula over `predicted` (the measure's prediction), `model.FIELD`, and what a point is known
    /// by.
    #[serde(default)]
    pub predict: Option<String>,
    /// The assumption through which the number is computed from measured ones. A lens that has one shows a model's
    /// numbers.
    #[serde(default)]
    pub assumes: Localized,
}

/// Why a lens is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoLens {
    pub of: LensKind,
    pub why: Localized,
}

/// What a lens holds in one experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View<'a> {
    /// The experiment's own measure.
    Measure,
    Lens(&'a Lens),
}

impl Experiment {
    /// The observable called `id`.
    pub fn lens(&self, id: &str) -> Option<&Lens> {
        self.lenses.iter().find(|lens| lens.id == id)
    }

    /// What a lens shows of this experiment; nothing if it is absent.
    pub fn views(&self, kind: LensKind) -> Vec<View<'_>> {
        let own = (self.measure.lens == kind).then_some(View::Measure);
        own.into_iter().chain(self.lenses.iter().filter(|lens| lens.of == kind).map(View::Lens)).collect()
    }

    /// Why a lens is absent, if its experiment says so.
    pub fn why_no_lens(&self, kind: LensKind) -> Option<&Localized> {
        self.absent.iter().find(|absent| absent.of == kind).map(|absent| &absent.why)
    }
}
