//! The six ways of attention by the model `kv_cache`, right and with the mistake; its factors by `kv_mistakes`.

use super::question::{Mistake, Question};
use vramlab_units::{FieldError, Map, Text, Value};

/// A way to keep keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Mha,
    Gqa,
    Mqa,
    Mla,
    Window,
    Hybrid,
}

impl Way {
    pub const ALL: [Self; 6] = [Self::Mha, Self::Gqa, Self::Mqa, Self::Mla, Self::Window, Self::Hybrid];

    pub fn name(self) -> Text {
        match self {
            Self::Mha => Text::new("MHA", "MHA"),
            Self::Gqa => Text::new("GQA", "GQA"),
            Self::Mqa => Text::new("MQA", "MQA"),
            Self::Mla => Text::new("MLA", "MLA"),
            Self::Window => Text::new("滑动窗口", "window"),
            Self::Hybrid => Text::new("混合", "hybrid"),
        }
    }
}

/// What one way keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    pub way: Way,
    pub per_token: f64,
    pub request: f64,
    /// The request as the mistake has it.
    pub wrong: f64,
}

impl Kept {
    pub fn factor(&self) -> f64 {
        self.wrong / self.request.max(1.0)
    }
}

/// The factors of `kv_mistakes`, for grouped heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    pub q_heads: f64,
    pub context: f64,
    pub gb: f64,
    pub params: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub kept: Vec<Kept>,
    pub factors: Factors,
}

fn number(map: &Map, key: &str) -> f64 {
    map.get(key).and_then(Value::as_f64).unwrap_or_default()
}

fn set(map: &mut Map, key: &str, value: impl Into<Value>) {
    map.insert(key.to_owned(), value.into());
}

/// The question that `kv_cache` is asked for a way.
fn asked(question: &Question, way: Way, has_mistake: bool, tokens: u64) -> Map {
    let shape = &question.shape;
    let mut map = Map::new();
    set(&mut map, "layers", if way == Way::Hybrid { shape.attention_layers } else { shape.layers });
    set(&mut map, "bytes_per_value", question.value_bytes);
    set(&mut map, "tokens", tokens);
    let takes_queries = has_mistake && question.mistake == Mistake::QueryHeads;
    if way == Way::Mla && !takes_queries {
        set(&mut map, "kv_rank", shape.kv_rank);
        set(&mut map, "rope_dim", shape.rope_dim);
        return map;
    }
    let heads = match way {
        Way::Mha => shape.q_heads,
        _ if takes_queries => shape.q_heads,
        Way::Mqa => 1,
        _ => shape.kv_heads,
    };
    set(&mut map, "kv_heads", heads);
    set(&mut map, "head_dim", shape.head_dim);
    if way == Way::Window {
        set(&mut map, "window", shape.window);
        set(&mut map, "window_layers", shape.window_layers);
    }
    map
}

impl Answer {
    pub fn new(question: &Question) -> Result<Self, FieldError> {
        let shape = &question.shape;
        if shape.attention_layers > shape.layers {
            let reason = format!("{} of {} layers cannot attend", shape.attention_layers, shape.layers);
            return Err(FieldError::conflict("attention_layers", reason));
        }
        let factors = factors(question)?;
        let ask =
            |way, has_mistake, tokens| vramlab_model::eval("kv_cache", &asked(question, way, has_mistake, tokens));
        let kept = Way::ALL.map(|way| -> Result<Kept, FieldError> {
            let right = ask(way, false, question.tokens)?;
            let request = number(&right, "bytes_per_request");
            let wrong = match question.mistake {
                Mistake::None | Mistake::ActiveParams => request,
                Mistake::QueryHeads => number(&ask(way, true, question.tokens)?, "bytes_per_request"),
                Mistake::FullContext => number(&ask(way, true, question.context)?, "bytes_per_request"),
                Mistake::Gb => request / factors.gb,
            };
            Ok(Kept { way, per_token: number(&right, "bytes_per_token"), request, wrong })
        });
        Ok(Self { kept: kept.into_iter().collect::<Result<_, _>>()?, factors })
    }

    pub fn of(&self, way: Way) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.way == way)
    }
}

fn factors(question: &Question) -> Result<Factors, FieldError> {
    let shape = &question.shape;
    let mut map = Map::new();
    for (key, value) in [
        ("layers", shape.layers),
        ("q_heads", shape.q_heads),
        ("kv_heads", shape.kv_heads),
        ("head_dim", shape.head_dim),
        ("tokens", question.tokens),
        ("context", question.context),
    ] {
        set(&mut map, key, value);
    }
    set(&mut map, "bytes_per_value", question.value_bytes);
    set(&mut map, "total_params_b", question.total_b);
    set(&mut map, "active_params_b", question.active_b);
    let got = vramlab_model::eval("kv_mistakes", &map)?;
    Ok(Factors {
        q_heads: number(&got, "q_heads_factor"),
        context: number(&got, "context_factor"),
        gb: number(&got, "gb_factor"),
        params: number(&got, "params_factor"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::question::PRESETS;
    use super::*;

    fn answer(id: &str, mistake: Mistake) -> Answer {
        let preset = PRESETS.iter().find(|preset| preset.id == id).unwrap();
        Answer::new(&Question { mistake, ..Question::of(preset) }).unwrap()
    }

    /// The table of brief 16: bytes a token of published models, and MLA's 576 values a layer.
    #[test]
    fn published_sizes() {
        let llama = answer("llama3_8b", Mistake::None);
        let per = |answer: &Answer, way| answer.of(way).unwrap().per_token;
        assert_eq!(
            (per(&llama, Way::Mha), per(&llama, Way::Gqa), per(&llama, Way::Mqa)),
            (524_288.0, 131_072.0, 16_384.0)
        );
        assert_eq!(per(&llama, Way::Mla), 32.0 * 576.0 * 2.0);
        assert_eq!(per(&answer("llama3_70b", Mistake::None), Way::Gqa), 327_680.0);
        assert_eq!(per(&answer("opt_13b", Mistake::None), Way::Mha), 819_200.0);
        // 5 layers keep all 4096 tokens, 27 keep 1024 of them.
        let window = llama.of(Way::Window).unwrap();
        assert_eq!(window.request, 4096.0 * (5.0 * 4096.0 + 27.0 * 1024.0));
        assert_eq!(llama.of(Way::Hybrid).unwrap().request, llama.of(Way::Gqa).unwrap().request / 4.0);
    }

    /// The factor that is drawn is the factor that `kv_mistakes` names.
    #[test]
    fn mistakes_have_their_factor() {
        let factor = |mistake| {
            let answer = answer("llama3_8b", mistake);
            (answer.of(Way::Gqa).unwrap().factor(), answer.factors)
        };
        let (drawn, named) = factor(Mistake::QueryHeads);
        assert_eq!((drawn, named.q_heads), (4.0, 4.0));
        let (drawn, named) = factor(Mistake::FullContext);
        assert_eq!((drawn, named.context), (8.0, 8.0));
        let (drawn, named) = factor(Mistake::Gb);
        assert!((drawn * named.gb - 1.0).abs() < 1e-12 && (named.gb - 1.073_741_824).abs() < 1e-12);
        assert!((answer("mixtral", Mistake::ActiveParams).factors.params - 46.7 / 12.9).abs() < 1e-9);
        // A full context takes no more than its window where there is one.
        let window = *answer("llama3_8b", Mistake::FullContext).of(Way::Window).unwrap();
        assert!(window.factor() < 8.0 && window.factor() > 1.0);
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        let mut question = Question::of(&PRESETS[0]);
        question.shape.attention_layers = 33;
        assert_eq!(Answer::new(&question).unwrap_err().field(), "attention_layers");
        question.shape.attention_layers = 8;
        question.shape.window_layers = 33;
        assert_eq!(Answer::new(&question).unwrap_err().field(), "window_layers");
    }
}
