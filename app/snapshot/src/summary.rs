//! `torch.cuda.memory_summary()` and `memory_stats()`: read back into rows, each with what it means.

use vramlab_units::{Bytes, Localized, Text, show};

/// Whose blocks a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pool {
    All,
    Large,
    Small,
}

/// A row of the table. Bytes for memory, blocks for counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Index into [`METRICS`].
    pub metric: usize,
    pub pool: Pool,
    pub current: Option<u64>,
    pub peak: Option<u64>,
    pub allocated: Option<u64>,
    pub freed: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub rows: Vec<Row>,
    pub n_ooms: Option<u64>,
    pub n_retries: Option<u64>,
    /// Lines or keys that this program does not know.
    pub unknown: Vec<String>,
    /// False for the text: it rounds to three digits and more.
    pub is_exact: bool,
}

/// What a row counts.
pub struct Metric {
    /// In the table.
    pub name: &'static str,
    /// In the stats.
    pub key: &'static str,
    pub is_bytes: bool,
    pub means: Text,
}

const fn metric(name: &'static str, key: &'static str, is_bytes: bool, means: Text) -> Metric {
    Metric { name, key, is_bytes, means }
}

/// Every row of the table, in its order.
pub const METRICS: [Metric; 11] = [
    metric(
        "Allocated memory",
        "allocated_bytes",
        true,
        Text::new("张量正占着的块，含取整。", "Blocks that tensors hold, rounding included."),
    ),
    metric(
        "Active memory",
        "active_bytes",
        true,
        Text::new(
            "再加上已经释放、别的流可能还在用的块。与上一行的差就是等待别的流的字节。",
            "Those, and blocks that were freed while another stream may still use them. The difference waits for a stream.",
        ),
    ),
    metric(
        "Requested memory",
        "requested_bytes",
        true,
        Text::new(
            "程序真正要的字节。比上一行少的，是取整的损失。",
            "What the program asked for. What it falls short of the row above is lost to rounding.",
        ),
    ),
    metric(
        "GPU reserved memory",
        "reserved_bytes",
        true,
        Text::new(
            "分配器向设备要来的，nvidia-smi 看到的是它加上 CUDA context。减去已分配的，就是缓存：不是泄漏。",
            "Taken from the device; nvidia-smi shows this and the CUDA context. Less what is allocated it is the cache, and no leak.",
        ),
    ),
    metric(
        "Non-releasable memory",
        "inactive_split_bytes",
        true,
        Text::new(
            "与在用的块同在一段里的空洞：empty_cache 还不掉，太大的申请也用不上。",
            "Holes in segments that are also in use: empty_cache cannot return them, and requests larger than the hole cannot use them.",
        ),
    ),
    metric("Allocations", "allocation", false, Text::new("在用的块数。", "Blocks in use.")),
    metric(
        "Active allocs",
        "active",
        false,
        Text::new("再加上等待别的流的块。", "Those, and blocks that wait for another stream."),
    ),
    metric(
        "GPU reserved segments",
        "segment",
        false,
        Text::new(
            "cudaMalloc 要来的段数；可扩展的段不算在内。",
            "Segments from cudaMalloc; expandable segments are not counted.",
        ),
    ),
    metric(
        "Non-releasable allocs",
        "inactive_split",
        false,
        Text::new("上面那种空洞有几个。", "How many such holes there are."),
    ),
    metric(
        "Oversize allocations",
        "oversize_allocations",
        false,
        Text::new(
            "不小于 max_split_size 的块；没有设置它时是 0。",
            "Blocks of at least max_split_size; 0 where that is not set.",
        ),
    ),
    metric(
        "Oversize GPU segments",
        "oversize_segments",
        false,
        Text::new("不小于 max_split_size 的段。", "Segments of at least max_split_size."),
    ),
];

/// What "CUDA OOMs" and "cudaMalloc retries" are.
pub const OOMS: Text = Text::new("最终失败的申请。", "Requests that failed in the end.");
pub const RETRIES: Text = Text::new(
    "设备拒绝过几次，于是清空缓存再试。每一次都要同步，很慢：不为 0 就离 OOM 不远了。",
    "How often the device refused and the cache was flushed for another try. Each synchronises: above 0, OOM is near.",
);

/// Whether this looks like the table.
pub fn is_text(text: &str) -> bool {
    text.contains("CUDA memory summary") && text.contains("| Metric") || text.contains("Cur Usage  | Peak Usage")
}

/// Reads the table.
pub fn read_text(text: &str) -> Summary {
    let mut out = Summary::default();
    let mut metric = None;
    for line in text.lines().map(str::trim).filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells.as_slice() {
            [name, current, peak, allocated, freed] if *name != "Metric" => {
                let known = METRICS.iter().position(|known| known.name == *name);
                let pool = match *name {
                    "from large pool" => Pool::Large,
                    "from small pool" => Pool::Small,
                    _ => Pool::All,
                };
                if pool == Pool::All {
                    metric = known;
                }
                match metric {
                    Some(metric) => out.rows.push(Row {
                        metric,
                        pool,
                        current: amount(current),
                        peak: amount(peak),
                        allocated: amount(allocated),
                        freed: amount(freed),
                    }),
                    None => out.unknown.push((*name).to_owned()),
                }
            }
            [ooms, retries] if ooms.starts_with("CUDA OOMs") => {
                let number = |cell: &str| cell.rsplit(':').next().and_then(|text| text.trim().parse().ok());
                out.n_ooms = number(ooms);
                out.n_retries = number(retries);
            }
            _ => {}
        }
    }
    out
}

/// `837 MiB`, `0 B`, `28`, `112 K` (thousands).
fn amount(cell: &str) -> Option<u64> {
    let mut words = cell.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let by = match words.next() {
        None | Some("B") => 1,
        Some("KiB") => 1 << 10,
        Some("MiB") => 1 << 20,
        Some("GiB") => 1 << 30,
        Some("TiB") => 1 << 40,
        Some("PiB") => 1 << 50,
        Some("K") => 1_000,
        Some("M") => 1_000_000,
        Some(_) => return None,
    };
    number.checked_mul(by)
}

/// Reads `memory_stats()` as JSON: flat (`allocated_bytes.all.current`), or nested as `memory_stats_as_nested_dict`.
pub fn read_stats(text: &str) -> Result<Summary, serde_json::Error> {
    let root: serde_json::Value = serde_json::from_str(text)?;
    let root = root.get("stats").unwrap_or(&root);
    let get = |key: &str| -> Option<u64> {
        let flat = root.get(key).and_then(serde_json::Value::as_u64);
        flat.or_else(|| key.split('.').try_fold(root, |at, part| at.get(part)).and_then(serde_json::Value::as_u64))
    };
    let mut out =
        Summary { n_ooms: get("num_ooms"), n_retries: get("num_alloc_retries"), is_exact: true, ..Summary::default() };
    for (metric, known) in METRICS.iter().enumerate() {
        for (pool, name) in [(Pool::All, "all"), (Pool::Large, "large_pool"), (Pool::Small, "small_pool")] {
            let at = |kind: &str| {
                get(&format!("{}.{name}.{kind}", known.key))
                    .or_else(|| get(&format!("{}.{kind}", known.key)).filter(|_| pool == Pool::All))
            };
            let row = Row {
                metric,
                pool,
                current: at("current"),
                peak: at("peak"),
                allocated: at("allocated"),
                freed: at("freed"),
            };
            if [row.current, row.peak, row.allocated, row.freed].iter().any(Option::is_some) {
                out.rows.push(row);
            }
        }
    }
    out.unknown = unknown_keys(root);
    Ok(out)
}

fn unknown_keys(root: &serde_json::Value) -> Vec<String> {
    const OTHERS: &[&str] = &[
        "num_ooms",
        "num_alloc_retries",
        "num_sync_all_streams",
        "num_device_alloc",
        "num_device_free",
        "max_split_size",
    ];
    let is_known = |key: &str| {
        let head = key.split('.').next().unwrap_or(key);
        METRICS.iter().any(|metric| metric.key == head) || OTHERS.contains(&head)
    };
    let keys = root.as_object().into_iter().flat_map(|map| map.keys());
    keys.filter(|key| !is_known(key)).cloned().collect()
}

impl Summary {
    pub fn row(&self, key: &str, pool: Pool) -> Option<&Row> {
        self.rows.iter().find(|row| METRICS[row.metric].key == key && row.pool == pool)
    }

    /// Reserved and not in use: what the cache holds.
    pub fn cached(&self) -> Option<u64> {
        Some(self.now("reserved_bytes")?.saturating_sub(self.now("allocated_bytes")?))
    }

    /// Lost to rounding.
    pub fn rounding(&self) -> Option<u64> {
        Some(self.now("active_bytes")?.saturating_sub(self.now("requested_bytes")?))
    }

    fn now(&self, key: &str) -> Option<u64> {
        self.row(key, Pool::All).and_then(|row| row.current)
    }

    /// Freed, while another stream may still use it.
    pub fn waiting(&self) -> Option<u64> {
        Some(self.now("active_bytes")?.saturating_sub(self.now("allocated_bytes")?))
    }

    /// Of the cache, what lies in wholly free segments: a flush returns it.
    pub fn releasable(&self) -> Option<u64> {
        let unused = self.now("reserved_bytes")?.saturating_sub(self.now("active_bytes")?);
        Some(unused.saturating_sub(self.now("inactive_split_bytes")?))
    }

    /// What a row says together with another one; nothing where it stands for itself.
    pub fn reading(&self, metric: usize) -> Option<Localized> {
        let size = |bytes: u64| show::bytes_binary(Bytes(bytes));
        let each = |bytes: &str, n: &str| {
            let n = self.now(n).filter(|n| *n > 0)?;
            Some(size(self.now(bytes)? / n))
        };
        Some(match METRICS.get(metric)?.key {
            "active_bytes" => {
                let size = size(self.waiting()?);
                Localized::both(
                    format!("这里等待别的流的：{size}。"),
                    format!("Waiting for another stream here: {size}."),
                )
            }
            "requested_bytes" => {
                let size = size(self.rounding()?);
                Localized::both(format!("这里取整多占了 {size}。"), format!("Rounding added {size} here."))
            }
            "reserved_bytes" => {
                let size = size(self.cached()?);
                Localized::both(format!("这里缓存着 {size}。"), format!("The cache holds {size} here."))
            }
            "inactive_split_bytes" => {
                let size = size(self.releasable()?);
                Localized::both(
                    format!("其余空闲的 {size} 在整段空闲的段里，清空缓存就能还掉。"),
                    format!("The other free bytes, {size}, lie in wholly free segments: a flush returns them."),
                )
            }
            "allocation" => {
                let size = each("allocated_bytes", "allocation")?;
                Localized::both(format!("平均一块 {size}。"), format!("A block has {size} on average."))
            }
            "segment" => {
                let size = each("reserved_bytes", "segment")?;
                Localized::both(format!("平均一段 {size}。"), format!("A segment has {size} on average."))
            }
            _ => return None,
        })
    }
}

/// A number as the table prints it: whole, in the unit that suits `scale`, the number of all pools in that column.
pub fn printed(value: u64, scale: u64, is_bytes: bool) -> String {
    const BINARY: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    const DECIMAL: [&str; 3] = ["", "K", "M"];
    let (base, most, units): (u64, u64, &[&str]) =
        if is_bytes { (1024, 768 * 1024, &BINARY) } else { (1000, 750 * 1000, &DECIMAL) };
    let (mut value, mut scale, mut unit) = (value, scale, 0);
    while scale >= most && unit + 1 < units.len() {
        (value, scale, unit) = (value / base, scale / base, unit + 1);
    }
    format!("{value} {}", units[unit]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_carry_their_unit() {
        assert_eq!(amount("837 MiB"), Some(837 << 20));
        assert_eq!(amount("0 B"), Some(0));
        assert_eq!(amount("28"), Some(28));
        assert_eq!(amount("112 K"), Some(112_000));
        assert_eq!(amount("3 parsec"), None);
        assert_eq!(amount(""), None);
    }

    /// The numbers of a table that PyTorch 2.11 printed come out as they went in.
    #[test]
    fn a_table_is_printed_as_it_was_read() {
        let text = include_str!("../../../assets/summaries/kv_cat.txt");
        let summary = read_text(text);
        assert_eq!((summary.rows.len(), summary.unknown.len()), (29, 0));
        for row in &summary.rows {
            let metric = &METRICS[row.metric];
            let all = summary.row(metric.key, Pool::All).unwrap();
            for (value, scale) in [(row.current, all.current), (row.peak, all.peak), (row.freed, all.freed)] {
                let cell = printed(value.unwrap(), scale.unwrap(), metric.is_bytes);
                assert!(text.contains(&format!(" {cell} ")), "{}: {cell}", metric.name);
            }
        }
        // 39,304 MiB reserved, 1,122 MiB of them in use, 2,048 KiB in split segments.
        let mib = |mib: u64| Some(mib << 20);
        assert_eq!((summary.cached(), summary.waiting()), (mib(39_304 - 1_122), Some(0)));
        assert_eq!((summary.rounding(), summary.releasable()), (mib(6), mib(39_304 - 1_122 - 2)));
    }

    #[test]
    fn nested_and_flat_stats_are_the_same() {
        let flat = r#"{"allocated_bytes.all.current": 5, "num_ooms": 1, "oversize_segments.current": 3, "novel.x": 1}"#;
        let nested = r#"{"allocated_bytes": {"all": {"current": 5}}, "num_ooms": 1, "oversize_segments": {"current": 3}, "novel": {}}"#;
        let (a, b) = (read_stats(flat).unwrap(), read_stats(nested).unwrap());
        assert_eq!((a.rows, a.n_ooms), (b.rows.clone(), b.n_ooms));
        assert_eq!(b.rows.len(), 2);
        assert_eq!(
            (a.unknown.as_slice(), b.unknown.as_slice()),
            (&["novel.x".to_owned()][..], &["novel".to_owned()][..])
        );
        assert!(read_stats("<html>").is_err());
    }
}
