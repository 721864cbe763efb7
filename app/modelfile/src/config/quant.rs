//! The storage format that a configuration declares.

use super::lookup::Lookup;
use crate::arch::Architecture;
use crate::dtype::Dtype;
use crate::format::Format;
use crate::json::Node;
use crate::problem::Problem;

pub fn find(arch: &mut Architecture, lookup: &Lookup) -> Result<(), Problem> {
    let Some(entry) = lookup.find("quantization_config").or_else(|| lookup.find("compression_config")) else {
        return Ok(());
    };
    let config = &entry.node;
    let method = config.get("quant_method").and_then(Node::text).unwrap_or_default().to_ascii_lowercase();
    match declared(config, &method).map_err(|problem| entry.at(problem))? {
        Some(format) => {
            arch.format = Some(format);
            if arch.dtype.is_none() {
                arch.dtype = Some((Dtype::F16, entry.origin.clone()));
            }
        }
        None => {
            let method: String = method.chars().filter(char::is_ascii_graphic).take(40).collect();
            let name = if method.is_empty() { "?".to_owned() } else { method };
            arch.dtype = None;
            arch.lacks(
                "quantization_config",
                format!("声明了量化 “{name}”，但不认识它的布局；用 --weights 指定格式"),
                format!(
                    "declares the quantisation \"{name}\", whose layout is not known; name the format by --weights"
                ),
            );
        }
    }
    Ok(())
}

fn declared(config: &Node, method: &str) -> Result<Option<Format>, Problem> {
    let number = |key: &str, default: u64| -> Result<u64, Problem> {
        match config.get(key) {
            None => Ok(default),
            Some(node) => node.uint().ok_or_else(|| bad(key, node)),
        }
    };
    let flag = |key: &str| config.get(key).and_then(Node::flag) == Some(true);
    Ok(match method {
        "awq" | "gptq" => {
            let bits = number("bits", number("w_bit", 4)?)?;
            // −1 is one group for a whole column.
            let is_whole = config.get("group_size").is_some_and(|node| node.shown() == "-1");
            let group =
                if is_whole { u64::from(u32::MAX) } else { number("group_size", number("q_group_size", 128)?)? };
            if ![2, 3, 4, 8].contains(&bits) || group == 0 {
                let key = if group == 0 { "group_size" } else { "bits" };
                return Err(config.get(key).map_or_else(|| unlike(key, "?"), |node| bad(key, node)));
            }
            Some(Format::Grouped { bits, group, has_index: method == "gptq" })
        }
        "bitsandbytes" | "bnb" => {
            if flag("load_in_8bit") || flag("_load_in_8bit") {
                Some(Format::Int8)
            } else {
                let is_four =
                    flag("load_in_4bit") || flag("_load_in_4bit") || config.get("bnb_4bit_quant_type").is_some();
                is_four.then(|| Format::Nf4 { double: flag("bnb_4bit_use_double_quant") })
            }
        }
        "fp8" => {
            let block = config.get("weight_block_size").and_then(Node::list).and_then(<[Node]>::first);
            match block {
                Some(node) => Some(Format::Fp8 {
                    block: node.uint().filter(|n| *n > 0).ok_or_else(|| bad("weight_block_size", node))?,
                }),
                None => Some(Format::Fp8 { block: 0 }),
            }
        }
        _ => None,
    })
}

fn bad(key: &str, node: &Node) -> Problem {
    unlike(key, &node.shown())
}

fn unlike(key: &str, value: &str) -> Problem {
    let key = format!("quantization_config.{key}");
    Problem::new(
        format!("{key} = {value} 不合法；位数应为 2、3、4 或 8，组的大小应为正整数"),
        format!("{key} = {value} is not allowed; bits are 2, 3, 4 or 8, and a group is a positive number"),
    )
    .field(key)
}
