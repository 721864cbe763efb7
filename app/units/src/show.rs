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

/// Bytes in the binary unit that fits: `128 B`, `4 KiB`, `1.5 GiB`.
pub fn bytes_binary(bytes: Bytes) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    scaled(bytes.0, 1024.0, &UNITS)
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
