//! What the reader sets: a graph of operators, sizes, what a block holds, and which operators are one kernel.

use vramlab_model::kernels::fuse_rules::{Refusal, Room, refusal};
use vramlab_model::kernels::{fuse_registers, graph};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub use vramlab_model::kernels::graph::{Kind, Op};

/// Operators that the picture is made for.
pub const MOST_OPS: usize = 24;
pub const MOST_TEXT: usize = 4096;
/// Shared memory that a block may ask for on compute capability 9.0.
pub const BLOCK_BYTES: u64 = 232_448;
pub const MOST_ROW: u64 = 1 << 20;

#[derive(Debug, PartialEq)]
pub struct Preset {
    pub id: &'static str,
    pub label: Text,
    pub operators: &'static str,
    pub sizes: &'static str,
    pub row_bytes: u64,
}

pub const PRESETS: [Preset; 5] = [
    Preset {
        id: "gelu",
        label: Text::new("gelu(x·w + b) + r", "gelu(x·w + b) + r"),
        operators: "mul map x w > t; add map t b > u; gelu map u > v; sum map v r > y",
        sizes: "x=2e6 w=2e3 t=2e6 b=2e3 u=2e6 v=2e6 r=2e6 y=2e6",
        row_bytes: 2000,
    },
    Preset {
        id: "softmax",
        label: Text::new("softmax，4096 × 4096，fp32", "softmax of 4096 × 4096 in fp32"),
        operators: "max reduce x > m; sub map x m > d; exp map d > e; sum reduce e > s; div map e s > y",
        sizes: "x=67108864 m=16384 d=67108864 e=67108864 s=16384 y=67108864",
        row_bytes: 16_384,
    },
    Preset {
        id: "circle",
        label: Text::new("绕一圈的图", "a way round"),
        operators: "scale map x > a; fft opaque a > f; mask map a > k; mix map k f > y",
        sizes: "x=8e6 a=8e6 f=8e6 k=8e6 y=8e6",
        row_bytes: 2000,
    },
    Preset {
        id: "attention",
        label: Text::new("注意力，一个头，4096 个 token", "attention, one head of 4096 tokens"),
        operators: "qk gemm q k > s; scale map s > u; max reduce u > m; exp map u m > p; sum reduce p > l; pv gemm p v > o; div map o l > y",
        sizes: "q=1048576 k=1048576 v=1048576 s=33554432 u=33554432 p=33554432 m=8192 l=8192 o=1048576 y=1048576",
        row_bytes: 8192,
    },
    Preset {
        id: "layer_norm",
        label: Text::new("LayerNorm，接在残差后面", "LayerNorm behind a residual"),
        operators: "res map x r > h; mean reduce h > m; sub map h m > d; var reduce d > s; norm map d s gb > y",
        sizes: "x=33554432 r=33554432 h=33554432 m=16384 d=33554432 s=16384 gb=16384 y=33554432",
        row_bytes: 8192,
    },
];

/// One state of the figure, checked: the texts read, every size there, no rule broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub preset: &'static Preset,
    pub operators: String,
    pub sizes: String,
    pub row_bytes: u64,
    pub is_grid_barrier: bool,
    pub ops: Vec<Op>,
    /// The group of each operator.
    pub of: Vec<usize>,
}

/// The sums of a partition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sums {
    pub bytes: f64,
    pub apart: f64,
    pub launches: usize,
    pub registers: Option<u64>,
}

impl Question {
    pub fn of(preset: &'static Preset) -> Self {
        Self::read(preset, preset.operators, preset.sizes, "").unwrap_or_else(|_| Self {
            preset,
            operators: String::new(),
            sizes: String::new(),
            row_bytes: 0,
            is_grid_barrier: false,
            ops: Vec::new(),
            of: Vec::new(),
        })
    }

    /// A graph of the reader's, or why it is none.
    pub fn read(preset: &'static Preset, operators: &str, sizes: &str, groups: &str) -> Result<Self, FieldError> {
        let blame = |field: &'static str| move |why: String| FieldError::conflict(field, why);
        let ops = graph::parse(operators).map_err(blame("operators"))?;
        if ops.len() > MOST_OPS {
            let why = format!("{} operators; at most {MOST_OPS} are drawn", ops.len());
            return Err(FieldError::conflict("operators", why));
        }
        let of = graph::groups(&ops, groups).map_err(blame("groups"))?;
        let bytes = graph::sizes(sizes).map_err(blame("sizes"))?;
        graph::traffic(&ops, &of, &bytes).map_err(blame("sizes"))?;
        let this = Self {
            preset,
            operators: operators.to_owned(),
            sizes: sizes.to_owned(),
            row_bytes: preset.row_bytes,
            is_grid_barrier: false,
            ops,
            of,
        };
        for name in this.tensors() {
            if !bytes.contains_key(&name) {
                return Err(FieldError::conflict("sizes", format!("no size is given for tensor {name}")));
            }
        }
        Ok(this)
    }

    pub fn fields() -> Vec<FieldSpec> {
        let ids = PRESETS.iter().map(|preset| preset.id.into()).collect();
        let text = |key, zh, en| {
            FieldSpec::new(key, "", FieldKind::Text { max_len: MOST_TEXT }, Text::new(zh, en)).default_value("")
        };
        let barrier = Text::new("可以用全网格的屏障", "A barrier over the grid is allowed");
        let row =
            Text::new("归约的一行有几字节，空着用预设的", "Bytes of a row that is reduced; the preset's if absent");
        vec![
            FieldSpec::new("preset", "", FieldKind::Choice { options: ids }, Text::new("哪张图", "Which graph"))
                .default_value("gelu"),
            text(
                "operators",
                "自己的图：名字 类别 输入 > 输出，用 ; 隔开；空着用预设的",
                "A graph of one's own: name kind inputs > output, with ; between; empty for the preset's",
            ),
            text("sizes", "自己的图里张量的字节，x=2e6", "Bytes of the tensors of that graph, x=2e6"),
            text("groups", "合在一起的算子，a+b c+d", "Operators that are one kernel, a+b c+d"),
            FieldSpec::int("row_bytes", "B", 0, MOST_ROW as i64, row).optional(),
            FieldSpec::new("is_grid_barrier", "", FieldKind::Bool, barrier).default_value(false),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let preset = PRESETS.iter().find(|preset| preset.id == args.text("preset")).unwrap_or(&PRESETS[0]);
        let own = args.text("operators").trim();
        let (operators, sizes) =
            if own.is_empty() { (preset.operators, preset.sizes) } else { (own, args.text("sizes")) };
        let mut this = Self::read(preset, operators, sizes, args.text("groups"))?;
        if args.has("row_bytes") {
            this.row_bytes = args.uint("row_bytes");
        }
        this.is_grid_barrier = args.flag("is_grid_barrier");
        match this.refusal(&this.of) {
            Some(why) => Err(FieldError::conflict("groups", why.to_string())),
            None => Ok(this),
        }
    }

    pub fn params(&self) -> Map {
        let own = |text: &str| if self.is_own() { text.to_owned() } else { String::new() };
        let values: [(&str, Value); 6] = [
            ("preset", self.preset.id.into()),
            ("operators", own(&self.operators).into()),
            ("sizes", own(&self.sizes).into()),
            ("groups", self.groups().into()),
            ("row_bytes", self.row_bytes.into()),
            ("is_grid_barrier", self.is_grid_barrier.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn is_own(&self) -> bool {
        self.operators != self.preset.operators || self.sizes != self.preset.sizes
    }

    pub fn has_rows(&self) -> bool {
        self.ops.iter().any(|op| op.kind == Kind::Reduce)
    }

    /// Groups of several, as the model reads them.
    pub fn groups(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        for (at, group) in self.of.iter().enumerate() {
            if self.of[..at].contains(group) {
                continue;
            }
            let names: Vec<&str> = self.members(*group).map(|idx| self.ops[idx].name.as_str()).collect();
            if names.len() > 1 {
                words.push(names.join("+"));
            }
        }
        words.join(" ")
    }

    pub fn members(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.of.len()).filter(move |idx| self.of[*idx] == group)
    }

    /// The partition with the picked operators as one kernel.
    pub fn fused(&self, picked: &[usize]) -> Vec<usize> {
        let new = self.of.iter().max().map_or(0, |last| last + 1);
        let pick = |(idx, group): (usize, &usize)| if picked.contains(&idx) { new } else { *group };
        self.of.iter().enumerate().map(pick).collect()
    }

    /// The partition with each picked operator alone.
    pub fn split(&self, picked: &[usize]) -> Vec<usize> {
        let new = self.of.iter().max().map_or(0, |last| last + 1);
        let pick = |(idx, group): (usize, &usize)| if picked.contains(&idx) { new + idx } else { *group };
        self.of.iter().enumerate().map(pick).collect()
    }

    pub fn refusal(&self, of: &[usize]) -> Option<Refusal> {
        let room = Room { row_bytes: self.row_bytes, block_bytes: BLOCK_BYTES, is_grid_barrier: self.is_grid_barrier };
        refusal(&self.ops, of, room)
    }

    pub fn sums(&self, of: &[usize]) -> Sums {
        let sizes = graph::sizes(&self.sizes).unwrap_or_default();
        let alone: Vec<usize> = (0..self.ops.len()).collect();
        let traffic = |of: &[usize]| graph::traffic(&self.ops, of, &sizes).unwrap_or(0.0);
        let mut groups = of.to_vec();
        groups.sort_unstable();
        groups.dedup();
        Sums {
            bytes: traffic(of),
            apart: traffic(&alone),
            launches: groups.len(),
            registers: fuse_registers::most(&self.ops, of, self.row_bytes),
        }
    }

    /// Names of all tensors, inputs first.
    pub fn tensors(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let used = self.ops.iter().flat_map(|op| op.inputs.iter().chain([&op.output]));
        for name in used {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    pub fn bytes_of(&self, tensor: &str) -> f64 {
        graph::sizes(&self.sizes).ok().and_then(|sizes| sizes.get(tensor).copied()).unwrap_or(0.0)
    }

    /// How often a tensor crosses memory.
    pub fn crossing(&self, tensor: &str) -> graph::Crossing {
        graph::crossings(&self.ops, &self.of).get(tensor).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The presets count what the chapter's brief counts.
    #[test]
    fn presets_have_their_bytes() {
        let sums = |id: &str, groups: &str| {
            let preset = PRESETS.iter().find(|preset| preset.id == id).unwrap();
            let question = Question::read(preset, preset.operators, preset.sizes, groups).unwrap();
            assert!(question.refusal(&question.of).is_none(), "{id} {groups}: {:?}", question.refusal(&question.of));
            question.sums(&question.of)
        };
        let gelu = sums("gelu", "mul+add gelu+sum");
        assert_eq!((gelu.bytes, gelu.apart, gelu.launches), (10_004_000.0, 18_004_000.0, 2));
        let softmax = sums("softmax", "max+sub+exp+sum+div");
        assert_eq!(softmax.bytes, 134_217_728.0);
        // Eight passes, and a few bytes a row.
        assert!((softmax.apart / 536_870_912.0 - 1.0).abs() < 1e-3, "{}", softmax.apart);
        assert_eq!(sums("attention", "qk+scale max+exp+sum pv+div").launches, 3);
    }

    #[test]
    fn groups_are_written_as_they_are_read() {
        let mut question = Question::of(&PRESETS[0]);
        question.of = question.fused(&[0, 1]);
        question.of = question.fused(&[2, 3]);
        assert_eq!(question.groups(), "mul+add gelu+sum");
        question.of = question.split(&[1]);
        assert_eq!(question.groups(), "gelu+sum");
    }
}
