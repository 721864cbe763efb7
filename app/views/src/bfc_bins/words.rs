//! The bins in words: what the search did, why a chunk was cut or not, what a free joined.

use super::moment::{Cell, Deed, Fate, Moment};
use super::question::Question;
use vramlab_alloc::MIB;
use vramlab_alloc::bfc::{N_BINS, UNIT, bin_of};
use vramlab_units::{Bytes, Lang, Text, show};

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

/// A size as exact as it is short: whole GiB, MiB to a tenth, whole KiB below 1 MiB, else bytes.
pub fn size(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    match bytes {
        0 => {}
        _ if bytes.is_multiple_of(KIB * KIB * KIB) => return show::bytes_binary(Bytes(bytes)),
        _ if bytes.is_multiple_of(MIB) => return show::grouped_with_unit((bytes / MIB) as f64, "MiB"),
        _ if bytes > MIB && (bytes * 10).is_multiple_of(MIB) => {
            return format!("{:.1}{}MiB", bytes as f64 / MIB as f64, show::THIN);
        }
        _ if bytes < MIB && bytes.is_multiple_of(KIB) => return show::bytes_binary(Bytes(bytes)),
        _ => {}
    }
    show::grouped_with_unit(bytes as f64, "B")
}

/// The least size of a bin: 256 B, 512 B … 256 MiB.
pub fn bound(bin: u32) -> String {
    let least = show::bytes_binary(Bytes(UNIT << bin));
    if bin + 1 == N_BINS { format!("{least}+") } else { least }
}

pub const SEARCHED_NOTE: Text = Text::new(
    "一列一箱，下面是它的下界；上方是这个事件之前的空闲块，指着一箱看里面有什么。",
    "A column is a bin, with its lower bound below. It holds the free chunks before this event; point at one to see them.",
);
pub const REGIONS: Text = Text::new("这之后的池，一条一个区域", "The pool afterwards, one strip a region");

/// What the request above the ruler is called.
pub fn request(moment: &Moment, lang: Lang) -> String {
    match &moment.deed {
        Deed::Served { asked, .. } | Deed::Refused { asked, .. } => pick(
            lang,
            format!("{} 要 {}", moment.name, size(*asked)),
            format!("{} asks for {}", moment.name, size(*asked)),
        ),
        Deed::Freed { size: freed, .. } => pick(
            lang,
            format!("释放 {}，{}", moment.name, size(*freed)),
            format!("{} is freed, {}", moment.name, size(*freed)),
        ),
        Deed::Nothing => String::new(),
    }
}

/// What happened at this event, and why.
pub fn finding(question: &Question, moment: &Moment, lang: Lang) -> String {
    match &moment.deed {
        Deed::Served { asked, rounded, chunk, block, rest, region } => {
            let mut text = search(moment, *asked, *rounded, (*chunk, *region), lang);
            text.push_str(&cut(question, (*rounded, *chunk), (block.size, *rest), lang));
            text
        }
        Deed::Refused { asked, rounded, refusal } if refusal.is_oom => {
            refused(question, moment, (*asked, *rounded), lang)
        }
        Deed::Refused { .. } => pick(
            lang,
            "BFC 拒绝 0 字节的申请：size must be positive。".into(),
            "BFC refuses a request for 0 bytes: size must be positive.".into(),
        ),
        Deed::Freed { size: freed, chunk, joins } => joined(moment, *freed, *chunk, *joins, lang),
        Deed::Nothing => pick(lang, "BFC 不理会这个事件。".into(), "BFC takes no notice of this event.".into()),
    }
}

/// Where it searched, and what it found.
fn search(moment: &Moment, asked: u64, rounded: u64, (chunk, region): (u64, u64), lang: Lang) -> String {
    let (name, bin) = (&moment.name, bin_of(rounded));
    let up = if asked == rounded {
        String::new()
    } else {
        pick(lang, format!("，取整 {}", size(rounded)), format!(", {} rounded", size(rounded)))
    };
    let start = pick(
        lang,
        format!("{name} 要 {}{up}，从 {bin} 号箱往上找。", size(asked)),
        format!("{name} asks for {}{up}; the search starts at bin {bin} and goes up. ", size(asked)),
    );
    let found = if region > 0 {
        pick(
            lang,
            format!("没有够大的块，向驱动要来一个 {} 的区域。", size(region)),
            format!("Nothing is large enough, so the driver gives a region of {}. ", size(region)),
        )
    } else {
        let at = bin_of(chunk);
        pick(
            lang,
            format!("第一个够大的在 {at} 号箱：{}。", size(chunk)),
            format!("The first that is large enough is in bin {at}: {}. ", size(chunk)),
        )
    };
    start + &found
}

/// Whether the chunk was cut, with the rule that decided it.
fn cut(question: &Question, (rounded, chunk): (u64, u64), (given, rest): (u64, u64), lang: Lang) -> String {
    let (extra, most) = (chunk - rounded, question.options().most_waste());
    if rest > 0 {
        let back = pick(
            lang,
            format!("余下 {} 回 {} 号箱。", size(rest), bin_of(rest)),
            format!("the rest, {}, goes to bin {}.", size(rest), bin_of(rest)),
        );
        let rule = if chunk >= 2 * rounded {
            pick(lang, "它至少是请求的 2 倍，切开：".into(), "It is at least twice the request and is split: ".into())
        } else {
            pick(
                lang,
                format!("它多出 {}，够 {} 了，切开：", size(extra), size(most)),
                format!("It is {} too large, no less than {}, and is split: ", size(extra), size(most)),
            )
        };
        return rule + &back;
    }
    if given == rounded {
        return pick(lang, "正好，不用切。".into(), "It fits exactly.".into());
    }
    pick(
        lang,
        format!("它不到请求的 2 倍，也没多出 {}，整块给出，块里白占 {}。", size(most), size(given - rounded)),
        format!(
            "That is less than twice the request and less than {} too large: it is given whole, and {} lie idle inside.",
            size(most),
            size(given - rounded)
        ),
    )
}

fn refused(question: &Question, moment: &Moment, (asked, rounded): (u64, u64), lang: Lang) -> String {
    let (free, largest) = (moment.after.total_free_bytes, moment.after.largest_free_bytes);
    let (name, bin, limit) = (&moment.name, bin_of(rounded), size(question.limit_bytes()));
    let is_full = moment.after.reserved_bytes >= question.limit_bytes();
    let why = match is_full {
        true => pick(lang, format!("池已到上限 {limit}"), format!("the pool is at its limit of {limit}")),
        false => pick(lang, "驱动也给不出一个够大的区域".into(), "no region that large can be had".into()),
    };
    pick(
        lang,
        format!(
            "{name} 要 {}：从 {bin} 号箱往上没有一块够大，{why}，失败。空闲共 {}，最大一块 {}。",
            size(asked),
            size(free),
            size(largest)
        ),
        format!(
            "{name} asks for {}: from bin {bin} up nothing is large enough, and {why}. It fails, with {} free in all and {} \
             the largest piece.",
            size(asked),
            size(free),
            size(largest)
        ),
    )
}

fn joined(moment: &Moment, freed: u64, chunk: u64, joins: (bool, bool), lang: Lang) -> String {
    let (name, bin) = (&moment.name, bin_of(chunk));
    let (with, into) = match joins {
        (false, false) => {
            return pick(
                lang,
                format!("释放 {name}：两边都不空闲，{} 自成一块，进 {bin} 号箱。", size(freed)),
                format!(
                    "{name} is freed: no neighbour is free, so its {} are a chunk of their own, in bin {bin}.",
                    size(freed)
                ),
            );
        }
        (true, true) => ("两边的邻居都空闲", "both neighbours are free"),
        (true, false) => ("左边的邻居空闲", "the neighbour before it is free"),
        (false, true) => ("右边的邻居空闲", "the neighbour after it is free"),
    };
    pick(
        lang,
        format!("释放 {name}（{}）：{with}，当场合成一块 {}，进 {bin} 号箱。", size(freed), size(chunk)),
        format!(
            "{name} ({}) is freed: {into}. At once they make one chunk of {}, in bin {bin}.",
            size(freed),
            size(chunk)
        ),
    )
}

/// A bin under the pointer.
pub fn bin(moment: &Moment, bin: u32, lang: Lang) -> String {
    let cells = &moment.bins[bin as usize];
    let range = if bin + 1 == N_BINS {
        pick(
            lang,
            format!("{} 起", show::bytes_binary(Bytes(UNIT << bin))),
            format!("from {} up", show::bytes_binary(Bytes(UNIT << bin))),
        )
    } else {
        let (low, high) = (show::bytes_binary(Bytes(UNIT << bin)), show::bytes_binary(Bytes(UNIT << (bin + 1))));
        pick(lang, format!("{low} 到 {high} 以下"), format!("from {low} to below {high}"))
    };
    let chunks: Vec<String> = cells.iter().take(6).map(|cell| chunk(cell, lang)).collect();
    let more = cells.len().saturating_sub(chunks.len());
    let list = if chunks.is_empty() {
        pick(lang, "空".into(), "empty".into())
    } else {
        chunks.join(pick(lang, "、".into(), ", ".into()).as_str())
    };
    let more =
        if more > 0 { pick(lang, format!("，另 {more} 块"), format!(", and {more} more")) } else { String::new() };
    pick(lang, format!("{bin} 号箱，{range}：{list}{more}"), format!("bin {bin}, {range}: {list}{more}"))
}

fn chunk(cell: &Cell, lang: Lang) -> String {
    let note = match cell.fate {
        Fate::Taken => pick(lang, "（选中）".into(), " (taken)".into()),
        Fate::FromDriver => pick(lang, "（驱动刚给的）".into(), " (new from the driver)".into()),
        Fate::Merged => pick(lang, "（刚合成）".into(), " (just joined)".into()),
        Fate::PassedOver => pick(lang, "（够大，但有更合适的）".into(), " (large enough, another fits better)".into()),
        Fate::NotSearched | Fate::AtRest => String::new(),
    };
    size(cell.size) + &note
}

#[cfg(test)]
mod tests {
    use super::super::moment;
    use super::super::question::Preset;
    use super::*;

    fn said(preset: Preset, event: usize) -> String {
        let (question, _) = Question::of_preset(preset);
        finding(&question, &moment::at(&question, event), Lang::En)
    }

    /// Brief 24: the waste of the 2× rule, and the rule of 128 MiB.
    #[test]
    fn the_rule_that_decided_is_named() {
        let waste = said(Preset::Waste, 1);
        assert!(waste.contains("less than twice the request") && waste.contains("50\u{2009}MiB lie idle"), "{waste}");
        let split = said(Preset::Split, 1);
        assert!(split.contains("324\u{2009}MiB too large, no less than 128\u{2009}MiB"), "{split}");
        let holes = said(Preset::Holes, 6);
        assert!(holes.contains("14\u{2009}MiB free in all and 8\u{2009}MiB the largest"), "{holes}");
        assert!(said(Preset::Holes, 7).contains("one chunk of 20\u{2009}MiB, in bin 16"));
    }

    #[test]
    fn sizes_are_exact() {
        assert_eq!(size(2_096_384), "2\u{2009}096\u{2009}384\u{2009}B");
        assert_eq!(size(700), "700\u{2009}B");
        assert_eq!((bound(0), bound(20)), ("256\u{2009}B".into(), "256\u{2009}MiB+".into()));
    }
}
