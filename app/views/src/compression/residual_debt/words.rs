//! What the debt says.

use super::State;
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

pub const EACH: Text = Text::new("每一步的梯度（拖动改它）", "Each step's gradient (drag to change)");

pub fn after(step: usize, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("{step} 步之后：传出的，加上欠着的"),
        Lang::En if step == 1 => "After 1 step: sent, and still owed".to_owned(),
        Lang::En => format!("After {step} steps: sent, and still owed"),
    }
}

/// The name of an entry that was just sent.
pub fn now(entry: usize, has_room: bool, lang: Lang) -> String {
    match lang {
        _ if !has_room => format!("{entry}↑"),
        Lang::Zh => format!("{entry} 传"),
        Lang::En => format!("{entry} sent"),
    }
}

/// The entry under the cursor, in numbers.
pub fn step(gradient: &[f64], state: &State, step: usize, entry: usize, lang: Lang) -> String {
    let (Some(g), Some(sent), Some(owed)) = (gradient.get(entry), state.sent.get(entry), state.owed.get(entry)) else {
        return String::new();
    };
    let (all, g, sent, owed) = (number(sent + owed), number(*g), number(*sent), number(*owed));
    match lang {
        Lang::Zh => format!("下标 {entry}：传出 {sent} + 欠 {owed} = {all} = {step} × {g}。"),
        Lang::En => format!("Entry {entry}: sent {sent} + owed {owed} = {all} = {step} × {g}."),
    }
}

pub fn finding(k: u64, n: usize, step: usize, state: &State, lang: Lang) -> String {
    let share = with_unit(state.owed_share, "%");
    let names: Vec<String> = state.now.iter().map(|entry| entry.to_string()).collect();
    let names = names.join(", ");
    match lang {
        Lang::Zh => format!(
            "每步传 {n} 个里最大的 {k} 个，走了 {step} 步：这一步传下标 {names}；欠着的占全部的 {share}，一个也没丢。"
        ),
        Lang::En => format!(
            "The {k} largest of {n} go in each step, {step} so far: now index {names}; {share} of all is owed and nothing is lost."
        ),
    }
}
