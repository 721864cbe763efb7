//! The counters of every allocator side by side, under PyTorch's names.

use super::run::Run;
use super::words::sizes;
use egui::{Align, Grid, Layout, RichText, Ui, vec2};
use vramlab_alloc::replay::Counters;
use vramlab_kit::{Tokens, Type, paint};
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

/// A counter: its name, what it counts, its value in words, whether it may stay out when it is 0 everywhere.
struct Row {
    name: &'static str,
    means: Text,
    value: Value,
    is_zero: fn(&Counters) -> bool,
}

enum Value {
    /// Sizes are told together, in bytes where two would read alike.
    Bytes(fn(&Counters) -> u64),
    Text(fn(&Counters) -> String),
}

/// What stands in a row for an allocator that has no such counter.
const NONE: &str = "–";
/// Counted by PyTorch's allocator alone.
const OF_PYTORCH: [&str; 1] = ["inactive_split"];

/// A column: the values of all rows.
fn column_of(run: &Run) -> [String; ROWS.len()] {
    let now = &run.frame.after;
    let bytes = |row: &Row| match row.value {
        Value::Bytes(of) => of(now),
        Value::Text(_) => 0,
    };
    let sizes = sizes(std::array::from_fn::<u64, { ROWS.len() }, _>(|idx| bytes(&ROWS[idx])));
    let mut column = sizes;
    for (text, row) in column.iter_mut().zip(&ROWS) {
        if OF_PYTORCH.contains(&row.name) && !run.engine.is_pytorch() {
            NONE.clone_into(text);
        } else if let Value::Text(of) = row.value {
            *text = of(now);
        }
    }
    column
}

const ROWS: [Row; 9] = [
    Row {
        name: "allocated",
        means: Text::new("给出去的块：在用的加多给的", "blocks given out: in use, and given beyond"),
        value: Value::Bytes(|now| now.allocated_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "reserved",
        means: Text::new("从卡上拿走的", "taken from the card"),
        value: Value::Bytes(|now| now.reserved_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "requested",
        means: Text::new("在用：其中程序真正要的", "in use: what the program asked for in them"),
        value: Value::Bytes(|now| now.requested_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "active",
        means: Text::new("在用的，加上别的流可能还在用的", "in use, or possibly still used by another stream"),
        value: Value::Bytes(|now| now.active_bytes),
        is_zero: |now| now.active_bytes == now.allocated_bytes,
    },
    Row {
        name: "inactive_split",
        means: Text::new("还有块在用的段里的空洞", "holes in segments that are also in use"),
        value: Value::Bytes(|now| now.inactive_split_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "largest free",
        means: Text::new("最大的空洞", "the largest hole"),
        value: Value::Bytes(|now| now.largest_free_bytes),
        is_zero: |_| false,
    },
    Row {
        name: "fragmentation",
        means: Text::new("1 − 最大空洞 ÷ 全部空洞", "1 − largest hole ÷ all holes"),
        value: Value::Text(|now| with_unit(now.fragmentation(), "%")),
        is_zero: |_| false,
    },
    Row {
        name: "retries",
        means: Text::new("卡拒绝后清空缓存的次数", "flushes of the cache after the card refused"),
        value: Value::Text(|now| now.n_retries.to_string()),
        is_zero: |now| now.n_retries == 0,
    },
    Row {
        name: "ooms",
        means: Text::new("失败的申请", "requests that failed"),
        value: Value::Text(|now| now.n_ooms.to_string()),
        is_zero: |now| now.n_ooms == 0,
    },
];

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, runs: &[Run], room: f32) {
    ui.add_space(tokens.space.s);
    ui.spacing_mut().interact_size.y = 0.0;
    let width = |text: &str, role| paint::text(ui, tokens, role, tokens.ink, text).size().x;
    let names = ROWS.iter().map(|row| width(row.name, Type::Mono)).fold(0.0, f32::max);
    let values = runs.iter().flat_map(column_of);
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
            let columns: Vec<_> = runs.iter().map(column_of).collect();
            for (row_idx, row) in ROWS.iter().enumerate().filter(|(_, row)| is_shown(row)) {
                let name = RichText::new(row.name).font(tokens.font(Type::Mono)).color(tokens.ink);
                ui.label(name).on_hover_text(row.means.get(lang));
                for values in &columns {
                    right(ui, tokens, &values[row_idx], Type::Mono, column);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator_strips::presets::PRESETS;
    use crate::allocator_strips::question::{Engine, Question};
    use crate::allocator_strips::run::Answered;

    /// PyTorch alone has the counter; a 0 for the others would say that they have no holes.
    #[test]
    fn a_counter_that_an_allocator_lacks_is_a_dash() {
        let mut question = Question::of(&PRESETS[0]);
        question.trace = "a:9M b:9M -a".to_owned();
        question.engines = vec![Engine::Native, Engine::Bfc];
        let answered = Answered::new(&question, usize::MAX).unwrap();
        let row = ROWS.iter().position(|row| row.name == "inactive_split").unwrap();
        let told: Vec<String> = answered.runs.iter().map(|run| column_of(run)[row].clone()).collect();
        assert_eq!(told, ["11\u{2009}MiB", NONE]);
    }
}
