//! The one registry behind palette, shortcut list, menus and keys. A command that cannot run now says why.

use crate::action::{Action, ExportFormat};
use crate::app::App;
use crate::route::{Page, Route};
use egui::{Key, KeyboardShortcut, Modifiers};
use vramlab_units::Text;

pub struct Command {
    pub id: &'static str,
    pub title: Text,
    pub shortcut: Option<KeyboardShortcut>,
    /// The action, or the reason why it cannot run now.
    pub action: fn(&App) -> Result<Action, Text>,
}

const fn plain(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::NONE, key))
}

const fn ctrl(key: Key) -> Option<KeyboardShortcut> {
    Some(KeyboardShortcut::new(Modifiers::COMMAND, key))
}

const NO_CHAPTER: Text = Text::new("先打开一章", "open a chapter first");
const NOTHING_TO_UNDO: Text = Text::new("没有可以撤销的重置", "there is no reset to undo");
const NOTHING_CHANGED: Text = Text::new("没有可以撤销或重做的改动", "there is no change to undo or redo");
const NO_RUNS: Text = Text::new("笔记本里还没有运行", "the notebook has no runs yet");

fn current_chapter(app: &App) -> Result<String, Text> {
    match &app.route().page {
        Page::Chapter { chapter, .. } => Ok(chapter.clone()),
        _ => Err(NO_CHAPTER),
    }
}

fn export(app: &App, format: ExportFormat) -> Result<Action, Text> {
    if app.notebook().entries.is_empty() { Err(NO_RUNS) } else { Ok(Action::ExportNotebook(format)) }
}

/// Every command, in the order of the list.
pub const COMMANDS: &[Command] = &[
    Command {
        id: "palette",
        title: Text::new("命令面板", "Command palette"),
        shortcut: ctrl(Key::K),
        action: |_| Ok(Action::ShowPalette),
    },
    Command {
        id: "shortcuts",
        title: Text::new("快捷键一览", "Keyboard shortcuts"),
        shortcut: plain(Key::Questionmark),
        action: |_| Ok(Action::ShowShortcuts),
    },
    Command {
        id: "start",
        title: Text::new("回到首页", "Go to the start page"),
        shortcut: Some(KeyboardShortcut::new(Modifiers::ALT, Key::Home)),
        action: |_| Ok(Action::Go(Route::default())),
    },
    Command {
        id: "review",
        title: Text::new("复习到期的题", "Review what is due"),
        shortcut: plain(Key::R),
        action: |_| Ok(Action::Go(Route { page: Page::Review, ..Route::default() })),
    },
    Command {
        id: "help",
        title: Text::new("症状手册：显存不够、内核慢、拷贝慢…", "Symptoms: out of memory, slow kernel, slow copy…"),
        shortcut: plain(Key::H),
        action: |_| Ok(Action::Go(Route::page(Page::Help { symptom: None, answers: Vec::new() }))),
    },
    Command {
        id: "evidence",
        title: Text::new("证据表", "Evidence table"),
        shortcut: plain(Key::E),
        action: |_| Ok(Action::Go(Route::page(Page::Evidence { route: None }))),
    },
    Command {
        id: "files",
        title: Text::new("能打开的文件和最近打开", "What can be opened, and recent files"),
        shortcut: None,
        action: |_| Ok(Action::Go(Route::page(Page::Files))),
    },
    Command {
        id: "snapshot",
        title: Text::new("显存快照", "Memory snapshot"),
        shortcut: None,
        action: |_| Ok(Action::Go(Route::page(Page::Snapshot))),
    },
    Command {
        id: "fit",
        title: Text::new("模型装得下吗", "Does a model fit"),
        shortcut: None,
        action: |_| Ok(Action::Go(Route::page(Page::Fit))),
    },
    Command {
        id: "profile",
        title: Text::new("录下的一次运行", "A recorded run"),
        shortcut: None,
        action: |_| Ok(Action::Go(Route::page(Page::Profile))),
    },
    Command {
        id: "playground",
        title: Text::new(
            "改 kernel：练习和课程里的全部 kernel",
            "Playground: exercises and every kernel of the course",
        ),
        shortcut: plain(Key::K),
        action: |_| Ok(Action::Go(Route::page(Page::Playground { kernel: None }))),
    },
    Command {
        id: "back",
        title: Text::new("后退", "Back"),
        shortcut: Some(KeyboardShortcut::new(Modifiers::ALT, Key::ArrowLeft)),
        action: |app| {
            if app.can_go_back() {
                Ok(Action::Back)
            } else {
                Err(Text::new("这是第一页", "this is the first page"))
            }
        },
    },
    Command {
        id: "next_step",
        title: Text::new("下一步", "Next step"),
        shortcut: plain(Key::PageDown),
        action: |app| current_chapter(app).map(|_| Action::StepBy(1)),
    },
    Command {
        id: "previous_step",
        title: Text::new("上一步", "Previous step"),
        shortcut: plain(Key::PageUp),
        action: |app| current_chapter(app).map(|_| Action::StepBy(-1)),
    },
    Command {
        id: "presenter",
        title: Text::new("讲台模式", "Presenter mode"),
        shortcut: plain(Key::P),
        action: |_| Ok(Action::TogglePresenter),
    },
    Command {
        id: "language",
        title: Text::new("切换到 English", "Switch to 中文"),
        shortcut: plain(Key::L),
        action: |_| Ok(Action::ToggleLang),
    },
    Command {
        id: "theme",
        title: Text::new("切换浅色与深色", "Switch between light and dark"),
        shortcut: plain(Key::T),
        action: |_| Ok(Action::CycleTheme),
    },
    Command {
        id: "notebook",
        title: Text::new("显示或收起笔记本", "Show or fold the notebook"),
        shortcut: plain(Key::N),
        action: |_| Ok(Action::ToggleNotebook),
    },
    Command {
        id: "rail",
        title: Text::new("显示或收起目录", "Show or fold the curriculum"),
        shortcut: plain(Key::C),
        action: |_| Ok(Action::ToggleRail),
    },
    Command {
        id: "copy_link",
        title: Text::new("复制此处的链接", "Copy a link to this place"),
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::C)),
        action: |_| Ok(Action::CopyLink),
    },
    Command {
        id: "share",
        title: Text::new("分享：链接和二维码", "Share: link and QR code"),
        shortcut: plain(Key::S),
        action: |_| Ok(Action::ShowShare),
    },
    // Before undo: its keys are those of undo and Shift.
    Command {
        id: "redo",
        title: Text::new("重做图的改动", "Redo the change of a figure"),
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z)),
        action: |app| if app.can_redo_change() { Ok(Action::Redo) } else { Err(NOTHING_CHANGED) },
    },
    Command {
        id: "undo",
        title: Text::new("撤销图的改动", "Undo the change of a figure"),
        shortcut: ctrl(Key::Z),
        action: |app| if app.can_undo_change() { Ok(Action::Undo) } else { Err(NOTHING_CHANGED) },
    },
    Command {
        id: "open_file",
        title: Text::new("打开文件…", "Open a file…"),
        shortcut: ctrl(Key::O),
        action: |_| Ok(Action::OpenFile),
    },
    Command {
        id: "settings",
        title: Text::new("设置…", "Settings…"),
        shortcut: ctrl(Key::Comma),
        action: |_| Ok(Action::Go(Route { page: Page::Settings, ..Route::default() })),
    },
    Command {
        id: "export_json",
        title: Text::new("笔记本导出为 JSON", "Export the notebook as JSON"),
        shortcut: None,
        action: |app| export(app, ExportFormat::Json),
    },
    Command {
        id: "export_csv",
        title: Text::new("笔记本导出为 CSV", "Export the notebook as CSV"),
        shortcut: None,
        action: |app| export(app, ExportFormat::Csv),
    },
    Command {
        id: "export_markdown",
        title: Text::new("笔记本导出为 Markdown", "Export the notebook as Markdown"),
        shortcut: None,
        action: |app| export(app, ExportFormat::Markdown),
    },
    Command {
        id: "export_progress",
        title: Text::new("导出学习进度", "Export your progress"),
        shortcut: None,
        action: |_| Ok(Action::ExportProgress),
    },
    Command {
        id: "reset_chapter",
        title: Text::new("重做本章", "Start this chapter over"),
        shortcut: None,
        action: |app| current_chapter(app).map(Action::ResetChapter),
    },
    Command {
        id: "undo_reset",
        title: Text::new("撤销重做", "Undo starting over"),
        shortcut: None,
        action: |app| if app.can_undo_reset() { Ok(Action::UndoReset) } else { Err(NOTHING_TO_UNDO) },
    },
    Command {
        id: "diagnostics",
        title: Text::new("复制诊断信息", "Copy diagnostics"),
        shortcut: None,
        action: |_| Ok(Action::CopyDiagnostics),
    },
];

/// In presenter mode the keys of a clicker turn the steps, as long as no figure has the focus.
fn presenter_keys(ctx: &egui::Context) -> Vec<Action> {
    let pressed = |keys: &[Key]| ctx.input_mut(|input| keys.iter().any(|key| input.consume_key(Modifiers::NONE, *key)));
    let mut out = Vec::new();
    if pressed(&[Key::Space, Key::ArrowRight, Key::ArrowDown, Key::Enter]) {
        out.push(Action::StepBy(1));
    }
    if pressed(&[Key::ArrowLeft, Key::ArrowUp, Key::Backspace]) {
        out.push(Action::StepBy(-1));
    }
    if pressed(&[Key::Escape]) {
        out.push(Action::TogglePresenter);
    }
    out
}

/// The actions whose keys were pressed in this frame. While a text field has the focus, only shortcuts with Ctrl or Alt
/// count.
pub fn pressed(app: &App, ctx: &egui::Context) -> Vec<Action> {
    let is_typing = ctx.egui_wants_keyboard_input();
    let mut out = Vec::new();
    if app.is_presenting && !is_typing && ctx.memory(|memory| memory.focused()).is_none() {
        out.extend(presenter_keys(ctx));
    }
    for command in COMMANDS {
        let Some(shortcut) = command.shortcut else { continue };
        let is_plain = !shortcut.modifiers.command && !shortcut.modifiers.alt && !shortcut.modifiers.ctrl;
        // A field takes back what was typed in it; everywhere else it is figures that go back.
        let is_the_field_s = ctx.text_edit_focused() && matches!(command.id, "undo" | "redo");
        if is_typing && is_plain || is_the_field_s {
            continue;
        }
        let is_hit = ctx.input_mut(|input| {
            // `?` needs Shift on most layouts; a plain letter must not fire with Ctrl held.
            if shortcut.logical_key == Key::Questionmark {
                input.key_pressed(Key::Questionmark)
            } else if is_plain {
                input.modifiers.is_none() && input.key_pressed(shortcut.logical_key)
            } else {
                input.consume_shortcut(&shortcut)
            }
        });
        if is_hit && let Ok(action) = (command.action)(app) {
            out.push(action);
        }
    }
    out
}
