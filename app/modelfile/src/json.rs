//! JSON with places: each value knows its byte, so that an error about a field can point at it.
//!
//! Why not `serde_json` alone: it keeps no places, takes the last of two equal keys in silence, and stops at `NaN` and
//! `Infinity`, which Python's writer produces, without naming the field. Here they are numbers that no field accepts.
//! Bounded: depth, number of values, and never more memory than a few times the text.

use crate::problem::{Place, Problem};

/// A value and the byte where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub at: usize,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// As it was written: `32`, `1e-05`, `NaN`.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The value under `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(pairs) => pairs.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    pub fn map(&self) -> Option<&[(String, Self)]> {
        if let Value::Map(pairs) = &self.value { Some(pairs) } else { None }
    }

    pub fn list(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub fn flag(&self) -> Option<bool> {
        if let Value::Bool(flag) = self.value { Some(flag) } else { None }
    }

    /// A whole number that is not negative; `32.0` counts, because some writers make it of `32`.
    pub fn uint(&self) -> Option<u64> {
        let Value::Number(text) = &self.value else { return None };
        text.parse().ok().or_else(|| {
            let value: f64 = text.parse().ok()?;
            ((0.0..9.0e15).contains(&value) && value.fract() == 0.0).then_some(value as u64)
        })
    }

    /// The value as it is shown in messages: short.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(text) => text.chars().take(40).collect(),
            Value::Text(text) => format!("\"{}\"", text.chars().take(40).collect::<String>().escape_debug()),
            Value::List(items) => format!("[… {}]", items.len()),
            Value::Map(pairs) => format!("{{… {}}}", pairs.len()),
        }
    }
}

/// How much a text may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub depth: usize,
    pub values: usize,
}

impl Limits {
    /// A configuration: real ones have a few hundred values.
    pub fn config() -> Self {
        Self { depth: 64, values: 1_000_000 }
    }

    /// A safetensors header or index: some ten values a tensor.
    pub fn header() -> Self {
        Self { depth: 16, values: 8_000_000 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Ends,
    Expected(&'static str),
    Twice(String),
    Deep(usize),
    Many(usize),
    Utf8,
}

/// What is wrong, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub at: usize,
    pub fault: Fault,
}

impl JsonError {
    pub fn problem(&self, text: &[u8]) -> Problem {
        let problem = match &self.fault {
            Fault::Ends => Problem::new("JSON 到这里就断了：文件不完整", "the JSON ends here: the file is cut off"),
            Fault::Expected(what) => Problem::new(
                format!("不是 JSON：此处应为 {what}"),
                format!("this is no JSON: {what} was expected here"),
            ),
            Fault::Twice(key) => Problem::new(
                format!("键 “{key}” 出现了两次，不知道该信哪个"),
                format!("the key \"{key}\" stands twice; which one counts is not clear"),
            )
            .field(key.clone()),
            Fault::Deep(depth) => {
                Problem::new(format!("嵌套超过 {depth} 层"), format!("nested deeper than {depth} levels"))
            }
            Fault::Many(n) => Problem::new(format!("值超过 {n} 个"), format!("more than {n} values")),
            Fault::Utf8 => Problem::new("文字不是 UTF-8", "the text is not UTF-8"),
        };
        problem.at(Place::of(text, self.at))
    }
}

/// Reads one value and nothing after it.
pub fn parse(text: &[u8], limits: Limits) -> Result<Node, JsonError> {
    let mut reader = Reader { text, at: 0, limits, n_values: 0 };
    let node = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() { Err(reader.expected("the end")) } else { Ok(node) }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    limits: Limits,
    n_values: usize,
}

impl Reader<'_> {
    fn error(&self, fault: Fault) -> JsonError {
        JsonError { at: self.at, fault }
    }

    fn expected(&self, what: &'static str) -> JsonError {
        self.error(if self.at >= self.text.len() { Fault::Ends } else { Fault::Expected(what) })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8, what: &'static str) -> Result<(), JsonError> {
        self.blanks();
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.expected(what))
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.blanks();
        if depth > self.limits.depth {
            return Err(self.error(Fault::Deep(self.limits.depth)));
        }
        self.n_values += 1;
        if self.n_values > self.limits.values {
            return Err(self.error(Fault::Many(self.limits.values)));
        }
        let at = self.at;
        let value = match self.peek() {
            Some(b'{') => self.pairs(depth)?,
            Some(b'[') => self.items(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node { at, value })
    }

    fn pairs(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut pairs: Vec<(String, Node)> = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(pairs));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in quotes"));
            }
            let key = self.string()?;
            self.take(b':', "a colon")?;
            pairs.push((key, self.value(depth + 1)?));
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break self.at += 1,
                _ => return Err(self.expected("a comma or }")),
            }
        }
        once(&pairs)?;
        Ok(Value::Map(pairs))
    }

    fn items(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break self.at += 1,
                _ => return Err(self.expected("a comma or ]")),
            }
        }
        Ok(Value::List(items))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.error(Fault::Ends)),
                Some(b'"') => break self.at += 1,
                Some(b'\\') => self.escape(&mut out)?,
                Some(byte) if byte < 0x20 => return Err(self.error(Fault::Expected("a closing quote"))),
                Some(byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        String::from_utf8(out).map_err(|_| self.error(Fault::Utf8))
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        self.at += 1;
        let byte = self.peek().ok_or_else(|| self.error(Fault::Ends))?;
        self.at += 1;
        let plain = match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    code = 0x10000 + ((code - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                }
                let found = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend(found.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.error(Fault::Expected("an escape"))),
        };
        out.push(plain);
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at + 4).ok_or_else(|| self.error(Fault::Ends))?;
        let code = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = code.and_then(|text| u32::from_str_radix(text, 16).ok());
        let code = code.ok_or_else(|| self.error(Fault::Expected("four hexadecimal digits")))?;
        self.at += 4;
        Ok(code)
    }

    /// Numbers and the words `true`, `false`, `null`, `NaN`, `Infinity`.
    fn word(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        let is_number = word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && word.parse::<f64>().is_ok();
        match word {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            "NaN" | "Infinity" | "-Infinity" => Ok(Value::Number(word.to_owned())),
            word if is_number => Ok(Value::Number(word.to_owned())),
            word => {
                let is_cut = self.at == self.text.len()
                    && ["true", "false", "null", "NaN", "Infinity"].iter().any(|whole| whole.starts_with(word));
                self.at = start;
                Err(if is_cut { self.error(Fault::Ends) } else { self.expected("a value") })
            }
        }
    }
}

/// No key twice. Sorted once, so that a header of many tensors takes no quadratic time.
fn once(pairs: &[(String, Node)]) -> Result<(), JsonError> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|a, b| pairs[*a].0.cmp(&pairs[*b].0).then(a.cmp(b)));
    match order.windows(2).find(|pair| pairs[pair[0]].0 == pairs[pair[1]].0) {
        Some(pair) => Err(JsonError { at: pairs[pair[1]].1.at, fault: Fault::Twice(pairs[pair[1]].0.clone()) }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Node, JsonError> {
        parse(text.as_bytes(), Limits::config())
    }

    #[test]
    fn values_know_where_they_stand() {
        let text = "{\n  \"a\": [1, -2.5e3],\n  \"名\": \"x\\u00e9\\ud83d\\ude00\\n\"\n}";
        let node = read(text).unwrap();
        assert_eq!(node.get("名").and_then(Node::text), Some("xé😀\n"));
        let list = node.get("a").unwrap();
        assert_eq!(Place::of(text.as_bytes(), list.at), Place { line: 2, column: 8 });
        assert_eq!(list.list().unwrap()[0].uint(), Some(1));
        assert_eq!(list.list().unwrap()[1].uint(), None);
        assert_eq!(read("32.0").unwrap().uint(), Some(32));
        assert_eq!(read("NaN").unwrap().value, Value::Number("NaN".to_owned()));
    }

    #[test]
    fn what_is_no_json_is_refused_at_its_byte() {
        let fault = |text: &str| read(text).unwrap_err();
        assert_eq!(fault(r#"{"a": 1, "a": 2}"#), JsonError { at: 14, fault: Fault::Twice("a".to_owned()) });
        assert_eq!(fault(r#"{"a": tru"#).fault, Fault::Ends);
        assert_eq!(fault(r#"{"a": "x"#).fault, Fault::Ends);
        assert_eq!(fault("{'a': 1}"), JsonError { at: 1, fault: Fault::Expected("a key in quotes") });
        assert_eq!(fault("[1] 2").fault, Fault::Expected("the end"));
        assert_eq!(fault(&"[".repeat(100_000)).fault, Fault::Deep(64));
        assert!(fault("[inf]").fault != Fault::Ends && fault("[+1]").fault != Fault::Ends);
        let limits = Limits { depth: 4, values: 10 };
        assert_eq!(parse(b"[1,2,3,4,5,6,7,8,9,10]", limits).unwrap_err().fault, Fault::Many(10));
    }

    #[test]
    fn every_prefix_of_a_text_ends_early() {
        let text = r#"{"a": [true, null, 1.5], "b": {"c": "x\u00e9"}}"#;
        for end in 0..text.len() {
            assert_eq!(read(&text[..end]).unwrap_err().fault, Fault::Ends, "{}", &text[..end]);
        }
    }
}
