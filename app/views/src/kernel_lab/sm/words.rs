//! An SM in words.

use super::question::{Answer, Question};
use vramlab_model::kernels::occupancy_cliff::{Axis, Stretch};
use vramlab_units::show::{THIN, number};
use vramlab_units::{Bytes, Lang, Text};

pub const WARPS: Text = Text::new("warp 槽", "warp slots");
pub const REGISTERS: Text = Text::new("寄存器", "registers");
pub const SHARED: Text = Text::new("共享内存", "shared memory");
pub const BLOCKS: Text = Text::new("block 槽", "block slots");
pub const ALLOWS: Text = Text::new("每样资源各允许几个 block", "Blocks that each resource alone allows");
pub const LIMITS: Text = Text::new("卡在这里", "the limit");
pub const OCCUPANCY: Text = Text::new("占用率", "occupancy");
pub const NO_LIMIT: Text = Text::new("不限", "no limit");
pub const HINT: Text = Text::new(
    "在断崖图上拖动，或点一级台阶；指一指左边，看各个 block 占了什么。键盘：← → 移动，↑ ↓ 到上下一处断崖，空格换横轴。",
    "Drag on the cliff finder or press a stair; point at the SM to see what a block takes. Keys: ← → move, ↑ ↓ the next cliff up or down, Space another axis.",
);

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn axis(axis: Axis) -> Text {
    match axis {
        Axis::Registers => Text::new("寄存器", "registers"),
        Axis::Threads => Text::new("线程", "threads"),
        Axis::Shared => Text::new("共享内存", "shared memory"),
    }
}

/// The name under the axis.
pub fn axis_title(axis: Axis) -> Text {
    match axis {
        Axis::Registers => Text::new("每个线程的寄存器", "registers a thread"),
        Axis::Threads => Text::new("每个 block 的线程", "threads a block"),
        Axis::Shared => Text::new("每个 block 的动态共享内存", "dynamic shared memory a block"),
    }
}

/// A value of the axis.
pub fn value(axis: Axis, value: u64) -> String {
    match axis {
        Axis::Shared => bytes(value),
        _ => value.to_string(),
    }
}

/// Bytes as KiB where they are whole eighths of one, else exactly.
pub fn bytes(value: u64) -> String {
    if value.is_multiple_of(1024) {
        format!("{}{THIN}KiB", value / 1024)
    } else if value < 1024 {
        format!("{value}{THIN}B")
    } else if value.is_multiple_of(128) {
        format!("{}{THIN}KiB", value as f64 / 1024.0)
    } else {
        vramlab_units::show::bytes_binary(Bytes(value))
    }
}

pub fn percent(share: f64) -> String {
    format!("{}{THIN}%", number(100.0 * share))
}

pub fn blocks(n: u64, lang: Lang) -> String {
    match (lang, n) {
        (Lang::Zh, n) => format!("{n} 个 block"),
        (Lang::En, 1) => "1 block".to_owned(),
        (Lang::En, n) => format!("{n} blocks"),
    }
}

/// The resources that are the least, in words.
pub fn limiter(answer: &Answer, lang: Lang) -> String {
    let name = |word: &str| match word {
        "warps" => WARPS,
        "registers" => REGISTERS,
        "shared" => SHARED,
        _ => BLOCKS,
    };
    let words: Vec<&str> = answer.limits.limiter().split('+').map(|word| name(word).get(lang)).collect();
    words.join(if lang == Lang::Zh { "和" } else { " and " })
}

fn share(question: &Question, part: Stretch) -> String {
    percent(part.warps as f64 / question.sm.warps as f64)
}

/// The next cliff.
pub fn cliff(question: &Question, answer: &Answer, lang: Lang) -> String {
    let Some(place) = answer.place else { return String::new() };
    let (axis, at) = (question.axis, question.value());
    let unit = |n: u64| match (axis, lang) {
        (Axis::Shared, _) => bytes(n),
        (Axis::Registers, Lang::Zh) => format!("{n} 个寄存器"),
        (Axis::Threads, Lang::Zh) => format!("{n} 个线程"),
        (Axis::Registers, Lang::En) => format!("{n} register{}", if n == 1 { "" } else { "s" }),
        (Axis::Threads, Lang::En) => format!("{n} thread{}", if n == 1 { "" } else { "s" }),
    };
    let fall = place.fall.map(|part| {
        let (more, to) = (unit(part.from - at), value(axis, part.from));
        let (now, then) = (share(question, place.here), share(question, part));
        if part.blocks == 0 {
            return pick(
                lang,
                format!("再多 {more}（到 {to}）就启动不了。"),
                format!("{more} more, at {to}, and it cannot be launched."),
            );
        }
        let (from, left) = (place.here.blocks, blocks(part.blocks, lang));
        pick(
            lang,
            format!("再多 {more}（到 {to}）：{from} → {left}，占用率 {now} → {then}。"),
            format!("{more} more, at {to}: {from} → {left}, occupancy {now} → {then}."),
        )
    });
    let fall = fall.unwrap_or_else(|| pick(lang, "往上没有断崖了。".to_owned(), "No cliff further up.".to_owned()));
    let rise = place.rise.map(|part| {
        let (less, to) = (unit(at - part.to), value(axis, part.to));
        let (more, then) = (blocks(part.blocks, lang), share(question, part));
        pick(
            lang,
            format!("少 {less}（到 {to}）能放 {more}，{then}。"),
            format!(" {less} fewer, at {to}, allow {more}, {then}."),
        )
    });
    fall + &rise.unwrap_or_default()
}

pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let (launch, cc) = (question.launch, question.sm.name());
    if answer.blocks == 0 {
        return pick(
            lang,
            format!(
                "{} 个线程、每个 {} 个寄存器的 block 在 {cc} 上启动不了：卡在{}。",
                launch.threads,
                launch.registers,
                limiter(answer, lang)
            ),
            format!(
                "A block of {} threads with {} registers each cannot be launched on {cc}: {} forbid it.",
                launch.threads,
                launch.registers,
                limiter(answer, lang)
            ),
        );
    }
    let (held, used) = (blocks(answer.blocks, lang), percent(answer.occupancy));
    let (warps, most) = (answer.warps, question.sm.warps);
    let head = pick(
        lang,
        format!("{held}，{warps}/{most} 个 warp，占用率 {used}，卡在{}。", limiter(answer, lang)),
        format!("{held}, {warps} of {most} warps: occupancy {used}, limited by {}.", limiter(answer, lang)),
    );
    let gap = if lang == Lang::En { " " } else { "" };
    format!("{head}{gap}{}", cliff(question, answer, lang))
}

/// What one block takes.
pub fn block(question: &Question, idx: u64, lang: Lang) -> String {
    let launch = question.launch;
    let (warps, each) = (launch.warps(), launch.registers_per_warp());
    let (all, shared) = (each * warps, bytes(launch.shared_per_block(question.sm)));
    let idle = warps * 32 - launch.threads;
    let tail = match (idle, lang) {
        (0, _) => String::new(),
        (n, Lang::Zh) => format!("，{n} 个 lane 没有线程"),
        (n, Lang::En) => format!(", {n} lanes without a thread"),
    };
    pick(
        lang,
        format!(
            "block {idx}：{warps} 个 warp{tail}；每个 warp {each} 个寄存器，一共 {all}；共享内存 {shared}，其中 {} 是驱动留的。",
            bytes(question.sm.reserved)
        ),
        format!(
            "Block {idx}: {warps} warp{}{tail}; {each} registers a warp, {all} in all; {shared} of shared memory, {} of it kept by the driver.",
            if warps == 1 { "" } else { "s" },
            bytes(question.sm.reserved)
        ),
    )
}

/// The stair under the pointer.
pub fn stair(question: &Question, part: Stretch, lang: Lang) -> String {
    let (from, to) = (value(question.axis, part.from), value(question.axis, part.to));
    let (held, used) = (blocks(part.blocks, lang), share(question, part));
    pick(lang, format!("{from} 到 {to}：{held}，{used}。"), format!("From {from} to {to}: {held}, {used}."))
}

/// The waves of the grid.
pub fn waves(question: &Question, answer: &Answer, lang: Lang) -> String {
    let (grid, sms) = (question.grid, question.sms);
    let Some((n, share, last)) = answer.waves else {
        return pick(
            lang,
            "一个 block 都放不下，谈不上波数。".to_owned(),
            "No block fits, so there are no waves.".to_owned(),
        );
    };
    let places = answer.blocks * sms;
    pick(
        lang,
        format!(
            "网格 {grid} 个 block，{sms} 个 SM 一次放 {places} 个：{n} 波，最后一波 {last} 个，位置用上 {}。",
            percent(share)
        ),
        format!(
            "A grid of {grid} blocks, {places} at once on {sms} SMs: {n} wave{}, {last} in the last; {} of the places are used.",
            if n == 1 { "" } else { "s" },
            percent(share)
        ),
    )
}
