//! Theme tokens, fonts and shared widgets, and the rasteriser that draws pages without a GPU.
//!
//! Read `tokens.rs` first. Every colour, size and stroke on screen comes from there; raw colour constructors live in that
//! file alone. Widgets take tokens, never the application.

pub mod tokens;

pub use tokens::Tokens;
