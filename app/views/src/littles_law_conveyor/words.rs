//! The conveyor in words.

use super::layout::{COLUMN_NS, ROWS, steps_to_first};
use super::question::{Answer, Question};
use vramlab_units::show::{bytes_decimal, with_unit};
use vramlab_units::{Bytes, Lang};

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn bytes(value: f64) -> String {
    bytes_decimal(Bytes(value.round().max(0.0) as u64))
}

/// The finding for the state shown. Every number is the model's.
pub fn finding(question: &Question, answer: &Answer, lang: Lang) -> String {
    let Question { sm_count, threads_per_sm, bytes_per_load, loads_per_thread, .. } = question;
    let (in_flight, needed) = (bytes(answer.bytes_in_flight), bytes(answer.bytes_needed));
    let (latency, rate) = (with_unit(question.latency_ns, "ns"), with_unit(answer.gb_per_s, "GB/s"));
    let share = with_unit(answer.share, "%");
    let zh = format!(
        "{sm_count} 个 SM × {threads_per_sm} 个线程 × {loads_per_thread} 次 × {bytes_per_load} B = 在途 {in_flight}"
    );
    let loads = if *loads_per_thread == 1 { "1 load".to_owned() } else { format!("{loads_per_thread} loads") };
    let en =
        format!("{sm_count} SMs × {threads_per_sm} threads × {loads} × {bytes_per_load} B put {in_flight} in flight");
    if !answer.is_full {
        return pick(
            lang,
            format!("{zh}，填满要 {needed}；一个来回 {latency}，只维持得住 {rate}，峰值的 {share}。"),
            format!(
                "{en}, of the {needed} that it takes; at {latency} a round trip they sustain {rate}, {share} of the peak."
            ),
        );
    }
    if answer.bytes_in_flight > answer.bytes_needed {
        let loaded = with_unit(answer.latency_loaded_ns, "ns");
        return pick(
            lang,
            format!("{zh}，超过所需的 {needed}：带宽到顶 {rate}，多出来的排队，一个来回拖到 {loaded}。"),
            format!(
                "{en}, more than the {needed} it takes: {rate} is the ceiling, the rest waits, and a round trip grows to {loaded}."
            ),
        );
    }
    pick(lang, format!("{zh}，正好填满：{rate}。"), format!("{en}, exactly what it takes: {rate}."))
}

/// The step of the animation, for the line under the figure.
pub fn step(question: &Question, now: usize, lang: Lang) -> String {
    let square = bytes(question.peak_gb_per_s * COLUMN_NS / ROWS as f64);
    let first = steps_to_first(question.latency_ns);
    if now < first {
        let (time, latency) = (with_unit(now as f64 * COLUMN_NS, "ns"), with_unit(question.latency_ns, "ns"));
        return pick(
            lang,
            format!("过了 {time}：第一批还在路上，{latency} 才到。"),
            format!("After {time}: the first bytes are still under way; they arrive at {latency}."),
        );
    }
    pick(
        lang,
        format!("一格是 {square}。传送带长是延迟，高是峰值，面积就是填满它要的在途字节。"),
        format!(
            "A square is {square}. The belt is as long as the latency and as tall as the peak: its area is the bytes it takes."
        ),
    )
}
