//! What CUDA gives by name: barriers, exchange within a warp, atomics, functions of numbers.

use super::{Block, WARP};
use crate::fault::{Fault, Kind, Place};
use crate::ops;
use crate::tree::{Builtin, Expr, Op};
use crate::types::{Scalar, Type};

impl Block<'_> {
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        args: &[Expr],
        expr: &Expr,
        mask: &[bool],
    ) -> Result<Vec<u64>, Fault> {
        use Builtin as B;
        match builtin {
            B::SyncThreads => self.barrier(expr.at, mask),
            B::SyncWarp | B::Fence => Ok(Vec::new()),
            B::ActiveMask => Ok(self.by_warp(mask, |lanes| lanes)),
            B::ShuffleXor | B::ShuffleDown | B::ShuffleUp | B::Shuffle => self.shuffle(builtin, args, expr.at, mask),
            B::Ballot | B::Any | B::All => {
                let cond = self.eval(&args[1], mask)?;
                let yes: Vec<bool> = mask.iter().zip(&cond).map(|(active, bit)| *active && *bit != 0).collect();
                let votes = self.by_warp(&yes, |lanes| lanes);
                let asked = self.by_warp(mask, |lanes| lanes);
                let answer = |(votes, asked): (u64, u64)| match builtin {
                    B::Ballot => votes,
                    B::Any => u64::from(votes != 0),
                    _ => u64::from(votes == asked),
                };
                Ok(votes.into_iter().zip(asked).map(answer).collect())
            }
            B::ReduceAdd | B::ReduceMax | B::ReduceMin => self.reduce(builtin, args, mask),
            B::AtomicAdd
            | B::AtomicSub
            | B::AtomicMax
            | B::AtomicMin
            | B::AtomicExchange
            | B::AtomicCas
            | B::AtomicOr
            | B::AtomicAnd => self.atomic_of(builtin, args, expr, mask),
            _ => self.number(builtin, args, expr, mask),
        }
    }

    /// Everybody who has not left the kernel must be here.
    fn barrier(&mut self, at: Place, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let gone = self.frames.first().map(|frame| frame.is_done.as_slice()).unwrap_or_default();
        let missing = (0..self.n).find(|thread| !mask[*thread] && !gone.get(*thread).copied().unwrap_or(false));
        if let Some(thread) = missing {
            let zh = format!("线程 {thread} 到不了这个 __syncthreads()：它在一个不是人人都走的分支里");
            let en =
                format!("thread {thread} never reaches this __syncthreads(): it stands in a branch that not all take");
            return Err(Fault::new(at, Kind::Barrier, zh, en));
        }
        self.report.barriers += 1;
        self.history.barrier();
        Ok(Vec::new())
    }

    /// A word of bits for each warp, given to all its threads.
    fn by_warp(&self, mask: &[bool], word: impl Fn(u64) -> u64) -> Vec<u64> {
        let bits =
            |warp: &[bool]| warp.iter().enumerate().map(|(lane, active)| u64::from(*active) << lane).sum::<u64>();
        mask.chunks(WARP).flat_map(|warp| vec![word(bits(warp)); warp.len()]).collect()
    }

    fn shuffle(&mut self, builtin: Builtin, args: &[Expr], at: Place, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let (value, other) = (self.eval(&args[1], mask)?, self.eval(&args[2], mask)?);
        let mut out = value.clone();
        for thread in (0..self.n).filter(|thread| mask[*thread]) {
            let (lane, by) = (thread % WARP, other[thread] as usize);
            let from = match builtin {
                Builtin::ShuffleXor => lane ^ (by % WARP),
                Builtin::ShuffleDown => lane + by,
                Builtin::ShuffleUp => lane.wrapping_sub(by),
                _ => by % WARP,
            };
            // Past the end of the warp a lane keeps its own.
            let source = if from < WARP { thread - lane + from } else { thread };
            if source >= self.n || !mask[source] {
                let zh = format!("线程 {thread} 要第 {from} 个 lane 的值，它没有参加这次交换");
                let en = format!("thread {thread} asks lane {from}, which takes no part in this shuffle");
                return Err(Fault::new(at, Kind::Meaning, zh, en));
            }
            out[thread] = value[source];
        }
        Ok(out)
    }

    fn reduce(&mut self, builtin: Builtin, args: &[Expr], mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let scalar = args[1].ty.scalar().unwrap_or(Scalar::U32);
        let mut value = self.eval(&args[1], mask)?;
        for (warp, active) in value.chunks_mut(WARP).zip(mask.chunks(WARP)) {
            let numbers = warp.iter().zip(active).filter(|(_, active)| **active).map(|(bits, _)| *bits);
            let all = numbers.reduce(|a, b| match builtin {
                Builtin::ReduceAdd => ops::binary(Op::Add, scalar, a, b).unwrap_or(0),
                Builtin::ReduceMax => pick(scalar, a, b, true),
                _ => pick(scalar, a, b, false),
            });
            warp.fill(all.unwrap_or(0));
        }
        Ok(value)
    }

    fn atomic_of(&mut self, builtin: Builtin, args: &[Expr], expr: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let addresses = self.eval(&args[0], mask)?;
        let first = self.eval(&args[1], mask)?;
        let second = args.get(2).map(|arg| self.eval(arg, mask)).transpose()?.unwrap_or_default();
        let scalar = expr.ty.scalar().unwrap_or(Scalar::U32);
        let change = |thread: usize, before: u64| {
            let value = first[thread];
            let made = |op| ops::binary(op, scalar, before, value).unwrap_or(0);
            match builtin {
                Builtin::AtomicAdd => made(Op::Add),
                Builtin::AtomicSub => made(Op::Sub),
                Builtin::AtomicOr => made(Op::Or),
                Builtin::AtomicAnd => made(Op::And),
                Builtin::AtomicMax => pick(scalar, before, value, true),
                Builtin::AtomicMin => pick(scalar, before, value, false),
                Builtin::AtomicCas if before == value => second[thread],
                Builtin::AtomicCas => before,
                _ => value,
            }
        };
        self.atomic(&addresses, &Type::Scalar(scalar), mask, expr.at, change)
    }

    fn number(&mut self, builtin: Builtin, args: &[Expr], expr: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let scalar = args.first().and_then(|arg| arg.ty.scalar()).unwrap_or(Scalar::U32);
        let values: Vec<Vec<u64>> = args.iter().map(|arg| self.eval(arg, mask)).collect::<Result<_, _>>()?;
        let active = mask.iter().filter(|active| **active).count() as u64;
        match builtin {
            Builtin::Fma => self.report.flop += 2 * active,
            Builtin::Exp | Builtin::Exp2 | Builtin::Sqrt | Builtin::Rsqrt | Builtin::Divide
                if expr.ty.scalar().is_some_and(Scalar::is_float) =>
            {
                self.report.flop += active;
            }
            _ => {}
        }
        let at = |index: usize, thread: usize| values.get(index).map_or(0, |value| value[thread]);
        Ok((0..self.n)
            .map(|thread| number_of(builtin, scalar, [at(0, thread), at(1, thread), at(2, thread)]))
            .collect())
    }
}

/// The larger or smaller of two; a NaN gives way, as fmaxf and fminf have it.
fn pick(scalar: Scalar, a: u64, b: u64, is_max: bool) -> u64 {
    if scalar.is_float() {
        let (x, y) = (ops::real(scalar, a), ops::real(scalar, b));
        return if x.is_nan() || (!y.is_nan() && (y > x) == is_max) { b } else { a };
    }
    let is_greater = ops::binary(Op::Gt, scalar, a, b) == Some(1);
    if is_greater == is_max { a } else { b }
}

fn number_of(builtin: Builtin, scalar: Scalar, [a, b, c]: [u64; 3]) -> u64 {
    use Builtin as B;
    let (x, y) = (ops::real(scalar, a), ops::real(scalar, b));
    let real = |value: f64| ops::of_real(scalar, value);
    match builtin {
        B::SameBits => a,
        B::Popc => u64::from((a as u32).count_ones()),
        B::Clz => u64::from((a as u32).leading_zeros()),
        B::Ffs => u64::from(if a as u32 == 0 { 0 } else { (a as u32).trailing_zeros() + 1 }),
        B::BytePerm => byte_perm(a as u32, b as u32, c as u32),
        B::Min => pick(scalar, a, b, false),
        B::Max => pick(scalar, a, b, true),
        B::Abs if scalar.is_float() => real(x.abs()),
        B::Abs => ops::of_int(scalar, ops::int(scalar, a).wrapping_abs()),
        B::Fma if scalar == Scalar::F32 => {
            let number = |bits: u64| f32::from_bits(bits as u32);
            ops::of_f32(number(a).mul_add(number(b), number(c)))
        }
        B::Fma => f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits(),
        B::Exp => real(x.exp()),
        B::Exp2 => real(x.exp2()),
        B::Log => real(x.ln()),
        B::Log2 => real(x.log2()),
        B::Sqrt => real(x.sqrt()),
        B::Rsqrt => real(1.0 / x.sqrt()),
        B::Tanh => real(x.tanh()),
        B::Sin => real(x.sin()),
        B::Cos => real(x.cos()),
        B::Pow => real(x.powf(y)),
        B::Floor => real(x.floor()),
        B::Ceil => real(x.ceil()),
        B::Round => real(x.round_ties_even()),
        B::Divide => real(x / y),
        _ => 0,
    }
}

/// Four bytes chosen from eight by the low three bits of each nibble; a set fourth bit spreads the byte's sign.
fn byte_perm(x: u32, y: u32, selector: u32) -> u64 {
    let bytes = (u64::from(y) << 32 | u64::from(x)).to_le_bytes();
    let byte = |index: u32| {
        let nibble = selector >> (4 * index) & 0xF;
        let found = bytes[(nibble & 7) as usize];
        if nibble & 8 == 0 { found } else { if found & 0x80 == 0 { 0 } else { 0xFF } }
    };
    u64::from(u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]))
}
