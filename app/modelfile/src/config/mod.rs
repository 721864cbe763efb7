//! A configuration resolved: nested parts, `null`, old names, defaults of the model's code, numbers that follow from others.
//!
//! Read `table.rs` first: which keys a number may have and what holds where it is absent. `layers.rs` finds the kind of
//! each layer, `quant.rs` the storage format. GGUF metadata comes through here too, under the keys that it corresponds to.

mod layers;
mod lookup;
mod quant;
mod table;

pub use lookup::{Entry, Lookup};

use crate::arch::{Architecture, Family, Origin, out_of_range};
use crate::dtype::Dtype;
use crate::field::Field;
use crate::json::{Node, Value};
use crate::problem::{Lines, Problem};
use table::{Otherwise, Row, Spec};
use vramlab_units::Localized;
use vramlab_units::field::did_you_mean;

/// Parts of a configuration that hold the language model of a larger one.
const NESTED: &[&str] = &["text_config", "llm_config", "language_config", "thinker_config"];

/// Resolves a parsed `config.json`.
pub fn resolve(root: &Node, text: &[u8], given: &[(String, String)]) -> Result<Architecture, Problem> {
    if root.map().is_none() {
        return Err(Problem::new("config.json 应是一个 JSON 对象", "a config.json is a JSON object"));
    }
    let mut notes = Vec::new();
    let (path, inner) = nested(root);
    let lines = Lines::of(text);
    let mut lookup = Lookup::default();
    lookup.given(given);
    lookup.map(inner, &lines, &path);
    if !path.is_empty() {
        notes.push(Localized::both(
            format!("语言模型的数字取自 {}", path.trim_end_matches('.')),
            format!("the numbers of the language model are taken from {}", path.trim_end_matches('.')),
        ));
        lookup.map(root, &lines, "");
        if let Some(vision) = root.get("vision_config") {
            lookup.vision(vision, &lines);
        }
    }
    let found = lookup.text("model_type").or_else(|| root.get("model_type").and_then(Node::text).map(str::to_owned));
    let mut arch = from_lookup(&lookup, found.as_deref().unwrap_or_default())?;
    arch.notes.splice(0..0, notes);
    Ok(arch)
}

/// The part with the language model, and the path to it.
fn nested(root: &Node) -> (String, &Node) {
    for key in NESTED {
        if let Some(inner) = root.get(key).filter(|inner| inner.map().is_some()) {
            let (path, deeper) = nested(inner);
            return (format!("{key}.{path}"), deeper);
        }
    }
    (String::new(), root)
}

/// Resolves keys that a file gave, whatever its format.
pub fn from_lookup(lookup: &Lookup, model_type: &str) -> Result<Architecture, Problem> {
    if lookup.n_read() == 0 {
        return Err(Problem::new("里面什么键都没有", "there are no keys in it"));
    }
    let mut arch = Architecture { model_type: shown(model_type), ..Architecture::default() };
    let spec = Spec::of(model_type);
    check_given(lookup)?;
    if spec.is_none() {
        name_unknown(&mut arch, lookup, model_type)?;
    }
    arch.family = spec.map(|spec| spec.family);
    for row in table::ROWS {
        take(&mut arch, lookup, row, spec)?;
    }
    if let Some(spec) = spec {
        // Numbers that no key of a configuration holds.
        let keyless = spec.defaults.iter().filter(|(field, _)| !table::ROWS.iter().any(|row| row.field == *field));
        for (field, value) in keyless {
            arch.set(*field, *value, Origin::Default { model_type: spec.model_type.to_owned() })?;
        }
    }
    for field in Field::ALL {
        lookup_by_id(&mut arch, lookup, *field)?;
    }
    table::derive(&mut arch, lookup, spec)?;
    check_heads(&arch, lookup)?;
    layers::find(&mut arch, lookup, spec)?;
    dtype(&mut arch, lookup);
    quant::find(&mut arch, lookup)?;
    Ok(arch)
}

/// A text of the file as it may be shown.
fn shown(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(60).collect()
}

/// A type that is not in the table: what is known stays, what is not is said.
fn name_unknown(arch: &mut Architecture, lookup: &Lookup, model_type: &str) -> Result<(), Problem> {
    let is_model = table::ROWS.iter().take(3).any(|row| row.keys.iter().any(|key| lookup.find(key).is_some()))
        || lookup.find("architectures").is_some()
        || lookup.has_given();
    if model_type.is_empty() && !is_model {
        return Err(Problem::new(
            "这是 JSON，但不像模型的 config.json：没有 model_type，也没有层数和宽度",
            "this is JSON but does not look like the config.json of a model: no model_type, no layers, no width",
        )
        .field("model_type"));
    }
    let name = if model_type.is_empty() { "model_type" } else { model_type };
    let near = did_you_mean(model_type, Spec::types()).filter(|_| !model_type.is_empty());
    let (zh, en) = near.map_or_else(Default::default, |near| {
        (format!("（最接近的是 “{near}”）"), format!(" (the nearest is \"{near}\")"))
    });
    let name = shown(name);
    arch.lacks(
        "model_type",
        format!("“{name}” 不在能精确计数的模型里{zh}：不套用别的公式"),
        format!(
            "\"{name}\" is not among the models that are counted exactly{en}; no other formula is put in its place"
        ),
    );
    Ok(())
}

/// Settings of the reader that no row and no field knows.
fn check_given(lookup: &Lookup) -> Result<(), Problem> {
    let known = || {
        let rows = table::ROWS.iter().flat_map(|row| row.keys.iter().copied());
        rows.chain(Field::ALL.iter().map(|field| field.id())).chain([
            "model_type",
            "layer_types",
            "torch_dtype",
            "dtype",
        ])
    };
    for key in lookup.given_keys() {
        if !known().any(|known| known == key) {
            let hint = did_you_mean(key, known());
            let (zh, en) = hint.map_or_else(Default::default, |hint| {
                (format!("；是不是 “{hint}”？"), format!("; did you mean \"{hint}\"?"))
            });
            return Err(Problem::new(format!("没有叫 “{key}” 的字段{zh}"), format!("there is no field \"{key}\"{en}"))
                .field(key));
        }
    }
    Ok(())
}

/// One row: the first of its keys that is there, else the type's default.
fn take(arch: &mut Architecture, lookup: &Lookup, row: &Row, spec: Option<&Spec>) -> Result<(), Problem> {
    for key in row.keys {
        let Some(entry) = lookup.find(key) else { continue };
        match number(arch, row.field, entry)? {
            Some(value) => return arch.set(row.field, value, entry.origin.clone()),
            None => continue,
        }
    }
    if let Some(spec) = spec
        && let Some(Otherwise::Default(value)) = spec.otherwise(row.field)
        && !row.keys.iter().any(|key| lookup.is_null(key))
    {
        return arch.set(row.field, value, Origin::Default { model_type: spec.model_type.to_owned() });
    }
    Ok(())
}

/// A number that the reader set by the field's own id.
fn lookup_by_id(arch: &mut Architecture, lookup: &Lookup, field: Field) -> Result<(), Problem> {
    let Some(entry) = lookup.find_given(field.id()) else { return Ok(()) };
    if let Some(value) = number(arch, field, entry)? {
        arch.facts.retain(|fact| fact.field != field);
        arch.set(field, value, entry.origin.clone())?;
    }
    Ok(())
}

/// The value of a key, checked against the field's range. A list of different values is a mixed model: said, not used.
fn number(arch: &mut Architecture, field: Field, entry: &Entry) -> Result<Option<u64>, Problem> {
    let bad = |node: &Node| Err(entry.at(out_of_range(field, &entry.key, &node.shown())));
    match &entry.node.value {
        Value::Bool(flag) if field.is_flag() => Ok(Some(u64::from(*flag))),
        Value::Number(_) => match entry.node.uint() {
            Some(value) if (field.range().0..=field.range().1).contains(&value) => Ok(Some(value)),
            // Some writers say "none" with a zero.
            Some(0) if [Field::Experts, Field::Window, Field::KvHeads].contains(&field) && zero_is_none(field) => {
                Ok(None)
            }
            _ => bad(&entry.node),
        },
        Value::List(items) if !items.is_empty() && items.iter().all(|item| item.uint().is_some()) => {
            let first = items[0].uint().unwrap_or_default();
            if items.iter().any(|item| item.uint() != Some(first)) {
                let (key, name) = (&entry.key, field.name());
                arch.lacks(
                    field.id(),
                    format!("{key} 每层不同，{}没有单一的值", name.zh),
                    format!("{key} differs from layer to layer; there is no one value for {}", name.en),
                );
                arch.family = None;
                return Ok(None);
            }
            if (field.range().0..=field.range().1).contains(&first) { Ok(Some(first)) } else { bad(&items[0]) }
        }
        _ => bad(&entry.node),
    }
}

/// `num_experts = 0` means a dense model, `sliding_window = 0` none; no model has zero KV heads.
fn zero_is_none(field: Field) -> bool {
    field != Field::KvHeads
}

/// Query heads share key heads in equal groups.
fn check_heads(arch: &Architecture, lookup: &Lookup) -> Result<(), Problem> {
    let (Some(heads), Some(kv)) = (arch.get(Field::Heads), arch.get(Field::KvHeads)) else { return Ok(()) };
    if kv <= heads && heads % kv == 0 {
        return Ok(());
    }
    let key = if let Some(Origin::Read { key, .. }) = arch.fact(Field::KvHeads).map(|fact| &fact.origin) {
        key.clone()
    } else {
        "num_key_value_heads".to_owned()
    };
    let problem = Problem::new(
        format!("{key} = {kv} 不合法：{heads} 个注意力头分不成 {kv} 组；KV 头数应能整除注意力头数"),
        format!("{key} = {kv} is not allowed: {heads} attention heads do not make {kv} equal groups"),
    )
    .field(&key);
    Err(match lookup.find(&key) {
        Some(entry) => entry.at(problem),
        None => problem,
    })
}

/// The number format of the weights, where the file names it.
fn dtype(arch: &mut Architecture, lookup: &Lookup) {
    for key in ["torch_dtype", "dtype"] {
        let Some(entry) = lookup.find(key) else { continue };
        match entry.node.text().and_then(Dtype::from_name) {
            Some(dtype) => arch.dtype = Some((dtype, entry.origin.clone())),
            None => {
                let value = entry.node.shown();
                arch.lacks(
                    "dtype",
                    format!("不认识 {key} = {value}；用 --weights 指定权重的格式"),
                    format!("{key} = {value} is not known; name the format of the weights by --weights"),
                );
            }
        }
        return;
    }
    arch.lacks(
        "dtype",
        "文件没有写权重的格式；用 --weights 指定",
        "the file does not say how the weights are stored; name it by --weights",
    );
}

/// Whether latent attention is meant, although its rank is missing.
pub(crate) fn is_latent(arch: &Architecture) -> bool {
    arch.family == Some(Family::DeepSeek)
        || [Field::QRank, Field::NopeDim, Field::RopeDim].iter().any(|field| arch.get(*field).is_some())
}
