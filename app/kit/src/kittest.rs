//! Our rasteriser as the renderer of `egui_kittest`: `Harness::builder().renderer(SoftRenderer::default())`.

use crate::raster::Raster;
use egui::{Color32, Context, FullOutput, TexturesDelta};
use image::RgbaImage;

/// Draws snapshots without a GPU, the same on every machine.
#[derive(Default)]
pub struct SoftRenderer {
    raster: Raster,
}

impl egui_kittest::TestRenderer for SoftRenderer {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        self.raster.apply(delta);
    }

    fn render(&mut self, ctx: &Context, output: &FullOutput) -> Result<RgbaImage, String> {
        let primitives = ctx.tessellate(output.shapes.clone(), output.pixels_per_point);
        let pixels = ctx.viewport_rect().size() * output.pixels_per_point;
        let size = [pixels.x.round() as usize, pixels.y.round() as usize];
        Ok(self.raster.paint(&primitives, output.pixels_per_point, size, Color32::TRANSPARENT))
    }
}
