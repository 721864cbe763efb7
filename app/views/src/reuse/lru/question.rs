//! What the reader sets: a typed sequence or a small tiled product, and the lines of the cache; and the model's distances.

use vramlab_model::kernels::stack_distance;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Localized, Map, Text, Value};

pub const MOST_TEXT: usize = 256;
/// Accesses of a typed sequence.
pub const MOST_TYPED: usize = 96;
/// Characters of a name.
const MOST_NAME: usize = 12;
pub const EDGES: [u64; 3] = [4, 6, 8];
pub const MOST_TILE: u64 = 8;
pub const MOST_LINES: u64 = 96;

/// Where the accesses come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Typed,
    Product,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub source: Source,
    pub sequence: String,
    pub edge: u64,
    pub tile: u64,
    pub lines: u64,
    /// The curves of other tiles too.
    pub compares: bool,
}

/// What the model says.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub lines: Vec<u32>,
    pub distances: Vec<Option<usize>>,
    names: Vec<String>,
    /// Misses by the size of the cache: for the tile asked about first, then for the others.
    pub curves: Vec<(u64, Vec<usize>)>,
}

impl Answer {
    pub fn name(&self, line: u32) -> &str {
        self.names.get(line as usize).map_or("?", String::as_str)
    }

    /// Which matrix a line belongs to, in a product.
    pub fn matrix(&self, line: u32) -> usize {
        3 * line as usize / self.names.len().max(1)
    }

    pub fn misses(&self, lines: u64) -> usize {
        let curve = &self.curves[0].1;
        curve[(lines as usize).min(curve.len() - 1)]
    }

    pub fn distinct(&self) -> usize {
        self.distances.iter().filter(|distance| distance.is_none()).count()
    }
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let sources = ["sequence", "product"].map(Into::into).to_vec();
        let edges = EDGES.iter().map(|edge| edge.to_string().into()).collect();
        let int = |key, most: u64, zh, en| FieldSpec::int(key, "1", 1, most as i64, Text::new(zh, en));
        vec![
            FieldSpec::new(
                "source",
                "",
                FieldKind::Choice { options: sources },
                Text::new("访问从哪来：写出来的，还是矩阵乘", "Accesses: a typed sequence, or a matrix product"),
            )
            .default_value("sequence"),
            FieldSpec::new(
                "sequence",
                "",
                FieldKind::Text { max_len: MOST_TEXT },
                Text::new("依次用到的行，空格隔开", "Lines in the order of use, with blanks between"),
            )
            .default_value("a b a c a b"),
            FieldSpec::new(
                "edge",
                "1",
                FieldKind::Choice { options: edges },
                Text::new("矩阵的边长", "Edge of the matrices"),
            )
            .default_value("8"),
            int("tile", MOST_TILE, "块的边长", "Edge of a tile").default_value(4),
            int("lines", MOST_LINES, "缓存放得下几行", "Lines that the cache holds").default_value(2),
            FieldSpec::new("compare", "", FieldKind::Bool, Text::new("别的块也画", "The curves of other tiles too"))
                .default_value(true),
            int("step", 4096, "走到第几次访问", "Accesses that are over").optional(),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let question = Self {
            source: if args.text("source") == "product" { Source::Product } else { Source::Typed },
            sequence: args.text("sequence").trim().to_owned(),
            edge: args.text("edge").parse().unwrap_or(8),
            tile: args.uint("tile"),
            lines: args.uint("lines"),
            compares: args.flag("compare"),
        };
        if question.tile > question.edge {
            let text = format!("tile = {} is more than edge = {}", question.tile, question.edge);
            return Err(FieldError::conflict("edge", text));
        }
        match question.problem() {
            Some(why) => Err(FieldError::conflict("sequence", why.get(Lang::En))),
            None => Ok(question),
        }
    }

    /// Why a sequence cannot be drawn.
    pub fn problem(&self) -> Option<Localized> {
        match self.sequence.split_whitespace().count() {
            0 => Some(Localized::both("至少要有一次访问".to_owned(), "give at least one access".to_owned())),
            n if n > MOST_TYPED => Some(Localized::both(
                format!("{n} 次访问；最多画 {MOST_TYPED} 次"),
                format!("{n} accesses; at most {MOST_TYPED} are drawn"),
            )),
            _ => {
                let long = self.sequence.split_whitespace().find(|name| name.chars().count() > MOST_NAME)?;
                let head: String = long.chars().take(MOST_NAME).collect();
                Some(Localized::both(
                    format!("“{head}…”太长；一个名字最多 {MOST_NAME} 个字符"),
                    format!("\"{head}…\" is too long; a name has at most {MOST_NAME} characters"),
                ))
            }
        }
    }

    pub fn params(&self, step: usize) -> Map {
        let source = match self.source {
            Source::Typed => "sequence",
            Source::Product => "product",
        };
        let values: [(&str, Value); 7] = [
            ("source", source.into()),
            ("sequence", self.sequence.as_str().into()),
            ("edge", self.edge.to_string().into()),
            ("tile", self.tile.into()),
            ("lines", self.lines.into()),
            ("compare", self.compares.into()),
            ("step", step.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// Tiles that divide the matrix; 1 is left out, for it walks as the whole matrix does.
    pub fn options(&self) -> Vec<u64> {
        (2..=self.edge).filter(|tile| self.edge.is_multiple_of(*tile)).collect()
    }

    /// Tiles whose curves are drawn, the one asked about first.
    fn tiles(&self) -> Vec<u64> {
        let others = self.options().into_iter().filter(|tile| self.compares && *tile != self.tile);
        std::iter::once(self.tile).chain(others).collect()
    }

    pub fn answer(&self) -> Answer {
        let curve = |lines: &[u32]| {
            let distances = stack_distance::distances(lines);
            let misses = stack_distance::misses_by_size(&distances, MOST_LINES as usize);
            (distances, misses)
        };
        match self.source {
            Source::Typed => {
                let (lines, names) = stack_distance::named(&self.sequence);
                let (distances, misses) = curve(&lines);
                Answer { lines, distances, names, curves: vec![(0, misses)] }
            }
            Source::Product => {
                let n = self.edge as u32;
                let walk = |tile: u64| stack_distance::product(n, tile as u32);
                let lines = walk(self.tile);
                let curves = self.tiles().into_iter().map(|tile| (tile, curve(&walk(tile)).1)).collect();
                let name = |line: u32| {
                    let (matrix, at) = (line / (n * n), line % (n * n));
                    format!("{}{}{}", ["A", "B", "C"][matrix as usize % 3], at / n, at % n)
                };
                Answer {
                    distances: stack_distance::distances(&lines),
                    names: (0..3 * n * n).map(name).collect(),
                    lines,
                    curves,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 03, vectors 7 and 8.
    #[test]
    fn misses_of_the_brief() {
        let question = |tile| Question {
            source: Source::Product,
            sequence: "a".to_owned(),
            edge: 8,
            tile,
            lines: 24,
            compares: true,
        };
        for (tile, at_48, at_24) in [(8, 640, 640), (4, 380, 768), (2, 384, 576)] {
            let answer = question(tile).answer();
            assert_eq!((answer.lines.len(), answer.misses(48), answer.misses(24)), (1536, at_48, at_24), "tile {tile}");
        }
        let typed = Question { source: Source::Typed, sequence: "a b a c a b".to_owned(), ..question(4) }.answer();
        assert_eq!((typed.misses(2), typed.distinct()), (4, 3));
        assert_eq!(typed.distances, [None, None, Some(1), None, Some(1), Some(2)]);
    }
}
