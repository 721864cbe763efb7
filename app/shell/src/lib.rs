//! The application around the lessons: routes, actions, panels, pages, and the [`Platform`] trait.
//!
//! Read `app.rs` first (state, and the loop of a frame), then `apply.rs` (what actions and events do) and `platform.rs`
//! (what differs between desktop and browser). `page/` paints a chapter's steps, `panels/` what surrounds them.
//! `experiments.rs` is the life of a run, `library.rs` what there is to learn and to run, `study/` what reaches over
//! chapters: reviews and calibration. `snapshot/` is the page of a memory snapshot, `fit/` that of a
//! model and a card, `playground/` that of the kernels that the reader edits.

pub mod action;
pub mod answers;
pub mod app;
mod apply;
mod chain;
mod checkers;
pub mod commands;
pub mod documents;
pub mod experiments;
pub mod fit;
pub mod guide;
pub mod intake;
pub mod library;
pub mod notebook;
pub mod page;
pub mod panels;
pub mod platform;
pub mod playground;
pub mod profile;
mod registry;
pub mod report;
pub mod route;
pub mod settings;
pub mod snapshot;
mod spoken;
/// Not for the browser, where a dropped file can only be read later.
#[cfg(not(target_arch = "wasm32"))]
pub mod still;
pub mod study;
pub mod text;
pub mod undo;
pub mod widgets;

pub use action::Action;
pub use app::App;
pub use library::Library;
pub use platform::Platform;
#[cfg(not(target_arch = "wasm32"))]
pub use still::Still;
