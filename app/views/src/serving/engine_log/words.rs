//! What the numbers of a log are, in words.

use super::reading::{Line, Part, Reading};
use vramlab_serve::log::{Check, Found, Key, Unit};
use vramlab_units::show::{grouped, number, readable};
use vramlab_units::{Lang, Text};

pub const UNKNOWN: Text = Text::new("不认识这一行", "unknown line");
pub const HINT: Text = Text::new("点一行，看里面的数是什么；↑ ↓ 换行。", "Press a line to read its numbers; ↑ ↓ move.");
pub const CHECKS: Text = Text::new("验算", "Sums");
pub const NO_CHECK: Text =
    Text::new("这几行里没有能互相验算的数。", "No number of these lines follows from the others.");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

/// A line without who printed it: `(EngineCore pid=326) INFO 10-06 17:00:11 [gpu_worker.py:692] `.
pub fn told(line: &str) -> &str {
    let head = line.char_indices().take_while(|(at, _)| *at < 120).filter(|(_, c)| *c == ']').last();
    let rest = head.map_or(line, |(at, _)| line[at + 1..].trim_start());
    if rest.len() < 8 { line } else { rest }
}

pub fn part(part: Part) -> Text {
    match part {
        Part::Weights => Text::new("权重", "weights"),
        Part::Consumed => Text::new("权重 + PyTorch 之外", "weights + outside of PyTorch"),
        Part::NonTorch => Text::new("PyTorch 之外", "outside of PyTorch"),
        Part::Activations => Text::new("激活峰值", "activation peak"),
        Part::Graphs => Text::new("CUDA Graph", "CUDA graphs"),
        Part::Pool => Text::new("KV 池", "KV pool"),
        Part::Open => Text::new("没说是什么", "not told"),
        Part::Beyond => Text::new("不归引擎用", "beyond its share"),
    }
}

/// A short name and what it is.
fn key(key: Key) -> [Text; 2] {
    match key {
        Key::Total => {
            [Text::new("整张卡", "card"), Text::new("驱动报的显存，GiB 计", "memory that the driver reports, in GiB")]
        }
        Key::Utilisation => [
            Text::new("份额", "share"),
            Text::new(
                "引擎最多用整卡的几成，是上限，与忙不忙无关",
                "the most of the card that the engine takes; a cap, however busy it is",
            ),
        ],
        Key::Usable => [Text::new("可用", "usable"), Text::new("整张卡 × 份额", "card × share")],
        Key::Weights => {
            [Text::new("权重", "weights"), Text::new("装载后参数占的显存", "what parameters take once loaded")]
        }
        Key::NonTorch => [
            Text::new("PyTorch 之外", "outside of PyTorch"),
            Text::new(
                "CUDA 上下文、NCCL 和库自己要的，分配器看不见",
                "context, NCCL, libraries' own buffers; the allocator does not see them",
            ),
        ],
        Key::Consumed => [
            Text::new("已占", "consumed"),
            Text::new("权重和 PyTorch 之外的合在一起报", "weights and what is outside of PyTorch in one number"),
        ],
        Key::ActivationPeak => [
            Text::new("激活峰值", "activation peak"),
            Text::new(
                "启动时按最大的一步试跑，权重以外最多用到多少",
                "most beyond the weights in a trial of the largest step, at start-up",
            ),
        ],
        Key::TorchPeak => [
            Text::new("PyTorch 峰值", "PyTorch peak"),
            Text::new("试跑时 PyTorch 的峰值，权重在内", "PyTorch's peak in the trial, weights included"),
        ],
        Key::Graphs => [
            Text::new("CUDA Graph", "CUDA graphs"),
            Text::new(
                "捕获计算图另外占的，多半在池定下以后",
                "what captured graphs take, mostly after the pool is sized",
            ),
        ],
        Key::Pool => [
            Text::new("KV 池", "KV pool"),
            Text::new("留给缓存的显存，启动时一次要好", "memory for the cache, taken once at the start"),
        ],
        Key::GpuBlocks => [
            Text::new("卡上的块", "blocks"),
            Text::new("池 ÷ 一块的字节，取整", "pool ÷ bytes of a block, rounded down"),
        ],
        Key::CpuBlocks => [
            Text::new("主机上的块", "host blocks"),
            Text::new("换出去时用的主机内存，按块数", "host memory for swapping, in blocks"),
        ],
        Key::BlockTokens => [Text::new("一块", "block"), Text::new("一块放几个 token", "tokens of a block")],
        Key::Tokens => [
            Text::new("池里的 token", "tokens of the pool"),
            Text::new("所有请求加起来最多缓存这么多", "all requests together cache at most as many"),
        ],
        Key::Concurrency => [
            Text::new("并发", "concurrency"),
            Text::new(
                "每个请求都写到最长时，能同时放几个；短的能多放",
                "requests at once if each is of the longest length; more of shorter ones",
            ),
        ],
        Key::MaxLen => {
            [Text::new("最长的请求", "longest request"), Text::new("提示加输出的上限", "the cap of prompt and output")]
        }
        Key::Needed => [
            Text::new("一个要", "one needs"),
            Text::new("一个最长的请求要的缓存", "the cache of one request of the longest length"),
        ],
        Key::EstimatedLen => [
            Text::new("放得下的最长", "longest that fits"),
            Text::new("池 ÷ 一个 token 的缓存", "pool ÷ cache of a token"),
        ],
        Key::MostTokens => [
            Text::new("最多缓存", "cache holds"),
            Text::new("缓存最多放几个 token", "tokens that the cache holds at most"),
        ],
        Key::KeyBytes => [Text::new("K 的池", "keys"), Text::new("key 占的显存", "memory of the keys")],
        Key::ValueBytes => [Text::new("V 的池", "values"), Text::new("value 占的显存", "memory of the values")],
        Key::Cards => [Text::new("卡数", "cards"), Text::new("张量并行用几张卡", "cards of tensor parallelism")],
    }
}

pub fn name(of: Key) -> Text {
    key(of)[0]
}

/// The number as the figure shows it: bytes in GiB.
pub fn value(found: &Found) -> String {
    match found.key.unit() {
        Unit::Bytes => readable(found.value, "B"),
        Unit::Count => grouped(found.value),
        Unit::Ratio => number(found.value),
    }
}

pub fn bytes(value: f64) -> String {
    format!("{:.2}\u{2009}GiB", value / 1_073_741_824.0)
}

/// The numbers of a line in a few words.
pub fn short(line: &Line, lang: Lang) -> String {
    let one = |found: &Found| {
        let value = if found.key.unit() == Unit::Bytes { bytes(found.value) } else { value(found) };
        format!("{} {value}", name(found.key).get(lang))
    };
    line.found.iter().map(one).collect::<Vec<_>>().join(" · ")
}

/// A line and all that its numbers are.
pub fn line(line: &Line, lang: Lang) -> String {
    if line.found.is_empty() {
        return pick(
            lang,
            format!("第 {} 行：不认识，原样留着。", line.number),
            format!("Line {}: unknown, kept as it is.", line.number),
        );
    }
    let one = |found: &Found| {
        let [name, what] = key(found.key).map(|text| text.get(lang));
        let gib = if found.says_gb {
            pick(lang, "；印的是 GB，除的是 2³⁰".into(), "; printed as GB, divided by 2³⁰".into())
        } else {
            String::new()
        };
        pick(lang, format!("{name} {}：{what}{gib}", found.printed), format!("{name} {}: {what}{gib}", found.printed))
    };
    let all: Vec<String> = line.found.iter().map(one).collect();
    pick(
        lang,
        format!("第 {} 行。{}。", line.number, all.join("；")),
        format!("Line {}. {}.", line.number, all.join("; ")),
    )
}

/// A sum in one line: `KV pool = 79.25GiB × 0.92 − … = 56.21 GiB`.
pub fn check(check: &Check, lang: Lang) -> String {
    let shown = |value: f64| match check.of.unit() {
        Unit::Bytes => bytes(value),
        Unit::Count => grouped(value.round()),
        Unit::Ratio => format!("{value:.2}"),
    };
    let (computed, printed) = (shown(check.computed), shown(check.printed));
    let name = name(check.of).get(lang);
    let sign = if check.agrees() { "✓" } else { "✗" };
    pick(
        lang,
        format!("{sign} {name} = {} = {computed}，印的是 {printed}", check.formula),
        format!("{sign} {name} = {} = {computed}, printed {printed}", check.formula),
    )
}

pub fn finding(reading: &Reading, lang: Lang) -> String {
    let engine = reading.log.engine().map_or("", |engine| engine.name());
    let (n, unknown, checks) = (reading.log.found.len(), reading.n_unknown(), reading.checks.len());
    let wrong = reading.n_wrong();
    let mut said = pick(
        lang,
        format!("{engine} 的启动日志：认出 {n} 个数"),
        format!("A start-up log of {engine}: {n} numbers known"),
    );
    said += &match (checks, wrong) {
        (0, _) => String::new(),
        (1, 0) => {
            pick(lang, "，1 个能由别的推出来，对得上".into(), ", one of them follows from the others and agrees".into())
        }
        (_, 0) => pick(
            lang,
            format!("，{checks} 个能互相验算，都对得上"),
            format!(", {checks} of them follow from others and agree"),
        ),
        _ => {
            pick(lang, format!("，{checks} 个验算里 {wrong} 个对不上"), format!(", {wrong} of {checks} sums disagree"))
        }
    };
    if unknown > 0 {
        said += &pick(
            lang,
            format!("，{unknown} 行不认识"),
            format!(", {unknown} line{} unknown", if unknown == 1 { "" } else { "s" }),
        );
    }
    said += match lang {
        Lang::Zh => "。",
        Lang::En => ".",
    };
    if reading.n_more > 0 {
        let n = reading.n_more;
        said += &pick(lang, format!("还有 {n} 行没画出来。"), format!(" {n} more lines are not drawn."));
    }
    if let Some(each) = reading.log.bytes_per_token() {
        let each = grouped(each.round());
        said += &pick(
            lang,
            format!("一张卡上一个 token 的缓存约 {each} B。"),
            format!(" A token takes about {each} B of one card."),
        );
    }
    said
}
