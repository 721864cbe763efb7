//! The slice of all models. `eval`, `list models`, the checker, experiments and the docs iterate it.

use crate::accelerate_estimate::AccelerateEstimate;
use crate::activation_formula::ActivationFormula;
use crate::affine_cost::AffineCost;
use crate::amdahl::Amdahl;
use crate::amdahl_parts::AmdahlParts;
use crate::aos_soa::AosSoa;
use crate::arena::Arena;
use crate::bank_conflicts::BankConflicts;
use crate::batch_knee::BatchKnee;
use crate::bench_draw::BenchDraw;
use crate::bench_stats::BenchStats;
use crate::bfc_allocator::BfcAllocator;
use crate::bottleneck::Bottleneck;
use crate::buffer_reuse::BufferReuse;
use crate::bytes_in_flight::BytesInFlight;
use crate::cache_levels::CacheLevels;
use crate::caching_allocator::CachingAllocator;
use crate::capstone_step::CapstoneStep;
use crate::cast_error::CastError;
use crate::cast_range::CastRange;
use crate::checkpoint_slots::CheckpointSlots;
use crate::closed_formula_step::ClosedFormulaStep;
use crate::coalescing::Coalescing;
use crate::compare_runs::CompareRuns;
use crate::control_check::ControlCheck;
use crate::cpu_aos_soa::CpuAosSoa;
use crate::cpu_stride::CpuStride;
use crate::cpu_transpose::CpuTranspose;
use crate::decode_floor::DecodeFloor;
use crate::diffusion_peak::DiffusionPeak;
use crate::diffusion_step::DiffusionStep;
use crate::divergence::Divergence;
use crate::divergent_paths::DivergentPaths;
use crate::false_sharing::FalseSharing;
use crate::fit_batch::FitBatch;
use crate::gustafson::Gustafson;
use crate::inference::attention_io::AttentionIo;
use crate::inference::bf16_entropy::Bf16Entropy;
use crate::inference::bit_lanes::BitLanes;
use crate::inference::block_tables::BlockTables;
use crate::inference::codec_payoff::CodecPayoff;
use crate::inference::engine_capacity::EngineCapacity;
use crate::inference::engine_log::EngineLog;
use crate::inference::exponent_entropy::ExponentEntropy;
use crate::inference::flash_tiles::FlashTiles;
use crate::inference::format_error::FormatError;
use crate::inference::fp_block::FpBlock;
use crate::inference::group_error::GroupError;
use crate::inference::kv_config::KvConfig;
use crate::inference::kv_mistakes::KvMistakes;
use crate::inference::lossless_ratio::LosslessRatio;
use crate::inference::low_rank::LowRank;
use crate::inference::number_line::NumberLine;
use crate::inference::online_softmax::OnlineSoftmax;
use crate::inference::outlier_error::OutlierError;
use crate::inference::prefix_pool::Prefix;
use crate::inference::quant_noise::QuantNoise;
use crate::inference::quant_size::QuantSize;
use crate::inference::quant_values::QuantValues;
use crate::inference::replay_step::ReplayStep;
use crate::inference::schedule::Schedule;
use crate::inference::serve_stream::ServeStream;
use crate::inference::sparse_24::Sparse24;
use crate::inference::sparse_allreduce::SparseAllreduce;
use crate::inference::sparse_size::SparseSize;
use crate::inference::speculative::Speculative;
use crate::inference::step_time::StepTimeModel;
use crate::inference::told_numbers::ToldNumbers;
use crate::inference::topk_descent::TopkDescent;
use crate::inference::topk_feedback::TopkFeedback;
use crate::intensity_knee::IntensityKnee;
use crate::keep_recompute_offload::KeepRecomputeOffload;
use crate::kernels::fusion_chain::FusionChain;
use crate::kernels::fusion_graph::FusionGraph;
use crate::kernels::gemm_tile::GemmTile;
use crate::kernels::gemm_time::GemmTime;
use crate::kernels::gemm_walk::GemmWalk;
use crate::kernels::grid_waves::GridWaves;
use crate::kernels::launch_timeline::LaunchTimeline;
use crate::kernels::layout_change::LayoutChange;
use crate::kernels::merge::MergeHalves;
use crate::kernels::merge_tree::MergeTree;
use crate::kernels::occupancy::Occupancy;
use crate::kernels::occupancy_cliff::OccupancyCliff;
use crate::kernels::row_passes::RowPasses;
use crate::kernels::stack_distance::StackDistance;
use crate::kernels::stencil_halo::StencilHalo;
use crate::kernels::struct_fields::StructFields;
use crate::kernels::tensor_strides::TensorStrides;
use crate::kernels::warp_reduce::WarpReduce;
use crate::kv_cache::KvCache;
use crate::kv_capacity::KvCapacity;
use crate::kv_paging::KvPaging;
use crate::kv_waste::KvWaste;
use crate::largest_batch::LargestBatch;
use crate::largest_request::LargestRequest;
use crate::latency_cycles::LatencyCycles;
use crate::leak_slope::LeakSlope;
use crate::littles_law::LittlesLaw;
use crate::next_fix::NextFix;
use crate::oom_cause::OomCause;
use crate::op_intensity::OpIntensity;
use crate::peak_bandwidth::PeakBandwidth;
use crate::pipeline_step::PipelineStep;
use crate::plan_pareto::PlanPareto;
use crate::policy_replay::PolicyReplay;
use crate::quantise::Quantise;
use crate::reconcile::Reconcile;
use crate::roofline::Roofline;
use crate::sample_plan::SamplePlan;
use crate::sanitizer_matrix::SanitizerMatrix;
use crate::seeded_replay::SeededReplay;
use crate::segment_check::SegmentCheck;
use crate::shared_card::SharedCard;
use crate::size_rounding::SizeRounding;
use crate::small_training::SmallTraining;
use crate::stream_pool::StreamPool;
use crate::strided_bandwidth::StridedBandwidth;
use crate::thread_index::ThreadIndex;
use crate::training_step::TrainingStep;
use crate::transpose::TransposeModel;
use crate::utilisation::Utilisation;
use crate::weights::Weights;
use crate::zero_estimate::ZeroEstimate;
use crate::zero_states::ZeroStates;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// A model as the registry sees it. The typed function beside it is what Rust code calls.
pub trait Model {
    /// Id in lessons, on the command line and in URLs.
    const ID: &'static str;
    const TITLE: Text;
    /// What the model assumes, printed beside its results.
    const ASSUMES: Text;
    /// Where the rule comes from, down to the section or table.
    const SOURCE: &'static str;
    /// A question to start from, as JSON. The help prints it, the suites ask it.
    const EXAMPLE: &'static str;
    /// The fields of the question.
    fn question() -> Vec<FieldSpec>;
    /// The fields of the answer, in the order in which they are shown.
    fn answer() -> Vec<FieldSpec>;
    /// Answers a checked question. Errors name a field; nothing is clamped.
    fn run(args: &Args) -> Result<Map, FieldError>;
}

/// One model, as data.
#[derive(Debug)]
pub struct Entry {
    pub id: &'static str,
    pub title: Text,
    pub assumes: Text,
    pub source: &'static str,
    pub example: &'static str,
    pub question: fn() -> Vec<FieldSpec>,
    pub answer: fn() -> Vec<FieldSpec>,
    run: fn(&Args) -> Result<Map, FieldError>,
}

impl Entry {
    /// Validates `given` against the question's fields and answers it.
    pub fn eval(&self, given: &Map) -> Result<Map, FieldError> {
        (self.run)(&Args::check(&(self.question)(), given)?)
    }
}

const fn entry<M: Model>() -> Entry {
    Entry {
        id: M::ID,
        title: M::TITLE,
        assumes: M::ASSUMES,
        source: M::SOURCE,
        example: M::EXAMPLE,
        question: M::question,
        answer: M::answer,
        run: M::run,
    }
}

/// Every model of the course, in alphabetical order of ids.
pub const MODELS: &[Entry] = &[
    entry::<AccelerateEstimate>(),
    entry::<ActivationFormula>(),
    entry::<AffineCost>(),
    entry::<Amdahl>(),
    entry::<AmdahlParts>(),
    entry::<AosSoa>(),
    entry::<Arena>(),
    entry::<AttentionIo>(),
    entry::<BankConflicts>(),
    entry::<BatchKnee>(),
    entry::<BenchDraw>(),
    entry::<BenchStats>(),
    entry::<Bf16Entropy>(),
    entry::<BfcAllocator>(),
    entry::<BitLanes>(),
    entry::<BlockTables>(),
    entry::<Bottleneck>(),
    entry::<BufferReuse>(),
    entry::<BytesInFlight>(),
    entry::<CacheLevels>(),
    entry::<CachingAllocator>(),
    entry::<CapstoneStep>(),
    entry::<CastError>(),
    entry::<CastRange>(),
    entry::<CheckpointSlots>(),
    entry::<ClosedFormulaStep>(),
    entry::<Coalescing>(),
    entry::<CodecPayoff>(),
    entry::<CompareRuns>(),
    entry::<ControlCheck>(),
    entry::<CpuAosSoa>(),
    entry::<CpuStride>(),
    entry::<CpuTranspose>(),
    entry::<DecodeFloor>(),
    entry::<DiffusionPeak>(),
    entry::<DiffusionStep>(),
    entry::<Divergence>(),
    entry::<DivergentPaths>(),
    entry::<EngineCapacity>(),
    entry::<EngineLog>(),
    entry::<ExponentEntropy>(),
    entry::<FalseSharing>(),
    entry::<FitBatch>(),
    entry::<FlashTiles>(),
    entry::<FormatError>(),
    entry::<FpBlock>(),
    entry::<FusionChain>(),
    entry::<FusionGraph>(),
    entry::<GemmTile>(),
    entry::<GemmTime>(),
    entry::<GemmWalk>(),
    entry::<GridWaves>(),
    entry::<GroupError>(),
    entry::<Gustafson>(),
    entry::<IntensityKnee>(),
    entry::<KeepRecomputeOffload>(),
    entry::<KvCache>(),
    entry::<KvCapacity>(),
    entry::<KvConfig>(),
    entry::<KvMistakes>(),
    entry::<KvPaging>(),
    entry::<KvWaste>(),
    entry::<LargestBatch>(),
    entry::<LargestRequest>(),
    entry::<LatencyCycles>(),
    entry::<LaunchTimeline>(),
    entry::<LayoutChange>(),
    entry::<LeakSlope>(),
    entry::<LittlesLaw>(),
    entry::<LosslessRatio>(),
    entry::<LowRank>(),
    entry::<MergeHalves>(),
    entry::<MergeTree>(),
    entry::<NextFix>(),
    entry::<NumberLine>(),
    entry::<Occupancy>(),
    entry::<OccupancyCliff>(),
    entry::<OnlineSoftmax>(),
    entry::<OomCause>(),
    entry::<OpIntensity>(),
    entry::<OutlierError>(),
    entry::<PeakBandwidth>(),
    entry::<PipelineStep>(),
    entry::<PlanPareto>(),
    entry::<PolicyReplay>(),
    entry::<Prefix>(),
    entry::<QuantNoise>(),
    entry::<QuantSize>(),
    entry::<QuantValues>(),
    entry::<Quantise>(),
    entry::<Reconcile>(),
    entry::<ReplayStep>(),
    entry::<Roofline>(),
    entry::<RowPasses>(),
    entry::<SamplePlan>(),
    entry::<SanitizerMatrix>(),
    entry::<Schedule>(),
    entry::<SeededReplay>(),
    entry::<SegmentCheck>(),
    entry::<ServeStream>(),
    entry::<SharedCard>(),
    entry::<SizeRounding>(),
    entry::<SmallTraining>(),
    entry::<Sparse24>(),
    entry::<SparseAllreduce>(),
    entry::<SparseSize>(),
    entry::<Speculative>(),
    entry::<StackDistance>(),
    entry::<StencilHalo>(),
    entry::<StepTimeModel>(),
    entry::<StreamPool>(),
    entry::<StridedBandwidth>(),
    entry::<StructFields>(),
    entry::<TensorStrides>(),
    entry::<ThreadIndex>(),
    entry::<ToldNumbers>(),
    entry::<TopkDescent>(),
    entry::<TopkFeedback>(),
    entry::<TrainingStep>(),
    entry::<TransposeModel>(),
    entry::<Utilisation>(),
    entry::<WarpReduce>(),
    entry::<Weights>(),
    entry::<ZeroEstimate>(),
    entry::<ZeroStates>(),
];

/// The model called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    MODELS.iter().find(|entry| entry.id == id)
}

/// Answers `given` by the model called `id`.
pub fn eval(id: &str, given: &Map) -> Result<Map, FieldError> {
    let Some(entry) = find(id) else {
        return Err(FieldError::Unknown {
            field: id.to_owned(),
            hint: vramlab_units::field::did_you_mean(id, MODELS.iter().map(|entry| entry.id)).map(str::to_owned),
            known: MODELS.iter().map(|entry| entry.id).collect::<Vec<_>>().join(", "),
        });
    };
    entry.eval(given)
}

#[cfg(test)]
mod tests;
