//! What the reader sets: the fixes in the order in which they are made.

use vramlab_model::capstone_step::FIXES;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// Orders to start from; the words are ids of fixes.
pub const ORDERS: [(&str, Text); 5] = [
    ("", Text::new("还没修", "nothing yet")),
    ("pinned contiguous fused padded half", Text::new("先修拷贝", "copies first")),
    ("fused padded contiguous pinned half", Text::new("先修启动", "launches first")),
    ("half pinned padded fused contiguous", Text::new("先换半精度", "half precision first")),
    ("contiguous half fused pinned padded", Text::new("先修布局", "layout first")),
];

/// Indices into [`FIXES`], each at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order(pub Vec<usize>);

impl Order {
    pub fn fields() -> Vec<FieldSpec> {
        let doc = Text::new(
            "修的次序，空格隔开：pinned、contiguous、padded、fused、half",
            "The fixes in order, with spaces between: pinned, contiguous, padded, fused, half",
        );
        vec![FieldSpec::new("order", "", FieldKind::Text { max_len: 64 }, doc).default_value("")]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        Self::parse(args.text("order"))
    }

    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let mut out = Vec::new();
        for word in text.split_whitespace() {
            let Some(fix) = FIXES.iter().position(|fix| *fix == word) else {
                let reason = format!("{word} is not a fix; they are {}", FIXES.join(", "));
                return Err(FieldError::conflict("order", reason));
            };
            if out.contains(&fix) {
                return Err(FieldError::conflict("order", format!("{word} stands twice; a fix is made once")));
            }
            out.push(fix);
        }
        Ok(Self(out))
    }

    pub fn text(&self) -> String {
        self.0.iter().map(|fix| FIXES[*fix]).collect::<Vec<_>>().join(" ")
    }

    pub fn params(&self) -> Map {
        Map::from_iter([("order".to_owned(), self.text().into())])
    }

    /// Adds a fix at the end, or takes it out.
    pub fn switch(&mut self, fix: usize) {
        if let Some(at) = self.0.iter().position(|known| *known == fix) {
            self.0.remove(at);
        } else {
            self.0.push(fix);
        }
    }

    /// What is mended after the first `n` fixes, as bits.
    pub fn bits(&self, n: usize) -> u32 {
        self.0.iter().take(n).fold(0, |bits, fix| bits | 1 << fix)
    }

    /// Fixes that are not made.
    pub fn open(&self) -> Vec<usize> {
        (0..FIXES.len()).filter(|fix| !self.0.contains(fix)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_written() {
        for (text, _) in ORDERS {
            assert_eq!(Order::parse(text).unwrap().text(), text);
        }
        let mut order = Order::parse("fused pinned").unwrap();
        assert_eq!([0, 1, 2, 9].map(|n| order.bits(n)), [0, 8, 9, 9]);
        order.switch(3);
        order.switch(4);
        assert_eq!((order.text().as_str(), order.open()), ("pinned half", vec![1, 2, 3]));
    }

    #[test]
    fn a_wrong_word_is_named() {
        assert!(Order::parse("fuse").unwrap_err().to_string().contains("fuse is not a fix"));
        assert!(Order::parse("half half").unwrap_err().to_string().contains("stands twice"));
    }
}
