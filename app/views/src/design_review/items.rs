//! What a defended decision has to show, and how strong each piece of evidence is.

use vramlab_units::{Lang, Text};

/// What a level means, by its number.
pub const LEVELS: [Text; 4] = [
    Text::new("只有公式", "a formula alone"),
    Text::new("模拟器或单元测试", "a simulator or unit test"),
    Text::new("一块 GPU 上测得，有对照", "measured on one GPU, with a baseline"),
    Text::new("重复过，有区间，另有独立检验", "repeated, with intervals and an independent check"),
];

pub struct Item {
    pub id: &'static str,
    pub name: Text,
    /// What is asked at the highest level.
    pub asks: Text,
}

pub const ITEMS: [Item; 10] = [
    Item {
        id: "workload",
        name: Text::new("工作量固定", "fixed workload"),
        asks: Text::new(
            "模型、dtype、批、长度都写下，两边相同",
            "model, dtype, batch and length written down, the same on both sides",
        ),
    },
    Item {
        id: "hypothesis",
        name: Text::new("先有假设", "hypothesis first"),
        asks: Text::new("测之前写下一个数，和为什么", "a number written before measuring, and why"),
    },
    Item {
        id: "floor",
        name: Text::new("下限", "floor"),
        asks: Text::new(
            "字节、运算、启动、拷贝各算一遍，最长的那个",
            "bytes, arithmetic, launches, copies; the longest of them",
        ),
    },
    Item {
        id: "one_change",
        name: Text::new("一次只改一处", "one change"),
        asks: Text::new("基线和候选只差一处", "baseline and candidate differ in one thing"),
    },
    Item {
        id: "numerics",
        name: Text::new("结果没变", "same result"),
        asks: Text::new(
            "和参照逐个数比，容差写明；先对，再计时",
            "held against a reference, tolerance stated; right before fast",
        ),
    },
    Item {
        id: "pairs",
        name: Text::new("成对测量", "paired runs"),
        asks: Text::new("新旧交替，20 对，清 L2，随机数据", "old and new in turn, 20 pairs, L2 flushed, random data"),
    },
    Item {
        id: "verdict",
        name: Text::new("判定", "verdict"),
        asks: Text::new("区间分开才算；分不开就说没看出差别", "intervals apart, or: no difference detected"),
    },
    Item {
        id: "peak",
        name: Text::new("峰值", "peak"),
        asks: Text::new(
            "每一步的账本都放得下；OOM 在哪里也写上",
            "the ledger fits at every step; where it stops fitting is written down",
        ),
    },
    Item {
        id: "quality",
        name: Text::new("质量门槛", "quality gate"),
        asks: Text::new("损失或任务分数在说好的界内", "loss or task score within agreed bounds"),
    },
    Item {
        id: "stop",
        name: Text::new("为什么停在这里", "why stop here"),
        asks: Text::new(
            "到了下限的九成，或剩下的比噪声还小",
            "nine tenths of the floor, or what is left is below the noise",
        ),
    },
];

pub const N: usize = ITEMS.len();

/// A level for each item; nothing where there is no evidence.
pub type Levels = [Option<u8>; N];

/// The weakest of all; nothing while one item has none.
pub fn overall(levels: &Levels) -> Option<u8> {
    levels.iter().copied().collect::<Option<Vec<u8>>>()?.into_iter().min()
}

/// The weakest item: the first without evidence, else the first of the lowest level.
pub fn weakest(levels: &Levels) -> usize {
    (0..N).min_by_key(|idx| levels[*idx].map_or(-1, i16::from)).unwrap_or(0)
}

/// `3201-…`: a digit or a dash an item.
pub fn text(levels: &Levels) -> String {
    levels.iter().map(|level| level.map_or('-', |level| char::from(b'0' + level))).collect()
}

pub fn parse(text: &str) -> Result<Levels, String> {
    let legal = format!("it must have {N} marks, each 0 to 3 or a dash");
    let marks: Vec<char> = text.chars().collect();
    if marks.len() != N {
        return Err(format!("{} marks; {legal}", marks.len()));
    }
    let mut out = [None; N];
    for (slot, mark) in out.iter_mut().zip(marks) {
        *slot = match mark {
            '-' => None,
            '0'..='3' => mark.to_digit(10).and_then(|digit| u8::try_from(digit).ok()),
            other => return Err(format!("{other} is no mark; {legal}")),
        };
    }
    Ok(out)
}

/// The review as Markdown.
pub fn markdown(levels: &Levels, lang: Lang) -> String {
    let (title, item, evidence, asked, none) = match lang {
        Lang::Zh => ("# 设计评审", "项", "证据", "最高一级要什么", "没有"),
        Lang::En => ("# Design review", "item", "evidence", "what the highest level asks", "none"),
    };
    let mut out = format!("{title}\n\n| {item} | {evidence} | {asked} |\n| --- | --- | --- |\n");
    for (item, level) in ITEMS.iter().zip(levels) {
        let level = match level {
            Some(level) => format!("E{level}, {}", LEVELS[usize::from(*level)].get(lang)),
            None => none.to_owned(),
        };
        out += &format!("| {} | {level} | {} |\n", item.name.get(lang), item.asks.get(lang));
    }
    out += "\n";
    out += &finding(levels, lang);
    out += "\n";
    out
}

pub fn finding(levels: &Levels, lang: Lang) -> String {
    let weak = ITEMS[weakest(levels)].name.get(lang);
    let n_missing = levels.iter().filter(|level| level.is_none()).count();
    match (overall(levels), lang) {
        (None, Lang::Zh) => format!("还有 {n_missing} 项没有证据，先补“{weak}”。没有证据的结论只是说法。"),
        (None, Lang::En) if n_missing == 1 => {
            format!("One item is without evidence: \"{weak}\". The decision stands on nothing there.")
        }
        (None, Lang::En) => format!(
            "{n_missing} items are without evidence; begin with \"{weak}\". A decision without evidence is an opinion."
        ),
        (Some(3), Lang::Zh) => "每一项都是 E3：别人照着做，会得到同一个结论。".to_owned(),
        (Some(3), Lang::En) => {
            "Every item is at E3: somebody else who repeats this will come to the same decision.".to_owned()
        }
        (Some(level), Lang::Zh) => format!("整个结论是 E{level}：一串证据只有最弱的那一环那么强，这里是“{weak}”。"),
        (Some(level), Lang::En) => format!(
            "The decision stands at E{level}: a chain of evidence is as strong as its weakest link, here \"{weak}\"."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_link_decides() {
        let levels = parse("3323323333").unwrap();
        assert_eq!((overall(&levels), weakest(&levels)), (Some(2), 2));
        let levels = parse("33-3323333").unwrap();
        assert_eq!((overall(&levels), weakest(&levels)), (None, 2));
        assert_eq!(overall(&parse("3333333333").unwrap()), Some(3));
    }

    #[test]
    fn marks_are_read_and_written() {
        for marks in ["----------", "0123-0123-"] {
            assert_eq!(text(&parse(marks).unwrap()), marks);
        }
        assert!(parse("0").unwrap_err().contains("1 marks"));
        assert!(parse("4---------").unwrap_err().contains("4 is no mark"));
    }

    #[test]
    fn the_export_has_a_row_an_item() {
        for lang in Lang::ALL {
            let found = markdown(&parse("2-2222222-").unwrap(), lang);
            assert_eq!(found.lines().filter(|line| line.starts_with("| ")).count(), N + 2);
        }
    }
}
