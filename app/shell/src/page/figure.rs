//! The card around a figure, a visualizer or an author's: title, evidence, reset, menu, the figure, its finding in words.

use crate::action::Action;
use crate::app::App;
use crate::page::{prose, veil};
use crate::platform::Fetch;
use crate::route::Route;
use crate::widgets;
use egui::{RichText, Ui};
use std::sync::Arc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::{Chapter, Figure, Step, VisualizerStep};
use vramlab_units::{FieldError, Lang, Localized, Map, Text};
use vramlab_views::{AuthorFigure, View, ViewAction, ViewCx};

const MENU: Text = Text::new("更多", "More");
const COPY_TSV: Text = Text::new("复制数据（TSV）", "Copy data as TSV");
const SAVE_CSV: Text = Text::new("保存数据为 CSV…", "Save data as CSV…");
const REFUSED: Text =
    Text::new("链接里的参数不能用，显示默认值：{}", "parameters of the link were refused, showing the defaults: {}");

/// What a figure is opened from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    Visualizer(&'a VisualizerStep),
    Author(&'a Arc<Figure>),
}

impl Source<'_> {
    fn text(&self) -> &Localized {
        match self {
            Self::Visualizer(step) => &step.text,
            Self::Author(figure) => &figure.text,
        }
    }

    /// The name in the registry; an author's figure has only the step's title.
    fn title(&self, lang: Lang) -> &'static str {
        match self {
            Self::Visualizer(step) => {
                vramlab_views::view::find(&step.show).map(|entry| entry.title.get(lang)).unwrap_or_default()
            }
            Self::Author(_) => "",
        }
    }

    /// Opens it as the chapter does, with `params` over the chapter's own.
    fn open(&self, params: &Map) -> Result<Box<dyn View>, FieldError> {
        match self {
            Self::Author(figure) => Ok(Box::new(AuthorFigure::open(Arc::clone(figure), params)?)),
            Self::Visualizer(step) => {
                let Some(entry) = vramlab_views::view::find(&step.show) else {
                    return Err(FieldError::conflict("show", format!("no visualizer is called \"{}\"", step.show)));
                };
                let mut all = step.params.clone();
                all.extend(params.clone());
                entry.open(&all)
            }
        }
    }
}

pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, figure: Source<'_>, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    if let Some(predict) = veil::holds_figure(app, chapter, step) {
        widgets::card(ui, &tokens, |ui| {
            widgets::card_header(ui, &tokens, step.title.get(lang), "", |_| {});
            prose::markdown_ui(app, ui, &chapter.id, figure.text(), actions);
            ui.add_space(tokens.space.xs);
            veil::ui(app, ui, chapter, step, predict, actions);
        });
        return;
    }
    open(app, &chapter.id, &step.id, figure, lang);
    fetch(app, &chapter.id, &step.id);
    if let Some(Ok(view)) = &mut app.steps.get(&chapter.id, &step.id).view
        && let Some(playground) = view.playground()
    {
        app.playground.attach(playground);
    }
    let card = widgets::card(ui, &tokens, |ui| {
        header_ui(app, ui, &tokens, chapter, step, figure, actions);
        prose::markdown_ui(app, ui, &chapter.id, figure.text(), actions);
        ui.add_space(tokens.space.xs);
        let has_motion = app.has_motion();
        let time_secs = ui.input(|input| input.time);
        let state = app.steps.get(&chapter.id, &step.id);
        if let Some(why) = &state.refused {
            ui.label(RichText::new(why).font(tokens.font(Type::Note)).color(tokens.caution));
        }
        match &mut state.view {
            Some(Ok(view)) => {
                let mut asked = Vec::new();
                let mut cx = ViewCx { tokens: &tokens, lang, has_motion, time_secs, actions: &mut asked };
                let painted = ui.scope(|ui| view.ui(ui, &mut cx)).response.rect;
                state.painted = Some(painted);
                if std::mem::take(&mut state.wants_svg) {
                    let text =
                        vramlab_views::svg::from_painter(ui.painter(), painted, tokens.surface, &view.finding(lang));
                    asked.push(ViewAction::SaveText { name: format!("{}.svg", step.id), text });
                }
                let params = differing(&state.initial, &view.params());
                if params != state.addressed {
                    let before = std::mem::replace(&mut state.addressed, params.clone());
                    let (chapter, step) = (chapter.id.clone(), step.id.clone());
                    actions.push(Action::Address { chapter, step, before, params });
                }
                ui.add_space(tokens.space.s);
                widgets::finding(ui, &tokens, &view.finding(lang));
                if view.is_playing() {
                    ui.ctx().request_repaint();
                }
                actions.extend(asked.into_iter().map(action_from_view));
            }
            Some(Err(why)) => {
                ui.label(RichText::new(why.as_str()).font(tokens.font(Type::Note)).color(tokens.bad));
            }
            None => {}
        }
    });
    prose::seen(app, ui, card.response.rect, chapter, step, actions);
}

pub fn action_from_view(action: ViewAction) -> Action {
    match action {
        ViewAction::CopyText(text) => Action::CopyText(text),
        ViewAction::SaveText { name, text } => Action::SaveText { name, text },
        ViewAction::OpenStep { chapter, step } => Action::Go(Route::step(&chapter, &step)),
    }
}

/// Opens the figure if it is not open yet: on the link's parameters, else on the chapter's. An author's figure is opened
/// again when its file has changed, with its sliders where they were.
fn open(app: &mut App, chapter: &str, step: &str, figure: Source<'_>, lang: Lang) {
    let state = app.steps.get(chapter, step);
    if let Source::Author(read) = figure
        && !state.read_from.as_ref().is_some_and(|before| Arc::ptr_eq(before, read))
    {
        state.read_from = Some(Arc::clone(read));
        if let Some(Ok(view)) = &state.view {
            state.wanted = Some(still_legal(read, &differing(&state.initial, &view.params())));
        }
        state.view = None;
    }
    if state.view.is_some() {
        return;
    }
    let fresh = figure.open(&Map::new()).map_err(|error| error.to_string());
    if let Ok(view) = &fresh {
        state.initial = view.params();
    }
    if let Some(wanted) = state.wanted.take() {
        match figure.open(&wanted) {
            Ok(view) => {
                state.refused = None;
                state.addressed = differing(&state.initial, &view.params());
                state.view = Some(Ok(view));
                return;
            }
            Err(error) => {
                state.addressed = wanted;
                state.refused = Some(REFUSED.get(lang).replace("{}", &error.to_string()));
            }
        }
    }
    state.view = Some(fresh);
}

/// Brings the figure the asset that it lacks, once that has come.
fn fetch(app: &mut App, chapter: &str, step: &str) {
    let Some(Ok(view)) = &app.steps.get(chapter, step).view else { return };
    let Some(path) = view.wants() else { return };
    let fetched = app.platform.fetch(&path);
    let Some(Ok(view)) = &mut app.steps.get(chapter, step).view else { return };
    match fetched {
        Fetch::Here(bytes) => view.take(Ok(&bytes)),
        Fetch::Failed(why) => view.take(Err(why)),
        Fetch::Waiting => {}
    }
}

/// The sliders that can still stand where they are.
fn still_legal(figure: &Figure, params: &Map) -> Map {
    let is_legal = |name: &str, value: f64| {
        figure.sliders.iter().any(|slider| slider.name == name && (slider.min..=slider.max).contains(&value))
    };
    let kept = params.iter().filter(|(name, value)| value.as_f64().is_some_and(|value| is_legal(name, value)));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn header_ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    chapter: &Chapter,
    step: &Step,
    figure: Source<'_>,
    actions: &mut Vec<Action>,
) {
    let lang = app.lang();
    let (title, term) = match (step.title.get(lang), &figure) {
        ("", _) => (figure.title(lang), figure.title(lang.other())),
        (title, Source::Visualizer(_)) => (title, step.title.get(lang.other())),
        (title, Source::Author(_)) => (title, ""),
    };
    widgets::card_header(ui, tokens, title, term, |ui| {
        let state = app.steps.get(&chapter.id, &step.id);
        let current = match &state.view {
            Some(Ok(view)) => view.params(),
            _ => Map::new(),
        };
        let initial = state.initial.clone();
        let is_changed = current != initial;
        ui.menu_button("⋯", |ui| {
            // A table may have a row for each of thousands of steps: made while the menu is open, not in every frame.
            let data = match &app.steps.get(&chapter.id, &step.id).view {
                Some(Ok(view)) => view.data(),
                _ => Default::default(),
            };
            menu_ui(ui, lang, &step.id, &data, actions);
            let state = app.steps.get(&chapter.id, &step.id);
            if let Some(rect) = state.painted
                && ui.button(crate::text::COPY_IMAGE.get(lang)).clicked()
            {
                actions.push(Action::CopyImage(rect.expand(8.0)));
                ui.close();
            }
            if ui.button(crate::text::SAVE_SVG.get(lang)).clicked() {
                state.wants_svg = true;
                ui.close();
            }
            if ui.button(crate::text::COPY_LINK.get(lang)).clicked() {
                let mut route = Route::step(&chapter.id, &step.id);
                route.params = differing(&initial, &current);
                route.lang = Some(lang);
                actions.push(Action::CopyText(app.platform.link(&route.text())));
                ui.close();
            }
        })
        .response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, MENU.get(lang)));
        let state = app.steps.get(&chapter.id, &step.id);
        if ui.add_enabled(is_changed, egui::Button::new(crate::text::RESET.get(lang))).clicked() {
            state.view = None;
            state.refused = None;
        }
        let evidence = match &state.view {
            Some(Ok(view)) => evidence(view.as_ref(), lang),
            _ => widgets::Evidence::Model,
        };
        widgets::chip(ui, tokens, &evidence, lang);
    });
}

/// Where the numbers of a figure come from.
fn evidence(view: &dyn View, lang: Lang) -> widgets::Evidence {
    if let Some([device, driver, date]) = view.recorded(lang) {
        return widgets::Evidence::Recorded { device, driver, date };
    }
    let cited = view.cited(lang).map(|(source, date)| widgets::Evidence::Cited { source, date });
    cited.unwrap_or(widgets::Evidence::Model)
}

fn menu_ui(ui: &mut Ui, lang: Lang, name: &str, data: &vramlab_views::view::DataTable, actions: &mut Vec<Action>) {
    if ui.button(COPY_TSV.get(lang)).clicked() {
        actions.push(Action::CopyText(separated(data, "\t")));
        ui.close();
    }
    if ui.button(SAVE_CSV.get(lang)).clicked() {
        actions.push(Action::SaveText { name: format!("{name}.csv"), text: separated(data, ",") });
        ui.close();
    }
}

/// A table as text; cells are plain numbers and words.
pub fn separated(table: &vramlab_views::view::DataTable, separator: &str) -> String {
    let mut out = table.header.join(separator);
    for row in &table.rows {
        out.push('\n');
        out.push_str(&row.join(separator));
    }
    out.push('\n');
    out
}

/// Only what differs from the chapter's own parameters, for links.
fn differing(initial: &Map, current: &Map) -> Map {
    current
        .iter()
        .filter(|(key, value)| initial.get(*key) != Some(value))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}
