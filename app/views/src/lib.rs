//! Visualizers: a question, an answer and a picture each.
//!
//! Read `view.rs` (the contract), then `sector_map/` as the example to follow. A view's `ui` lets the reader change the
//! question, asks `vramlab-model`, and paints the answer; painting decides nothing. `experiment_chart/` is not a view but
//! the figure of the shell's experiment card.

mod access_map;
mod allocator_strips;
pub mod author_figure;
mod bank_grid;
mod bfc_bins;
mod bottleneck_panel;
mod case_capacity;
mod compression;
mod config_field;
mod control_checklist;
mod controls;
mod design_review;
pub mod experiment_chart;
mod figure;
mod fix_tree;
mod flash_sweep;
mod fusion;
mod ink;
mod kernel_lab;
mod kv_lab;
mod kv_pages;
mod lanes;
mod layout;
mod ledger_timeline;
mod littles_law_conveyor;
mod memory_hierarchy;
mod memory_package;
mod memory_summary;
mod oom_tree;
mod pareto_scatter;
pub mod playground;
pub mod profile;
mod profile_card;
mod quantisation;
pub mod reconciliation;
mod reuse;
mod roofline;
mod sample_histogram;
mod sanitizer_chooser;
mod sector_map;
mod serving;
pub mod snapshot;
mod snapshot_card;
mod step_waterfall;
mod steps;
pub mod svg;
mod thread_stepper;
mod trace_policies;
mod transpose_player;
mod util_meter;
pub mod view;

pub use author_figure::AuthorFigure;
pub use experiment_chart::{ChartData, ExperimentChart};
pub use view::{Entry, VISUALIZERS, View, ViewAction, ViewCx, Visualizer};
