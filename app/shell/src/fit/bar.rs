//! The card as one bar: what fills it from left to right, to scale, the card's end as a line, and what is too much beyond it.

use egui::{Color32, Rect, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use vramlab_fit::{Answer, Item, Owner};
use vramlab_kit::paint::{self, Area};
use vramlab_kit::tokens::{Role, Tokens, Type, Verdict};
use vramlab_units::{Bytes, Lang, Text, show};

const HEIGHT: f32 = 56.0;
const FREE: Text = Text::new("空闲", "free");
const CARD_END: Text = Text::new("卡到这里为止 · {}", "the card ends here · {}");
/// A name inside its piece needs so much room beside it.
const PADDING: f32 = 10.0;

/// The colour of an owner, the same as everywhere in the course; what holds no data has none.
pub fn color(tokens: &Tokens, owner: Owner) -> Option<Color32> {
    let role = match owner {
        Owner::Weights => Role::Parameters,
        Owner::Gradients => Role::Gradients,
        Owner::Optimizer => Role::Optimizer,
        Owner::Kv => Role::KvCache,
        Owner::Activations => Role::Activations,
        Owner::Workspace | Owner::Context => Role::Workspace,
        Owner::Reserve => return None,
    };
    Some(tokens.role(role))
}

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, answer: &Answer, sentence: &str) {
    let width = ui.available_width();
    let height = tokens.px(HEIGHT) + tokens.px(26.0);
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Image, true, sentence.to_owned()));
    let bar = Rect::from_min_size(rect.min, vec2(width, tokens.px(HEIGHT)));
    let whole = answer.total().max(answer.capacity).max(1) as f64;
    let x = |bytes: u64| bar.left() + (bytes as f64 / whole) as f32 * bar.width();
    let painter = ui.painter().with_clip_rect(rect.expand(tokens.px(2.0)));
    painter.rect_filled(bar, tokens.control_corner(), tokens.sunken);
    let end = x(answer.capacity).min(bar.right());
    let mut at = 0_u64;
    for item in &answer.sums.items {
        let piece = Rect::from_min_max(pos2(x(at), bar.top()), pos2(x(at + item.bytes), bar.bottom()));
        at += item.bytes;
        piece_ui(ui, tokens, lang, piece.intersect(bar), end, item);
    }
    if answer.total() > answer.capacity {
        let over = Rect::from_min_max(pos2(end, bar.top()), bar.max);
        paint::hatch(&painter, over, tokens.px(6.0), tokens.stroke(1.5, tokens.verdict(Verdict::Bad)), false);
        painter.rect_stroke(over, 0.0, tokens.stroke(1.5, tokens.verdict(Verdict::Bad)), StrokeKind::Inside);
    } else {
        let free = Rect::from_min_max(pos2(x(at), bar.top()), bar.max);
        name(ui, tokens, free, FREE.get(lang), tokens.muted);
    }
    painter.line_segment(
        [pos2(end, bar.top() - 2.0), pos2(end, bar.bottom() + tokens.px(6.0))],
        tokens.stroke(2.0, tokens.ink),
    );
    let text = CARD_END.get(lang).replace("{}", &show::bytes_binary(Bytes(answer.capacity)));
    let label = paint::text(ui, tokens, Type::Small, tokens.muted, text);
    let left = (end - label.size().x - tokens.px(2.0)).max(bar.left());
    painter.galley(pos2(left, bar.bottom() + tokens.px(8.0)), label, tokens.muted);
}

/// `end` is where the card ends: what lies beyond is hatched, and a name there could not be read.
fn piece_ui(ui: &Ui, tokens: &Tokens, lang: Lang, rect: Rect, end: f32, item: &Item) {
    let Some(color) = color(tokens, item.owner) else {
        paint::area(ui.painter(), tokens, rect, Area::CachedFree);
        return;
    };
    ui.painter().rect_filled(rect, 0.0, color);
    // A hairline of ground between two pieces, as long as there is room for it.
    if rect.width() > tokens.px(3.0) {
        ui.painter().line_segment([rect.right_top(), rect.right_bottom()], tokens.stroke(1.0, tokens.surface));
    }
    let there = Rect::from_min_max(rect.min, pos2(rect.right().min(end), rect.bottom()));
    name(ui, tokens, there, item.name().get(lang), tokens.surface);
}

/// A word in the middle of its piece, where it fits.
fn name(ui: &Ui, tokens: &Tokens, rect: Rect, text: &str, color: Color32) {
    let galley = paint::text(ui, tokens, Type::Small, color, text);
    if galley.size().x + tokens.px(PADDING) <= rect.width() {
        let at = rect.center() - galley.size() / 2.0;
        ui.painter().galley(at, galley, color);
    }
}
