//! A merge in words and numbers.

use super::question::{Kept, Question};
use vramlab_model::kernels::merge_tree::{Node, Shape};
use vramlab_units::show::number;
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "点一个方块，看它怎么合出来。键盘：← → 走一步，↑ ↓ 换方块，空格播放。",
    "Press a box to see how it was merged. Keys: ← → a step, ↑ ↓ another box, Space plays.",
);
pub const DONE: Text = Text::new("已合", "merged");
pub const NOW: Text = Text::new("这一步", "this step");
pub const LATER: Text = Text::new("还没到", "still to come");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

/// A number of about four digits.
pub fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let text = format!("{value:.4}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text.is_empty() || text == "-" { "0".to_owned() } else { text.replace('-', "−") }
    } else {
        number(value)
    }
}

/// The lines in a box.
pub fn lines(node: &Node, kept: Kept) -> Vec<String> {
    match kept {
        Kept::Softmax => vec![format!("m {}", short(node.max)), format!("d {}", short(node.sum))],
        Kept::Variance => {
            vec![format!("μ {}", short(node.moments.mean)), format!("M₂ {}", short(node.moments.m2))]
        }
    }
}

/// The merge with its numbers.
pub fn merge(nodes: &[Node], at: usize, kept: Kept, lang: Lang) -> String {
    let node = &nodes[at];
    let Some((a, b)) = node.parts.map(|(a, b)| (&nodes[a], &nodes[b])) else {
        return match kept {
            Kept::Softmax => pick(
                lang,
                format!("一个数：m = {}，d = e^0 = 1。", short(node.max)),
                format!("One value: m = {}, d = e^0 = 1.", short(node.max)),
            ),
            Kept::Variance => pick(
                lang,
                format!("一个数：n = 1，μ = {}，M₂ = 0。", short(node.moments.mean)),
                format!("One value: n = 1, μ = {}, M₂ = 0.", short(node.moments.mean)),
            ),
        };
    };
    match kept {
        Kept::Softmax => format!(
            "m = max({}, {}) = {};  d = {}·e^({} − {}) + {}·e^({} − {}) = {}",
            short(a.max),
            short(b.max),
            short(node.max),
            short(a.sum),
            short(a.max),
            short(node.max),
            short(b.sum),
            short(b.max),
            short(node.max),
            short(node.sum)
        ),
        Kept::Variance => {
            let delta = b.moments.mean - a.moments.mean;
            format!(
                "n = {};  δ = {};  μ = {} + {}·{}/{} = {};  M₂ = {} + {} + {}²·{}·{}/{} = {}",
                node.n,
                short(delta),
                short(a.moments.mean),
                short(delta),
                b.n,
                node.n,
                short(node.moments.mean),
                short(a.moments.m2),
                short(b.moments.m2),
                short(delta),
                a.n,
                b.n,
                node.n,
                short(node.moments.m2)
            )
        }
    }
}

pub fn finding(question: &Question, nodes: &[Node], step: usize, lang: Lang) -> String {
    let (n, whole) = (question.values.len(), &nodes[nodes.len() - 1]);
    let merges = nodes.len() - n;
    let shape = match question.shape {
        Shape::Tree => Text::new("两两合", "in pairs"),
        Shape::Chain => Text::new("从左到右", "from left to right"),
    };
    if step < whole.step {
        let done = nodes.iter().filter(|node| node.step > 0 && node.step <= step).count();
        return pick(
            lang,
            format!("{n} 个数{}：第 {step} 步，共 {} 步，{merges} 次合并做了 {done} 次。", shape.get(lang), whole.step),
            format!("{n} values {}: step {step} of {}, {done} of {merges} merges done.", shape.get(lang), whole.step),
        );
    }
    let what = match question.kept {
        Kept::Softmax => format!("m = {}, d = {}", short(whole.max), short(whole.sum)),
        Kept::Variance => {
            let variance = short(whole.moments.m2 / whole.moments.n);
            pick(
                lang,
                format!("均值 {}，方差 {variance}", short(whole.moments.mean)),
                format!("mean {}, variance {variance}", short(whole.moments.mean)),
            )
        }
    };
    pick(
        lang,
        format!("{n} 个数{}，{} 步，{merges} 次合并：{}。", shape.get(lang), whole.step, what.replace(", ", "，")),
        format!("{n} values {}, {} steps and {merges} merges: {what}.", shape.get(lang), whole.step),
    )
}
