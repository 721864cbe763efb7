//! The description of a model: numbers with their origin, the kind of each layer, number formats, and what is not known.

use crate::dtype::Dtype;
use crate::field::Field;
use crate::format::Format;
use crate::problem::Problem;
use vramlab_units::Localized;

/// Models whose parameters are counted exactly. One family may serve several values of `model_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Llama, Mistral, Mixtral, Qwen 2 and 3, Phi-3: RMSNorm, gated feed-forward, rotary positions.
    Llama,
    /// Gemma 1 to 3: as Llama, with a tied head and other norms.
    Gemma,
    /// DeepSeek V2 and V3: latent attention, shared experts.
    DeepSeek,
    Gpt2,
    NeoX,
}

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It stands in the file under this key; `line` is absent in binary headers.
    Read { key: String, line: Option<usize> },
    /// The reader set it.
    Given { key: String },
    /// It follows from other numbers.
    Derived { from: Localized },
    /// The file leaves it out, and the code of this `model_type` takes this value.
    Default { model_type: String },
    /// Counted over the tensors of the file.
    Tensors,
}

impl Origin {
    pub fn id(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Given { .. } => "given",
            Self::Derived { .. } => "derived",
            Self::Default { .. } => "default",
            Self::Tensors => "tensors",
        }
    }

    /// In words: `read from num_hidden_layers, line 12`.
    pub fn words(&self) -> Localized {
        match self {
            Self::Read { key, line: Some(line) } => {
                Localized::both(format!("读自 {key}，第 {line} 行"), format!("read from {key}, line {line}"))
            }
            Self::Read { key, line: None } => Localized::both(format!("读自 {key}"), format!("read from {key}")),
            Self::Given { key } => Localized::both(format!("你给的：{key}"), format!("given: {key}")),
            Self::Derived { from } => Localized::both(
                format!("推得：{}", from.get(vramlab_units::Lang::Zh)),
                format!("derived: {}", from.get(vramlab_units::Lang::En)),
            ),
            Self::Default { model_type } => Localized::both(
                format!("文件没写，取 {model_type} 的默认值"),
                format!("not in the file; the default of {model_type}"),
            ),
            Self::Tensors => Localized::both("由各张量数出", "counted over the tensors"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub field: Field,
    pub value: u64,
    pub origin: Origin,
}

/// What a layer keeps of each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attention {
    /// Keys and values of every token.
    Full,
    /// Those of the last `window` tokens.
    Sliding { window: u64 },
    /// A state of fixed size instead.
    Recurrent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layer {
    pub attention: Attention,
    pub has_experts: bool,
}

/// Something that the file does not say, and what it is needed for.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Id of the field, or the key in the file.
    pub what: String,
    pub why: Localized,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Architecture {
    pub model_type: String,
    /// Set where the parameters can be counted.
    pub family: Option<Family>,
    pub facts: Vec<Fact>,
    /// One entry a layer; empty where it is not known what the layers are.
    pub layers: Vec<Layer>,
    /// How the weights are stored.
    pub dtype: Option<(Dtype, Origin)>,
    /// Set where a quantisation is declared and understood.
    pub format: Option<Format>,
    pub unknown: Vec<Unknown>,
    /// Remarks that the reader should see: what was resolved how.
    pub notes: Vec<Localized>,
}

impl Architecture {
    pub fn get(&self, field: Field) -> Option<u64> {
        self.fact(field).map(|fact| fact.value)
    }

    pub fn fact(&self, field: Field) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.field == field)
    }

    pub fn flag(&self, field: Field) -> bool {
        self.get(field) == Some(1)
    }

    /// The number, or what to add to the file or the command.
    pub fn need(&self, field: Field) -> Result<u64, Problem> {
        self.get(field).ok_or_else(|| missing(field))
    }

    /// Sets a number that is not there yet; a value out of range is an error at the field.
    pub fn set(&mut self, field: Field, value: u64, origin: Origin) -> Result<(), Problem> {
        let (min, max) = field.range();
        if !(min..=max).contains(&value) {
            return Err(out_of_range(field, field.id(), &value.to_string()));
        }
        if self.fact(field).is_none() {
            self.facts.push(Fact { field, value, origin });
        }
        Ok(())
    }

    pub fn lacks(&mut self, what: impl Into<String>, zh: impl Into<String>, en: impl Into<String>) {
        let what = what.into();
        if !self.unknown.iter().any(|unknown| unknown.what == what) {
            self.unknown.push(Unknown { what, why: Localized::both(zh, en) });
        }
    }

    pub fn note(&mut self, zh: impl Into<String>, en: impl Into<String>) {
        self.notes.push(Localized::both(zh, en));
    }

    /// The format that the weights are stored in, as far as it is known.
    pub fn stored_as(&self) -> Option<Format> {
        self.format.or_else(|| self.dtype.as_ref().map(|(dtype, _)| Format::Plain(*dtype)))
    }
}

/// What is said where a number is missing.
pub fn missing(field: Field) -> Problem {
    let (id, name) = (field.id(), field.name());
    let (min, max) = field.range();
    Problem::new(
        format!("文件没有给出{}（{id}）；请补上：--set {id}=…，{min} 到 {max}", name.zh),
        format!("the file does not say {} ({id}); add it: --set {id}=…, {min} to {max}", name.en),
    )
    .field(id)
}

pub fn out_of_range(field: Field, key: &str, value: &str) -> Problem {
    let (min, max) = field.range();
    if field.is_flag() {
        let (zh, en) = (
            format!("{key} = {value} 不合法；应为 true 或 false"),
            format!("{key} = {value} is not allowed; it must be true or false"),
        );
        return Problem::new(zh, en).field(key);
    }
    Problem::new(
        format!("{key} = {value} 不合法；{}应为 {min} 到 {max} 的整数", field.name().zh),
        format!("{key} = {value} is not allowed; {} must be an integer from {min} to {max}", field.name().en),
    )
    .field(key)
}
