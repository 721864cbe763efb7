//! The sector map: 32 lanes drop into 32-byte sectors. What one warp-wide read really moves.
//!
//! `question.rs` is what the reader sets, `layout.rs` the geometry, `paint.rs` the picture, `key.rs` what its strokes mean,
//! `words.rs` the sentences.

pub mod key;
pub mod layout;
pub mod paint;
pub mod question;
pub mod words;

use crate::controls::{self, Flow, KeyNumber};
use crate::figure::{self, LaneKeys};
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::{Geometry, Hit, Side};
use paint::Scene;
use question::{Layout, MAX_OFFSET, MAX_SEED, MAX_STRIDE, Question, STRUCT_ELEMS};
use vramlab_kit::{Tokens, Verdict};
use vramlab_model::access::{ACCESS_BYTES, LaneAddrs, WARP_LANES};
use vramlab_model::coalescing::{self, Coalesced, LINE, SECTOR};
use vramlab_units::show::{THIN, with_unit};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const STRIDE: Text = Text::new("步长 stride", "Stride");
const FIELDS: Text = Text::new("字段数 fields", "Fields per struct");
const OFFSET: Text = Text::new("偏移 offset", "Offset");
const ELEMENT: Text = Text::new("元素字节 element", "Element bytes");
const LAYOUT: Text = Text::new("排布 layout", "Layout");
const SEED: Text = Text::new("种子 seed", "Seed");
const DRAM: Text = Text::new("画出 DRAM 的 64 字节块", "Show DRAM's 64-byte pieces");
const ALL_ON: Text = Text::new("全部参与", "All lanes on");

/// See the module's docs.
pub struct SectorMap {
    question: Question,
    has_dram: bool,
    cursor: LaneKeys,
}

/// The question answered: addresses and what they cost.
struct Answered {
    addrs: LaneAddrs,
    found: Coalesced,
}

impl SectorMap {
    fn answer(&self) -> Result<Answered, String> {
        let addrs = self.question.lane_addrs().map_err(|error| error.to_string())?;
        let found = coalescing::run(&addrs, self.question.width()).map_err(|error| error.to_string())?;
        Ok(Answered { addrs, found })
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            pattern_ui(flow, tokens, lang, &mut self.question);
            controls::toggle(flow, tokens, DRAM.get(lang), &mut self.has_dram);
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, answered: &Answered) {
        let origin = ui.cursor().min;
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(origin, width, tokens.scale, &answered.found.lines, Side::Below, 0.0);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        let hovered = response.hover_pos().and_then(|pos| geometry.hit(pos));
        if let (true, Some(Hit::Lane(lane))) = (response.clicked_by(egui::PointerButton::Primary), hovered) {
            self.question.toggle(lane);
            self.cursor.lane = lane;
        }
        if let Some(lane) = self.cursor.steer(ui, &response) {
            self.question.toggle(lane);
        }
        let picked = hovered.or_else(|| response.has_focus().then_some(Hit::Lane(self.cursor.lane)));
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            addrs: &answered.addrs,
            elem_bytes: self.question.elem_bytes,
            answer: &answered.found,
            picked,
            has_dram: self.has_dram,
        };
        scene.paint();
        let words = picked.map(|hit| words::readout(&self.question, &answered.addrs, hit, lang));
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), words.as_deref().filter(|_| response.has_focus()));
        let rest = words.unwrap_or_else(|| scale_note(&geometry, lang));
        key::ui(ui, tokens, lang);
        figure::readout_ui(ui, tokens, &rest);
    }
}

/// The controls of a pattern, shared with the access map.
pub fn pattern_ui(flow: &mut Flow<'_>, tokens: &Tokens, lang: Lang, question: &mut Question) {
    let layouts: Vec<(Layout, String)> =
        Layout::ALL.iter().map(|layout| (*layout, layout.label().get(lang).to_owned())).collect();
    controls::choice(flow, tokens, LAYOUT.get(lang), &mut question.layout, &layouts);
    match question.layout {
        Layout::Strided | Layout::Shuffled => {
            controls::slider(flow, tokens, STRIDE.get(lang), &mut question.stride_elems, 1..=MAX_STRIDE, |v| {
                v.to_string()
            });
        }
        Layout::Aos => {
            let range = STRUCT_ELEMS.0..=STRUCT_ELEMS.1;
            controls::slider(flow, tokens, FIELDS.get(lang), &mut question.struct_elems, range, |v| v.to_string());
        }
        Layout::Random => {
            controls::slider(flow, tokens, SEED.get(lang), &mut question.seed, 0..=MAX_SEED, |v| v.to_string());
        }
        Layout::Soa | Layout::Same => {}
    }
    if question.layout != Layout::Random {
        let elem = question.elem_bytes;
        let shown = |value: u64| match value {
            0 => "0".to_owned(),
            value => format!("{value} = {}{THIN}B", value * elem),
        };
        controls::slider(flow, tokens, OFFSET.get(lang), &mut question.offset_elems, 0..=MAX_OFFSET, shown);
    }
    let widths: Vec<(u64, String)> = ACCESS_BYTES.iter().map(|size| (*size, size.to_string())).collect();
    controls::choice(flow, tokens, ELEMENT.get(lang), &mut question.elem_bytes, &widths);
    if question.active_mask != u32::MAX && controls::button(flow, tokens, ALL_ON.get(lang)) {
        question.active_mask = u32::MAX;
    }
}

/// What the picture's measures are, when nothing is pointed at.
pub fn scale_note(geometry: &Geometry, lang: Lang) -> String {
    let n = geometry.n_left_out;
    match (n, lang) {
        (0, Lang::Zh) => {
            "每个框是一个 32 字节扇区，宽度即字节；四个扇区一条 128 字节的缓存行。点 lane 可关掉它。".to_owned()
        }
        (0, Lang::En) => {
            "A box is a 32-byte sector, its width is bytes; four make a 128-byte cache line. Click a lane to switch it off."
                .to_owned()
        }
        (n, Lang::Zh) => format!("每个框是一个 32 字节扇区。没碰到的 {n} 条缓存行略去，断开处标 ⋮。"),
        (n, Lang::En) => format!("A box is a 32-byte sector. {n} untouched cache lines are left out at each ⋮."),
    }
}

/// The key numbers, shared with the access map.
pub fn key_numbers(found: &Coalesced, lang: Lang) -> Vec<KeyNumber> {
    let bytes = |n: u64| format!("{n}{THIN}B");
    let (used, moved) = (found.bytes_used.0, found.bytes_moved().0);
    let efficiency = found.efficiency();
    let verdict = match efficiency {
        Some(ratio) if ratio.0 >= 1.0 => Verdict::Good,
        Some(_) => Verdict::Caution,
        None => Verdict::Neutral,
    };
    let shown = efficiency.map_or("–".to_owned(), |ratio| with_unit(ratio.0, "%"));
    let mut share = KeyNumber::new(Text::new("效率", "efficiency"), shown).judged(verdict);
    share.fraction = efficiency.map(|_| words::fraction(used, moved, lang));
    vec![
        KeyNumber::new(Text::new("每次请求的扇区", "sectors per request"), found.sectors.len().to_string()),
        KeyNumber::new(Text::new("缓存行", "cache lines"), found.lines.len().to_string()),
        KeyNumber::new(Text::new("从 L2 搬来", "moved from L2"), bytes(moved)),
        KeyNumber::new(Text::new("用到", "bytes used"), bytes(used)),
        share,
        KeyNumber::new(Text::new("从 DRAM 搬出", "moved from DRAM"), bytes(found.dram_bytes().0)),
    ]
}

impl View for SectorMap {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let tokens = cx.tokens;
        self.controls_ui(ui, tokens, cx.lang);
        ui.add_space(tokens.space.xs);
        match self.answer() {
            Ok(answered) => {
                self.figure_ui(ui, tokens, cx.lang, &answered);
                ui.add_space(tokens.space.xs);
                controls::key_numbers(ui, tokens, cx.lang, &key_numbers(&answered.found, cx.lang));
            }
            Err(problem) => figure::problem_ui(ui, tokens, &problem),
        }
    }

    fn finding(&self, lang: Lang) -> String {
        match self.answer() {
            Ok(answered) => {
                let mut text = words::finding(&self.question, &answered.found, lang);
                if self.has_dram && self.question.active_mask != 0 {
                    text.push_str(&words::dram_finding(&answered.found, lang));
                }
                text
            }
            Err(problem) => problem,
        }
    }

    fn params(&self) -> Map {
        let mut map = self.question.params();
        map.insert("show_dram".into(), self.has_dram.into());
        map
    }

    fn data(&self) -> DataTable {
        let header = ["lane", "address (B)", "sector (32 B)", "line (128 B)", "width (B)"].map(str::to_owned).to_vec();
        let Ok(answered) = self.answer() else { return DataTable { header, rows: Vec::new() } };
        let row = |lane: usize| {
            let cell = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
            let addr = answered.addrs.get(lane).copied().flatten().map(|addr| addr.0);
            let (sector, line) = (addr.map(|addr| addr / SECTOR.0), addr.map(|addr| addr / LINE.0));
            vec![lane.to_string(), cell(addr), cell(sector), cell(line), self.question.elem_bytes.to_string()]
        };
        DataTable { header, rows: (0..WARP_LANES).map(row).collect() }
    }
}

impl Visualizer for SectorMap {
    const ID: &'static str = "sector_map";
    const TITLE: Text = Text::new("扇区图（sector map）", "Sector map");

    fn fields() -> Vec<FieldSpec> {
        let mut fields = Question::fields();
        let doc = Text::new("画出 DRAM 的 64 字节块", "Outline the 64-byte pieces of DRAM");
        fields.push(FieldSpec::new("show_dram", "", FieldKind::Bool, doc).default_value(false));
        fields
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        Ok(Self { question: Question::from_args(args)?, has_dram: args.flag("show_dram"), cursor: LaneKeys::default() })
    }
}
