//! A user interface without a window: run frames, take a picture, read what a screen reader would hear.

use crate::raster::Raster;
use crate::tokens::Tokens;
use egui::{Context, FontDefinitions, FullOutput, MissingGlyphPolicy, Pos2, RawInput, Rect, Ui, Vec2};
use image::RgbaImage;

/// An egui context with a rasteriser for a screen.
pub struct Headless {
    ctx: Context,
    raster: Raster,
    size: Vec2,
    pixels_per_point: f32,
    background: egui::Color32,
    time_secs: f64,
}

impl Headless {
    /// Seconds between frames; long enough for any transition to end within a few of them.
    const FRAME_SECS: f64 = 0.25;
    /// A page that asks for more frames than this is playing, and its picture is taken as it stands.
    const MAX_FRAMES: usize = 16;

    pub fn new(fonts: FontDefinitions, tokens: &Tokens, size: Vec2, pixels_per_point: f32) -> Self {
        let ctx = Context::default();
        ctx.set_fonts(fonts);
        tokens.apply(&ctx);
        let background = tokens.ground;
        Self { ctx, raster: Raster::default(), size, pixels_per_point, background, time_secs: 0.0 }
    }

    /// Makes a character without a glyph a panic that names it, instead of a box: for tests.
    #[must_use]
    pub fn without_tofu(self) -> Self {
        self.ctx.set_missing_glyph_policy(MissingGlyphPolicy::Panic);
        self
    }

    pub fn ctx(&self) -> &Context {
        &self.ctx
    }

    /// Runs one frame with `events`, and forgets its picture.
    pub fn frame(&mut self, events: Vec<egui::Event>, ui: impl FnMut(&mut Ui)) -> FullOutput {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.time_secs),
            predicted_dt: Self::FRAME_SECS as f32,
            events,
            focused: true,
            ..RawInput::default()
        };
        input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point = Some(self.pixels_per_point);
        self.time_secs += Self::FRAME_SECS;
        let mut output = self.ctx.run_ui(input, ui);
        self.raster.apply(&mut output.textures_delta);
        output
    }

    /// Runs frames until the page is at rest, and draws it.
    pub fn picture(&mut self, ui: impl FnMut(&mut Ui)) -> RgbaImage {
        let output = self.settle(ui);
        self.draw(output)
    }

    /// Runs frames until the page is at rest; what the last one painted.
    pub fn settle(&mut self, mut ui: impl FnMut(&mut Ui)) -> FullOutput {
        let mut output = self.frame(Vec::new(), &mut ui);
        for _ in 1..Self::MAX_FRAMES {
            output = self.frame(Vec::new(), &mut ui);
            let wants_frame = |view: &egui::ViewportOutput| view.repaint_delay.as_secs_f64() < Self::FRAME_SECS;
            if !output.viewport_output.values().any(wants_frame) {
                break;
            }
        }
        output
    }

    /// Draws the output of [`Self::frame`].
    pub fn draw(&self, output: FullOutput) -> RgbaImage {
        let primitives = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        let pixels = self.size * output.pixels_per_point;
        let size = [pixels.x.round() as usize, pixels.y.round() as usize];
        self.raster.paint(&primitives, output.pixels_per_point, size, self.background)
    }
}
