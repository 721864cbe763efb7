//! Figures of chapter 03: tiles that walk over three matrices, and the stack of an LRU cache.

pub mod lru;
pub mod tiles;
