//! Real memory for our own allocators: segments from `cudaMalloc`, or a fixed stock of physical pages that really runs out.

use super::{Card, PAGE};
use crate::error::RunError;
use std::collections::{BTreeMap, BTreeSet};
use vramlab_alloc::caching::Device;

/// What could not be done; the allocator only sees a refusal.
#[derive(Default)]
pub struct Trouble(Option<RunError>);

impl Trouble {
    fn note<T>(&mut self, result: Result<T, RunError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.get_or_insert(error);
                None
            }
        }
    }

    pub fn end(&mut self) -> Result<(), RunError> {
        self.0.take().map_or(Ok(()), Err)
    }
}

/// Where an allocator of ours has its memory from.
pub trait Memory: Device {
    fn card(&mut self) -> &mut dyn Card;
    /// The most that was taken from the card at once.
    fn most_bytes(&self) -> u64;
    /// Gives everything back. The error is the first that was met on the way.
    fn close(self) -> Result<(), RunError>;
}

/// Segments from `cudaMalloc`, within a budget.
pub struct Plain<'a> {
    pub card: &'a mut dyn Card,
    pub limit_bytes: u64,
    pub taken_bytes: u64,
    pub most_bytes: u64,
    pub trouble: Trouble,
    segments: BTreeSet<u64>,
    pages: BTreeMap<u64, u64>,
    ranges: BTreeMap<u64, u64>,
}

impl<'a> Plain<'a> {
    pub fn new(card: &'a mut dyn Card, limit_bytes: u64) -> Self {
        Self {
            card,
            limit_bytes,
            taken_bytes: 0,
            most_bytes: 0,
            trouble: Trouble::default(),
            segments: BTreeSet::new(),
            pages: BTreeMap::new(),
            ranges: BTreeMap::new(),
        }
    }

    fn count(&mut self, bytes: u64) {
        self.taken_bytes += bytes;
        self.most_bytes = self.most_bytes.max(self.taken_bytes);
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.taken_bytes.saturating_add(bytes) <= self.limit_bytes
    }
}

impl Memory for Plain<'_> {
    fn card(&mut self) -> &mut dyn Card {
        self.card
    }

    fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    fn close(mut self) -> Result<(), RunError> {
        let pages: Vec<u64> = self.pages.keys().copied().collect();
        for address in pages {
            self.unmap(address, PAGE);
        }
        for address in std::mem::take(&mut self.segments) {
            let result = self.card.free(address);
            self.trouble.note(result);
        }
        for (address, bytes) in std::mem::take(&mut self.ranges) {
            let result = self.card.drop_range(address, bytes);
            self.trouble.note(result);
        }
        self.trouble.end()
    }
}

impl Device for Plain<'_> {
    fn segment(&mut self, bytes: u64) -> Option<u64> {
        if !self.has_room(bytes) {
            return None;
        }
        let result = self.card.malloc(bytes);
        let address = self.trouble.note(result).flatten()?;
        self.count(bytes);
        self.segments.insert(address);
        Some(address)
    }

    fn release(&mut self, address: u64, bytes: u64) {
        let result = self.card.free(address);
        self.trouble.note(result);
        self.segments.remove(&address);
        self.taken_bytes -= bytes;
    }

    fn range(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.next_multiple_of(PAGE);
        let result = self.card.range(bytes);
        let address = self.trouble.note(result)?;
        self.ranges.insert(address, bytes);
        Some(address)
    }

    fn map(&mut self, address: u64, bytes: u64) -> bool {
        if !self.has_room(bytes) {
            return false;
        }
        for page in (0..bytes).step_by(PAGE as usize) {
            let result = self.card.page();
            let Some(handle) = self.trouble.note(result) else { return false };
            let result = self.card.map(address + page, handle);
            self.trouble.note(result);
            self.pages.insert(address + page, handle);
        }
        self.count(bytes);
        true
    }

    fn unmap(&mut self, address: u64, bytes: u64) {
        for page in (0..bytes).step_by(PAGE as usize) {
            let result = self.card.unmap(address + page);
            self.trouble.note(result);
            if let Some(handle) = self.pages.remove(&(address + page)) {
                let result = self.card.drop_page(handle);
                self.trouble.note(result);
            }
        }
        self.taken_bytes -= bytes;
    }

    fn total_bytes(&self) -> u64 {
        self.limit_bytes
    }
}

/// A small card made of real physical pages: when the last is mapped, the next segment is refused because there is none
/// left, not because a counter says so.
pub struct Stock<'a> {
    pub card: &'a mut dyn Card,
    pub trouble: Trouble,
    n_pages: u64,
    most_mapped: u64,
    /// Handles of pages that are behind no address.
    spare: Vec<u64>,
    mapped: BTreeMap<u64, u64>,
    ranges: BTreeMap<u64, u64>,
}

impl<'a> Stock<'a> {
    pub fn new(card: &'a mut dyn Card, bytes: u64) -> Result<Self, RunError> {
        let n_pages = bytes / PAGE;
        let mut spare = Vec::new();
        for _ in 0..n_pages {
            spare.push(card.page()?);
        }
        let (mapped, ranges) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { card, trouble: Trouble::default(), n_pages, most_mapped: 0, spare, mapped, ranges })
    }
}

impl Memory for Stock<'_> {
    fn card(&mut self) -> &mut dyn Card {
        self.card
    }

    fn most_bytes(&self) -> u64 {
        self.most_mapped * PAGE
    }

    fn close(mut self) -> Result<(), RunError> {
        let addresses: Vec<u64> = self.mapped.keys().copied().collect();
        for address in addresses {
            self.unmap(address, PAGE);
        }
        for (address, bytes) in std::mem::take(&mut self.ranges) {
            let result = self.card.drop_range(address, bytes);
            self.trouble.note(result);
        }
        for page in std::mem::take(&mut self.spare) {
            let result = self.card.drop_page(page);
            self.trouble.note(result);
        }
        self.trouble.end()
    }
}

impl Device for Stock<'_> {
    fn segment(&mut self, bytes: u64) -> Option<u64> {
        if self.spare.len() as u64 * PAGE < bytes {
            return None;
        }
        let address = self.range(bytes)?;
        self.map(address, bytes.next_multiple_of(PAGE)).then_some(address)
    }

    fn release(&mut self, address: u64, bytes: u64) {
        let bytes = bytes.next_multiple_of(PAGE);
        self.unmap(address, bytes);
        if let Some(bytes) = self.ranges.remove(&address) {
            let result = self.card.drop_range(address, bytes);
            self.trouble.note(result);
        }
    }

    fn range(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.next_multiple_of(PAGE);
        let result = self.card.range(bytes);
        let address = self.trouble.note(result)?;
        self.ranges.insert(address, bytes);
        Some(address)
    }

    fn map(&mut self, address: u64, bytes: u64) -> bool {
        let n = (bytes / PAGE) as usize;
        if self.spare.len() < n {
            return false;
        }
        for (at, page) in (address..).step_by(PAGE as usize).zip(self.spare.split_off(self.spare.len() - n)) {
            let result = self.card.map(at, page);
            self.trouble.note(result);
            self.mapped.insert(at, page);
        }
        self.most_mapped = self.most_mapped.max(self.mapped.len() as u64);
        true
    }

    fn unmap(&mut self, address: u64, bytes: u64) {
        for at in (address..address + bytes).step_by(PAGE as usize) {
            if let Some(page) = self.mapped.remove(&at) {
                let result = self.card.unmap(at);
                self.trouble.note(result);
                self.spare.push(page);
            }
        }
    }

    fn total_bytes(&self) -> u64 {
        self.n_pages * PAGE
    }
}
