//! Language, theme, text size, motion, wheel; export of the progress; where things are kept.

use crate::action::Action;
use crate::app::App;
use crate::settings::{Settings, ThemeChoice};
use crate::widgets;
use egui::{RichText, ScrollArea, Ui};
use vramlab_kit::tokens::Type;
use vramlab_kit::widgets::{Slider, check_box, segmented};
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("设置", "Settings");
const LANGUAGE: Text = Text::new("语言", "Language");
const THEME: Text = Text::new("主题", "Theme");
const THEMES: [(ThemeChoice, Text); 3] = [
    (ThemeChoice::System, Text::new("跟随系统", "System")),
    (ThemeChoice::Light, Text::new("浅色", "Light")),
    (ThemeChoice::Dark, Text::new("深色", "Dark")),
];
const TEXT_SIZE: Text = Text::new("字号", "Text size");
const MOTION: Text = Text::new("动画", "Motion");
const MOTIONS: [(Option<bool>, Text); 3] = [
    (None, Text::new("跟随系统", "System")),
    (Some(false), Text::new("开", "On")),
    (Some(true), Text::new("减少", "Reduced")),
];
const WHEEL: Text =
    Text::new("滚轮在图上缩放（默认：滚动页面）", "The wheel zooms plots (otherwise it scrolls the page)");
const KEPT: Text = Text::new(
    "进度、笔记和运行只存在这台机器上，不会上传。",
    "Progress, notes and runs stay on this machine; nothing is uploaded.",
);
const EXPORT: Text = Text::new("导出进度…", "Export progress…");

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        crate::page::column(ui, &tokens, |ui| {
            ui.label(RichText::new(TITLE.get(lang)).font(tokens.font(Type::Chapter)));
            ui.add_space(tokens.space.l);
            widgets::card(ui, &tokens, |ui| {
                row(ui, &tokens, LANGUAGE.get(lang), |ui| {
                    let mut chosen = lang;
                    if segmented(
                        ui,
                        &tokens,
                        LANGUAGE.get(lang),
                        &mut chosen,
                        &[(Lang::Zh, "中文"), (Lang::En, "English")],
                    ) {
                        actions.push(Action::SetLang(chosen));
                    }
                });
                row(ui, &tokens, THEME.get(lang), |ui| {
                    let mut chosen = app.settings.theme;
                    let options = THEMES.map(|(choice, name)| (choice, name.get(lang)));
                    if segmented(ui, &tokens, THEME.get(lang), &mut chosen, &options) {
                        actions.push(Action::SetTheme(chosen));
                    }
                });
                row(ui, &tokens, TEXT_SIZE.get(lang), |ui| {
                    let mut scale = f64::from(app.settings.text_scale);
                    let range = f64::from(*Settings::TEXT_SCALE.start())..=f64::from(*Settings::TEXT_SCALE.end());
                    let slider = Slider::new("", &mut scale, range).step(0.1).unit("%").default_value(1.0).width(180.0);
                    let response = slider.show(ui, &tokens);
                    // The row names it for the eye; this is for those who hear the page.
                    let percent = scale * 100.0;
                    response.widget_info(|| egui::WidgetInfo::slider(true, percent, TEXT_SIZE.get(lang)));
                    // The page would jump under the pointer if it grew while it is dragged.
                    if response.changed() && !response.dragged() || response.drag_stopped() {
                        actions.push(Action::SetTextScale(scale as f32));
                    }
                });
                row(ui, &tokens, MOTION.get(lang), |ui| {
                    let mut chosen = app.settings.reduced_motion;
                    let options = MOTIONS.map(|(choice, name)| (choice, name.get(lang)));
                    if segmented(ui, &tokens, MOTION.get(lang), &mut chosen, &options) {
                        actions.push(Action::SetReducedMotion(chosen));
                    }
                });
                let mut wheel = app.settings.wheel_zooms_plots;
                if check_box(ui, &tokens, &mut wheel, WHEEL.get(lang)).changed() {
                    actions.push(Action::ToggleWheelZoom);
                }
            });
            ui.add_space(tokens.space.m);
            widgets::card(ui, &tokens, |ui| {
                ui.label(RichText::new(KEPT.get(lang)).font(tokens.font(Type::Note)));
                ui.add_space(tokens.space.xs);
                if widgets::secondary(ui, &tokens, EXPORT.get(lang)).clicked() {
                    actions.push(Action::ExportProgress);
                }
            });
        });
    });
}

fn row(ui: &mut Ui, tokens: &vramlab_kit::Tokens, label: &str, add: impl FnOnce(&mut Ui)) {
    ui.horizontal_wrapped(|ui| {
        let (rect, _) = ui.allocate_exact_size(egui::vec2(tokens.px(96.0), tokens.hit), egui::Sense::hover());
        let font = tokens.font(Type::Note);
        ui.painter().text(rect.left_center(), egui::Align2::LEFT_CENTER, label, font, tokens.muted);
        add(ui);
    });
    ui.add_space(tokens.space.xs);
}
