//! Textures of the rasteriser: what egui uploads, and how a texel is read.

use egui::epaint::ImageDelta;
use egui::{Color32, ImageData, TextureFilter, TextureOptions, TextureWrapMode};

/// Four channels, premultiplied, in gamma space, 0.0 to 255.0.
pub(super) type Rgba = [f32; 4];

pub(super) struct Texture {
    width: usize,
    height: usize,
    pixels: Vec<Color32>,
    options: TextureOptions,
}

impl Texture {
    pub fn new() -> Self {
        Self { width: 0, height: 0, pixels: Vec::new(), options: TextureOptions::LINEAR }
    }

    pub fn apply(&mut self, delta: &ImageDelta) {
        let ImageData::Color(image) = &delta.image;
        let [width, height] = image.size;
        self.options = delta.options;
        let Some([left, top]) = delta.pos else {
            (self.width, self.height, self.pixels) = (width, height, image.pixels.clone());
            return;
        };
        for (row_idx, row) in image.pixels.chunks_exact(width.max(1)).enumerate() {
            let start = (top + row_idx) * self.width + left;
            if let Some(target) = self.pixels.get_mut(start..start + width) {
                target.copy_from_slice(row);
            }
        }
    }

    /// The colour at `(u, v)`, 0.0 to 1.0 across the texture.
    pub fn sample(&self, u: f32, v: f32) -> Rgba {
        if self.pixels.is_empty() {
            return [0.0; 4];
        }
        let (x, y) = (u * self.width as f32, v * self.height as f32);
        if self.options.magnification == TextureFilter::Nearest {
            return self.texel(x.floor() as i64, y.floor() as i64);
        }
        // Texel centres lie at halves; one within a thousandth of a centre is that texel.
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = ((x + 1e-3).floor(), (y + 1e-3).floor());
        let (right_share, low_share) = ((x - left).max(0.0), (y - top).max(0.0));
        let (left, top) = (left as i64, top as i64);
        if right_share < 2e-3 && low_share < 2e-3 {
            return self.texel(left, top);
        }
        let upper = mix(self.texel(left, top), self.texel(left + 1, top), right_share);
        let lower = mix(self.texel(left, top + 1), self.texel(left + 1, top + 1), right_share);
        mix(upper, lower, low_share)
    }

    fn texel(&self, x: i64, y: i64) -> Rgba {
        let mode = self.options.wrap_mode;
        let (x, y) = (wrap(mode, x, self.width), wrap(mode, y, self.height));
        self.pixels[y * self.width + x].to_array().map(f32::from)
    }
}

fn mix(from: Rgba, to: Rgba, share: f32) -> Rgba {
    std::array::from_fn(|idx| from[idx] + (to[idx] - from[idx]) * share)
}

fn wrap(mode: TextureWrapMode, at: i64, len: usize) -> usize {
    let len = len as i64;
    let wrapped = match mode {
        TextureWrapMode::ClampToEdge => at.clamp(0, len - 1),
        TextureWrapMode::Repeat => at.rem_euclid(len),
        TextureWrapMode::MirroredRepeat => {
            let phase = at.rem_euclid(2 * len);
            phase.min(2 * len - 1 - phase)
        }
    };
    wrapped as usize
}
