//! Loads and stores: addresses checked, requests counted warp by warp, bytes moved.

use super::count::{Act, Key};
use super::memory::{self, DYNAMIC_SHARED, Space, Target};
use super::{Block, WARP};
use crate::fault::{Fault, Kind, Place};
use crate::types::Type;
use vramlab_units::ByteAddr;

/// A checked access of one thread.
#[derive(Clone, Copy)]
struct Spot {
    target: Target,
    thread: usize,
}

impl Block<'_> {
    pub(super) fn load(&mut self, addresses: &[u64], ty: &Type, mask: &[bool], at: Place) -> Result<Vec<u64>, Fault> {
        let (scalar, scalars) = ty.flat();
        let (n, size) = (self.n, scalar.bytes() as usize);
        let mut out = vec![0; scalars * n];
        for spot in self.request(addresses, ty, mask, at, Act::Load)? {
            for part in 0..scalars {
                out[part * n + spot.thread] = self.fetch(spot, part, size, at)?;
            }
        }
        Ok(out)
    }

    pub(super) fn store(
        &mut self,
        addresses: &[u64],
        ty: &Type,
        value: &[u64],
        mask: &[bool],
        at: Place,
    ) -> Result<(), Fault> {
        let (scalar, scalars) = ty.flat();
        let (n, size) = (self.n, scalar.bytes() as usize);
        for spot in self.request(addresses, ty, mask, at, Act::Store)? {
            for part in 0..scalars {
                self.put(spot, part, size, value[part * n + spot.thread], at)?;
            }
        }
        Ok(())
    }

    /// Reads and writes one number a thread, thread after thread; the values from before.
    pub(super) fn atomic(
        &mut self,
        addresses: &[u64],
        ty: &Type,
        mask: &[bool],
        at: Place,
        change: impl Fn(usize, u64) -> u64,
    ) -> Result<Vec<u64>, Fault> {
        let size = ty.bytes() as usize;
        let mut out = vec![0; self.n];
        for spot in self.request(addresses, ty, mask, at, Act::Atomic)? {
            let before = self.fetch(spot, 0, size, at)?;
            out[spot.thread] = before;
            self.put(spot, 0, size, change(spot.thread, before), at)?;
        }
        Ok(out)
    }

    /// Checks every address of an access and counts its requests. What the hardware cannot load at once goes number by number.
    fn request(
        &mut self,
        addresses: &[u64],
        ty: &Type,
        mask: &[bool],
        at: Place,
        act: Act,
    ) -> Result<Vec<Spot>, Fault> {
        let whole = ty.bytes();
        let width = if matches!(whole, 1 | 2 | 4 | 8 | 16) { whole } else { ty.flat().0.bytes() };
        let mut spots = Vec::new();
        for thread in (0..self.n).filter(|thread| mask[*thread]) {
            spots.push(Spot { target: self.check(addresses[thread], whole, ty.align(), thread, at)?, thread });
        }
        for part in 0..whole / width {
            for warp in spots.chunk_by(|a, b| a.thread / WARP == b.thread / WARP) {
                for space in [Space::Global, Space::Shared] {
                    self.count(warp, space, part * width, Key { at, space, act, width });
                }
            }
        }
        Ok(spots)
    }

    fn count(&mut self, warp: &[Spot], space: Space, shift: u64, key: Key) {
        let mut lanes = vec![None; WARP];
        for spot in warp.iter().filter(|spot| spot.target.space == space) {
            let byte = spot.target.byte + shift;
            // Buffers lie far apart, each at the beginning of a line.
            lanes[spot.thread % WARP] = Some(ByteAddr((spot.target.object as u64) << 40 | byte));
            if space == Space::Global {
                let (read, written) = self.touched[spot.target.object].mark(byte, key.act);
                self.report.dram_read_bytes += read;
                self.report.dram_write_bytes += written;
            } else {
                let number = (spot.thread / WARP) as u32;
                self.history.touch(byte, key.width, number, key.at, key.act, self.report);
            }
        }
        if lanes.iter().any(Option::is_some) {
            self.report.access(key, &lanes);
        }
    }

    fn check(&self, address: u64, width: u64, align: u64, thread: usize, at: Place) -> Result<Target, Fault> {
        let Some(mut target) = memory::target(address) else {
            let zh = format!("线程 {thread} 用了一个空指针");
            return Err(Fault::new(at, Kind::Address, zh, format!("thread {thread} follows a null pointer")));
        };
        if target.space == Space::Shared && (DYNAMIC_SHARED / 2..DYNAMIC_SHARED * 2).contains(&target.byte) {
            let start = self.program.shared_bytes.next_multiple_of(16);
            target.byte = start.wrapping_add(target.byte).wrapping_sub(DYNAMIC_SHARED);
        }
        let (size, what) = match target.space {
            Space::Global => {
                let buffer = &self.buffers[target.object];
                (buffer.bytes.len() as u64, (format!(" {} ", buffer.name), buffer.name.clone()))
            }
            Space::Shared => (self.shared.len() as u64, ("共享内存".to_owned(), "shared memory".to_owned())),
            Space::Local => {
                let size = self.locals.get(target.object).map_or(0, |held| held.len() / self.n * 8);
                (size as u64, ("局部变量".to_owned(), "a local variable".to_owned()))
            }
        };
        if target.byte.checked_add(width).is_none_or(|end| end > size) {
            return Err(memory::outside(at, (&what.0, &what.1), target.byte, width, size, thread));
        }
        if !target.byte.is_multiple_of(align) {
            let byte = target.byte;
            let zh = format!("线程 {thread} 一次访问 {width} 字节，地址 {byte} 不是 {align} 的整数倍");
            let en =
                format!("thread {thread} accesses {width} B at once, and address {byte} is no multiple of {align}");
            return Err(Fault::new(at, Kind::Address, zh, en));
        }
        Ok(target)
    }

    /// Scalar number `part` at a spot.
    fn fetch(&self, spot: Spot, part: usize, size: usize, at: Place) -> Result<u64, Fault> {
        let byte = spot.target.byte as usize + part * size;
        match spot.target.space {
            Space::Global => Ok(memory::load(&self.buffers[spot.target.object].bytes[byte..], size)),
            Space::Shared => Ok(memory::load(&self.shared[byte..], size)),
            Space::Local => self.local(spot, byte / size, at).map(|index| self.locals[spot.target.object][index]),
        }
    }

    fn put(&mut self, spot: Spot, part: usize, size: usize, bits: u64, at: Place) -> Result<(), Fault> {
        let byte = spot.target.byte as usize + part * size;
        match spot.target.space {
            Space::Global => memory::store(&mut self.buffers[spot.target.object].bytes[byte..], size, bits),
            Space::Shared => memory::store(&mut self.shared[byte..], size, bits),
            Space::Local => {
                let index = self.local(spot, byte / size, at)?;
                self.locals[spot.target.object][index] = bits;
            }
        }
        Ok(())
    }

    /// The index of a thread's scalar in its variable, which is held scalar by scalar.
    fn local(&self, spot: Spot, scalar: usize, at: Place) -> Result<usize, Fault> {
        let held = self.locals.get(spot.target.object).map_or(0, Vec::len);
        let index = scalar * self.n + spot.thread;
        if index < held {
            return Ok(index);
        }
        let thread = spot.thread;
        let zh = format!("线程 {thread} 的指针超出了变量");
        Err(Fault::new(at, Kind::Address, zh, format!("a pointer of thread {thread} leaves its variable")))
    }
}
