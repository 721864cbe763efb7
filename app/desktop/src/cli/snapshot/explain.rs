//! PyTorch's own tables, row by row: the numbers, and what each row means.

use crate::cli::layout::{self, COLUMNS, plain, wrap};
use crate::cli::say::{Ink, Say};
use serde_json::{Value, json};
use vramlab_snapshot::summary::{METRICS, OOMS, Pool, RETRIES, Row, Summary, is_text, read_stats, read_text};
use vramlab_units::{Bytes, Lang, Text, show};

/// The table in a file, if it is one: text of `memory_summary()`, or JSON of `memory_stats()`.
pub fn table_of(text: &str) -> Option<Summary> {
    // JSON first: it may hold the table as one of its texts.
    if text.trim_start().starts_with('{') {
        return read_stats(text).ok().filter(|summary| !summary.rows.is_empty());
    }
    is_text(text).then(|| read_text(text))
}

pub fn table(bytes: &[u8]) -> Option<Summary> {
    // A pickle begins with 0x80, compressed files with their magic: neither is UTF-8.
    std::str::from_utf8(bytes).ok().and_then(table_of)
}

pub fn tell(summary: &Summary, name: &str, say: &Say) {
    if say.is_json {
        say.json(&data(summary, name));
        return;
    }
    say.data(&say.ink(Ink::Strong, name));
    let header = match say.lang {
        Lang::Zh => ["  现在", "峰值", "累计分配", "累计释放", ""],
        Lang::En => ["  current", "peak", "total allocated", "total freed", ""],
    };
    for (metric, known) in METRICS.iter().enumerate() {
        let rows: Vec<&Row> = summary.rows.iter().filter(|row| row.metric == metric).collect();
        if rows.is_empty() {
            continue;
        }
        say.data(&format!("\n{}", say.ink(Ink::Strong, known.name)));
        say.data(&wrap(say.text(known.means), COLUMNS, "  "));
        let cells: Vec<Vec<String>> = rows.iter().map(|row| cells(row, known.is_bytes, say)).collect();
        say.data(&say.ink(Ink::Muted, &layout::table(&header, &cells, &[0, 1, 2, 3])));
    }
    say.data("");
    for (label, value, means) in
        [("CUDA OOMs", summary.n_ooms, OOMS), ("cudaMalloc retries", summary.n_retries, RETRIES)]
    {
        if let Some(value) = value {
            say.data(&format!("{} {value}", say.ink(Ink::Strong, label)));
            say.data(&wrap(say.text(means), COLUMNS, "  "));
        }
    }
    if let (Some(cached), Some(rounding)) = (summary.cached(), summary.rounding()) {
        let (cached, rounding) = (size(cached), size(rounding));
        let text = match say.lang {
            Lang::Zh => format!("现在缓存着 {cached}，取整损失 {rounding}。"),
            Lang::En => format!("The cache holds {cached} now; rounding loses {rounding}."),
        };
        say.data(&format!("\n{}", plain(&text)));
    }
}

fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

fn cells(row: &Row, is_bytes: bool, say: &Say) -> Vec<String> {
    let one = |value: Option<u64>| match (value, is_bytes) {
        (None, _) => "–".to_owned(),
        (Some(value), true) => plain(&size(value)),
        (Some(value), false) => value.to_string(),
    };
    let pool = match row.pool {
        Pool::All => Text::new("全部", "all"),
        Pool::Large => Text::new("大块池", "large pool"),
        Pool::Small => Text::new("小块池", "small pool"),
    };
    let mut out: Vec<String> = [row.current, row.peak, row.allocated, row.freed].into_iter().map(one).collect();
    out[0] = format!("  {}", out[0]);
    out.push(say.text(pool).to_owned());
    out
}

fn data(summary: &Summary, name: &str) -> Value {
    let row = |row: &Row| {
        let metric = &METRICS[row.metric];
        json!({
            "name": metric.name,
            "key": metric.key,
            "pool": match row.pool { Pool::All => "all", Pool::Large => "large_pool", Pool::Small => "small_pool" },
            "unit": if metric.is_bytes { "B" } else { "1" },
            "current": row.current,
            "peak": row.peak,
            "allocated": row.allocated,
            "freed": row.freed,
            "means": { "zh": metric.means.zh, "en": metric.means.en },
        })
    };
    json!({
        "schema": super::data::SCHEMA,
        "file": name,
        "is_exact": summary.is_exact,
        "rows": summary.rows.iter().map(row).collect::<Vec<_>>(),
        "num_ooms": summary.n_ooms,
        "num_alloc_retries": summary.n_retries,
        "unknown": summary.unknown,
    })
}
