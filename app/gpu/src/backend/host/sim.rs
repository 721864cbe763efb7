//! A card without a GPU: the driver and the pool as `vramlab_alloc` models them, and memory that keeps what is written.
//! For tests only; its times mean nothing, and it runs no kernels.

use super::{Card, Lanes, PAGE, PoolBytes};
use crate::error::RunError;
use std::collections::{BTreeMap, BTreeSet};
use vramlab_alloc::TileId;
use vramlab_alloc::plain::Plain;
use vramlab_alloc::stream_pool::StreamPool;

/// Pool addresses and address space lie apart from the driver's, which begin at 0x7000_0000_0000.
const POOL_BASE: u64 = 0x0800_0000_0000;
const RANGE_BASE: u64 = 0x2000_0000_0000;

pub struct Sim {
    total_bytes: u64,
    driver: Plain,
    held: BTreeMap<u64, TileId>,
    pool: Option<StreamPool>,
    pooled: BTreeMap<u64, TileId>,
    pages: BTreeSet<u64>,
    next_page: u64,
    next_range: u64,
    mapped: BTreeMap<u64, u64>,
    /// Start, end and value of what was set, in order.
    written: Vec<(u64, u64, u8)>,
    /// Host buffers by handle.
    hosts: BTreeMap<u64, Vec<u8>>,
    next_host: u64,
    /// Launches of the graph that is being recorded, and of every graph that is held.
    recorded: Option<u64>,
    graphs: BTreeMap<u64, u64>,
    next_graph: u64,
    /// Kernels that would have run.
    pub n_launched: u64,
}

impl Sim {
    pub fn new(total_bytes: u64) -> Self {
        Self {
            total_bytes,
            driver: Plain::new(total_bytes),
            held: BTreeMap::new(),
            pool: None,
            pooled: BTreeMap::new(),
            pages: BTreeSet::new(),
            next_page: 1,
            next_range: RANGE_BASE,
            mapped: BTreeMap::new(),
            written: Vec::new(),
            hosts: BTreeMap::new(),
            next_host: 1,
            recorded: None,
            graphs: BTreeMap::new(),
            next_graph: 1,
            n_launched: 0,
        }
    }

    fn used_bytes(&self) -> u64 {
        let pool = self.pool.as_ref().map_or(0, StreamPool::reserved_bytes);
        self.driver.reserved_bytes() + pool + self.pages.len() as u64 * PAGE
    }

    fn pool(&mut self) -> Result<&mut StreamPool, RunError> {
        self.pool.as_mut().ok_or_else(|| wrong("no pool is open"))
    }
}

fn wrong(what: &str) -> RunError {
    RunError::Content { what: format!("simulated card: {what}") }
}

impl Card for Sim {
    fn memory(&self) -> Result<[u64; 2], RunError> {
        Ok([self.total_bytes - self.used_bytes(), self.total_bytes])
    }

    fn malloc(&mut self, bytes: u64) -> Result<Option<u64>, RunError> {
        let Ok(served) = self.driver.malloc(bytes) else { return Ok(None) };
        let served = served.ok_or_else(|| wrong("a request of nothing"))?;
        self.held.insert(served.address, served.id);
        Ok(Some(served.address))
    }

    fn free(&mut self, address: u64) -> Result<(), RunError> {
        let id = self.held.remove(&address).ok_or_else(|| wrong("a free of nothing"))?;
        self.driver.free(id);
        Ok(())
    }

    fn open_pool(&mut self, threshold_bytes: u64) -> Result<(), RunError> {
        self.pool = Some(StreamPool::new(self.total_bytes, threshold_bytes));
        Ok(())
    }

    fn close_pool(&mut self) -> Result<(), RunError> {
        if !self.pooled.is_empty() {
            return Err(wrong("the pool is closed while blocks of it live"));
        }
        self.pool = None;
        Ok(())
    }

    fn pool_malloc(&mut self, bytes: u64) -> Result<Option<u64>, RunError> {
        let Ok(served) = self.pool()?.malloc(bytes, 0) else { return Ok(None) };
        let served = served.ok_or_else(|| wrong("a request of nothing"))?;
        self.pooled.insert(served.address - POOL_BASE, served.id);
        Ok(Some(served.address - POOL_BASE))
    }

    fn pool_free(&mut self, address: u64) -> Result<(), RunError> {
        let id = self.pooled.remove(&address).ok_or_else(|| wrong("a free of nothing in the pool"))?;
        self.pool()?.free(id, 0);
        Ok(())
    }

    fn pool_bytes(&self) -> Result<PoolBytes, RunError> {
        let pool = self.pool.as_ref().ok_or_else(|| wrong("no pool is open"))?;
        let (used, reserved, most_used) = (pool.used_bytes, pool.reserved_bytes(), pool.peak_used_bytes);
        Ok(PoolBytes { used, most_used, reserved, most_reserved: pool.peak_reserved_bytes })
    }

    fn sync(&mut self) -> Result<(), RunError> {
        if let Some(pool) = &mut self.pool {
            pool.sync();
        }
        Ok(())
    }

    fn range(&mut self, bytes: u64) -> Result<u64, RunError> {
        let address = self.next_range;
        self.next_range += bytes.next_multiple_of(PAGE);
        Ok(address)
    }

    fn drop_range(&mut self, address: u64, bytes: u64) -> Result<(), RunError> {
        match self.mapped.range(address..address + bytes).next() {
            Some(_) => Err(wrong("address space is dropped while pages are behind it")),
            None => Ok(()),
        }
    }

    fn page(&mut self) -> Result<u64, RunError> {
        self.pages.insert(self.next_page);
        self.next_page += 1;
        Ok(self.next_page - 1)
    }

    fn drop_page(&mut self, page: u64) -> Result<(), RunError> {
        if self.mapped.values().any(|mapped| *mapped == page) || !self.pages.remove(&page) {
            return Err(wrong("a page is dropped that is mapped or not there"));
        }
        Ok(())
    }

    fn map(&mut self, address: u64, page: u64) -> Result<(), RunError> {
        match self.mapped.insert(address, page) {
            Some(_) => Err(wrong("an address is mapped twice")),
            None => Ok(()),
        }
    }

    fn unmap(&mut self, address: u64) -> Result<(), RunError> {
        self.mapped.remove(&address).map(|_| ()).ok_or_else(|| wrong("an address is unmapped that is not mapped"))
    }

    fn set(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), RunError> {
        self.written.push((address, address + bytes, byte));
        Ok(())
    }

    fn get(&mut self, address: u64, out: &mut [u8]) -> Result<(), RunError> {
        for (at, byte) in (address..).zip(out) {
            let last = self.written.iter().rfind(|(start, end, _)| (*start..*end).contains(&at));
            *byte = last.map_or(0, |(.., value)| *value);
        }
        Ok(())
    }

    fn host(&mut self, bytes: u64, _is_pinned: bool) -> Result<u64, RunError> {
        self.hosts.insert(self.next_host, vec![0; bytes as usize]);
        self.next_host += 1;
        Ok(self.next_host - 1)
    }

    fn host_bytes(&mut self, host: u64) -> Result<&mut [u8], RunError> {
        self.hosts.get_mut(&host).map(Vec::as_mut_slice).ok_or_else(|| wrong("no such host buffer"))
    }

    fn drop_host(&mut self, host: u64) -> Result<(), RunError> {
        self.hosts.remove(&host).map(|_| ()).ok_or_else(|| wrong("a host buffer is dropped twice"))
    }

    /// What is uploaded is not kept: no kernel runs here that would read it.
    fn upload(&mut self, _address: u64, host: u64) -> Result<(), RunError> {
        self.host_bytes(host).map(|_| ())
    }

    fn download(&mut self, address: u64, host: u64) -> Result<(), RunError> {
        let mut bytes = vec![0; self.host_bytes(host)?.len()];
        self.get(address, &mut bytes)?;
        self.host_bytes(host)?.copy_from_slice(&bytes);
        Ok(())
    }

    fn busy(&mut self, _micros: u64) -> Result<(), RunError> {
        Ok(())
    }

    fn launch_shared(&mut self, _entry: &str, _shape: [u32; 3], _args: &[u64]) -> Result<(), RunError> {
        match &mut self.recorded {
            Some(n) => *n += 1,
            None => self.n_launched += 1,
        }
        Ok(())
    }

    /// By the model of an SM of compute capability 9.0; the entry's name ends with its registers.
    fn occupancy(&mut self, entry: &str, threads: u32, shared_bytes: u32) -> Result<[u32; 3], RunError> {
        let registers = entry.rsplit('_').next().and_then(|cap| cap.parse().ok()).ok_or_else(|| wrong("no cap"))?;
        let question = serde_json::json!({
            "compute_capability": "9.0", "threads_per_block": threads, "registers_per_thread": registers,
            "shared_bytes": shared_bytes,
        });
        let question = question.as_object().cloned().unwrap_or_default();
        let answer = vramlab_model::eval("occupancy", &question).map_err(|error| wrong(&error.to_string()))?;
        Ok([answer["blocks_per_sm"].as_u64().unwrap_or_default() as u32, registers, 0])
    }
}

/// One stream after the other: nothing here runs beside anything.
impl Lanes for Sim {
    fn upload_beside(&mut self, address: u64, host: u64) -> Result<(), RunError> {
        self.upload(address, host)
    }

    fn download_beside(&mut self, address: u64, host: u64) -> Result<(), RunError> {
        self.download(address, host)
    }

    fn copies_wait(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn kernels_wait(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn start_clock(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn stop_clock(&mut self) -> Result<f64, RunError> {
        Ok(1_000.0)
    }

    fn in_range(&mut self, _: &str, n: u64, _: u32, _: &[u64]) -> Result<Option<f64>, RunError> {
        Ok(Some(1_000.0 * n as f64))
    }

    fn begin_graph(&mut self) -> Result<(), RunError> {
        if self.recorded.is_some() {
            return Err(wrong("a graph is begun inside another"));
        }
        self.recorded = Some(0);
        Ok(())
    }

    fn end_graph(&mut self) -> Result<u64, RunError> {
        let n = self.recorded.take().ok_or_else(|| wrong("a graph is ended that was not begun"))?;
        self.graphs.insert(self.next_graph, n);
        self.next_graph += 1;
        Ok(self.next_graph - 1)
    }

    fn launch_graph(&mut self, graph: u64) -> Result<(), RunError> {
        self.n_launched += self.graphs.get(&graph).ok_or_else(|| wrong("no such graph"))?;
        Ok(())
    }

    fn drop_graph(&mut self, graph: u64) -> Result<(), RunError> {
        self.graphs.remove(&graph).map(|_| ()).ok_or_else(|| wrong("a graph is dropped twice"))
    }
}
