//! Operators over named tensors, read from a line of text, and a partition of them into kernels: which may be one kernel, and what
//! each reads and writes. Used by the model `fusion_graph`.
//!
//! An operator is `name kind inputs > output`, apart from the next by `;`. A kind is `map`, `reduce`, `gemm` or `opaque`.

use std::collections::BTreeMap;

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

/// What a block can hold of a row that is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub row_bytes: u64,
    pub block_bytes: u64,
    pub is_grid_barrier: bool,
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

/// Why the groups cannot be kernels: the first rule that is broken, in words.
pub fn refusal(ops: &[Op], of: &[usize], room: Room) -> Option<String> {
    let inside = |at: usize, input: &String| {
        ops.iter().position(|other| other.output == *input).filter(|from| of[*from] == of[at])
    };
    for (at, op) in ops.iter().enumerate() {
        let together = of.iter().filter(|group| **group == of[at]).count();
        if op.kind == Kind::Opaque && together > 1 {
            return Some(format!("{} is opaque: a library's kernel takes nothing in", op.name));
        }
        for from in op.inputs.iter().filter_map(|input| inside(at, input)) {
            if let Some(why) = edge(&ops[from], op, room) {
                return Some(why);
            }
        }
    }
    cycle(ops, of)
}

/// Why one operator's output cannot stay on chip for the next.
fn edge(from: &Op, to: &Op, room: Room) -> Option<String> {
    match (from.kind, to.kind) {
        (Kind::Reduce, _) if !room.is_grid_barrier && room.row_bytes > room.block_bytes => Some(format!(
            "{} needs a whole row before {} can begin, and the row does not fit one block: {} B > {} B",
            from.name, to.name, room.row_bytes, room.block_bytes
        )),
        (Kind::Gemm, Kind::Reduce) => {
            Some(format!("{} reduces over tiles of {} that are in other blocks", to.name, from.name))
        }
        (_, Kind::Gemm) => {
            Some(format!("{} would be computed again for every tile of {} that reads it", from.name, to.name))
        }
        _ => None,
    }
}

/// A group that needs another's output, which needs its own.
fn cycle(ops: &[Op], of: &[usize]) -> Option<String> {
    let feeds = |from: usize, to: usize| ops[to].inputs.contains(&ops[from].output);
    for first in 0..ops.len() {
        // Everything that an output of this group reaches through other groups.
        let mut reached: Vec<usize> = (0..ops.len()).filter(|to| of[*to] != of[first] && feeds(first, *to)).collect();
        let through = reached.clone();
        while let Some(from) = reached.pop() {
            for to in (0..ops.len()).filter(|to| feeds(from, *to) || (of[*to] == of[from] && *to > from)) {
                if of[to] == of[first] {
                    let names: Vec<&str> = ops
                        .iter()
                        .zip(of)
                        .filter(|(_, group)| **group == of[first])
                        .map(|(op, _)| op.name.as_str())
                        .collect();
                    let by = ops[through[0]].name.as_str();
                    return Some(format!("fusing {{{}}} makes group depend on itself through {by}", names.join(",")));
                }
                if to > from && !reached.contains(&to) {
                    reached.push(to);
                }
            }
        }
    }
    None
}

/// Bytes that the groups read and write: each tensor from outside once, each that is used outside once.
pub fn traffic(ops: &[Op], of: &[usize], bytes: &BTreeMap<String, f64>) -> Result<f64, String> {
    let size = |name: &String| bytes.get(name).copied().ok_or_else(|| format!("no size is given for tensor {name}"));
    let mut total = 0.0;
    let last = of.iter().copied().max().unwrap_or(0);
    for group in 0..=last {
        let mine = || ops.iter().zip(of).filter(|(_, at)| **at == group).map(|(op, _)| op);
        let mut read: Vec<&String> =
            mine().flat_map(|op| &op.inputs).filter(|input| mine().all(|op| op.output != **input)).collect();
        read.sort_unstable();
        read.dedup();
        for input in read {
            total += size(input)?;
        }
        for op in mine() {
            let users = ops.iter().zip(of).filter(|(other, _)| other.inputs.contains(&op.output));
            let (mut n_users, mut is_outside) = (0, false);
            for (_, at) in users {
                n_users += 1;
                is_outside |= *at != group;
            }
            if n_users == 0 || is_outside {
                total += size(&op.output)?;
            }
        }
    }
    Ok(total)
}
