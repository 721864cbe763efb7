//! Numbers and texts, as every protocol writes them.

use super::{Machine, Step, Value};

impl Machine<'_> {
    pub(super) fn int(&mut self, read: impl FnOnce(&mut Self) -> Step<i64>) -> Step<()> {
        let value = read(self)?;
        self.push(Value::Int(value))
    }

    /// Little-endian two's complement of any length. Addresses may have the highest bit set: they keep their bits.
    pub(super) fn long(&mut self, n: usize) -> Step<()> {
        let bytes = self.take(n, "a long integer")?;
        if let ([.., high], true) = (bytes, n < 8)
            && high & 0x80 == 0
        {
            let value = bytes.iter().rev().fold(0_i64, |value, byte| value << 8 | i64::from(*byte));
            return self.push(Value::Int(value));
        }
        let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let fill = if is_negative { 0xff } else { 0 };
        let fits = bytes.iter().skip(8).all(|byte| *byte == fill);
        if !fits {
            return self.push(Value::Opaque);
        }
        let mut all = [fill; 8];
        let n = n.min(8);
        all[..n].copy_from_slice(&bytes[..n]);
        self.push(Value::Int(i64::from_le_bytes(all)))
    }

    /// `I42`, `I01` (true), `L42L`.
    pub(super) fn decimal(&mut self) -> Step<()> {
        let line = self.line("an integer")?;
        let text = std::str::from_utf8(line).unwrap_or_default().trim_end_matches('L').trim();
        match text {
            "00" => self.push(Value::Bool(false)),
            "01" => self.push(Value::Bool(true)),
            _ => match text.parse::<i128>() {
                Ok(wide) if i64::try_from(wide).is_ok() || u64::try_from(wide).is_ok() => {
                    self.push(Value::Int(wide as i64))
                }
                Ok(_) => self.push(Value::Opaque),
                Err(_) => Err(self.damaged("an integer that is no number")),
            },
        }
    }

    pub(super) fn decimal_float(&mut self) -> Step<()> {
        let line = self.line("a float")?;
        let value = std::str::from_utf8(line).ok().and_then(|text| text.trim().parse().ok());
        let value = value.ok_or_else(|| self.damaged("a float that is no number"))?;
        self.push(Value::Float(value))
    }

    pub(super) fn text(&mut self, n: usize) -> Step<()> {
        let bytes = self.take(n, "a text")?;
        // Python writes lone surrogates in a form of their own; they become replacement characters.
        let id = match std::str::from_utf8(bytes) {
            Ok(text) => self.heap.text(text),
            Err(_) => self.heap.text(&String::from_utf8_lossy(bytes)),
        };
        self.push(Value::Text(id))
    }

    /// Python 2's strings, and bytes.
    pub(super) fn raw(&mut self, n: usize, is_text: bool) -> Step<()> {
        let bytes = self.take(n, "bytes")?;
        if !is_text {
            return self.push(Value::Opaque);
        }
        let id = self.heap.text(&String::from_utf8_lossy(bytes));
        self.push(Value::Text(id))
    }

    /// Protocol 0: `S'text'`, or `V` with `\uXXXX` escapes.
    pub(super) fn line_text(&mut self, code: u8) -> Step<()> {
        let line = lossy(self.line("a text")?);
        let inner = match code {
            b'S' => {
                let line = line.trim();
                let quote = line.chars().next().filter(|c| matches!(c, '\'' | '"'));
                let inner = quote.and_then(|quote| line.strip_prefix(quote)?.strip_suffix(quote));
                inner.ok_or_else(|| self.damaged("a text without its quotes"))?
            }
            _ => &line,
        };
        let id = self.heap.text(&unescape(inner));
        self.push(Value::Text(id))
    }

    pub(super) fn memo_line(&mut self) -> Step<usize> {
        let line = self.line("a memo index")?;
        let idx = std::str::from_utf8(line).ok().and_then(|text| text.trim().parse().ok());
        idx.ok_or_else(|| self.damaged("a memo index that is no number"))
    }
}

pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `\n`, `\'`, `\\`, `\xhh`, `\uhhhh`, `\Uhhhhhhhh`; anything else stays as it is.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(code) = rest.chars().next() else { break };
        let n_hex = match code {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let hex = rest.get(1..=n_hex).filter(|_| n_hex > 0);
        let decoded = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        match (code, decoded) {
            (_, Some(c)) => out.push(c),
            ('n', _) => out.push('\n'),
            ('t', _) => out.push('\t'),
            ('r', _) => out.push('\r'),
            ('\\' | '\'' | '"', _) => out.push(code),
            _ => out.extend(['\\', code]),
        }
        rest = &rest[if decoded.is_some() { 1 + n_hex } else { code.len_utf8() }..];
    }
    out.push_str(rest);
    out
}
