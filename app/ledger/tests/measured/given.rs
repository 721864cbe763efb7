//! The six configurations that the course's authors measured, each figure within its band and most exact to the byte.

use crate::bands::{self, Row};
use serde_json::Value;
use vramlab_ledger::{Place, Start};

/// What the process of the records held besides the library workspaces.
const OTHERS: u64 = 564 << 20;

#[test]
fn the_given_records_hold() {
    let text = include_str!("../../../../tests/data/train_peaks/given.json");
    let records: Value = serde_json::from_str(text).expect("JSON");
    // That process had used up the room of its context.
    let start = Start { place: Place::Used, ..Start::default() };
    let rows = |one| bands::rows(one, false, start, OTHERS);
    let rows: Vec<Vec<Row>> = records.as_array().expect("a list").iter().map(rows).collect();
    assert_eq!(rows.len(), 6);
    let bad: Vec<String> = rows.iter().flatten().filter(|row| !row.is_within).map(|row| format!("{row:?}")).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    // 84 figures and six sizes of models; what differs are rests of blocks in cases 3 and 4.
    let n_exact = rows.iter().flatten().filter(|row| row.ours == row.measured).count();
    assert!(n_exact >= 79, "{n_exact} of 90 exact");
    for exact in [0, 1, 4, 5] {
        assert!(rows[exact].iter().all(|row| row.ours == row.measured), "case {}: {:?}", exact + 1, rows[exact]);
    }
}
