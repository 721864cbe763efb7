//! A recorded run inside a lesson: memory by process and the lanes below it, with the moment at the cursor in words. The
//! figure is that of the profile page (`crate::profile`); the file is an asset, fetched where a chapter shows it.

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::profile::{Look, Memory, Scene, Timeline, legend, moment};
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{RichText, Sense, Ui, vec2};
use std::sync::Arc;
use vramlab_kit::widgets::{Mark, legend as legend_ui};
use vramlab_kit::{Tokens, Type};
use vramlab_profile::words::time;
use vramlab_units::show::{bytes_binary, with_unit};
use vramlab_units::{Args, Bytes, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const ASSET: &str = "assets/profiles/gpt_training.json.gz";
const MEMORY: Text = Text::new("内存", "Memory");
const GPU: Text = Text::new("GPU", "GPU");
const HOST: Text = Text::new("主机", "host");
const TO_PEAK: Text = Text::new("到峰值", "To the peak");
const ALL: Text = Text::new("整个运行", "The whole run");
const STEPS: Text = Text::new("看最后一步", "The last step");
const LOADING: Text = Text::new("正在取录制…", "Fetching the recording …");
const FAILED: Text = Text::new("录制读不出来：{}", "The recording cannot be read: {}");
const CARD: Text = Text::new("整张卡（虚线）", "the whole card, dashed");
const LIVE: Text = Text::new("程序自己的 cudaMalloc", "the program's own cudaMalloc");
const HINT: Text = Text::new(
    "拖动放大，双击复原，单击放光标；放到几毫秒宽，就能看见一个个内核。",
    "Drag to zoom, double click for all, click for the cursor; at some milliseconds' width single kernels show.",
);
/// A training step of the recording, µs, and a little before it.
const LAST_US: u64 = 16_000;
/// Longer runs than this are not bundled, ms.
const MOST_MS: i64 = 3_600_000;

enum State {
    Waiting,
    Failed(String),
    Open(Box<(Scene, Timeline)>),
}

/// See the module's docs.
pub struct ProfileTimeline {
    memory: Memory,
    /// The window that is asked for; 0 as its end: to the end of the run.
    window_ms: (u64, u64),
    look: Look,
    state: State,
}

impl ProfileTimeline {
    fn opened(&mut self, bytes: &[u8]) {
        self.state = match vramlab_profile::read(bytes) {
            Err(error) => State::Failed(error.to_string()),
            Ok(profile) => {
                let scene = Scene::new(Arc::new(profile));
                let wall = scene.profile.wall_us;
                self.look = Look { memory: self.memory, ..scene.first_look() };
                let (from, until) = self.window_ms;
                if self.window_ms != (0, 0) {
                    let end = if until == 0 { wall } else { until.saturating_mul(1000) };
                    self.look.show(from.saturating_mul(1000) as f64, end as f64, wall);
                    self.look.cursor = self.look.cursor.clamp(self.look.from, self.look.until);
                }
                State::Open(Box::new((scene, Timeline::default())))
            }
        };
    }

    fn controls_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look) {
        let wall = scene.profile.wall_us;
        controls::row(ui, tokens, |flow| {
            let options =
                [(Memory::Gpu, GPU), (Memory::Host, HOST)].map(|(memory, text)| (memory, text.get(lang).to_owned()));
            controls::choice(flow, tokens, MEMORY.get(lang), &mut look.memory, &options);
            if let Some(peak) = scene.peak(look.memory).map(|peak| peak.t_us)
                && controls::button(flow, tokens, TO_PEAK.get(lang))
            {
                look.point_at(peak, wall);
            }
            if let Some(end) = last_kernel_us(scene)
                && controls::button(flow, tokens, STEPS.get(lang))
            {
                look.show(end.saturating_sub(LAST_US) as f64, end as f64, wall);
                look.cursor = end.saturating_sub(LAST_US / 2);
            }
            if controls::button(flow, tokens, ALL.get(lang)) {
                look.show(0.0, wall as f64, wall);
            }
        });
    }

    fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, memory: Memory) {
        let names = legend(scene, memory, lang);
        let square = |idx: usize| Mark::Square(tokens.tint(tokens.category(idx), 0.82));
        let mut marks: Vec<(Mark, &str)> =
            names.iter().enumerate().map(|(idx, name)| (square(idx), name.as_str())).collect();
        if memory == Memory::Gpu {
            marks.extend([(Mark::Square(tokens.muted), CARD.get(lang)), (Mark::Square(tokens.ink), LIVE.get(lang))]);
        }
        legend_ui(ui, tokens, &marks);
    }
}

/// Words in the figure's place, while there is nothing to draw.
fn words_ui(ui: &mut Ui, tokens: &Tokens, words: &str) {
    let size = vec2(ui.available_width().max(figure::LEAST_WIDTH), tokens.px(284.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    ui.painter().rect_filled(rect, 8.0, tokens.sunken);
    let galley = ui.painter().layout(words.to_owned(), tokens.font(Type::Note), tokens.muted, rect.width() - 24.0);
    ui.painter().galley(rect.center() - galley.size() / 2.0, galley, tokens.muted);
    figure::focus_ring(ui, tokens, &response);
    figure::speak(&response, words, None);
}

/// When the last kernel ended.
fn last_kernel_us(scene: &Scene) -> Option<u64> {
    let ends = scene.profile.activities.iter().filter_map(|activity| {
        let rows = &activity.kernels;
        Some(rows.start_ns.last()?.saturating_add(*rows.ns.last()?) / 1000)
    });
    ends.max()
}

fn key_numbers(scene: &Scene) -> Vec<KeyNumber> {
    let bytes =
        |label, bytes: u64| KeyNumber::new(label, bytes_binary(Bytes(bytes))).exact(format!("{bytes}\u{2009}B"));
    let mut out = Vec::new();
    if let Some(peak) = &scene.report.tree {
        out.push(bytes(Text::new("NVML 峰值", "NVML peak"), peak.bytes));
    }
    if let Some(traced) = &scene.report.traced {
        out.push(bytes(Text::new("cudaMalloc 最多", "cudaMalloc at most"), traced.live.peak_bytes));
        out.extend(traced.context_bytes.map(|context| bytes(Text::new("CUDA 上下文", "CUDA context"), context)));
    }
    let share = (scene.report.sampler_share * 1e4).round() / 1e4;
    out.push(KeyNumber::new(Text::new("采样占一个核", "sampler, of one core"), with_unit(share, "%")));
    out.push(KeyNumber::new(Text::new("每个样本", "a sample"), time(scene.profile.sampler.sample_ns / 1000)));
    out
}

impl View for ProfileTimeline {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let words = match &self.state {
            State::Open(_) => String::new(),
            State::Waiting => LOADING.get(lang).to_owned(),
            State::Failed(why) => FAILED.get(lang).replace("{}", why),
        };
        let State::Open(open) = &mut self.state else {
            return words_ui(ui, tokens, &words);
        };
        let (scene, timeline) = &mut **open;
        Self::controls_ui(ui, tokens, lang, scene, &mut self.look);
        ui.add_space(tokens.space.s);
        timeline.ui(ui, tokens, lang, scene, &mut self.look);
        self.memory = self.look.memory;
        ui.add_space(tokens.space.xs);
        Self::legend_ui(ui, tokens, lang, scene, self.memory);
        ui.label(RichText::new(HINT.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &key_numbers(scene));
    }

    fn finding(&self, lang: Lang) -> String {
        match &self.state {
            State::Open(open) => moment(&open.0, self.look.cursor, self.memory, lang),
            State::Waiting => LOADING.get(lang).to_owned(),
            State::Failed(why) => FAILED.get(lang).replace("{}", why),
        }
    }

    fn params(&self) -> Map {
        let mut map = Map::new();
        let memory = if self.memory == Memory::Host { "host" } else { "gpu" };
        map.insert("memory".into(), memory.into());
        let (from, until) = match &self.state {
            State::Open(open) if self.look.span() < open.0.profile.wall_us => {
                (self.look.from / 1000, self.look.until.div_ceil(1000))
            }
            State::Open(_) => (0, 0),
            _ => self.window_ms,
        };
        map.insert("from_ms".into(), from.into());
        map.insert("until_ms".into(), until.into());
        map
    }

    fn data(&self) -> DataTable {
        let header = ["t (us)", "process (B)", "card (B)"].map(str::to_owned).to_vec();
        let State::Open(open) = &self.state else { return DataTable { header, rows: Vec::new() } };
        let (scene, _) = &**open;
        let text = |bytes: Option<u64>| bytes.map_or(String::new(), |bytes| bytes.to_string());
        let samples = &scene.profile.samples;
        let row = |row: usize| {
            let process = scene.profile.processes.first().and_then(|process| process.gpu_at(row));
            vec![samples.t_us[row].to_string(), text(process), text(samples.used[row])]
        };
        DataTable { header, rows: (0..samples.t_us.len()).map(row).collect() }
    }

    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        Some(["H200", "PyTorch 2.11", "2026-11-30"].map(str::to_owned))
    }

    fn wants(&self) -> Option<String> {
        matches!(self.state, State::Waiting).then(|| ASSET.to_owned())
    }

    fn take(&mut self, asset: Result<&[u8], String>) {
        match asset {
            Ok(bytes) => self.opened(bytes),
            Err(why) => self.state = State::Failed(why),
        }
    }
}

impl Visualizer for ProfileTimeline {
    const ID: &'static str = "profile_timeline";
    const TITLE: Text = Text::new("录下的一次训练", "A training run, recorded");

    fn fields() -> Vec<FieldSpec> {
        let memory = FieldKind::Choice { options: vec!["gpu".into(), "host".into()] };
        let ms = |key, zh, en| FieldSpec::int(key, "ms", 0, MOST_MS, Text::new(zh, en)).default_value(0);
        vec![
            FieldSpec::new("memory", "", memory, Text::new("画哪种内存", "Which memory is drawn")).default_value("gpu"),
            ms("from_ms", "窗口从哪里开始", "Where the window begins"),
            ms("until_ms", "到哪里结束；0 是运行的结尾", "Where it ends; 0 is the end of the run"),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let (from, until) = (args.uint("from_ms"), args.uint("until_ms"));
        if until != 0 && until <= from {
            return Err(FieldError::conflict("until_ms", format!("{until} does not lie after from_ms = {from}")));
        }
        let memory = if args.text("memory") == "host" { Memory::Host } else { Memory::Gpu };
        Ok(Self { memory, window_ms: (from, until), look: Look::default(), state: State::Waiting })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn open(given: serde_json::Value) -> Result<ProfileTimeline, String> {
        let args = Args::check(&ProfileTimeline::fields(), given.as_object().unwrap()).unwrap();
        ProfileTimeline::open(&args).map_err(|error| error.to_string())
    }

    /// The recording that is part of the program: the last step is inside the run, and the address leads back to it.
    #[test]
    fn the_recording_opens_at_the_window_that_is_asked_for() {
        let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/profiles/gpt_training.json.gz"));
        let bytes = bytes.unwrap();
        let mut view = open(json!({"from_ms": 11_000, "until_ms": 11_500})).unwrap();
        assert_eq!(view.wants().as_deref(), Some(ASSET));
        view.take(Ok(&bytes));
        assert_eq!((view.look.from, view.look.until, view.wants()), (11_000_000, 11_500_000, None));
        assert_eq!((&view.params()["from_ms"], &view.params()["until_ms"]), (&json!(11_000), &json!(11_500)));
        let State::Open(of) = &view.state else { panic!("it is open") };
        let end = last_kernel_us(&of.0).unwrap();
        assert!(end > 11_000_000 && end < of.0.profile.wall_us);
        assert_eq!(view.data().rows.len(), of.0.profile.samples.t_us.len());
        assert!(view.finding(Lang::En).contains("GiB"), "{}", view.finding(Lang::En));
    }

    #[test]
    fn a_window_that_ends_before_it_begins_is_refused() {
        assert!(open(json!({"from_ms": 5, "until_ms": 5})).is_err_and(|error| error.starts_with("until_ms")));
        let mut view = open(json!({})).unwrap();
        view.take(Ok(b"{}"));
        assert!(view.finding(Lang::Zh).contains("读不出来"));
    }
}
