//! Measured peaks beside the tape's: `cargo run -p vramlab-ledger --example peaks RECORDS.json…`.

#[path = "../tests/measured/bands.rs"]
mod bands;
#[path = "../tests/measured/configs.rs"]
mod configs;

use serde_json::Value;
use std::io::Write as _;

fn main() {
    let mut out = std::io::stdout();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("readable");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        for one in file["records"].as_array().expect("records").iter().filter(|one| one["error"].is_null()) {
            let mut name = one.clone();
            for key in ["steps", "params", "trained", "after_model", "device_used", "base_allocated", "base_reserved"] {
                name.as_object_mut().expect("a record").remove(key);
            }
            let rows = bands::rows(one, true, bands::start_of(one), 0);
            let n_exact = rows.iter().filter(|row| row.ours == row.measured).count();
            let _ = writeln!(out, "{n_exact}/{} {}", rows.len(), name.to_string().replace('"', ""));
            for row in rows.iter().filter(|row| row.ours != row.measured) {
                let gap = row.ours as f64 - row.measured as f64;
                let flag = if row.is_within { "" } else { "  OUT" };
                let share = 100.0 * gap / row.measured as f64;
                let _ = writeln!(
                    out,
                    "    {} {:<15} {:>14} {:>14} {:+.3} MiB {share:+.3} %{flag}",
                    row.step,
                    row.key,
                    row.ours,
                    row.measured,
                    gap / 1_048_576.0
                );
            }
        }
    }
}
