//! Every widget on one page: for a picture test in both themes, and for whoever changes one.

use crate::axis::{Axis, Plane, Spread};
use crate::icons::Icon;
use crate::paint::Area;
use crate::playhead::Playhead;
use crate::tokens::{Role, Tokens, Type, Verdict};
use crate::widgets::*;
use egui::{RichText, Ui};
use vramlab_units::{Lang, Text};

/// What the gallery's controls change.
pub struct Gallery {
    stride: f64,
    bytes: f64,
    lens: u8,
    has_swizzle: bool,
    head: Playhead,
    guess: Option<f64>,
}

impl Default for Gallery {
    fn default() -> Self {
        let mut head = Playhead::new(8, 2.0);
        head.apply(crate::playhead::Command::Seek(2), true);
        Self { stride: 2.0, bytes: 65536.0, lens: 0, has_swizzle: true, head, guess: Some(600.0) }
    }
}

const FIGURE: Text = Text::new("扇区图", "Sector map");
const TERM: Text = Text::new("sector map", "扇区图");
const RESET: Text = Text::new("复位", "Reset");
const STRIDE: Text = Text::new("步长 stride", "Stride");
const SIZE: Text = Text::new("工作集", "Working set");

/// Draws the page.
pub fn gallery_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, state: &mut Gallery) {
    ui.spacing_mut().item_spacing.y = tokens.space.s;
    let title = Text::new("02 · 内存访问模式分析", "02 · Memory access patterns").get(lang);
    ui.label(RichText::new(title).font(tokens.font(Type::Chapter)).color(tokens.ink));
    let steps: Vec<(f32, String)> = (1..=8)
        .map(|step| {
            (
                if step < 3 {
                    1.0
                } else if step == 3 {
                    0.5
                } else {
                    0.0
                },
                format!("{step} / 8"),
            )
        })
        .collect();
    step_bar(ui, tokens, &steps, 2);
    card(ui, tokens, |ui| figure_ui(ui, tokens, lang, state));
    card(ui, tokens, |ui| controls_ui(ui, tokens, lang, state));
    card(ui, tokens, |ui| prose_ui(ui, tokens, lang));
    card(ui, tokens, |ui| formulas_ui(ui, tokens, lang));
    card(ui, tokens, |ui| signs_ui(ui, tokens, lang));
    card(ui, tokens, |ui| rulers_ui(ui, tokens, lang, state));
}

fn rulers_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, state: &mut Gallery) {
    let title = Text::new("猜一个数", "A number to guess").get(lang);
    let (you, model) = (Text::new("你", "you").get(lang), Text::new("模型", "model").get(lang));
    section(ui, tokens, title);
    let Some(rates) = ruler::Scale::new(50.0, 5000.0) else { return };
    Ruler::new(title, "GB/s", rates, &mut state.guess).you(you).show(ui, tokens);
    let truth = Truth { name: model, value: 301.0 };
    Ruler::new(title, "GB/s", rates, &mut state.guess.clone()).you(you).truth(truth).show(ui, tokens);
}

fn figure_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, state: &mut Gallery) {
    card_header(ui, tokens, FIGURE.get(lang), TERM.get(lang), |ui| {
        Button::icon_only(Icon::Menu, Text::new("更多", "More").get(lang)).show(ui, tokens);
        Button::quiet(RESET.get(lang)).icon(Icon::Reset).show(ui, tokens);
        chip(ui, tokens, &Evidence::Model, lang);
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.l;
        Slider::new(STRIDE.get(lang), &mut state.stride, 1.0..=32.0).step(1.0).default_value(1.0).show(ui, tokens);
        Slider::new(SIZE.get(lang), &mut state.bytes, 4096.0..=1e9)
            .log()
            .shown(|bytes| vramlab_units::show::bytes_binary(vramlab_units::Bytes(bytes as u64)))
            .show(ui, tokens);
    });
    let lenses = [(0, "内存 memory"), (1, "推理 inference"), (2, "Kernel"), (3, "训练 training")];
    segmented(ui, tokens, "lens", &mut state.lens, &lenses);
    ui.horizontal_wrapped(|ui| {
        check_box(ui, tokens, &mut state.has_swizzle, "XOR swizzle");
        check_box(ui, tokens, &mut false, Text::new("只看一趟", "One pass only").get(lang));
    });
    playback(ui, tokens, lang, &mut state.head, 0.0, true);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.xl;
        key_number(ui, tokens, Text::new("扇区 / 请求", "sectors / request").get(lang), "8", None, Verdict::Neutral);
        key_number(ui, tokens, Text::new("搬运", "moved").get(lang), "256 B", None, Verdict::Neutral);
        key_number(ui, tokens, Text::new("效率", "efficiency").get(lang), "50 %", Some("0.5"), Verdict::Caution);
    });
    let sentence = Text::new(
        "步长 2 时，每个 32 字节扇区里只有一半字节被用到：搬了 8 个扇区，内容只值 4 个。",
        "At stride 2, half of each 32-byte sector is wasted: 8 sectors travel for the content of 4.",
    );
    finding(ui, tokens, Verdict::Neutral, "", sentence.get(lang));
}

fn controls_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, _state: &mut Gallery) {
    let title = Text::new("实验：步长扫描", "Experiment: stride sweep");
    card_header(ui, tokens, title.get(lang), Text::new("stride sweep", "步长扫描").get(lang), |ui| {
        Button::primary(Text::new("在本机运行", "Run here").get(lang)).icon(Icon::Play).show(ui, tokens);
        Button::secondary(Text::new("重放", "Replay").get(lang)).show(ui, tokens);
        let (device, driver, date) = ("H200".into(), "580.159".into(), "2026-11-30".into());
        chip(ui, tokens, &Evidence::Recorded { device, driver, date }, lang);
    });
    ui.horizontal_wrapped(|ui| {
        chip(ui, tokens, &Evidence::Live { device: "RTX 4090".into(), is_cpu: false }, lang);
        chip(ui, tokens, &Evidence::Counter, lang);
        let (source, date) = ("NVIDIA H200 datasheet".into(), "2024-11".into());
        chip(ui, tokens, &Evidence::Cited { source, date }, lang);
    });
    let sentence = Text::new(
        "步长 1→8：模型 8.0×，实测 7.64×（误差 4.5 %）。步长 8→16 又降一半：显存按 64 字节成块搬运，计数器同意。",
        "Stride 1→8: model 8.0×, measured 7.64× (error 4.5 %). From 8 to 16 it halves again: memory moves 64-byte blocks, and the counters agree.",
    );
    finding(ui, tokens, Verdict::Good, Text::new("效应出现", "Effect shown").get(lang), sentence.get(lang));
    let title = Text::new("效应被掩盖", "Effect hidden").get(lang);
    let text = Text::new(
        "步长 1 与 2 相同（1682 / 1635 GB/s）：在途字节不够，瓶颈不在扇区。",
        "Strides 1 and 2 are equal (1682 / 1635 GB/s): too few bytes in flight, so sectors are not the bottleneck.",
    );
    let again = Text::new("加大在途字节", "More bytes in flight").get(lang);
    Note::new(Verdict::Caution, title, text.get(lang)).action(again).closable("close").show(ui, tokens);
    let failed = Text::new("运行失败", "Run failed").get(lang);
    let why = Text::new(
        "内核越界：地址 0x7f00 不在缓冲区里。",
        "The kernel ran out of bounds: address 0x7f00 is outside its buffer.",
    );
    Note::new(Verdict::Bad, failed, why.get(lang)).show(ui, tokens);
    ui.horizontal_wrapped(|ui| {
        Button::secondary("CSV").icon(Icon::Save).show(ui, tokens);
        let no_gpu = Text::new("这台机器没有 NVIDIA GPU", "This machine has no NVIDIA GPU").get(lang);
        Button::primary(Text::new("在 GPU 上运行", "Run on the GPU").get(lang))
            .unavailable(Some(no_gpu))
            .show(ui, tokens);
        Button::secondary(Text::new("在 GPU 上运行", "Run on the GPU").get(lang))
            .unavailable(Some(no_gpu))
            .show(ui, tokens);
    });
    meter(ui, tokens, Text::new("显存", "Memory").get(lang), Some(0.14), "19.8 GiB");
    meter(ui, tokens, Text::new("带宽", "Bandwidth").get(lang), Some(0.91), "4389 GB/s");
    meter(ui, tokens, Text::new("功耗", "Power").get(lang), None, "–");
}

fn prose_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    let text = Text::new(
        "### 一次读取，几次传输\n\n一个 **warp** 的 32 个 lane 各读 4 字节，一共要 *128 字节*。显存不按字节搬，它按 32 字节的扇区（sector）搬：`stride = 2` 时搬 256 B，其中一半白搬。先修内容见[第 01 章](chapter:01)，后面会用到。\n\n1. 看图\n2. 预测：\n   - 步长 2\n   - 步长 8\n\n> 模型只数扇区，不管缓存命中。\n\n| 步长 | 扇区 | 说明 |\n| ---: | ---: | --- |\n| 1 | 4 | 全部用上 |\n| 8 | 32 | 每个 lane 独占一个扇区，搬来的 32 字节里只用 4 字节，其余全部浪费 |\n\n```c\nfloat v = in[threadIdx.x * stride]; // 32 lanes\n```\n",
        "### One load, several transfers\n\nThe 32 lanes of a **warp** read 4 bytes each, *128 bytes* in all. Memory does not move bytes, it moves sectors of 32: at `stride = 2` it moves 256 B, half of them for nothing. [Chapter 01](chapter:01) has the background.\n\n1. Look\n2. Predict:\n   - stride 2\n   - stride 8\n\n> The model counts sectors only, not cache hits.\n\n| stride | sectors | remark |\n| ---: | ---: | --- |\n| 1 | 4 | all of it used |\n| 8 | 32 | each lane has a sector of its own, and uses 4 of the 32 bytes that were moved for it |\n\n```c\nfloat v = in[threadIdx.x * stride]; // 32 lanes\n```\n",
    );
    crate::md::markdown(ui, tokens, text.get(lang));
}

fn formulas_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    section(ui, tokens, Text::new("公式", "Formulas").get(lang));
    let values = [("bytes_used", 128.0), ("sectors", 8.0), ("n_elems", 1_048_576.0), ("width", 33.0), ("x", 3.0)];
    let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let symbols = std::collections::BTreeMap::new();
    for source in [
        "bytes_used / (32 * sectors)",
        "ceil_div(n_elems, 32) * sqrt(x ^ 2 + 1) - floor(x / width)",
        "round_up(width, 32) * 1e9 + if(x > 2, log2(n_elems), max(x, 0))",
        "(x + 1) ^ 2 / (1 - x / (x + width)) - -x % 3 * pow2_floor(width) + alpha",
    ] {
        if let Ok(formula) = vramlab_units::Formula::parse(source) {
            crate::math::equation(ui, tokens, "eff_max", &formula, &symbols, &values, "50 %");
        }
    }
}

fn signs_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    section(ui, tokens, Text::new("颜色与图标", "Colours and icons").get(lang));
    let areas = [Area::Free, Area::CachedFree, Area::Fragmented, Area::Unknown, Area::Wasted];
    let layout = GridLayout::fitted(96, 32, 8, ui.available_width(), tokens.px(24.0));
    let cell = |cell_idx: usize| match cell_idx / 8 {
        group @ 0..6 => Cell::Role(Role::ALL[group]),
        group @ 6..11 => Cell::Area(areas[group - 6]),
        _ if cell_idx.is_multiple_of(2) => Cell::Role(Role::Parameters),
        _ => Cell::Faint(Role::Parameters),
    };
    byte_grid(ui, tokens, &layout, "bytes", Some(37), &|cell_idx| cell_idx.to_string(), &cell);
    let role_names = ["parameters", "gradients", "optimizer", "activations", "KV cache", "workspace"];
    let roles = Role::ALL.into_iter().zip(role_names).map(|(role, name)| (Mark::Square(tokens.role(role)), name));
    let area_names = ["free", "cached", "fragmented", "unknown", "unused"];
    let areas = areas.into_iter().zip(area_names).map(|(area, name)| (Mark::Area(area), name));
    let lines = [
        (Mark::Predicted, "predicted"),
        (Mark::Measured(tokens.role(Role::Parameters)), "measured"),
        (Mark::Yours, "yours"),
    ];
    legend(ui, tokens, &roles.chain(areas).chain(lines).collect::<Vec<_>>());
    plane_ui(ui, tokens);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for icon in Icon::ALL {
            Button::icon_only(icon, "icon").show(ui, tokens);
        }
    });
}

/// An axis cross with a ramp of the memory hierarchy and a row of series colours.
fn plane_ui(ui: &mut Ui, tokens: &Tokens) {
    let size = egui::vec2(ui.available_width(), tokens.px(180.0));
    let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let margin = egui::vec2(tokens.px(52.0), tokens.px(28.0));
    let rect = egui::Rect::from_min_max(rect.min + egui::vec2(margin.x, 8.0), rect.max - egui::vec2(12.0, margin.y));
    let axes = (Axis::new(Spread::Log2, 1.0, 64.0), Axis::around(Spread::Log10, [182.0, 4512.0]));
    let (Some(x), Some(y)) = axes else { return };
    let plane = Plane { x, y, rect };
    plane.paint_grid(ui.painter(), tokens, &vramlab_units::show::number, &vramlab_units::show::number);
    for series_idx in 0..7 {
        let points: Vec<_> = (0..=6)
            .filter_map(|step| plane.pos(f64::from(step).exp2(), 4500.0 / (1.0 + f64::from(step * series_idx) / 4.0)))
            .collect();
        let color = tokens.series(series_idx as usize, 7);
        ui.painter().line(points.clone(), tokens.stroke(2.0, color));
        points.iter().for_each(|at| {
            ui.painter().circle_filled(*at, tokens.px(3.0), tokens.hierarchy(series_idx as f32 / 6.0));
        });
    }
}
