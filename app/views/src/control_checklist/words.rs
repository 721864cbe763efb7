//! The checklist in words.

use vramlab_model::control_check::{Control, Worth};
use vramlab_model::samples::Change;
use vramlab_units::{Lang, Text};

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn sides(lang: Lang) -> [&'static str; 2] {
    match lang {
        Lang::Zh => ["基线", "候选"],
        Lang::En => ["baseline", "candidate"],
    }
}

/// A sign beside the colour.
pub fn sign(worth: Worth) -> &'static str {
    match worth {
        Worth::Repeatable => "✓",
        Worth::OneDay => "•",
        Worth::Hint => "?",
        Worth::Nothing => "×",
    }
}

fn found(change: Change) -> Text {
    match change {
        Change::Improved => Text::new("更快", "faster"),
        Change::Regressed => Text::new("更慢", "slower"),
        Change::NoDifference => Text::new("看不出差别", "no difference detected"),
        Change::Insufficient => Text::new("样本不够", "too few samples"),
    }
}

pub fn title(worth: Worth, change: Change, lang: Lang) -> String {
    let found = found(change).get(lang);
    match worth {
        Worth::Repeatable => pick(lang, format!("{found}，别人也能重做"), format!("{found}, and repeatable")),
        Worth::OneDay => pick(lang, format!("{found}，在这台机器、今天"), format!("{found}, on this machine, today")),
        Worth::Hint => pick(lang, format!("也许{found}"), format!("perhaps {found}")),
        Worth::Nothing => pick(lang, "不能比".into(), "not comparable".into()),
    }
}

/// In a word or two, for a key number.
pub fn level(worth: Worth) -> Text {
    match worth {
        Worth::Repeatable => Text::new("可重做", "repeatable"),
        Worth::OneDay => Text::new("只算今天", "today only"),
        Worth::Hint => Text::new("一条线索", "a hint"),
        Worth::Nothing => Text::new("不能比", "not comparable"),
    }
}

pub fn meaning(worth: Worth) -> Text {
    match worth {
        Worth::Repeatable => {
            Text::new("写进报告，附上配置和样本。", "Goes into the report, with configuration and samples.")
        }
        Worth::OneDay => Text::new("换一天、换一台，要再量。", "Another day or machine needs another measurement."),
        Worth::Hint => Text::new("值得再量一次，不能拿来做决定。", "Worth measuring again; nothing to decide on."),
        Worth::Nothing => Text::new("这两个数说的不是同一件事。", "The two numbers are not about one thing."),
    }
}

/// What a control that was left out does.
pub fn then(control: &Control, lang: Lang) -> String {
    let harm = control.harm.get(lang);
    pick(lang, format!("漏了：{harm}"), format!("left out: {harm}"))
}

pub const HINT: Text = Text::new(
    "按一项，把它漏掉；上下键移动，空格切换。漏了一项，别的再齐也补不回来。",
    "Press a control to leave it out; arrows move, Space switches. What one takes away, the others do not give back.",
);

/// The finding for the state shown.
pub fn finding(worth: Worth, change: Change, worst: Option<&Control>, missing: usize, lang: Lang) -> String {
    let left = title(worth, change, lang);
    match worst {
        None => pick(lang, format!("十项都做到了：{left}。"), format!("All ten controls are kept: {left}.")),
        Some(control) => {
            let (name, harm) = (control.name.get(lang), control.harm.get(lang));
            pick(
                lang,
                format!("漏了 {missing} 项，卡在“{name}”：{harm}。还剩：{left}。"),
                format!("{missing} left out; it hangs on \"{name}\": {harm}. What is left: {left}."),
            )
        }
    }
}
