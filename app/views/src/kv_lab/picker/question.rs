//! What the reader sets: which model is followed, formats, card, requests and their length.

use super::models::{PRESETS, Shape};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// The name of the reader's own configuration.
pub const OWN: &str = "own";
pub const MOST_TOKENS: u64 = 1 << 22;
pub const CARDS_GB: [&str; 6] = ["24", "48", "80", "96", "141", "192"];
const BYTES: [&str; 3] = ["2", "1", "0.5"];

/// What the bars show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    Token,
    Request,
}

impl Shows {
    pub fn id(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Request => "request",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Row that is followed: 0 is the reader's own where there is one.
    pub model: String,
    pub own: Option<Shape>,
    pub shows: Shows,
    pub value_bytes: f64,
    pub weight_bytes: f64,
    pub card_gb: f64,
    pub n_cards: u64,
    pub requests: u64,
    pub tokens: u64,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, unit, options: Vec<_>, doc| FieldSpec::new(key, unit, FieldKind::Choice { options }, doc);
        let count = |key, unit, most: u64, zh, en| FieldSpec::int(key, unit, 1, most as i64, Text::new(zh, en));
        let ids = PRESETS.iter().map(|preset| preset.id.into()).chain([OWN.into()]).collect();
        let of = |options: &[&'static str]| options.iter().map(|option| (*option).into()).collect();
        let own = Text::new(
            "自己的模型，如 L32 H8 D128 N8030261248：层、KV 头、维度、参数；R P 是 MLA，W WL 是窗口和它的层数",
            "A model of one's own, as L32 H8 D128 N8030261248: layers, KV heads, size, parameters; R and P of MLA, W and WL a window and its layers",
        );
        vec![
            choice("model", "", ids, Text::new("盯着哪个模型", "The model that is followed"))
                .default_value("llama3_8b"),
            FieldSpec::new("own", "", FieldKind::Text { max_len: 200 }, own).default_value(""),
            choice("shows", "", of(&["token", "request"]), Text::new("横条是什么", "What the bars show"))
                .default_value("token"),
            choice("value_bytes", "B", of(&BYTES), Text::new("缓存里一个值", "A value of the cache"))
                .default_value("2"),
            choice("weight_bytes", "B", of(&BYTES), Text::new("权重里一个值", "A value of the weights"))
                .default_value("2"),
            choice("card_gb", "GB", of(&CARDS_GB), Text::new("一张卡", "A card")).default_value("141"),
            count("n_cards", "1", 64, "张量并行的卡数", "Cards of tensor parallelism").default_value(1),
            count("requests", "1", 4096, "请求", "Requests").default_value(8),
            count("tokens", "token", MOST_TOKENS, "每个请求的 token", "Tokens of a request").default_value(8192),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let text = args.text("own").trim();
        let own = Shape::from_text(text);
        if own.is_none() && !text.is_empty() {
            let reason = "is not as L32 H8 D128 N8030261248: layers, KV heads, size, parameters".to_owned();
            return Err(FieldError::conflict("own", reason));
        }
        if own.is_none() && args.text("model") == OWN {
            return Err(FieldError::conflict("model", "\"own\" needs the field own".to_owned()));
        }
        let bytes = |key| args.text(key).parse().unwrap_or(2.0);
        Ok(Self {
            model: args.text("model").to_owned(),
            own,
            shows: if args.text("shows") == "request" { Shows::Request } else { Shows::Token },
            value_bytes: bytes("value_bytes"),
            weight_bytes: bytes("weight_bytes"),
            card_gb: bytes("card_gb"),
            n_cards: args.uint("n_cards"),
            requests: args.uint("requests"),
            tokens: args.uint("tokens"),
        })
    }

    pub fn params(&self) -> Map {
        let values: [(&str, Value); 9] = [
            ("model", self.model.as_str().into()),
            ("own", self.own.as_ref().map(Shape::text).unwrap_or_default().into()),
            ("shows", self.shows.id().into()),
            ("value_bytes", self.value_bytes.to_string().into()),
            ("weight_bytes", self.weight_bytes.to_string().into()),
            ("card_gb", self.card_gb.to_string().into()),
            ("n_cards", self.n_cards.into()),
            ("requests", self.requests.into()),
            ("tokens", self.tokens.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
