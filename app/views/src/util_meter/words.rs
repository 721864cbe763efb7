//! The utilisation meter in words.

use super::question::Question;
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

pub const KERNELS: Text = Text::new("内核在跑", "a kernel runs");
pub const BYTES: Text = Text::new("搬的字节（虚线是峰值）", "bytes moved (dashed: peak)");
pub const BYTES_SHORT: Text = Text::new("搬的字节", "bytes moved");
pub const OF_PEAK: Text = Text::new("占峰值带宽", "of peak");

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

/// The window without its name, where there is little room.
pub fn window_short(question: &Question) -> String {
    with_unit(question.window_ms as f64, "ms")
}

pub fn window(question: &Question, lang: Lang) -> String {
    let window = window_short(question);
    pick(lang, format!("采样窗口 {window}"), format!("sample window {window}"))
}

/// The finding for the state shown. Every number is the model's.
pub fn finding(util: f64, achieved_gb_per_s: f64, share: f64, lang: Lang) -> String {
    let (util_text, share_text) = (with_unit(util, "%"), with_unit(share, "%"));
    let achieved = with_unit(achieved_gb_per_s, "GB/s");
    let head = pick(
        lang,
        format!("GPU-Util 显示 {util_text}，显存平均搬 {achieved}，是峰值的 {share_text}："),
        format!("GPU-Util reads {util_text}; memory moves {achieved} on average, {share_text} of the peak: "),
    );
    let tail = match (util > 0.95, share / util.max(1e-9) > 0.8) {
        (true, false) => pick(lang, "忙了一整段，多半在等。".into(), "busy all the time, and mostly waiting.".into()),
        (true, true) => pick(lang, "真的忙。".into(), "really busy.".into()),
        (false, true) => {
            pick(lang, "跑的时候跑得满，空着的时候多。".into(), "full while it runs, and idle for the rest.".into())
        }
        (false, false) => pick(lang, "又空又慢。".into(), "idle and slow.".into()),
    };
    head + &tail
}

/// What the picture's measures are.
pub fn scale(lang: Lang) -> String {
    pick(
        lang,
        "左边的表只问有没有内核在跑；右边的表拿搬的字节除以峰值。两个表看的是同一段时间。".into(),
        "The left meter asks whether a kernel runs, the right one divides bytes moved by the peak. Both look at the same time."
            .into(),
    )
}
