//! The ribbon in words.

use super::question::{Answer, Layout, Question};
use crate::layout::{percent, pick};
use vramlab_model::kernels::struct_fields::{SECTOR, Touched};
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "指一个 lane、一段内存或一个扇区；点结构体里的字段来改它。键盘：← → 换 lane，↑ ↓ 换字段，空格：读或不读。",
    "Point at a lane, a stretch of memory or a sector; press a field of the struct to edit it. Keys: ← → lane, ↑ ↓ field, Space reads it or not.",
);
pub const STRUCT: Text = Text::new("一个元素", "One element");
pub const LANE: Text = Text::new("一个 warp 的 32 个 lane", "The 32 lanes of a warp");
pub const MEMORY: Text = Text::new("内存：32 个元素，刻度是 32 字节的扇区", "32 elements; a tick every 32 bytes");
pub const FETCHED: Text = Text::new("取来的扇区，填色的是有用的字节", "Sectors fetched, filled where useful");
pub const PADDING: Text = Text::new("填充", "padding");
pub const UNREAD: Text = Text::new("浅色：没人读", "pale: read by nobody");

pub fn layout(layout: Layout) -> Text {
    match layout {
        Layout::Aos => Text::new("AoS", "AoS"),
        Layout::Soa => Text::new("SoA", "SoA"),
        Layout::Aosoa => Text::new("AoSoA", "AoSoA"),
    }
}

pub fn name(question: &Question) -> String {
    match question.layout {
        Layout::Aosoa => format!("AoSoA({})", question.width),
        other => layout(other).get(Lang::En).to_owned(),
    }
}

pub fn lane(question: &Question, lane: u64, lang: Lang) -> String {
    let parts: Vec<String> = question
        .read()
        .into_iter()
        .map(|field| {
            let at = question.place(field, lane);
            let name = &question.fields[field].name;
            match lang {
                Lang::Zh => format!("{name} 在第 {at} 字节（扇区 {}）", at / SECTOR),
                Lang::En => format!("{name} at byte {at} (sector {})", at / SECTOR),
            }
        })
        .collect();
    if parts.is_empty() {
        return pick(lang, format!("lane {lane} 什么也不读。"), format!("Lane {lane} reads nothing."));
    }
    pick(lang, format!("lane {lane}：{}。", parts.join("，")), format!("Lane {lane}: {}.", parts.join(", ")))
}

pub fn field(question: &Question, answer: &Answer, at: usize, lang: Lang) -> String {
    let field = &question.fields[at];
    let (name, bytes, align, offset) = (&field.name, field.bytes, field.align, answer.offsets[at]);
    pick(
        lang,
        format!("字段 {name}：{bytes} 字节，对齐到 {align}，在结构体的第 {offset} 字节。"),
        format!("Field {name}: {bytes} B, aligned to {align}, at byte {offset} of the struct."),
    )
}

pub fn sector(question: &Question, answer: &Answer, sector: u64, lang: Lang) -> String {
    let (from, to) = (sector * SECTOR, sector * SECTOR + SECTOR - 1);
    let Some(found) = answer.touched.iter().find(|touched| touched.sector == sector) else {
        return pick(
            lang,
            format!("扇区 {sector}（字节 {from} 到 {to}）：没人要，不取。"),
            format!("Sector {sector} (bytes {from} to {to}): wanted by nobody, not fetched."),
        );
    };
    let times = if question.is_worst { found.fetches() } else { 1 };
    let useful = Touched::useful(found);
    pick(
        lang,
        format!("扇区 {sector}（字节 {from} 到 {to}）：取 {times} 次，32 字节里 {useful} 字节有用。"),
        format!("Sector {sector} (bytes {from} to {to}): fetched {times}×, {useful} of its 32 bytes useful."),
    )
}

pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let (name, size, padding) = (name(question), answer.struct_bytes, answer.padding);
    if answer.read.is_empty() {
        return pick(
            lang,
            format!("{name}，一个元素 {size} 字节：一个字段也没读。"),
            format!("{name}, {size} B an element: no field is read."),
        );
    }
    let (sectors, share) = (answer.fetched(question.is_worst), percent(answer.efficiency(question.is_worst)));
    let bytes = sectors * SECTOR;
    let pad = match (question.layout == Layout::Aos && padding > 0, lang) {
        (false, _) => String::new(),
        (true, Lang::Zh) => format!("（{padding} 字节是填充）"),
        (true, Lang::En) => format!(" ({padding} of padding)"),
    };
    let other = answer.fetched(!question.is_worst);
    let rest = match (other == sectors, question.is_worst, lang) {
        (true, _, Lang::Zh) => "。".to_owned(),
        (true, _, Lang::En) => ".".to_owned(),
        (false, true, Lang::Zh) => format!("；扇区要是留得住，只要 {other} 个。"),
        (false, true, Lang::En) => format!("; if sectors stay cached, {other} are enough."),
        (false, false, Lang::Zh) => format!("；留不住就要 {other} 个。"),
        (false, false, Lang::En) => format!("; if they do not stay cached, {other}."),
    };
    pick(
        lang,
        format!(
            "{name}，一个元素 {size} 字节{pad}：一个 warp 取 {sectors} 个扇区共 {bytes} 字节，有用的 {} 字节，{share}{rest}",
            answer.useful
        ),
        format!(
            "{name}, {size} B an element{pad}: a warp fetches {sectors} sectors, {bytes} B, of which {} are useful, {share}{rest}",
            answer.useful
        ),
    )
}
