//! What stands in the place of a page that is still on its way, which happens on the web only.

use crate::app::App;
use crate::platform::{Fetch, Rest};
use egui::{RichText, Ui};
use vramlab_kit::Type;
use vramlab_units::Text;

const COMING: Text = Text::new("正在取这一页…", "Fetching this page…");
const FAILED: Text = Text::new(
    "这一页还没取到。网络通了会自动接着取。",
    "This page could not be fetched yet. It comes by itself once the network is back.",
);

/// The page of a chapter, by id and the path of its text, or another one.
pub fn ui(app: &mut App, ui: &mut Ui, chapter: Option<(&str, &str)>) {
    let (tokens, lang) = (app.tokens().clone(), app.lang());
    let title = chapter.and_then(|(id, _)| app.library.row(id)).map(|row| row.title.get(lang).to_owned());
    let rest = app.platform.rest();
    let why = match (rest, chapter) {
        (Rest::Failed(why), _) => Some(why),
        (Rest::Here, Some((_, path))) => match app.platform.fetch(path) {
            Fetch::Failed(why) => Some(why),
            _ => None,
        },
        _ => None,
    };
    super::column(ui, &tokens, |ui| {
        if let Some(title) = title {
            ui.label(RichText::new(title).font(tokens.font(Type::Chapter)).color(tokens.ink));
            ui.add_space(tokens.space.m);
        }
        let body = |text: Text| RichText::new(text.get(lang)).font(tokens.font(Type::Body));
        let Some(why) = why else {
            ui.label(body(COMING).color(tokens.muted));
            return;
        };
        ui.label(body(FAILED).color(tokens.ink));
        ui.label(RichText::new(why).font(tokens.font(Type::Note)).color(tokens.muted));
    });
}
