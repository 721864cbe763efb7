//! What the chart of links says.

use super::super::Answer;
use super::LINKS;
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

pub const HOW: Text = Text::new(
    "拖动圆点，或用方向键。线以上：先传后解也赚；线以下：亏。空心圈是边传边解。",
    "Drag the dot, or use arrow keys. Above a line packing pays even when unpacked after the transfer, below it does not. Hollow: overlapped.",
);

pub const GAINS: Text = Text::new("快几倍", "How many times as fast");

pub fn axes(lang: Lang) -> [&'static str; 2] {
    match lang {
        Lang::Zh => ["压缩比", "解码器，GB/s"],
        Lang::En => ["ratio", "decoder, GB/s"],
    }
}

pub fn gain(serial: f64, both: f64, is_short: bool, lang: Lang) -> String {
    let (one, two) = (number(serial), number(both));
    match lang {
        _ if is_short => one,
        Lang::Zh => format!("{one}，边解 {two}"),
        Lang::En => format!("{one}, overlapped {two}"),
    }
}

/// Link by link.
pub fn verdicts(found: &[Answer; 4], lang: Lang) -> String {
    let one = |((name, _), found): (&(Text, f64), &Answer)| {
        format!("{} {}", name.get(lang), with_unit(found.num("serial_gain"), "×"))
    };
    let all: Vec<String> = LINKS.iter().zip(found).map(one).collect();
    match lang {
        Lang::Zh => format!("{}。", all.join("，")),
        Lang::En => format!("{}.", all.join(", ")),
    }
}

pub fn finding(ratio: f64, decoder: f64, found: &[Answer; 4], lang: Lang) -> String {
    let speed = with_unit(decoder, "GB/s");
    let pays: Vec<&str> = LINKS
        .iter()
        .zip(found)
        .filter(|(_, found)| found.num("serial_gain") > 1.0)
        .map(|((name, _), _)| name.get(lang))
        .collect();
    let least = found[1].maybe("least_decoder_gb_per_s").map(|value| with_unit(value, "GB/s"));
    match (lang, pays.is_empty(), least) {
        (Lang::Zh, _, None) => format!("压缩比 {ratio:.2}：没有变小，哪条链路上都不划算。"),
        (Lang::En, _, None) => format!("A ratio of {ratio:.2} saves nothing, and pays on no link."),
        (Lang::Zh, true, Some(least)) => {
            format!("压缩比 {ratio:.2}、解码 {speed}：先传后解在哪条链路上都亏；PCIe 要 {least} 以上的解码器。")
        }
        (Lang::En, true, Some(least)) => format!(
            "A ratio of {ratio:.2} and a decoder of {speed}: one after the other it pays on none of the links; PCIe needs more than {least}."
        ),
        (Lang::Zh, false, Some(least)) => {
            format!("压缩比 {ratio:.2}、解码 {speed}：先传后解在 {} 上划算；PCIe 的门槛是 {least}。", pays.join("、"))
        }
        (Lang::En, false, Some(least)) => format!(
            "A ratio of {ratio:.2} and a decoder of {speed}: one after the other it pays on {}; PCIe asks for {least}.",
            pays.join(", ")
        ),
    }
}
