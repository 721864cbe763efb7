//! The controls: what is asked, as sliders and choices hold it, and its place in the address.

use crate::fit::cards::{self, CARDS};
use egui::Ui;
use vramlab_fit::{Ask, Optimizer, Precision, Scenario, Serve, Train, Work};
use vramlab_kit::tokens::Tokens;
use vramlab_kit::widgets::{Slider, check_box, segmented};
use vramlab_modelfile::{Dtype, Format};
use vramlab_units::{Lang, Map, Text, Value, show};

const WORK: Text = Text::new("做什么", "Work");
const SERVING: Text = Text::new("推理", "Serving");
const TRAINING: Text = Text::new("训练", "Training");
const CARD: Text = Text::new("卡", "Card");
const CARDS_N: Text = Text::new("卡数", "Cards");
const REQUESTS: Text = Text::new("并发请求", "Requests at once");
const CONTEXT: Text = Text::new("上下文", "Context");
const WEIGHTS: Text = Text::new("权重", "Weights");
const AS_STORED: Text = Text::new("按文件", "as stored");
const KV: Text = Text::new("KV 缓存", "KV cache");
const BATCH: Text = Text::new("微批", "Micro-batch");
const LENGTH: Text = Text::new("序列长度", "Sequence length");
const PRECISION: Text = Text::new("精度", "Precision");
const OPTIMIZER: Text = Text::new("优化器", "Optimizer");
const RECOMPUTE: Text = Text::new("重算每一层", "recompute each layer");
const OFFLOAD: Text = Text::new("优化器放主机", "optimizer on the host");
const FUSED: Text = Text::new("AdamW 用融合内核", "AdamW in one kernel");
const LORA: Text = Text::new("只训练 LoRA", "adapters only (LoRA)");
const NF4: Text = Text::new("冻结的权重用 4 位", "frozen weights in 4 bits");
const TOKENS: Text = Text::new("token", "tokens");
const CARD_STOPS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
const COUNT_STOPS: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];
const LENGTH_STOPS: [f64; 11] =
    [512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0, 262_144.0, 1_048_576.0];
/// Formats of weights; the first is the file's own.
const FORMATS: [&str; 4] = ["", "bf16", "fp8_b128", "awq4_g128"];
const KVS: [&str; 2] = ["bf16", "fp8"];

#[derive(Clone, Debug, PartialEq)]
pub struct Controls {
    pub is_training: bool,
    pub card: String,
    pub n_cards: u64,
    pub serve: Serve,
    pub train: Train,
}

impl Default for Controls {
    fn default() -> Self {
        let (serve, train) = (Serve::default(), Train::default());
        Self { is_training: false, card: "h200".to_owned(), n_cards: 1, serve, train }
    }
}

impl Controls {
    pub fn ask(&self) -> Option<Ask> {
        let (_, card) = cards::named(&self.card)?;
        let work = if self.is_training { Work::Train(self.train) } else { Work::Serve(self.serve) };
        let scenario = Scenario::usual(self.is_training);
        Some(Ask { card: card.clone(), n_cards: self.n_cards, budget: None, scenario, work })
    }

    /// Takes over what a lever changed.
    pub fn take(&mut self, ask: &Ask) {
        self.n_cards = ask.n_cards;
        match ask.work {
            Work::Serve(serve) => self.serve = serve,
            Work::Train(train) => self.train = train,
        }
    }

    /// From the address; what is not understood stays as it is.
    pub fn follow(&mut self, params: &Map) {
        let text = |key: &str| params.get(key).and_then(Value::as_str);
        let number = |key: &str, most: u64| params.get(key).and_then(Value::as_u64).filter(|n| (1..=most).contains(n));
        let flag = |key: &str| params.get(key).and_then(Value::as_bool);
        if let Some(work) = text("work") {
            self.is_training = work == "train";
        }
        if let Some((id, _)) = text("gpu").and_then(cards::named) {
            self.card.clone_from(id);
        }
        let set = |into: &mut u64, value: Option<u64>| *into = value.unwrap_or(*into);
        set(&mut self.n_cards, number("gpus", 128));
        set(&mut self.serve.requests, number("requests", 1024));
        set(&mut self.serve.context, number("context", 1 << 20));
        set(&mut self.train.batch, number("batch", 1024));
        set(&mut self.train.seq_len, number("length", 1 << 20));
        if let Some(format) = text("weights").and_then(|id| Format::from_id(id).ok()) {
            self.serve.weights = Some(format);
        }
        if let Some(kv) = text("kv").and_then(Dtype::from_name) {
            self.serve.kv = kv;
        }
        let precision = |id| Precision::ALL.into_iter().find(|one| Some(one.id()) == id);
        self.train.precision = precision(text("precision")).unwrap_or(self.train.precision);
        let optimizer = |id| Optimizer::ALL.into_iter().find(|one| Some(one.id()) == id);
        self.train.optimizer = optimizer(text("optimizer")).unwrap_or(self.train.optimizer);
        self.train.recompute = flag("recompute").unwrap_or(self.train.recompute);
        self.train.offload = flag("offload").unwrap_or(self.train.offload);
        self.train.fused = flag("fused").unwrap_or(self.train.fused);
        self.train.lora = number("lora", 1 << 16).or(self.train.lora);
        self.train.nf4 = self.train.lora.is_some() && flag("nf4").unwrap_or(self.train.nf4);
    }

    /// What differs from the default, for the address.
    pub fn params(&self) -> Map {
        let (mut out, plain) = (Map::new(), Self::default());
        let mut put = |key: &str, is_own: bool, value: Value| {
            if is_own {
                out.insert(key.to_owned(), value);
            }
        };
        put("work", self.is_training, "train".into());
        put("gpu", self.card != plain.card, self.card.as_str().into());
        put("gpus", self.n_cards != 1, self.n_cards.into());
        if self.is_training {
            let (own, plain) = (&self.train, &plain.train);
            put("batch", own.batch != plain.batch, own.batch.into());
            put("length", own.seq_len != plain.seq_len, own.seq_len.into());
            put("precision", own.precision != plain.precision, own.precision.id().into());
            put("optimizer", own.optimizer != plain.optimizer, own.optimizer.id().into());
            put("recompute", own.recompute, true.into());
            put("offload", own.offload, true.into());
            put("fused", own.fused, true.into());
            put("lora", own.lora.is_some(), own.lora.unwrap_or_default().into());
            put("nf4", own.nf4, true.into());
        } else {
            let (own, plain) = (&self.serve, &plain.serve);
            put("requests", own.requests != plain.requests, own.requests.into());
            put("context", own.context != plain.context, own.context.into());
            put("weights", own.weights.is_some(), own.weights.map(Format::id).unwrap_or_default().into());
            put("kv", own.kv != plain.kv, own.kv.name.into());
        }
        out
    }
}

/// A number on stops.
fn stops(ui: &mut Ui, tokens: &Tokens, name: &str, value: &mut u64, all: &[f64], unit: &str) -> bool {
    let mut at = *value as f64;
    let range = all.first().copied().unwrap_or(1.0)..=all.last().copied().unwrap_or(1.0);
    let slider = Slider::new(name, &mut at, range).stops(all).width(120.0);
    slider.shown(|value| show::grouped_with_unit(value, unit)).show(ui, tokens);
    let changed = at as u64 != *value && at >= 1.0 && all.contains(&at);
    if changed {
        *value = at as u64;
    }
    changed
}

/// A choice with its name in front.
fn choice<T: PartialEq + Copy>(
    ui: &mut Ui,
    tokens: &Tokens,
    name: &str,
    chosen: &mut T,
    options: &[(T, &str)],
) -> bool {
    crate::guide::parts::label(ui, tokens, name);
    let is_changed = segmented(ui, tokens, name, chosen, options);
    ui.add_space(tokens.space.xs);
    is_changed
}

/// All controls; true when something changed.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, controls: &mut Controls) -> bool {
    let works = [(false, SERVING.get(lang)), (true, TRAINING.get(lang))];
    let mut is_changed = choice(ui, tokens, WORK.get(lang), &mut controls.is_training, &works);
    let names: Vec<(usize, &str)> = CARDS.iter().enumerate().map(|(idx, (_, card))| (idx, short(&card.name))).collect();
    let mut card = CARDS.iter().position(|(id, _)| *id == controls.card).unwrap_or(0);
    if choice(ui, tokens, CARD.get(lang), &mut card, &names) {
        controls.card.clone_from(&CARDS[card].0);
        is_changed = true;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.l;
        is_changed |= stops(ui, tokens, CARDS_N.get(lang), &mut controls.n_cards, &CARD_STOPS, "1");
        if controls.is_training {
            is_changed |= stops(ui, tokens, BATCH.get(lang), &mut controls.train.batch, &COUNT_STOPS, "1");
            is_changed |=
                stops(ui, tokens, LENGTH.get(lang), &mut controls.train.seq_len, &LENGTH_STOPS, TOKENS.get(lang));
        } else {
            is_changed |= stops(ui, tokens, REQUESTS.get(lang), &mut controls.serve.requests, &COUNT_STOPS, "1");
            is_changed |=
                stops(ui, tokens, CONTEXT.get(lang), &mut controls.serve.context, &LENGTH_STOPS, TOKENS.get(lang));
        }
    });
    ui.add_space(tokens.space.xs);
    is_changed
        | if controls.is_training { training(ui, tokens, lang, controls) } else { serving(ui, tokens, lang, controls) }
}

/// `RTX 4090` for `NVIDIA GeForce RTX 4090`.
fn short(name: &str) -> &str {
    let name = name.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ").trim_start_matches("Tesla ");
    name.trim_end_matches(" GPU")
}

fn serving(ui: &mut Ui, tokens: &Tokens, lang: Lang, controls: &mut Controls) -> bool {
    let now = controls.serve.weights.map(Format::id).unwrap_or_default();
    let mut format = FORMATS.iter().position(|id| *id == now).unwrap_or(0);
    let names = [AS_STORED.get(lang), "bf16", "fp8", "AWQ 4 bit"];
    let options: Vec<(usize, &str)> = names.into_iter().enumerate().collect();
    let mut is_changed = choice(ui, tokens, WEIGHTS.get(lang), &mut format, &options);
    if is_changed {
        controls.serve.weights = Format::from_id(FORMATS[format]).ok();
    }
    let mut kv = usize::from(controls.serve.kv != Dtype::BF16);
    let options: Vec<(usize, &str)> = KVS.into_iter().enumerate().collect();
    if choice(ui, tokens, KV.get(lang), &mut kv, &options) {
        controls.serve.kv = Dtype::from_name(KVS[kv]).unwrap_or(Dtype::BF16);
        is_changed = true;
    }
    is_changed
}

fn training(ui: &mut Ui, tokens: &Tokens, lang: Lang, controls: &mut Controls) -> bool {
    let train = &mut controls.train;
    let options: Vec<(Precision, &str)> = Precision::ALL.into_iter().map(|one| (one, one.id())).collect();
    let mut is_changed = choice(ui, tokens, PRECISION.get(lang), &mut train.precision, &options);
    let options: Vec<(Optimizer, &str)> = Optimizer::ALL.into_iter().map(|one| (one, one.id())).collect();
    is_changed |= choice(ui, tokens, OPTIMIZER.get(lang), &mut train.optimizer, &options);
    ui.horizontal_wrapped(|ui| {
        let mut has_lora = train.lora.is_some();
        is_changed |= check_box(ui, tokens, &mut train.recompute, RECOMPUTE.get(lang)).changed();
        is_changed |= check_box(ui, tokens, &mut train.offload, OFFLOAD.get(lang)).changed();
        if train.optimizer == Optimizer::AdamW {
            is_changed |= check_box(ui, tokens, &mut train.fused, FUSED.get(lang)).changed();
        }
        if check_box(ui, tokens, &mut has_lora, LORA.get(lang)).changed() {
            train.lora = has_lora.then_some(16);
            train.nf4 &= has_lora;
            is_changed = true;
        }
        if has_lora {
            is_changed |= check_box(ui, tokens, &mut train.nf4, NF4.get(lang)).changed();
        }
    });
    is_changed
}
