//! What a server holds on one card: weights, cache, the largest prefill step, context.
//!
//! Activations are a closed formula over the tensors that are alive together in one layer of a prefill step; engines add
//! graphs and workspaces of their own, which are not counted and said so.

use crate::ask::{Ask, Serve};
use crate::items::{self, Certainty, Item, Owner, Sums};
use crate::weights;
use vramlab_modelfile::arch::Family;
use vramlab_modelfile::kv::Cache;
use vramlab_modelfile::{Architecture, Field, Model, Problem};
use vramlab_units::Localized;

pub fn sums(model: &Model, ask: &Ask, serve: &Serve) -> Result<Sums, Problem> {
    let mut sums = Sums::default();
    let n = u128::from(ask.n_cards);
    check_heads(&model.arch, ask.n_cards)?;
    match weights::of(model, serve.weights) {
        Ok(weights) => {
            let on_card = weights.bytes * u128::from(8 - serve.offload_eighths.min(8)) / 8;
            let (mut zh, mut en) = (both(&weights.how).0, both(&weights.how).1);
            if n > 1 {
                (zh, en) = (format!("{zh}，分给 {n} 张卡"), format!("{en}, shared by {n} cards"));
            }
            if serve.offload_eighths > 0 {
                let eighths = serve.offload_eighths;
                (zh, en) =
                    (format!("{zh}，{eighths}/8 放在主机内存"), format!("{en}, {eighths}/8 of them in host memory"));
            }
            sums.items.push(Item::new(Owner::Weights, crate::bytes(on_card.div_ceil(n))?, weights.certainty, zh, en));
        }
        Err(problem) => sums.unknown.push((Owner::Weights, problem.text)),
    }
    match Cache::of(&model.arch) {
        Ok(cache) => sums.items.push(kv(&cache, ask.n_cards, serve)?),
        Err(problem) => sums.unknown.push((Owner::Kv, problem.text)),
    }
    let chunk = u128::from(serve.chunk).min(u128::from(serve.context) * u128::from(serve.requests));
    match activations(&model.arch, serve, chunk, n) {
        Ok(bytes) => {
            let zh = format!("一步预填充 {chunk} 个 token：一层里同时活着的张量，加上 {} 行 logits", serve.requests);
            let rows = if serve.requests == 1 { "row" } else { "rows" };
            let en = format!(
                "a prefill step of {chunk} tokens: the tensors of one layer that live together, and {} {rows} of logits",
                serve.requests
            );
            sums.items.push(Item::new(Owner::Activations, crate::bytes(bytes)?, Certainty::Formula, zh, en));
        }
        Err(problem) => sums.unknown.push((Owner::Activations, problem.text)),
    }
    sums.items.push(items::context());
    let kept = ask.budget.is_none().then(|| ask.card.total_bytes / 100 * (100 - ask.scenario.utilisation()));
    if let Some(kept) = kept {
        let percent = 100 - ask.scenario.utilisation();
        sums.items.push(Item::new(
            Owner::Reserve,
            kept,
            Certainty::Assumed,
            format!("留 {percent} % 不用，推理引擎通常如此"),
            format!("{percent} % left alone, as serving engines do"),
        ));
    }
    notes(model, serve, &mut sums);
    Ok(sums)
}

fn both(text: &Localized) -> (String, String) {
    (text.get(vramlab_units::Lang::Zh).to_owned(), text.get(vramlab_units::Lang::En).to_owned())
}

fn kv(cache: &Cache, n_cards: u64, serve: &Serve) -> Result<Item, Problem> {
    let (part, whole) = cache.share(n_cards);
    let one = cache.bytes(serve.context, serve.kv);
    let all = one.saturating_mul(serve.requests.into()).saturating_mul(part.into()).div_ceil(whole.into());
    let token = cache.bytes_per_token(serve.kv);
    let (context, requests, name) = (serve.context, serve.requests, serve.kv.name);
    let kind = if cache.is_latent { ("（MLA 潜向量）", " (one latent vector, MLA)") } else { ("", "") };
    let grown = cache.growth(serve.kv);
    let window = if grown < token {
        (format!("，窗口满后每 token 只添 {grown} B"), format!("; {grown} B once the windows are full"))
    } else {
        Default::default()
    };
    let zh = format!("{requests} 个请求 × {context} token，{name}：每 token {token} B{}{}", kind.0, window.0);
    let s = if requests == 1 { "" } else { "s" };
    let en = format!("{requests} request{s} × {context} tokens, {name}: {token} B a token{}{}", kind.1, window.1);
    Ok(Item::new(Owner::Kv, crate::bytes(all)?, Certainty::Exact, zh, en))
}

/// Tensor parallelism divides the heads.
fn check_heads(arch: &Architecture, n: u64) -> Result<(), Problem> {
    match arch.get(Field::Heads) {
        Some(heads) if heads % n != 0 => Err(Problem::new(
            format!("{heads} 个注意力头分不给 {n} 张卡；--gpus 应能整除头数"),
            format!("{heads} attention heads cannot be shared by {n} cards; --gpus must divide them"),
        )
        .field("gpus")),
        _ => Ok(()),
    }
}

/// Values of one token that live together: residual stream and branch, which are whole on every card, and the wider of
/// attention and feed-forward, which the cards share.
fn activations(arch: &Architecture, serve: &Serve, chunk: u128, n_cards: u128) -> Result<u128, Problem> {
    let hidden = u128::from(arch.need(Field::Hidden)?);
    let vocab = u128::from(arch.need(Field::Vocab)?);
    let heads = u128::from(arch.need(Field::Heads)?);
    let size = u128::from(arch.get(Field::HeadDim).or(arch.get(Field::VHeadDim)).unwrap_or(128));
    let kv = u128::from(arch.get(Field::KvHeads).unwrap_or(1));
    let attention = heads * size + 2 * kv * size + heads * size;
    let width = inner_width(arch)?;
    let is_gated = !matches!(arch.family, Some(Family::Gpt2 | Family::NeoX));
    let feed = width * if is_gated { 3 } else { 2 };
    let per_token = (3 * hidden + attention.max(feed).div_ceil(n_cards)).saturating_mul(2);
    let logits = u128::from(serve.requests) * vocab * (2 + 4);
    Ok(per_token.saturating_mul(chunk).saturating_add(logits))
}

/// Width of the feed-forward part that one token sees.
pub fn inner_width(arch: &Architecture) -> Result<u128, Problem> {
    let dense = arch.get(Field::Intermediate).map(u128::from);
    let experts = arch.get(Field::ExpertIntermediate).map(|width| {
        let shared = arch.get(Field::SharedIntermediate).unwrap_or(0);
        u128::from(width) * u128::from(arch.get(Field::ActiveExperts).unwrap_or(1)) + u128::from(shared)
    });
    match (dense, experts) {
        (Some(dense), Some(experts)) if arch.layers.iter().any(|layer| !layer.has_experts) => Ok(dense.max(experts)),
        (_, Some(experts)) => Ok(experts),
        (Some(dense), None) => Ok(dense),
        (None, None) => arch.need(Field::Intermediate).map(u128::from),
    }
}

fn notes(model: &Model, serve: &Serve, sums: &mut Sums) {
    items::warn_of_length(model, serve.context, sums);
    sums.notes.push(Localized::both(
        "没有算：CUDA Graph 和引擎自己的缓冲区；以引擎的启动日志为准",
        "not counted: CUDA graphs and the engine's own buffers; its start-up log tells",
    ));
}

/// Requests of this length, and tokens of one request, that the rest of the card has room for.
pub fn limits(model: &Model, ask: &Ask, serve: &Serve, room: u64) -> Option<(u64, u64)> {
    let cache = Cache::of(&model.arch).ok()?;
    let (part, whole) = cache.share(ask.n_cards);
    let of = |tokens: u64| cache.bytes(tokens, serve.kv).saturating_mul(part.into()).div_ceil(whole.into());
    let requests = u128::from(room).checked_div(of(serve.context))?;
    // Bytes grow with tokens, so the longest that fits is found by halving.
    let (mut low, mut high) = (0_u64, 1_u64 << 34);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if of(middle) <= room.into() { low = middle } else { high = middle - 1 }
    }
    Some((u64::try_from(requests).ok()?, low))
}
