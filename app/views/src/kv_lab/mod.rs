//! The figures of serving: the KV laboratory, continuous against static batching, bytes per token.
//!
//! `lab/` steps a stream of requests through a pool of blocks, `timeline/` plays one stream through two ways of batching,
//! `bytes/` counts what a token leaves, `picker/` does for published models and puts one on a card. The machines behind them are `vramlab-serve`'s and the models'.

pub mod bytes;
pub mod lab;
pub mod picker;
pub mod timeline;
