//! Legends: what each mark of a figure means.

use crate::paint::{self, Area};
use crate::tokens::{Tokens, Type};
use egui::{Color32, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

/// How a thing is drawn in the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// Bytes: a filled square.
    Square(Color32),
    /// Measured: a solid line with a filled dot.
    Measured(Color32),
    /// Predicted: a dashed line with a hollow dot, in ink.
    Predicted,
    /// The reader's own prediction: a diamond.
    Yours,
    /// An area that holds no data.
    Area(Area),
}

/// One row of marks with their words; wraps.
pub fn legend(ui: &mut Ui, tokens: &Tokens, entries: &[(Mark, &str)]) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.m, tokens.space.xxs);
        for (mark, label) in entries {
            entry_ui(ui, tokens, *mark, label);
        }
    });
}

fn entry_ui(ui: &mut Ui, tokens: &Tokens, mark: Mark, label: &str) {
    let text = paint::text(ui, tokens, Type::Small, tokens.muted, label);
    let mark_width = match mark {
        Mark::Measured(_) | Mark::Predicted => tokens.px(28.0),
        Mark::Square(_) | Mark::Yours | Mark::Area(_) => tokens.px(14.0),
    };
    let gap = tokens.px(6.0);
    let size = vec2(mark_width + gap + text.size().x, text.size().y.max(tokens.px(18.0)));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let square = Rect::from_min_size(rect.min, vec2(mark_width, rect.height()));
    paint_mark(ui, tokens, mark, square);
    let at = pos2(square.right() + gap, rect.center().y - text.size().y / 2.0);
    ui.painter().galley(at, text, tokens.muted);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, label));
}

fn paint_mark(ui: &Ui, tokens: &Tokens, mark: Mark, rect: Rect) {
    let painter = ui.painter();
    let (centre, line) = (rect.center(), [rect.left_center(), rect.right_center()]);
    let square = Rect::from_center_size(centre, vec2(tokens.px(12.0), tokens.px(12.0)));
    match mark {
        Mark::Square(color) => {
            painter.rect_filled(square, 2.0, color);
        }
        Mark::Measured(color) => {
            painter.line_segment(line, tokens.stroke(2.0, color));
            painter.circle_filled(centre, tokens.px(4.0), color);
        }
        Mark::Predicted => {
            painter.extend(Shape::dashed_line(&line, tokens.stroke(1.5, tokens.ink), tokens.px(4.0), tokens.px(3.0)));
            painter.circle(centre, tokens.px(3.5), tokens.surface, tokens.stroke(1.5, tokens.ink));
        }
        Mark::Yours => {
            let half = tokens.px(6.0);
            let points = [vec2(0.0, -half), vec2(half, 0.0), vec2(0.0, half), vec2(-half, 0.0)];
            let points = points.into_iter().map(|at| centre + at).collect();
            painter.add(Shape::convex_polygon(points, tokens.accent, Stroke::NONE));
        }
        Mark::Area(kind) => paint::area(painter, tokens, square, kind),
    }
}
