//! Pixels that can be worked out by hand, and pictures of text that must not change from run to run.

use super::*;
use crate::headless::Headless;
use crate::tokens::{Theme, Tokens};
use egui::epaint::{ImageDelta, Vertex};
use egui::{ColorImage, TextureOptions, pos2, vec2};

const SIZE: [usize; 2] = [8, 8];
const GROUND: Color32 = Color32::BLACK;

fn raster(texture: ColorImage, options: TextureOptions) -> Raster {
    let (mut raster, mut delta) = (Raster::default(), TexturesDelta::default());
    delta.push(TextureId::default(), ImageDelta::full(texture, options));
    raster.apply(&mut delta);
    raster
}

fn quad(rect: Rect, uv: Rect, color: Color32) -> Mesh {
    let vertex = |x, y, u, v| Vertex { pos: pos2(x, y), uv: pos2(u, v), color };
    let vertices = vec![
        vertex(rect.left(), rect.top(), uv.left(), uv.top()),
        vertex(rect.right(), rect.top(), uv.right(), uv.top()),
        vertex(rect.right(), rect.bottom(), uv.right(), uv.bottom()),
        vertex(rect.left(), rect.bottom(), uv.left(), uv.bottom()),
    ];
    Mesh { vertices, indices: vec![0, 1, 2, 0, 2, 3], ..Mesh::default() }
}

fn paint(raster: &Raster, mesh: Mesh, clip_rect: Rect) -> RgbaImage {
    raster.paint(&[ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh) }], 1.0, SIZE, GROUND)
}

fn rect(left: f32, top: f32, right: f32, bottom: f32) -> Rect {
    Rect::from_min_max(pos2(left, top), pos2(right, bottom))
}

fn white() -> Raster {
    raster(ColorImage::filled([1, 1], Color32::WHITE), TextureOptions::LINEAR)
}

fn painted(image: &RgbaImage) -> Vec<(u32, u32)> {
    image.enumerate_pixels().filter(|(.., pixel)| pixel.0 != GROUND.to_array()).map(|(x, y, _)| (x, y)).collect()
}

const EVERYWHERE: Rect = Rect::EVERYTHING;
const NO_UV: Rect = Rect::ZERO;

#[test]
fn a_rectangle_owns_the_pixels_whose_centres_it_holds() {
    let image = paint(&white(), quad(rect(2.0, 3.0, 4.0, 5.0), NO_UV, Color32::WHITE), EVERYWHERE);
    assert_eq!(painted(&image), [(2, 3), (3, 3), (2, 4), (3, 4)]);
    // Moved by less than half a pixel it owns the same ones; by half, ties go to the left and upper edge.
    let image = paint(&white(), quad(rect(2.4, 3.4, 4.4, 5.4), NO_UV, Color32::WHITE), EVERYWHERE);
    assert_eq!(painted(&image), [(2, 3), (3, 3), (2, 4), (3, 4)]);
    let image = paint(&white(), quad(rect(2.5, 3.5, 4.5, 5.5), NO_UV, Color32::WHITE), EVERYWHERE);
    assert_eq!(painted(&image), [(2, 3), (3, 3), (2, 4), (3, 4)]);
}

#[test]
fn the_clip_rectangle_cuts() {
    let image = paint(&white(), quad(rect(-9.0, -9.0, 99.0, 99.0), NO_UV, Color32::WHITE), rect(6.0, 7.0, 90.0, 90.0));
    assert_eq!(painted(&image), [(6, 7), (7, 7)]);
    let nothing = paint(&white(), quad(rect(0.0, 0.0, 8.0, 8.0), NO_UV, Color32::WHITE), Rect::NOTHING);
    assert_eq!(painted(&nothing), []);
}

#[test]
fn triangles_that_share_an_edge_neither_overlap_nor_gap() {
    // Half-transparent white over black is 128 once, 192 twice, 0 never: a fan around an odd point must be even.
    let color = Color32::from_white_alpha(128);
    let mut mesh = quad(rect(0.0, 0.0, 8.0, 8.0), NO_UV, color);
    mesh.vertices.push(Vertex { pos: pos2(3.37, 5.11), uv: pos2(0.0, 0.0), color });
    mesh.indices = vec![0, 1, 4, 2, 1, 4, 2, 3, 4, 0, 3, 4];
    let image = paint(&white(), mesh, EVERYWHERE);
    assert!(image.pixels().all(|pixel| pixel.0 == [128, 128, 128, 255]), "{image:?}");
}

#[test]
fn blending_is_premultiplied_over() {
    let red_half = Color32::from_rgba_premultiplied(128, 0, 0, 128);
    let raster = white();
    let primitive = |color| ClippedPrimitive {
        clip_rect: EVERYWHERE,
        primitive: Primitive::Mesh(quad(rect(0.0, 0.0, 8.0, 8.0), NO_UV, color)),
    };
    let image = raster.paint(&[primitive(Color32::from_rgb(0, 0, 200)), primitive(red_half)], 1.0, SIZE, GROUND);
    assert_eq!(image.get_pixel(4, 4).0, [128, 0, 100, 255]); // 200 · (1 − 128/255) = 99.6
    let clear = raster.paint(&[primitive(red_half)], 1.0, SIZE, Color32::TRANSPARENT);
    assert_eq!(clear.get_pixel(4, 4).0, [255, 0, 0, 128]); // PNG holds colours unmultiplied
}

#[test]
fn a_texture_at_its_own_size_is_copied() {
    let pixels: Vec<Color32> = (0..64).map(|n| Color32::from_rgb(n * 3, 255 - n, n)).collect();
    let raster = raster(ColorImage::new(SIZE, pixels.clone()), TextureOptions::LINEAR);
    let image = paint(&raster, quad(rect(0.0, 0.0, 8.0, 8.0), rect(0.0, 0.0, 1.0, 1.0), Color32::WHITE), EVERYWHERE);
    let drawn: Vec<Color32> = image.pixels().map(|p| Color32::from_rgb(p.0[0], p.0[1], p.0[2])).collect();
    assert_eq!(drawn, pixels);
}

#[test]
fn between_texels_the_colour_is_mixed_or_the_nearest() {
    let texture = || ColorImage::new([2, 1], vec![Color32::BLACK, Color32::from_gray(200)]);
    let whole = || quad(rect(0.0, 0.0, 8.0, 8.0), rect(0.0, 0.0, 1.0, 1.0), Color32::WHITE);
    let row = |image: &RgbaImage| (0..8).map(|x| image.get_pixel(x, 0).0[0]).collect::<Vec<u8>>();
    // Centres of the 8 pixels lie at (x + 0.5) / 4 − 0.5 texels: −0.375, −0.125, 0.125, 0.375, 0.625, …
    let image = paint(&raster(texture(), TextureOptions::LINEAR), whole(), EVERYWHERE);
    assert_eq!(row(&image), [0, 0, 25, 75, 125, 175, 200, 200]);
    let image = paint(&raster(texture(), TextureOptions::NEAREST), whole(), EVERYWHERE);
    assert_eq!(row(&image), [0, 0, 0, 0, 200, 200, 200, 200]);
}

#[test]
fn a_patch_changes_only_its_part_and_a_bad_one_nothing() {
    let mut raster = raster(ColorImage::filled(SIZE, Color32::BLACK), TextureOptions::NEAREST);
    let mut delta = TexturesDelta::default();
    let patch = ColorImage::filled([1, 2], Color32::WHITE);
    delta.push(TextureId::default(), ImageDelta::partial([5, 1], patch.clone(), TextureOptions::NEAREST));
    delta.push(TextureId::default(), ImageDelta::partial([5, 99], patch, TextureOptions::NEAREST));
    raster.apply(&mut delta);
    let image = paint(&raster, quad(rect(0.0, 0.0, 8.0, 8.0), rect(0.0, 0.0, 1.0, 1.0), Color32::WHITE), EVERYWHERE);
    assert_eq!(painted(&image), [(5, 1), (5, 2)]);
}

#[test]
fn text_is_drawn_the_same_every_time() {
    let tokens = Tokens::new(Theme::Light, 1.0);
    let draw = || {
        let mut page = Headless::new(crate::fonts::embedded(), &tokens, vec2(160.0, 40.0), 2.0).without_tofu();
        page.picture(|ui| {
            ui.label("显存 = 80 GiB");
        })
    };
    let image = draw();
    assert_eq!(image.dimensions(), (320, 80));
    let dark = |pixel: &image::Rgba<u8>| pixel.0[..3].iter().all(|channel| *channel < 64);
    let n_dark = image.pixels().filter(|pixel| dark(pixel)).count();
    assert!((500..6_000).contains(&n_dark), "{n_dark} dark pixels");
    assert_eq!(image.get_pixel(319, 79).0[..3], tokens.ground.to_array()[..3]);
    assert!(image == draw());
    assert!(png(&image).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")));
}
