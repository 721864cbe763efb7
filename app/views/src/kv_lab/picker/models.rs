//! The models of the bar chart: the numbers of their `config.json`, and their parameters as published.

use crate::config_field::ConfigFacts;
use vramlab_units::{Map, Value};

/// What the cache of one model is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    pub layers: u64,
    pub kv_heads: u64,
    pub head_dim: u64,
    /// MLA, if not 0.
    pub kv_rank: u64,
    pub rope_dim: u64,
    pub window: u64,
    /// Layers that see the window only.
    pub window_layers: u64,
    pub n_params: u64,
}

#[derive(Debug, PartialEq)]
pub struct Preset {
    pub id: &'static str,
    pub label: &'static str,
    pub shape: Shape,
}

const fn heads(
    id: &'static str,
    label: &'static str,
    layers: u64,
    kv_heads: u64,
    window: u64,
    n_params: u64,
) -> Preset {
    let window_layers = if window > 0 { layers } else { 0 };
    let shape = Shape { layers, kv_heads, head_dim: 128, kv_rank: 0, rope_dim: 0, window, window_layers, n_params };
    Preset { id, label, shape }
}

const fn latent(id: &'static str, label: &'static str, layers: u64, n_params: u64) -> Preset {
    let shape =
        Shape { layers, kv_heads: 1, head_dim: 0, kv_rank: 512, rope_dim: 64, window: 0, window_layers: 0, n_params };
    Preset { id, label, shape }
}

/// From many bytes a token to few.
pub const PRESETS: [Preset; 16] = [
    heads("llama2_13b", "Llama 2 13B", 40, 40, 0, 13_015_864_320),
    heads("llama2_7b", "Llama 2 7B", 32, 32, 0, 6_738_415_616),
    heads("llama31_405b", "Llama 3.1 405B", 126, 8, 0, 405_853_388_800),
    GEMMA_3_27B,
    heads("llama3_70b", "Llama 3 70B", 80, 8, 0, 70_553_706_496),
    heads("llama2_70b", "Llama 2 70B", 80, 8, 0, 68_976_648_192),
    heads("qwen25_72b", "Qwen2.5 72B", 80, 8, 0, 72_706_203_648),
    heads("qwen3_32b", "Qwen3 32B", 64, 8, 0, 32_762_123_264),
    heads("qwen3_235b", "Qwen3 235B A22B", 94, 4, 0, 235_093_634_560),
    heads("qwen3_8b", "Qwen3 8B", 36, 8, 0, 8_190_735_360),
    heads("llama3_8b", "Llama 3 8B", 32, 8, 0, 8_030_261_248),
    heads("mistral_7b", "Mistral 7B v0.1", 32, 8, 4096, 7_241_732_096),
    heads("qwen3_30b", "Qwen3 30B A3B", 48, 4, 0, 30_532_122_624),
    latent("deepseek_v3", "DeepSeek V3", 61, 671_026_419_200),
    latent("deepseek_v2", "DeepSeek V2", 60, 235_741_434_880),
    heads("qwen25_7b", "Qwen2.5 7B", 28, 4, 0, 7_615_616_512),
];

const GEMMA_3_27B: Preset = Preset {
    id: "gemma3_27b",
    label: "Gemma 3 27B",
    shape: Shape {
        layers: 62,
        kv_heads: 16,
        head_dim: 128,
        kv_rank: 0,
        rope_dim: 0,
        window: 1024,
        window_layers: 52,
        n_params: 27_432_406_640,
    },
};

impl Shape {
    /// The numbers of a configuration, if they are those of one of the ways that are known here.
    pub fn of(facts: &ConfigFacts) -> Option<Self> {
        let layers = facts.attention_layers.filter(|n| *n > 0)?;
        let base = Self {
            layers,
            window: facts.window.unwrap_or(0),
            window_layers: if facts.window.is_some() { facts.window_layers.unwrap_or(0) } else { 0 },
            n_params: facts.n_params.unwrap_or(0),
            ..Self::default()
        };
        match (facts.kv_rank, facts.rope_dim) {
            (Some(kv_rank), Some(rope_dim)) => Some(Self { kv_heads: 1, kv_rank, rope_dim, ..base }),
            _ => Some(Self { kv_heads: facts.kv_heads?, head_dim: facts.head_dim?, ..base }),
        }
    }

    /// The question that the model `kv_cache` is asked.
    pub fn asked(&self, value_bytes: f64, tokens: u64, requests: u64, cards: u64) -> Map {
        let mut map = Map::new();
        let mut set = |key: &str, value: Value| {
            map.insert(key.to_owned(), value);
        };
        set("layers", self.layers.into());
        if self.kv_rank > 0 {
            set("kv_rank", self.kv_rank.into());
            set("rope_dim", self.rope_dim.into());
        } else {
            set("kv_heads", self.kv_heads.into());
            set("head_dim", self.head_dim.into());
        }
        if self.window_layers > 0 {
            set("window", self.window.into());
            set("window_layers", self.window_layers.into());
        }
        set("bytes_per_value", value_bytes.into());
        set("tokens", tokens.into());
        set("requests", requests.into());
        set("cards", cards.into());
        map
    }

    /// As one writes it: layers × KV heads × size, or the ranks.
    pub fn words(&self) -> String {
        let Self { layers, kv_heads, head_dim, kv_rank, rope_dim, .. } = self;
        if *kv_rank > 0 {
            return format!("{layers} × ({kv_rank} + {rope_dim})");
        }
        format!("2 × {layers} × {kv_heads} × {head_dim}")
    }

    const KEYS: [&'static str; 8] = ["L", "H", "D", "R", "P", "W", "WL", "N"];

    /// Short, for links: `L32 H8 D128 N8030261248`.
    pub fn text(&self) -> String {
        let values = [
            self.layers,
            self.kv_heads,
            self.head_dim,
            self.kv_rank,
            self.rope_dim,
            self.window,
            self.window_layers,
            self.n_params,
        ];
        let words = Self::KEYS.iter().zip(values).filter(|(_, value)| *value > 0);
        words.map(|(key, value)| format!("{key}{value}")).collect::<Vec<_>>().join(" ")
    }

    /// Reads [`Self::text`].
    pub fn from_text(text: &str) -> Option<Self> {
        let mut values = [0_u64; 8];
        for word in text.split_whitespace() {
            let digits = word.find(|c: char| c.is_ascii_digit())?;
            let (key, value) = word.split_at(digits);
            let place = Self::KEYS.iter().position(|known| *known == key)?;
            values[place] = value.parse().ok().filter(|n| *n <= 1 << 48)?;
        }
        let [layers, kv_heads, head_dim, kv_rank, rope_dim, window, window_layers, n_params] = values;
        let this = Self { layers, kv_heads, head_dim, kv_rank, rope_dim, window, window_layers, n_params };
        let is_whole = (1..=4096).contains(&layers) && window_layers <= layers && (window_layers == 0 || window > 0);
        let has_heads = kv_rank > 0 && rope_dim > 0 || kv_heads > 0 && head_dim > 0;
        let is_small = [kv_heads, head_dim, rope_dim].iter().all(|n| *n <= 65_536) && kv_rank <= 1 << 20;
        (is_whole && has_heads && is_small && window <= 1 << 30).then_some(this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_field::facts;

    /// The table against the models' own files.
    #[test]
    fn the_numbers_are_those_of_the_configurations() {
        for (id, file) in [
            ("llama2_13b", "llama-2-13b"),
            ("llama2_7b", "llama-2-7b"),
            ("llama31_405b", "llama-3.1-405b"),
            ("llama3_70b", "llama-3-70b"),
            ("llama2_70b", "llama-2-70b"),
            ("qwen25_72b", "qwen2.5-72b"),
            ("qwen3_32b", "qwen3-32b"),
            ("qwen3_235b", "qwen3-235b-a22b"),
            ("qwen3_8b", "qwen3-8b"),
            ("llama3_8b", "llama-3-8b"),
            ("mistral_7b", "mistral-7b-v0.1"),
            ("qwen3_30b", "qwen3-30b-a3b"),
            ("qwen25_7b", "qwen2.5-7b"),
            ("gemma3_27b", "gemma-3-27b"),
            ("deepseek_v3", "deepseek-v3"),
            ("deepseek_v2", "deepseek-v2"),
        ] {
            let path = format!("{}/../../tests/data/configs/{file}.json", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            let preset = PRESETS.iter().find(|preset| preset.id == id).unwrap();
            assert_eq!(Shape::of(&facts(&text).unwrap()), Some(preset.shape), "{id}");
            assert_eq!(Shape::from_text(&preset.shape.text()), Some(preset.shape), "{id}");
        }
    }

    #[test]
    fn damaged_texts_are_no_shape() {
        for text in
            ["", "x", "L32", "L32 H8", "L0 H8 D128", "L32 H8 D128 WL3", "L32 H8 D-1", "L99999 H1 D1", "Q3 L1 H1 D1"]
        {
            assert_eq!(Shape::from_text(text), None, "{text}");
        }
    }
}
