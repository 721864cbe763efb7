//! What the operations of a tape are called for the reader. The tape's own names are PyTorch's; English keeps them, and so
//! does Chinese where there is no word in use.

use vramlab_units::Lang;

const NAMES: &[(&str, &str)] = &[
    ("add", "相加"),
    ("average_pool", "平均池化"),
    ("balance", "专家均衡"),
    ("balance loss", "均衡损失"),
    ("batch_norm", "批归一化"),
    ("bmm", "批矩阵乘 bmm"),
    ("conv", "卷积"),
    ("copy", "复制与转换"),
    ("cross_entropy", "交叉熵"),
    ("dropout", "dropout"),
    ("embedding", "嵌入"),
    ("flash_attention", "Flash 注意力"),
    ("foreach_sqrt", "成组开方"),
    ("index", "按下标取"),
    ("index_add", "按下标累加"),
    ("index_select", "按下标取行"),
    ("input", "输入"),
    ("layer_norm", "层归一化"),
    ("linear", "线性层"),
    ("linear_nf4", "NF4 线性层"),
    ("mask", "掩码"),
    ("masked_fill", "按掩码填充"),
    ("master gradient", "fp32 主梯度"),
    ("master weight", "fp32 主权重"),
    ("max_pool", "最大池化"),
    ("mul", "相乘"),
    ("normalise", "归一化"),
    ("optimizer state", "优化器状态"),
    ("pad", "补齐"),
    ("parameter", "参数"),
    ("places", "专家中的位次"),
    ("positions", "位置"),
    ("relu", "ReLU"),
    ("repeat", "重复"),
    ("rms_norm", "RMSNorm"),
    ("rope", "RoPE"),
    ("rope tables", "RoPE 表"),
    ("scale", "缩放"),
    ("softmax", "softmax"),
    ("sqrt", "开方"),
    ("tanh", "tanh"),
    ("topk", "取前 k 个"),
];

/// An operation's name.
pub fn name(op: &'static str, lang: Lang) -> &'static str {
    match lang {
        Lang::En => op,
        Lang::Zh => NAMES.iter().find(|(en, _)| *en == op).map_or(op, |(_, zh)| zh),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name with a space, or of a whole word of English, is no identifier: it needs a Chinese one.
    #[test]
    fn what_is_no_identifier_has_a_chinese_name() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../ledger/src");
        let mut names = Vec::new();
        let mut folders = vec![dir];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the ledger's sources").flatten() {
                let path = entry.path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let text = std::fs::read_to_string(path).expect("a source");
                        names.extend(
                            text.split(".name(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()),
                        );
                    }
                }
            }
        }
        assert!(names.len() > 30, "{names:?}");
        let known = |name: &String| NAMES.iter().any(|(en, _)| en == name);
        let missing: Vec<&String> = names.iter().filter(|name| name.contains(' ') && !known(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
