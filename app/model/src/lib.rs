//! Pure memory models: a question in, an answer out. No pixels, files, clocks, threads or GPU calls.
//!
//! Read `coalescing.rs` first. Each model is a typed function with its assumptions and source in its docs; the same
//! file wraps it as a [`registry::Model`], which takes and gives one flat JSON object, so that `vramlab eval`, lessons,
//! experiments and checks all ask the same code.

pub mod accelerate_estimate;
pub mod access;
pub mod activation_formula;
pub mod affine_cost;
mod alloc_fields;
pub mod amdahl;
pub mod aos_soa;
pub mod arena;
pub mod bank_conflicts;
pub mod batch_knee;
pub mod bench_draw;
pub mod bench_stats;
pub mod bfc_allocator;
pub mod bottleneck;
pub mod buffer_reuse;
pub mod bytes_in_flight;
pub mod cache_levels;
pub mod caching_allocator;
pub mod checkpoint_slots;
pub mod closed_formula_step;
pub mod coalescing;
pub mod compare_runs;
pub mod control_check;
pub mod cpu_aos_soa;
pub mod cpu_stride;
pub mod cpu_transpose;
pub mod decode_floor;
pub mod diffusion_peak;
pub mod divergence;
pub mod divergent_paths;
pub mod false_sharing;
mod fields;
pub mod fit_batch;
pub mod gustafson;
pub mod intensity_knee;
pub mod kv_cache;
pub mod kv_capacity;
pub mod kv_paging;
pub mod kv_waste;
pub mod largest_request;
pub mod latency_cycles;
pub mod leak_slope;
pub mod littles_law;
pub mod oom_cause;
pub mod op_intensity;
pub mod peak_bandwidth;
pub mod policy_replay;
pub mod quantise;
pub mod registry;
pub mod roofline;
pub mod sample_plan;
pub mod samples;
pub mod sanitizer_matrix;
pub mod schema;
pub mod seeded_replay;
pub mod segment_check;
pub mod shared_card;
pub mod size_rounding;
pub mod stream;
pub mod stream_pool;
pub mod strided_bandwidth;
pub mod thread_index;
pub mod training_step;
pub mod transpose;
pub mod utilisation;
pub mod weights;
pub mod zero_estimate;
pub mod zero_states;

pub use registry::{Entry, MODELS, eval, find};
