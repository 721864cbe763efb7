//! Bytes of every model by `kv_cache`, the weights by `weights`, and how long the requests may get until the card is full.

use super::models::{PRESETS, Shape};
use super::question::{MOST_TOKENS, OWN, Question};
use vramlab_units::{FieldError, Map, Text, Value};

pub const YOURS: Text = Text::new("你的 config.json", "your config.json");

/// One row of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: &'static str,
    pub name: Text,
    pub shape: Shape,
    pub per_token: f64,
    pub request: f64,
}

/// The followed model on the card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Bytes of one card.
    pub room: f64,
    /// Of the weights, on each card; absent where the parameters are not known.
    pub weights: Option<f64>,
    /// Of the cache, on each card.
    pub cache: f64,
    /// On all cards, with what they hold twice.
    pub all_cards: f64,
    /// Once.
    pub once: f64,
    /// The longest requests that fit; 0 if not one token does.
    pub most_tokens: u64,
}

impl Fit {
    pub fn used(&self) -> f64 {
        self.weights.unwrap_or(0.0) + self.cache
    }

    pub fn fits(&self) -> bool {
        self.used() <= self.room
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub rows: Vec<Row>,
    /// The followed row.
    pub at: usize,
    pub fit: Fit,
}

fn number(map: &Map, key: &str) -> f64 {
    map.get(key).and_then(Value::as_f64).unwrap_or_default()
}

impl Answer {
    pub fn new(question: &Question) -> Result<Self, FieldError> {
        let own = question.own.map(|shape| (OWN, YOURS, shape));
        let presets = PRESETS.iter().map(|one| (one.id, Text::new(one.label, one.label), one.shape));
        let rows = own.into_iter().chain(presets).map(|(id, name, shape)| -> Result<Row, FieldError> {
            let got = vramlab_model::eval("kv_cache", &shape.asked(question.value_bytes, question.tokens, 1, 1))?;
            let (per_token, request) = (number(&got, "bytes_per_token"), number(&got, "bytes_per_request"));
            Ok(Row { id, name, shape, per_token, request })
        });
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let at = rows.iter().position(|row| row.id == question.model).unwrap_or(0);
        let fit = fit(&rows[at].shape, question)?;
        Ok(Self { rows, at, fit })
    }

    pub fn row(&self) -> &Row {
        &self.rows[self.at]
    }
}

/// Bytes of the cache on one card.
fn on_card(shape: &Shape, question: &Question, tokens: u64) -> Result<Map, FieldError> {
    let asked = shape.asked(question.value_bytes, tokens, question.requests, question.n_cards);
    vramlab_model::eval("kv_cache", &asked)
}

fn fit(shape: &Shape, question: &Question) -> Result<Fit, FieldError> {
    let weights = weights(shape, question)?;
    let now = on_card(shape, question, question.tokens)?;
    let room = question.card_gb * 1e9;
    let left = room - weights.unwrap_or(0.0);
    // What is too large to be counted does not fit either.
    let holds = |tokens| on_card(shape, question, tokens).is_ok_and(|got| number(&got, "bytes_per_card") <= left);
    // The longest that fits lies between; the cache never shrinks with the length.
    let (mut low, mut high) = (0, MOST_TOKENS);
    if holds(high) {
        low = high;
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let cache = number(&now, "bytes_per_card");
    Ok(Fit {
        room,
        weights,
        cache,
        all_cards: number(&now, "bytes_all_cards"),
        once: number(&now, "bytes"),
        most_tokens: low,
    })
}

/// The weights on one card, cut evenly.
fn weights(shape: &Shape, question: &Question) -> Result<Option<f64>, FieldError> {
    if shape.n_params == 0 {
        return Ok(None);
    }
    let format = match question.weight_bytes {
        b if b >= 2.0 => "bf16",
        b if b >= 1.0 => "fp8",
        _ => "awq4_g128",
    };
    let asked = [("n_params", Value::from(shape.n_params)), ("format", format.into())];
    let asked = asked.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Ok(Some(number(&vramlab_model::eval("weights", &asked)?, "bytes") / question.n_cards as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::Args;

    fn ask(params: &[(&str, Value)]) -> Answer {
        let given = params.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Answer::new(&Question::from_args(&Args::check(&Question::fields(), &given).unwrap()).unwrap()).unwrap()
    }

    /// The table of brief 16.
    #[test]
    fn bytes_of_a_token_are_the_brief_s() {
        let answer = ask(&[]);
        let of = |id| answer.rows.iter().find(|row| row.id == id).unwrap().per_token;
        for (id, bytes) in [
            ("llama2_7b", 524_288.0),
            ("llama2_13b", 819_200.0),
            ("llama2_70b", 327_680.0),
            ("llama3_70b", 327_680.0),
            ("qwen25_72b", 327_680.0),
            ("llama3_8b", 131_072.0),
            ("mistral_7b", 131_072.0),
            ("llama31_405b", 516_096.0),
            ("qwen25_7b", 57_344.0),
            ("qwen3_8b", 147_456.0),
            ("qwen3_32b", 262_144.0),
            ("qwen3_30b", 98_304.0),
            ("qwen3_235b", 192_512.0),
            ("deepseek_v2", 69_120.0),
            ("deepseek_v3", 70_272.0),
        ] {
            assert_eq!(of(id), bytes, "{id}");
        }
    }

    /// By hand: 80 GB less 13,015,864,320 × 2 B of weights leave room for 65,892 tokens of 819,200 B.
    #[test]
    fn a_card_holds_so_many_tokens() {
        let answer = ask(&[("model", "llama2_13b".into()), ("card_gb", "80".into()), ("requests", 1.into())]);
        let left = 80e9_f64 - 2.0 * 13_015_864_320.0;
        assert_eq!(answer.fit.most_tokens, (left / 819_200.0).floor() as u64);
        let none = ask(&[("model", "llama3_70b".into()), ("card_gb", "24".into())]);
        assert_eq!((none.fit.most_tokens, none.fit.fits()), (0, false));
    }

    /// Brief 16, check question 3: 8 KV heads on 16 cards are held twice.
    #[test]
    fn more_cards_than_heads_hold_them_twice() {
        let fit = ask(&[("n_cards", 16.into()), ("requests", 1.into()), ("tokens", 1.into())]).fit;
        assert_eq!((fit.cache, fit.all_cards, fit.once), (16_384.0, 262_144.0, 131_072.0));
    }
}
