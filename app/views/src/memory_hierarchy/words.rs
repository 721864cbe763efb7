//! The memory hierarchy in words. Numbers are the file's; cycles are the model's.

use super::layout::Quantity;
use super::levels::{Level, Levels};
use vramlab_model::latency_cycles;
use vramlab_units::show::{bytes_binary, bytes_decimal, number, with_unit};
use vramlab_units::{Bytes, Lang, Nanos};

/// A value of the quantity, in the unit that fits.
pub fn value(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Latency if value >= 1000.0 => with_unit(value / 1000.0, "µs"),
        Quantity::Latency => with_unit(value, "ns"),
        Quantity::Rate if value >= 1000.0 => with_unit(value / 1000.0, "TB/s"),
        Quantity::Rate => with_unit(value, "GB/s"),
        Quantity::Size => bytes_decimal(Bytes(value as u64)),
    }
}

/// The value of a level, or why it has none.
pub fn value_of(quantity: Quantity, level: &Level, lang: Lang) -> String {
    match quantity.of(level) {
        Some(found) => value(quantity, found),
        None => pick(lang, "指令自带".into(), "no wait".into()),
    }
}

/// How many cycles a wait for a level takes.
pub fn cycles(level: &Level, clock_mhz: f64) -> Option<f64> {
    level.latency_ns.as_ref().map(|fact| latency_cycles::run(Nanos(fact.value), clock_mhz))
}

/// The finding for the level picked.
pub fn finding(levels: &Levels, picked: usize, lang: Lang) -> String {
    let Some(level) = levels.levels.get(picked) else { return String::new() };
    let bytes = Bytes(level.size_bytes.value as u64);
    let (decimal, binary) = (bytes_decimal(bytes), bytes_binary(bytes));
    let size = pick(lang, format!("{decimal}（{binary}）"), format!("{decimal} ({binary})"));
    let name = level.name(lang);
    let rate = value(Quantity::Rate, level.gb_per_s.value);
    let Some(wait) = level.latency_ns.as_ref() else {
        return pick(
            lang,
            format!("{name}：一共 {size}。读它是指令的一部分，不用等；每秒至少能供 {rate}。往下每一级都更远、更慢。"),
            format!(
                "The {name} hold {size}. Reading them is part of the instruction, without a wait, at {rate} or more. Every level below is farther and slower."
            ),
        );
    };
    let latency = value(Quantity::Latency, wait.value);
    let cycles = number(cycles(level, levels.clock_mhz).unwrap_or_default().round());
    let about = wait.is_doubtful;
    pick(
        lang,
        format!(
            "{name}：{size}，等一次{} {latency}，合 {cycles} 个周期：一个调度器错过这么多发射机会；每秒最多供 {rate}。",
            if about { "大约" } else { "" }
        ),
        format!(
            "{}: {size}, and a wait of {}{latency}. That is {cycles} cycles, each a chance to issue an instruction; it delivers {rate} at most.",
            capital(name),
            if about { "roughly " } else { "" }
        ),
    )
}

/// Where the numbers of a level come from.
pub fn sources(level: &Level, quantity: Quantity, lang: Lang) -> String {
    let fact = match quantity {
        Quantity::Latency => level.latency_ns.as_ref().unwrap_or(&level.size_bytes),
        Quantity::Rate => &level.gb_per_s,
        Quantity::Size => &level.size_bytes,
    };
    let estimate = match (fact.is_doubtful, lang) {
        (false, _) => "",
        (true, Lang::Zh) => "，估计值",
        (true, Lang::En) => ", an estimate",
    };
    pick(
        lang,
        format!("方块越大容量越大（对数）。来源{estimate}：{}。", fact.source.get(lang)),
        format!("Larger squares hold more, on a log scale. Source{estimate}: {}.", fact.source.get(lang)),
    )
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::show::THIN;

    #[test]
    fn values_come_in_the_unit_that_fits() {
        assert_eq!(value(Quantity::Latency, 342.0), format!("342{THIN}ns"));
        assert_eq!(value(Quantity::Latency, 16_000.0), format!("16{THIN}µs"));
        assert_eq!(value(Quantity::Rate, 53.2), format!("53.2{THIN}GB/s"));
        assert_eq!(value(Quantity::Size, 150_754_820_096.0), format!("151{THIN}GB"));
    }

    /// Measured on an H200: DRAM answers after 657 to 688 cycles.
    #[test]
    fn the_wait_for_hbm_is_what_was_measured() {
        let levels = Levels::course();
        let found = cycles(&levels.levels[3], levels.clock_mhz).unwrap();
        assert!((657.0..=688.0).contains(&found), "{found}");
    }
}
