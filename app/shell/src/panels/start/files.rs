//! What can be opened and what was opened lately: a card on the start page, and a page of its own that also shows what
//! became of the last file.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::intake::{self, Received, Recent, Use};
use crate::route::{Page, Route};
use crate::widgets;
use egui::{RichText, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_sniff::Kind;
use vramlab_units::{Lang, Localized, Text};

const OPEN: Text = Text::new("打开你的文件", "Open a file of yours");
const DROP: Text = Text::new(
    "把课程包、录制、显存快照、模型配置、日志拖进窗口的任何地方。按内容识别，只在本机读取。",
    "Drop a lesson pack, a recording, a memory snapshot, a model's config or a log anywhere on the window. It is recognised by its content, and read here only.",
);
const CHOOSE: Text = Text::new("选择文件…", "Choose a file…");
const WHAT: Text = Text::new("能打开什么", "What can be opened");
const SNAPSHOT: Text = Text::new("显存快照", "Memory snapshots");
const RECENT: Text = Text::new("最近打开", "Recently opened");
const FORGET: Text = Text::new("清空列表", "Clear the list");
const MISSING: Text = Text::new("不在了", "no longer there");
const TITLE: Text = Text::new("文件", "Files");
const RECOGNISED: Text = Text::new("认出来了", "Recognised");
const OF_NO_USE: Text = Text::new("这里用不上", "Of no use here");
const NOT_YET: Text = Text::new(
    "读它的那一章还没写好。到时候把它拖进来，就会在那里打开。",
    "The chapter that reads it is not written yet. Once it is, the file will open there.",
);
const HANDLED_BY: Text = Text::new("由这一章处理", "Handled by this chapter");
const READ_IT: Text = Text::new("去学怎么读它", "Learn to read it");
const MEANWHILE: Text = Text::new("现在就能看的", "What helps right now");
const OPENS_NOW: Text = Text::new("拖进来就打开", "Opens at once");
const RECOGNISES: Text = Text::new("认得，由这些章节处理", "Recognised, for the chapters named");
const CHAPTER: Text = Text::new("第 {} 章", "chapter {}");
const HOW_SNAPSHOT: Text =
    Text::new("要看显存，请录一份快照，而不是权重：", "To look at memory, record a snapshot and not the weights:");
const COPY: Text = Text::new("复制命令", "Copy the command");

/// The card on the start page.
pub fn card_ui(app: &App, ui: &mut Ui, tokens: &Tokens, actions: &mut Vec<Action>) {
    let lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, OPEN.get(lang));
        parts::note(ui, tokens, DROP.get(lang), tokens.muted);
        ui.add_space(tokens.space.xs);
        ui.horizontal_wrapped(|ui| {
            if widgets::secondary(ui, tokens, CHOOSE.get(lang)).clicked() {
                actions.push(Action::OpenFile);
            }
            if widgets::link(ui, tokens, WHAT.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Files)));
            }
            if widgets::link(ui, tokens, SNAPSHOT.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Snapshot)));
            }
        });
        if !app.settings.recent.is_empty() {
            ui.add_space(tokens.space.s);
            recent_ui(app, ui, tokens, 5, actions);
        }
    });
}

/// The files opened lately; one that is gone says so.
pub fn recent_ui(app: &App, ui: &mut Ui, tokens: &Tokens, most: usize, actions: &mut Vec<Action>) {
    let lang = app.lang();
    ui.horizontal(|ui| {
        parts::label(ui, tokens, RECENT.get(lang));
        if widgets::link(ui, tokens, FORGET.get(lang)).clicked() {
            actions.push(Action::ForgetRecent);
        }
    });
    for (idx, recent) in app.settings.recent.iter().take(most).enumerate() {
        if recent_line(app, ui, tokens, recent) {
            actions.push(Action::OpenRecent(idx));
        }
    }
}

/// What a recent file is, and whether it is still there.
pub fn recent_words(app: &App, recent: &Recent) -> String {
    let lang = app.lang();
    let kind = Kind::from_id(&recent.kind).map(|kind| kind.name().get(lang)).unwrap_or_default();
    let is_missing = recent.path.as_ref().is_some_and(|path| app.missing.contains(path));
    let parts = [kind, if is_missing { MISSING.get(lang) } else { "" }];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn recent_line(app: &App, ui: &mut Ui, tokens: &Tokens, recent: &Recent) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(30.0)), Sense::click());
    let words = recent_words(app, recent);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, format!("{}. {words}", recent.name)));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, tokens.control_corner(), tokens.accent_soft);
    }
    let y = rect.center().y;
    let most = rect.width() * 0.55;
    let told = crate::panels::elided(ui, &words, tokens.font(Type::Small), tokens.muted, most);
    let right = rect.right() - tokens.px(8.0) - told.size().x;
    ui.painter().galley(pos2(right, y - told.size().y / 2.0), told, tokens.muted);
    let left = rect.left() + tokens.px(8.0);
    let font = tokens.font(Type::Note);
    let galley = crate::panels::elided(ui, &recent.name, font, tokens.ink, right - left - tokens.px(10.0));
    ui.painter().galley(pos2(left, y - galley.size().y / 2.0), galley, tokens.ink);
    response.clicked()
}

/// The page: what became of the last file, what can be opened, what was opened.
pub fn files_page(app: &App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    parts::page(ui, &tokens, "files", TITLE.get(lang), DROP.get(lang), |ui| {
        if let Some(received) = &app.received {
            received_ui(app, ui, &tokens, received, actions);
            ui.add_space(tokens.space.m);
        }
        ui.horizontal_wrapped(|ui| {
            if widgets::secondary(ui, &tokens, CHOOSE.get(lang)).clicked() {
                actions.push(Action::OpenFile);
            }
        });
        ui.add_space(tokens.space.m);
        if !app.settings.recent.is_empty() {
            widgets::card(ui, &tokens, |ui| recent_ui(app, ui, &tokens, 10, actions));
            ui.add_space(tokens.space.m);
        }
        accepted_ui(ui, &tokens, lang);
    });
}

fn received_ui(app: &App, ui: &mut Ui, tokens: &Tokens, received: &Received, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let sniffed = &received.sniffed;
    widgets::card(ui, tokens, |ui| {
        let is_of_use = intake::use_of(sniffed.kind) != Use::No;
        parts::label(ui, tokens, if is_of_use { RECOGNISED.get(lang) } else { OF_NO_USE.get(lang) });
        let kind = RichText::new(sniffed.kind.name().get(lang)).font(tokens.font(Type::Card)).color(tokens.ink);
        let response = ui.add(egui::Label::new(kind).wrap());
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
        ui.add(
            egui::Label::new(RichText::new(&received.name).font(tokens.font(Type::Mono)).color(tokens.muted)).wrap(),
        );
        ui.add_space(tokens.space.xs);
        for fact in &sniffed.facts {
            let mut job = egui::text::LayoutJob::default();
            let format = |role: Type, color| egui::TextFormat::simple(tokens.font(role), color);
            job.append(fact.name.get(lang), 0.0, format(Type::Note, tokens.muted));
            job.append(fact.value.get(lang), tokens.space.xs, format(Type::Mono, tokens.ink));
            ui.add(egui::Label::new(job).wrap());
        }
        if let Some(warning) = &sniffed.warning {
            widgets::verdict(ui, tokens, Verdict::Caution, warning.get(lang));
        }
        if sniffed.kind == Kind::Checkpoint {
            parts::note(ui, tokens, HOW_SNAPSHOT.get(lang), tokens.ink);
            parts::code(ui, tokens, RECORD_SNAPSHOT, COPY.get(lang), actions);
        }
        if let Use::Later { chapter, help } = intake::use_of(sniffed.kind) {
            later_ui(app, ui, tokens, sniffed.kind, chapter, help, actions);
        }
    });
}

const RECORD_SNAPSHOT: &str =
    "torch.cuda.memory._record_memory_history(); …; torch.cuda.memory._dump_snapshot(\"snap.pickle\")";

fn later_ui(
    app: &App,
    ui: &mut Ui,
    tokens: &Tokens,
    kind: Kind,
    chapter: &str,
    help: Option<&str>,
    actions: &mut Vec<Action>,
) {
    let lang = app.lang();
    ui.add_space(tokens.space.s);
    if app.library.chapter(chapter).is_none() {
        parts::note(ui, tokens, NOT_YET.get(lang), tokens.ink);
    }
    if let Some(step) = intake::step_of(kind).filter(|step| app.library.has_step(chapter, step))
        && widgets::primary(ui, tokens, READ_IT.get(lang)).clicked()
    {
        actions.push(Action::Go(Route::step(chapter, step)));
    }
    parts::label(ui, tokens, HANDLED_BY.get(lang));
    parts::chapter_line(app, ui, chapter, &Localized::default(), actions);
    let Some(help) = help else { return };
    let (route, _) = Route::parse(help);
    if let Some(title) = title_of(app, &route.page, lang) {
        ui.horizontal_wrapped(|ui| {
            parts::label(ui, tokens, MEANWHILE.get(lang));
            if widgets::link(ui, tokens, &title).clicked() {
                actions.push(Action::Go(route));
            }
        });
    }
}

/// The name of a page of the guide.
fn title_of(app: &App, page: &Page, lang: Lang) -> Option<String> {
    match page {
        Page::Help { symptom: Some(symptom), .. } => {
            Some(app.guide.handbook.symptom(symptom)?.title.get(lang).to_owned())
        }
        Page::Task { id } => Some(crate::guide::task_page::title(app.guide.course.task(id)?, lang)),
        _ => None,
    }
}

fn accepted_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let (now, later): (Vec<Kind>, Vec<Kind>) = intake::accepted().partition(|kind| intake::use_of(*kind) == Use::Open);
    widgets::card(ui, tokens, |ui| {
        ui.spacing_mut().item_spacing.y = tokens.px(2.0);
        for (title, kinds) in [(OPENS_NOW, now), (RECOGNISES, later)] {
            ui.label(RichText::new(title.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
            ui.add_space(tokens.space.xxs);
            for kind in kinds {
                kind_ui(ui, tokens, kind, lang);
            }
            ui.add_space(tokens.space.s);
        }
    });
}

/// A kind of file, and the chapter that reads it.
fn kind_ui(ui: &mut Ui, tokens: &Tokens, kind: Kind, lang: Lang) {
    let mut job = egui::text::LayoutJob::default();
    let format = |role: Type, color| egui::TextFormat {
        line_height: Some(tokens.px(22.0)),
        ..egui::TextFormat::simple(tokens.font(role), color)
    };
    job.append(kind.name().get(lang), 0.0, format(Type::Note, tokens.ink));
    if let Use::Later { chapter, .. } = intake::use_of(kind) {
        let chapter = CHAPTER.get(lang).replace("{}", chapter.split('_').next().unwrap_or(chapter));
        job.append(&chapter, tokens.space.xs, format(Type::Small, tokens.muted));
    }
    ui.add(egui::Label::new(job).wrap());
}
