//! The page that says whether a model fits a card: one bar of what fills it, the levers by what they save, and sliders for
//! everything that may be changed.
//!
//! Read `desk.rs` first (which model is open, what is asked, and how the answer is worked out beside the window), then
//! `page.rs`. `ask.rs` are the controls and their place in the address, `bar.rs` paints the card, `levers.rs` what to change.
//! Every number comes from `vramlab_fit`.

mod ask;
mod bar;
pub mod cards;
mod desk;
mod levers;
mod page;

pub use desk::Desk;
pub use page::ui;
