//! What the reader sets, and what each engine leaves for keys and values on that card.

use super::engines::{ENGINES, Engine};
use crate::case_capacity::question::LLMS;
use vramlab_serve::capacity::{Card, Pool, Reserve};
use vramlab_units::{Args, FieldKind, FieldSpec, Map, Text, Value};

const GB: f64 = 1e9;

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub card_gb: f64,
    pub llm: usize,
    pub activation_gb: f64,
    pub non_torch_gb: f64,
    pub max_len: u64,
    /// The engine whose row is explained.
    pub engine: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    NonTorch,
    Weights,
    Activations,
    Pool,
    /// Not taken: the cache may grow into it.
    Growing,
    Left,
}

/// What an engine does with the card.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    pub parts: Vec<(Part, f64)>,
    /// Negative: how much is missing.
    pub pool_bytes: f64,
    pub tokens: u64,
    pub requests: u64,
    /// What is set aside for activations does not hold them.
    pub is_short: bool,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let gb = |key, min, max, zh, en| FieldSpec::num(key, "GB", min, max, Text::new(zh, en));
        let words = |key, ids: Vec<String>, doc| {
            FieldSpec::new(key, "", FieldKind::Choice { options: ids.into_iter().map(Into::into).collect() }, doc)
        };
        let models = LLMS.iter().map(|llm| llm.id.to_owned()).collect();
        let engines = ENGINES.iter().map(|engine| engine.id.clone()).collect();
        vec![
            gb("card_gb", 4.0, 1000.0, "卡的显存", "Memory of the card").default_value(80),
            words("model", models, Text::new("模型，16 位", "The model, 16 bits")).default_value("llama3_8b"),
            gb("activation_gb", 0.0, 100.0, "激活峰值", "Peak of activations").default_value(2),
            gb("non_torch_gb", 0.0, 100.0, "PyTorch 之外", "Outside of PyTorch").default_value(1),
            FieldSpec::int("max_len", "token", 16, 1 << 20, Text::new("每个请求的长度", "Length of a request"))
                .default_value(8192),
            words("engine", engines, Text::new("讲解哪个引擎", "The engine that is explained")).default_value("vllm"),
        ]
    }

    pub fn from_args(args: &Args) -> Self {
        let engine = ENGINES.iter().position(|engine| engine.id == args.text("engine")).unwrap_or(0);
        Self {
            card_gb: args.num("card_gb"),
            llm: LLMS.iter().position(|llm| llm.id == args.text("model")).unwrap_or(0),
            activation_gb: args.num("activation_gb"),
            non_torch_gb: args.num("non_torch_gb"),
            max_len: args.uint("max_len"),
            engine,
        }
    }

    pub fn params(&self) -> Map {
        let values: [(&str, Value); 6] = [
            ("card_gb", self.card_gb.into()),
            ("model", LLMS[self.llm].id.into()),
            ("activation_gb", self.activation_gb.into()),
            ("non_torch_gb", self.non_torch_gb.into()),
            ("max_len", self.max_len.into()),
            ("engine", ENGINES[self.engine].id.as_str().into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn card_bytes(&self) -> f64 {
        self.card_gb * GB
    }

    fn card(&self, share: f64) -> Card {
        Card {
            total: self.card_bytes(),
            utilisation: share,
            weights: LLMS[self.llm].weights,
            non_torch: self.non_torch_gb * GB,
            activation_peak: self.activation_gb * GB,
            graphs: 0.0,
        }
    }

    pub fn taken(&self, engine: &Engine) -> Taken {
        let card = self.card(engine.share);
        let pool_bytes = card.pool_by(engine.reserve);
        let bytes_per_token = LLMS[self.llm].token_bytes as f64;
        let pool = Pool::new(pool_bytes, 0.0, bytes_per_token, engine.block_tokens);
        let (tokens, requests) =
            pool.map_or((0, 0), |pool| (pool.tokens, pool.requests(self.max_len, engine.block_tokens)));
        let mut parts = vec![
            (Part::NonTorch, card.non_torch),
            (Part::Weights, card.weights),
            (Part::Activations, card.activation_peak),
        ];
        if pool_bytes > 0.0 {
            parts.push((if engine.reserve == Reserve::Grows { Part::Growing } else { Part::Pool }, pool_bytes));
        }
        let left = card.total - parts.iter().map(|(_, bytes)| bytes).sum::<f64>();
        if left > card.total * 1e-6 {
            parts.push((Part::Left, left));
        }
        parts.retain(|(_, bytes)| *bytes > 0.0);
        Taken { parts, pool_bytes, tokens, requests, is_short: card.is_short(engine.reserve) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Question =
        Question { card_gb: 80.0, llm: 0, activation_gb: 2.0, non_torch_gb: 1.0, max_len: 8192, engine: 1 };

    fn pool(question: &Question, id: &str) -> Taken {
        question.taken(ENGINES.iter().find(|engine| engine.id == id).unwrap())
    }

    /// 80 GB, 16.06 of weights, 2 and 1: 0.92 · 80 − 19.06; 0.9 · (80 − 19.06); 79 · 0.9 − 16.06; 80 − 19.06.
    #[test]
    fn four_ways_on_one_card() {
        let weights = LLMS[0].weights / GB;
        for (id, expected) in [
            ("vllm", 80.0 * 0.92 - weights - 3.0),
            ("tensorrt_llm", (80.0 - weights - 3.0) * 0.9),
            ("sglang", 79.0 * 0.9 - weights),
            ("transformers", 80.0 - weights - 3.0),
        ] {
            let taken = pool(&ONE, id);
            assert!((taken.pool_bytes / GB - expected).abs() < 1e-9, "{id}");
            let whole: f64 = taken.parts.iter().map(|(_, bytes)| bytes).sum();
            assert!((whole / GB - 80.0).abs() < 1e-6, "{id}");
        }
        // As the model says it.
        let asked = serde_json::json!({"total_gib": 80e9 / 1_073_741_824.0, "utilisation": 0.9, "reserve": "rest",
            "weights_gib": LLMS[0].weights / 1_073_741_824.0, "non_torch_gib": 1e9 / 1_073_741_824.0,
            "activation_gib": 2e9 / 1_073_741_824.0, "bytes_per_token": 131_072, "block_tokens": 32, "max_len": 8192});
        let got = vramlab_model::eval("engine_capacity", asked.as_object().unwrap()).unwrap();
        assert_eq!(got["tokens"], pool(&ONE, "tensorrt_llm").tokens);
        assert_eq!(got["requests"], pool(&ONE, "tensorrt_llm").requests);
    }

    /// A share that is not of the whole card: activations of 10 GB break SGLang's tenth, and take from the pools of others.
    #[test]
    fn who_pays_for_large_activations() {
        let large = Question { activation_gb: 10.0, ..ONE };
        assert!(pool(&large, "sglang").is_short && !pool(&large, "vllm").is_short);
        assert_eq!(pool(&large, "sglang").pool_bytes, pool(&ONE, "sglang").pool_bytes);
        assert!(pool(&large, "vllm").pool_bytes < pool(&ONE, "vllm").pool_bytes);
        let small = Question { card_gb: 16.0, ..ONE };
        assert!(pool(&small, "vllm").pool_bytes < 0.0 && pool(&small, "vllm").requests == 0);
    }
}
