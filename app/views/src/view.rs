//! What a visualizer is to the rest of the program, and the slice of all of them.

use vramlab_kit::Tokens;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Localized, Map, Text};

/// What a view may ask for beyond its own fields. Performed after the frame by `App::apply`.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewAction {
    CopyText(String),
    /// Save text under a proposed file name: CSV, SVG.
    SaveText {
        name: String,
        text: String,
    },
    OpenStep {
        chapter: String,
        step: String,
    },
}

/// What a view sees of the program, borrowed for one frame.
pub struct ViewCx<'a> {
    pub tokens: &'a Tokens,
    pub lang: Lang,
    /// False when the reader asked for reduced motion: play buttons then step.
    pub has_motion: bool,
    /// The egui clock in seconds, so that tests inject it.
    pub time_secs: f64,
    pub actions: &'a mut Vec<ViewAction>,
}

/// A table that a figure can hand out: unrounded values, units in the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataTable {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

pub trait View {
    /// Controls, figure and key numbers. The card around it (title, evidence chip, reset, menu, finding) is the shell's.
    fn ui(&mut self, ui: &mut egui::Ui, cx: &mut ViewCx<'_>);
    /// The finding in words for the state shown: the caption, and what a screen reader hears.
    fn finding(&self, lang: Lang) -> String;
    /// The parameters of the state shown, as [`Visualizer::fields`] describes them: URL, reset, undo, sharing.
    fn params(&self) -> Map;
    /// The numbers behind the figure.
    fn data(&self) -> DataTable;
    /// Where the numbers come from and of what date, for a figure that shows published ones; others are a model's.
    fn cited(&self, _lang: Lang) -> Option<(String, String)> {
        None
    }
    /// Device, what ran on it, and date, for a figure that shows a recording.
    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        None
    }
    /// The path of an asset of the program that the figure lacks; asked every frame until [`Self::take`] has brought it.
    fn wants(&self) -> Option<String> {
        None
    }
    /// What came of [`Self::wants`]: the bytes, or why there are none.
    fn take(&mut self, _asset: Result<&[u8], String>) {}
    /// A text file of the reader's that came while the figure is on the page: a configuration, a log. None if the figure has
    /// no use for such a file; else whether it could be read.
    fn offer(&mut self, _text: &str) -> Option<Result<(), Localized>> {
        None
    }
    /// The playground, if the figure is one: its desk is shared with the page of that kernel.
    fn playground(&mut self) -> Option<&mut crate::playground::Playground> {
        None
    }
    /// True while an animation runs and the next frame is wanted.
    fn is_playing(&self) -> bool {
        false
    }
}

pub trait Visualizer: View + Sized + 'static {
    const ID: &'static str;
    const TITLE: Text;
    /// Parameters with ranges and defaults.
    fn fields() -> Vec<FieldSpec>;
    /// Opens it on checked parameters. Fields that are each legal but do not go together are an error.
    fn open(args: &Args) -> Result<Self, FieldError>;
}

/// One visualizer, as data.
pub struct Entry {
    pub id: &'static str,
    pub title: Text,
    pub fields: fn() -> Vec<FieldSpec>,
    open: fn(&Args) -> Result<Box<dyn View>, FieldError>,
}

impl Entry {
    pub fn open(&self, given: &Map) -> Result<Box<dyn View>, FieldError> {
        (self.open)(&Args::check(&(self.fields)(), given)?)
    }
}

const fn entry<V: Visualizer>() -> Entry {
    Entry { id: V::ID, title: V::TITLE, fields: V::fields, open: |args| Ok(Box::new(V::open(args)?)) }
}

pub const VISUALIZERS: &[Entry] = &[
    entry::<crate::access_map::AccessMap>(),
    entry::<crate::allocator_strips::AllocatorStrips>(),
    entry::<crate::bank_grid::BankGrid>(),
    entry::<crate::bfc_bins::BfcBins>(),
    entry::<crate::design_review::DesignReview>(),
    entry::<crate::fix_tree::FixTree>(),
    entry::<crate::flash_sweep::FlashSweep>(),
    entry::<crate::fusion::lanes::LaunchLanes>(),
    entry::<crate::fusion::lasso::FusionLasso>(),
    entry::<crate::fusion::tree::MergeTree>(),
    entry::<crate::memory_hierarchy::MemoryHierarchy>(),
    entry::<crate::bottleneck_panel::BottleneckPanel>(),
    entry::<crate::case_capacity::CaseCapacity>(),
    entry::<crate::compression::bit_lanes::BitLanes>(),
    entry::<crate::compression::codec_payoff::CodecPayoff>(),
    entry::<crate::compression::number_line::NumberLine>(),
    entry::<crate::compression::residual_debt::ResidualDebt>(),
    entry::<crate::control_checklist::ControlChecklist>(),
    entry::<crate::kernel_lab::reduction::WarpReduction>(),
    entry::<crate::kernel_lab::sm::SmOccupancy>(),
    entry::<crate::kv_lab::bytes::KvBytes>(),
    entry::<crate::kv_lab::lab::KvLab>(),
    entry::<crate::kv_lab::picker::KvPicker>(),
    entry::<crate::kv_lab::timeline::ServeTimeline>(),
    entry::<crate::kv_pages::KvPages>(),
    entry::<crate::layout::ribbon::FieldRibbon>(),
    entry::<crate::layout::tensor::TensorOrder>(),
    entry::<crate::layout::wheel::BankWheel>(),
    entry::<crate::ledger_timeline::LedgerTimeline>(),
    entry::<crate::littles_law_conveyor::LittlesLawConveyor>(),
    entry::<crate::memory_package::MemoryPackage>(),
    entry::<crate::memory_summary::MemorySummary>(),
    entry::<crate::oom_tree::OomTree>(),
    entry::<crate::pareto_scatter::ParetoScatter>(),
    entry::<crate::playground::Playground>(),
    entry::<crate::profile_card::ProfileTimeline>(),
    entry::<crate::reconciliation::Reconciliation>(),
    entry::<crate::quantisation::formats::FormatTable>(),
    entry::<crate::quantisation::groups::QuantGroups>(),
    entry::<crate::quantisation::prune::Prune24>(),
    entry::<crate::reuse::lru::LruStack>(),
    entry::<crate::reuse::tiles::GemmTiles>(),
    entry::<crate::roofline::Roofline>(),
    entry::<crate::sample_histogram::SampleHistogram>(),
    entry::<crate::sanitizer_chooser::SanitizerChooser>(),
    entry::<crate::sector_map::SectorMap>(),
    entry::<crate::snapshot_card::SnapshotCard>(),
    entry::<crate::serving::engine_compare::EngineCompare>(),
    entry::<crate::serving::engine_log::EngineLog>(),
    entry::<crate::serving::serving_case::ServingCase>(),
    entry::<crate::serving::speculation::Speculation>(),
    entry::<crate::step_waterfall::StepWaterfall>(),
    entry::<crate::thread_stepper::ThreadStepper>(),
    entry::<crate::trace_policies::TracePolicies>(),
    entry::<crate::transpose_player::TransposePlayer>(),
    entry::<crate::util_meter::UtilMeter>(),
];

pub fn find(id: &str) -> Option<&'static Entry> {
    VISUALIZERS.iter().find(|entry| entry.id == id)
}
