//! The model, by a preset or a configuration of the reader's, and its size in every format.

use super::facts::{FORMATS, Family, Format};
use crate::quantisation::ask::{ask, number};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

const MOST_CONFIG: usize = 16_384;

/// A published model by the numbers of its `config.json`.
#[derive(Debug, PartialEq)]
pub struct Preset {
    pub id: &'static str,
    pub label: &'static str,
    config: &'static str,
}

pub const PRESETS: [Preset; 4] = [
    Preset {
        id: "llama2_7b",
        label: "Llama 2 7B",
        config: r#"{"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"intermediate_size":11008,"vocab_size":32000}"#,
    },
    Preset {
        id: "llama3_8b",
        label: "Llama 3 8B",
        config: r#"{"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256}"#,
    },
    Preset {
        id: "qwen2_7b",
        label: "Qwen2.5 7B",
        config: r#"{"model_type":"qwen2","num_hidden_layers":28,"hidden_size":3584,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"tie_word_embeddings":false}"#,
    },
    Preset {
        id: "llama3_70b",
        label: "Llama 3 70B",
        config: r#"{"model_type":"llama","num_hidden_layers":80,"hidden_size":8192,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256}"#,
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Size,
    Family,
}

impl Sort {
    pub const ALL: [Self; 2] = [Self::Size, Self::Family];

    fn id(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Family => "family",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Size => Text::new("按大小", "by size"),
            Self::Family => Text::new("按来历", "by family"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub preset: &'static Preset,
    /// The reader's own, or empty.
    pub config: String,
    pub sort: Sort,
}

/// A configuration without the blanks that are not inside its words.
pub fn compact(text: &str) -> String {
    let (mut out, mut is_quoted, mut is_escaped) = (String::with_capacity(text.len()), false, false);
    for letter in text.chars() {
        if is_quoted || !letter.is_whitespace() {
            out.push(letter);
        }
        if letter == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    out
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, options: Vec<_>, doc| FieldSpec::new(key, "", FieldKind::Choice { options }, doc);
        let ids = PRESETS.iter().map(|preset| preset.id.into()).collect();
        let sorts = Sort::ALL.iter().map(|sort| sort.id().into()).collect();
        let config = Text::new("自己的 config.json，有它就不看 model", "A config.json of one's own, before model");
        vec![
            choice("model", ids, Text::new("哪个模型", "Which model")).default_value("llama3_8b"),
            FieldSpec::new("config", "", FieldKind::Text { max_len: MOST_CONFIG }, config).optional(),
            choice("sort", sorts, Text::new("怎么排", "The order")).default_value("size"),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let preset = PRESETS.iter().find(|preset| preset.id == args.text("model")).unwrap_or(&PRESETS[1]);
        let sort = Sort::ALL.into_iter().find(|sort| sort.id() == args.text("sort")).unwrap_or(Sort::Size);
        let config = if args.has("config") { compact(args.text("config")) } else { String::new() };
        Ok(Self { preset, config, sort })
    }

    pub fn params(&self) -> Map {
        let mut map: Map = [("model", self.preset.id), ("sort", self.sort.id())]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), Value::from(value)))
            .collect();
        if !self.config.is_empty() {
            map.insert("config".to_owned(), self.config.clone().into());
        }
        map
    }

    fn text(&self) -> &str {
        if self.config.is_empty() { self.preset.config } else { &self.config }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub format: &'static Format,
    pub bytes: f64,
    pub linear_bytes: f64,
    pub bits: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub rows: Vec<Row>,
    pub n_params: f64,
}

impl Answer {
    pub fn new(question: &Question) -> Result<Self, FieldError> {
        let mut rows = Vec::new();
        let mut n_params = 0.0;
        for format in &FORMATS {
            let got = ask("weights", [("config", question.text().into()), ("format", format.id.into())])?;
            n_params = number(&got, "n_params");
            rows.push(Row {
                format,
                bytes: number(&got, "bytes"),
                linear_bytes: number(&got, "linear_bytes"),
                bits: number(&got, "bits_per_param"),
            });
        }
        let family = |row: &Row| match question.sort {
            Sort::Size => 0,
            Sort::Family => match row.format.family {
                Family::Plain => 1,
                Family::Gguf => 2,
                Family::Grouped => 3,
                Family::Other => 4,
            },
        };
        rows.sort_by(|a, b| family(a).cmp(&family(b)).then(b.bytes.total_cmp(&a.bytes)));
        Ok(Self { rows, n_params })
    }
}
