//! What the lanes say.

use super::super::Answer;
use super::LANES;
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

const FIELDS: [Text; 3] = [Text::new("符号", "sign"), Text::new("指数", "exponent"), Text::new("尾数", "mantissa")];

/// A field's information, in full and in short.
pub fn bracket(field: usize, bits: f64, of: usize, lang: Lang) -> (String, String) {
    let short = match lang {
        Lang::Zh => format!("{bits:.2} / {of}"),
        Lang::En => format!("{bits:.2} of {of}"),
    };
    (format!("{} {short}", FIELDS[field].get(lang)), short)
}

pub fn budget(bits: f64, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("16 位里有 {bits:.2} 位信息"),
        Lang::En => format!("{bits:.2} of 16 bits are needed"),
    }
}

pub fn ceiling(ratio: &str, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("按字段的上限 {ratio}"),
        Lang::En => format!("ceiling by fields {ratio}"),
    }
}

/// The name of a row: as the bytes lie or split, LZ4 or the best that single bytes allow.
pub fn codec(row: usize, is_short: bool, lang: Lang) -> &'static str {
    const LONG: [Text; 4] = [
        Text::new("LZ4，字节原样", "LZ4, bytes as they lie"),
        Text::new("逐字节最好，原样", "best by bytes, as they lie"),
        Text::new("LZ4，字节拆开", "LZ4, bytes split"),
        Text::new("逐字节最好，拆开", "best by bytes, split"),
    ];
    const SHORT: [Text; 4] = [
        Text::new("LZ4 原样", "LZ4"),
        Text::new("最好，原样", "best"),
        Text::new("LZ4 拆开", "LZ4, split"),
        Text::new("最好，拆开", "best, split"),
    ];
    (if is_short { SHORT } else { LONG })[row % 4].get(lang)
}

/// The lane under the cursor.
pub fn lane(answer: &Answer, lane: usize, lang: Lang) -> String {
    let bits = answer.list("lane_bits").get(lane).copied().unwrap_or_default();
    let name = LANES[lane % 16];
    let amount = with_unit(bits, "bit");
    let (zh, en) = if bits < 0.005 {
        ("从来不变，不用存", "never changes and need not be kept")
    } else if bits > 0.995 {
        ("像抛硬币，一位也省不掉", "a coin; nothing of it can be left out")
    } else {
        ("单看这一位有偏，和邻位一起看还要少", "leans to one side; with its neighbours it holds less still")
    };
    match lang {
        Lang::Zh => format!("{name}：{amount}，{zh}。"),
        Lang::En => format!("{name}: {amount}, {en}."),
    }
}

pub fn finding(tensor: &str, answer: &Answer, lang: Lang) -> String {
    let of = |key: &str| answer.num(key);
    let ceiling = number(of("field_ratio"));
    let (exponent, plain, split) = (of("exponent_bits"), of("lz4_ratio"), of("split_lz4_ratio"));
    match lang {
        Lang::Zh => format!(
            "{tensor}：指数 8 位里有 {exponent:.2} 位信息，16 位合计 {:.2}，压缩比最多 {ceiling}；LZ4 得到 {plain:.3}，拆开字节后 {split:.3}。",
            of("field_bits")
        ),
        Lang::En => format!(
            "{tensor}: 8 bits of exponent hold {exponent:.2} bits of information, all 16 hold {:.2}, so a ratio of {ceiling} at best; LZ4 gets {plain:.3}, and {split:.3} after the split.",
            of("field_bits")
        ),
    }
}
