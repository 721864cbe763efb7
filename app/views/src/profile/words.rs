//! Sentences: a moment of the run, and what each colour is.

use super::look::Memory;
use super::timeline::Scene;
use vramlab_units::{Bytes, Lang, Text, show};

const BEFORE: Text = Text::new("{at} 时还没有样本。", "At {at}: no sample yet.");
pub const OTHERS: Text = Text::new("其他进程", "other processes");
pub const CARD: Text = Text::new("整张卡", "the whole card");
pub const LIVE: Text = Text::new("程序自己的 cudaMalloc", "the program's own cudaMalloc");
pub const PEAK: Text = Text::new("峰值 {size}", "peak {size}");

/// A time to a tenth of a millisecond, so that the kernels of a step can be told apart.
fn time(t_us: u64) -> String {
    const THIN: char = show::THIN;
    match t_us {
        0..1_000 => format!("{t_us}{THIN}µs"),
        1_000..1_000_000 => format!("{:.1}{THIN}ms", t_us as f64 / 1e3),
        _ => format!("{:.4}{THIN}s", t_us as f64 / 1e6),
    }
}

pub fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// What is true at a time: lines for a tooltip, the first one the time.
pub fn lines(scene: &Scene, t_us: u64, memory: Memory, lang: Lang) -> Vec<String> {
    let mut out = vec![time(t_us)];
    let Some(row) = scene.row_at(t_us) else { return out };
    for (idx, band) in scene.bands(memory).iter().enumerate() {
        if let Some(bytes) = scene.value(memory, idx, row).filter(|bytes| *bytes > 0) {
            out.push(format!("{}  {}", band.name(lang), size(bytes)));
        }
    }
    if memory == Memory::Gpu {
        if let Some(bytes) = scene.profile.samples.used[row] {
            out.push(format!("{}  {}", CARD.get(lang), size(bytes)));
        }
        if !scene.live.is_empty() {
            out.push(format!("{}  {}", LIVE.get(lang), size(scene.live.at(t_us.saturating_mul(1000)))));
        }
        out.extend(scene.kernel_at(t_us));
    }
    out
}

/// The moment in a sentence.
pub fn at(scene: &Scene, t_us: u64, memory: Memory, lang: Lang) -> String {
    let lines = lines(scene, t_us, memory, lang);
    if lines.len() < 2 {
        return BEFORE.get(lang).replace("{at}", &time(t_us));
    }
    let rest = lines[1..].iter().map(|line| line.replace("  ", " ")).collect::<Vec<_>>();
    match lang {
        Lang::Zh => format!("{} 时：{}。", lines[0], rest.join("，")),
        Lang::En => format!("At {}: {}.", lines[0], rest.join(", ")),
    }
}

/// Names of what is drawn, in the order of the bands.
pub fn legend(scene: &Scene, memory: Memory, lang: Lang) -> Vec<String> {
    scene.bands(memory).iter().map(|band| band.name(lang)).collect()
}
