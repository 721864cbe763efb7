//! The counters of every allocator side by side, under PyTorch's names.

use super::run::Run;
use super::words::size;
use egui::{Align, Grid, Layout, RichText, Ui, vec2};
use vramlab_alloc::replay::Counters;
use vramlab_kit::{Tokens, Type, paint};
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

/// A counter: its name, what it counts, its value in words, whether it may stay out when it is 0 everywhere.
struct Row {
    name: &'static str,
    means: Text,
    value: fn(&Counters) -> String,
    is_zero: fn(&Counters) -> bool,
}

const ROWS: [Row; 9] = [
    Row {
        name: "allocated",
        means: Text::new("在用的块，含取整", "blocks in use, rounding included"),
        value: |now| size(now.allocated_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "reserved",
        means: Text::new("从卡上拿走的", "taken from the card"),
        value: |now| size(now.reserved_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "requested",
        means: Text::new("其中程序真正要的", "what the program asked for in them"),
        value: |now| size(now.requested_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "active",
        means: Text::new("在用的，加上别的流可能还在用的", "in use, or possibly still used by another stream"),
        value: |now| size(now.active_bytes),
        is_zero: |now| now.active_bytes == now.allocated_bytes,
    },
    Row {
        name: "inactive_split",
        means: Text::new("还有块在用的段里的空洞", "holes in segments that are also in use"),
        value: |now| size(now.inactive_split_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "largest free",
        means: Text::new("最大的空洞", "the largest hole"),
        value: |now| size(now.largest_free_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "fragmentation",
        means: Text::new("1 − 最大空洞 ÷ 全部空洞", "1 − largest hole ÷ all holes"),
        value: |now| with_unit(now.fragmentation(), "%"),
        is_zero: |_| false,
    },
    Row {
        name: "retries",
        means: Text::new("卡拒绝后清空缓存的次数", "flushes of the cache after the card refused"),
        value: |now| now.n_retries.to_string(),
        is_zero: |now| now.n_retries == 0,
    },
    Row {
        name: "ooms",
        means: Text::new("失败的申请", "requests that failed"),
        value: |now| now.n_ooms.to_string(),
        is_zero: |now| now.n_ooms == 0,
    },
];

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, runs: &[Run], room: f32) {
    ui.add_space(tokens.space.s);
    ui.spacing_mut().interact_size.y = 0.0;
    let width = |text: &str, role| paint::text(ui, tokens, role, tokens.ink, text).size().x;
    let names = ROWS.iter().map(|row| width(row.name, Type::Mono)).fold(0.0, f32::max);
    let values = runs.iter().flat_map(|run| ROWS.iter().map(|row| (row.value)(&run.frame.after)));
    let heads = runs.iter().map(|run| width(run.engine.short().get(lang), Type::NoteStrong));
    let column = values.map(|text| width(&text, Type::Mono)).chain(heads).fold(tokens.px(48.0), f32::max).ceil();
    let means = ROWS.iter().map(|row| width(row.means.get(lang), Type::Small)).fold(0.0, f32::max);
    let gap = tokens.space.m;
    let n_columns = ((room - names) / (column + gap)).floor().max(1.0) as usize;
    // Columns that do not fit stand below.
    for (idx, runs) in runs.chunks(n_columns).enumerate() {
        let has_means = room - names - (column + gap) * runs.len() as f32 > means + gap;
        Grid::new(("counters", idx)).spacing(vec2(gap, tokens.space.xxs)).show(ui, |ui| {
            ui.allocate_space(vec2(1.0, 1.0));
            for run in runs {
                right(ui, tokens, run.engine.short().get(lang), Type::NoteStrong, column);
            }
            ui.end_row();
            let is_shown = |row: &&Row| !runs.iter().all(|run| (row.is_zero)(&run.frame.after));
            for row in ROWS.iter().filter(is_shown) {
                let name = RichText::new(row.name).font(tokens.font(Type::Mono)).color(tokens.ink);
                ui.label(name).on_hover_text(row.means.get(lang));
                for run in runs {
                    right(ui, tokens, &(row.value)(&run.frame.after), Type::Mono, column);
                }
                if has_means {
                    let means = RichText::new(row.means.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
                    ui.label(means);
                }
                ui.end_row();
            }
        });
    }
}

fn right(ui: &mut Ui, tokens: &Tokens, text: &str, role: Type, width: f32) {
    ui.allocate_ui_with_layout(vec2(width, tokens.px(20.0)), Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_width(width);
        ui.label(RichText::new(text).font(tokens.font(role)).color(tokens.ink));
    });
}
