//! The link to what is on screen, as text to copy and as a QR code for the room.

use crate::action::Action;
use crate::app::App;
use crate::widgets;
use egui::{Key, RichText, TextEdit, Ui, Window};
use qrcode::{Color, EcLevel, QrCode};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("分享这一页", "Share this view");
const SCAN: Text =
    Text::new("扫码就到这一步，参数和语言都带着。", "The code opens this very step, with its parameters and language.");
const WHERE: Text = Text::new(
    "桌面版没有网址。如果网页版已经放在某处，把它的地址写在这里，链接和二维码就能用：",
    "The desktop program has no web address. If the web page is hosted somewhere, give its address and links work:",
);
const BAD_BASE: Text = Text::new("地址要以 https:// 或 http:// 开头", "an address begins with https:// or http://");
const TOO_LONG: Text = Text::new("链接太长，放不进二维码", "the link is too long for a QR code");
const COPY: Text = Text::new("复制链接", "Copy the link");
const CLOSE: Text = Text::new("关闭", "Close");

/// What the window shows, made anew when the link changes.
#[derive(Default)]
pub struct Share {
    link: String,
    /// Its modules row by row, dark ones true.
    code: Option<Vec<bool>>,
}

impl Share {
    fn refresh(&mut self, link: String) {
        if self.link != link {
            let code = QrCode::with_error_correction_level(&link, EcLevel::M).ok();
            self.code = code.map(|code| code.to_colors().into_iter().map(|color| color == Color::Dark).collect());
            self.link = link;
        }
    }
}

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let Some(mut share) = app.share.take() else { return };
    share.refresh(app.link_here());
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let mut is_open = true;
    Window::new(TITLE.get(lang))
        .collapsible(false)
        .resizable(false)
        .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0])
        .open(&mut is_open)
        .show(ui.ctx(), |ui| {
            let side = tokens.px(300.0).min(ui.ctx().content_rect().width() - tokens.px(48.0));
            ui.set_width(side);
            if !is_web(&share.link) {
                base_ui(app, ui, &tokens, lang);
            } else if let Some(code) = &share.code {
                vramlab_kit::widgets::qr_code(ui, code, side, &share.link);
                ui.label(RichText::new(SCAN.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            } else {
                ui.label(RichText::new(TOO_LONG.get(lang)).font(tokens.font(Type::Note)).color(tokens.caution));
            }
            ui.add_space(tokens.space.xs);
            ui.label(RichText::new(&share.link).font(tokens.font(Type::MonoSmall)).color(tokens.muted));
            ui.add_space(tokens.space.xs);
            ui.horizontal(|ui| {
                if widgets::primary(ui, &tokens, COPY.get(lang)).clicked() {
                    actions.push(Action::CopyLink);
                }
                if widgets::secondary(ui, &tokens, CLOSE.get(lang)).clicked() {
                    actions.push(Action::ClosePopups);
                }
            });
        });
    if !is_open || ui.input(|input| input.key_pressed(Key::Escape)) {
        actions.push(Action::ClosePopups);
    }
    app.share = Some(share);
}

fn is_web(link: &str) -> bool {
    link.starts_with("https://") || link.starts_with("http://")
}

/// Where the web page is hosted, for links from the desktop.
fn base_ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let text = RichText::new(WHERE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted);
    let label = ui.label(text);
    let mut base = app.settings.web_address.clone();
    let field = TextEdit::singleline(&mut base).hint_text("https://…").desired_width(f32::INFINITY);
    if ui.add(field).labelled_by(label.id).changed() {
        app.settings.web_address = base;
        app.mark(crate::documents::Doc::Settings);
    }
    if !app.settings.web_address.is_empty() && !is_web(&app.settings.web_address) {
        ui.label(RichText::new(BAD_BASE.get(lang)).font(tokens.font(Type::Note)).color(tokens.caution));
    }
}
