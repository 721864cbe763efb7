//! Values on the command line: sizes with units, settings, back ends.

use vramlab_units::{Map, Value};

/// `8 GiB`, `512MiB`, `2 GB`, `1048576`: bytes, of a card.
pub fn bytes(text: &str) -> Result<u64, String> {
    within(text, 65_536.0, "64 KiB")
}

/// The same, for small work too.
pub fn any_bytes(text: &str) -> Result<u64, String> {
    within(text, 1.0, "1 B")
}

fn within(text: &str, least: f64, told: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 9] = [
        ("b", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("tib", 1_099_511_627_776.0),
    ];
    let legal = "a size is a number with a unit, as in 8 GiB, 512 MiB or 2 GB";
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text[..at].trim(), text[at..].trim().to_ascii_lowercase());
    let number: f64 = number.parse().map_err(|_| format!("\"{text}\" is not a size; {legal}"))?;
    let factor = match unit.as_str() {
        "" => 1.0,
        unit => UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor).ok_or_else(|| {
            let known: Vec<&str> = vec!["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
            format!("\"{unit}\" is not a unit of size; there are {}", known.join(", "))
        })?,
    };
    let bytes = number * factor;
    if (least..=1e15).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(format!("{text} is not allowed; the size must be from {told} to 1000 TB"))
    }
}

/// `key=value`; numbers and truth values as such, all else as text.
pub fn setting(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("\"{text}\" is not key=value"))?;
    let value = serde_json::from_str::<Value>(value.trim())
        .ok()
        .filter(|value| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| Value::from(value.trim()));
    Ok((key.trim().to_owned(), value))
}

/// Settings as a map; one key twice is a mistake.
pub fn settings(pairs: &[(String, Value)]) -> Result<Map, String> {
    let mut map = Map::new();
    for (key, value) in pairs {
        if map.insert(key.clone(), value.clone()).is_some() {
            return Err(format!("{key} is set twice"));
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gb_and_gib_are_not_the_same() {
        assert_eq!(bytes("2 GB"), Ok(2_000_000_000));
        assert_eq!(bytes("2GiB"), Ok(2_147_483_648));
        assert_eq!(bytes("1048576"), Ok(1_048_576));
        assert_eq!(bytes("0.5 gib"), Ok(536_870_912));
        for wrong in ["", "GiB", "2 giga", "-1 GB", "nan GB", "1", "1e300 TB", "inf"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!((any_bytes("27 KiB"), any_bytes("1")), (Ok(27_648), Ok(1)));
        assert!(any_bytes("0.5").is_err() && bytes("27 KiB").is_err());
    }

    #[test]
    fn settings_are_numbers_where_they_look_like_numbers() {
        assert_eq!(setting("stride=8"), Ok(("stride".to_owned(), 8.into())));
        assert_eq!(setting(" a = x y "), Ok(("a".to_owned(), "x y".into())));
        assert!(setting("stride").is_err());
        assert!(settings(&[("a".into(), 1.into()), ("a".into(), 2.into())]).is_err());
    }
}
