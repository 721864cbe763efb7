//! The key of the sector map: asked for, moved but unused, not touched. Painted with the strokes of the picture itself.

use super::paint;
use crate::ink;
use egui::{Align2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint::hatch;
use vramlab_kit::{Tokens, Type};
use vramlab_units::{Lang, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Asked,
    Unused,
    Untouched,
}

const ENTRIES: [(Kind, Text); 3] = [
    (Kind::Asked, Text::new("要的字节", "asked for")),
    (Kind::Unused, Text::new("搬来没用", "moved, unused")),
    (Kind::Untouched, Text::new("没碰到", "not touched")),
];

/// One row; wraps.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.m, tokens.space.xxs);
        for (kind, text) in ENTRIES {
            entry_ui(ui, tokens, kind, text.get(lang));
        }
    });
}

fn entry_ui(ui: &mut Ui, tokens: &Tokens, kind: Kind, label: &str) {
    let font = tokens.font(Type::Small);
    let (side, gap) = (tokens.px(12.0), tokens.px(6.0));
    let width = ink::text_width(ui.painter(), label, font.clone());
    let (rect, response) = ui.allocate_exact_size(vec2(side + gap + width, tokens.px(18.0)), Sense::hover());
    let square = Rect::from_center_size(pos2(rect.left() + side / 2.0, rect.center().y), vec2(side, side));
    let painter = ui.painter();
    match kind {
        Kind::Asked => {
            painter.rect_filled(square, 2.0, paint::asked(tokens));
        }
        Kind::Unused => {
            painter.rect(
                square,
                2.0,
                paint::moved(tokens),
                Stroke::new(1.0, paint::moved_edge(tokens)),
                StrokeKind::Inside,
            );
            hatch(painter, square.shrink(1.0), tokens.px(4.0), Stroke::new(1.0, paint::unused(tokens)), false);
        }
        Kind::Untouched => {
            let edge = Stroke::new(1.0, paint::untouched_edge(tokens));
            painter.rect(square, 2.0, tokens.surface, edge, StrokeKind::Inside);
        }
    }
    ink::text(painter, pos2(rect.right(), rect.center().y), Align2::RIGHT_CENTER, label, font, tokens.muted);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, label));
}
