//! `fit`: does a model fit a card, what fills it, what to change first, and under a budget the cheapest plan.
//!
//! The sums are `vramlab_fit`'s, the model `vramlab_modelfile`'s; here files are opened, flags read, and answers printed.
//! `card.rs` finds the card, `words.rs` says the answer, `data.rs` is the same as JSON with its description.

mod card;
mod compare;
mod data;
mod open;
mod recorded;
mod words;

use super::Exit;
use super::fault::Fault;
use super::say::Say;
pub use recorded::{Recorded, recorded};
use std::path::PathBuf;
use vramlab_fit::{Answer, Ask, Fits, Optimizer, Precision, Scenario, Serve, Train, Work};
use vramlab_modelfile::{Dtype, Format, Model, Problem};
use vramlab_units::Lang;

const AFTER: &str = "\
Examples:
  vramlab fit config.json                           serving on one H200
  vramlab fit config.json --gpu rtx4090 --context 8192 --requests 4
  vramlab fit model.gguf --gpu 12GiB --scenario edge
  vramlab fit config.json --train --batch 4 --seq-len 2048 --gpus 8
  vramlab fit config.json --train --budget 24GiB    the cheapest plan under a budget
  vramlab fit --compare                             other estimators beside ours, on what was measured
Exit codes: 0 it fits, 1 it does not or that cannot be told, 2 wrong usage, 3 `--gpu here` without a GPU.";

#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub struct Args {
    /// A config.json (or its folder), .safetensors, model.safetensors.index.json or .gguf.
    #[arg(required_unless_present_any = ["schema", "compare"])]
    config: Option<PathBuf>,
    /// The card: an id of the course, a size (24GiB), or `here` for the one in this machine.
    #[arg(long, value_name = "GPU", default_value = "h200")]
    gpu: String,
    /// Cards that share one copy of the model.
    #[arg(long, value_name = "N", default_value_t = 1)]
    gpus: u64,
    /// Bytes of each card that may be used: 8GiB.
    #[arg(long, value_name = "SIZE", value_parser = super::args::bytes)]
    budget: Option<u64>,
    /// What counts as cheap: online (somebody waits), batch (throughput) or edge (one user, a small card)
    /// [default: online; batch with --train].
    #[arg(long, value_parser = scenario, value_name = "NAME")]
    scenario: Option<Scenario>,
    /// Adds or changes a field of the model: layer_types=full_attention, n_params=7000000000 (may be repeated).
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// Prints what each key of the JSON answer means.
    #[arg(long)]
    schema: bool,
    /// Other estimators beside this one: their errors on what was measured; with CONFIG and --train on your step too.
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    serving: Serving,
    #[command(flatten)]
    training: Training,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Serving (the default)")]
struct Serving {
    /// Asks about serving.
    #[arg(long, conflicts_with = "train")]
    serve: bool,
    /// Tokens that a request may reach [default: 4096].
    #[arg(long, value_name = "TOKENS")]
    context: Option<u64>,
    /// Requests at once [default: 16 online, 128 batch, 1 edge].
    #[arg(long, value_name = "N")]
    requests: Option<u64>,
    /// Format of the weights [default: as the file says]: bf16, fp8, int8, nf4, awq4_g128, gptq4_g128, q4_k, …
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    weights: Option<Format>,
    /// Format of the KV cache [default: bf16]: fp8, q8_0, …
    #[arg(long, value_name = "FORMAT", value_parser = kv)]
    kv: Option<Dtype>,
    /// Tokens of one prefill step [default: 8192].
    #[arg(long, value_name = "TOKENS")]
    chunk: Option<u64>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Training")]
struct Training {
    /// Asks about training.
    #[arg(long)]
    train: bool,
    /// Sequences in one forward pass on one card [default: 1].
    #[arg(long, value_name = "N")]
    batch: Option<u64>,
    /// Tokens of a sequence [default: 2048].
    #[arg(long, value_name = "TOKENS")]
    seq_len: Option<u64>,
    /// fp32, amp (float32 weights, autocast), bf16 (everything), masters (bf16 with float32 copies) [default: amp].
    #[arg(long, value_parser = precision, value_name = "NAME")]
    precision: Option<Precision>,
    /// adamw, adamw8 (8-bit states), sgd, sgdm [default: adamw].
    #[arg(long, value_parser = optimizer, value_name = "NAME")]
    optimizer: Option<Optimizer>,
    /// Recomputes every layer in backward.
    #[arg(long)]
    recompute: bool,
    /// Pieces in which the loss is computed [default: 1].
    #[arg(long, value_name = "N")]
    loss_chunks: Option<u64>,
    /// Micro-batches of a step [default: 1].
    #[arg(long, value_name = "N")]
    accumulation: Option<u64>,
    /// Trains adapters of this rank on q and v; all else is frozen.
    #[arg(long, value_name = "RANK")]
    lora: Option<u64>,
    /// Frozen weights in four bits; with --lora.
    #[arg(long, requires = "lora")]
    nf4: bool,
    /// Keeps the optimizer's state in host memory.
    #[arg(long)]
    offload: bool,
    /// Attention written out instead of flash.
    #[arg(long)]
    math: bool,
    /// AdamW in one kernel (fused=True): no temporaries for all parameters at once.
    #[arg(long)]
    fused: bool,
    /// What --gpus share: 0 nothing (copies, DDP), 1 optimizer states, 2 gradients too, 3 parameters too (ZeRO-3, FSDP)
    /// [default: 3].
    #[arg(long, value_name = "STAGE")]
    zero: Option<u64>,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    if args.schema {
        say.json(&data::schema());
        return Ok(Exit::Fine);
    }
    let Some(path) = &args.config else {
        return if args.compare {
            Ok(compare::tell(None, say)?)
        } else {
            Err(Fault::usage("CONFIG is missing").into())
        };
    };
    let ask = ask(args, say)?;
    let (model, name) = open::open(path, &args.set, say)?;
    let answer = vramlab_fit::answer(&model, &ask).map_err(|problem| fault(&problem, say))?;
    if args.compare {
        return Ok(compare::tell(Some((&model, &answer)), say)?);
    }
    if say.is_json {
        say.json(&data::json(&model, &answer, &name));
    } else {
        words::tell(&model, &answer, &name, say);
    }
    Ok(if answer.fits == Fits::Yes { Exit::Fine } else { Exit::Findings })
}

fn ask(args: &Args, say: &Say) -> Result<Ask, Fault> {
    let is_training = args.training.train;
    misplaced(args, say)?;
    let scenario = args.scenario.unwrap_or(Scenario::usual(is_training));
    let work =
        if is_training { Work::Train(train(&args.training)) } else { Work::Serve(serve(&args.serving, scenario)) };
    let card = card::find(&args.gpu, say)?;
    let ask = Ask { card, n_cards: args.gpus, budget: args.budget, scenario, work };
    ask.check().map_err(|problem| fault(&problem, say))?;
    Ok(ask)
}

fn train(given: &Training) -> Train {
    let usual = Train::default();
    Train {
        batch: given.batch.unwrap_or(usual.batch),
        seq_len: given.seq_len.unwrap_or(usual.seq_len),
        precision: given.precision.unwrap_or(usual.precision),
        optimizer: given.optimizer.unwrap_or(usual.optimizer),
        recompute: given.recompute,
        loss_chunks: given.loss_chunks.unwrap_or(usual.loss_chunks),
        accumulation: given.accumulation.unwrap_or(usual.accumulation),
        lora: given.lora,
        nf4: given.nf4,
        offload: given.offload,
        math: given.math,
        fused: given.fused,
        zero: given.zero.unwrap_or(usual.zero),
    }
}

fn serve(given: &Serving, scenario: Scenario) -> Serve {
    let usual = Serve::default();
    Serve {
        context: given.context.unwrap_or(usual.context),
        requests: given.requests.unwrap_or_else(|| scenario.requests()),
        weights: given.weights,
        kv: given.kv.unwrap_or(usual.kv),
        chunk: given.chunk.unwrap_or(usual.chunk),
        ..usual
    }
}

/// An option of the other kind of work is an error that names the right one, and never ignored.
fn misplaced(args: &Args, say: &Say) -> Result<(), Fault> {
    let (serving, training) = (&args.serving, &args.training);
    let of_serving = [
        ("--context", serving.context.is_some(), "--seq-len"),
        ("--requests", serving.requests.is_some(), "--batch"),
        ("--weights", serving.weights.is_some(), "--precision, --nf4"),
        ("--kv", serving.kv.is_some(), ""),
        ("--chunk", serving.chunk.is_some(), ""),
    ];
    let of_training = [
        ("--batch", training.batch.is_some(), "--requests"),
        ("--seq-len", training.seq_len.is_some(), "--context"),
        ("--precision", training.precision.is_some(), "--weights"),
        ("--optimizer", training.optimizer.is_some(), ""),
        ("--recompute", training.recompute, ""),
        ("--loss-chunks", training.loss_chunks.is_some(), ""),
        ("--accumulation", training.accumulation.is_some(), ""),
        ("--lora", training.lora.is_some(), ""),
        ("--nf4", training.nf4, "--weights nf4"),
        ("--offload", training.offload, ""),
        ("--math", training.math, ""),
        ("--fused", training.fused, ""),
        ("--zero", training.zero.is_some(), ""),
        ("--compare", args.compare && args.config.is_some(), ""),
    ];
    let (given, is_training) = (if training.train { &of_serving[..] } else { &of_training[..] }, training.train);
    let Some((name, _, other)) = given.iter().find(|(_, is_given, _)| *is_given) else { return Ok(()) };
    let (what, help) = match (is_training, say.lang) {
        (true, Lang::Zh) => (format!("{name} 问的是推理，和 --train 不能同用"), "去掉 --train".to_owned()),
        (true, Lang::En) => {
            (format!("{name} asks about serving and goes not with --train"), "leave --train out".to_owned())
        }
        (false, Lang::Zh) => (format!("{name} 问的是训练，没有 --train 就不起作用"), "加上 --train".to_owned()),
        (false, Lang::En) => {
            (format!("{name} asks about training and does nothing without --train"), "add --train".to_owned())
        }
    };
    let help = match (other.is_empty(), is_training, say.lang) {
        (true, ..) => help,
        (false, true, Lang::Zh) => format!("训练用 {other}；问推理就{help}"),
        (false, true, Lang::En) => format!("for training there is {other}; for serving {help}"),
        (false, false, Lang::Zh) => format!("{help}；推理用 {other}"),
        (false, false, Lang::En) => format!("{help}; for serving there is {other}"),
    };
    Err(Fault::usage(what).help(help))
}

pub fn fault(problem: &Problem, say: &Say) -> Fault {
    Fault::usage(super::layout::plain(&problem.message(say.lang)))
}

/// The answer for a configuration that is at hand.
fn asked(bytes: &[u8], ask: &Ask) -> Option<(Model, Answer)> {
    let model = vramlab_modelfile::read(vramlab_modelfile::Head::whole(bytes), &[]).ok()?;
    let answer = vramlab_fit::answer(&model, ask).ok()?;
    Some((model, answer))
}

/// One of a few words, or all of them in the error.
fn word<T: Copy>(text: &str, all: &[T], id: fn(T) -> &'static str) -> Result<T, String> {
    all.iter().copied().find(|one| id(*one) == text).ok_or_else(|| {
        let known = all.iter().map(|one| id(*one)).collect::<Vec<_>>();
        let hint = vramlab_units::field::did_you_mean(text, known.iter().copied());
        let hint = hint.map(|hint| format!("; did you mean \"{hint}\"?")).unwrap_or_default();
        format!("\"{text}\" is none of {}{hint}", known.join(", "))
    })
}

fn scenario(text: &str) -> Result<Scenario, String> {
    word(text, &Scenario::ALL, Scenario::id)
}

fn precision(text: &str) -> Result<Precision, String> {
    word(text, &Precision::ALL, Precision::id)
}

fn optimizer(text: &str) -> Result<Optimizer, String> {
    word(text, &Optimizer::ALL, Optimizer::id)
}

fn format(text: &str) -> Result<Format, String> {
    Format::from_id(text).map_err(|problem| problem.to_string())
}

fn kv(text: &str) -> Result<Dtype, String> {
    Dtype::from_name(text).filter(|dtype| dtype.bits() >= 2.0 && dtype.name != "bool").ok_or_else(|| {
        format!("\"{text}\" is no format of a KV cache; there are bf16, f16, fp8, q8_0, q5_1, q5_0, q4_1, q4_0, f32")
    })
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("\"{text}\" is not key=value"))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}
