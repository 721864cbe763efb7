//! The utilisation meter in words.

use super::question::Question;
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

pub const KERNELS: Text = Text::new("GPU 内核在跑", "a GPU kernel runs");
pub const BYTES: Text = Text::new("搬的字节", "bytes moved");
pub const BYTES_SHORT: Text = Text::new("字节", "bytes");

/// The name of the right meter, on one line and broken where meters stand close.
pub fn of_peak(lang: Lang) -> [&'static str; 2] {
    match lang {
        Lang::Zh => ["占峰值带宽", "占峰值\n带宽"],
        Lang::En => ["of peak bandwidth", "of peak\nbandwidth"],
    }
}

/// The dashed line's own value.
pub fn peak(question: &Question, lang: Lang) -> String {
    let peak = with_unit(question.peak_gb_per_s, "GB/s");
    pick(lang, format!("峰值 {peak}"), format!("peak {peak}"))
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub const WINDOW: Text = Text::new("采样窗口", "sample window");

/// The right end of the window; the left one is 0.
pub fn window_end(question: &Question) -> String {
    with_unit(question.window_ms as f64, "ms")
}

/// The finding for the state shown. Every number is the model's.
pub fn finding(util: f64, achieved_gb_per_s: f64, share: f64, lang: Lang) -> String {
    let (util_text, share_text) = (with_unit(util, "%"), with_unit(share, "%"));
    let achieved = with_unit(achieved_gb_per_s, "GB/s");
    let head = pick(
        lang,
        format!("GPU-Util 显示 {util_text}，显存平均搬 {achieved}，是峰值带宽的 {share_text}："),
        format!("GPU-Util reads {util_text}; memory moves {achieved} on average, {share_text} of peak bandwidth: "),
    );
    let is_full = share / util.max(1e-9) > 0.8;
    let (zh, en) = match (util > 0.95, is_full) {
        // Whether such a kernel waits or computes, these two numbers do not say.
        (true, false) if share < 0.5 => {
            ("内核一直在跑，带宽多半闲着。", "a kernel all the time, and most of the bandwidth idle.")
        }
        (true, false) => ("内核一直在跑，带宽还没用满。", "a kernel all the time, and bandwidth to spare."),
        (true, true) => ("内核一直在跑，带宽也用满了。", "a kernel all the time, and the bandwidth in full use."),
        (false, true) => ("跑的时候带宽用满，其余时间空着。", "full bandwidth while a kernel runs, and gaps between."),
        (false, false) => ("内核之间有空，跑的时候带宽也没用满。", "gaps between kernels, and bandwidth to spare."),
    };
    head + &pick(lang, zh.into(), en.into())
}

/// What the picture's measures are.
pub fn scale(lang: Lang) -> String {
    pick(
        lang,
        "左边的表只问有没有内核在跑，右边的表拿平均带宽除以峰值带宽。内核忙着计算，右边的表照样低。".into(),
        "The left meter asks whether a kernel runs, the right one divides average by peak bandwidth. A kernel busy with \
         arithmetic reads low on the right too."
            .into(),
    )
}
