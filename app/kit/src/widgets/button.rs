//! Buttons: one primary in a card at most, secondary ones beside it, quiet and icon ones in headers.

use crate::icons::Icon;
use crate::paint;
use crate::tokens::{Tokens, Type};
use egui::{Color32, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Primary,
    Secondary,
    Quiet,
    Icon,
}

/// `Button::primary("Run").icon(Icon::Play).show(ui, tokens)`.
#[must_use = "call show"]
pub struct Button<'a> {
    kind: Kind,
    label: &'a str,
    icon: Option<Icon>,
    why_not: Option<&'a str>,
    is_selected: bool,
    hover: Option<&'a str>,
}

impl<'a> Button<'a> {
    /// What the card is about. Filled with the accent.
    pub fn primary(label: &'a str) -> Self {
        Self::new(Kind::Primary, label)
    }

    pub fn secondary(label: &'a str) -> Self {
        Self::new(Kind::Secondary, label)
    }

    /// Without a frame until the pointer is on it.
    pub fn quiet(label: &'a str) -> Self {
        Self::new(Kind::Quiet, label)
    }

    /// An icon alone; `name` is its tooltip and what a screen reader says.
    pub fn icon_only(icon: Icon, name: &'a str) -> Self {
        Self { icon: Some(icon), hover: Some(name), ..Self::new(Kind::Icon, name) }
    }

    fn new(kind: Kind, label: &'a str) -> Self {
        Self { kind, label, icon: None, why_not: None, is_selected: false, hover: None }
    }

    pub fn icon(mut self, icon: Icon) -> Self {
        self.icon = Some(icon);
        self
    }

    /// A missing capability is shown with its reason, not hidden: `Some` greys the button and tells why on hover.
    pub fn unavailable(mut self, why: Option<&'a str>) -> Self {
        self.why_not = why;
        self
    }

    pub fn selected(mut self, is_selected: bool) -> Self {
        self.is_selected = is_selected;
        self
    }

    pub fn hover(mut self, text: &'a str) -> Self {
        self.hover = Some(text);
        self
    }

    pub fn show(self, ui: &mut Ui, tokens: &Tokens) -> Response {
        let is_enabled = self.why_not.is_none() && ui.is_enabled();
        let role = if self.kind == Kind::Primary { Type::NoteStrong } else { Type::Note };
        let most = paint::most_width(ui) - tokens.px(if self.icon.is_some() { 50.0 } else { 28.0 });
        let label =
            (self.kind != Kind::Icon).then(|| paint::elided(ui, tokens, role, Color32::PLACEHOLDER, self.label, most));
        let icon_side = if self.icon.is_some() { tokens.px(16.0) } else { 0.0 };
        let gap = if self.icon.is_some() && label.is_some() { tokens.px(6.0) } else { 0.0 };
        let text_size = label.as_ref().map_or(Vec2::ZERO, |galley| galley.size());
        let size = self.size(tokens, icon_side + gap + text_size.x);
        let sense = if is_enabled { Sense::click() } else { Sense::hover() };
        let (rect, response) = ui.allocate_exact_size(size, sense);
        let ink = self.paint_frame(ui, tokens, &response, rect, is_enabled);
        let left = rect.center().x - (icon_side + gap + text_size.x) / 2.0;
        if let Some(icon) = self.icon {
            let square = Rect::from_min_size(pos2(left, rect.top()), vec2(icon_side, rect.height()));
            icon.paint(ui.painter(), tokens, square, ink);
        }
        if let Some(galley) = label {
            let at = pos2(left + icon_side + gap, rect.center().y - text_size.y / 2.0);
            ui.painter().galley(at, galley, ink);
        }
        let info = || WidgetInfo::selected(Role::Button, is_enabled, self.is_selected, self.label);
        response.widget_info(|| if self.is_selected { info() } else { WidgetInfo { selected: None, ..info() } });
        match (self.why_not, self.hover) {
            (Some(why), _) => response.on_hover_text(why),
            (None, Some(text)) => response.on_hover_text(text),
            (None, None) => response,
        }
    }

    fn size(&self, tokens: &Tokens, content_width: f32) -> Vec2 {
        match self.kind {
            Kind::Icon => Vec2::splat(tokens.hit),
            Kind::Primary | Kind::Secondary => vec2(content_width + 2.0 * tokens.px(14.0), tokens.px(34.0)),
            Kind::Quiet => vec2(content_width + 2.0 * tokens.px(10.0), tokens.hit),
        }
    }

    /// Paints ground, edge and focus, and gives the colour of label and icon.
    fn paint_frame(&self, ui: &Ui, tokens: &Tokens, response: &Response, rect: Rect, is_enabled: bool) -> Color32 {
        let is_hot = is_enabled && (response.hovered() || response.is_pointer_button_down_on());
        let edge = Stroke::new(1.0, if is_hot { tokens.accent } else { tokens.line });
        let (fill, edge, ink) = match self.kind {
            Kind::Primary if !is_enabled => (tokens.sunken, Stroke::NONE, tokens.muted),
            Kind::Primary if is_hot => (tokens.accent_hover, Stroke::NONE, tokens.on_accent),
            Kind::Primary => (tokens.accent, Stroke::NONE, tokens.on_accent),
            _ if !is_enabled => (Color32::TRANSPARENT, Stroke::new(1.0, tokens.grid), tokens.muted),
            _ if self.is_selected => (tokens.accent_soft, Stroke::NONE, tokens.accent),
            Kind::Secondary if is_hot => (tokens.accent_soft, edge, tokens.ink),
            Kind::Secondary => (tokens.surface, edge, tokens.ink),
            Kind::Quiet if is_hot => (tokens.accent_soft, Stroke::NONE, tokens.ink),
            Kind::Quiet => (Color32::TRANSPARENT, Stroke::NONE, tokens.accent),
            Kind::Icon if is_hot => (tokens.accent_soft, Stroke::NONE, tokens.accent),
            Kind::Icon => (Color32::TRANSPARENT, Stroke::NONE, tokens.muted),
        };
        let edge = if self.kind == Kind::Icon { Stroke::NONE } else { edge };
        ui.painter().rect(rect, tokens.control_corner(), fill, edge, StrokeKind::Inside);
        paint::focus_ring(ui, tokens, response, rect, f32::from(tokens.control_radius));
        ink
    }
}
