//! The tree in words, and where each of its ends leads.

use vramlab_model::next_fix::{Bound, Profile};
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

pub const YES: Text = Text::new("是", "yes");
pub const NO: Text = Text::new("否", "no");

/// What is asked at a node; the last asks nothing.
pub fn question(bound: Bound) -> Text {
    match bound {
        Bound::Capacity => Text::new("峰值比卡大？", "Is the peak above the card?"),
        Bound::Floor => Text::new("下限到了九成？", "Is nine tenths of the floor reached?"),
        Bound::Copies => Text::new("没藏住的拷贝占五分之一？", "Are copies that nothing hides a fifth?"),
        Bound::Gaps => Text::new("内核之间的空隙占五分之一？", "Are gaps between kernels a fifth?"),
        Bound::Waste => Text::new("搬的字节有用的不到八成？", "Are under four fifths of the bytes useful?"),
        Bound::Bandwidth => Text::new("带宽到了八成？", "Is bandwidth at four fifths of its peak?"),
        Bound::Arithmetic => Text::new("算力到了八成？", "Is arithmetic at four fifths of its peak?"),
        Bound::Waiting => Text::new("", ""),
    }
}

/// An end in two or three words.
pub fn title(bound: Bound) -> Text {
    match bound {
        Bound::Capacity => Text::new("先放得下", "make it fit first"),
        Bound::Floor => Text::new("停手", "stop here"),
        Bound::Copies => Text::new("拷贝", "copies"),
        Bound::Gaps => Text::new("启动与空隙", "launches and gaps"),
        Bound::Waste => Text::new("白搬的字节", "wasted bytes"),
        Bound::Bandwidth => Text::new("带宽到顶", "bound by bandwidth"),
        Bound::Arithmetic => Text::new("算力到顶", "bound by arithmetic"),
        Bound::Waiting => Text::new("在等", "waiting"),
    }
}

/// What to do about it.
pub fn advice(bound: Bound) -> Text {
    match bound {
        Bound::Capacity => Text::new("账本里哪一行最大，先动哪一行", "work on the largest line of the ledger"),
        Bound::Floor => Text::new("剩下的值不回你的时间；写下来", "what is left is not worth your time; write it down"),
        Bound::Copies => Text::new("锁页，再和计算重叠", "pin the memory, then overlap it with work"),
        Bound::Gaps => Text::new("融合小内核，或用 CUDA graph", "fuse small kernels, or use a CUDA graph"),
        Bound::Waste => Text::new("相邻线程读相邻地址", "let neighbours read neighbours"),
        Bound::Bandwidth => Text::new("少搬：融合、复用、更窄的格式", "move less: fusion, reuse, narrower formats"),
        Bound::Arithmetic => Text::new("换张量核的精度，或少算", "a precision of the tensor cores, or less work"),
        Bound::Waiting => {
            Text::new("在途的字节太少：更多线程或更宽的读", "too few bytes in flight: more threads or wider loads")
        }
    }
}

/// The step that an end opens.
pub fn target(bound: Bound) -> (&'static str, &'static str) {
    match bound {
        Bound::Capacity => ("05_peak", "puzzle"),
        Bound::Floor => ("10_capstone", "review"),
        Bound::Copies => ("01_bottleneck", "panel"),
        Bound::Gaps => ("01_bottleneck", "meters"),
        Bound::Waste => ("02_access_patterns", "sectors"),
        Bound::Bandwidth => ("12_roofline", "batch"),
        Bound::Arithmetic => ("12_roofline", "ramp"),
        Bound::Waiting => ("01_bottleneck", "conveyor"),
    }
}

/// `chapter 2 →`
pub fn chapter(bound: Bound, lang: Lang) -> String {
    let number = target(bound).0.split('_').next().unwrap_or_default().trim_start_matches('0').to_owned();
    match lang {
        Lang::Zh => format!("第 {number} 章 →"),
        Lang::En => format!("chapter {number} →"),
    }
}

/// What a node's number is.
pub fn evidence(bound: Bound, profile: &Profile, lang: Lang) -> String {
    let value = with_unit(profile.of(bound), "%");
    let name = match bound {
        Bound::Capacity => Text::new("峰值 ÷ 卡", "peak over card"),
        Bound::Floor => Text::new("下限 ÷ 实测", "floor over measured"),
        Bound::Copies => Text::new("拷贝", "copies"),
        Bound::Gaps => Text::new("空隙", "gaps"),
        Bound::Waste => Text::new("有用的字节", "useful bytes"),
        Bound::Bandwidth => Text::new("带宽", "bandwidth"),
        Bound::Arithmetic | Bound::Waiting => Text::new("算力", "arithmetic"),
    };
    format!("{} {value}", name.get(lang))
}

pub fn finding(profile: &Profile, lang: Lang) -> String {
    let bound = profile.bound();
    let (name, what) = (title(bound).get(lang), advice(bound).get(lang));
    let gain = profile.most_gain(bound).filter(|gain| *gain > 1.0).map(|gain| with_unit(gain, "×"));
    match (gain, lang) {
        (Some(gain), Lang::Zh) => format!("走到“{name}”：{what}。修好它最多快 {gain}。"),
        (Some(gain), Lang::En) => {
            format!("The way ends at \"{name}\": {what}. Mended, the step is at most {gain} as fast.")
        }
        (None, Lang::Zh) => format!("走到“{name}”：{what}。"),
        (None, Lang::En) => format!("The way ends at \"{name}\": {what}."),
    }
}
