//! The curriculum: search, chapters by layer, progress. Chapters that are not written yet are muted and say so.

use crate::action::Action;
use crate::app::App;
use crate::library::Row;
use crate::panels::elided;
use crate::route::{Page, Route};
use crate::text;
use egui::{Align2, RichText, ScrollArea, Sense, TextEdit, Ui, pos2, vec2};
use vramlab_kit::icons::Icon;
use vramlab_kit::tokens::Type;
use vramlab_kit::widgets::Button;
use vramlab_units::{Lang, Text};

const SEARCH: Text = Text::new("搜索章节", "Search chapters");
const NOT_WRITTEN: Text = Text::new("这一章还没有写", "this chapter is not written yet");
const NO_HIT: Text = Text::new("没有匹配的章节", "no chapter matches");

const HOME: Text = Text::new("首页", "Start");
const HELP: Text = Text::new("症状手册", "Symptoms");
const PLAYGROUND: Text = Text::new("改 kernel", "Playground");
const EVIDENCE: Text = Text::new("证据表", "Evidence");
const BY_LAYER: Text = Text::new("按层级", "By layer");
const GROUPED: Text =
    Text::new("目录怎样分组：按层级，或沿一条路线", "How the list is grouped: by layer, or along a route");
const OPEN_ROUTE: Text = Text::new("打开这条路线", "Open this route");
const PACKS: Text = Text::new("课程包", "Packs");

const LAYERS: &[(&str, Text)] = &[
    ("analyse", Text::new("分析", "Analyse")),
    ("system", Text::new("系统级", "System level")),
    ("model", Text::new("模型级", "Model level")),
    ("deployment", Text::new("部署级", "Deployment level")),
    ("synthesis", Text::new("综合", "Synthesis")),
    ("pack", Text::new("课程包", "Packs")),
];

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    ui.horizontal(|ui| {
        let name = RichText::new(text::APP.get(lang)).font(tokens.font(Type::Card)).color(tokens.ink);
        let other = RichText::new(text::APP.get(lang.other())).font(tokens.font(Type::Small)).color(tokens.muted);
        if ui.add(egui::Label::new(name).sense(Sense::click())).clicked() {
            actions.push(Action::Go(Route::default()));
        }
        ui.label(other);
    });
    ui.add_space(tokens.space.s);
    search_ui(app, ui, actions);
    ui.add_space(tokens.space.xxs);
    places_ui(app, ui, actions);
    group_ui(app, ui, actions);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| list_ui(app, ui, lang, actions));
}

fn search_ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let edit = TextEdit::singleline(&mut app.rail_query)
        .hint_text(SEARCH.get(lang))
        .desired_width(f32::INFINITY)
        .margin(vec2(10.0, 7.0));
    let response = ui.add(edit);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, SEARCH.get(lang)));
    if app.rail_query.is_empty() {
        ui.painter().text(
            response.rect.right_center() - vec2(10.0, 0.0),
            Align2::RIGHT_CENTER,
            if cfg!(target_os = "macos") { "⌘ K" } else { "Ctrl K" },
            tokens.font(Type::Small),
            tokens.muted,
        );
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
        let hit = app.library.search(&app.rail_query).into_iter().find(|row| row.is_written);
        if let Some(row) = hit {
            actions.push(Action::Go(Route::chapter(&row.id)));
        }
    }
}

fn list_ui(app: &App, ui: &mut Ui, lang: Lang, actions: &mut Vec<Action>) {
    let tokens = app.tokens();
    let rows = app.library.search(&app.rail_query);
    if rows.is_empty() {
        ui.label(RichText::new(NO_HIT.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    }
    for (title, task, of_group) in groups(app, &rows, lang) {
        ui.add_space(tokens.space.s);
        match task {
            Some(task) => {
                if Button::quiet(&title).show(ui, tokens).clicked() {
                    actions.push(Action::Go(Route::page(Page::Task { id: task })));
                }
            }
            None => {
                ui.label(RichText::new(title).font(tokens.font(Type::Small)).color(tokens.muted));
            }
        }
        ui.add_space(tokens.space.xxs);
        ui.spacing_mut().item_spacing.y = 0.0;
        for row in of_group {
            row_ui(app, ui, lang, row, actions);
        }
    }
}

/// A group of the list: its title, the task it is, its rows.
type Group<'a> = (String, Option<String>, Vec<&'a Row>);

/// The rows by layer, or in the order of the chosen route; empty groups are left out.
fn groups<'a>(app: &App, rows: &'a [Row], lang: Lang) -> Vec<Group<'a>> {
    let course = &app.guide.course;
    let of =
        |ids: &[&str]| -> Vec<&'a Row> { ids.iter().filter_map(|id| rows.iter().find(|row| row.id == *id)).collect() };
    let packs = || rows.iter().filter(|row| row.layer == "pack").collect::<Vec<_>>();
    let route = app.settings.rail_route.as_deref().and_then(|id| course.route(id));
    let mut out: Vec<Group<'a>> = match route {
        None => LAYERS
            .iter()
            .map(|(layer, title)| {
                let of_layer = rows.iter().filter(|row| row.layer == *layer).collect();
                (title.get(lang).to_owned(), None, of_layer)
            })
            .collect(),
        Some(route) if course.tasks_of(route).is_empty() => {
            vec![(route.text.get(lang).to_owned(), None, of(&course.chapters_of(route)))]
        }
        Some(route) => {
            let tasks = course.tasks_of(route).into_iter().map(|task| {
                let ids: Vec<&str> = task.chapters.iter().map(|(id, _)| id.as_str()).collect();
                (crate::guide::task_page::title(task, lang), Some(task.id.clone()), of(&ids))
            });
            tasks.collect()
        }
    };
    if route.is_some() {
        out.push((PACKS.get(lang).to_owned(), None, packs()));
    }
    out.retain(|(_, _, rows)| !rows.is_empty());
    out
}

/// The pages beside the chapters, two in a row: in no language does one of four stand alone in a second row.
fn places_ui(app: &App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens();
    let lang = app.lang();
    let spacing = [tokens.px(2.0), 0.0];
    let half = (ui.available_width() - spacing[0]) / 2.0;
    egui::Grid::new("places").spacing(spacing).min_col_width(half).max_col_width(half).show(ui, |ui| {
        let help = Page::Help { symptom: None, answers: Vec::new() };
        let kernels = Page::Playground { kernel: None };
        let evidence = Page::Evidence { route: None };
        let places = [(HOME, Page::Start), (HELP, help), (EVIDENCE, evidence), (PLAYGROUND, kernels)];
        for (number, (name, page)) in (1..).zip(places) {
            let is_here = std::mem::discriminant(&app.route.page) == std::mem::discriminant(&page);
            if Button::quiet(name.get(lang)).selected(is_here).show(ui, tokens).clicked() {
                actions.push(Action::Go(Route::page(page)));
            }
            if number % 2 == 0 {
                ui.end_row();
            }
        }
    });
}

/// By layer, or along one of the routes.
fn group_ui(app: &App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens();
    let lang = app.lang();
    let routes = &app.guide.course.routes;
    let chosen = app.settings.rail_route.as_deref().and_then(|id| app.guide.course.route(id));
    let name = chosen.map_or(BY_LAYER.get(lang), |route| route.title.get(lang));
    ui.horizontal(|ui| {
        let button = Button::quiet(name).icon(Icon::ChevronDown).hover(GROUPED.get(lang)).show(ui, tokens);
        egui::Popup::menu(&button).show(|ui| {
            if ui.selectable_label(chosen.is_none(), BY_LAYER.get(lang)).clicked() {
                actions.push(Action::GroupRail(None));
            }
            for route in routes {
                let is_chosen = chosen.is_some_and(|chosen| chosen.id == route.id);
                if ui.selectable_label(is_chosen, route.title.get(lang)).clicked() {
                    actions.push(Action::GroupRail(Some(route.id.clone())));
                }
            }
        });
        if let Some(route) = chosen
            && Button::icon_only(Icon::ChevronRight, OPEN_ROUTE.get(lang)).show(ui, tokens).clicked()
        {
            actions.push(Action::Go(Route::page(Page::Route { id: route.id.clone() })));
        }
    });
}

fn row_ui(app: &App, ui: &mut Ui, lang: Lang, row: &Row, actions: &mut Vec<Action>) {
    let tokens = app.tokens();
    let is_here = app.chapter_id() == Some(row.id.as_str());
    let size = vec2(ui.available_width() - tokens.px(4.0), tokens.hit.max(tokens.px(30.0)));
    let sense = if row.is_written { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let title = row.title.get(lang);
    let n_done = app.n_done(&row.id);
    let mark = match (row.n_steps, n_done) {
        (0, _) | (_, 0) => String::new(),
        (all, done) if done >= all => "✓".to_owned(),
        (all, done) => format!("{done}/{all}"),
    };
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::ListItem, row.is_written, is_here, format!("{title} {mark}"))
    });
    let painter = ui.painter();
    let corner = tokens.control_corner();
    if is_here {
        painter.rect_filled(rect, corner, tokens.accent_soft);
    } else if row.is_written && (response.hovered() || response.has_focus()) {
        painter.rect_filled(rect, corner, tokens.tint(tokens.ink, 0.05));
    }
    let color = match (is_here, row.is_written) {
        (true, _) => tokens.accent,
        (_, true) => tokens.ink,
        _ => tokens.tint(tokens.muted, 0.62),
    };
    let y = rect.center().y;
    let x = rect.left() + tokens.px(8.0);
    painter.text(pos2(x, y), Align2::LEFT_CENTER, &row.number, tokens.font(Type::MonoSmall), tokens.tint(color, 0.75));
    let right = rect.right() - tokens.px(8.0);
    let mark_color = if mark == "✓" { tokens.good } else { color };
    let mark_rect = painter.text(pos2(right, y), Align2::RIGHT_CENTER, &mark, tokens.font(Type::Small), mark_color);
    let font = if is_here { Type::NoteStrong } else { Type::Note };
    let left = x + tokens.px(28.0);
    let galley = elided(ui, title, tokens.font(font), color, mark_rect.left() - left - tokens.px(6.0));
    ui.painter().galley(pos2(left, y - galley.size().y / 2.0), galley, color);
    let response = if row.is_written { response } else { response.on_hover_text(NOT_WRITTEN.get(lang)) };
    if response.clicked() {
        actions.push(Action::Go(Route::chapter(&row.id)));
    }
}
