//! The peak of a small net in training under a strategy: the tape of `vramlab_train`, walked without computing.
//!
//! Question: the net, its sizes, the strategy by number or by its parts. Answer: the most that is in use at once, whom it
//! belongs to, what the strategy saves against keeping everything, and what it computes more.
//! Assumption: memory is counted as asked for; an allocator rounds up.
//! Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost"; the tape itself is `vramlab_train`.
//! Errors: heads that do not share the width, parts that do not share the batch.

use crate::fields;
use crate::registry::Model;
use vramlab_train::arena::Owner;
use vramlab_train::forecast;
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::{Strategy, Workload};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const MIB: f64 = 1_048_576.0;
const MOST_MIB: f64 = 1.0e12;

pub struct SmallTraining;

impl Model for SmallTraining {
    const ID: &'static str = "small_training";
    const TITLE: Text = Text::new("小网络一步训练的峰值", "The peak of a small net in training");
    const ASSUMES: Text = Text::new(
        "按申请的字节计，分配器还会向上取整；每步末尾梯度释放，优化器状态一直在。",
        "Bytes as asked for; an allocator rounds up. Gradients go at the end of a step, optimizer state stays.",
    );
    const SOURCE: &'static str =
        "T. Chen et al., Training Deep Nets with Sublinear Memory Cost, arXiv:1604.06174, 2016";
    const EXAMPLE: &'static str = r#"{"strategy": 1}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, min, max, zh, en| FieldSpec::int(key, "1", min, max, Text::new(zh, en));
        let strategy = int(
            "strategy",
            0,
            7,
            "0 全部保留，1 每层检查点，2 每 4 层检查点，3 累积 4 次，4 卸载，5 检查点加累积，6 检查点加卸载，7 累积却忘了除",
            "0 keep all, 1 checkpoint every layer, 2 every 4 layers, 3 accumulate in 4, 4 offload, 5 checkpoint and \
             accumulate, 6 checkpoint and offload, 7 accumulate without dividing",
        );
        vec![
            int("net", 0, 1, "0 MLP，1 Transformer 块", "0 an MLP, 1 transformer blocks").default_value(1),
            strategy.default_value(0),
            int(
                "checkpoint_every",
                0,
                128,
                "策略 0 时：每几层设一个检查点",
                "With strategy 0: layers between checkpoints",
            )
            .default_value(0),
            int("micro_batches", 1, 1024, "策略 0 时：一批分几次跑", "With strategy 0: parts of the batch")
                .default_value(1),
            int("is_offloaded", 0, 1, "策略 0 时：1 为卸载到主机", "With strategy 0: 1 offloads to the host")
                .default_value(0),
            int("n_layers", 1, 128, "层数", "Layers").default_value(8),
            int("width", 1, 16_384, "一层的宽度", "Width of a layer").default_value(512),
            int("n_heads", 1, 128, "注意力头数", "Heads of the attention").default_value(8),
            int("seq_len", 1, 8192, "一个样本几行", "Rows of a sample").default_value(256),
            int("batch", 1, 65_536, "一步几个样本", "Samples of a step").default_value(8),
            int("n_classes", 2, 262_144, "类别数", "Classes").default_value(1024),
            int("optimizer", 0, 1, "0 SGD，1 AdamW", "0 SGD, 1 AdamW").default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let mib = |key, zh, en| FieldSpec::num(key, "MiB", 0.0, MOST_MIB, Text::new(zh, en));
        vec![
            mib("peak_mib", "最多同时占多少", "The most in use at once"),
            mib("kept_peak_mib", "全部保留时的峰值", "The peak when everything is kept"),
            FieldSpec::num("saved_share", "1", -100.0, 1.0, Text::new("省下的份额", "The share that is saved")),
            mib("parameters_mib", "峰值时的参数", "Parameters at the peak"),
            mib("gradients_mib", "峰值时的梯度", "Gradients at the peak"),
            mib("optimizer_state_mib", "峰值时的优化器状态", "Optimizer state at the peak"),
            mib("activations_mib", "峰值时的激活", "Activations at the peak"),
            mib("workspace_mib", "峰值时反向的临时张量", "Temporaries of the backward pass at the peak"),
            mib("host_mib", "最多有多少在主机上等", "The most that waits on the host"),
            mib("moved_mib", "一步里过链路的字节", "What crosses the link in a step"),
            FieldSpec::num(
                "flop_ratio",
                "1",
                1.0,
                2.0,
                Text::new("计算量是基线的几倍", "Arithmetic over the baseline's"),
            ),
            fields::choice(
                "peak_phase",
                "",
                &["start", "forward", "backward", "recompute", "update"],
                Text::new("峰值在哪一段", "The part of the step with the peak"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (work, strategy) = chosen(args)?;
        let walk =
            |strategy| forecast(&work, strategy).map_err(|trouble| FieldError::conflict("width", trouble.to_string()));
        let (kept, found) = (walk(Strategy::default())?, walk(strategy)?);
        let mib = |bytes: u64| fields::number(bytes as f64 / MIB);
        let of = |owner| mib(found.peak.of(owner));
        let saved = 1.0 - found.peak.total() as f64 / kept.peak.total() as f64;
        Ok(fields::answer([
            ("peak_mib", mib(found.peak.total())),
            ("kept_peak_mib", mib(kept.peak.total())),
            ("saved_share", fields::number(saved)),
            ("parameters_mib", of(Owner::Parameters)),
            ("gradients_mib", of(Owner::Gradients)),
            ("optimizer_state_mib", of(Owner::OptimizerState)),
            ("activations_mib", of(Owner::Activations)),
            ("workspace_mib", of(Owner::Workspace)),
            ("host_mib", mib(found.host_bytes)),
            ("moved_mib", mib(found.moved_bytes)),
            ("flop_ratio", fields::number(found.flop_ratio)),
            ("peak_phase", Value::from(found.phase.id())),
        ]))
    }
}

fn chosen(args: &Args) -> Result<(Workload, Strategy), FieldError> {
    let size = |key: &str| args.uint(key) as usize;
    let work = Workload {
        net: if size("net") == 0 { Kind::Mlp } else { Kind::Block },
        n_layers: size("n_layers"),
        width: size("width"),
        n_heads: if size("net") == 0 { 1 } else { size("n_heads") },
        seq_len: size("seq_len"),
        batch: size("batch"),
        n_classes: size("n_classes"),
        dtype: Dtype::Fp32,
        optimizer: if size("optimizer") == 0 { Optimizer::Sgd } else { Optimizer::Adamw },
        seed: 1,
        n_steps: 1,
    };
    work.check()?;
    let own = Strategy {
        checkpoint_every: size("checkpoint_every"),
        micro_batches: size("micro_batches"),
        is_offloaded: size("is_offloaded") == 1,
        is_undivided: false,
    };
    let strategy = match args.uint("strategy") {
        0 => own,
        number => Strategy::numbered(number).unwrap_or(own),
    };
    strategy.check(work.batch)?;
    Ok((work, strategy))
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Two blocks of width 64 over 16 samples of 32 rows, four heads: 16 matrices of 512 × 64 words, scores of
    /// 16 · 4 · 32² and 4 words a row are offloaded from each, in both directions.
    #[test]
    fn bytes_of_a_block_by_hand() {
        let asked = json!({"n_layers": 2, "width": 64, "n_heads": 4, "seq_len": 32, "batch": 16, "strategy": 4});
        let answer = eval("small_training", &question(&asked)).unwrap();
        let kept = 2.0 * 4.0 * f64::from(16 * 512 * 64 + 16 * 4 * 32 * 32 + 4 * 512) / 1_048_576.0;
        assert_eq!((answer["host_mib"].as_f64(), answer["moved_mib"].as_f64()), (Some(kept), Some(2.0 * kept)));
    }

    /// A wide net over few rows: state is nearly everything, so checkpoints save next to nothing.
    #[test]
    fn where_state_dominates_checkpoints_save_little() {
        let asked = json!({"net": 0, "n_layers": 8, "width": 2048, "seq_len": 1, "batch": 64, "strategy": 1});
        let answer = eval("small_training", &question(&asked)).unwrap();
        let saved = answer["saved_share"].as_f64().unwrap();
        assert!((0.0..0.02).contains(&saved), "{saved}");
        let uneven = json!({"batch": 6, "strategy": 3});
        let error = eval("small_training", &question(&uneven)).unwrap_err().to_string();
        assert!(error.contains("6 does not split into 4"), "{error}");
    }
}
