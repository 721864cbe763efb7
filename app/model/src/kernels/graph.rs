//! Operators over named tensors, read from a line of text, and a partition of them into kernels: what
//! each reads and writes. Used by the model `fusion_graph`; which partitions may be is in `fuse_rules.rs`.
//!
//! An operator is `name kind inputs > output`, apart from the next by `;`. A kind is `map`, `reduce`, `gemm` or `opaque`.

use std::collections::{BTreeMap, BTreeSet};

/// Most operators of a graph.
pub const MOST_OPS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Map,
    Reduce,
    Gemm,
    Opaque,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    pub name: String,
    pub kind: Kind,
    pub inputs: Vec<String>,
    pub output: String,
}

pub fn parse(text: &str) -> Result<Vec<Op>, String> {
    let ops: Vec<Op> =
        text.split(';').filter(|part| !part.trim().is_empty()).map(parse_op).collect::<Result<_, _>>()?;
    if ops.is_empty() || ops.len() > MOST_OPS {
        return Err(format!("{} operators; a graph has 1 to {MOST_OPS}", ops.len()));
    }
    for (at, op) in ops.iter().enumerate() {
        if ops[..at].iter().any(|other| other.name == op.name) {
            return Err(format!("two operators are named {}", op.name));
        }
        if ops[..at].iter().any(|other| other.output == op.output) {
            return Err(format!("tensor {} is produced twice", op.output));
        }
        let late = |input: &&String| ops[at..].iter().any(|other| other.output == **input);
        if let Some(input) = op.inputs.iter().find(late) {
            return Err(format!("{} reads {input} before it is produced", op.name));
        }
    }
    Ok(ops)
}

fn parse_op(part: &str) -> Result<Op, String> {
    let spelling = || format!("\"{}\" is not read; an operator is: name kind inputs > output", part.trim());
    let (left, output) = part.split_once('>').ok_or_else(spelling)?;
    let mut words = left.split_whitespace().map(str::to_owned);
    let (name, kind) = words.next().zip(words.next()).ok_or_else(spelling)?;
    let kind = match kind.as_str() {
        "map" => Kind::Map,
        "reduce" => Kind::Reduce,
        "gemm" => Kind::Gemm,
        "opaque" => Kind::Opaque,
        other => return Err(format!("{name}: kind {other} is none of map, reduce, gemm, opaque")),
    };
    let (inputs, output) = (words.collect::<Vec<_>>(), output.trim().to_owned());
    if inputs.is_empty() || output.is_empty() || output.contains(char::is_whitespace) {
        return Err(spelling());
    }
    Ok(Op { name, kind, inputs, output })
}

/// Sizes as `x=2e6 w=2000`, in bytes.
pub fn sizes(text: &str) -> Result<BTreeMap<String, f64>, String> {
    let pair = |word: &str| {
        let bad = || format!("\"{word}\" is not read; a size is tensor=bytes, from 0 to 1e15");
        let (name, bytes) = word.split_once('=').ok_or_else(bad)?;
        let bytes = bytes.parse::<f64>().ok().filter(|bytes| (0.0..=1e15).contains(bytes)).ok_or_else(bad)?;
        Ok((name.to_owned(), bytes))
    };
    text.split([' ', ',', '\n']).filter(|word| !word.is_empty()).map(pair).collect()
}

/// Which group each operator is in. `a+b c` puts a and b together; who is not named is alone.
pub fn groups(ops: &[Op], text: &str) -> Result<Vec<usize>, String> {
    let mut of: Vec<Option<usize>> = vec![None; ops.len()];
    let mut n = 0;
    for word in text.split([' ', ',', '\n']).filter(|word| !word.is_empty()) {
        for name in word.split('+') {
            let at = ops.iter().position(|op| op.name == name).ok_or_else(|| format!("no operator is named {name}"))?;
            if of[at].replace(n).is_some() {
                return Err(format!("{name} is in two groups"));
            }
        }
        n += 1;
    }
    let mut alone = || {
        n += 1;
        n - 1
    };
    Ok(of.into_iter().map(|group| group.unwrap_or_else(&mut alone)).collect())
}

/// How a tensor crosses memory under a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossing {
    /// Groups that read it from memory.
    pub reads: u64,
    /// Whether a group writes it.
    pub is_written: bool,
}

impl Crossing {
    /// How often all of the tensor goes through memory.
    pub fn times(self) -> u64 {
        self.reads + u64::from(self.is_written)
    }
}

/// What crosses memory: a group reads each tensor from outside once, and writes each that is used outside, or by nobody, once.
pub fn crossings<'a>(ops: &'a [Op], of: &[usize]) -> BTreeMap<&'a str, Crossing> {
    let mut found: BTreeMap<&str, Crossing> = BTreeMap::new();
    let maker = |name: &str| ops.iter().position(|op| op.output == name);
    let mut readers: BTreeSet<(&str, usize)> = BTreeSet::new();
    for (at, op) in ops.iter().enumerate() {
        found.entry(&op.output).or_default();
        for input in &op.inputs {
            found.entry(input).or_default();
            if maker(input).is_none_or(|from| of[from] != of[at]) {
                readers.insert((input, of[at]));
            }
        }
    }
    for (name, _) in readers {
        if let Some(crossing) = found.get_mut(name) {
            crossing.reads += 1;
        }
    }
    for op in ops {
        let is_unused = ops.iter().all(|other| !other.inputs.contains(&op.output));
        if let Some(crossing) = found.get_mut(op.output.as_str()) {
            crossing.is_written = is_unused || crossing.reads > 0;
        }
    }
    found
}

/// Bytes that the groups read and write.
pub fn traffic(ops: &[Op], of: &[usize], bytes: &BTreeMap<String, f64>) -> Result<f64, String> {
    let cost = |(name, crossing): (&str, Crossing)| {
        let size = bytes.get(name).ok_or_else(|| format!("no size is given for tensor {name}"))?;
        Ok(size * crossing.times() as f64)
    };
    crossings(ops, of).into_iter().map(cost).sum()
}
