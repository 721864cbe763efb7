//! Expressions, for every thread at once. A value is its scalars one after another, each for all threads; what stands at a thread
//! that takes no part means nothing.

use super::Block;
use super::exec::none;
use super::wait::{choose, decide, open, split};
use crate::fault::{Fault, Kind};
use crate::ops;
use crate::tree::{Expr, Lvalue, Node, Op, Special, Where};
use crate::types::Scalar;

impl Block<'_> {
    /// The value of an expression in which nothing is called, but for what is known already: see `wait`.
    pub(super) fn eval(&mut self, expr: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        if let Some(known) = self.known(expr) {
            return Ok(known);
        }
        self.spend(expr.at)?;
        self.deeper(expr.at, |this| this.node(expr, mask))
    }

    pub(super) fn node(&mut self, expr: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        match &expr.node {
            Node::Const(bits) => Ok(vec![*bits; self.n]),
            Node::Special(special, axis) => Ok(self.special(*special, usize::from(*axis))),
            Node::Read(place) => self.read(place, mask),
            Node::AddressOf(place) => self.address(place, mask),
            Node::Unary(op, inner) => {
                let scalar = inner.ty.scalar().unwrap_or(Scalar::U64);
                let mut value = self.eval(inner, mask)?;
                value.iter_mut().for_each(|bits| *bits = ops::unary(*op, scalar, *bits));
                Ok(value)
            }
            Node::Binary(op, a, b) => self.binary(*op, a, b, mask),
            Node::Offset { pointer, count, bytes } => {
                let (mut pointer, count) = (self.eval(pointer, mask)?, self.eval(count, mask)?);
                for (address, count) in pointer.iter_mut().zip(count) {
                    *address = moved(*address, count.wrapping_mul(*bytes));
                }
                Ok(pointer)
            }
            Node::Distance { from, to, bytes } => {
                let (from, to) = (self.eval(from, mask)?, self.eval(to, mask)?);
                let distance = |from: u64, to: u64| (to.wrapping_sub(from) as i64 / *bytes as i64) as u64;
                Ok(from.into_iter().zip(to).map(|(from, to)| distance(from, to)).collect())
            }
            Node::Cast { from, to, value } => {
                let mut value = self.eval(value, mask)?;
                value.iter_mut().for_each(|bits| *bits = ops::cast(*from, *to, *bits));
                Ok(value)
            }
            Node::Logic { is_and, left, right } => self.logic(*is_and, left, right, mask),
            Node::Choose { cond, then, other } => self.choose([cond, then, other], mask),
            Node::Assign(place, value) => {
                let value = self.eval(value, mask)?;
                self.assign(place, &value, mask)?;
                Ok(value)
            }
            Node::Update { .. } => self.update(expr, mask),
            Node::Component(inner, which) => {
                let value = self.eval(inner, mask)?;
                let start = usize::from(*which) * self.n;
                Ok(value[start..start + self.n].to_vec())
            }
            Node::Vector(parts) => {
                let parts: Vec<Vec<u64>> = parts.iter().map(|part| self.eval(part, mask)).collect::<Result<_, _>>()?;
                Ok(parts.concat())
            }
            // `wait` plays those.
            Node::Call { .. } | Node::Lambda { .. } => Ok(vec![0; expr.ty.flat().1 * self.n]),
            Node::Builtin(builtin, args) => self.builtin(*builtin, args, expr, mask),
            Node::Comma(all) => {
                let mut last = Vec::new();
                for one in all {
                    last = self.eval(one, mask)?;
                }
                Ok(last)
            }
        }
    }

    fn special(&self, special: Special, axis: usize) -> Vec<u64> {
        let [width, height, _] = self.launch.block.map(|size| size as usize);
        let same = |value: u32| vec![u64::from(value); self.n];
        match special {
            Special::BlockIdx => same(self.at[axis]),
            Special::BlockDim => same(self.launch.block[axis]),
            Special::GridDim => same(self.launch.grid[axis]),
            Special::ThreadIdx => (0..self.n)
                .map(|thread| match axis {
                    0 => thread % width,
                    1 => thread / width % height,
                    _ => thread / width / height,
                })
                .map(|index| index as u64)
                .collect(),
        }
    }

    fn binary(&mut self, op: Op, a: &Expr, b: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let scalar = a.ty.scalar().unwrap_or(Scalar::U64);
        let (mut left, right) = (self.eval(a, mask)?, self.eval(b, mask)?);
        if scalar.is_float() && matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div) {
            self.report.flop += mask.iter().filter(|active| **active).count() as u64;
        }
        for (thread, (left, right)) in left.iter_mut().zip(right).enumerate() {
            match ops::binary(op, scalar, *left, right) {
                Some(bits) => *left = bits,
                None if mask[thread] => {
                    let (zh, en) = (format!("线程 {thread} 除以零"), format!("thread {thread} divides by zero"));
                    return Err(Fault::new(b.at, Kind::Meaning, zh, en));
                }
                None => {}
            }
        }
        Ok(left)
    }

    fn logic(&mut self, is_and: bool, left: &Expr, right: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let value = self.eval(left, mask)?;
        let open = open(is_and, &value, mask);
        let decided = if none(&open) { None } else { Some(self.eval(right, &open)?) };
        Ok(decide(value, decided, &open))
    }

    fn choose(&mut self, parts: [&Expr; 3], mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let [cond, then, other] = parts;
        let cond = self.eval(cond, mask)?;
        let [yes, no] = split(&cond, mask);
        let first = if none(&yes) && !none(&no) { None } else { Some(self.eval(then, &yes)?) };
        let second = if none(&no) { None } else { Some(self.eval(other, &no)?) };
        Ok(choose(first, second, &yes))
    }

    /// `place op= value`; the address is worked out once.
    fn update(&mut self, expr: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let Node::Update { place, op, value, in_type, is_after } = &expr.node else { return Ok(Vec::new()) };
        let value = self.eval(value, mask)?;
        let addresses = match &place.place {
            Where::Memory(pointer) => Some(self.eval(pointer, mask)?),
            Where::Local { .. } => None,
        };
        let before = match &addresses {
            Some(addresses) => self.load(addresses, &place.ty, mask, place.at)?,
            None => self.read(place, mask)?,
        };
        let own = place.ty.scalar().unwrap_or(Scalar::U64);
        let is_pointer = place.ty.scalar().is_none();
        if in_type.is_float() {
            self.report.flop += mask.iter().filter(|active| **active).count() as u64;
        }
        let mut after = before.clone();
        for (thread, bits) in after.iter_mut().enumerate().filter(|(thread, _)| mask[*thread]) {
            *bits = if is_pointer {
                let by = if *op == Op::Sub { value[thread].wrapping_neg() } else { value[thread] };
                moved(*bits, by)
            } else {
                let wide = ops::cast(own, *in_type, *bits);
                let Some(made) = ops::binary(*op, *in_type, wide, value[thread]) else {
                    let (zh, en) = (format!("线程 {thread} 除以零"), format!("thread {thread} divides by zero"));
                    return Err(Fault::new(expr.at, Kind::Meaning, zh, en));
                };
                ops::cast(*in_type, own, made)
            };
        }
        match &addresses {
            Some(addresses) => self.store(addresses, &place.ty, &after, mask, place.at)?,
            None => self.assign(place, &after, mask)?,
        }
        Ok(if *is_after { before } else { after })
    }

    fn read(&mut self, place: &Lvalue, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        match &place.place {
            Where::Memory(pointer) => {
                let addresses = self.eval(pointer, mask)?;
                self.load(&addresses, &place.ty, mask, place.at)
            }
            Where::Local { slot, offset, index } => {
                let (n, scalars) = (self.n, place.ty.flat().1);
                let variable = self.here().1 + slot;
                let Some(index) = index else {
                    return Ok(self.locals[variable][offset * n..(offset + scalars) * n].to_vec());
                };
                let index = self.eval(index, mask)?;
                let firsts = self.firsts(variable, *offset, &index, scalars, mask, place)?;
                let held = &self.locals[variable];
                let mut out = vec![0; scalars * n];
                for (thread, first) in firsts.into_iter().enumerate() {
                    for scalar in 0..scalars {
                        out[scalar * n + thread] = held[(first + scalar) * n + thread];
                    }
                }
                Ok(out)
            }
        }
    }

    pub(super) fn assign(&mut self, place: &Lvalue, value: &[u64], mask: &[bool]) -> Result<(), Fault> {
        match &place.place {
            Where::Memory(pointer) => {
                let addresses = self.eval(pointer, mask)?;
                self.store(&addresses, &place.ty, value, mask, place.at)
            }
            Where::Local { slot, offset, index } => {
                let variable = self.here().1 + slot;
                let Some(index) = index else {
                    self.write(variable, *offset, value, mask);
                    return Ok(());
                };
                let (n, scalars) = (self.n, place.ty.flat().1);
                let index = self.eval(index, mask)?;
                let firsts = self.firsts(variable, *offset, &index, scalars, mask, place)?;
                let held = &mut self.locals[variable];
                for (thread, first) in firsts.into_iter().enumerate().filter(|(thread, _)| mask[*thread]) {
                    for scalar in 0..scalars {
                        held[(first + scalar) * n + thread] = value[scalar * n + thread];
                    }
                }
                Ok(())
            }
        }
    }

    /// The first scalar of a variable that each thread means; 0 for those that take no part.
    fn firsts(
        &self,
        variable: usize,
        offset: usize,
        index: &[u64],
        scalars: usize,
        mask: &[bool],
        place: &Lvalue,
    ) -> Result<Vec<usize>, Fault> {
        let size = self.locals[variable].len() / self.n;
        let first = |(thread, index): (usize, &u64)| {
            let first = (offset as i64).wrapping_add(*index as i64);
            if !mask[thread] {
                return Ok(0);
            }
            if first < 0 || first as usize + scalars > size {
                let zh = format!("线程 {thread} 的下标 {index} 超出数组，它有 {size} 个数", index = *index as i64);
                let en = format!("thread {thread} uses index {} of an array of {size} numbers", *index as i64);
                return Err(Fault::new(place.at, Kind::Address, zh, en));
            }
            Ok(first as usize)
        };
        index.iter().enumerate().map(first).collect()
    }

    fn address(&mut self, place: &Lvalue, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let Where::Local { slot, offset, index } = &place.place else { return Ok(vec![0; self.n]) };
        let bytes = place.ty.flat().0.bytes();
        let base = super::memory::local(self.here().1 + slot, *offset as u64 * bytes);
        let Some(index) = index else { return Ok(vec![base; self.n]) };
        let index = self.eval(index, mask)?;
        Ok(index.into_iter().map(|index| moved(base, index.wrapping_mul(bytes))).collect())
    }
}

/// An address `by` bytes further on, in the same buffer: what it runs out of is found when it is followed.
fn moved(address: u64, by: u64) -> u64 {
    const LOW: u64 = (1 << 40) - 1;
    (address & !LOW) | (address.wrapping_add(by) & LOW)
}
