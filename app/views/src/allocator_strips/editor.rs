//! The trace as text: edited in place, the wrong word marked where it stands, the legal forms below.

use super::run::Problem;
use egui::text::{LayoutJob, TextFormat};
use egui::{Label, RichText, Stroke, TextBuffer, TextEdit, Ui, WidgetInfo};
use std::ops::Range;
use vramlab_kit::{Tokens, Type};
use vramlab_units::{Lang, Text};

const NAME: Text = Text::new("轨迹", "Trace");
const FORMS: Text = Text::new(
    "一个词一个事件，空格或换行隔开：a:9M 申请（K、M、G 按 1024 进，不带单位是字节） · a:9M@1 在流 1 上申请 · -a 释放 · a>1 流 1 也在用 · 1<0 流 1 等流 0 · sync 主机等所有流 · empty 即 empty_cache · capture:1@0 … end@0 … destroy:1 录制 CUDA 图、结束、销毁",
    "One word an event, spaces or new lines between them: a:9M asks (K, M, G by 1024; bytes without a letter) · a:9M@1 on stream 1 · -a frees · a>1: stream 1 uses it too · 1<0: stream 1 waits for stream 0 · sync: the host waits for all · empty is empty_cache · capture:1@0 … end@0 … destroy:1: a CUDA graph is captured, ends, is destroyed",
);

/// The field. True when the text changed.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, draft: &mut String, problem: Option<&Problem>) -> bool {
    let wrong = match problem {
        Some(Problem::Word { at, .. }) => Some(at.clone()),
        _ => None,
    };
    let mut layouter = |ui: &Ui, text: &dyn TextBuffer, width: f32| {
        let mut job = job(tokens, text.as_str(), wrong.clone());
        job.wrap.max_width = width;
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    };
    let edit = TextEdit::multiline(draft)
        .font(tokens.font(Type::Mono))
        .desired_rows(3)
        .desired_width(f32::INFINITY)
        .char_limit(super::question::MOST_TRACE)
        .layouter(&mut layouter);
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::MultilineTextInput, true, NAME.get(lang)));
    let is_changed = response.changed();
    if let Some(problem) = problem {
        let text = RichText::new(said(problem, draft, lang)).font(tokens.font(Type::Note)).color(tokens.bad);
        ui.add(Label::new(text).wrap());
    }
    ui.add(Label::new(RichText::new(FORMS.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted)).wrap());
    is_changed
}

fn job(tokens: &Tokens, text: &str, wrong: Option<Range<usize>>) -> LayoutJob {
    let plain = TextFormat::simple(tokens.font(Type::Mono), tokens.ink);
    let marked = TextFormat { underline: Stroke::new(1.5, tokens.bad), color: tokens.bad, ..plain.clone() };
    let mut job = LayoutJob::default();
    // While the text is edited a place may lie beyond it or inside a character.
    let is_place = |at: &Range<usize>| text.get(at.clone()).is_some();
    match wrong.filter(is_place) {
        Some(at) => {
            job.append(&text[..at.start], 0.0, plain.clone());
            job.append(&text[at.clone()], 0.0, marked);
            job.append(&text[at.end..], 0.0, plain);
        }
        None => job.append(text, 0.0, plain),
    }
    job
}

/// What is wrong and where: line and column count from 1.
pub fn said(problem: &Problem, text: &str, lang: Lang) -> String {
    match problem {
        Problem::Word { at, number, word, reason } => {
            let before = text.get(..at.start).unwrap_or("");
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            match lang {
                Lang::Zh => format!("第 {line} 行第 {column} 列，第 {number} 个词 {word}：{}", in_chinese(reason)),
                Lang::En => format!("line {line}, column {column}, word {number}, {word}: {reason}"),
            }
        }
        Problem::Setting(error) => error.to_string(),
    }
}

/// The trace's own reasons. What stands between is a value of the reader's.
const REASONS: [(&str, &str); 16] = [
    ("a name is of letters", "名字只用字母、数字和 _，且不能叫 capture、destroy"),
    ("it must be from 0 to 2^60", "大小要在 0 到 2^60 − 1 字节之间"),
    ("reused name", "这个名字申请过了；每次申请用一个新名字"),
    ("unknown name", "没有申请过这个名字"),
    ("double free", "已经释放过一次"),
    ("stream = ", "流的编号要在 0 到 1023 之间"),
    ("pool = ", "私有池的编号要在 1 到 1023 之间"),
    ("no graph is being captured", "这个流上没有正在录制的图"),
    ("still being captured", "这张图还在录制"),
    ("not while a graph", "录制 CUDA 图时不能这样做"),
    ("already being captured", "这个流上已经在录制一张图"),
    ("destroyed before", "这张图已经销毁；下一张换一个池"),
    ("is no size", "不是大小；写成 512、9M 或 1.5G"),
    ("is no number", "这里要一个编号，如 a:9M@1、a>1、1<0"),
    ("a trace has at most", "轨迹太长"),
    ("it must be NAME:SIZE", "要写成 名字:大小、-名字、名字>流、流<流、sync、empty，或录制 CUDA 图的词"),
];

fn in_chinese(reason: &str) -> &str {
    REASONS.iter().find(|(english, _)| reason.contains(english)).map_or(reason, |(_, chinese)| chinese)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator_strips::question::Question;
    use crate::allocator_strips::run::Answered;
    use crate::allocator_strips::{presets, run};

    fn problem(text: &str) -> Problem {
        let mut question = Question::of(&presets::PRESETS[0]);
        question.trace = text.to_owned();
        Answered::new(&question, 0).map(|_: run::Answered| ()).unwrap_err()
    }

    #[test]
    fn a_slip_is_named_by_line_and_column() {
        let text = "a:9M b:9M\n-a -a";
        let found = problem(text);
        assert!(said(&found, text, Lang::En).starts_with("line 2, column 4, word 4, -a: double free"));
        assert_eq!(said(&found, text, Lang::Zh), "第 2 行第 4 列，第 4 个词 -a：已经释放过一次");
    }

    /// Each of the trace's reasons has its Chinese.
    #[test]
    fn every_reason_is_told_in_chinese() {
        for text in [
            "b:1 -a",
            "a:1 -a -a",
            "a:1 a:2",
            "a:-1",
            "a:1@5000",
            "a:9é",
            "end",
            "capture:1 sync",
            "capture:1 capture:2",
            "capture:0",
            "capture:1 destroy:1",
            "destroy:1 capture:1",
            "hello",
            ":5",
            "a:1@x",
        ] {
            let said = said(&problem(text), text, Lang::Zh);
            let reason = said.split_once('：').unwrap().1;
            assert!(REASONS.iter().any(|(_, chinese)| *chinese == reason), "{text}: {said}");
        }
    }
}
