//! The page of a recorded run: the report in words, memory by process over time, lanes of kernels and copies, and NVML's
//! figure reconciled with a snapshot of the same run.
//!
//! Read `desk.rs` first (what is open, and how it is read beside the window), then `page.rs`. `reconcile.rs` brings a run and a
//! snapshot to one moment. The figures are `vramlab_views::profile` and `reconciliation`; every number comes from
//! `vramlab_profile` and the model `reconcile`.

mod desk;
mod page;
pub mod reconcile;

pub use desk::Desk;
pub use page::ui;
