//! One recorded run in front of eight allocators: a bar each, as long as what it would have taken of the card.
//!
//! `policies.rs` names the allocators and plays the recording through them, `paint.rs` draws, `words.rs` says it.

pub mod paint;
pub mod policies;
pub mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Sense, Ui, vec2};
use policies::{Policy, Recording};
use vramlab_kit::{Area, Mark, Slider, Tokens, Verdict, legend};
use vramlab_snapshot::policies::Held;
use vramlab_units::{Args, Bytes, FieldError, FieldKind, FieldSpec, Lang, Map, Text, show};

const FILE: Text = Text::new("录制", "Recording");
const CARD: Text = Text::new("一张卡", "The card");
const LOADING: Text = Text::new("快照还没读到。", "The snapshot has not come yet.");
/// Recordings bundled with the program, with what they are called.
const FILES: [(&str, Text); 3] = [
    ("kv_cat", Text::new("逐步增长的 KV 缓存", "a growing KV cache")),
    ("fragmentation", Text::new("留下小结果的批", "batches that leave small results")),
    ("training_loop", Text::new("训练 12 步", "twelve training steps")),
];
/// Cards to try, MiB: from the cap of a recording to an H200.
const CARDS: [f64; 10] = [640.0, 1_024.0, 2_048.0, 4_096.0, 8_192.0, 16_384.0, 24_576.0, 49_152.0, 81_920.0, 143_771.0];

/// What there is to show.
enum State {
    Waiting,
    Failed(String),
    Played { recording: Recording, held: Vec<Held> },
}

/// See the module's docs.
pub struct TracePolicies {
    file: &'static str,
    capacity_mib: u64,
    state: State,
}

impl TracePolicies {
    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let (mut file, mut card) = (self.file, self.capacity_mib as f64);
        controls::row(ui, tokens, |flow| {
            let options = FILES.map(|(id, name)| (id, name.get(lang).to_owned()));
            controls::choice(flow, tokens, FILE.get(lang), &mut file, &options);
            let most = CARDS[CARDS.len() - 1];
            let slider = Slider::new(CARD.get(lang), &mut card, CARDS[0]..=most).log().stops(&CARDS);
            let slider = slider.default_value(most).shown(|mib| words::mib(mib.round() as u64));
            flow.item(|ui| slider.show(ui, tokens));
        });
        if file != self.file {
            (self.file, self.state) = (file, State::Waiting);
        }
        let card = card.round() as u64;
        if card != self.capacity_mib {
            self.capacity_mib = card;
            if let State::Played { recording, held } = &mut self.state {
                *held = recording.play(card);
            }
        }
    }

    fn figure_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let held = self.held();
        let height = paint::height(tokens, held.len());
        let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
        if response.clicked() {
            response.request_focus();
        }
        let scene = paint::Scene { painter: ui.painter(), tokens, lang, rect, held, capacity_mib: self.capacity_mib };
        match &self.state {
            State::Played { .. } => scene.paint(),
            State::Waiting => scene.empty(LOADING.get(lang)),
            State::Failed(why) => scene.empty(why),
        }
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let entries = [
            (Mark::Square(paint::asked(tokens)), Text::new("程序要的，峰值", "asked for, at its peak")),
            (Mark::Area(Area::CachedFree), Text::new("多拿的", "taken beyond that")),
        ];
        legend(ui, tokens, &entries.map(|(mark, text)| (mark, text.get(lang))));
    }

    fn held(&self) -> &[Held] {
        match &self.state {
            State::Played { held, .. } => held,
            _ => &[],
        }
    }

    fn key_numbers(&self, lang: Lang) -> Vec<KeyNumber> {
        let State::Played { held, recording } = &self.state else { return Vec::new() };
        let bytes = |bytes: u64| show::bytes_binary(Bytes(bytes));
        let of = |policy: Policy| Policy::ALL.iter().position(|it| *it == policy).and_then(|idx| held.get(idx));
        let mut numbers = Vec::new();
        if let Some(native) = of(Policy::Native) {
            let label = Text::new("程序要的峰值", "asked for, peak");
            let n = words::requests(recording.n_requests, lang);
            let exact = format!("{} B, {n}", native.peak_requested);
            numbers.push(KeyNumber::new(label, bytes(native.peak_requested)).exact(exact));
        }
        for (policy, label) in [
            (Policy::Native, Text::new("PyTorch 默认 reserved", "PyTorch default, reserved")),
            (Policy::Expandable, Text::new("可扩展段 reserved", "expandable, reserved")),
            (Policy::Growth, Text::new("BFC 翻倍 reserved", "BFC growing, reserved")),
        ] {
            let Some(held) = of(policy) else { continue };
            let number = KeyNumber::new(label, bytes(held.peak_reserved)).exact(format!("{} B", held.peak_reserved));
            numbers.push(if held.n_ooms > 0 { number.judged(Verdict::Bad) } else { number });
        }
        numbers
    }
}

impl View for TracePolicies {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers(lang));
    }

    fn finding(&self, lang: Lang) -> String {
        match &self.state {
            State::Waiting => LOADING.get(lang).to_owned(),
            State::Failed(why) => why.clone(),
            State::Played { held, .. } => words::finding(held, self.capacity_mib, lang),
        }
    }

    fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("file".into(), self.file.into());
        map.insert("capacity_mib".into(), self.capacity_mib.into());
        map
    }

    fn data(&self) -> DataTable {
        let header = [
            "allocator",
            "peak reserved (B)",
            "peak allocated (B)",
            "peak requested (B)",
            "reserved at the end (B)",
            "refused requests",
            "first refused",
        ];
        let row = |(idx, policy): (usize, &Policy)| {
            let mut row = vec![policy.id().to_owned()];
            match self.held().get(idx) {
                Some(held) => row.extend([
                    held.peak_reserved.to_string(),
                    held.peak_allocated.to_string(),
                    held.peak_requested.to_string(),
                    held.final_reserved.to_string(),
                    held.n_ooms.to_string(),
                    held.first_oom.map(|nth| nth.to_string()).unwrap_or_default(),
                ]),
                None => row.resize(header.len(), String::new()),
            }
            row
        };
        DataTable {
            header: header.map(str::to_owned).to_vec(),
            rows: Policy::ALL.iter().enumerate().map(row).collect(),
        }
    }

    fn wants(&self) -> Option<String> {
        matches!(self.state, State::Waiting).then(|| format!("assets/snapshots/{}.pickle.gz", self.file))
    }

    fn take(&mut self, asset: Result<&[u8], String>) {
        self.state = match asset.and_then(Recording::read) {
            Ok(recording) => {
                let held = recording.play(self.capacity_mib);
                State::Played { recording, held }
            }
            Err(why) => State::Failed(why),
        };
    }
}

impl Visualizer for TracePolicies {
    const ID: &'static str = "trace_policies";
    const TITLE: Text = Text::new("一次录制，八种分配器", "One recording, eight allocators");

    fn fields() -> Vec<FieldSpec> {
        let files = FILES.map(|(id, _)| id.into()).to_vec();
        let card = Text::new("卡上的显存", "Memory of the card");
        vec![
            FieldSpec::new("file", "", FieldKind::Choice { options: files }, Text::new("哪次录制", "Which recording"))
                .default_value(FILES[0].0),
            FieldSpec::int("capacity_mib", "MiB", CARDS[0] as i64, 1 << 20, card)
                .default_value(CARDS[CARDS.len() - 1] as u64),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let wanted = args.text("file");
        let file = FILES.iter().map(|(id, _)| *id).find(|id| *id == wanted).unwrap_or(FILES[0].0);
        Ok(Self { file, capacity_mib: args.uint("capacity_mib"), state: State::Waiting })
    }
}
