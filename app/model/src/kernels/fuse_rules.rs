//! Which operators may be one kernel: the rules, and the first that a partition breaks, in both languages. Used by `fusion_graph`.
//!
//! Map follows map; a reduction takes maps before it; what follows a reduction needs the whole row on chip, or a barrier over the
//! grid; maps follow a matrix product, nothing goes before it, and no reduction follows it, however far behind; a library's kernel
//! takes nothing in; the kernels form no circle.

use super::graph::{Kind, Op};
use std::fmt;
use vramlab_units::Localized;

/// What a block can hold of a row that is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub row_bytes: u64,
    pub block_bytes: u64,
    pub is_grid_barrier: bool,
}

/// The rule that a group breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Opaque { op: String },
    Row { from: String, to: String, room: Room },
    Tiles { from: String, to: String },
    Again { from: String, to: String },
    Circle { group: Vec<String>, by: String },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opaque { op } => write!(f, "{op} is opaque: a library's kernel takes nothing in"),
            Self::Row { from, to, room } => write!(
                f,
                "{from} needs a whole row before {to} can begin, and the row does not fit one block: {} B > {} B",
                room.row_bytes, room.block_bytes
            ),
            Self::Tiles { from, to } => write!(f, "{to} reduces over tiles of {from} that are in other blocks"),
            Self::Again { from, to } => {
                write!(f, "{from} would be computed again for every tile of {to} that reads it")
            }
            Self::Circle { group, by } => {
                write!(f, "fusing {{{}}} makes group depend on itself through {by}", group.join(","))
            }
        }
    }
}

impl Refusal {
    /// The rule in both languages.
    pub fn said(&self) -> Localized {
        let zh = match self {
            Self::Opaque { op } => format!("{op} 是库里现成的 kernel，什么也并不进去"),
            Self::Row { from, to, room } => format!(
                "{to} 要等 {from} 看完整行，而一行放不进一个 block：{} B > {} B",
                room.row_bytes, room.block_bytes
            ),
            Self::Tiles { from, to } => format!("{to} 要归约的行，{from} 把它分给了好几个 block"),
            Self::Again { from, to } => format!("{to} 的每一块都要读 {from} 的结果，并进去就得每块重算一遍"),
            Self::Circle { group, by } => {
                format!("{} 合在一起，就要等 {by}，而 {by} 又在等它们：成了环", group.join("、"))
            }
        };
        Localized::both(zh, self.to_string())
    }
}

/// Why the groups cannot be kernels: the first rule that is broken.
pub fn refusal(ops: &[Op], of: &[usize], room: Room) -> Option<Refusal> {
    for (at, op) in ops.iter().enumerate() {
        let together = of.iter().filter(|group| **group == of[at]).count();
        if op.kind == Kind::Opaque && together > 1 {
            return Some(Refusal::Opaque { op: op.name.clone() });
        }
        for from in inside(ops, of, at) {
            if let Some(why) = edge(&ops[from], op, room) {
                return Some(why);
            }
        }
        if op.kind == Kind::Reduce
            && let Some(from) = product_before(ops, of, at)
        {
            return Some(Refusal::Tiles { from: ops[from].name.clone(), to: op.name.clone() });
        }
    }
    circle(ops, of)
}

/// Operators of the same group whose output this one reads.
fn inside<'a>(ops: &'a [Op], of: &'a [usize], at: usize) -> impl Iterator<Item = usize> + 'a {
    let reads = move |from: &usize| ops[at].inputs.contains(&ops[*from].output);
    (0..at).filter(move |from| of[*from] == of[at]).filter(reads)
}

/// A matrix product of the group, however far before.
fn product_before(ops: &[Op], of: &[usize], at: usize) -> Option<usize> {
    inside(ops, of, at).find_map(|from| match ops[from].kind {
        Kind::Gemm => Some(from),
        _ => product_before(ops, of, from),
    })
}

/// Why one operator's output cannot stay on chip for the next.
fn edge(from: &Op, to: &Op, room: Room) -> Option<Refusal> {
    let (a, b) = (from.name.clone(), to.name.clone());
    match (from.kind, to.kind) {
        (Kind::Reduce, _) if !room.is_grid_barrier && room.row_bytes > room.block_bytes => {
            Some(Refusal::Row { from: a, to: b, room })
        }
        (Kind::Gemm, Kind::Reduce) => Some(Refusal::Tiles { from: a, to: b }),
        (_, Kind::Gemm) => Some(Refusal::Again { from: a, to: b }),
        _ => None,
    }
}

/// A group that waits for another, which waits for it.
fn circle(ops: &[Op], of: &[usize]) -> Option<Refusal> {
    let size = |group: usize| of.iter().filter(|other| **other == group).count();
    let mut groups: Vec<usize> = of.to_vec();
    groups.sort_unstable();
    groups.dedup();
    // A circle has a group of several, or the operators themselves would be one.
    for group in groups.into_iter().filter(|group| size(*group) > 1) {
        let feeds = |from: usize, to: usize| of[from] != of[to] && ops[to].inputs.contains(&ops[from].output);
        for first in (0..ops.len()).filter(|at| of[*at] != group) {
            let is_fed = (0..ops.len()).any(|from| of[from] == group && feeds(from, first));
            if is_fed && comes_back(ops, of, first, group) {
                let names = ops.iter().zip(of).filter(|(_, other)| **other == group).map(|(op, _)| op.name.clone());
                return Some(Refusal::Circle { group: names.collect(), by: ops[first].name.clone() });
            }
        }
    }
    None
}

/// Whether what `first` computes reaches `group`. A kernel ends as a whole: who waits for one of its operators waits for all.
fn comes_back(ops: &[Op], of: &[usize], first: usize, group: usize) -> bool {
    let mut seen = vec![of[first]];
    let mut open = seen.clone();
    while let Some(now) = open.pop() {
        for (to, op) in ops.iter().enumerate() {
            let is_fed = ops.iter().zip(of).any(|(from, at)| *at == now && op.inputs.contains(&from.output));
            if !is_fed || seen.contains(&of[to]) {
                continue;
            }
            if of[to] == group {
                return true;
            }
            seen.push(of[to]);
            open.push(of[to]);
        }
    }
    false
}
