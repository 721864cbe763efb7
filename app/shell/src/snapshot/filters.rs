//! The filters that all figures share: size, place in the code, stream, pool. What is typed as a size may carry its unit.

use crate::snapshot::desk::Opened;
use crate::widgets;
use egui::{ComboBox, RichText, TextEdit, Ui, WidgetInfo};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::pools;
use vramlab_units::{Bytes, Lang, Text, show};

const SEARCH: Text = Text::new("栈里的函数或文件", "function or file in the stack");
const FROM: Text = Text::new("不小于，如 1 MiB", "at least, e.g. 1 MiB");
const UNTIL: Text = Text::new("不大于", "at most");
const SIZE: Text = Text::new("只看 {from}–{to} ✕", "only {from}–{to} ✕");
const BAD_SIZE: Text = Text::new(
    "“{}”不是大小：写 512、64 KiB、1.5 MiB 或 2 GiB",
    "\"{}\" is no size: write 512, 64 KiB, 1.5 MiB or 2 GiB",
);
const STREAM: Text = Text::new("流", "Stream");
const POOL: Text = Text::new("池", "Pool");
const ANY: Text = Text::new("全部", "all");
const CLEAR: Text = Text::new("清除筛选", "Clear the filters");
const NARROWED: Text = Text::new(
    "筛选之后：光标处 {size}，其余的在图里只留总量的细线。",
    "Filtered: {size} at the cursor; of the rest the figure keeps the thin line of the total.",
);

/// Sizes as they are typed.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    least: String,
    most: String,
    /// What is no size.
    wrong: Option<String>,
}

/// The row of filters. The scene follows what is chosen.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    ui.horizontal_wrapped(|ui| {
        edit(ui, tokens, &mut opened.look.filter.text, SEARCH.get(lang), 210.0);
        edit(ui, tokens, &mut opened.sizes.least, FROM.get(lang), 170.0);
        edit(ui, tokens, &mut opened.sizes.most, UNTIL.get(lang), 90.0);
        take_sizes(opened);
        if let Some(log2) = opened.look.filter.log2_size {
            let bytes = |log2: u32| show::bytes_binary(Bytes(1 << log2));
            let words = SIZE.get(lang).replace("{from}", &bytes(log2)).replace("{to}", &bytes(log2 + 1));
            if widgets::pill(ui, tokens, true, &words).clicked() {
                opened.look.filter.log2_size = None;
            }
        }
        streams_ui(ui, tokens, lang, opened);
        pools_ui(ui, tokens, lang, opened);
        if !opened.look.filter.of_blocks().is_empty() && widgets::link(ui, tokens, CLEAR.get(lang)).clicked() {
            opened.look.filter =
                vramlab_views::snapshot::Filter { kind: opened.look.filter.kind, ..Default::default() };
            opened.sizes = Sizes::default();
        }
    });
    if let Some(wrong) = &opened.sizes.wrong {
        let words = BAD_SIZE.get(lang).replace("{}", wrong);
        ui.label(RichText::new(words).font(tokens.font(Type::Small)).color(tokens.bad));
    }
    if opened.scene.is_narrowed() {
        let held = opened.scene.totals().value(opened.look.cursor);
        let words = NARROWED.get(lang).replace("{size}", &show::bytes_binary(Bytes(held)));
        ui.label(RichText::new(words).font(tokens.font(Type::Small)).color(tokens.muted));
    }
}

fn edit(ui: &mut Ui, tokens: &Tokens, text: &mut String, hint: &str, width: f32) {
    let width = tokens.px(width).min(ui.available_width());
    let edit = TextEdit::singleline(text).hint_text(hint).font(tokens.font(Type::Note)).desired_width(width);
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, hint));
}

fn take_sizes(opened: &mut Opened) {
    let sizes = &mut opened.sizes;
    let mut wrong = None;
    let mut read = |text: &str| match text.trim() {
        "" => None,
        text => {
            let found = size(text);
            if found.is_none() {
                wrong = Some(text.to_owned());
            }
            found
        }
    };
    (opened.look.filter.least, opened.look.filter.most) = (read(&sizes.least), read(&sizes.most));
    sizes.wrong = wrong;
}

/// `512`, `64 KiB`, `1.5M`: binary units.
fn size(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    let by = match text[end..].trim().to_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => f64::from(1 << 20),
        "g" => f64::from(1 << 30),
        "t" => f64::from(1 << 30) * 1024.0,
        _ => return None,
    };
    let bytes = value * by;
    (bytes.is_finite() && bytes < 1e18).then_some(bytes as u64)
}

fn streams_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    let streams = &opened.scene.snapshot.streams;
    if streams.len() < 2 {
        return;
    }
    let name = |idx: u32| match streams.get(idx as usize).copied().unwrap_or_default() {
        0 => format!("{} 0", STREAM.get(lang)),
        raw => format!("{} 0x{raw:x}", STREAM.get(lang)),
    };
    let all = format!("{}: {}", STREAM.get(lang), ANY.get(lang));
    let shown = opened.look.filter.stream.map_or(all.clone(), name);
    combo(ui, tokens, "stream", &shown, |ui| {
        ui.selectable_value(&mut opened.look.filter.stream, None, all);
        for idx in 0..streams.len() as u32 {
            ui.selectable_value(&mut opened.look.filter.stream, Some(idx), name(idx));
        }
    });
}

fn pools_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    let known = opened.pools.clone();
    if known.len() < 2 {
        return;
    }
    let all = format!("{}: {}", POOL.get(lang), ANY.get(lang));
    let name = |pool: (u64, u64)| pools::name(Some(pool)).get(lang).to_owned();
    let shown = opened.look.filter.pool.map_or(all.clone(), name);
    combo(ui, tokens, "pool", &shown, |ui| {
        ui.selectable_value(&mut opened.look.filter.pool, None, all);
        for pool in known {
            ui.selectable_value(&mut opened.look.filter.pool, Some(pool), name(pool));
        }
    });
}

fn combo(ui: &mut Ui, tokens: &Tokens, id: &str, shown: &str, add: impl FnOnce(&mut Ui)) {
    let words = RichText::new(shown).font(tokens.font(Type::Note)).color(tokens.ink);
    ComboBox::from_id_salt(("snapshot", id)).selected_text(words).show_ui(ui, add);
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_size_may_carry_its_unit() {
        for (text, bytes) in [("512", 512), ("64 KiB", 65_536), ("1.5m", 1_572_864), ("2GB", 2 << 30), ("0", 0)] {
            assert_eq!(super::size(text), Some(bytes), "{text}");
        }
        for text in ["MiB", "12 parsec", "1.2.3", "-4", "9e99"] {
            assert_eq!(super::size(text), None, "{text}");
        }
    }
}
