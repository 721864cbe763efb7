//! Bytes of a model's weights in a storage format.
//!
//! Question: a configuration, or a number of parameters, or one matrix; the format. Answer: bytes, bits a parameter.
//! Assumption: quantised formats take the linear layers; embedding, norms and head stay in 16 bits. With the number of
//! parameters alone all of them are taken for one large matrix.
//! Source: the layouts of the formats (`ggml-common.h`; AutoAWQ, GPTQ; QLoRA, section 3; bitsandbytes).
//! Errors: none or several of config, n_params and inputs; a format that does not exist.

use crate::fields::{answer, choice, number};
use crate::kv_cache::{architecture, config};
use crate::registry::Model;
use vramlab_modelfile::{Dtype, Format, Role, parts};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const MOST_BYTES: i64 = 1 << 62;
const FORMATS: &[&str] = &[
    "f32",
    "bf16",
    "f16",
    "fp8",
    "fp8_b128",
    "int8",
    "nf4",
    "nf4_single",
    "awq4_g128",
    "awq4_g64",
    "awq4_g32",
    "gptq4_g128",
    "gptq4_g64",
    "gptq4_g32",
    "gptq3_g128",
    "gptq8_g128",
    "q8_0",
    "q6_k",
    "q5_k",
    "q5_1",
    "q5_0",
    "q4_k",
    "q4_1",
    "q4_0",
    "q3_k",
    "q2_k",
    "iq4_nl",
    "iq4_xs",
    "iq3_s",
    "iq3_xxs",
    "iq2_s",
    "iq2_xs",
    "iq2_xxs",
    "iq1_m",
    "iq1_s",
    "tq1_0",
    "tq2_0",
    "mxfp4",
];

pub struct Weights;

impl Model for Weights {
    const ID: &'static str = "weights";
    const TITLE: Text = Text::new("权重有多大", "Size of the weights");
    const ASSUMES: Text = Text::new(
        "量化只动线性层；词嵌入、归一化和输出层留在 16 位（GGUF 的格式除外）。只给参数量时，全部当作一个大矩阵。",
        "Quantisation takes linear layers; embedding, norms and head stay in 16 bits (GGUF's formats convert all). With a \
         number of parameters alone, all of them count as one large matrix.",
    );
    const SOURCE: &'static str = "ggml-common.h; layouts of AutoAWQ and GPTQ; QLoRA (Dettmers et al. 2023), section 3";
    const EXAMPLE: &'static str = r#"{"n_params": 8030261248, "format": "q4_k"}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, max, zh, en| FieldSpec::int(key, "1", 1, max, Text::new(zh, en)).optional();
        vec![
            config(),
            count("n_params", 1 << 48, "参数量", "Parameters"),
            count("inputs", 1 << 24, "一个矩阵的输入宽度", "Inputs of one matrix"),
            count("outputs", 1 << 24, "一个矩阵的输出宽度", "Outputs of one matrix"),
            choice("format", "", FORMATS, Text::new("存储格式", "Storage format")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("bytes", "B", 0, MOST_BYTES, Text::new("全部权重", "All weights")),
            FieldSpec::int("n_params", "1", 0, MOST_BYTES, Text::new("参数量", "Parameters")),
            FieldSpec::num("bits_per_param", "bit", 0.0, 4096.0, Text::new("平均每个参数", "Average of a parameter")),
            FieldSpec::int(
                "linear_params",
                "1",
                0,
                MOST_BYTES,
                Text::new("其中在线性层里", "Of these in linear layers"),
            )
            .optional(),
            FieldSpec::int("linear_bytes", "B", 0, MOST_BYTES, Text::new("线性层的字节", "Bytes of the linear layers"))
                .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let format =
            Format::from_id(args.text("format")).map_err(|why| FieldError::conflict("format", why.to_string()))?;
        let given = ["config", "n_params", "inputs"].into_iter().filter(|key| args.has(key)).collect::<Vec<_>>();
        let (bytes, n, linear) = match given.as_slice() {
            ["config"] => {
                let blame = |why: vramlab_modelfile::Problem| FieldError::conflict("config", why.to_string());
                let list = parts::parts(&architecture(args)?).map_err(blame)?;
                let linear: Vec<parts::Part> =
                    list.iter().filter(|part| part.is_linear && part.role != Role::Extra).copied().collect();
                let plain = Format::Plain(Dtype::BF16);
                let inner = (parts::n_params(&linear), parts::bytes(&linear, format, plain));
                (parts::bytes(&list, format, plain), parts::n_params(&list), Some(inner))
            }
            ["n_params"] => {
                let n = args.uint("n_params");
                ((n as f64 * format.bits() / 8.0).ceil() as u128, n.into(), None)
            }
            ["inputs"] => {
                let legal = "an integer from 1 to 16777216 beside inputs".to_owned();
                let missing = || FieldError::Missing { field: "outputs".to_owned(), legal };
                let (k, c) =
                    (args.uint("inputs"), args.has("outputs").then(|| args.uint("outputs")).ok_or_else(missing)?);
                (format.bytes(k, c, 1), u128::from(k) * u128::from(c), None)
            }
            [] => {
                let legal = "an integer, unless config or inputs is given".to_owned();
                return Err(FieldError::Missing { field: "n_params".to_owned(), legal });
            }
            [first, ..] => {
                let reason = format!("give one of config, n_params and inputs, not {}", given.join(" and "));
                return Err(FieldError::conflict(first, reason));
            }
        };
        let whole = |key: &str, value: u128| -> Result<Value, FieldError> {
            let fits = i64::try_from(value).ok().filter(|value| *value <= MOST_BYTES);
            fits.map(Value::from).ok_or_else(|| FieldError::conflict(given[0], format!("{key} exceeds 2^62")))
        };
        Ok(answer([
            ("bytes", whole("bytes", bytes)?),
            ("n_params", whole("n_params", n)?),
            ("bits_per_param", number(bytes as f64 * 8.0 / n as f64)),
            ("linear_params", linear.map_or(Ok(Value::Null), |(n, _)| whole("linear_params", n))?),
            ("linear_bytes", linear.map_or(Ok(Value::Null), |(_, bytes)| whole("linear_bytes", bytes))?),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    #[track_caller]
    fn ask(given: &Value) -> Map {
        crate::eval("weights", &question(given)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// `total_size` of Llama 3 8B's index; 4.5 bits of q4_k; QLoRA's 0.127 bits beside four.
    #[test]
    fn published_sizes() {
        assert_eq!(ask(&json!({"n_params": 8_030_261_248_u64, "format": "bf16"}))["bytes"], 16_060_522_496_u64);
        assert_eq!(ask(&json!({"n_params": 1 << 20, "format": "q4_k"}))["bytes"], (1 << 20) / 256 * 144);
        let nf4 = ask(&json!({"inputs": 4096, "outputs": 4096, "format": "nf4"}));
        assert_eq!(
            nf4["bytes"],
            (1 << 23) + (1 << 18) + (1 << 10) * 4,
            "values, one byte for 64, four for 256 of those"
        );
        assert_eq!(format!("{:.3}", nf4["bits_per_param"].as_f64().unwrap()), "4.127");
    }

    /// Llama-2-7B in AWQ: 3.89 GB on its page.
    #[test]
    fn a_configuration_is_counted_matrix_by_matrix() {
        let config = r#"{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "intermediate_size": 11008, "vocab_size": 32000}"#;
        let got = ask(&json!({"config": config, "format": "awq4_g128"}));
        assert_eq!(
            (got["n_params"].as_u64(), got["linear_params"].as_u64()),
            (Some(6_738_415_616), Some(6_476_005_376))
        );
        assert_eq!(format!("{:.2}", got["bytes"].as_f64().unwrap() / 1e9), "3.89");
        // 4.15625 bits in linear layers; all else in two bytes.
        assert_eq!(got["linear_bytes"].as_u64(), Some(6_476_005_376 / 32 * 133 / 8));
        assert_eq!(
            got["bytes"].as_u64().unwrap() - got["linear_bytes"].as_u64().unwrap(),
            2 * (6_738_415_616 - 6_476_005_376)
        );
        let both = crate::eval("weights", &question(&json!({"config": config, "n_params": 7, "format": "bf16"})));
        assert!(both.unwrap_err().to_string().contains("not config and n_params"));
        assert_eq!(crate::eval("weights", &question(&json!({"format": "bf16"}))).unwrap_err().field(), "n_params");
    }
}
