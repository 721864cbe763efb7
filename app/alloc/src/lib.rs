//! Allocators as pure machines: the same requests in, the same addresses and counters out.
//!
//! Read `caching/mod.rs` first: PyTorch's caching allocator, native and with expandable segments. It asks a
//! [`caching::Device`] for memory, so that a simulated card, a recorded one and a real one are the same to it. Beside it
//! stand TensorFlow's and XLA's `bfc.rs` with JAX's settings in `jax.rs`, the stream-ordered pool of `cudaMallocAsync`,
//! and `plain.rs`, the driver alone. `replay/` plays one `trace.rs` through any of them and says why each block
//! was taken. Rules that recordings and typed numbers are judged by alike: `refusal.rs` (why a request failed), `drift.rs`
//! (whether memory grows from step to step), `tally.rs` (what must hold inside a segment).

pub mod bfc;
pub mod caching;
pub mod drift;
pub mod generate;
pub mod jax;
pub mod plain;
pub mod refusal;
pub mod replay;
pub mod scenario;
pub mod stream_pool;
pub mod tally;
pub mod tensorflow;
mod tiles;
pub mod trace;

pub use tiles::TileId;

/// 2^20 bytes.
pub const MIB: u64 = 1 << 20;

/// A card that has no room for what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tried to reserve {tried_bytes} bytes; reserved {reserved_bytes}, allocated {allocated_bytes}, capacity {capacity_bytes}"
)]
pub struct OutOfMemory {
    pub tried_bytes: u64,
    pub reserved_bytes: u64,
    pub allocated_bytes: u64,
    pub capacity_bytes: u64,
}
