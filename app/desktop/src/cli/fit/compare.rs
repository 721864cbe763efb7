//! `--compare`: what other estimators say. On every measured configuration, from `assets/fit/estimators.json`, which
//! `app/model/tests/estimators.rs` writes; and, for a training of one's own, beside the answer.

use super::words::size;
use crate::cli::Exit;
use crate::cli::fault::Fault;
use crate::cli::layout::{COLUMNS, table, wrap};
use crate::cli::say::{Ink, Say};
use serde_json::{Value, json};
use vramlab_fit::{Answer, Owner, Precision, Work};
use vramlab_modelfile::{Model, parts};
use vramlab_units::{Lang, Text};

const ASSET: &str = "assets/fit/estimators.json";
const PHASES: [(&str, Text); 4] = [
    ("after_forward", Text::new("前向后", "forward")),
    ("after_backward", Text::new("反向后", "backward")),
    ("after_step", Text::new("更新后", "step")),
    ("peak_step", Text::new("峰值", "peak")),
];
const COUNT: Text = Text::new("配置", "n");
const MINUS: &str = "−";
const OWN: Text = Text::new("你的这个训练步，峰值", "Your step, at its peak");

/// Name of an estimator; the first is what `fit` uses.
fn name(id: &str) -> Text {
    match id {
        "allocator" => Text::new("逐操作 + 分配器", "tape and allocator"),
        "tape" => Text::new("逐操作，取整 512 B", "tape, rounded"),
        "closed_formula" => Text::new("封闭公式", "closed formula"),
        "mem_tracker" => Text::new("PyTorch MemTracker", "PyTorch MemTracker"),
        "deepspeed" => Text::new("DeepSpeed ZeRO-3", "DeepSpeed ZeRO-3"),
        _ => Text::new("accelerate", "accelerate"),
    }
}

fn kept() -> Result<Value, Fault> {
    let missing = || Fault::new(Exit::Findings, format!("{ASSET} is missing from this build"));
    let bytes = vramlab_content::get(ASSET).and_then(|file| file.here()).ok_or_else(missing)?;
    serde_json::from_slice(bytes).map_err(|_| missing())
}

/// The table of the measured configurations, and below it the own question, where there is one.
pub fn tell(own: Option<(&Model, &Answer)>, say: &Say) -> Result<Exit, Fault> {
    let kept = kept()?;
    let own = own.map(|(model, answer)| estimates(model, answer));
    if say.is_json {
        say.json(&json!({"schema": 1, "recorded": kept, "own": own.map(|rows| rows.iter().map(|(id, bytes)| json!({"id": id, "peak_bytes": bytes})).collect::<Vec<_>>())}));
        return Ok(Exit::Fine);
    }
    recorded(&kept, say);
    if let Some(rows) = own {
        say.data(&format!("\n{}", say.ink(Ink::Strong, say.text(OWN))));
        let first = rows.first().and_then(|row| row.1).unwrap_or(0) as f64;
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|(id, bytes)| {
                let told = bytes.map_or("–".to_owned(), size);
                let gap = bytes.map_or(String::new(), |bytes| percent(bytes as f64 / first - 1.0));
                vec![format!("  {}", say.text(name(id))), told, gap]
            })
            .collect();
        say.data(&table(&[], &rows, &[1, 2]));
    }
    Ok(Exit::Fine)
}

fn recorded(kept: &Value, say: &Say) {
    let n = kept["n"].as_u64().unwrap_or(0);
    let title = match say.lang {
        Lang::Zh => format!("{n} 个实测训练步上的误差，%：中位 / 最差"),
        Lang::En => format!("Errors on {n} measured training steps, %: median / worst"),
    };
    say.data(&say.ink(Ink::Strong, &title));
    let phases = PHASES.iter().map(|(_, text)| say.text(*text));
    let header: Vec<&str> = [""].into_iter().chain(phases).chain([say.text(COUNT)]).collect();
    let rows: Vec<Vec<String>> = kept["rows"].as_array().into_iter().flatten().map(|row| line(row, say)).collect();
    say.data(&table(&header, &rows, &[1, 2, 3, 4, 5]));
    let (device, software) = (kept["device"].as_str().unwrap_or(""), kept["software"].as_str().unwrap_or(""));
    let evidence = match say.lang {
        Lang::Zh => format!(
            "{device}，{software}，稳态；GPT、Llama、LoRA、QLoRA、8 位优化器、MoE、ResNet-50。DeepSpeed 和 accelerate 只估模型状态，拿来和峰值比；封闭公式只懂 GPT；MemTracker 跑了前 88 个"
        ),
        Lang::En => format!(
            "{device}, {software}, steady state; GPT, Llama, LoRA, QLoRA, 8-bit states, MoE, ResNet-50. DeepSpeed and accelerate \
             estimate model states only and are held against the peak; the closed formula knows a GPT only; MemTracker ran on \
             the first 88"
        ),
    };
    say.data(&say.ink(Ink::Muted, &wrap(&evidence, COLUMNS, "  ")));
    let first = match say.lang {
        Lang::Zh => "第一行是本命令用的",
        Lang::En => "The first row is what this command uses",
    };
    say.data(&say.ink(Ink::Muted, &wrap(first, COLUMNS, "  ")));
}

fn line(row: &Value, say: &Say) -> Vec<String> {
    let title = format!("  {}", say.text(name(row["id"].as_str().unwrap_or(""))));
    let n = row["errors"]["peak_step"]["n"].as_u64().unwrap_or(0);
    let cells = PHASES.iter().map(|(phase, _)| cell(&row["errors"][*phase]));
    [title].into_iter().chain(cells).chain([n.to_string()]).collect()
}

fn cell(errors: &Value) -> String {
    let (Some(median), Some(worst)) = (errors["median"].as_f64(), errors["worst"].as_f64()) else {
        return "–".to_owned();
    };
    let digits = if median < 0.1 { 2 } else { 1 };
    format!("{:.digits$} / {:+.1}", 100.0 * median, 100.0 * worst).replace('-', MINUS)
}

fn percent(share: f64) -> String {
    if share == 0.0 { String::new() } else { format!("{:+.1} %", 100.0 * share).replace('-', MINUS) }
}

/// What each says of the own question; nothing where it does not know such a step.
fn estimates(model: &Model, answer: &Answer) -> Vec<(&'static str, Option<u64>)> {
    let sums = &answer.sums;
    let own = sums.total() - sums.of(Owner::Reserve) - sums.of(Owner::Context);
    let formula = vramlab_fit::quick(model, &answer.ask).ok();
    let formula = formula.map(|sums| sums.total() - sums.of(Owner::Reserve) - sums.of(Owner::Context));
    let n_params = parts::parts(&model.arch).ok().and_then(|list| u64::try_from(parts::n_params(&list)).ok());
    let of = |id: &str, given: Value, key: &str| -> Option<u64> {
        let answer = vramlab_model::eval(id, given.as_object()?).ok()?;
        answer[key].as_f64().map(|bytes| bytes as u64)
    };
    let half = matches!(answer.ask.work, Work::Train(train) if train.precision == Precision::Bf16);
    let dtype = if half { "float16" } else { "float32" };
    let zero = n_params.and_then(|n| {
        of("zero_estimate", json!({"n_params": n, "gpus_per_node": answer.ask.n_cards.min(1024)}), "gpu_bytes")
    });
    let accelerate =
        n_params.and_then(|n| of("accelerate_estimate", json!({"n_params": n, "dtype": dtype}), "adam_bytes"));
    vec![("allocator", Some(own)), ("closed_formula", formula), ("deepspeed", zero), ("accelerate", accelerate)]
}
