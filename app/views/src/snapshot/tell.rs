//! What is told of a block: size, request, stream, lifetime, role, pool, who asked and who freed.

use super::scene::Scene;
use super::words::{moment, stack_lines};
use egui::{Color32, RichText, Ui};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::lives::Life;
use vramlab_units::{Bytes, Lang, Text, show};

const SIZE: Text = Text::new("{size}（申请 {asked}）", "{size} ({asked} asked for)");
const STREAM: Text = Text::new("流 {}", "stream {}");
const LIVED: Text = Text::new("第 {a} → {b} 个事件", "events {a} → {b}");
const FOR_MS: Text = Text::new("，活了 {t} ms", ", {t} ms");
const BEFORE: Text = Text::new("录制前就在", "from before the recording");
const KEPT: Text = Text::new("最后还在", "still there at the end");
const PENDING: Text = Text::new("第 {n} 个事件后别的流才用完", "another stream used it until event {n}");
const BAND: Text = Text::new("{name}：{size}", "{name}: {size}");

fn line(ui: &mut Ui, tokens: &Tokens, text: &str, role: Type, color: Color32) {
    ui.label(RichText::new(text).font(tokens.font(role)).color(color));
}

/// The window at the pointer: the band, the block, its stack, the moment.
pub fn tooltip(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    scene: &Scene,
    at: usize,
    (band, life): (Option<usize>, Option<u32>),
) {
    ui.set_max_width(tokens.px(440.0));
    if let Some(band) = band.and_then(|band| scene.bands.all.get(band)) {
        let size = show::bytes_binary(Bytes(band.value(at)));
        let words = BAND.get(lang).replace("{name}", band.label.get(lang)).replace("{size}", &size);
        line(ui, tokens, &words, Type::NoteStrong, tokens.ink);
    }
    if let Some(idx) = life {
        for text in life_lines(scene, idx, lang) {
            line(ui, tokens, &text, Type::Note, tokens.ink);
        }
        if let Some(life) = scene.life(idx) {
            for text in stack_lines(scene, life.stack, 8, lang) {
                line(ui, tokens, &text, Type::MonoSmall, tokens.muted);
            }
        }
    }
    line(ui, tokens, &at_words(scene, at, lang), Type::Small, tokens.muted);
}

/// A moment and what is in use then.
pub fn at_words(scene: &Scene, at: usize, lang: Lang) -> String {
    let allocated = scene.analysis.timeline.allocated.value(at);
    format!("{}: {}", moment(scene, at, lang), show::bytes_binary(Bytes(allocated)))
}

/// Size, lifetime and stream of a block.
pub fn life_lines(scene: &Scene, idx: u32, lang: Lang) -> Vec<String> {
    let Some(life) = scene.life(idx) else { return Vec::new() };
    let bytes = |bytes: u64| show::bytes_binary(Bytes(bytes));
    let size = match life.size == life.requested {
        true => bytes(life.size),
        false => SIZE.get(lang).replace("{size}", &bytes(life.size)).replace("{asked}", &bytes(life.requested)),
    };
    let stream = scene.snapshot.streams.get(life.stream as usize).copied().unwrap_or_default();
    let role = scene.analysis.roles.get(idx as usize).copied().unwrap_or_default().title();
    let mut lines = vec![
        format!("{size} · {} · 0x{:x}", role.get(lang), life.address),
        format!("{}{} · {}", lived(life, lang), for_ms(scene, life, lang), stream_words(stream, lang)),
    ];
    if let (Some(freed), Some(gone)) = (life.freed, life.gone)
        && gone > freed + 1
    {
        lines.push(PENDING.get(lang).replace("{n}", &(gone + 1).to_string()));
    }
    lines
}

fn stream_words(stream: u64, lang: Lang) -> String {
    let name = if stream == 0 { "0".to_owned() } else { format!("0x{stream:x}") };
    STREAM.get(lang).replace("{}", &name)
}

fn lived(life: &Life, lang: Lang) -> String {
    let edge = |event: Option<u32>, absent: Text| match event {
        Some(event) => (event + 1).to_string(),
        None => absent.get(lang).to_owned(),
    };
    match (life.from, life.freed) {
        (Some(_), Some(_)) => {
            LIVED.get(lang).replace("{a}", &edge(life.from, BEFORE)).replace("{b}", &edge(life.freed, KEPT))
        }
        (from, gone) => format!("{} → {}", edge(from, BEFORE), edge(gone, KEPT)),
    }
}

/// How long it lived, where both ends were recorded with their time.
fn for_ms(scene: &Scene, life: &Life, lang: Lang) -> String {
    let time = |event: Option<u32>| scene.ms_at(event? as usize + 1);
    match (time(life.from), time(life.freed)) {
        (Some(from), Some(until)) => FOR_MS.get(lang).replace("{t}", &show::number(until - from)),
        _ => String::new(),
    }
}
