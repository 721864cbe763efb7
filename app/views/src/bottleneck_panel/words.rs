//! The bottleneck panel in words.

use super::question::Question;
use vramlab_model::bottleneck::{Found, Resource};
use vramlab_units::show::{bytes_decimal, number, with_unit};
use vramlab_units::{Bytes, Lang, Text};

pub const SERIAL: Text = Text::new("全不重叠", "no overlap");

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn name(resource: Resource) -> Text {
    match resource {
        Resource::Memory => Text::new("显存字节", "memory bytes"),
        Resource::Compute => Text::new("运算", "arithmetic"),
        Resource::Launches => Text::new("启动", "launches"),
        Resource::Link => Text::new("主机链路", "host link"),
    }
}

/// Microseconds in the unit that fits.
pub fn time(us: f64) -> String {
    match us {
        us if us >= 1.0e6 => with_unit(us / 1.0e6, "s"),
        us if us >= 1.0e3 => with_unit(us / 1.0e3, "ms"),
        us if us >= 1.0 || us == 0.0 => with_unit(us, "µs"),
        us => with_unit(us * 1.0e3, "ns"),
    }
}

pub fn bytes(value: f64) -> String {
    bytes_decimal(Bytes(value.round().max(0.0) as u64))
}

/// Operations in the unit that fits.
pub fn flop(value: f64) -> String {
    match value {
        v if v >= 1.0e15 => with_unit(v / 1.0e15, "PFLOP"),
        v if v >= 1.0e12 => with_unit(v / 1.0e12, "TFLOP"),
        v if v >= 1.0e9 => with_unit(v / 1.0e9, "GFLOP"),
        v if v >= 1.0e6 => with_unit(v / 1.0e6, "MFLOP"),
        v => with_unit(v, "FLOP"),
    }
}

/// The finding for the state shown. Every number is the model's.
pub fn finding(found: Option<&Found>, lang: Lang) -> String {
    let Some(found) = found else {
        return pick(lang, "没有活要干，也就没有瓶颈。".into(), "There is no work, so nothing binds.".into());
    };
    let names: Vec<&str> = found.bound.iter().map(|resource| name(*resource).get(lang)).collect();
    let (floor, serial) = (time(found.floor_us()), time(found.serial_us()));
    let bounds = pick(
        lang,
        format!("全重叠要 {floor}，全不重叠要 {serial}，实际在两者之间或更慢。"),
        format!(" With full overlap it takes {floor}, with none {serial}; a real run lies between, or is slower."),
    );
    let who = match (found.margin, names.len()) {
        (_, 2..) => pick(
            lang,
            format!("{}并列：少了哪一个，另一个照样卡住。", names.join("和")),
            format!("A tie between {}: mending one leaves the other.", names.join(" and ")),
        ),
        (Some(margin), _) => pick(
            lang,
            format!("瓶颈是{}，是第二名的 {} 倍。", names.concat(), number(margin)),
            format!("Bound by {}, {} times the second.", names.concat(), number(margin)),
        ),
        (None, _) => pick(
            lang,
            format!("瓶颈是{}，别的都不花时间。", names.concat()),
            format!("Bound by {}; nothing else takes time.", names.concat()),
        ),
    };
    who + &bounds
}

/// How a resource's time comes about.
pub fn row(question: &Question, resource: Resource, us: f64, lang: Lang) -> String {
    let Question { work, machine, .. } = question;
    let (what, rate) = match resource {
        Resource::Memory => (bytes(work.bytes), format!("÷ {}", with_unit(machine.peak_gb_per_s, "GB/s"))),
        Resource::Compute => (flop(work.flop), format!("÷ {}", with_unit(machine.peak_tflop_per_s, "TFLOP/s"))),
        Resource::Launches => {
            let times =
                pick(lang, format!("{} 次", number(work.launches)), format!("{} launches", number(work.launches)));
            (times, format!("× {}", with_unit(machine.launch_us, "µs")))
        }
        Resource::Link => (bytes(work.link_bytes), format!("÷ {}", with_unit(machine.link_gb_per_s, "GB/s"))),
    };
    format!("{} · {what} {rate} = {}", name(resource).get(lang), time(us))
}
