//! The roofline in words: the finding, what the pointer is on, names and units. Every number is the models'.

use super::answer::{Answered, Change, Effect};
use super::layout::Hit;
use super::question::{Question, Roof, Tier, kernel_label};
use vramlab_model::op_intensity::Op;
use vramlab_model::roofline::Bound;
use vramlab_units::show::{THIN, number, with_unit};
use vramlab_units::{Lang, Text};

/// The name of the x axis, in full and for a narrow page.
pub fn x_axis(lang: Lang) -> [&'static str; 2] {
    match lang {
        Lang::Zh => ["算术强度，FLOP/B（每搬一个字节做几次运算）", "算术强度，FLOP/B"],
        Lang::En => ["arithmetic intensity, FLOP/B (work for each byte moved)", "intensity, FLOP/B"],
    }
}

/// The name of the y axis with the card whose ceilings these are.
pub fn y_axis(card: &str, lang: Lang) -> String {
    pick(lang, format!("TFLOP/s · {card} · 两轴都是对数"), format!("TFLOP/s · {card} · both axes logarithmic"))
}

pub fn ridge(ridge: f64, lang: Lang) -> String {
    pick(lang, format!("脊点 {}", number(ridge)), format!("ridge {}", number(ridge)))
}

/// Which ceiling is met first on the slope and on the level line, in full and for a narrow page.
pub fn sides(lang: Lang) -> [[&'static str; 2]; 2] {
    match lang {
        Lang::Zh => [["显存先到顶", "显存先到顶"], ["计算先到顶", "计算先到顶"]],
        Lang::En => [["memory runs out first", "memory first"], ["compute runs out first", "compute first"]],
    }
}

/// A bandwidth in the unit that fits.
pub fn rate(gb_per_s: f64) -> String {
    if gb_per_s >= 1000.0 { with_unit(gb_per_s / 1000.0, "TB/s") } else { with_unit(gb_per_s, "GB/s") }
}

/// A rate of work in the unit that fits.
pub fn work(tflops: f64) -> String {
    if tflops >= 0.1 || tflops == 0.0 { with_unit(tflops, "TFLOP/s") } else { with_unit(tflops * 1000.0, "GFLOP/s") }
}

pub fn time(secs: f64) -> String {
    if secs >= 1e-3 { with_unit(secs * 1e3, "ms") } else { with_unit(secs * 1e6, "µs") }
}

pub fn no_flops(kernel: &str, gb_per_s: f64, lang: Lang) -> String {
    let rate = rate(gb_per_s);
    pick(
        lang,
        format!("{kernel} 的强度是 0，在轴的左边之外；看它的 GB/s，上限 {rate}"),
        format!("{kernel} has intensity 0, left of this axis; judge it in GB/s, at most {rate}"),
    )
}

pub fn roof_name(roof: Roof) -> Text {
    match roof {
        Roof::Published => Text::new("公布", "published"),
        Roof::Measured => Text::new("实测", "measured"),
    }
}

/// Another roof's value after the counting one's.
pub fn beside(roof: Roof, value: &str, lang: Lang) -> String {
    let name = roof_name(roof).get(lang);
    pick(lang, format!("，{name} {value}"), format!(", {name} {value}"))
}

pub fn bound_name(bound: Bound) -> Text {
    match bound {
        Bound::Compute => Text::new("计算", "compute"),
        Bound::Hbm => Text::new("HBM", "HBM"),
        Bound::L2 => Text::new("L2", "L2"),
        Bound::L1 => Text::new("L1", "L1"),
        Bound::Launch => Text::new("启动", "launch"),
    }
}

/// The kernel as the sentence begins with it.
fn subject(question: &Question, lang: Lang) -> String {
    let precision = question.precision.label();
    let batch = question.batch;
    match (question.op, lang) {
        (Op::Gemm, Lang::Zh) => format!("4096 × 4096 的线性层（{precision}，批 {batch}）"),
        (Op::Gemm, Lang::En) => format!("A 4096 × 4096 linear layer ({precision}, batch {batch})"),
        (op, Lang::Zh) => format!("{}（{precision}）", kernel_label(op).zh.split(' ').next_back().unwrap_or_default()),
        (op, Lang::En) => {
            let name = kernel_label(op).en;
            let mut letters = name.chars();
            let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
            format!("{first}{} ({precision})", letters.as_str())
        }
    }
}

/// The finding for the state shown.
pub fn finding(question: &Question, answer: &Answered, lang: Lang) -> String {
    let mut text = scaled(question, lang);
    text.push_str(&standing(question, answer, lang));
    if answer.is_above() {
        text.push_str(&above(answer, lang));
    } else if question.reach_pct != 100 {
        text.push_str(&below(question, answer, lang));
    }
    text
}

fn scaled(question: &Question, lang: Lang) -> String {
    let part = |factor: f64, zh: &str, en: &str| {
        (factor != 1.0).then(|| pick(lang, format!("{zh} × {}", number(factor)), format!("{en} × {}", number(factor))))
    };
    let parts: Vec<String> = [
        part(question.hbm_x, "显存上限", "the memory ceiling"),
        part(question.compute_x, "计算上限", "the compute ceiling"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        return String::new();
    }
    pick(lang, format!("假如{}：", parts.join("、")), format!("With {}: ", parts.join(" and ")))
}

fn standing(question: &Question, answer: &Answered, lang: Lang) -> String {
    let who = subject(question, lang);
    let hbm = answer.dot(Tier::Hbm);
    let (best, ridge) = (work(answer.attainable_tflops), number(answer.ridge));
    let does = number(hbm.map_or(0.0, |dot| dot.intensity));
    if answer.flops == 0.0 {
        return standing_without_flops(&who, answer, lang);
    }
    match answer.bound {
        Bound::Compute => pick(
            lang,
            format!("{who}每字节做 {does} 次运算，过了脊点 {ridge}：计算先到顶，最多 {best}；再省显存字节也不会更快。"),
            format!(
                "{who} does {does} FLOP for each byte, beyond the ridge at {ridge}: compute runs out first, at {best}, and fewer bytes would gain nothing."
            ),
        ),
        Bound::L2 | Bound::L1 => {
            let tier = bound_name(answer.bound).get(lang);
            pick(
                lang,
                format!("{who}被 {tier} 卡住，最多 {best}；显存那一级还有余量。要靠分块减少 {tier} 的字节。"),
                format!(
                    "{who} is held by {tier} at {best}, while HBM has room: larger tiles would spare {tier} bytes."
                ),
            )
        }
        Bound::Hbm | Bound::Launch => {
            let share = with_unit(answer.attainable_tflops / answer.peak_tflops, "%");
            pick(
                lang,
                format!(
                    "{who}每字节只做 {does} 次运算，不到脊点 {ridge}：显存先到顶，最多 {best}，是计算上限的 {share}。"
                ),
                format!(
                    "{who} does {does} FLOP for each byte, short of the ridge at {ridge}: memory runs out first, at {best}, {share} of the compute ceiling."
                ),
            )
        }
    }
}

fn standing_without_flops(who: &str, answer: &Answered, lang: Lang) -> String {
    let gb_per_s = answer.dot(Tier::Hbm).map_or(0.0, |dot| dot.level.bytes_per_s / 1e9);
    let (rate, time) = (rate(gb_per_s), time(answer.floor_secs));
    pick(
        lang,
        format!("{who}一次运算也不做：只有显存在约束，最多 {rate}，最快 {time}。"),
        format!("{who} does no arithmetic: only memory limits it, to {rate} and no less than {time}."),
    )
}

fn below(question: &Question, answer: &Answered, lang: Lang) -> String {
    let share = question.reach_pct;
    let measured = work(answer.measured_tflops);
    if answer.flops == 0.0 {
        let rate = rate(answer.hbm_bytes() / answer.measured_secs / 1e9);
        return pick(
            lang,
            format!("实测 {rate}，是上限的 {share}{THIN}%。"),
            format!(" Measured: {rate}, {share}{THIN}% of the ceiling."),
        );
    }
    if share >= 80 {
        return pick(
            lang,
            format!("实测 {measured}，已到它的 {share}{THIN}%。"),
            format!(" Measured: {measured}, {share}{THIN}% of that."),
        );
    }
    pick(
        lang,
        format!("实测 {measured}，只有它的 {share}{THIN}%：一条屋顶也没碰到，先查延迟、占用率和启动开销。"),
        format!(
            " Measured: {measured}, {share}{THIN}% of that. It touches no roof: look for latency, occupancy and launches."
        ),
    )
}

fn above(answer: &Answered, lang: Lang) -> String {
    let share = with_unit(answer.utilisation, "%");
    pick(
        lang,
        format!(
            "实测是上限的 {share}，点在屋顶之上：不是跑得快，是有一个数错了。要么字节多算了（其实命中缓存），要么 FLOP 多算了，要么上限取低了。"
        ),
        format!(
            " Measured: {share} of the roof. Nothing runs above it, so one number is wrong: bytes that a cache served, \
             FLOPs counted twice, or a ceiling taken too low."
        ),
    )
}

/// What the picked thing says, for the line under the figure.
pub fn readout(question: &Question, answer: &Answered, hit: Hit, lang: Lang) -> String {
    match hit {
        Hit::ComputeRoof => {
            let value = work(answer.peak_tflops);
            pick(
                lang,
                format!("计算上限 {value} · 上下拖，或按 ↑ ↓"),
                format!("compute ceiling {value} · drag it, or press ↑ ↓"),
            )
        }
        Hit::HbmRoof => {
            let value = rate(answer.dot(Tier::Hbm).map_or(0.0, |dot| dot.level.bytes_per_s / 1e9));
            pick(
                lang,
                format!("显存上限 {value} · 上下拖，或按 ↑ ↓"),
                format!("memory ceiling {value} · drag it, or press ↑ ↓"),
            )
        }
        Hit::Dot(tier) => dot_readout(question, answer, tier, lang),
        Hit::Trail(idx) => answer.trail.get(idx).map_or(String::new(), |(batch, intensity, tflops)| {
            let (intensity, best) = (with_unit(*intensity, "FLOP/B"), work(*tflops));
            pick(
                lang,
                format!("批 {batch} · {intensity} · 最多 {best}"),
                format!("batch {batch} · {intensity} · at most {best}"),
            )
        }),
    }
}

fn dot_readout(question: &Question, answer: &Answered, tier: Tier, lang: Lang) -> String {
    let Some(dot) = answer.dot(tier) else { return String::new() };
    let bytes = with_unit(dot.level.bytes / 1e6, "MB");
    let (name, flops) = (tier.label(), with_unit(answer.flops / 1e9, "GFLOP"));
    let (intensity, roof) = (with_unit(dot.intensity, "FLOP/B"), work(dot.roof_tflops));
    let ceiling = rate(dot.level.bytes_per_s / 1e9);
    let source = question.tier_ceiling(tier, question.roof).map(|ceiling| super::ceilings::CEILINGS.source_of(ceiling));
    let source = source.unwrap_or_default();
    pick(
        lang,
        format!("{name}：{flops} ÷ {bytes} = {intensity} · 这一级 {ceiling}，最多 {roof} · 来源 {source}"),
        format!("{name}: {flops} ÷ {bytes} = {intensity} · {ceiling} here allow {roof} · source: {source}"),
    )
}

/// What the picture's marks are, when nothing is pointed at.
pub fn scale_note(question: &Question, has_other: bool, lang: Lang) -> String {
    let measured = if question.reach_pct == 100 {
        ("", "")
    } else {
        ("，实心点是实测，色带是余量", ", solid dots are measured, bands are headroom")
    };
    let roofs = match (has_other, question.roof) {
        (true, _) => ("虚线屋顶是公布值，实线是实测值。", "Dashed roofs are published, solid ones measured."),
        (false, Roof::Published) => ("屋顶是公布值。", "The roof is what the vendor publishes."),
        (false, Roof::Measured) => ("屋顶是实测值。", "The roof is measured."),
    };
    pick(
        lang,
        format!("空心点是最多能到的地方{}。{}拖动两个把手试试别的上限。", measured.0, roofs.0),
        format!("Hollow dots: the best possible{}. {} Drag the two grips for other ceilings.", measured.1, roofs.1),
    )
}

pub fn change_name(change: Change, question: &Question, after: &Question) -> Text2 {
    let (zh, en) = match change {
        Change::Fuse if question.extra_steps == 0 => ("融合下一步".into(), "fuse one more step".into()),
        Change::Fuse => {
            (format!("融合后续 {} 步", question.extra_steps), format!("fuse the {} steps", question.extra_steps))
        }
        Change::Tile => {
            (format!("小块 {} → {}", question.tile, after.tile), format!("tile {} → {}", question.tile, after.tile))
        }
        Change::Narrow => {
            let text = format!("{} → {}", question.precision.label(), after.precision.label());
            (text.clone(), text)
        }
        Change::Batch => {
            (format!("批 {} → {}", question.batch, after.batch), format!("batch {} → {}", question.batch, after.batch))
        }
    };
    Text2 { zh, en }
}

/// Two languages made at run time.
pub struct Text2 {
    pub zh: String,
    pub en: String,
}

impl Text2 {
    pub fn get(self, lang: Lang) -> String {
        pick(lang, self.zh, self.en)
    }
}

/// The direction in which a dot goes, in words.
pub fn effect_note(effect: &Effect, has_levels: bool, lang: Lang) -> String {
    let is_faster = effect.secs < 0.98;
    let bound = bound_name(effect.bound).get(lang);
    let spares_hbm = effect.hbm_bytes < 0.98;
    match (effect.change, is_faster) {
        (Change::Fuse, false) if !spares_hbm => {
            pick(lang, "输出太小，省不下几个字节".into(), "outputs are small: few bytes to spare".into())
        }
        (Change::Tile, true) => pick(lang, "L2 的点右移".into(), "the L2 dot goes right".into()),
        (Change::Tile, false) if effect.l2_bytes < 0.995 => pick(
            lang,
            format!("L2 的点右移，可卡住的是{}", zh_gap(bound)),
            format!("the L2 dot goes right, but {bound} is the limit"),
        ),
        (_, true) if spares_hbm && has_levels => {
            pick(lang, "各级字节都少了".into(), "fewer bytes at every level".into())
        }
        (_, true) if spares_hbm => {
            pick(lang, "点右移，沿斜线上升".into(), "the dot goes right and up the slope".into())
        }
        (_, true) => pick(lang, "屋顶抬高".into(), "the roof rises".into()),
        (_, false) => {
            pick(lang, format!("没有用：卡住的是{}", zh_gap(bound)), format!("no gain: {bound} is the limit"))
        }
    }
}

/// Latin words stand apart from 汉字.
fn zh_gap(word: &str) -> String {
    if word.is_ascii() { format!(" {word}") } else { word.to_owned() }
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}
