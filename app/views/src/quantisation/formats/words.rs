//! Files and blocks in words.

use super::question::{Answer, Question, Row};
use vramlab_units::show::{grouped, with_unit};
use vramlab_units::{FieldError, Lang, Localized, Text};

pub const LINEAR: Text = Text::new("线性层", "linear layers");
pub const REST: Text = Text::new("词嵌入、输出层、归一化", "embeddings, head, norms");

pub fn gb(bytes: f64) -> String {
    format!("{:.2} GB", bytes / 1e9)
}

pub fn bits(bits: f64) -> String {
    format!("{bits:.2}")
}

pub fn count(n: f64) -> String {
    if n >= 1e9 { format!("{:.2} B", n / 1e9).replace(" B", "×10⁹") } else { grouped(n) }
}

/// A row: its block, and its bytes to the last.
pub fn row(row: &Row, lang: Lang) -> String {
    let (name, block) = (row.format.name, row.format.block.get(lang));
    let bytes = grouped(row.bytes);
    match lang {
        Lang::Zh => format!("{name}：{block}。整个文件 {bytes} B。"),
        Lang::En => format!("{name}: {block}. The whole file: {bytes} B."),
    }
}

pub fn refused(error: &FieldError) -> Localized {
    let why = error.to_string();
    Localized::both(why.clone(), why)
}

pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let of = |id: &str| answer.rows.iter().find(|row| row.format.id == id);
    let [Some(whole), Some(four), Some(awq)] = ["bf16", "q4_k", "awq4_g128"].map(of) else { return String::new() };
    let name = match (question.config.is_empty(), lang) {
        (true, _) => question.preset.label,
        (false, Lang::Zh) => "你的模型",
        (false, Lang::En) => "Your model",
    };
    let (whole_gb, four_gb, awq_gb) = (gb(whole.bytes), gb(four.bytes), gb(awq.bytes));
    let (four_bits, awq_bits) = (with_unit(four.bits, "bit"), with_unit(awq.bits, "bit"));
    match lang {
        Lang::Zh => format!(
            "{name}：BF16 {whole_gb}；“4 位”的 Q4_K 是 {four_gb}（每个参数 {four_bits}），AWQ 是 {awq_gb}（{awq_bits}，词嵌入和输出层还是 16 位）。"
        ),
        Lang::En => format!(
            "{name}: {whole_gb} in BF16. \"Four bits\" are {four_gb} as Q4_K ({four_bits} a parameter) and {awq_gb} as AWQ ({awq_bits}: embeddings and head stay in 16)."
        ),
    }
}
