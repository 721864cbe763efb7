//! The question of the thread stepper: a launch, one warp of it, and what the branch asks. Plain data and its fields.

use vramlab_model::divergence::kernel::{self, Condition, Line, Walk};
use vramlab_model::thread_index::Launch;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub const MAX_ELEMS: u64 = 2048;
pub const BLOCK_THREADS: (u64, u64) = (16, 256);

/// What the reader has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub launch: Launch,
    pub condition: Condition,
    /// The warp that is looked at.
    pub block_idx: u64,
    pub warp: u64,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let int = |key, unit, min: u64, max: u64, doc| FieldSpec::int(key, unit, min as i64, max as i64, doc);
        let conditions = Condition::ALL.iter().map(|condition| condition.id().into()).collect();
        let last_block = MAX_ELEMS.div_ceil(BLOCK_THREADS.0) - 1;
        vec![
            int("n_elems", "element", 1, MAX_ELEMS, Text::new("元素个数 n", "Elements n")).default_value(1000),
            int(
                "block_threads",
                "thread",
                BLOCK_THREADS.0,
                BLOCK_THREADS.1,
                Text::new("每个线程块的线程数", "Threads of a block"),
            )
            .default_value(128),
            FieldSpec::new(
                "branch",
                "",
                FieldKind::Choice { options: conditions },
                Text::new("if 的条件", "The condition of the if"),
            )
            .default_value("even"),
            int("block", "1", 0, last_block, Text::new("看第几个线程块", "The block to look at")).optional(),
            int("warp", "1", 0, 7, Text::new("看块里第几个 warp", "The warp of it to look at")).optional(),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let launch = Launch { n_elems: args.uint("n_elems"), block_threads: args.uint("block_threads") };
        let condition = Condition::from_id(args.text("branch"))
            .ok_or_else(|| FieldError::conflict("branch", "is not among its options"))?;
        // Block 2 and warp 1 show that numbers count on; smaller launches take what they have.
        let pick = |key: &str, usual: u64, count: u64| match args.has(key) {
            false => Ok(usual.min(count - 1)),
            true if args.uint(key) < count => Ok(args.uint(key)),
            true => {
                Err(FieldError::illegal(key, &args.uint(key).into(), format!("an integer from 0 to {}", count - 1)))
            }
        };
        let block_idx = pick("block", 2, launch.n_blocks())?;
        let warp = pick("warp", 1, launch.warps_per_block())?;
        Ok(Self { launch, condition, block_idx, warp })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("n_elems".into(), self.launch.n_elems.into());
        map.insert("block_threads".into(), self.launch.block_threads.into());
        map.insert("branch".into(), self.condition.id().into());
        map.insert("block".into(), self.block_idx.into());
        map.insert("warp".into(), self.warp.into());
        map
    }

    /// The launch changed: look at a warp that it still has.
    pub fn settle(&mut self) {
        self.block_idx = self.block_idx.min(self.launch.n_blocks() - 1);
        self.warp = self.warp.min(self.launch.warps_per_block() - 1);
    }

    /// The next or the previous warp, across blocks.
    pub fn move_warp(&mut self, by: i64) {
        let per_block = self.launch.warps_per_block();
        let at = (self.block_idx * per_block + self.warp).saturating_add_signed(by);
        let at = at.min(self.launch.n_warps() - 1);
        (self.block_idx, self.warp) = (at / per_block, at % per_block);
    }

    pub fn walk(&self) -> Walk {
        kernel::walk(self.launch, self.block_idx, self.warp, self.condition)
    }

    /// The global index that a lane would have.
    pub fn index_of(&self, lane: usize) -> u64 {
        let thread_idx = self.warp * vramlab_model::thread_index::LANES + lane as u64;
        self.launch.place(self.block_idx, thread_idx).global_index
    }
}

/// A row of the listing: a statement, or a word that takes no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Line(Line),
    Else,
}

/// The listing from top to bottom.
pub const ROWS: [Row; 10] = [
    Row::Line(Line::Index),
    Row::Line(Line::Guard),
    Row::Line(Line::Load),
    Row::Line(Line::Branch),
    Row::Line(Line::IfFirst),
    Row::Line(Line::IfSecond),
    Row::Else,
    Row::Line(Line::ElseFirst),
    Row::Line(Line::ElseSecond),
    Row::Line(Line::Store),
];

/// The condition as source text.
pub fn source_of(condition: Condition) -> &'static str {
    match condition {
        Condition::Even => "i % 2 == 0",
        Condition::Half => "i % 32 < 16",
        Condition::One => "i % 32 == 0",
        Condition::Warp => "i / 32 % 2 == 0",
        Condition::Data => "x > 0",
    }
}

/// A row as source text.
pub fn source(row: Row, condition: Condition) -> String {
    let text = match row {
        Row::Line(Line::Index) => INDEX[0],
        Row::Line(Line::Guard) => "if (i < n)",
        Row::Line(Line::Load) => "  x = a[i]",
        Row::Line(Line::Branch) => return format!("  if ({})", source_of(condition)),
        Row::Line(Line::IfFirst) => "    x = x * x",
        Row::Line(Line::IfSecond) => "    x = x + 1",
        Row::Else => "  else",
        Row::Line(Line::ElseFirst) => "    x = x - 1",
        Row::Line(Line::ElseSecond) => "    x = x / 2",
        Row::Line(Line::Store) => "  a[i] = x",
    };
    text.to_owned()
}

/// The longest line as it is written, and shorter for narrow pages.
pub const INDEX: [&str; 3] =
    ["i = blockIdx.x * blockDim.x + threadIdx.x", "i = blockIdx * blockDim + threadIdx", "i = number of thread"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listing_holds_every_statement_once_in_the_order_of_the_program() {
        let lines: Vec<Line> =
            ROWS.iter().filter_map(|row| if let Row::Line(line) = row { Some(*line) } else { None }).collect();
        assert_eq!(lines, Line::ALL);
    }

    #[test]
    fn the_warp_moves_on_into_the_next_block_and_stops_at_the_ends() {
        let launch = Launch { n_elems: 1000, block_threads: 128 };
        let mut question = Question { launch, condition: Condition::Even, block_idx: 2, warp: 3 };
        question.move_warp(1);
        assert_eq!((question.block_idx, question.warp), (3, 0));
        question.move_warp(-13);
        assert_eq!((question.block_idx, question.warp), (0, 0));
        question.move_warp(500);
        assert_eq!((question.block_idx, question.warp), (7, 3));
        question.launch.n_elems = 200;
        question.settle();
        assert_eq!((question.block_idx, question.warp, question.index_of(5)), (1, 3, 128 + 96 + 5));
    }
}
