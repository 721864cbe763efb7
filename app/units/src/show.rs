//! Numbers for reading: rounded, with a thin space before the unit, never `NaN` or `inf`.

use crate::quantity::Bytes;

/// The thin space between a number and its unit.
pub const THIN: char = '\u{2009}';

/// `value` with about three significant digits, without an exponent: `4478`, `0.125`, `32`, `1.98`.
/// A value that is not finite prints as `–`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let magnitude = value.abs();
    if magnitude == 0.0 || (value.fract() == 0.0 && magnitude < 1e15) {
        return format!("{value:.0}");
    }
    let decimals = match magnitude {
        m if m >= 100.0 => 0,
        m if m >= 10.0 => 1,
        m if m >= 1.0 => 2,
        m if m >= 0.1 => 3,
        m => (2.0 - m.log10().floor()).clamp(0.0, 12.0) as usize,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// [`number`] with a unit; the unit `1` (dimensionless) prints nothing, `%` scales a ratio by 100.
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "" | "1" => number(value),
        "%" => format!("{}{THIN}%", number(value * 100.0)),
        unit => format!("{}{THIN}{unit}", number(value)),
    }
}

/// As [`with_unit`] for what an experiment measures, whose `%` is counted in per cent already: 42 is `42 %`.
pub fn measured(value: f64, unit: &str) -> String {
    if unit == "%" { format!("{}{THIN}%", number(value)) } else { with_unit(value, unit) }
}

/// [`number`], its digits in groups of three once there are more than four: `21 000 000`, `4478`.
pub fn grouped(value: f64) -> String {
    let text = number(value);
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    if whole.len() < 5 || !whole.bytes().all(|digit| digit.is_ascii_digit()) {
        return text;
    }
    let mut out = sign.to_owned();
    for (idx, digit) in whole.chars().enumerate() {
        if idx > 0 && (whole.len() - idx) % 3 == 0 {
            out.push(THIN);
        }
        out.push(digit);
    }
    out + fraction
}

/// [`with_unit`], its digits in groups.
pub fn grouped_with_unit(value: f64, unit: &str) -> String {
    match unit {
        "" | "1" => grouped(value),
        "%" => format!("{}{THIN}%", grouped(value * 100.0)),
        unit => format!("{}{THIN}{unit}", grouped(value)),
    }
}

/// Units that follow each other by a factor of 1000, or of 1024.
const LADDERS: [(f64, &[&str]); 3] = [
    (1000.0, &["B", "kB", "MB", "GB", "TB", "PB"]),
    (1024.0, &["KiB", "MiB", "GiB", "TiB", "PiB"]),
    (1000.0, &["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"]),
];

/// As [`grouped_with_unit`], and what has more than four digits in the larger unit of the same system: `21 GB` for
/// 21,000,000,000 B, `64 GiB` for 65536 MiB, `3.35 TB/s` for 3,350,000 MB/s; `8192 MiB` stays.
pub fn readable(value: f64, unit: &str) -> String {
    let (head, per) = unit.split_at(unit.find('/').unwrap_or(unit.len()));
    let found = LADDERS.iter().find_map(|(base, rungs)| Some((*base, *rungs, rungs.iter().position(|u| *u == head)?)));
    let Some((base, rungs, mut idx)) = found.filter(|_| value.abs() >= 1e4) else {
        return grouped_with_unit(value, unit);
    };
    let mut value = value;
    while value.abs() >= base && idx + 1 < rungs.len() {
        value /= base;
        idx += 1;
    }
    grouped_with_unit(value, &format!("{}{per}", rungs[idx]))
}

/// Bytes in the binary unit that fits: `128 B`, `4 KiB`, `1.5 GiB`.
pub fn bytes_binary(bytes: Bytes) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    scaled(bytes.0, 1024.0, &UNITS)
}

/// Bytes of a unit of binary size, for axes: what 1 of `unit` holds, nothing for other units.
pub fn binary_unit_bytes(unit: &str) -> Option<f64> {
    match unit {
        "B" => Some(1.0),
        "KiB" => Some(1024.0),
        "MiB" => Some(1_048_576.0),
        _ => None,
    }
}

/// Bytes in the decimal unit that fits: `128 B`, `4.1 kB`, `1.61 GB`.
pub fn bytes_decimal(bytes: Bytes) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    scaled(bytes.0, 1000.0, &UNITS)
}

fn scaled(bytes: u64, step: f64, units: &[&str]) -> String {
    let mut value = bytes as f64;
    let mut unit_idx = 0;
    while value >= step && unit_idx + 1 < units.len() {
        value /= step;
        unit_idx += 1;
    }
    format!("{}{THIN}{}", number(value), units[unit_idx])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped_and_small_ones_are_as_they_were() {
        let plain = |value: f64| grouped(value).replace(THIN, "_");
        assert_eq!([4478.0, 10_000.0, 1_234_567.0, -65_536.0].map(plain), ["4478", "10_000", "1_234_567", "-65_536"]);
        assert_eq!([0.125, 1.5, 99_999.5, f64::NAN].map(plain), ["0.125", "1.5", "100_000", "–"]);
        assert_eq!(grouped_with_unit(65_536.0, "token"), "65\u{2009}536\u{2009}token");
    }

    #[test]
    fn a_measured_percentage_is_not_multiplied_again() {
        let said = |value, unit| measured(value, unit).replace(THIN, " ");
        assert_eq!([said(100.0, "%"), said(0.5, "%"), said(3.5, "ms")], ["100 %", "0.5 %", "3.5 ms"]);
    }

    #[test]
    fn what_can_be_said_in_a_larger_unit_of_its_system_is() {
        let read = |value: f64, unit: &str| readable(value, unit).replace(THIN, " ");
        assert_eq!(read(21_000_000_000.0, "B"), "21 GB");
        assert_eq!(read(65_536.0, "MiB"), "64 GiB");
        assert_eq!(read(8_192.0, "MiB"), "8192 MiB");
        assert_eq!(read(3_350_000.0, "MB/s"), "3.35 TB/s");
        assert_eq!(read(524_288.0, "B/token"), "524 kB/token");
        assert_eq!(read(-2e13, "FLOP"), "-20 TFLOP");
        assert_eq!(read(12_345_678.0, "ms"), "12 345 678 ms");
        assert_eq!(read(5e9, "PB"), "5 000 000 000 PB");
        assert_eq!((read(0.5, "%"), read(14.0, "GB")), ("50 %".to_owned(), "14 GB".to_owned()));
    }
}
