//! A device without memory: the tape is walked, nothing is computed. That is how a peak is predicted.

use crate::device::{Buf, Device, Op, Trouble};

pub struct Dry {
    word: u64,
    next: Buf,
}

impl Dry {
    /// Numbers of `word` bytes.
    pub fn new(word: u64) -> Self {
        Self { word, next: 0 }
    }
}

impl Device for Dry {
    fn word(&self) -> u64 {
        self.word
    }

    fn is_dry(&self) -> bool {
        true
    }

    fn malloc(&mut self, _words: usize) -> Result<Option<Buf>, Trouble> {
        self.next += 1;
        Ok(Some(self.next))
    }

    fn free(&mut self, _buf: Buf) -> Result<(), Trouble> {
        Ok(())
    }

    fn put(&mut self, _buf: Buf, _values: &[f64]) -> Result<(), Trouble> {
        Ok(())
    }

    fn get(&mut self, _buf: Buf, _words: usize) -> Result<Vec<f64>, Trouble> {
        Ok(Vec::new())
    }

    fn run(&mut self, _op: &Op) -> Result<(), Trouble> {
        Ok(())
    }

    fn park(&mut self, _buf: Buf, _words: usize) -> Result<u64, Trouble> {
        Ok(0)
    }

    fn unpark(&mut self, _parked: u64, _buf: Buf, _words: usize) -> Result<(), Trouble> {
        Ok(())
    }
}
