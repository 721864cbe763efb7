//! Theme tokens, fonts and shared widgets, and the rasteriser that draws pages without a GPU.
//!
//! Read `tokens.rs` first. Every colour, size and stroke on screen comes from there; raw colour constructors live in that
//! file and in `palette.rs` alone. Widgets take tokens, never the application.

pub mod axis;
pub mod fonts;
pub mod gallery;
pub mod headless;
pub mod icons;
#[cfg(feature = "kittest")]
pub mod kittest;
pub mod math;
pub mod md;
pub mod paint;
pub mod palette;
pub mod playhead;
pub mod raster;
pub mod style;
pub mod tokens;
pub mod widgets;

#[cfg(test)]
mod tokens_test;

pub use axis::{Axis, Plane, Spread};
pub use headless::Headless;
pub use icons::Icon;
pub use paint::Area;
pub use palette::Palette;
pub use playhead::{Command, Playhead};
pub use tokens::{Role, Theme, Tokens, Type, Verdict};
pub use widgets::*;
