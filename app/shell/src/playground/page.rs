//! `/playground`: every exercise by difficulty with what the reader has solved, and every other kernel of the course;
//! `/playground/KERNEL`: that kernel in the editor.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::platform::Fetch;
use crate::route::{Page, Route};
use crate::widgets;
use egui::{Align2, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Lang, Localized, Text};
use vramlab_views::playground::{EXERCISES, Playground};
use vramlab_views::{View as _, ViewCx};

const TITLE: Text = Text::new("改 kernel", "Playground");
const SUBTITLE: Text = Text::new(
    "课程里的每个 kernel 都能在这里打开、改动、检查。练习的目标是怎样碰内存，不是快慢：处理器逐个 warp 算地址来判；装了 NVRTC 能编译，有 GPU 还能运行、读计数器。\
     写下的代码自动保存。",
    "Every kernel of the course opens here, to be changed and checked. The goals of the exercises are about memory, not speed: the \
     processor judges them warp by warp, from the addresses. NVRTC compiles the same text, and a GPU runs and counts it. What you type is \
     kept by itself.",
);
const EXERCISE: Text = Text::new("练习，由易到难", "Exercises, the easier ones first");
const OTHERS: Text = Text::new("课程里的其他 kernel", "The other kernels of the course");
const HOSTED: Text = Text::new("由主机程序启动的，只能看", "Launched by routines on the host, to be read only");
const SOLVED: Text = Text::new("解出来了", "solved");
const TRIED: Text = Text::new("试过", "tried");
const ALL: Text = Text::new("全部 kernel", "All kernels");
const BEFORE: Text = Text::new("上一题", "Previous");
const AFTER: Text = Text::new("下一题", "Next");
const COUNT: Text = Text::new("解出 {n} / {all}", "{n} of {all} solved");
const UNKNOWN: Text = Text::new("没有名为 {} 的 kernel", "no kernel is called {}");

/// The page of all kernels, or of one.
#[inline(never)] // it comes late on the web
pub fn ui(app: &mut App, ui: &mut Ui, kernel: Option<&str>, actions: &mut Vec<Action>) {
    match kernel {
        None => list_ui(app, ui, actions),
        Some(slug) => kernel_ui(app, ui, slug, actions),
    }
}

fn go(kernel: Option<&str>) -> Action {
    Action::Go(Route::page(Page::Playground { kernel: kernel.map(str::to_owned) }))
}

/// The title of a kernel: the task's, where it has one.
fn title(app: &App, slug: &str) -> Option<Localized> {
    let kernels = app.library.kernels();
    let exercise = kernels.exercises.get(slug).map(|exercise| exercise.title.clone());
    exercise.or_else(|| kernels.kernels.get(slug).map(|kernel| kernel.title.clone()))
}

/// Kernels that are no exercises: those that can be changed, or those that a routine on the host launches.
fn others(app: &App, is_hosted: bool) -> Vec<String> {
    let kernels = &app.library.kernels().kernels;
    let is_open = |slug: &&String| {
        let kernel = &kernels[*slug];
        let is_there = if is_hosted { kernel.cuda_host.is_some() } else { kernel.cuda.is_some() };
        is_there && !EXERCISES.contains(&slug.as_str())
    };
    kernels.keys().filter(is_open).cloned().collect()
}

fn list_ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let (tokens, lang) = (app.tokens().clone(), app.lang());
    app.playground.keep();
    parts::page(ui, &tokens, "playground", TITLE.get(lang), SUBTITLE.get(lang), |ui| {
        widgets::card(ui, &tokens, |ui| {
            let solved = EXERCISES.iter().filter(|slug| app.playground.drafts.marks(slug).1).count();
            let (n, all) = (solved.to_string(), EXERCISES.len().to_string());
            parts::heading(ui, &tokens, EXERCISE.get(lang));
            parts::label(ui, &tokens, &COUNT.get(lang).replace("{n}", &n).replace("{all}", &all));
            ui.add_space(tokens.space.xs);
            ui.spacing_mut().item_spacing.y = 0.0;
            for (number, slug) in (1..).zip(EXERCISES) {
                row_ui(app, ui, &tokens, lang, &number.to_string(), slug, actions);
            }
        });
        for (heading, is_hosted) in [(OTHERS, false), (HOSTED, true)] {
            ui.add_space(tokens.space.m);
            widgets::card(ui, &tokens, |ui| {
                parts::heading(ui, &tokens, heading.get(lang));
                ui.spacing_mut().item_spacing.y = 0.0;
                for slug in others(app, is_hosted) {
                    row_ui(app, ui, &tokens, lang, "", &slug, actions);
                }
            });
        }
    });
}

fn row_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang, number: &str, slug: &str, actions: &mut Vec<Action>) {
    let Some(title) = title(app, slug) else { return };
    let title = title.get(lang);
    let mark = match app.playground.drafts.marks(slug) {
        (_, true) => format!("✓ {}", SOLVED.get(lang)),
        (true, _) => TRIED.get(lang).to_owned(),
        _ => String::new(),
    };
    let size = vec2(ui.available_width(), tokens.hit.max(tokens.px(32.0)));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Link, true, format!("{title} {mark}").trim()));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, tokens.control_corner(), tokens.tint(tokens.ink, 0.05));
    }
    let y = rect.center().y;
    let font = tokens.font(Type::MonoSmall);
    let left = if number.is_empty() { tokens.px(8.0) } else { tokens.px(36.0) };
    ui.painter().text(pos2(rect.left() + tokens.px(8.0), y), Align2::LEFT_CENTER, number, font.clone(), tokens.muted);
    let color = if mark.starts_with('✓') { tokens.good } else { tokens.muted };
    let right = pos2(rect.right() - tokens.px(8.0), y);
    let marked = ui.painter().text(right, Align2::RIGHT_CENTER, &mark, tokens.font(Type::Small), color);
    let room = marked.left() - rect.left() - left - tokens.space.s;
    let galley = crate::panels::elided(ui, title, tokens.font(Type::Note), tokens.ink, room);
    let end = rect.left() + left + galley.size().x;
    ui.painter().galley(pos2(rect.left() + left, y - galley.size().y / 2.0), galley, tokens.ink);
    let rest = marked.left() - end - 2.0 * tokens.space.s;
    let exercise = app.library.kernels().exercises.get(slug);
    let (about, font) = match exercise {
        Some(exercise) => (vramlab_views::playground::goals_of(exercise, lang), tokens.font(Type::Small)),
        None => (slug.to_owned(), font),
    };
    // A stub of a sentence says nothing.
    let whole = ui.painter().layout_no_wrap(about.clone(), font.clone(), tokens.muted).size().x;
    if rest >= whole.min(tokens.px(240.0)) {
        let id = crate::panels::elided(ui, &about, font, tokens.muted, rest);
        ui.painter().galley(pos2(end + tokens.space.s, y - id.size().y / 2.0), id, tokens.muted);
    }
    if response.clicked() {
        actions.push(go(Some(slug)));
    }
}

fn kernel_ui(app: &mut App, ui: &mut Ui, slug: &str, actions: &mut Vec<Action>) {
    let (tokens, lang) = (app.tokens().clone(), app.lang());
    let name = title(app, slug);
    let heading = name.as_ref().map_or(TITLE.get(lang), |name| name.get(lang));
    let subtitle = if name.is_some() { slug.to_owned() } else { UNKNOWN.get(lang).replace("{}", slug) };
    let mut shown = shown(app, slug);
    let (has_motion, time_secs) = (app.has_motion(), ui.input(|input| input.time));
    parts::page(ui, &tokens, slug, heading, &subtitle, |ui| {
        ui.horizontal_wrapped(|ui| neighbours_ui(ui, &tokens, lang, slug, actions));
        ui.add_space(tokens.space.s);
        if name.is_none() {
            return;
        }
        widgets::card(ui, &tokens, |ui| {
            let mut asked = Vec::new();
            let mut cx = ViewCx { tokens: &tokens, lang, has_motion, time_secs, actions: &mut asked };
            shown.ui(ui, &mut cx);
            ui.add_space(tokens.space.s);
            widgets::finding(ui, &tokens, &shown.finding(lang));
            actions.extend(asked.into_iter().map(crate::page::figure::action_from_view));
        });
    });
    app.playground.shown = Some(shown);
}

/// The playground of the page, standing at the desk of its kernel.
fn shown(app: &mut App, slug: &str) -> Playground {
    let shown = app.playground.shown.take().filter(|shown| shown.slug() == slug);
    let mut shown = shown.unwrap_or_else(|| Playground::of(slug));
    while let Some(path) = shown.wants() {
        match app.platform.fetch(&path) {
            Fetch::Here(bytes) => shown.take(Ok(&bytes)),
            Fetch::Failed(why) => shown.take(Err(why)),
            Fetch::Waiting => break,
        }
    }
    app.playground.attach(&mut shown);
    shown
}

fn neighbours_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, slug: &str, actions: &mut Vec<Action>) {
    if widgets::link(ui, tokens, ALL.get(lang)).clicked() {
        actions.push(go(None));
    }
    let Some(at) = EXERCISES.iter().position(|known| *known == slug) else { return };
    let before = at.checked_sub(1).and_then(|at| EXERCISES.get(at));
    for (label, to) in [(BEFORE, before), (AFTER, EXERCISES.get(at + 1))] {
        if let Some(to) = to
            && widgets::link(ui, tokens, label.get(lang)).clicked()
        {
            actions.push(go(Some(to)));
        }
    }
}
