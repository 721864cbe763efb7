//! The web page: the browser's [`vramlab_shell::Platform`], and what starts it on a canvas.
//!
//! Read `browser.rs` for what a browser does for the shell, `cabinet.rs` for how the reader's documents are kept, `start.rs`
//! for the way in from `boot.js`. The page around the canvas (`index.html`, `boot.js`, `sw.js`) says in words what went
//! wrong when this cannot run.

pub mod cabinet;

#[cfg(target_arch = "wasm32")]
mod assets;
#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(target_arch = "wasm32")]
mod exchange;
#[cfg(target_arch = "wasm32")]
mod shared;
#[cfg(target_arch = "wasm32")]
mod start;
#[cfg(target_arch = "wasm32")]
mod words;
