//! Names of tensors for readers: the tape writes them in English, as the file keeps them.

use vramlab_units::Lang;

/// Part by part, as they stand between dots.
const PARTS: [(&str, &str); 24] = [
    ("head", "输出头"),
    ("data", "数据"),
    ("input", "输入"),
    ("classes", "类别"),
    ("logits", "logits"),
    ("losses", "各行损失"),
    ("linear", "线性层"),
    ("gelu", "GELU"),
    ("norm", "LayerNorm"),
    ("norm 1", "LayerNorm 1"),
    ("norm 2", "LayerNorm 2"),
    ("mean and σ", "均值和 σ"),
    ("q, k, v", "q、k、v"),
    ("attention scores", "注意力分数"),
    ("attention", "注意力"),
    ("attention out", "注意力的投影"),
    ("up", "升维"),
    ("down", "降维"),
    ("gradient of an input", "输入的梯度"),
    ("gradient of the scores", "分数的梯度"),
    ("gradient of q, k, v", "q、k、v 的梯度"),
    ("sum of gradients", "梯度之和"),
    ("from the host", "从主机取回"),
    ("qkv", "q、k、v"),
];
/// Ends of a parameter's name.
const ENDS: [(&str, &str); 4] = [("weight", "权重"), ("bias", "偏置"), ("scale", "缩放"), ("shift", "平移")];

/// A tensor's name in the reader's language; what is not known stays as it is.
pub fn label(text: &str, lang: Lang) -> String {
    if lang == Lang::En {
        return text.to_owned();
    }
    text.split(" · ").map(part).collect::<Vec<_>>().join(" · ")
}

fn part(text: &str) -> String {
    let known = |text: &str| PARTS.iter().find(|(en, _)| *en == text).map(|(_, zh)| (*zh).to_owned());
    if let Some(number) = text.strip_prefix("layer ") {
        return format!("第 {number} 层");
    }
    if let Some(zh) = known(text) {
        return zh;
    }
    for (en, zh) in ENDS {
        if let Some(before) = text.strip_suffix(en) {
            let before = before.trim_end();
            let front = known(before).unwrap_or_else(|| before.to_owned());
            return if front.is_empty() { zh.to_owned() } else { format!("{front} {zh}") };
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_of_a_peak_has_its_words() {
        for (en, zh) in [
            ("layer 1 · gradient of an input", "第 1 层 · 输入的梯度"),
            ("layer 0 · attention scores", "第 0 层 · 注意力分数"),
            ("layer 7 · up weight", "第 7 层 · 升维 权重"),
            ("head · weight", "输出头 · 权重"),
            ("something else", "something else"),
        ] {
            assert_eq!(label(en, Lang::Zh), zh);
            assert_eq!(label(en, Lang::En), en);
        }
    }
}
