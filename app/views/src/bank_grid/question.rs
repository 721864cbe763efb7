//! The question of the bank grid: which words of shared memory 32 lanes want.

use vramlab_model::access::{self, AccessError, LaneAddrs};
use vramlab_model::bank_conflicts::{Layout, Swizzle, WORD};
use vramlab_units::{Args, Bytes, FieldError, FieldKind, FieldSpec, Map, Text};

/// How lanes are spread over shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Lane `i` at word `i · stride`, the array in rows of 32 words.
    Strided,
    /// A row or a column of a square tile, one word an element. A warp takes two rows of a 16-wide tile.
    Tile { side: u64, is_column: bool },
}

impl Pattern {
    pub const ALL: [Self; 5] = [
        Self::Strided,
        Self::Tile { side: 32, is_column: false },
        Self::Tile { side: 32, is_column: true },
        Self::Tile { side: 16, is_column: false },
        Self::Tile { side: 16, is_column: true },
    ];

    /// Id in parameters.
    pub fn id(self) -> &'static str {
        match self {
            Self::Strided => "strided",
            Self::Tile { side: 16, is_column: false } => "tile16_row",
            Self::Tile { side: 16, is_column: true } => "tile16_column",
            Self::Tile { is_column: false, .. } => "tile32_row",
            Self::Tile { is_column: true, .. } => "tile32_column",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Strided => Text::new("等步长", "strided"),
            Self::Tile { side: 16, is_column: false } => Text::new("16×16 行", "16×16 row"),
            Self::Tile { side: 16, is_column: true } => Text::new("16×16 列", "16×16 column"),
            Self::Tile { is_column: false, .. } => Text::new("32×32 行", "32×32 row"),
            Self::Tile { is_column: true, .. } => Text::new("32×32 列", "32×32 column"),
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pattern| pattern.id() == id)
    }
}

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub pattern: Pattern,
    pub stride_words: u64,
    pub width_bytes: u64,
    pub pad_words: u64,
    pub has_swizzle: bool,
    /// Bit `i` is lane `i`.
    pub active_mask: u32,
}

pub const MAX_STRIDE: u64 = 64;
pub const MAX_PAD: u64 = 8;
pub const WIDTHS: [u64; 3] = [4, 8, 16];

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, unit, options: Vec<String>, doc| {
            let options = options.into_iter().map(Into::into).collect();
            FieldSpec::new(key, unit, FieldKind::Choice { options }, doc)
        };
        let patterns = Pattern::ALL.iter().map(|pattern| pattern.id().to_owned()).collect();
        let widths = WIDTHS.iter().map(u64::to_string).collect();
        vec![
            choice("pattern", "", patterns, Text::new("lane 怎么分布", "How the lanes are spread")).default_value("strided"),
            FieldSpec::int(
                "stride_words",
                "word",
                0,
                MAX_STRIDE as i64,
                Text::new(
                    "等步长：相邻 lane 隔几个 4 字节字，是访问宽度的整数倍；0 是同一个字",
                    "Strided: 4-byte words between neighbouring lanes, a multiple of the access width; 0 is the same word",
                ),
            )
            .default_value(1),
            choice("width_bytes", "B", widths, Text::new("等步长：每个 lane 一次取多少字节", "Strided: bytes that a lane takes at once"))
                .default_value("4"),
            FieldSpec::int(
                "pad_words",
                "word",
                0,
                MAX_PAD as i64,
                Text::new("每行末尾空出几个字；是访问宽度的整数倍", "Unused words after each row; a multiple of the access width"),
            )
            .default_value(0),
            choice(
                "swizzle",
                "",
                vec!["none".to_owned(), "xor".to_owned()],
                Text::new("xor：列号与行号异或", "xor: the column is combined with the row by exclusive or"),
            )
            .default_value("none"),
            FieldSpec::int("active_mask", "1", 0, u32::MAX.into(), Text::new("参与的 lane：第 i 位是 lane i", "Lanes that take part: bit i is lane i"))
                .default_value(u32::MAX),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let unknown = |key: &str| FieldError::conflict(key, "is not among its options");
        let this = Self {
            pattern: Pattern::from_id(args.text("pattern")).ok_or_else(|| unknown("pattern"))?,
            stride_words: args.uint("stride_words"),
            width_bytes: args.text("width_bytes").parse().map_err(|_| unknown("width_bytes"))?,
            pad_words: args.uint("pad_words"),
            has_swizzle: args.text("swizzle") == "xor",
            active_mask: u32::try_from(args.uint("active_mask")).map_err(|_| unknown("active_mask"))?,
        };
        let every = this.width_words();
        for (key, words) in [("stride_words", this.stride_words), ("pad_words", this.pad_words)] {
            if !words.is_multiple_of(every) {
                let reason = format!("{words} is not a multiple of {every}, the words that a lane takes at once");
                return Err(FieldError::conflict(key, reason));
            }
        }
        Ok(this)
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("pattern".into(), self.pattern.id().into());
        map.insert("stride_words".into(), self.stride_words.into());
        map.insert("width_bytes".into(), self.width_bytes.to_string().into());
        map.insert("pad_words".into(), self.pad_words.into());
        map.insert("swizzle".into(), if self.has_swizzle { "xor" } else { "none" }.into());
        map.insert("active_mask".into(), self.active_mask.into());
        map
    }

    /// The width in use: a tile holds 4-byte elements.
    pub fn width(&self) -> Bytes {
        if self.pattern == Pattern::Strided { Bytes(self.width_bytes) } else { WORD }
    }

    pub fn width_words(&self) -> u64 {
        self.width().0 / WORD.0
    }

    /// The shared-memory address of each active lane.
    pub fn lane_addrs(&self) -> Result<LaneAddrs, AccessError> {
        let width_words = self.width_words();
        let swizzle = if self.has_swizzle { Swizzle::Xor } else { Swizzle::None };
        let layout = Layout { pad_words: self.pad_words, swizzle };
        let word_of = |lane: u64| match self.pattern {
            Pattern::Strided => layout.place(lane * self.stride_words, width_words),
            Pattern::Tile { side, is_column } => {
                let (along, across) = (lane % side, lane / side);
                let (row, col) = if is_column { (along, across) } else { (across, along) };
                let col = if self.has_swizzle { col ^ (row % side) } else { col };
                row * (side + self.pad_words) + col
            }
        };
        access::by_lane(self.active_mask, |lane| (word_of(lane as u64) * WORD.0) as i64)
    }

    /// Sets the width; lanes then stand side by side, and the padding stays a multiple of the width.
    pub fn set_width(&mut self, width_bytes: u64) {
        self.width_bytes = width_bytes;
        self.stride_words = width_bytes / WORD.0;
        self.pad_words -= self.pad_words % self.width_words();
    }

    pub fn toggle(&mut self, lane: usize) {
        self.active_mask ^= 1 << lane;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_model::bank_conflicts;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Question), wavefronts: u32) {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        change(&mut question);
        let found = bank_conflicts::run(&question.lane_addrs().unwrap(), question.width()).unwrap();
        assert_eq!(found.wavefronts(), wavefronts, "{question:?}");
    }

    /// Brief 02, test vectors 4 and 5.
    #[test]
    fn strides_and_widths_take_the_wavefronts_of_the_brief() {
        for (stride, wavefronts) in [(0, 1), (1, 1), (2, 2), (4, 4), (31, 1), (32, 32), (33, 1)] {
            check(|q| q.stride_words = stride, wavefronts);
        }
        check(|q| q.set_width(8), 2);
        check(|q| q.set_width(16), 4);
        for (stride, wavefronts) in [(4, 4), (8, 8), (32, 32), (36, 4)] {
            check(|q| (q.width_bytes, q.stride_words) = (16, stride), wavefronts);
        }
    }

    /// Brief 02, test vectors 6 and 7.
    #[test]
    fn tiles_take_the_wavefronts_of_the_brief() {
        let tile = |side, is_column| Pattern::Tile { side, is_column };
        check(|q| q.pattern = tile(16, true), 8);
        check(|q| (q.pattern, q.pad_words) = (tile(16, true), 1), 2);
        check(|q| (q.pattern, q.pad_words) = (tile(16, false), 1), 2);
        check(|q| q.pattern = tile(16, false), 1);
        check(|q| q.pattern = tile(32, true), 32);
        check(|q| (q.pattern, q.pad_words) = (tile(32, true), 1), 1);
        check(|q| (q.pattern, q.has_swizzle) = (tile(32, true), true), 1);
    }

    #[test]
    fn padding_that_breaks_the_alignment_is_refused_with_its_reason() {
        let given = serde_json::json!({"width_bytes": "16", "stride_words": 4, "pad_words": 2});
        let args = Args::check(&Question::fields(), given.as_object().unwrap()).unwrap();
        let error = Question::from_args(&args).unwrap_err();
        assert_eq!(error.field(), "pad_words");
        assert!(error.to_string().contains("multiple of 4"), "{error}");
    }
}
