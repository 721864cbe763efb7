//! Tokens as egui's own style, so that a plain `ui.button` and a tooltip look like the rest of the page.

use crate::tokens::{Tokens, Type};
use egui::style::{HandleShape, ScrollStyle, Selection, WidgetVisuals, Widgets};
use egui::{Color32, Margin, Shadow, Stroke, Style, TextStyle, Visuals, vec2};

impl Tokens {
    /// Makes this the look of `ctx`: fonts sizes, colours, spacing. Call it when theme, size or motion change.
    pub fn apply(&self, ctx: &egui::Context) {
        let theme = if self.is_dark() { egui::Theme::Dark } else { egui::Theme::Light };
        ctx.set_theme(theme);
        ctx.set_style_of(theme, self.style());
    }

    fn style(&self) -> Style {
        let mut style = Style {
            visuals: self.visuals(),
            animation_time: self.motion_secs,
            compact_menu_style: false,
            ..Style::default()
        };
        style.text_styles = self.text_styles().into();
        style.drag_value_text_style = TextStyle::Monospace;
        #[cfg(debug_assertions)]
        {
            style.debug.show_unaligned = false; // hairlines sit on half pixels on purpose
        }
        self.set_spacing(&mut style.spacing);
        if self.motion_secs == 0.0 {
            style.scroll_animation = egui::style::ScrollAnimation::none();
        }
        style
    }

    fn text_styles(&self) -> [(TextStyle, egui::FontId); 5] {
        [
            (TextStyle::Small, self.font(Type::Small)),
            (TextStyle::Body, self.font(Type::Body)),
            (TextStyle::Button, self.font(Type::Note)),
            (TextStyle::Heading, self.font(Type::Chapter)),
            (TextStyle::Monospace, self.font(Type::Mono)),
        ]
    }

    fn set_spacing(&self, spacing: &mut egui::style::Spacing) {
        spacing.item_spacing = vec2(self.space.xs, self.space.xs);
        spacing.button_padding = vec2(self.space.s, self.px(5.0));
        spacing.interact_size = vec2(self.hit, self.hit);
        spacing.window_margin = Margin::same(16);
        spacing.menu_margin = Margin::same(8);
        spacing.indent = self.space.l;
        spacing.slider_width = self.px(120.0);
        spacing.slider_rail_height = self.px(4.0);
        spacing.icon_width = self.px(18.0);
        spacing.icon_width_inner = self.px(10.0);
        spacing.icon_spacing = self.space.xs;
        spacing.tooltip_width = self.px(360.0);
        spacing.scroll = ScrollStyle { bar_width: 8.0, floating_width: 4.0, ..ScrollStyle::floating() };
    }

    fn visuals(&self) -> Visuals {
        let base = if self.is_dark() { Visuals::dark() } else { Visuals::light() };
        let shadow = Shadow { offset: [0, 6], blur: 24, spread: 0, color: self.shadow };
        let mut visuals = Visuals {
            widgets: self.widgets(),
            selection: Selection { bg_fill: self.accent_soft, stroke: Stroke::new(1.0, self.accent) },
            weak_text_color: Some(self.muted),
            hyperlink_color: self.accent,
            faint_bg_color: self.sunken,
            extreme_bg_color: self.surface,
            text_edit_bg_color: Some(self.surface),
            code_bg_color: self.sunken,
            warn_fg_color: self.caution,
            error_fg_color: self.bad,
            window_corner_radius: self.card_corner(),
            window_shadow: shadow,
            window_fill: self.surface,
            window_stroke: self.hairline(),
            window_highlight_topmost: false,
            menu_corner_radius: self.control_corner(),
            panel_fill: self.ground,
            popup_shadow: shadow,
            indent_has_left_vline: false,
            slider_trailing_fill: true,
            handle_shape: HandleShape::Circle,
            interact_cursor: Some(egui::CursorIcon::PointingHand),
            image_loading_spinners: false,
            ..base
        };
        visuals.text_cursor.stroke = Stroke::new(1.5, self.accent);
        visuals
    }

    fn widgets(&self) -> Widgets {
        let widget = |fill: Color32, weak_fill: Color32, edge: Color32, ink: Color32| WidgetVisuals {
            bg_fill: fill,
            weak_bg_fill: weak_fill,
            bg_stroke: Stroke::new(1.0, edge),
            corner_radius: self.control_corner(),
            fg_stroke: Stroke::new(1.0, ink),
            expansion: 0.0,
        };
        Widgets {
            noninteractive: widget(self.surface, self.surface, self.line, self.ink),
            inactive: widget(self.surface, self.surface, crate::palette::mix(self.line, self.muted, 0.15), self.ink),
            hovered: widget(self.accent_soft, self.accent_soft, self.accent, self.ink),
            active: widget(self.accent_soft, self.accent_soft, self.accent, self.ink),
            open: widget(self.accent_soft, self.accent_soft, self.accent, self.ink),
        }
    }
}
