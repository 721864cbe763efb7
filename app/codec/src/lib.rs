//! Number formats of few bits, and what is lost or saved by them: bits in, bits out, every code exact.
//!
//! Read `float.rs` first: any small floating-point format by its widths. `mx.rs` (MX, NVFP4), `nf4.rs` and `int.rs` add scales
//! to groups of values, `gguf.rs` are llama.cpp's blocks, `sparse.rs` is 2:4 and CSR; `size.rs` counts bytes, scales and
//! indices included; `error.rs` measures what was lost. `lossless.rs` and `entropy.rs` are about bytes that must come back as
//! they were, `tensors.rs` draws what they are tried on, `topk.rs` is about gradients of which a part is sent, `payoff.rs` about links for which any of it pays.
//! Tests hold the codes against ml_dtypes and gguf (`tests/data/codec`). No files, clocks or threads.

pub mod entropy;
pub mod error;
pub mod float;
pub mod gguf;
pub mod int;
pub mod lossless;
pub mod mx;
pub mod nf4;
pub mod payoff;
mod problem;
pub mod size;
pub mod sparse;
pub mod tensors;
pub mod topk;

pub use problem::Problem;
pub use vramlab_units::Random;
