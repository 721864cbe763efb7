//! The whole recording in a strip below the timeline, with the window in it: dragged, it pans; pressed beside it, it
//! jumps there. It is seen only while the window is a part.

use super::look::Look;
use super::scene::Scene;
use egui::{Mesh, Rect, Sense, Shape, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use std::sync::Arc;
use vramlab_kit::tokens::Tokens;
use vramlab_units::{Lang, Text};

const NAME: Text = Text::new("整段录制，拖动窗口来平移", "The whole recording; drag the window to pan");
const HEIGHT: f32 = 30.0;

/// The strip's own memory between frames.
#[derive(Default)]
pub struct Overview {
    mesh: Arc<Mesh>,
    made_for: Option<(usize, [i32; 4], bool)>,
    /// Where in the window it was taken, in moments.
    grip: Option<f64>,
}

impl Overview {
    /// The strip; `left` is where the plot above begins. True when the window moved.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look, left: f32) -> bool {
        let n = scene.n_events();
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(HEIGHT)), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Slider, true, NAME.get(lang)));
        let strip = Rect::from_min_max(
            pos2(rect.left() + left, rect.top() + 2.0),
            rect.max - vec2(tokens.px(super::timeline::RIGHT), 2.0),
        );
        self.refresh(tokens, scene, strip);
        let painter = ui.painter_at(rect);
        painter.rect_filled(strip, 2.0, tokens.sunken);
        painter.add(Shape::mesh(Arc::clone(&self.mesh)));
        let moment_at = |x: f32| f64::from((x - strip.left()) / strip.width().max(1.0)) * n as f64;
        let x = |moment: usize| strip.left() + strip.width() * (moment as f64 / n.max(1) as f64) as f32;
        let window = Rect::from_x_y_ranges(x(look.from)..=x(look.until).max(x(look.from) + 3.0), strip.y_range());
        for dim in [
            Rect::from_min_max(strip.min, pos2(window.left(), strip.bottom())),
            Rect::from_min_max(pos2(window.right(), strip.top()), strip.max),
        ] {
            painter.rect_filled(dim, 0.0, tokens.surface.gamma_multiply(0.55));
        }
        painter.rect_stroke(window, 2.0, tokens.stroke(1.5, tokens.accent), StrokeKind::Middle);
        let before = (look.from, look.until);
        if let Some(at) = response.interact_pointer_pos() {
            let at = moment_at(at.x);
            let span = look.span() as f64;
            let inside = (look.from as f64..=look.until as f64).contains(&at);
            if response.drag_started() || response.clicked() {
                self.grip = Some(if inside { at - look.from as f64 } else { span / 2.0 });
            }
            let grip = self.grip.unwrap_or(span / 2.0);
            let from = (at - grip).clamp(0.0, (n as f64 - span).max(0.0));
            look.show(from, from + span, n);
        }
        keys(ui, &response, n, look);
        vramlab_kit::paint::focus_ring(ui, tokens, &response, strip, 2.0);
        before != (look.from, look.until)
    }

    fn refresh(&mut self, tokens: &Tokens, scene: &Scene, strip: Rect) {
        let place = [strip.left(), strip.top(), strip.right(), strip.bottom()].map(|at| at.round() as i32);
        let key = (Arc::as_ptr(&scene.analysis) as usize, place, tokens.is_dark());
        if self.made_for == Some(key) {
            return;
        }
        self.made_for = Some(key);
        let series = &scene.analysis.timeline.allocated;
        let n_columns = strip.width().max(1.0) as usize;
        let most = series.range(0, usize::MAX).map_or(1, |(_, most)| most).max(1);
        let mut mesh = Mesh::default();
        for (idx, (_, high)) in series.columns(0, scene.n_events() + 1, n_columns).into_iter().enumerate() {
            let left = strip.left() + strip.width() * idx as f32 / n_columns as f32;
            let top = strip.bottom() - strip.height() * (high as f64 / most as f64) as f32;
            let column =
                Rect::from_min_max(pos2(left, top), pos2(left + strip.width() / n_columns as f32, strip.bottom()));
            mesh.add_colored_rect(column, tokens.tint(tokens.ink, 0.35));
        }
        self.mesh = Arc::new(mesh);
    }
}

/// The arrows pan by a quarter of the window.
fn keys(ui: &Ui, response: &egui::Response, n: usize, look: &mut Look) {
    if !response.has_focus() {
        return;
    }
    let filter = egui::EventFilter { horizontal_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key| f64::from(u8::from(ui.input(|input| input.key_pressed(key))));
    look.pan((pressed(egui::Key::ArrowRight) - pressed(egui::Key::ArrowLeft)) * 0.25, n);
}
