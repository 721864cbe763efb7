//! Colours by order and by magnitude: viridis and cividis, and sampling between stops.
//!
//! Source: viridisLite 0.4, `viridis(10)` and `cividis(10)`. The roles and the hierarchy ramp are in `assets/theme.toml`.

use egui::Color32;

/// A QR code is dark on light in both themes: readers of the code expect it so.
pub const QR_LIGHT: Color32 = Color32::WHITE;
pub const QR_DARK: Color32 = Color32::BLACK;

const VIRIDIS: [Color32; 10] = [
    rgb(0x44, 0x01, 0x54),
    rgb(0x48, 0x28, 0x78),
    rgb(0x3E, 0x4A, 0x89),
    rgb(0x31, 0x68, 0x8E),
    rgb(0x26, 0x82, 0x8E),
    rgb(0x1F, 0x9E, 0x89),
    rgb(0x35, 0xB7, 0x79),
    rgb(0x6D, 0xCD, 0x59),
    rgb(0xB4, 0xDE, 0x2C),
    rgb(0xFD, 0xE7, 0x25),
];

const CIVIDIS: [Color32; 10] = [
    rgb(0x00, 0x20, 0x4D),
    rgb(0x00, 0x33, 0x6F),
    rgb(0x39, 0x48, 0x6B),
    rgb(0x57, 0x5C, 0x6D),
    rgb(0x70, 0x71, 0x73),
    rgb(0x8A, 0x87, 0x79),
    rgb(0xA6, 0x9D, 0x75),
    rgb(0xC4, 0xB5, 0x6C),
    rgb(0xE4, 0xCF, 0x5B),
    rgb(0xFF, 0xEA, 0x46),
];

const fn rgb(r: u8, g: u8, b: u8) -> Color32 {
    Color32::from_rgb(r, g, b)
}

/// An ordered, colour-blind-safe ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    Viridis,
    Cividis,
}

impl Palette {
    /// The colour at `share`, 0.0 (dark) to 1.0 (light).
    pub fn at(self, share: f32) -> Color32 {
        match self {
            Self::Viridis => sample(&VIRIDIS, share),
            Self::Cividis => sample(&CIVIDIS, share),
        }
    }
}

/// The colour at `share` of the way along evenly spaced `stops`.
pub fn sample(stops: &[Color32], share: f32) -> Color32 {
    let Some(last_idx) = stops.len().checked_sub(1) else { return Color32::TRANSPARENT };
    let place = share.clamp(0.0, 1.0) * last_idx as f32;
    let stop_idx = (place as usize).min(last_idx);
    mix(stops[stop_idx], stops[(stop_idx + 1).min(last_idx)], place.fract())
}

/// `share` of `to` in `from`, channel by channel.
pub fn mix(from: Color32, to: Color32, share: f32) -> Color32 {
    let share = share.clamp(0.0, 1.0);
    let channel = |from: u8, to: u8| (f32::from(from) + (f32::from(to) - f32::from(from)) * share).round() as u8;
    let (a, b) = (from.to_array(), to.to_array());
    Color32::from_rgba_premultiplied(channel(a[0], b[0]), channel(a[1], b[1]), channel(a[2], b[2]), channel(a[3], b[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_begin_and_end_at_their_published_stops() {
        assert_eq!(Palette::Viridis.at(0.0), rgb(0x44, 0x01, 0x54));
        assert_eq!(Palette::Viridis.at(1.0), rgb(0xFD, 0xE7, 0x25));
        assert_eq!(Palette::Cividis.at(0.0), rgb(0x00, 0x20, 0x4D));
        assert_eq!(Palette::Cividis.at(2.0), rgb(0xFF, 0xEA, 0x46));
    }

    #[test]
    fn halfway_between_black_and_white_is_grey() {
        assert_eq!(sample(&[Color32::BLACK, Color32::WHITE], 0.5), Color32::from_gray(128));
        assert_eq!(sample(&[], 0.5), Color32::TRANSPARENT);
    }
}
