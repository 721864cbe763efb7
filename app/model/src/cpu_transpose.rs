//! A transpose on the processor: cache lines per element, straight or by blocks.
//!
//! Question: matrix, element and line size, method, block, cache. Answer: lines fetched per element, the working set
//! that must stay cached, whether it does, time relative to a copy.
//! The source is read by rows; the target is written by columns, so its line is needed again only after all rows of the
//! column (naive) or of the block have been visited. If those lines fit the cache, each is fetched once; if not, once
//! per element.
//! Assumption: fully associative cache, least recently used line leaves first, time goes with the lines fetched. Rows a
//! power of two apart fall into few sets of a real cache and behave as if it were smaller. Give the size of the cache
//! whose misses you ask about.
//! Source: U. Drepper, "What Every Programmer Should Know About Memory", section 6.2.1 (same argument for the matrix
//! product); arithmetic.
//! Errors: a block larger than the matrix; rows that do not fill whole lines.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, Bytes, FieldError, FieldSpec, Map, Ratio, Text};

/// The question. `block_elems` is `None` for the naive method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub n: u64,
    pub elem: Bytes,
    pub line: Bytes,
    pub cache: Bytes,
    pub block_elems: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTransposed {
    /// Lines of source and target, fetched per element.
    pub lines_per_element: f64,
    /// What must stay cached until every element of the fetched lines has been used.
    pub working_set: Bytes,
    pub is_cached: bool,
    /// Lines relative to those of a copy.
    pub relative_time: Ratio,
}

pub fn run(question: Question) -> CpuTransposed {
    let Question { n, elem, line, cache, block_elems } = question;
    let copy_one_way = elem.0 as f64 / line.0 as f64;
    let (working_set, per_element_cached) = match block_elems {
        None => (line * (n + 1), copy_one_way),
        Some(block) => {
            let lines_per_row = (block * elem.0).div_ceil(line.0);
            (line * (2 * block * lines_per_row), lines_per_row as f64 / block as f64)
        }
    };
    let is_cached = working_set <= cache;
    let read = if block_elems.is_some() { per_element_cached } else { copy_one_way };
    let write = if is_cached { per_element_cached } else { 1.0 };
    let lines_per_element = read + write;
    CpuTransposed {
        lines_per_element,
        working_set,
        is_cached,
        relative_time: Ratio(lines_per_element / (2.0 * copy_one_way)),
    }
}

pub struct CpuTranspose;

impl Model for CpuTranspose {
    const ID: &'static str = "cpu_transpose";
    const TITLE: Text = Text::new("处理器上的矩阵转置", "Matrix transpose on the processor");
    const ASSUMES: Text = Text::new(
        "全相联、最近最少使用替换的缓存，时间正比于取来的缓存行。行距是 2 的幂时，真实缓存会像变小了一样。",
        "A fully associative cache that drops the least recently used line; time goes with the lines fetched. With \
         rows a power of two apart a real cache behaves as if it were smaller.",
    );
    const SOURCE: &'static str = "U. Drepper, \"What Every Programmer Should Know About Memory\" (2007), section 6.2.1";
    const EXAMPLE: &'static str = r#"{"method": "naive", "n": 4096, "elem_bytes": 4}"#;

    fn question() -> Vec<FieldSpec> {
        let method =
            Text::new("naive 逐行读、逐列写；blocked 分块", "naive: rows in, columns out; blocked: block by block");
        let block = Text::new("分块的边长，naive 不用", "Rows and columns of a block; naive ignores it");
        let cache = Text::new(
            "要装下工作集的那一级缓存，通常是 L1",
            "Size of the cache that must hold the working set, as a rule L1",
        );
        vec![
            fields::choice("method", "", &["naive", "blocked"], method),
            FieldSpec::int("n", "element", 16, 65_536, Text::new("矩阵边长", "Rows and columns of the matrix")),
            fields::access_bytes("elem_bytes", Text::new("一个元素的字节数", "Bytes of one element")),
            FieldSpec::int("block_elems", "element", 1, 1024, block).default_value(16),
            fields::cpu_line(),
            FieldSpec::int("cache_bytes", "B", 1024, 1 << 32, cache).default_value(32_768),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, max, zh, en| FieldSpec::num(key, unit, 0.0, max, Text::new(zh, en));
        let cached = Text::new(
            "工作集装得下，true 表示每条线只取一次",
            "The working set fits: true if each line is fetched once",
        );
        vec![
            num(
                "lines_per_element",
                "1",
                2.0,
                "每个元素取几条缓存行（源加目标）",
                "Cache lines fetched per element, source and target",
            ),
            FieldSpec::int(
                "working_set_bytes",
                "B",
                0,
                1 << 40,
                Text::new("必须留在缓存里的字节数", "Bytes that must stay cached"),
            ),
            FieldSpec::new("is_cached", "", vramlab_units::FieldKind::Bool, cached),
            num("relative_time", "1", 256.0, "时间，同样大小的复制为 1", "Time; a copy of the same size is 1"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (n, elem) = (args.uint("n"), Bytes(fields::chosen(args, "elem_bytes")));
        let (line, block) = (Bytes(fields::chosen(args, "line_bytes")), args.uint("block_elems"));
        let is_blocked = args.text("method") == "blocked";
        if !(n * elem.0).is_multiple_of(line.0) {
            let every = line.0 / elem.0;
            return Err(FieldError::illegal(
                "n",
                &n.into(),
                format!("a multiple of {every} from 16 to 65536, so that rows fill whole lines"),
            ));
        }
        if is_blocked && block > n {
            return Err(FieldError::conflict("block_elems", format!("a block of {block} does not fit n = {n}")));
        }
        let block_elems = is_blocked.then_some(block);
        let found = run(Question { n, elem, line, cache: fields::bytes(args, "cache_bytes"), block_elems });
        Ok(fields::answer([
            ("lines_per_element", fields::number(found.lines_per_element)),
            ("working_set_bytes", found.working_set.0.into()),
            ("is_cached", found.is_cached.into()),
            ("relative_time", fields::number(found.relative_time.0)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn check(n: u64, cache: Bytes, block_elems: Option<u64>, is_cached: bool, relative_time: f64) {
        let found = run(Question { n, elem: Bytes(4), line: Bytes(64), cache, block_elems });
        assert_eq!((found.is_cached, found.relative_time), (is_cached, Ratio(relative_time)), "{found:?}");
    }

    /// Hand-worked with 16 floats a line: a copy fetches 2/16 lines per element, the naive method 1/16 + 1.
    #[test]
    fn blocks_save_the_lines_of_the_columns() {
        check(4096, Bytes(32_768), None, false, 8.5);
        check(4096, Bytes(32_768), Some(16), true, 1.0);
        check(4096, Bytes(32_768), Some(64), true, 1.0);
        check(4096, Bytes(32_768), Some(80), false, 8.5); // 80 rows of 5 lines, twice, are 50 KiB
        check(4096, Bytes(32_768), Some(128), false, 8.5); // 128 rows of 8 lines, twice, are 128 KiB
    }

    #[test]
    fn a_matrix_with_few_rows_needs_no_blocks() {
        check(256, Bytes(32_768), None, true, 1.0);
        check(512, Bytes(32_768), None, false, 8.5);
    }

    /// Eight floats are half a line: each line is fetched for two blocks.
    #[test]
    fn a_block_narrower_than_a_line_fetches_it_again() {
        check(4096, Bytes(32_768), Some(8), true, 2.0);
    }

    #[test]
    fn errors_name_the_field() {
        let refuse = |given, field| assert_eq!(eval("cpu_transpose", &question(&given)).unwrap_err().field(), field);
        refuse(json!({"method": "naive", "n": 100, "elem_bytes": 4}), "n");
        refuse(json!({"method": "blocked", "n": 32, "elem_bytes": 4, "block_elems": 64}), "block_elems");
        refuse(json!({"method": "blocked", "n": 32, "elem_bytes": 4, "cache_bytes": 0}), "cache_bytes");
    }
}
