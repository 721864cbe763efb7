//! `fit`: does a model fit a card, what fills it, what to change first, and under a budget the cheapest plan.
//!
//! The sums are `vramlab_fit`'s, the model `vramlab_modelfile`'s; here files are opened, flags read, and answers printed.
//! `card.rs` finds the card, `words.rs` says the answer, `data.rs` is the same as JSON with its description.

mod card;
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

const AFTER: &str = "\
Examples:
  vramlab fit config.json                           serving on one H200
  vramlab fit config.json --gpu rtx4090 --context 8192 --requests 4
  vramlab fit model.gguf --gpu 12GiB --scenario edge
  vramlab fit config.json --train --batch 4 --seq-len 2048 --gpus 8
  vramlab fit config.json --train --budget 24GiB    the cheapest plan under a budget
Exit codes: 0 it fits, 1 it does not or that cannot be told, 2 wrong usage, 3 `--gpu here` without a GPU.";

#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub struct Args {
    /// A config.json (or its folder), .safetensors, model.safetensors.index.json or .gguf.
    #[arg(required_unless_present = "schema")]
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
    /// What counts as cheap: online (somebody waits), batch (throughput) or edge (one user, a small card).
    #[arg(long, value_parser = scenario, default_value = "online", value_name = "NAME")]
    scenario: Scenario,
    /// Adds or changes a field of the model: layer_types=full_attention, n_params=7000000000 (may be repeated).
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// Prints what each key of the JSON answer means.
    #[arg(long)]
    schema: bool,
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
    /// Tokens that a request may reach.
    #[arg(long, value_name = "TOKENS", default_value_t = 4096)]
    context: u64,
    /// Requests at once [default: 16 online, 128 batch, 1 edge].
    #[arg(long, value_name = "N")]
    requests: Option<u64>,
    /// Format of the weights [default: as the file says]: bf16, fp8, int8, nf4, awq4_g128, gptq4_g128, q4_k, …
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    weights: Option<Format>,
    /// Format of the KV cache: bf16, fp8, q8_0, …
    #[arg(long, value_name = "FORMAT", value_parser = kv, default_value = "bf16")]
    kv: Dtype,
    /// Tokens of one prefill step.
    #[arg(long, value_name = "TOKENS", default_value_t = 8192)]
    chunk: u64,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Training")]
struct Training {
    /// Asks about training.
    #[arg(long)]
    train: bool,
    /// Sequences in one forward pass on one card.
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch: u64,
    /// Tokens of a sequence.
    #[arg(long, value_name = "TOKENS", default_value_t = 2048)]
    seq_len: u64,
    /// fp32, amp (float32 weights, autocast), bf16 (everything), masters (bf16 with float32 copies).
    #[arg(long, value_parser = precision, default_value = "amp", value_name = "NAME")]
    precision: Precision,
    /// adamw, adamw8 (8-bit states), sgd, sgdm.
    #[arg(long, value_parser = optimizer, default_value = "adamw", value_name = "NAME")]
    optimizer: Optimizer,
    /// Recomputes every layer in backward.
    #[arg(long)]
    recompute: bool,
    /// Pieces in which the loss is computed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    loss_chunks: u64,
    /// Micro-batches of a step.
    #[arg(long, value_name = "N", default_value_t = 1)]
    accumulation: u64,
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
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    if args.schema {
        say.json(&data::schema());
        return Ok(Exit::Fine);
    }
    let Some(path) = &args.config else { return Err(Fault::usage("CONFIG is missing").into()) };
    let ask = ask(args, say)?;
    let (model, name) = open::open(path, &args.set, say)?;
    let answer = vramlab_fit::answer(&model, &ask).map_err(|problem| fault(&problem, say))?;
    if say.is_json {
        say.json(&data::json(&model, &answer, &name));
    } else {
        words::tell(&model, &answer, &name, say);
    }
    Ok(if answer.fits == Fits::Yes { Exit::Fine } else { Exit::Findings })
}

fn ask(args: &Args, say: &Say) -> Result<Ask, Fault> {
    let work = if args.training.train {
        let given = &args.training;
        Work::Train(Train {
            batch: given.batch,
            seq_len: given.seq_len,
            precision: given.precision,
            optimizer: given.optimizer,
            recompute: given.recompute,
            loss_chunks: given.loss_chunks,
            accumulation: given.accumulation,
            lora: given.lora,
            nf4: given.nf4,
            offload: given.offload,
            math: given.math,
        })
    } else {
        let given = &args.serving;
        Work::Serve(Serve {
            context: given.context,
            requests: given.requests.unwrap_or_else(|| args.scenario.requests()),
            weights: given.weights,
            kv: given.kv,
            chunk: given.chunk,
            offload_eighths: 0,
        })
    };
    let card = card::find(&args.gpu, say)?;
    let ask = Ask { card, n_cards: args.gpus, budget: args.budget, scenario: args.scenario, work };
    ask.check().map_err(|problem| fault(&problem, say))?;
    Ok(ask)
}

pub fn fault(problem: &Problem, say: &Say) -> Fault {
    Fault::usage(problem.message(say.lang))
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
