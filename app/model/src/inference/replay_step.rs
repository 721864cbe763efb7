//! One step of a seeded request stream through the scheduler, and how long it takes: products, then attention.
//!
//! Question: seed, step, layers of Llama-3-8B, what the card reaches. Answer: who runs with how many tokens over how long a
//! cache; the time with all parts in turn, in whole rounds of blocks where the card's slots are told, and with everything
//! overlapped. Assumption: nothing of one part hides behind another. Source: `vramlab_serve::replay`. Errors: fields out of range.

use crate::fields::{answer, number};
use crate::registry::Model;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_serve::replay::{InTurn, Replay, Rounds, Work};
use vramlab_serve::step_time::StepTime;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct ReplayStep;

/// Parameters of a layer of Llama-3-8B, and bytes of a token's keys and values in it.
const LAYER_PARAMS: f64 = 53_248.0 * 4096.0;
const LAYER_KV_BYTES: f64 = 4096.0;
/// FLOP of attention for a query token and a token that it sees: 32 heads of 128, scores and sums.
const PAIR_FLOP: f64 = 4.0 * 32.0 * 128.0;
/// Streams that are told apart; each is run once.
const MOST_SEED: i64 = 4;
/// Blocks of 128 weight rows of a layer.
const ROW_BLOCKS: u32 = 416;

type Works = Rc<Vec<Work>>;

/// The steps of a stream, without their block tables.
fn works(seed: u64) -> Result<Works, FieldError> {
    thread_local! {
        static KNOWN: RefCell<BTreeMap<u64, Works>> = const { RefCell::new(BTreeMap::new()) };
    }
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&seed).cloned()) {
        return Ok(known);
    }
    let mut works = Replay::of(seed).works().map_err(|problem| FieldError::conflict("seed", problem.to_string()))?;
    works.iter_mut().flat_map(|work| &mut work.pieces).for_each(|piece| piece.blocks = Vec::new());
    let works = Rc::new(works);
    KNOWN.with_borrow_mut(|known| known.insert(seed, works.clone()));
    Ok(works)
}

fn card(args: &Args) -> InTurn {
    let layers = args.num("layers");
    let step = StepTime {
        weight_bytes: 2.0 * LAYER_PARAMS * layers,
        kv_bytes_per_token: LAYER_KV_BYTES * layers,
        bytes_per_s: args.num("gb_per_s") * 1e9,
        n_params: LAYER_PARAMS * layers,
        flop_per_s: args.num("tflop_per_s") * 1e12,
        launch_s: args.num("launch_us") * 1e-6,
        link_bytes_per_s: 1.0,
    };
    InTurn {
        step,
        kv_bytes_per_s: args.num("kv_gb_per_s") * 1e9,
        flop_per_pair: PAIR_FLOP * layers,
        n_layers: layers as u32,
    }
}

impl Model for ReplayStep {
    const ID: &'static str = "replay_step";
    const TITLE: Text = Text::new("请求流里的一步", "A step of a request stream");
    const ASSUMES: Text = Text::new(
        "一层接一层，先矩阵乘后注意力，谁也不藏在谁后面；激活的读写不算。",
        "Layer by layer, products first and attention after, nothing hidden behind anything; activations are left out.",
    );
    const SOURCE: &'static str = "roofline of each part of a forward pass; Williams, Waterman, Patterson 2009";
    const EXAMPLE: &'static str = r#"{"step": 100}"#;

    fn question() -> Vec<FieldSpec> {
        let num = |key, unit, min, max, zh, en| FieldSpec::num(key, unit, min, max, Text::new(zh, en));
        vec![
            FieldSpec::int(
                "step",
                "1",
                0,
                100_000,
                Text::new("第几步，从 0 起；超出则取最后一步", "Which step, from 0; beyond the end, the last"),
            ),
            FieldSpec::int("seed", "1", 1, MOST_SEED, Text::new("请求流的种子", "Seed of the stream")).default_value(1),
            FieldSpec::int("layers", "1", 1, 32, Text::new("Llama-3-8B 的几层", "Layers of Llama-3-8B"))
                .default_value(8),
            num("gb_per_s", "GB/s", 1.0, 1e6, "读权重的带宽", "Bandwidth of reading weights").default_value(4800),
            num("kv_gb_per_s", "GB/s", 1.0, 1e6, "读缓存的带宽", "Bandwidth of reading the cache").default_value(4800),
            num("tflop_per_s", "TFLOP/s", 0.1, 1e6, "矩阵乘的速度", "Rate of matrix products").default_value(989),
            num("launch_us", "µs", 0.0, 1e4, "一次启动", "A launch").default_value(0),
            FieldSpec::int(
                "slots",
                "1",
                0,
                1 << 16,
                Text::new(
                    "卡上同时跑几个线程块；0 表示不按轮算",
                    "Blocks of threads that run at once; 0 leaves rounds out",
                ),
            )
            .default_value(0),
            num(
                "tile_us",
                "µs",
                0.0,
                1e4,
                "提示词的注意力过 16 个 token 要多久",
                "Time in which a chunk's attention gets over 16 tokens",
            )
            .default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, unit, zh, en| FieldSpec::int(key, unit, 0, 1 << 40, Text::new(zh, en));
        let num = |key, zh, en| FieldSpec::num(key, "ms", 0.0, 1e18, Text::new(zh, en));
        vec![
            count("steps", "1", "这个请求流共有几步", "Steps of the stream"),
            count("requests", "1", "这一步有几个请求", "Requests in the step"),
            count("tokens", "token", "算多少 token", "Tokens that it computes"),
            count("prefill_tokens", "token", "其中提示词", "of these, prompts"),
            count("decode_tokens", "token", "其中解码", "of these, decodes"),
            count("context_tokens", "token", "读多少 token 的缓存", "Tokens whose cache it reads"),
            num("ms", "一步的时间，各部分依次，按轮算", "Time of the step, its parts in turn and in rounds"),
            num("in_turn_ms", "不按轮算，各部分都到上限", "Without rounds, each part at its ceiling"),
            num("overlapped_ms", "读和算全部重叠时", "Time if all reads and sums overlap"),
            FieldSpec::new(
                "bound",
                "",
                FieldKind::Text { max_len: 16 },
                Text::new("矩阵乘受限于 memory 或 compute", "What bounds the products, memory or compute"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let works = works(args.uint("seed"))?;
        let (at, card) = ((args.uint("step") as usize).min(works.len().saturating_sub(1)), card(args));
        let none = Work::default();
        let work = works.get(at).unwrap_or(&none);
        let (slots, tile_s) = (args.uint("slots") as u32, args.num("tile_us") * 1e-6);
        let rounds = Rounds { slots, row_blocks: ROW_BLOCKS, tile_s };
        let seconds = if slots == 0 { card.seconds(work) } else { card.in_rounds(work, &rounds) };
        let bound = card.step.bound(work.tokens().into(), 0.0);
        let bound = if bound == vramlab_serve::step_time::Bound::Memory { "memory" } else { "compute" };
        Ok(answer([
            ("steps", works.len().into()),
            ("requests", work.pieces.len().into()),
            ("tokens", work.tokens().into()),
            ("prefill_tokens", work.prefill_tokens.into()),
            ("decode_tokens", work.decode_tokens.into()),
            ("context_tokens", work.context_tokens().into()),
            ("ms", number(seconds * 1e3)),
            ("in_turn_ms", number(card.seconds(work) * 1e3)),
            ("overlapped_ms", number(card.overlapped(work) * 1e3)),
            ("bound", bound.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Eight layers are 3.49 GB: 0.727 ms at 4800 GB/s, and no step is shorter. The first step is a chunk of a prompt: with
    /// 256 tokens 2 · 1.745 · 10⁹ · 256 FLOP take 0.903 ms at 989 TFLOP/s.
    #[test]
    fn steps_stand_on_their_floors() {
        let ask = |step: u64| crate::eval("replay_step", &question(&json!({"step": step}))).unwrap();
        let first = ask(0);
        assert_eq!(first["decode_tokens"], 0);
        assert_eq!(first["tokens"], first["prefill_tokens"]);
        for step in [0, 50, 400, 100_000] {
            let answer = ask(step);
            let ms = answer["ms"].as_f64().unwrap();
            assert!(ms > 0.7269 && ms >= answer["overlapped_ms"].as_f64().unwrap() - 1e-9, "{step}: {answer:?}");
            assert!(answer["tokens"].as_u64().unwrap() <= 256);
        }
        let full = (0..200).map(ask).find(|answer| answer["tokens"] == 256).unwrap();
        assert!(full["bound"] == "compute" && full["ms"].as_f64().unwrap() > 0.903);
    }
}
