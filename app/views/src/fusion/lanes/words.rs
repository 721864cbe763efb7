//! The lanes in words.

use super::question::Question;
use vramlab_model::kernels::launch_timeline::{Lanes, Mode};
use vramlab_units::show::number;
use vramlab_units::{Lang, Text};

pub const CPU: Text = Text::new("CPU", "CPU");
pub const GPU: Text = Text::new("GPU", "GPU");
pub const ALL: Text = Text::new("三种做法到哪里结束，点一条看它", "Where each way ends; press one");
pub const LAUNCHES: Text = Text::new("启动", "launching");
pub const WAITS: Text = Text::new("等", "waiting");
pub const RUNS: Text = Text::new("kernel", "kernel");
pub const HINT: Text = Text::new(
    "在时间线上左右拖：kernel 变长变短。键盘：← → 长短，↑ ↓ 个数，空格换做法。",
    "Drag sideways on the lanes to make kernels longer or shorter. Keys: ← → length, ↑ ↓ number, Space the way.",
);

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn mode(mode: Mode) -> Text {
    match mode {
        Mode::Stream => Text::new("流", "stream"),
        Mode::Synced => Text::new("流，每次同步", "stream, synced"),
        Mode::Graph => Text::new("CUDA 图", "CUDA graph"),
    }
}

pub fn us(value: f64) -> String {
    format!("{} µs", number(value))
}

/// What happens at a moment.
pub fn moment(lanes: &Lanes, at: f64, lang: Lang) -> String {
    let within = |spans: &[(f64, f64)]| spans.iter().position(|(from, to)| (*from..*to).contains(&at));
    let cpu = match (within(&lanes.launches), within(&lanes.waits)) {
        (Some(idx), _) => pick(lang, format!("CPU 在启动第 {} 个", idx + 1), format!("the CPU launches {}", idx + 1)),
        (_, Some(_)) => pick(lang, "CPU 在等".to_owned(), "the CPU waits".to_owned()),
        _ => pick(lang, "CPU 没事了".to_owned(), "the CPU is free".to_owned()),
    };
    let gpu = match within(&lanes.kernels) {
        Some(idx) => pick(lang, format!("GPU 在跑第 {} 个", idx + 1), format!("the GPU runs {}", idx + 1)),
        None => pick(lang, "GPU 闲着".to_owned(), "the GPU is idle".to_owned()),
    };
    pick(lang, format!("{}：{cpu}，{gpu}。", us(at)), format!("At {}: {cpu}, {gpu}.", us(at)))
}

pub fn finding(question: &Question, lanes: &Lanes, lang: Lang) -> String {
    let (n, times) = (question.kernels, question.times);
    let (end, busy) = (us(lanes.end()), number(100.0 * lanes.busy()));
    let head = pick(
        lang,
        format!("{n} 个 {} 的 kernel，{end} 结束，GPU 忙 {busy} %。", us(times.kernel)),
        format!(
            "{n} {} of {} end after {end}; the GPU is busy {busy} % of it.",
            if n == 1 { "kernel" } else { "kernels" },
            us(times.kernel)
        ),
    );
    let why = match question.mode() {
        Mode::Synced => Text::new("每个都要等上一个的消息回来。", "Each launch waits for word of the one before."),
        Mode::Stream if times.kernel + times.gap < times.launch => Text::new(
            "kernel 比启动还短：GPU 在等 CPU。",
            "Kernels are shorter than launches: the GPU waits for the CPU.",
        ),
        Mode::Stream => Text::new(
            "kernel 比启动长：启动藏在后面，不花时间。",
            "Kernels are longer than launches, which hide behind them and cost nothing.",
        ),
        Mode::Graph if n == 1 => Text::new("只有一个，图反而慢。", "With a single kernel the graph is slower."),
        Mode::Graph => Text::new(
            "一次启动管全部；kernel 还是那些，字节也一个不少。",
            "One launch for all; the kernels are the same, and so are their bytes.",
        ),
    };
    let gap = if lang == Lang::En { " " } else { "" };
    format!("{head}{gap}{}", why.get(lang))
}
