//! The figures of few bits: two of four, groups and their scales, a model's file in every format.
//!
//! Each asks the registered models by name (`sparse_24`, `quant_values`, `quant_size`, `weights`); `ask.rs` is how.

mod ask;
pub mod formats;
pub mod groups;
pub mod prune;
