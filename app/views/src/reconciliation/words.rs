//! Names of the parts, and the sentence of the whole.

use super::layout::{Part, Piece};
use vramlab_model::reconcile::{Figures, Parts};
use vramlab_units::{Bytes, Lang, Text, show};

const OWNERS: [Text; 5] = [
    Text::new("参数", "parameters"),
    Text::new("梯度", "gradients"),
    Text::new("优化器状态", "optimizer state"),
    Text::new("激活", "activations"),
    Text::new("临时与其他", "temporaries, others"),
];

pub fn name(part: Part) -> Text {
    match part {
        Part::Process => Text::new("NVML：进程", "NVML: the process"),
        Part::Context => Text::new("CUDA 上下文", "CUDA context"),
        Part::Libraries => Text::new("库自己的分配", "libraries' own"),
        Part::UnknownOutside => Text::new("分配器之外，来历不明", "outside the allocator, unknown"),
        Part::Reserved => Text::new("保留（各段）", "reserved (segments)"),
        Part::Allocated => Text::new("在用的块", "blocks in use"),
        Part::Cached => Text::new("缓存", "cached"),
        Part::Requested => Text::new("申请的", "asked for"),
        Part::Rounding => Text::new("取整", "rounding"),
        Part::Owner(idx) => OWNERS.get(idx).copied().unwrap_or(OWNERS[4]),
        Part::Unowned => Text::new("申请了，没有主人", "asked for, nobody's"),
    }
}

/// Whether nobody can say what it is.
pub fn is_unknown(part: Part) -> bool {
    matches!(part, Part::UnknownOutside | Part::Unowned)
}

pub fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

pub fn share(bytes: u64, whole: u64) -> String {
    show::with_unit((bytes as f64 / whole.max(1) as f64 * 1e4).round() / 1e4, "%")
}

/// The name, the bytes to the last one, and the share of the process.
pub fn exact(piece: &Piece, whole: u64, lang: Lang) -> String {
    let bytes = show::grouped_with_unit(piece.bytes as f64, "B");
    format!("{} · {} · {bytes} · {}", name(piece.part).get(lang), size(piece.bytes), share(piece.bytes, whole))
}

/// The whole in a sentence.
pub fn finding(figures: &Figures, parts: &Parts, lang: Lang) -> String {
    let [nvml, outside, reserved, cached, rounding, unexplained] =
        [figures.nvml_process, parts.outside, figures.reserved, parts.cached, parts.rounding, parts.unexplained()]
            .map(size);
    let share = share(parts.unexplained(), figures.nvml_process);
    let context = figures.context.map(size);
    match lang {
        Lang::Zh => {
            let of = context.map_or(String::new(), |context| format!("（其中上下文 {context}）"));
            format!(
                "NVML 记 {nvml}：分配器之外 {outside}{of}，保留 {reserved}；保留里 {cached} 是缓存，{rounding} 是取整；说不清的共 {unexplained}，占 {share}。"
            )
        }
        Lang::En => {
            let of = context.map_or(String::new(), |context| format!(" ({context} of it the context)"));
            format!(
                "NVML reports {nvml}: {outside} outside the allocator{of}, {reserved} reserved. Of that {cached} are cache and \
                 {rounding} rounding; {unexplained}, {share}, are not accounted for."
            )
        }
    }
}
