//! The processor as a device: plain loops in a fixed order, in single or double precision.
//!
//! It counts the bytes that it really holds by itself, apart from the arena's books.

mod attention;
mod dense;
mod real;
mod rows;

pub use real::Real;

use crate::device::{Buf, Device, Op, Trouble};
use std::collections::BTreeMap;

/// Buffers by number, and copies that wait "on the host", which is the same memory here.
#[derive(Default)]
pub struct Cpu<R> {
    held: BTreeMap<Buf, Vec<R>>,
    parked: BTreeMap<u64, Vec<R>>,
    next: u64,
    held_bytes: u64,
    most_held_bytes: u64,
}

impl<R: Real> Cpu<R> {
    /// Bytes held now, and the most ever, by what the vectors say of themselves.
    pub fn held_bytes(&self) -> [u64; 2] {
        [self.held_bytes, self.most_held_bytes]
    }

    /// Nothing held any more, neither here nor parked.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.parked.is_empty()
    }

    fn at(&self, buf: Buf) -> Result<&[R], Trouble> {
        self.held.get(&buf).map(Vec::as_slice).ok_or_else(|| gone(buf))
    }

    /// Takes a buffer out, so that the others can be read beside it; `back` returns it.
    fn out(&mut self, buf: Buf) -> Result<Vec<R>, Trouble> {
        self.held.remove(&buf).ok_or_else(|| gone(buf))
    }

    fn write(&mut self, buf: Buf, work: impl FnOnce(&Self, &mut [R]) -> Result<(), Trouble>) -> Result<(), Trouble> {
        let mut out = self.out(buf)?;
        let done = work(self, &mut out);
        self.held.insert(buf, out);
        done
    }
}

fn gone(buf: Buf) -> Trouble {
    Trouble::Device(format!("buffer {buf} is not there, or is read while it is written"))
}

impl<R: Real> Device for Cpu<R> {
    fn word(&self) -> u64 {
        R::BYTES
    }

    fn malloc(&mut self, words: usize) -> Result<Option<Buf>, Trouble> {
        let mut fresh = Vec::new();
        if fresh.try_reserve_exact(words).is_err() {
            return Ok(None);
        }
        fresh.resize(words, R::of(f64::NAN));
        self.held_bytes += fresh.capacity() as u64 * R::BYTES;
        self.most_held_bytes = self.most_held_bytes.max(self.held_bytes);
        self.next += 1;
        self.held.insert(self.next, fresh);
        Ok(Some(self.next))
    }

    fn free(&mut self, buf: Buf) -> Result<(), Trouble> {
        self.held_bytes -= self.out(buf)?.capacity() as u64 * R::BYTES;
        Ok(())
    }

    fn put(&mut self, buf: Buf, values: &[f64]) -> Result<(), Trouble> {
        self.write(buf, |_, out| {
            out.iter_mut().zip(values).for_each(|(out, value)| *out = R::of(*value));
            Ok(())
        })
    }

    fn get(&mut self, buf: Buf, words: usize) -> Result<Vec<f64>, Trouble> {
        Ok(self.at(buf)?.iter().take(words).map(|value| value.wide()).collect())
    }

    fn park(&mut self, buf: Buf, words: usize) -> Result<u64, Trouble> {
        let copy = self.at(buf)?.iter().take(words).copied().collect();
        self.next += 1;
        self.parked.insert(self.next, copy);
        Ok(self.next)
    }

    fn unpark(&mut self, parked: u64, buf: Buf, _words: usize) -> Result<(), Trouble> {
        let copy = self.parked.remove(&parked).ok_or_else(|| gone(parked))?;
        self.write(buf, |_, out| {
            out.copy_from_slice(&copy);
            Ok(())
        })
    }

    fn run(&mut self, op: &Op) -> Result<(), Trouble> {
        match *op {
            Op::Gemm { .. } | Op::Bias { .. } | Op::BiasGrad { .. } => dense::run(self, op),
            Op::Scores { .. } | Op::Mix { .. } | Op::ScoresBack { .. } | Op::MixBack { .. } => attention::run(self, op),
            _ => rows::run(self, op),
        }
    }
}
