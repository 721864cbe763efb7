//! The sector map in words: the finding, and what the pointer or the cursor is on.

use super::layout::Hit;
use super::question::{Layout, Question};
use vramlab_model::access::{LaneAddrs, WARP_LANES};
use vramlab_model::coalescing::{self, Coalesced, LINE, SECTOR};
use vramlab_units::{Lang, show};

/// The finding for the state shown. Every number is the model's.
pub fn finding(question: &Question, answer: &Coalesced, lang: Lang) -> String {
    let (n, moved, used) = (answer.sectors.len(), answer.bytes_moved().0, answer.bytes_used.0);
    let Some(efficiency) = answer.efficiency() else {
        return pick(lang, "没有 lane 参与，什么也不搬。".into(), "No lane takes part, so nothing moves.".into());
    };
    let share = show::with_unit(efficiency.0, "%");
    let (zh_case, en_case) = case(question);
    if question.layout == Layout::Same && question.n_active() > 1 {
        return pick(
            lang,
            format!("{} 个 lane 读同一个地址：{n} 个扇区就够，一份数据发给所有人。", question.n_active()),
            format!(
                "{} lanes read one address: {n} sector is enough, and all of them receive it.",
                question.n_active()
            ),
        );
    }
    if moved == used {
        return pick(
            lang,
            format!("{zh_case}搬了 {n} 个扇区（{moved} B），每个字节都用到。"),
            format!("{en_case}{} and every byte of them is used.", en_move(n, moved)),
        );
    }
    if used * 2 == moved {
        return pick(
            lang,
            format!("{zh_case}每搬两个字节只用一个：搬了 {n} 个扇区共 {moved} B，用到 {used} B。"),
            format!("{en_case}one byte in two is wasted: {}, {used} B are used.", en_move(n, moved)),
        );
    }
    pick(
        lang,
        format!("{zh_case}搬了 {n} 个扇区共 {moved} B，只用到 {used} B，效率 {share}。"),
        format!("{en_case}{}, but only {used} B are used: {share}.", en_move(n, moved)),
    )
}

/// The addition when DRAM pieces are shown.
pub fn dram_finding(answer: &Coalesced, lang: Lang) -> String {
    let (dram, moved) = (answer.dram_bytes().0, answer.bytes_moved().0);
    if dram == moved {
        return pick(
            lang,
            format!("DRAM 按 64 字节一块给，这里也正好是 {dram} B。"),
            format!(" DRAM hands over 64-byte pieces, here the same {dram} B."),
        );
    }
    pick(
        lang,
        format!("DRAM 按 64 字节一块给，所以从显存搬出 {dram} B。"),
        format!(" DRAM hands over 64-byte pieces, so {dram} B leave it."),
    )
}

fn en_move(n: usize, moved: u64) -> String {
    if n == 1 { format!("1 sector ({moved} B) moves") } else { format!("{n} sectors ({moved} B) move") }
}

/// The pattern in words, as the beginning of a sentence.
fn case(question: &Question) -> (String, String) {
    let stride = question.stride_elems;
    let shifted = question.offset_elems > 0;
    let shift = (question.offset_elems * question.elem_bytes).to_string();
    let (zh, en) = match question.layout {
        Layout::Strided => (format!("步长 {stride} 时"), format!("at stride {stride}")),
        Layout::Shuffled => (format!("步长 {stride}、打乱顺序时"), format!("at stride {stride} in shuffled order")),
        Layout::Aos => {
            let n = question.struct_elems;
            (format!("AoS 每个结构体 {n} 个字段时"), format!("in structs of {n} fields"))
        }
        Layout::Soa => ("用 SoA 存放时".to_owned(), "in a structure of arrays".to_owned()),
        Layout::Same => ("读同一个地址时".to_owned(), "at one address".to_owned()),
        Layout::Random => ("地址随机时".to_owned(), "at random addresses".to_owned()),
    };
    let (zh, en) = if shifted && question.layout != Layout::Random {
        (format!("偏移 {shift} B、{zh}"), format!("{en}, offset {shift} B"))
    } else {
        (zh, en)
    };
    let mut en = en;
    if let Some(first) = en.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    (format!("{zh}，"), format!("{en}, "))
}

/// The two numbers of the efficiency, so that it is not counted off the boxes.
pub fn fraction(used: u64, moved: u64, lang: Lang) -> String {
    let thin = show::THIN;
    pick(lang, format!("{used} / {moved}{thin}B"), format!("{used} of {moved}{thin}B"))
}

/// What a lane or a sector holds, for the line under the figure.
pub fn readout(question: &Question, addrs: &LaneAddrs, hit: Hit, lang: Lang) -> String {
    match hit {
        Hit::Lane(lane) => lane_readout(question, addrs, lane, lang),
        Hit::Sector(sector) => sector_readout(question, addrs, sector, lang),
    }
}

fn lane_readout(question: &Question, addrs: &LaneAddrs, lane: usize, lang: Lang) -> String {
    let Some(addr) = addrs.get(lane).copied().flatten() else {
        return pick(lang, format!("lane {lane} · 不参与"), format!("lane {lane} · switched off"));
    };
    let (first, last) = (addr.0, addr.0 + question.elem_bytes - 1);
    let (sector, line) = (addr.0 / SECTOR.0, addr.0 / LINE.0);
    let bytes = if first == last { first.to_string() } else { format!("{first}–{last}") };
    pick(
        lang,
        format!("lane {lane} · 字节 {bytes} · 扇区 {sector} · 缓存行 {line}"),
        format!("lane {lane} · bytes {bytes} · sector {sector} · cache line {line}"),
    )
}

fn sector_readout(question: &Question, addrs: &LaneAddrs, sector: u64, lang: Lang) -> String {
    let (first, last) = (sector * SECTOR.0, (sector + 1) * SECTOR.0 - 1);
    let alone: LaneAddrs = addrs.iter().map(|addr| addr.filter(|addr| addr.0 / SECTOR.0 == sector)).collect();
    let lanes: Vec<usize> = (0..WARP_LANES).filter(|lane| alone.get(*lane).copied().flatten().is_some()).collect();
    let used = coalescing::run(&alone, question.width()).map_or(0, |answer| answer.bytes_used.0);
    if lanes.is_empty() {
        return pick(
            lang,
            format!("扇区 {sector} · 字节 {first}–{last} · 没有 lane 要它，不搬"),
            format!("sector {sector} · bytes {first}–{last} · wanted by no lane, not moved"),
        );
    }
    let who = ranges(&lanes);
    pick(
        lang,
        format!("扇区 {sector} · 字节 {first}–{last} · 用到 {used} B · lane {who}"),
        format!("sector {sector} · bytes {first}–{last} · {used} B used · lanes {who}"),
    )
}

/// `0–3, 7, 9–10`.
pub fn ranges(sorted: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &item in sorted {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == item => *end = item,
            _ => parts.push((item, item)),
        }
    }
    let part = |(from, to): &(usize, usize)| if from == to { from.to_string() } else { format!("{from}–{to}") };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_written_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0–3, 7, 9–10");
        assert_eq!(ranges(&[]), "");
    }
}
