//! Visualizers: a question, an answer and a picture each.
//!
//! Read `view.rs` (the contract), then `sector_map.rs` as the example to follow. A view's `ui` lets the reader change the
//! question, asks `vramlab-model`, and paints the answer; painting decides nothing.

pub mod view;

pub use view::{Entry, VISUALIZERS, View, ViewAction, ViewCx, Visualizer};
