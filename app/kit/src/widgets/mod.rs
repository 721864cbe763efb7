//! Shared widgets. Each takes the tokens, and gives itself a name for screen readers.

pub mod button;
pub mod byte_grid;
pub mod card;
pub mod check_box;
pub mod chip;
pub mod finding;
pub mod legend;
pub mod number;
pub mod playback;
pub mod qr_code;
pub mod ruler;
pub mod segmented;
pub mod slider;
pub mod steps;

pub use button::Button;
pub use byte_grid::{Cell, GridLayout, byte_grid};
pub use card::{card, card_header, section};
pub use check_box::check_box;
pub use chip::{Evidence, chip};
pub use finding::{Note, finding};
pub use legend::{Mark, legend};
pub use number::{key_number, meter};
pub use playback::playback;
pub use qr_code::qr_code;
pub use ruler::{Ruler, Truth};
pub use segmented::segmented;
pub use slider::Slider;
pub use steps::step_bar;
