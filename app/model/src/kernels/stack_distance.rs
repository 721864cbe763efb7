//! Stack distances of a sequence of accesses, and what an LRU cache of a given size makes of them.
//!
//! Question: a sequence of named lines, or a small tiled matrix product n × n with a tile; the lines that the cache holds. Answer:
//! hits, misses, and for a given sequence each access's distance: the number of distinct lines since the same line was last used.
//! An LRU cache of C lines hits exactly when that distance is below C.
//! The product is walked element by element, A(i,k), B(k,j), C(i,j), with loops ii, jj, kk over tiles and i, j, k in a tile.
//! Assumption: one element a line, a cache that is fully associative; real caches hash addresses and are no LRU.
//! Source: Mattson, Gecsei, Slutz and Traiger 1970. Errors: neither or both of sequence and product, a tile longer than the matrix.

use crate::fields::{answer, number};
use crate::inference::{shown, text};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const MOST_EDGE: i64 = 16;

/// For each access the number of distinct lines since the last one of the same line; none at the first.
pub fn distances(lines: &[u32]) -> Vec<Option<usize>> {
    let mut stack: Vec<u32> = Vec::new();
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let at = stack.iter().rposition(|held| held == line);
        out.push(at.map(|at| stack.len() - 1 - at));
        if let Some(at) = at {
            stack.remove(at);
        }
        stack.push(*line);
    }
    out
}

/// The lines in the order of their last use after `lines`, the latest first.
pub fn stack(lines: &[u32]) -> Vec<u32> {
    let mut stack: Vec<u32> = Vec::new();
    for line in lines.iter().rev() {
        if !stack.contains(line) {
            stack.push(*line);
        }
    }
    stack
}

/// Misses of caches of 0, 1, 2, … up to `most` lines: one pass answers for every size.
pub fn misses_by_size(distances: &[Option<usize>], most: usize) -> Vec<usize> {
    let mut at_distance = vec![0; most];
    for distance in distances.iter().flatten().filter(|distance| **distance < most) {
        at_distance[*distance] += 1;
    }
    let mut misses = vec![distances.len()];
    for n_hits in at_distance {
        misses.push(misses[misses.len() - 1] - n_hits);
    }
    misses
}

/// The lines of a typed sequence, and their names by number.
pub fn named(sequence: &str) -> (Vec<u32>, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    let word = |word: &str| {
        let at = names.iter().position(|name| name == word).unwrap_or_else(|| {
            names.push(word.to_owned());
            names.len() - 1
        });
        at as u32
    };
    let lines = sequence.split_whitespace().map(word).collect();
    (lines, names)
}

/// Hits of an LRU cache of `n_lines`.
pub fn hits(distances: &[Option<usize>], n_lines: usize) -> usize {
    distances.iter().flatten().filter(|distance| **distance < n_lines).count()
}

/// The lines that a tiled product of two n × n matrices touches, in order; A, B and C do not share any.
pub fn product(n: u32, tile: u32) -> Vec<u32> {
    let starts = || (0..n).step_by(tile as usize);
    let range = |from: u32| from..(from + tile).min(n);
    let mut out = Vec::with_capacity(3 * (n * n * n) as usize);
    for (ii, jj, kk) in starts().flat_map(|ii| starts().flat_map(move |jj| starts().map(move |kk| (ii, jj, kk)))) {
        for i in range(ii) {
            for j in range(jj) {
                for k in range(kk) {
                    out.extend([i * n + k, n * n + k * n + j, 2 * n * n + i * n + j]);
                }
            }
        }
    }
    out
}

pub struct StackDistance;

impl Model for StackDistance {
    const ID: &'static str = "stack_distance";
    const TITLE: Text = Text::new("栈距离与 LRU 缓存", "Stack distances and an LRU cache");
    const ASSUMES: Text = Text::new(
        "一行放一个元素，全相联，LRU；真缓存会打散地址，也不是 LRU。",
        "One element a line, fully associative, least recently used goes first. Real caches hash addresses and are no LRU.",
    );
    const SOURCE: &'static str = "Mattson, Gecsei, Slutz, Traiger 1970, Evaluation techniques for storage hierarchies";
    const EXAMPLE: &'static str = r#"{"sequence": "a b a c a b", "lines": 2}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            text("sequence", "依次用到的行，空格隔开的名字", "Lines in the order of use, names with blanks between")
                .optional(),
            FieldSpec::int("edge", "1", 1, MOST_EDGE, Text::new("矩阵乘的边长 n", "Edge n of a matrix product"))
                .optional(),
            FieldSpec::int("tile", "1", 1, MOST_EDGE, Text::new("块的边长", "Edge of a tile")).default_value(1),
            FieldSpec::int("lines", "1", 1, 4096, Text::new("缓存放得下几行", "Lines that the cache holds")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 20, Text::new(zh, en));
        vec![
            count("accesses", "访问次数", "Accesses"),
            count("hits", "命中", "Hits"),
            count("misses", "没命中", "Misses"),
            FieldSpec::num("hit_share", "1", 0.0, 1.0, Text::new("命中率", "Share of hits")),
            count("distinct", "不同的行", "Distinct lines"),
            shown("distances", "每次访问的栈距离，“-” 是第一次", "Stack distance of each access, - at the first")
                .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let lines = lines(args)?;
        let far = distances(&lines);
        let n_hits = hits(&far, args.uint("lines") as usize);
        let words = || far.iter().map(|far| far.map_or_else(|| "-".to_owned(), |far| far.to_string()));
        let listed = args.has("sequence").then(|| words().collect::<Vec<_>>().join(" "));
        Ok(answer([
            ("accesses", lines.len().into()),
            ("hits", n_hits.into()),
            ("misses", (lines.len() - n_hits).into()),
            ("hit_share", number(n_hits as f64 / lines.len().max(1) as f64)),
            ("distinct", far.iter().filter(|far| far.is_none()).count().into()),
            ("distances", listed.map_or(Value::Null, Value::from)),
        ]))
    }
}

fn lines(args: &Args) -> Result<Vec<u32>, FieldError> {
    let edge = if args.has("edge") { args.uint("edge") as u32 } else { 0 };
    let tile = args.uint("tile") as u32;
    match (args.has("sequence"), args.has("edge")) {
        (true, false) => Ok(named(args.text("sequence")).0),
        (false, true) if tile > edge => {
            Err(FieldError::conflict("tile", format!("tile = {tile} is more than edge = {edge}")))
        }
        (false, true) => Ok(product(edge, tile)),
        _ => Err(FieldError::conflict("sequence", "give either a sequence or the edge of a product")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn sequence(letters: &str, lines: u64, hits: u64, distances: &str) {
        let words: Vec<String> = letters.chars().map(String::from).collect();
        let given = json!({"sequence": words.join(" "), "lines": lines});
        let found = eval("stack_distance", &question(&given)).unwrap();
        assert_eq!((found["hits"].as_u64(), found["distances"].as_str()), (Some(hits), Some(distances)), "{letters}");
    }

    /// Brief 03, vector 7.
    #[test]
    fn sequences() {
        sequence("abcabc", 3, 3, "- - - 2 2 2");
        sequence("abcabc", 2, 0, "- - - 2 2 2");
        sequence("abacab", 2, 2, "- - 1 - 1 2");
    }

    /// Brief 03, vector 8: a tile of 4 is worse than none when the cache holds 24 lines.
    #[test]
    fn a_tile_that_does_not_fit_thrashes() {
        for (lines, tile, misses) in
            [(48, 8, 640), (48, 4, 380), (48, 2, 384), (24, 8, 640), (24, 4, 768), (24, 2, 576)]
        {
            let given = json!({"edge": 8, "tile": tile, "lines": lines});
            let found = eval("stack_distance", &question(&given)).unwrap();
            assert_eq!((found["accesses"].as_u64(), found["misses"].as_u64()), (Some(1536), Some(misses)), "{given}");
        }
        let error = eval("stack_distance", &question(&json!({"edge": 4, "tile": 8, "lines": 4}))).unwrap_err();
        assert_eq!(error.field(), "tile");
        assert!(eval("stack_distance", &question(&json!({"lines": 4}))).is_err());
    }

    /// A cache held as a list, the slow way, agrees at every size.
    #[test]
    fn distances_are_those_of_a_cache() {
        let lines = product(5, 2);
        let far = distances(&lines);
        for size in 1..80 {
            let (mut cache, mut n_hits) = (Vec::new(), 0);
            for line in &lines {
                let before = cache.len();
                cache.retain(|held| held != line);
                n_hits += before - cache.len();
                cache.push(*line);
                if cache.len() > size {
                    cache.remove(0);
                }
            }
            assert_eq!(hits(&far, size), n_hits, "{size} lines");
            assert_eq!(misses_by_size(&far, 80)[size], lines.len() - n_hits, "{size} lines");
            cache.reverse();
            assert_eq!(stack(&lines)[..cache.len()], cache, "{size} lines");
        }
    }
}
