//! Writes the widget gallery as PNG, both themes and languages, into the folder given (or the current one):
//! `cargo run -p vramlab-kit --example gallery --features embedded-fonts -- DIR [WIDTH]`

use egui::{Frame, Margin, vec2};
use vramlab_kit::gallery::{Gallery, gallery_ui};
use vramlab_kit::{Headless, Theme, Tokens, fonts, raster};
use vramlab_units::Lang;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let dir = std::path::PathBuf::from(args.next().unwrap_or_else(|| ".".to_owned()));
    let width: f32 = args.next().map_or(Ok(880.0), |width| width.parse())?;
    for theme in Theme::ALL {
        for lang in Lang::ALL {
            let tokens = Tokens::new(theme, 1.0);
            let mut page = Headless::new(
                fonts::embedded(),
                &tokens,
                vec2(width, if width < 500.0 { 3600.0 } else { 2200.0 }),
                1.5,
            )
            .without_tofu();
            let mut state = Gallery::default();
            let image = page.picture(|ui| {
                Frame::new().inner_margin(Margin::same(20)).show(ui, |ui| gallery_ui(ui, &tokens, lang, &mut state));
            });
            let name = format!("gallery-{}-{}.png", lang.code(), theme.code());
            std::fs::write(dir.join(name), raster::png(&image)?)?;
        }
    }
    Ok(())
}
