//! The answer as JSON, and what each of its keys means.

use serde_json::{Value, json};
use vramlab_fit::{Answer, Limit, Plan, Work};
use vramlab_modelfile::kv::Cache;
use vramlab_modelfile::{Model, parts};
use vramlab_units::{Lang, Localized, Text};

pub const SCHEMA: u32 = 1;

pub fn json(model: &Model, answer: &Answer, name: &str) -> Value {
    let ask = &answer.ask;
    json!({
        "schema": SCHEMA,
        "file": name,
        "model": model_json(model),
        "gpu": {
            "name": ask.card.name,
            "count": ask.n_cards,
            "total_bytes": ask.card.total_bytes,
            "source": ask.card.source,
        },
        "scenario": ask.scenario.id(),
        "work": work(&ask.work),
        "fits": answer.fits.id(),
        "capacity_bytes": answer.capacity,
        "total_bytes": answer.total(),
        "free_bytes": answer.free(),
        "moment": answer.sums.moment.as_ref().map(text),
        "items": answer.sums.items.iter().map(|item| json!({
            "owner": item.owner.id(),
            "bytes": item.bytes,
            "certainty": item.certainty.id(),
            "how": text(&item.how),
        })).collect::<Vec<_>>(),
        "missing": answer.sums.unknown.iter().map(|(owner, why)| json!({ "owner": owner.id(), "why": text(why) }))
            .collect::<Vec<_>>(),
        "warnings": answer.sums.warnings.iter().map(text).collect::<Vec<_>>(),
        "limit": limit(answer.limit),
        "levers": answer.levers.iter().map(|tried| json!({
            "id": tried.lever.id,
            "title": both(tried.lever.title),
            "saves_bytes": tried.saves,
            "total_bytes": tried.total,
            "fits": tried.fits.id(),
            "cost": text(&tried.cost),
            "needs_check": tried.lever.needs_check,
        })).collect::<Vec<_>>(),
        "plan": answer.plan.as_ref().map(plan),
        "instead": answer.instead.as_ref().map(plan),
        "enough_cards": answer.enough.as_ref().map(|enough| json!({
            "count": enough.ask.n_cards,
            "total_bytes": enough.total,
            "with": enough.with.iter().map(|lever| lever.id).collect::<Vec<_>>(),
        })),
        "notes": answer.sums.notes.iter().map(text).collect::<Vec<_>>(),
    })
}

fn text(text: &Localized) -> Value {
    json!({ "zh": text.get(Lang::Zh), "en": text.get(Lang::En) })
}

fn both(text: Text) -> Value {
    json!({ "zh": text.zh, "en": text.en })
}

fn number(value: u128) -> Value {
    u64::try_from(value).map_or(Value::Null, Value::from)
}

fn model_json(model: &Model) -> Value {
    let arch = &model.arch;
    let list = parts::parts(arch).ok();
    let cache = Cache::of(arch).ok();
    let kv = |serve: vramlab_modelfile::Dtype| cache.as_ref().map(|cache| number(cache.bytes_per_token(serve)));
    json!({
        "source": model.source.id(),
        "type": arch.model_type,
        "n_params": super::words::n_params(model).map(number),
        "n_params_active": list.as_ref().map(|list| number(parts::n_active(list, arch))),
        "stored_as": arch.stored_as().map(|format| format.id()),
        "kv_bytes_per_token_16bit": kv(vramlab_modelfile::Dtype::BF16),
        "fields": arch.facts.iter().map(|fact| json!({
            "field": fact.field.id(),
            "value": fact.value,
            "origin": fact.origin.id(),
            "from": text(&fact.origin.words()),
        })).collect::<Vec<_>>(),
        "parts": list.map(|list| parts::Role::ALL.iter().filter_map(|role| {
            let n: u128 = list.iter().filter(|part| part.role == *role).map(parts::Part::params).sum();
            (n > 0).then(|| json!({ "role": role.id(), "n_params": number(n) }))
        }).collect::<Vec<_>>()),
        "tensors": model.tensors.as_ref().map(|tensors| json!({
            "count": tensors.n_tensors,
            "bytes": number(tensors.n_bytes),
            "unknown": tensors.n_unknown,
            "by_dtype": tensors.by_dtype.iter().map(|row| json!({
                "dtype": row.name, "count": row.n_tensors, "bytes": number(row.n_bytes),
            })).collect::<Vec<_>>(),
        })),
        "unknown": arch.unknown.iter().map(|unknown| json!({ "field": unknown.what, "why": text(&unknown.why) }))
            .collect::<Vec<_>>(),
        "notes": arch.notes.iter().map(text).collect::<Vec<_>>(),
    })
}

fn work(work: &Work) -> Value {
    match work {
        Work::Serve(serve) => json!({
            "kind": "serve",
            "context": serve.context,
            "requests": serve.requests,
            "weights": serve.weights.map(|format| format.id()),
            "kv": serve.kv.name,
            "chunk": serve.chunk,
            "offload_eighths": serve.offload_eighths,
        }),
        Work::Train(train) => json!({
            "kind": "train",
            "batch": train.batch,
            "seq_len": train.seq_len,
            "precision": train.precision.id(),
            "optimizer": train.optimizer.id(),
            "recompute": train.recompute,
            "loss_chunks": train.loss_chunks,
            "accumulation": train.accumulation,
            "lora": train.lora,
            "nf4": train.nf4,
            "offload": train.offload,
            "math": train.math,
            "fused": train.fused,
            "zero": train.zero,
        }),
    }
}

fn limit(limit: Option<Limit>) -> Value {
    match limit {
        None => Value::Null,
        Some(Limit::Serve { requests, context, room, .. }) => {
            json!({ "requests": requests, "context": context, "context_in_memory": room })
        }
        Some(Limit::Train { batch }) => json!({ "batch": batch }),
    }
}

fn plan(plan: &Plan) -> Value {
    json!({
        "steps": plan.steps.iter().map(|step| json!({
            "id": step.lever.id,
            "title": both(step.lever.title),
            "times": step.times,
            "cost": text(&step.cost),
        })).collect::<Vec<_>>(),
        "work": work(&plan.ask.work),
        "total_bytes": plan.total,
        "extra_time_percent": plan.is_time_known().then_some(plan.percent),
        "quality_checks": plan.n_checks,
        "price": plan.price,
        "fits": plan.fits.id(),
    })
}

/// Key, unit, meaning. A path names a key inside; `[]` is each of a list.
const KEYS: &[(&str, &str, Text)] = &[
    ("schema", "1", Text::new("这份格式的版本", "version of this format")),
    ("file", "", Text::new("读的文件", "the file that was read")),
    (
        "model.source",
        "",
        Text::new("config、safetensors、safetensors_index 或 gguf", "config, safetensors, safetensors_index or gguf"),
    ),
    ("model.type", "", Text::new("模型类型，按 config.json 的叫法", "the model's type, as a config.json calls it")),
    ("model.n_params", "1", Text::new("参数量；数不出时为 null", "parameters; null where they cannot be counted")),
    ("model.n_params_active", "1", Text::new("一个 token 经过的参数", "parameters that one token passes through")),
    ("model.stored_as", "", Text::new("权重的存储格式", "how the weights are stored")),
    (
        "model.kv_bytes_per_token_16bit",
        "B",
        Text::new("每 token 的 KV，16 位，窗口未满时", "cache of a token in 16 bits while no window is full"),
    ),
    (
        "model.fields[]",
        "",
        Text::new(
            "每个数字：field、value、origin（read、given、derived、default、tensors）、from",
            "each number: field, value, origin (read, given, derived, default, tensors), from",
        ),
    ),
    ("model.parts[]", "", Text::new("按用途的参数量：role、n_params", "parameters by role: role, n_params")),
    (
        "model.tensors",
        "",
        Text::new(
            "文件里的张量：count、bytes、unknown、by_dtype[]",
            "tensors of the file: count, bytes, unknown, by_dtype[]",
        ),
    ),
    ("model.unknown[]", "", Text::new("文件没有说的：field、why", "what the file does not say: field, why")),
    ("model.notes[]", "", Text::new("怎样读到的", "how it was read")),
    ("gpu.name", "", Text::new("卡的名字", "name of the card")),
    ("gpu.count", "1", Text::new("几张卡共用一份模型", "cards that share one copy of the model")),
    ("gpu.total_bytes", "B", Text::new("一张卡的显存", "memory of one card")),
    ("gpu.source", "", Text::new("显存大小的出处", "where that size comes from")),
    ("scenario", "", Text::new("online、batch 或 edge", "online, batch or edge")),
    (
        "work",
        "",
        Text::new(
            "问的是什么：kind（serve、train）和各选项的值",
            "what was asked: kind (serve, train) and the options' values",
        ),
    ),
    ("fits", "", Text::new("yes、no 或 unknown", "yes, no or unknown")),
    ("capacity_bytes", "B", Text::new("一张卡可用的字节", "bytes of one card that may be used")),
    ("total_bytes", "B", Text::new("一张卡上要的字节", "bytes wanted on one card")),
    ("free_bytes", "B", Text::new("剩余；负数是超出", "what is left; negative where it is too much")),
    ("moment", "", Text::new("训练中最满的时刻", "the fullest moment of a training step")),
    (
        "items[]",
        "",
        Text::new(
            "每一项：owner、bytes、certainty（exact、tape、formula、measured、assumed）、how",
            "each item: owner, bytes, certainty (exact, tape, formula, measured, assumed), how",
        ),
    ),
    ("missing[]", "", Text::new("算不出的项：owner、why", "items that cannot be computed: owner, why")),
    (
        "warnings[]",
        "",
        Text::new(
            "装得下也有问题的地方：长度超过模型的位置数",
            "what is doubtful even where it fits: more tokens than positions",
        ),
    ),
    (
        "limit",
        "",
        Text::new(
            "推理：requests、context（不超过模型的位置数）、context_in_memory；训练：batch",
            "serving: requests, context (no more than the model's positions), context_in_memory; training: batch",
        ),
    ),
    (
        "levers[]",
        "",
        Text::new(
            "每个可改之处：id、title、saves_bytes、total_bytes、fits、cost、needs_check；省得多的在前",
            "each change: id, title, saves_bytes, total_bytes, fits, cost, needs_check; largest saving first",
        ),
    ),
    (
        "plan.steps[]",
        "",
        Text::new("方案的每一步：id、title、times、cost", "each step of the plan: id, title, times, cost"),
    ),
    ("plan.work", "", Text::new("改完之后的选项", "the options after the change")),
    ("plan.total_bytes", "B", Text::new("改完之后要的字节", "bytes wanted after the change")),
    (
        "plan.extra_time_percent",
        "%",
        Text::new(
            "估计多花的时间；只给了卡的大小、又要卸载时为 null",
            "extra time, estimated; null where it offloads from a card of which only the size is given",
        ),
    ),
    ("plan.quality_checks", "1", Text::new("要复核质量的改动数", "changes that ask for a quality check")),
    (
        "plan.price",
        "1",
        Text::new(
            "多花的时间（%），加上每处复核的分数：online 30、batch 120、edge 10",
            "extra time in %, and points for each check: 30 online, 120 batch, 10 edge",
        ),
    ),
    ("plan.fits", "", Text::new("yes 或 unknown", "yes or unknown")),
    (
        "instead",
        "",
        Text::new(
            "没有方案，或方案要花三倍以上的时间时：只训练适配器的方案，键同 plan",
            "where no plan fits, or only one that takes over three times as long: adapters only, keys as in plan",
        ),
    ),
    (
        "enough_cards",
        "",
        Text::new(
            "同样情形下，要几张卡：count、total_bytes、with（先要做的无损改动）",
            "in the same case, cards that hold it: count, total_bytes, with (lossless changes that come first)",
        ),
    ),
    ("notes[]", "", Text::new("没有算进来的", "what is not counted")),
];

pub fn schema() -> Value {
    json!({
        "schema": SCHEMA,
        "command": "fit",
        "exit": { "0": "fits", "1": "does not fit, or cannot be told", "2": "wrong usage or unreadable file", "3": "--gpu here without a GPU" },
        "keys": KEYS.iter().map(|(key, unit, doc)| json!({ "key": key, "unit": unit, "doc": both(*doc) })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_fit::{Ask, Card, Scenario, Serve, Train};

    fn answer(work: Work) -> (Model, Answer) {
        let text = include_bytes!("../../../../../tests/data/configs/llama-3-8b.json");
        let card = Card {
            name: "card".into(),
            total_bytes: 16 << 30,
            source: String::new(),
            gb_per_s: None,
            bf16_tflop_per_s: None,
        };
        let ask = Ask { card, n_cards: 1, budget: None, scenario: Scenario::Online, work };
        super::super::asked(text, &ask).expect("a config of the tests")
    }

    /// Every key of an answer is described, and every described key is there.
    #[test]
    fn keys_and_description_are_the_same() {
        let train = Train { recompute: true, ..Train::default() };
        let serve = Serve { context: 1024, requests: 1, chunk: 512, ..Serve::default() };
        for work in [Work::Serve(serve), Work::Train(train)] {
            let (model, answer) = answer(work);
            let value = json(&model, &answer, "x");
            for (key, ..) in KEYS.iter().filter(|(key, ..)| !key.starts_with("plan.") || answer.plan.is_some()) {
                let found = key.trim_end_matches("[]").split('.').try_fold(&value, |value, part| value.get(part));
                assert!(found.is_some(), "{key} is described and absent");
            }
            let known = |path: &str| KEYS.iter().any(|(key, ..)| key.trim_end_matches("[]") == path);
            for (key, inner) in value.as_object().unwrap() {
                let is_group = KEYS.iter().any(|(known, ..)| known.starts_with(&format!("{key}.")));
                assert!(known(key) || is_group, "{key} is not described");
                for inner in inner.as_object().filter(|_| is_group).into_iter().flatten() {
                    assert!(known(&format!("{key}.{}", inner.0)), "{key}.{} is not described", inner.0);
                }
            }
        }
    }
}
