//! The graph in words.

use super::question::{Kind, Question, Sums};
use vramlab_units::quantity::Bytes;
use vramlab_units::show::{THIN, bytes_decimal, number};
use vramlab_units::{Lang, Text};

pub const HINT: Text = Text::new(
    "拖一个框圈住几个算子，松手就合并；点一下选一个。键盘：← → 走，空格选，回车合并，退格拆开。",
    "Drag a frame around operators and let go to fuse them; click to pick one. Keys: ← → walk, Space picks, Enter fuses, Backspace splits.",
);
pub const HBM: Text = Text::new("经过显存，粗细按字节", "through memory, as wide as its bytes");
pub const CHIP: Text = Text::new("留在寄存器里", "stays in registers");
pub const GROUP: Text = Text::new("一个 kernel", "one kernel");
pub const NOW: Text = Text::new("搬的字节", "Bytes moved");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn bytes(bytes: f64) -> String {
    bytes_decimal(Bytes(bytes.round().max(0.0) as u64))
}

/// Bytes with as many digits as a sum of tensors needs: `18.004 MB`.
pub fn precise(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, 0);
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let text = format!("{value:.3}");
    format!("{}{THIN}{}", text.trim_end_matches('0').trim_end_matches('.'), units[unit])
}

pub fn kind(kind: Kind, lang: Lang) -> &'static str {
    let text = match kind {
        Kind::Map => Text::new("逐元素", "map"),
        Kind::Reduce => Text::new("归约", "reduce"),
        Kind::Gemm => Text::new("矩阵乘", "gemm"),
        Kind::Opaque => Text::new("库", "library"),
    };
    text.get(lang)
}

pub fn op(question: &Question, at: usize, lang: Lang) -> String {
    let op = &question.ops[at];
    let reads: Vec<String> =
        op.inputs.iter().map(|name| format!("{name} ({})", bytes(question.bytes_of(name)))).collect();
    let writes = format!("{} ({})", op.output, bytes(question.bytes_of(&op.output)));
    let kind = kind(op.kind, lang);
    pick(
        lang,
        format!("{}：{kind}，读 {}，写 {writes}。", op.name, reads.join("、")),
        format!("{}: {kind}, reads {}, writes {writes}.", op.name, reads.join(", ")),
    )
}

pub fn tensor(question: &Question, name: &str, lang: Lang) -> String {
    let (size, crossing) = (question.bytes_of(name), question.crossing(name));
    let each = bytes(size);
    if crossing.times() == 0 {
        return pick(
            lang,
            format!("{name}，{each}：在一个 kernel 里产生、用掉，不经过显存。"),
            format!("{name}, {each}: made and used within one kernel, it never crosses memory."),
        );
    }
    let all = bytes(size * crossing.times() as f64);
    let writes = u64::from(crossing.is_written);
    pick(
        lang,
        format!("{name}，{each}：写 {writes} 次，读 {} 次，共 {all}。", crossing.reads),
        format!("{name}, {each}: written {writes} ×, read {} ×, {all} in all.", crossing.reads),
    )
}

/// What fusing the picked would bring.
pub fn offer(question: &Question, picked: &[usize], after: &Sums, lang: Lang) -> String {
    let now = question.sums(&question.of);
    let names: Vec<&str> = picked.iter().map(|op| question.ops[*op].name.as_str()).collect();
    let (before, then) = (precise(now.bytes), precise(after.bytes));
    pick(
        lang,
        format!("{} 合成一个：{before} → {then}，启动 {} → {}。", names.join("、"), now.launches, after.launches),
        format!(
            "{} as one kernel: {before} → {then}, launches {} → {}.",
            names.join(", "),
            now.launches,
            after.launches
        ),
    )
}

pub fn finding(question: &Question, sums: &Sums, refused: Option<&str>, lang: Lang) -> String {
    if let Some(why) = refused {
        return pick(lang, format!("不能合并：{why}。"), format!("Not one kernel: {why}."));
    }
    let (now, apart) = (precise(sums.bytes), precise(sums.apart));
    let n = question.ops.len();
    if sums.launches == n {
        return pick(
            lang,
            format!("{n} 个算子，{n} 个 kernel，搬 {apart}。"),
            format!("{n} operators in {n} kernels move {apart}."),
        );
    }
    let share = number(100.0 * sums.bytes / sums.apart.max(1.0));
    let launches = sums.launches;
    let kernels = if launches == 1 { "1 kernel".to_owned() } else { format!("{launches} kernels") };
    let stays = question.tensors().into_iter().filter(|name| question.crossing(name).times() == 0).collect::<Vec<_>>();
    let stay = if stays.is_empty() {
        String::new()
    } else {
        pick(lang, format!("{} 没有进显存。", stays.join("、")), format!(" {} never cross memory.", stays.join(", ")))
    };
    pick(
        lang,
        format!("{n} 个算子，{launches} 个 kernel，搬 {now}，是分开做的 {share} %。{stay}"),
        format!("{n} operators in {kernels} move {now}, {share} % of {apart}.{stay}"),
    )
}
