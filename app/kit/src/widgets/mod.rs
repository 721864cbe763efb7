//! Shared widgets. Each takes the tokens, and gives itself a name for screen readers.

pub mod button;
pub mod card;
pub mod chip;
pub mod finding;
pub mod number;
pub mod playback;
pub mod segmented;
pub mod slider;
pub mod steps;

pub use button::Button;
pub use card::{card, card_header, section};
pub use chip::{Evidence, chip};
pub use finding::{Note, finding};
pub use number::{key_number, meter};
pub use playback::playback;
pub use segmented::segmented;
pub use slider::Slider;
pub use steps::step_bar;
