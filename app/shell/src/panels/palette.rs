//! The command palette: every command, chapter and step, found by a few letters. Commands that cannot run now are shown
//! with the reason.

use crate::action::Action;
use crate::app::App;
use crate::commands::COMMANDS;
use crate::route::{Page, Route};
use egui::{Align2, Area, Frame, Key, Order, RichText, ScrollArea, Sense, TextEdit, Ui, vec2};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};
use vramlab_kit::tokens::Type;
use vramlab_units::Text;

const HINT: Text = Text::new("输入命令、章节或步骤", "Type a command, chapter or step");
const RECENT: Text = Text::new("最近打开", "Recent file");
const ROUTE: Text = Text::new("路线", "Route");
const TASK: Text = Text::new("任务", "Task");
const SYMPTOM: Text = Text::new("症状", "Symptom");
const NOTHING: Text = Text::new("没有匹配", "nothing matches");

#[derive(Clone, Debug, Default)]
pub struct PaletteState {
    pub query: String,
    pub selected: usize,
}

/// One line of the palette.
struct Item {
    title: String,
    /// Searched but not shown: the title in the other language.
    also: String,
    keys: String,
    action: Result<Action, String>,
}

impl AsRef<str> for Item {
    fn as_ref(&self) -> &str {
        &self.also
    }
}

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let Some(mut state) = app.palette.take() else { return };
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let items = matching(items(app, ui), &state.query);
    let (up, down, enter, escape) = ui.input_mut(|input| {
        (
            input.consume_key(egui::Modifiers::NONE, Key::ArrowUp),
            input.consume_key(egui::Modifiers::NONE, Key::ArrowDown),
            input.consume_key(egui::Modifiers::NONE, Key::Enter),
            input.consume_key(egui::Modifiers::NONE, Key::Escape),
        )
    });
    let last = items.len().saturating_sub(1);
    state.selected = match (up, down) {
        (true, _) => state.selected.saturating_sub(1),
        (_, true) => (state.selected + 1).min(last),
        _ => state.selected.min(last),
    };
    let mut chosen = enter.then_some(state.selected);
    let screen = ui.ctx().content_rect();
    let width = tokens.px(560.0).min(screen.width() - 24.0);
    let area = Area::new(egui::Id::unique("palette"))
        .order(Order::Foreground)
        .anchor(Align2::CENTER_TOP, vec2(0.0, 72.0))
        .show(ui.ctx(), |ui| {
            let shadow = egui::Shadow { offset: [0, 8], blur: 32, spread: 0, color: tokens.shadow };
            let frame = Frame::new().fill(tokens.surface).stroke(tokens.hairline()).shadow(shadow);
            frame.corner_radius(tokens.card_corner()).inner_margin(12).show(ui, |ui| {
                ui.set_width(width - 24.0);
                let edit = TextEdit::singleline(&mut state.query)
                    .hint_text(HINT.get(lang))
                    .desired_width(f32::INFINITY)
                    .margin(vec2(10.0, 8.0));
                ui.add(edit).request_focus();
                ui.add_space(tokens.space.xs);
                if items.is_empty() {
                    ui.label(RichText::new(NOTHING.get(lang)).color(tokens.muted));
                }
                ScrollArea::vertical().max_height(tokens.px(380.0)).show(ui, |ui| {
                    for (idx, item) in items.iter().enumerate() {
                        if row_ui(ui, &tokens, item, idx == state.selected, up || down) {
                            chosen = Some(idx);
                        }
                    }
                });
            });
        });
    let clicked_away = ui.input(|input| input.pointer.any_pressed())
        && ui.input(|input| input.pointer.interact_pos()).is_some_and(|at| !area.response.rect.contains(at));
    match chosen.and_then(|idx| items.get(idx)) {
        Some(Item { action: Ok(action), .. }) => actions.push(action.clone()),
        _ if escape || clicked_away => {}
        _ => app.palette = Some(state),
    }
}

/// Paints a line; true when it was clicked.
fn row_ui(ui: &mut Ui, tokens: &vramlab_kit::Tokens, item: &Item, is_selected: bool, has_moved: bool) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(32.0)), Sense::click());
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::ListItem, item.action.is_ok(), is_selected, &item.title)
    });
    if is_selected || response.hovered() {
        ui.painter().rect_filled(rect, tokens.control_corner(), tokens.accent_soft);
    }
    if is_selected && has_moved {
        response.scroll_to_me(None);
    }
    let (color, right) = match &item.action {
        Ok(_) => (tokens.ink, item.keys.as_str()),
        Err(why) => (tokens.muted, why.as_str()),
    };
    let painter = ui.painter();
    let left = rect.left_center() + vec2(10.0, 0.0);
    let edge = rect.right_center() - vec2(10.0, 0.0);
    let used = painter.text(edge, Align2::RIGHT_CENTER, right, tokens.font(Type::Small), tokens.muted);
    let galley =
        crate::panels::elided(ui, &item.title, tokens.font(Type::Note), color, used.left() - left.x - tokens.px(8.0));
    ui.painter().galley(left - vec2(0.0, galley.size().y / 2.0), galley, color);
    response.clicked() && item.action.is_ok()
}

fn items(app: &App, ui: &Ui) -> Vec<Item> {
    let lang = app.lang();
    let mut out: Vec<Item> = COMMANDS
        .iter()
        .map(|command| Item {
            title: command.title.get(lang).to_owned(),
            also: format!("{} {}", command.title.zh, command.title.en),
            keys: command.shortcut.map(|keys| ui.ctx().format_shortcut(&keys)).unwrap_or_default(),
            action: (command.action)(app).map_err(|why| why.get(lang).to_owned()),
        })
        .collect();
    out.extend(guide_items(app));
    for chapter in app.library.chapters() {
        let names = |text: &vramlab_units::Localized| {
            format!("{} {}", text.zh.as_deref().unwrap_or_default(), text.en.as_deref().unwrap_or_default())
        };
        out.push(Item {
            title: format!(
                "{} · {}",
                chapter.number.map(|n| format!("{n:02}")).unwrap_or_default(),
                chapter.title.get(lang)
            ),
            also: format!("{} {}", chapter.id, names(&chapter.title)),
            keys: String::new(),
            action: Ok(Action::Go(Route::chapter(&chapter.id))),
        });
        for step in &chapter.steps {
            out.push(Item {
                title: format!("{} › {}", chapter.title.get(lang), step.title.get(lang)),
                also: format!("{} {}", step.id, names(&step.title)),
                keys: String::new(),
                action: Ok(Action::Go(Route::step(&chapter.id, &step.id))),
            });
        }
    }
    out
}

/// Files opened lately, routes, tasks and symptoms.
fn guide_items(app: &App) -> Vec<Item> {
    let lang = app.lang();
    let both = |text: &vramlab_units::Localized| {
        format!("{} {}", text.zh.as_deref().unwrap_or_default(), text.en.as_deref().unwrap_or_default())
    };
    let item = |kind: Text, title: &vramlab_units::Localized, id: &str, page: Page| Item {
        title: format!("{} › {}", kind.get(lang), title.get(lang)),
        also: format!("{} {} {id} {}", kind.zh, kind.en, both(title)),
        keys: String::new(),
        action: Ok(Action::Go(Route::page(page))),
    };
    let (course, handbook) = (&app.guide.course, &app.guide.handbook);
    let recent = app.settings.recent.iter().enumerate().map(|(idx, recent)| Item {
        title: format!("{} › {}", RECENT.get(lang), recent.name),
        also: format!("{} {} {}", RECENT.zh, RECENT.en, recent.name),
        keys: crate::panels::start::recent_words(app, recent),
        action: Ok(Action::OpenRecent(idx)),
    });
    let routes =
        course.routes.iter().map(|route| item(ROUTE, &route.title, &route.id, Page::Route { id: route.id.clone() }));
    let tasks = course.tasks.iter().map(|task| item(TASK, &task.title, &task.id, Page::Task { id: task.id.clone() }));
    let symptoms = handbook.symptoms.iter().map(|symptom| {
        let page = Page::Help { symptom: Some(symptom.id.clone()), answers: Vec::new() };
        item(SYMPTOM, &symptom.title, &symptom.id, page)
    });
    recent.chain(routes).chain(tasks).chain(symptoms).collect()
}

fn matching(items: Vec<Item>, query: &str) -> Vec<Item> {
    if query.trim().is_empty() {
        return items;
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(query, CaseMatching::Ignore, Normalization::Smart);
    pattern.match_list(items, &mut matcher).into_iter().map(|(item, _)| item).collect()
}
