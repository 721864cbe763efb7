//! A software rasteriser for egui's triangles: pages become PNG without a GPU, a window or a display.
//!
//! `triangle.rs` decides which pixels a triangle owns and colours them, `texture.rs` holds the font atlas and images.
//! [`Headless`](crate::headless::Headless) runs a user interface and hands its output here.

mod texture;
mod triangle;

#[cfg(test)]
mod tests;

use egui::epaint::{Mesh, Primitive};
use egui::{ClippedPrimitive, Color32, Rect, TextureId, TexturesDelta};
use image::RgbaImage;
use std::collections::BTreeMap;
use texture::Texture;
use triangle::Corner;

/// Holds the textures between frames, as a graphics card would.
#[derive(Default)]
pub struct Raster {
    textures: BTreeMap<TextureId, Texture>,
    /// To be dropped with the next change: a freed texture may still be painted once.
    freed: Vec<TextureId>,
}

/// Pixels while they are painted: premultiplied, in gamma space.
struct Frame {
    width: usize,
    pixels: Vec<[u8; 4]>,
}

impl Frame {
    fn row_mut(&mut self, y: usize, first: usize, end: usize) -> &mut [[u8; 4]] {
        &mut self.pixels[y * self.width + first..y * self.width + end]
    }
}

/// Whole pixels; right and bottom are not included.
#[derive(Clone, Copy)]
struct PixelRect {
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

impl Raster {
    /// Takes in what egui uploads and frees. Empties `delta`, which must not be dropped full.
    pub fn apply(&mut self, delta: &mut TexturesDelta) {
        for id in self.freed.drain(..) {
            self.textures.remove(&id);
        }
        let mut changes: Vec<_> = delta.set.drain().collect();
        changes.sort_by_key(|(id, _)| *id);
        for (id, changes) in changes {
            let texture = self.textures.entry(id).or_insert_with(Texture::new);
            changes.iter().for_each(|change| texture.apply(change));
        }
        self.freed.extend(delta.free.drain());
    }

    /// Paints triangles over `background` into `size` physical pixels.
    pub fn paint(
        &self,
        primitives: &[ClippedPrimitive],
        pixels_per_point: f32,
        size: [usize; 2],
        background: Color32,
    ) -> RgbaImage {
        let [width, height] = size;
        let mut frame = Frame { width, pixels: vec![background.to_array(); width * height] };
        for primitive in primitives {
            // Paint callbacks talk to a graphics API; there is none here.
            if let Primitive::Mesh(mesh) = &primitive.primitive {
                let clip = pixel_rect(primitive.clip_rect, pixels_per_point, size);
                self.paint_mesh(&mut frame, mesh, clip, pixels_per_point);
            }
        }
        let bytes = frame.pixels.into_iter().flat_map(unmultiply).collect();
        RgbaImage::from_raw(width as u32, height as u32, bytes).unwrap_or_default()
    }

    fn paint_mesh(&self, frame: &mut Frame, mesh: &Mesh, clip: PixelRect, pixels_per_point: f32) {
        let Some(texture) = self.textures.get(&mesh.texture_id) else { return };
        let corner = |idx: u32| {
            let vertex = mesh.vertices[idx as usize];
            Corner {
                x: vertex.pos.x * pixels_per_point,
                y: vertex.pos.y * pixels_per_point,
                u: vertex.uv.x,
                v: vertex.uv.y,
                color: vertex.color.to_array().map(f32::from),
            }
        };
        if clip.left >= clip.right || clip.top >= clip.bottom || !mesh.is_valid() {
            return;
        }
        for triangle in mesh.triangles() {
            triangle::fill(frame, clip, triangle.map(corner), texture);
        }
    }
}

fn pixel_rect(rect: Rect, pixels_per_point: f32, [width, height]: [usize; 2]) -> PixelRect {
    let pixel = |at: f32, limit: usize| ((at * pixels_per_point).round() as i64).clamp(0, limit as i64);
    PixelRect {
        left: pixel(rect.min.x, width),
        top: pixel(rect.min.y, height),
        right: pixel(rect.max.x, width),
        bottom: pixel(rect.max.y, height),
    }
}

fn unmultiply(pixel: [u8; 4]) -> [u8; 4] {
    let [r, g, b, a] = pixel;
    if a == u8::MAX { pixel } else { Color32::from_rgba_premultiplied(r, g, b, a).to_srgba_unmultiplied() }
}

/// The image as the bytes of a PNG file.
pub fn png(image: &RgbaImage) -> Result<Vec<u8>, image::ImageError> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, image::ImageFormat::Png)?;
    Ok(bytes.into_inner())
}
