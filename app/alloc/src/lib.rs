//! Allocators as pure machines: the same requests in, the same addresses and counters out.
//!
//! Read `caching/mod.rs` first: PyTorch's caching allocator, native and with expandable segments. It asks a
//! [`caching::Device`] for memory, so that a simulated card, a recorded one and a real one are the same to it.

pub mod caching;

/// 2^20 bytes.
pub const MIB: u64 = 1 << 20;
