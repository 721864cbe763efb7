//! Units in prose and tables that can be read in two ways. GB is 10⁹ bytes, GiB is 2³⁰.

use vramlab_units::show;

/// A number of bytes as it stands in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// As written, from the number to the unit; the unit alone if no number precedes it.
    pub written: String,
    pub number: f64,
    pub unit: String,
    pub is_binary: bool,
    /// 1 for k, 2 for M, …
    power: i32,
}

impl Quantity {
    fn prefix(&self) -> &'static str {
        ["", "K", "M", "G", "T", "P"].get(self.power as usize).copied().unwrap_or_default()
    }

    /// The two readings: `80 GB (80000000000 B) or 80 GiB (85899345920 B)`.
    fn readings(&self) -> String {
        let number = show::number(self.number);
        let decimal = if self.power == 1 { "k" } else { self.prefix() };
        let bytes = |base: f64| show::number(self.number * base.powi(self.power));
        format!("{number} {decimal}B ({} B) or {number} {}iB ({} B)", bytes(1000.0), self.prefix(), bytes(1024.0))
    }
}

/// A unit that is two.
#[derive(Clone, Debug, PartialEq)]
pub struct Unclear {
    pub written: String,
    quantity: Quantity,
}

impl Unclear {
    pub fn what(&self) -> String {
        format!("\"{}\" can be read as {}", self.written, self.quantity.readings())
    }

    pub fn help(&self) -> String {
        "write the one you mean".to_owned()
    }
}

/// Decimal and binary units in one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixed {
    first: Quantity,
    pub second: Quantity,
}

impl Mixed {
    pub fn what(&self) -> String {
        format!("one table mixes {} and {}", self.first.unit, self.second.unit)
    }

    pub fn help(&self) -> String {
        let reading = |quantity: &Quantity| {
            let (base, other, name) =
                if quantity.is_binary { (1024.0_f64, 1e9, "GB") } else { (1000.0, 1_073_741_824.0, "GiB") };
            let bytes = quantity.number * base.powi(quantity.power);
            format!("{} {} is {} {name}", show::number(quantity.number), quantity.unit, show::number(bytes / other))
        };
        format!("{}, and {}; keep to one of them", reading(&self.first), reading(&self.second))
    }
}

/// The first pair of decimal and binary units in the text of a table. Rates (`GB/s`) are always decimal and do not count.
pub fn mixed(table: &str) -> Option<Mixed> {
    let found: Vec<Quantity> = quantities(table).into_iter().filter(|quantity| quantity.unit.len() > 1).collect();
    let first = found.first()?.clone();
    let second = found.into_iter().find(|quantity| quantity.is_binary != first.is_binary)?;
    Some(Mixed { first, second })
}

/// Units that stand for a power of 1000 to one reader and of 1024 to the next: `KB`, and `G` or `T` without a byte.
pub fn unclear(text: &str) -> Vec<Unclear> {
    let is_unclear =
        |quantity: &Quantity| matches!(quantity.unit.as_str(), "KB" | "G" | "T") && quantity.number.is_finite();
    let found = quantities(text).into_iter().filter(is_unclear);
    found.map(|quantity| Unclear { written: quantity.written.clone(), quantity }).collect()
}

/// Every byte unit in `text`, with the number before it.
fn quantities(text: &str) -> Vec<Quantity> {
    let mut out = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        if !chars[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let start = at;
        while at < chars.len() && chars[at].is_ascii_alphabetic() {
            at += 1;
        }
        let is_whole = start == 0 || !matches!(chars[start - 1], '_' | '-' | '/');
        let is_rate = chars.get(at).is_some_and(|c| matches!(c, '/' | '_'));
        let unit: String = chars[start..at].iter().collect();
        if let Some((power, is_binary)) = byte_unit(&unit).filter(|_| is_whole && !is_rate) {
            let number_start = number_before(&chars, start);
            let digits: String =
                chars[number_start..start].iter().filter(|c| c.is_ascii_digit() || **c == '.').collect();
            match digits.parse() {
                Ok(number) => {
                    let written = chars[number_start..at].iter().collect();
                    out.push(Quantity { written, number, unit, is_binary, power });
                }
                Err(_) if unit.len() > 1 => {
                    out.push(Quantity { written: unit.clone(), number: 1.0, unit, is_binary, power });
                }
                Err(_) => {}
            }
        }
    }
    out
}

fn byte_unit(unit: &str) -> Option<(i32, bool)> {
    Some(match unit {
        "kB" | "KB" => (1, false),
        "MB" => (2, false),
        "GB" | "G" => (3, false),
        "TB" | "T" => (4, false),
        "KiB" => (1, true),
        "MiB" => (2, true),
        "GiB" => (3, true),
        "TiB" => (4, true),
        _ => return None,
    })
}

/// Where the number begins that ends just before `end`; `end` if there is none.
fn number_before(chars: &[char], end: usize) -> usize {
    let mut at = end;
    while at > 0 && matches!(chars[at - 1], ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}') && end - at < 2 {
        at -= 1;
    }
    let digits_end = at;
    while at > 0 && (chars[at - 1].is_ascii_digit() || matches!(chars[at - 1], '.' | ',' | '\u{2009}' | '\u{202f}')) {
        at -= 1;
    }
    let is_word = at > 0 && (chars[at - 1].is_ascii_alphabetic() || chars[at - 1] == '_');
    if is_word || at == digits_end { end } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_unclear(text: &str, expected: &[&str]) {
        let found: Vec<String> = unclear(text).into_iter().map(|unclear| unclear.written).collect();
        assert_eq!(found, expected, "{text}");
    }

    /// L5
    #[test]
    fn a_unit_with_two_readings_shows_both() {
        check_unclear("每块卡有 80 G 显存", &["80 G"]);
        check_unclear("228 KB of shared memory, 3.35 T", &["228 KB", "3.35 T"]);
        check_unclear("80 GB, 80 GiB, 4 kB/s, plan G, T4, GDDR6 and 1.5 TB/s, H100 G", &[]);
        let what = unclear("228 KB")[0].what();
        // 228 × 1024 = 233,472
        assert_eq!(what, "\"228 KB\" can be read as 228 kB (228000 B) or 228 KiB (233472 B)");
    }

    /// L5
    #[test]
    fn a_table_keeps_to_one_kind_of_unit() {
        assert_eq!(mixed("80 GB\n40 GB\n"), None);
        assert_eq!(mixed("L2\n50 MiB\n4800 GB/s\n"), None, "rates are decimal");
        let found = mixed("card\n80 GB\nfree\n74.5 GiB\n").unwrap();
        assert_eq!(found.what(), "one table mixes GB and GiB");
        // 80e9 / 2^30 = 74.505…, 74.5 × 2^30 = 79.99…e9
        assert_eq!(found.help(), "80 GB is 74.5 GiB, and 74.5 GiB is 80 GB; keep to one of them");
        assert!(mixed("size (MB)\n12\nMiB\n").is_some());
    }
}
