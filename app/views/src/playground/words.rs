//! The playground's words.

use super::desk::Desk;
use vramlab_gpu::exercise::Judged;
use vramlab_gpu::play::PlayError;
use vramlab_simt::{Act, Space};
use vramlab_trace::OracleOutcome;
use vramlab_units::show::{grouped, number};
use vramlab_units::{Lang, Text};

pub const CHECK: Text = Text::new("检查", "Check");
pub const RESET: Text = Text::new("恢复原样", "Reset");
pub const HINT: Text = Text::new("提示", "Hint");
pub const SOLUTION: Text = Text::new("看解答", "Show the solution");
pub const BACK: Text = Text::new("回到我的", "Back to mine");
pub const CODE: Text = Text::new("kernel 的代码", "The kernel's code");
pub const LOADING: Text = Text::new("正在取题目……", "Fetching the exercise …");
pub const STALE: Text = Text::new("代码改过了，再检查一次。", "The code has changed: check it again.");
pub const UNTRIED: Text = Text::new(
    "还没有检查。检查时在处理器上逐个 warp 演算，数的是地址，不是时间。",
    "Not checked yet. A check plays the kernel on the processor, warp by warp: it counts addresses, not time.",
);
pub const RIGHT: Text = Text::new("结果", "results");
pub const ACCESSES: Text = Text::new("每一行怎样碰内存", "What each line does to memory");
pub const HEADER: [Text; 5] = [
    Text::new("行", "line"),
    Text::new("做什么", "what"),
    Text::new("请求", "requests"),
    Text::new("每次搬", "moved each"),
    Text::new("最少", "least"),
];

pub fn act(space: Space, act: Act) -> Text {
    match (space, act) {
        (Space::Shared, Act::Load) => Text::new("读共享内存", "load, shared"),
        (Space::Shared, Act::Store) => Text::new("写共享内存", "store, shared"),
        (Space::Shared, Act::Atomic) => Text::new("原子，共享内存", "atomic, shared"),
        (_, Act::Load) => Text::new("读显存", "load, global"),
        (_, Act::Store) => Text::new("写显存", "store, global"),
        (_, Act::Atomic) => Text::new("原子，显存", "atomic, global"),
    }
}

/// What `moved` counts in a memory.
pub fn unit(space: Space) -> Text {
    if space == Space::Shared { Text::new("wavefront", "wavefronts") } else { Text::new("扇区", "sectors") }
}

/// A goal as it is asked for.
pub fn goal(judged: &Judged, lang: Lang) -> String {
    let name = judged.goal.metric.name().get(lang);
    let shown = |value: f64| if value.fract() == 0.0 { grouped(value) } else { number(value) };
    match (judged.goal.at_most, judged.goal.at_least, lang) {
        (Some(0.0), None, Lang::Zh) => format!("没有{name}"),
        (Some(0.0), None, Lang::En) => format!("no {name}"),
        (Some(most), _, Lang::Zh) => format!("{name}至多 {}", shown(most)),
        (Some(most), _, Lang::En) => format!("at most {} {name}", shown(most)),
        (_, Some(least), Lang::Zh) => format!("{name}至少 {}", shown(least)),
        (_, Some(least), Lang::En) => format!("at least {} {name}", shown(least)),
        (None, None, _) => name.to_owned(),
    }
}

pub fn found(judged: &Judged, lang: Lang) -> String {
    let value = judged.found;
    let shown = if value.fract() == 0.0 { grouped(value) } else { number(value) };
    match lang {
        Lang::Zh => format!("现在是 {shown}"),
        Lang::En => format!("now {shown}"),
    }
}

/// Whether the results are right.
pub fn oracle(outcome: &OracleOutcome, lang: Lang) -> String {
    match (outcome, lang) {
        (OracleOutcome::Passed { n_checked, .. }, Lang::Zh) => format!("{} 个都对", grouped(*n_checked as f64)),
        (OracleOutcome::Passed { n_checked, .. }, Lang::En) => format!("all {} are right", grouped(*n_checked as f64)),
        (OracleOutcome::Failed { first_wrong_idx, expected, found, n_wrong }, Lang::Zh) => format!(
            "{} 个不对；第一个是第 {first_wrong_idx} 个，应是 {}，却是 {}",
            grouped(*n_wrong as f64),
            number(*expected),
            number(*found)
        ),
        (OracleOutcome::Failed { first_wrong_idx, expected, found, n_wrong }, Lang::En) => format!(
            "{} are wrong; the first is number {first_wrong_idx}, which should be {} and is {}",
            grouped(*n_wrong as f64),
            number(*expected),
            number(*found)
        ),
    }
}

/// Two lines that race, in words.
pub fn race(first: u32, second: u32, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("第 {first} 行和第 {second} 行碰同一个字，中间没有 barrier"),
        Lang::En => format!("lines {first} and {second} touch the same word, with no barrier between"),
    }
}

pub fn unwritten(line: u32, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("第 {line} 行读了还没有人写过的共享内存"),
        Lang::En => format!("line {line} reads shared memory that nobody has written"),
    }
}

/// The state in one sentence.
pub fn finding(desk: &Desk, lang: Lang) -> String {
    match &desk.outcome {
        None => UNTRIED.get(lang).to_owned(),
        Some(_) if desk.is_stale() => STALE.get(lang).to_owned(),
        Some(Err(PlayError::Source(fault))) => match lang {
            Lang::Zh => format!("第 {} 行：{}", fault.at.line, fault.said.get(lang)),
            Lang::En => format!("Line {}: {}.", fault.at.line, fault.said.get(lang)),
        },
        Some(Err(error)) => error.to_string(),
        Some(Ok(tried)) if tried.is_solved() => {
            Text::new("结果对，目标都达到了。", "The results are right and every goal is met.").get(lang).to_owned()
        }
        Some(Ok(tried)) if !tried.is_right() => {
            Text::new("结果不对，或者顺序没有保证。", "The results are wrong, or their order is not certain.")
                .get(lang)
                .to_owned()
        }
        Some(Ok(tried)) => {
            let left = tried.goals.iter().filter(|goal| !goal.is_met).count();
            match lang {
                Lang::Zh => format!("结果对，还有 {left} 个目标没达到。"),
                Lang::En => format!("The results are right; {left} of the goals are not met."),
            }
        }
    }
}
