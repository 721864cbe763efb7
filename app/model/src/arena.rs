//! One stretch of memory with a best-fit allocator: holes and what fits into them.
//!
//! Question: a capacity and a list of steps, `a:4` asks, `-a` frees. Answer: where the last request lies or that it failed, what
//! is free, the largest hole, the fragmentation 1 − largest ÷ free. Assumption: the smallest hole that is large enough, at equal
//! size the lowest; frees merge with their neighbours; nothing is moved. Source: brief of chapter 05; the general ones are the
//! allocators of chapter 11. Errors: a name that is taken or unknown.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub struct Arena;

const MOST: i64 = 1 << 40;

impl Model for Arena {
    const ID: &'static str = "arena";
    const TITLE: Text = Text::new("一段内存里的空洞", "Holes in one stretch of memory");
    const ASSUMES: Text = Text::new(
        "取够大的空洞里最小的，一样大取最低的；释放后与邻居合并；什么都不搬。",
        "The smallest hole that is large enough, the lowest of equals; frees merge with neighbours; nothing is moved.",
    );
    const SOURCE: &'static str =
        "best fit with coalescing; the rules of PyTorch and others are the models of chapter 11";
    const EXAMPLE: &'static str = r#"{"capacity": 16, "steps": "a:4 b:4 c:4 d:4 -a -c e:8"}"#;

    fn question() -> Vec<FieldSpec> {
        let steps = Text::new("a:4 申请 4 份，-a 释放", "a:4 asks for 4, -a frees");
        vec![
            FieldSpec::int("capacity", "1", 1, MOST, Text::new("容量", "The capacity")),
            FieldSpec::new("steps", "", FieldKind::Text { max_len: 4096 }, steps).default_value(""),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let size = |key, zh, en| FieldSpec::int(key, "1", 0, MOST, Text::new(zh, en));
        vec![
            size("offset", "最后一次申请的位置", "Where the last request lies").optional(),
            size("failed", "失败的申请数", "Requests that failed"),
            size("free", "空闲合计", "Free in all"),
            size("largest_free", "最大的空洞", "The largest hole"),
            FieldSpec::num("fragmentation", "1", 0.0, 1.0, Text::new("碎片率", "Fragmentation")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let mut strip = Strip::new(args.uint("capacity"));
        let (mut offset, mut failed) = (None, 0_u64);
        for word in args.text("steps").split_whitespace() {
            if let Some(name) = word.strip_prefix('-') {
                strip.free(name)?;
                continue;
            }
            let asked = word.split_once(':').and_then(|(name, size)| Some((name, size.parse::<u64>().ok()?)));
            let (name, size) = asked
                .filter(|(name, size)| !name.is_empty() && (1..=MOST as u64).contains(size))
                .ok_or_else(|| FieldError::conflict("steps", format!("\"{word}\" is neither NAME:SIZE nor -NAME")))?;
            offset = strip.ask(name, size)?;
            failed += u64::from(offset.is_none());
        }
        let holes = strip.holes();
        let (free, largest) =
            (holes.iter().map(|hole| hole.1).sum::<u64>(), holes.iter().map(|hole| hole.1).max().unwrap_or(0));
        Ok(answer([
            ("offset", offset.map_or(Value::Null, Value::from)),
            ("failed", failed.into()),
            ("free", free.into()),
            ("largest_free", largest.into()),
            ("fragmentation", number(fragmentation(free, largest))),
        ]))
    }
}

/// 1 − largest ÷ free; nothing free is no fragmentation.
pub fn fragmentation(free: u64, largest: u64) -> f64 {
    if free == 0 { 0.0 } else { 1.0 - largest as f64 / free as f64 }
}

struct Strip {
    capacity: u64,
    /// Name, offset, size, by offset.
    used: Vec<(String, u64, u64)>,
}

impl Strip {
    fn new(capacity: u64) -> Self {
        Self { capacity, used: Vec::new() }
    }

    /// Offset and size of the holes, by offset.
    fn holes(&self) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        let mut at = 0;
        for (_, offset, size) in &self.used {
            if *offset > at {
                out.push((at, offset - at));
            }
            at = offset + size;
        }
        if self.capacity > at {
            out.push((at, self.capacity - at));
        }
        out
    }

    fn ask(&mut self, name: &str, size: u64) -> Result<Option<u64>, FieldError> {
        if self.used.iter().any(|(known, ..)| known == name) {
            return Err(FieldError::conflict("steps", format!("{name} is in use already")));
        }
        let best = self.holes().into_iter().filter(|hole| hole.1 >= size).min_by_key(|hole| (hole.1, hole.0));
        if let Some((offset, _)) = best {
            let at = self.used.partition_point(|(_, known, _)| *known < offset);
            self.used.insert(at, (name.to_owned(), offset, size));
        }
        Ok(best.map(|hole| hole.0))
    }

    fn free(&mut self, name: &str) -> Result<(), FieldError> {
        let at = self.used.iter().position(|(known, ..)| known == name);
        let at = at.ok_or_else(|| FieldError::conflict("steps", format!("{name} is not in use")))?;
        self.used.remove(at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    fn ask(steps: &str) -> Map {
        eval("arena", &question(&json!({"capacity": 16, "steps": steps}))).unwrap()
    }

    /// Brief 05, vector 7.
    #[test]
    fn free_is_not_enough() {
        let apart = ask("a:4 b:4 c:4 d:4 -a -c e:8");
        assert_eq!((apart["failed"].as_u64(), apart["offset"].as_u64()), (Some(1), None));
        assert_eq!((apart["free"].as_u64(), apart["largest_free"].as_u64()), (Some(8), Some(4)));
        assert_eq!(apart["fragmentation"].as_f64(), Some(0.5));
        let together = ask("a:4 b:4 c:4 d:4 -b -c e:8");
        assert_eq!((together["offset"].as_u64(), together["failed"].as_u64()), (Some(4), Some(0)));
        assert!(fragmentation(0, 0).abs() < f64::EPSILON);
        let refused = |steps: &str| eval("arena", &question(&json!({"capacity": 16, "steps": steps}))).unwrap_err();
        for steps in ["-x", "a:1 a:1", "a", "a:0", ":4"] {
            assert_eq!(refused(steps).field(), "steps", "{steps}");
        }
    }
}
