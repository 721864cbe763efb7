//! What the reader sets, and what `vramlab_serve::speculate` says of it.

use vramlab_serve::speculate::Draft;
use vramlab_units::{Args, FieldSpec, Map, Text, Value};

/// Longest draft that is drawn.
pub const MOST: u32 = 16;
/// Cells of the map of acceptance and cost.
pub const CELLS: (usize, usize) = (40, 30);
/// Dearest draft of the map.
pub const MOST_COST: f64 = 0.6;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    pub alpha: f64,
    pub cost: f64,
    pub gamma: u32,
    pub batch: u32,
    pub knee: f64,
}

/// One draft length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub tokens: f64,
    pub check: f64,
    pub speedup: f64,
    /// With checks that cost one step however long the draft.
    pub free: f64,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let num = |key, unit, min, max, zh, en| FieldSpec::num(key, unit, min, max, Text::new(zh, en));
        vec![
            num("alpha", "1", 0.0, 1.0, "接受率 α", "Acceptance α").default_value(0.8),
            num("cost", "1", 0.0, 1.0, "草稿一步 ÷ 目标一步 c", "A draft step over a target step c")
                .default_value(0.05),
            FieldSpec::int("gamma", "token", 0, MOST.into(), Text::new("草稿长度 γ", "Draft length γ"))
                .default_value(4),
            FieldSpec::int("batch", "1", 1, 1024, Text::new("一批几个序列", "Sequences of a batch")).default_value(1),
            num(
                "knee_tokens",
                "token",
                1.0,
                65_536.0,
                "一步算到多少 token 还不变慢",
                "Tokens of a step up to which it is no slower",
            )
            .default_value(206),
        ]
    }

    pub fn from_args(args: &Args) -> Self {
        Self {
            alpha: args.num("alpha"),
            cost: args.num("cost"),
            gamma: args.uint("gamma") as u32,
            batch: args.uint("batch") as u32,
            knee: args.num("knee_tokens"),
        }
    }

    pub fn params(&self) -> Map {
        let values: [(&str, Value); 5] = [
            ("alpha", self.alpha.into()),
            ("cost", self.cost.into()),
            ("gamma", self.gamma.into()),
            ("batch", self.batch.into()),
            ("knee_tokens", self.knee.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn draft(&self) -> Draft {
        self.at(self.alpha, self.cost)
    }

    fn at(&self, acceptance: f64, cost: f64) -> Draft {
        Draft { acceptance, cost, verify: 1.0, free_tokens: self.knee / f64::from(self.batch) }
    }

    /// For γ = 0 … 16.
    pub fn curve(&self) -> Vec<Point> {
        let draft = self.draft();
        let free = Draft { free_tokens: f64::INFINITY, ..draft };
        let point = |gamma| Point {
            tokens: draft.tokens(gamma),
            check: draft.check(gamma),
            speedup: draft.speedup(gamma),
            free: free.speedup(gamma),
        };
        (0..=MOST).map(point).collect()
    }

    pub fn best(&self) -> u32 {
        self.draft().best(MOST)
    }

    /// The first draft length whose check costs more than a step; none if all are free.
    pub fn first_dear(&self) -> Option<u32> {
        let draft = self.draft();
        (1..=MOST).find(|gamma| draft.check(*gamma) > 1.0 + 1e-12)
    }

    /// The best speed-up in the middle of each cell, rows from no cost upwards.
    pub fn map(&self) -> Vec<f64> {
        let (columns, rows) = CELLS;
        let cell = |idx: usize| {
            let alpha = (idx % columns) as f64 + 0.5;
            let cost = (idx / columns) as f64 + 0.5;
            let draft = self.at(alpha / columns as f64, cost / rows as f64 * MOST_COST);
            draft.speedup(draft.best(MOST))
        };
        (0..columns * rows).map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Question = Question { alpha: 0.8, cost: 0.05, gamma: 4, batch: 1, knee: 206.0 };

    /// Brief 21: S(0.8, 4, 0.05) = 2.801333, best at 8 with 3.092080; (0.6, 0.1) → 3; (0.3, 0.3) → 0.
    #[test]
    fn the_vectors_of_the_brief() {
        let curve = ONE.curve();
        assert!((curve[4].speedup - 2.801_333).abs() < 1e-6 && (curve[8].speedup - 3.092_080).abs() < 1e-6);
        assert_eq!((ONE.best(), ONE.first_dear()), (8, None));
        assert_eq!(Question { alpha: 0.6, cost: 0.1, ..ONE }.best(), 3);
        assert_eq!(Question { alpha: 0.3, cost: 0.3, ..ONE }.best(), 0);
    }

    /// A batch of 64 beyond 206 tokens: two drafts are free, three are not, and drafts get shorter.
    #[test]
    fn a_busy_card_checks_less_for_nothing() {
        let busy = Question { batch: 64, ..ONE };
        assert_eq!(busy.first_dear(), Some(3));
        assert!(busy.best() < ONE.best() && busy.curve()[8].speedup < busy.curve()[8].free);
        assert_eq!(Question { batch: 412, ..ONE }.best(), 0);
    }

    /// Nothing is gained where a draft costs more than it is accepted; everything where it costs nothing.
    #[test]
    fn the_map_has_its_corners() {
        let map = ONE.map();
        let (columns, rows) = CELLS;
        assert_eq!(map.len(), columns * rows);
        assert!((map[(rows - 1) * columns] - 1.0).abs() < 1e-12 && map[columns - 1] > 10.0);
    }
}
