//! Numbers as people type them: thousands separators, an exponent, the unit behind. A unit of the same kind is converted:
//! "3.35 TB/s" where GB/s is asked is 3350.

/// Why a text is not the number that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypedError {
    #[error("\"{0}\" is not a number")]
    NotANumber(String),
    #[error("\"{unit}\" cannot be turned into {wanted}")]
    OtherUnit { unit: String, wanted: String },
}

/// Reads `text` as a value in `unit`. Where `unit` is `%` the value is a ratio, and a bare number counts per cent.
pub fn read(text: &str, unit: &str) -> Result<f64, TypedError> {
    let clean: String = text.trim().replace('，', ",").replace(['_', ' ', '\u{2009}', '\u{202f}', '\u{a0}', ','], "");
    let not_a_number = || TypedError::NotANumber(text.trim().to_owned());
    let (number, typed) = split(&clean).ok_or_else(not_a_number)?;
    let value: f64 = number.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(not_a_number)?;
    let unit: String = unit.chars().filter(|c| !c.is_whitespace()).collect();
    let factor = match (typed, unit.as_str()) {
        ("%", _) | ("", "%") => Some(0.01).filter(|_| matches!(unit.as_str(), "%" | "1" | "")),
        ("", _) | ("1", "%") => Some(1.0),
        (typed, unit) if typed == unit => Some(1.0),
        (typed, unit) => scale(typed)
            .zip(scale(unit))
            .and_then(|((kind, typed), (wanted, unit))| (kind == wanted).then_some(typed / unit)),
    };
    let other = || TypedError::OtherUnit { unit: typed.to_owned(), wanted: unit.clone() };
    Ok(value * factor.ok_or_else(other)?)
}

/// The longest start that is a number, and what stands behind it.
fn split(text: &str) -> Option<(&str, &str)> {
    let ends = (1..=text.len()).rev().filter(|end| text.is_char_boundary(*end));
    let mut starts = ends.map(|end| text.split_at(end));
    // `parse` takes "inf" and "nan" as well, which no reader means.
    starts.find(|(number, _)| {
        number.parse::<f64>().is_ok() && !number.contains(|c: char| c.is_alphabetic() && c != 'e' && c != 'E')
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bytes,
    Time,
    Frequency,
    Flop,
    Power,
    /// The same, per second.
    BytesPerSec,
    FlopPerSec,
}

/// What a unit measures, and its size in the base unit.
fn scale(unit: &str) -> Option<(Kind, f64)> {
    if let Some(base) = unit.strip_suffix("/s") {
        return match scale(base)? {
            (Kind::Bytes, factor) => Some((Kind::BytesPerSec, factor)),
            (Kind::Flop, factor) => Some((Kind::FlopPerSec, factor)),
            _ => None,
        };
    }
    if let Some(prefix) = unit.strip_suffix("iB") {
        let power = ["K", "M", "G", "T", "P"].iter().position(|known| *known == prefix)?;
        return Some((Kind::Bytes, 1024_f64.powi(power as i32 + 1)));
    }
    let bases = [
        ("FLOPS", Kind::FlopPerSec),
        ("FLOP", Kind::Flop),
        ("flop", Kind::Flop),
        ("B", Kind::Bytes),
        ("Hz", Kind::Frequency),
        ("W", Kind::Power),
        ("s", Kind::Time),
    ];
    let (prefix, kind) = bases.iter().find_map(|(base, kind)| Some((unit.strip_suffix(base)?, *kind)))?;
    let factor = match prefix {
        "" => 1.0,
        "n" => 1e-9,
        "µ" | "μ" | "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        _ => return None,
    };
    Some((kind, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, unit: &str, expected: f64) {
        let value = read(text, unit).unwrap_or_else(|error| panic!("{text} in {unit}: {error}"));
        assert!((value - expected).abs() <= expected.abs() * 1e-12, "{text} in {unit}: {value}");
    }

    #[test]
    fn numbers_are_read_as_people_type_them() {
        check("1,024", "B", 1024.0);
        check(" 256 B", "B", 256.0);
        check("4.8e3 GB/s", "GB/s", 4800.0);
        check("１，024".replace('１', "1").as_str(), "B", 1024.0);
        check("-3.5", "1", -3.5);
        check("7 words", "words", 7.0);
        for text in ["many", "inf", "nan", "", "e5", "1e999", "B"] {
            assert_eq!(read(text, "B"), Err(TypedError::NotANumber(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn units_of_the_same_kind_are_converted() {
        check("3.35 TB/s", "GB/s", 3350.0);
        check("80 GiB", "GB", 85.899_345_92);
        check("80 GiB", "B", 85_899_345_920.0);
        check("2 KiB", "B", 2048.0);
        check("0.5 ms", "µs", 500.0);
        check("1.98 GHz", "MHz", 1980.0);
        check("0.067 PFLOPS", "TFLOP/s", 67.0);
        let wrong = read("3 GB", "GB/s").unwrap_err();
        assert_eq!(wrong.to_string(), "\"GB\" cannot be turned into GB/s");
        assert!(read("3 apples", "B").is_err() && read("5 ms", "1").is_err());
    }

    #[test]
    fn a_percentage_is_a_ratio() {
        check("12.5 %", "1", 0.125);
        check("50", "%", 0.5);
        check("50 %", "%", 0.5);
        assert!(read("50 %", "GB/s").is_err());
    }
}
