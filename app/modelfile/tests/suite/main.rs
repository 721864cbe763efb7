//! What the readers of model files promise: published numbers, faults, headers.

mod counts;
mod faults;
mod files;
mod gguf;
