//! The transpose player: one block turns a 32 × 32 tile, access by access, four ways.
//!
//! The model gives every warp-wide access with its cost; `replay.rs` follows the elements, `layout.rs` and `paint.rs`
//! draw where they lie.

pub mod layout;
pub mod paint;
pub mod replay;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::steps::Steps;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui};
use layout::{Geometry, Kind};
use paint::Scene;
use vramlab_kit::{Tokens, Verdict};
use vramlab_model::access::AccessError;
use vramlab_model::bank_conflicts::BANKS;
use vramlab_model::transpose::{self, Cell, Method, Step, TILE, Transpose};
use vramlab_units::show::{bytes_binary, with_unit};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text, Value};

const METHOD: Text = Text::new("做法", "Method");
const SIZE: Text = Text::new("矩阵边长 n", "Matrix side n");
/// Sizes on offer; other multiples of 32 come by parameter.
const SIZES: [u64; 4] = [1024, 4096, 8192, 16384];
const STEPS_PER_SEC: f64 = 8.0;

/// See the module's docs.
pub struct TransposePlayer {
    method: Method,
    n: u64,
    peak_gb_per_s: f64,
    play: Steps,
    answered: Answered,
}

/// The model's answers for one method and size; kept, because a frame has no time to ask again.
struct Answered {
    /// Every access of one block, in order.
    steps: Vec<Step>,
    cost: Transpose,
    /// Of the registry's model: the floor depends on the bandwidth.
    floor_us: Option<f64>,
}

impl Answered {
    fn new(method: Method, n: u64, peak_gb_per_s: f64) -> Result<Self, AccessError> {
        let question = [("method", Value::from(method.id())), ("n", n.into()), ("peak_gb_per_s", peak_gb_per_s.into())];
        let question = question.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let modelled = vramlab_model::eval("transpose", &question).ok();
        let floor_us = modelled.and_then(|answer| answer.get("floor_us").and_then(Value::as_f64));
        Ok(Self { steps: transpose::steps(method, n)?, cost: transpose::run(method, n)?, floor_us })
    }
}

impl TransposePlayer {
    /// A step that shows where the method pays: a write of the naive way, a load from the tile of the others.
    fn telling_step(method: Method) -> usize {
        match method {
            Method::Naive => 24,
            _ => 90,
        }
    }

    fn set(&mut self, method: Method, n: u64) {
        if (method, n) == (self.method, self.n) {
            return;
        }
        if let Ok(answered) = Answered::new(method, n, self.peak_gb_per_s) {
            let is_other = method != self.method;
            (self.method, self.n, self.answered) = (method, n, answered);
            self.play.set_total(self.answered.steps.len());
            if is_other {
                self.play.seek(Self::telling_step(method));
            }
        }
    }

    fn current(&self) -> Option<&Step> {
        self.play.now().checked_sub(1).and_then(|idx| self.answered.steps.get(idx))
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let (mut method, mut n) = (self.method, self.n);
        controls::row(ui, tokens, |flow| {
            let methods: Vec<(Method, String)> =
                Method::ALL.iter().map(|method| (*method, words::method(*method).get(lang).to_owned())).collect();
            controls::choice(flow, tokens, METHOD.get(lang), &mut method, &methods);
            let mut sizes: Vec<(u64, String)> = SIZES.iter().map(|size| (*size, size.to_string())).collect();
            if !SIZES.contains(&n) {
                sizes.push((n, n.to_string()));
            }
            controls::choice(flow, tokens, SIZE.get(lang), &mut n, &sizes);
        });
        self.set(method, n);
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, self.method);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        self.play.keys(ui, &response, cx.has_motion);
        let held = replay::after(&self.answered.steps, self.play.now());
        let picked = response.hover_pos().and_then(|pos| geometry.hit(pos)).and_then(|hit| element(&held, hit));
        let scene = Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            held: &held,
            current: self.current(),
            picked,
        };
        scene.paint();
        let said = match picked {
            Some(cell) => words::element(cell, lang),
            None => words::step(self.current(), lang),
        };
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), response.has_focus().then_some(said.as_str()));
        figure::readout_ui(ui, tokens, &said);
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let Answered { cost, floor_us, .. } = &self.answered;
        let judged = |value: u32, best: u32| if value > best { Verdict::Caution } else { Verdict::Good };
        let sectors = |label: Text, value: u32| KeyNumber::new(label, value.to_string()).judged(judged(value, 4));
        let mut numbers = vec![
            sectors(Text::new("读：扇区 / 请求", "read: sectors / request"), cost.read_sectors),
            sectors(Text::new("写：扇区 / 请求", "write: sectors / request"), cost.write_sectors),
        ];
        let degrees = [
            (Text::new("存小块：冲突路数", "tile store: conflict"), cost.store_degree),
            (Text::new("取小块：冲突路数", "tile load: conflict"), cost.load_degree),
        ];
        for (label, degree) in degrees {
            if let Some(degree) = degree {
                numbers.push(KeyNumber::new(label, degree.to_string()).judged(judged(degree, 1)));
            }
        }
        numbers.push(KeyNumber::new(Text::new("L1 与 L2 之间", "between L1 and L2"), bytes_binary(cost.l2)));
        numbers.push(KeyNumber::new(Text::new("必须进出显存", "must cross DRAM"), bytes_binary(cost.useful)));
        if let Some(floor) = floor_us {
            let peak = with_unit(self.peak_gb_per_s, "GB/s");
            let exact = format!("{floor:.2} µs = {} ÷ {peak}", bytes_binary(cost.useful));
            let label = Text::new("时间下限", "time floor");
            numbers.push(KeyNumber::new(label, with_unit(*floor, "µs")).exact(exact));
        }
        numbers
    }
}

/// The element in a square, by its place in the source.
fn element(held: &replay::Held, (kind, square): (Kind, Cell)) -> Option<Cell> {
    match kind {
        Kind::Source => Some(square),
        Kind::Tile => held.tile.get((square.row * BANKS + square.col) as usize).copied().flatten(),
        Kind::Target => held.target.get((square.row * TILE + square.col) as usize).copied().flatten(),
    }
}

impl View for TransposePlayer {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        self.play.tick(cx);
        self.figure_ui(ui, cx);
        self.play.ui(ui, cx);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(self.method, &self.answered.cost, lang)
    }

    fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("method".into(), self.method.id().into());
        map.insert("n".into(), self.n.into());
        map.insert("peak_gb_per_s".into(), self.peak_gb_per_s.into());
        map.insert("step".into(), self.play.now().into());
        map
    }

    fn data(&self) -> DataTable {
        let header =
            ["method", "read sectors/request", "write sectors/request", "tile store degree", "tile load degree"]
                .into_iter()
                .chain(["L2 traffic (B)", "DRAM minimum (B)"])
                .map(str::to_owned)
                .collect();
        let row = |method: &Method| {
            let cost = transpose::run(*method, self.n).ok()?;
            let degree = |degree: Option<u32>| degree.map(|degree| degree.to_string()).unwrap_or_default();
            Some(vec![
                method.id().to_owned(),
                cost.read_sectors.to_string(),
                cost.write_sectors.to_string(),
                degree(cost.store_degree),
                degree(cost.load_degree),
                cost.l2.0.to_string(),
                cost.useful.0.to_string(),
            ])
        };
        DataTable { header, rows: Method::ALL.iter().filter_map(row).collect() }
    }

    fn is_playing(&self) -> bool {
        self.play.is_playing()
    }
}

impl Visualizer for TransposePlayer {
    const ID: &'static str = "transpose_player";
    const TITLE: Text = Text::new("转置播放器（transpose player）", "Transpose player");

    fn fields() -> Vec<FieldSpec> {
        let methods = Method::ALL.iter().map(|method| method.id().into()).collect();
        let most_steps = 4 * TILE as i64 + 1;
        vec![
            FieldSpec::new("method", "", FieldKind::Choice { options: methods }, Text::new("哪一种做法", "Which way"))
                .default_value("naive"),
            FieldSpec::int(
                "n",
                "element",
                32,
                65_536,
                Text::new("矩阵边长，32 的整数倍", "Side of the matrix, a multiple of 32"),
            )
            .default_value(8192),
            FieldSpec::num(
                "peak_gb_per_s",
                "GB/s",
                1.0,
                1e6,
                Text::new("算时间下限用的显存带宽", "Memory bandwidth for the time floor"),
            )
            .default_value(4800),
            FieldSpec::int("step", "1", 0, most_steps, Text::new("播放到第几次访问", "Accesses that are over"))
                .optional(),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let n = args.uint("n");
        if !n.is_multiple_of(TILE) {
            return Err(FieldError::illegal("n", &n.into(), "a multiple of 32 from 32 to 65536"));
        }
        let Some(method) = Method::from_id(args.text("method")) else {
            return Err(FieldError::conflict("method", "is not among its options"));
        };
        let peak_gb_per_s = args.num("peak_gb_per_s");
        let answered =
            Answered::new(method, n, peak_gb_per_s).map_err(|error| FieldError::conflict("n", error.to_string()))?;
        let now = if args.has("step") { args.uint("step") as usize } else { Self::telling_step(method) };
        let play = Steps::new(now, answered.steps.len(), STEPS_PER_SEC);
        Ok(Self { method, n, peak_gb_per_s, play, answered })
    }
}
