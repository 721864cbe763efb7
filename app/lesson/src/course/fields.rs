//! The fields of `routes.toml` and `handbook.toml`, as `crate::fields` has those of a chapter.

use crate::fields::{Field, Holds, Need};
use vramlab_units::Text;

const fn must(key: &'static str, holds: Holds, zh: &'static str, en: &'static str) -> Field {
    Field { key, holds, need: Need::Must, doc: Text::new(zh, en) }
}

const fn may(key: &'static str, holds: Holds, zh: &'static str, en: &'static str) -> Field {
    Field { key, holds, need: Need::May, doc: Text::new(zh, en) }
}

const ID: Field = must("id", Holds::Id, "不再改动的名字", "A name that is kept for good");
const TITLE: Field = must("title", Holds::Localized, "标题", "The title");
const TEXT: Field = must("text", Holds::Localized, "一两句话", "A sentence or two");
const CHAPTERS: Field = may("chapters", Holds::PlainList, "章节 id，按顺序", "Ids of chapters, in order");
const RUNS: Field = may("runs", Holds::PlainList, "实验 id", "Ids of experiments");
const SCHEMA: Field = must("schema", Holds::Version, "格式版本", "Format version");

pub const ROUTES: &[Field] = &[
    SCHEMA,
    must("entrance", Holds::Tables(ENTRANCE), "入口", "Ways in"),
    must("route", Holds::Tables(ROUTE), "路线", "Routes"),
    must("task", Holds::Tables(TASK), "任务", "Tasks"),
];

const ENTRANCE: &[Field] = &[
    ID,
    TITLE,
    TEXT,
    may("opens", Holds::Plain, "打开的位置，如 /help", "The place it opens, such as /help"),
    may("link", Holds::Tables(LINK), "一组链接", "Links"),
];

const LINK: &[Field] = &[TITLE, TEXT, must("chapter", Holds::Plain, "章节 id", "Id of a chapter")];

const ROUTE: &[Field] = &[
    ID,
    TITLE,
    must("text", Holds::Localized, "给谁学", "Whom it is for"),
    CHAPTERS,
    may("tasks", Holds::PlainList, "任务 id，按顺序", "Ids of tasks, in order"),
];

const TASK: &[Field] = &[
    ID,
    TITLE,
    must("asks", Holds::Localized, "这个任务回答的问题", "The question that the task answers"),
    must("mechanism", Holds::Localized, "先弄懂什么", "What to understand first"),
    must("strategy", Holds::Localized, "能怎么做", "What can be done about it"),
    must("exit", Holds::Localized, "用什么证明弄懂了", "The check or report that shows it was understood"),
    must("chapter", Holds::Tables(TASK_CHAPTER), "要学的章节", "The chapters it takes"),
    must("evidence", Holds::Tables(EVIDENCE), "证据表的行", "Rows of the evidence table"),
];

const TASK_CHAPTER: &[Field] = &[
    must("id", Holds::Plain, "章节 id", "Id of the chapter"),
    may("part", Holds::Localized, "只学哪一部分", "Which part of it"),
];

/// Who can confirm a claim.
pub const NEEDS: &[&str] = &["cpu", "gpu"];

const EVIDENCE: &[Field] = &[
    ID,
    must("needs", Holds::Choice(NEEDS), "谁能确认：cpu 或 gpu", "Who can confirm it: cpu or gpu"),
    must("claim", Holds::Localized, "要确认的事", "What is to be confirmed"),
    must("chapter", Holds::Plain, "讲它的章节", "The chapter where it is done"),
    RUNS,
    may("checks", Holds::PlainList, "自测步骤：章节/步骤", "Steps that check it: CHAPTER/STEP"),
];

pub const HANDBOOK: &[Field] = &[
    SCHEMA,
    must("symptom", Holds::Tables(SYMPTOM), "症状", "Symptoms"),
    must("ask", Holds::Tables(ASK), "问题", "Questions"),
    must("advice", Holds::Tables(ADVICE), "结论", "Where the questions lead"),
];

const SYMPTOM: &[Field] = &[
    ID,
    TITLE,
    must("text", Holds::Localized, "看到了什么", "What is seen"),
    must("first", Holds::Id, "第一个问题的 id", "Id of the first question"),
];

const ASK: &[Field] = &[
    ID,
    must("ask", Holds::Localized, "一个问题", "One question"),
    must("how", Holds::Localized, "怎么查到答案", "How to find the answer"),
    may("code", Holds::Plain, "可以照抄的命令", "A command to copy"),
    must("option", Holds::Tables(OPTION), "可选的回答", "The answers"),
];

const OPTION: &[Field] = &[
    ID,
    must("text", Holds::Localized, "回答", "The answer"),
    must("to", Holds::Id, "下一个问题或结论的 id", "Id of the next question or of an advice"),
];

const ADVICE: &[Field] = &[
    ID,
    TITLE,
    must("text", Holds::Localized, "为什么，怎么办", "Why, and what to do"),
    must("measure", Holds::Localized, "量什么来确认", "What to measure to confirm it"),
    may("code", Holds::Plain, "可以照抄的命令", "A command to copy"),
    CHAPTERS,
    RUNS,
    may("task", Holds::Id, "对应的任务", "The task that goes through it"),
    may("source", Holds::Localized, "数字的来源", "Where its numbers come from"),
];
