//! The real card behind the routines of `host/`: allocations, a stream-ordered pool, physical pages, all through the driver.
#![expect(unsafe_code, reason = "this is the border to the CUDA driver; routines see only checked values")]

use super::driver::{Function, Shape, check};
use super::guard::guarded;
use super::lanes::Side;
use super::staging::Staging;
use super::{Cuda, compile, content};
use crate::backend::PointCx;
use crate::backend::host::{self, Card, Lanes, PAGE, PoolBytes};
use crate::error::RunError;
use crate::manifest::HostRoutine;
use crate::plan::PointPlan;
use crate::protocol::Job;
use cudarc::driver::sys;
use std::collections::BTreeMap;
use std::ffi::c_void;
use vramlab_trace::Point;

use sys::CUmemPool_attribute as PoolAttribute;

impl Cuda {
    /// A point whose work is a routine on the host.
    pub(super) fn work(
        &mut self,
        job: &Job,
        routine: &HostRoutine,
        point: &PointPlan,
        cx: &mut PointCx,
    ) -> Result<Point, RunError> {
        let image = match &routine.source {
            Some(name) => {
                let source = job.sources.get(name);
                let source = source.ok_or_else(|| content(format!("{} came without {name}", job.kernel.slug)))?;
                if !self.images.contains_key(source) {
                    self.images.insert(source.clone(), compile::compile(name, source, self.cc, &[])?.bytes);
                }
                self.images.get(source).cloned()
            }
            None => None,
        };
        let clock_mhz = self.facts.sm_clock_mhz.unwrap_or(1_500.0);
        let mut card = DriverCard {
            cuda: self,
            clock_mhz,
            pool: None,
            image,
            functions: BTreeMap::new(),
            side: Side::default(),
            is_recording: false,
            staging: Staging::default(),
        };
        let measured = guarded("working on the card", || host::measure(&job.kernel, routine, point, &mut card, cx))?;
        card.shut();
        let mut measured = measured?;
        measured.telemetry = self.sensors.read();
        cx.set_telemetry(measured.telemetry.clone());
        Ok(measured)
    }
}

struct DriverCard<'a> {
    cuda: &'a Cuda,
    clock_mhz: f64,
    pool: Option<sys::CUmemoryPool>,
    /// The routine's own kernels, compiled.
    image: Option<Vec<u8>>,
    functions: BTreeMap<String, Function>,
    /// Closed before the host memory that its copies use.
    side: Side,
    /// Launches become nodes of a graph.
    is_recording: bool,
    staging: Staging,
}

/// More dynamic shared memory than this must be asked for.
const LARGE_SHARED: u32 = 48 << 10;
/// The one stream: the default one.
const STREAM: sys::CUstream = std::ptr::null_mut();

/// An allocation's result: nothing where the card has no memory left.
fn served(code: sys::CUresult, address: u64, what: &str) -> Result<Option<u64>, RunError> {
    match code {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Ok(None),
        code => check(code, what).map(|()| Some(address)),
    }
}

impl DriverCard<'_> {
    fn location(&self) -> sys::CUmemLocation {
        let type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        sys::CUmemLocation { type_, id: self.cuda.device.ordinal }
    }

    /// Pinned memory on this device, exported to nobody.
    fn allocation(&self) -> sys::CUmemAllocationProp {
        // SAFETY: every field of this plain C structure may be zero, which is the documented way to set it up.
        let mut prop: sys::CUmemAllocationProp = unsafe { std::mem::zeroed() };
        prop.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        prop.location = self.location();
        prop
    }

    fn open(&self) -> Result<sys::CUmemoryPool, RunError> {
        self.pool.ok_or_else(|| content("no pool is open".to_owned()))
    }

    fn pool_attribute(&self, attribute: PoolAttribute) -> Result<u64, RunError> {
        let mut value = 0_u64;
        // SAFETY: these attributes are 64-bit numbers; `value` is live.
        let code = unsafe { sys::cuMemPoolGetAttribute(self.open()?, attribute, (&raw mut value).cast::<c_void>()) };
        check(code, "cuMemPoolGetAttribute")?;
        Ok(value)
    }

    /// Loads a kernel of the routine's source once.
    fn load(&mut self, entry: &str) -> Result<(), RunError> {
        if !self.functions.contains_key(entry) {
            let image = self.image.as_ref().ok_or_else(|| content("the routine has no source".to_owned()))?;
            self.functions.insert(entry.to_owned(), Function::load(image, entry)?);
        }
        Ok(())
    }

    /// Gives back a pool that a failure left open. Memory that the routine still held goes with the process.
    fn shut(&mut self) {
        let _ = self.close_pool();
    }
}

impl Card for DriverCard<'_> {
    fn memory(&self) -> Result<[u64; 2], RunError> {
        self.cuda.device.memory().map(|(free, total)| [free, total])
    }

    fn malloc(&mut self, bytes: u64) -> Result<Option<u64>, RunError> {
        let mut address = 0;
        // SAFETY: `address` is live; the size is at least one byte.
        let code = unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes as usize) };
        served(code, address, "cuMemAlloc")
    }

    fn free(&mut self, address: u64) -> Result<(), RunError> {
        // SAFETY: the routine got the address from `malloc` and frees it once.
        unsafe { check(sys::cuMemFree_v2(address), "cuMemFree") }
    }

    fn open_pool(&mut self, threshold_bytes: u64) -> Result<(), RunError> {
        self.close_pool()?;
        let mut pool = std::ptr::null_mut();
        // SAFETY: as in `allocation`; the pool's properties are the same two facts.
        let mut props: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
        props.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location = self.location();
        let mut threshold = threshold_bytes;
        // SAFETY: all pointers are to live locals; the threshold is a 64-bit number.
        unsafe {
            check(sys::cuMemPoolCreate(&raw mut pool, &raw const props), "cuMemPoolCreate")?;
            self.pool = Some(pool);
            let value = (&raw mut threshold).cast::<c_void>();
            let code = sys::cuMemPoolSetAttribute(pool, PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, value);
            check(code, "cuMemPoolSetAttribute")
        }
    }

    fn close_pool(&mut self) -> Result<(), RunError> {
        let Some(pool) = self.pool.take() else { return Ok(()) };
        // SAFETY: created once in `open_pool`; work that used it is waited for.
        unsafe {
            check(sys::cuStreamSynchronize(STREAM), "cuStreamSynchronize")?;
            check(sys::cuMemPoolDestroy(pool), "cuMemPoolDestroy")
        }
    }

    fn pool_malloc(&mut self, bytes: u64) -> Result<Option<u64>, RunError> {
        let (mut address, pool) = (0, self.open()?);
        // SAFETY: `address` is live; the pool is open.
        let code = unsafe { sys::cuMemAllocFromPoolAsync(&raw mut address, bytes as usize, pool, STREAM) };
        served(code, address, "cuMemAllocFromPoolAsync")
    }

    fn pool_free(&mut self, address: u64) -> Result<(), RunError> {
        // SAFETY: the routine got the address from `pool_malloc` and frees it once.
        unsafe { check(sys::cuMemFreeAsync(address, STREAM), "cuMemFreeAsync") }
    }

    fn pool_bytes(&self) -> Result<PoolBytes, RunError> {
        Ok(PoolBytes {
            used: self.pool_attribute(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?,
            most_used: self.pool_attribute(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH)?,
            reserved: self.pool_attribute(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?,
            most_reserved: self.pool_attribute(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)?,
        })
    }

    fn sync(&mut self) -> Result<(), RunError> {
        // SAFETY: the default stream lives as long as the context.
        unsafe { check(sys::cuStreamSynchronize(STREAM), "cuStreamSynchronize") }
    }

    fn range(&mut self, bytes: u64) -> Result<u64, RunError> {
        let mut address = 0;
        // SAFETY: `address` is live; 0 lets the driver choose the place.
        let code = unsafe { sys::cuMemAddressReserve(&raw mut address, bytes as usize, PAGE as usize, 0, 0) };
        check(code, "cuMemAddressReserve")?;
        Ok(address)
    }

    fn drop_range(&mut self, address: u64, bytes: u64) -> Result<(), RunError> {
        // SAFETY: reserved by `range` with this size; the routine has unmapped every page of it.
        unsafe { check(sys::cuMemAddressFree(address, bytes as usize), "cuMemAddressFree") }
    }

    fn page(&mut self) -> Result<u64, RunError> {
        let (mut page, prop) = (0, self.allocation());
        // SAFETY: both pointers are to live locals; the size is the device's granularity, 2 MiB.
        unsafe { check(sys::cuMemCreate(&raw mut page, PAGE as usize, &raw const prop, 0), "cuMemCreate")? };
        Ok(page)
    }

    fn drop_page(&mut self, page: u64) -> Result<(), RunError> {
        // SAFETY: created by `page`, dropped once.
        unsafe { check(sys::cuMemRelease(page), "cuMemRelease") }
    }

    fn map(&mut self, address: u64, page: u64) -> Result<(), RunError> {
        let access = sys::CUmemAccessDesc {
            location: self.location(),
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the range is reserved and has no page here; the page is of this size.
        unsafe {
            check(sys::cuMemMap(address, PAGE as usize, 0, page, 0), "cuMemMap")?;
            check(sys::cuMemSetAccess(address, PAGE as usize, &raw const access, 1), "cuMemSetAccess")
        }
    }

    fn unmap(&mut self, address: u64) -> Result<(), RunError> {
        // SAFETY: mapped by `map` with this size.
        unsafe { check(sys::cuMemUnmap(address, PAGE as usize), "cuMemUnmap") }
    }

    fn set(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), RunError> {
        // SAFETY: the routine passes a range of memory that it holds.
        unsafe { check(sys::cuMemsetD8_v2(address, byte, bytes as usize), "cuMemsetD8") }
    }

    fn get(&mut self, address: u64, out: &mut [u8]) -> Result<(), RunError> {
        // SAFETY: the source is memory that the routine holds; the target is a live slice of that length.
        unsafe { check(sys::cuMemcpyDtoH_v2(out.as_mut_ptr().cast::<c_void>(), address, out.len()), "cuMemcpyDtoH") }
    }

    fn host(&mut self, bytes: u64, is_pinned: bool) -> Result<u64, RunError> {
        self.staging.open(bytes, is_pinned)
    }

    fn host_bytes(&mut self, host: u64) -> Result<&mut [u8], RunError> {
        self.staging.bytes(host)
    }

    fn drop_host(&mut self, host: u64) -> Result<(), RunError> {
        self.sync()?;
        self.staging.close(host);
        Ok(())
    }

    fn upload(&mut self, address: u64, host: u64) -> Result<(), RunError> {
        let from = self.staging.bytes(host)?;
        // SAFETY: the routine holds the target, which is at least as long; the source lives until `drop_host`, which
        // waits for the stream first.
        unsafe {
            check(sys::cuMemcpyHtoDAsync_v2(address, from.as_ptr().cast(), from.len(), STREAM), "cuMemcpyHtoDAsync")
        }
    }

    fn download(&mut self, address: u64, host: u64) -> Result<(), RunError> {
        let to = self.staging.bytes(host)?;
        // SAFETY: as in `upload`, the other way round.
        unsafe {
            let target = to.as_mut_ptr().cast::<c_void>();
            check(sys::cuMemcpyDtoHAsync_v2(target, address, to.len(), STREAM), "cuMemcpyDtoHAsync")
        }
    }

    fn busy(&mut self, micros: u64) -> Result<(), RunError> {
        self.cuda.tools.spin((micros as f64 * self.clock_mhz) as u64)
    }

    fn launch_shared(&mut self, entry: &str, shape: [u32; 3], args: &[u64]) -> Result<(), RunError> {
        self.load(entry)?;
        let Some(function) = self.functions.get(entry) else { return Ok(()) };
        let [n_blocks, n_threads, shared_bytes] = shape;
        if shared_bytes > LARGE_SHARED {
            function.allow_shared(shared_bytes)?;
        }
        let stream = if self.is_recording { self.side.stream()? } else { STREAM };
        function.launch_on(stream, Shape { grid: (n_blocks, 1), block: (n_threads, 1), shared_bytes }, args)
    }

    fn occupancy(&mut self, entry: &str, threads: u32, shared_bytes: u32) -> Result<[u32; 3], RunError> {
        self.load(entry)?;
        let Some(function) = self.functions.get(entry) else { return Ok([0; 3]) };
        let [registers, local, _] = function.takes()?;
        let is_allowed = shared_bytes <= LARGE_SHARED || function.allow_shared(shared_bytes).is_ok();
        let blocks = if is_allowed { function.blocks_per_sm(threads, shared_bytes)? } else { 0 };
        Ok([blocks, registers, local])
    }
}

impl Lanes for DriverCard<'_> {
    fn upload_beside(&mut self, address: u64, host: u64) -> Result<(), RunError> {
        let from = self.staging.bytes(host)?;
        self.side.upload(address, from.as_ptr().cast(), from.len())
    }

    fn download_beside(&mut self, address: u64, host: u64) -> Result<(), RunError> {
        let to = self.staging.bytes(host)?;
        self.side.download(address, to.as_mut_ptr().cast::<c_void>(), to.len())
    }

    fn copies_wait(&mut self) -> Result<(), RunError> {
        self.side.copies_wait()
    }

    fn kernels_wait(&mut self) -> Result<(), RunError> {
        self.side.kernels_wait()
    }

    fn start_clock(&mut self) -> Result<(), RunError> {
        self.side.start()
    }

    fn stop_clock(&mut self) -> Result<f64, RunError> {
        self.side.stop(&self.cuda.device)
    }

    fn in_range(&mut self, entry: &str, n: u64, n_blocks: u32, args: &[u64]) -> Result<Option<f64>, RunError> {
        self.load(entry)?;
        let Some(function) = self.functions.get(entry) else { return Ok(None) };
        let shape = Shape { grid: (n_blocks, 1), block: (256, 1), shared_bytes: 0 };
        let work =
            || (0..n).try_for_each(|_| function.launch(shape, args)).and_then(|()| self.cuda.device.synchronize(entry));
        let start = std::time::Instant::now();
        let is_read = self.side.ranged(self.cuda, &work)?;
        Ok(is_read.then(|| start.elapsed().as_nanos().max(1) as f64))
    }

    fn begin_graph(&mut self) -> Result<(), RunError> {
        self.side.begin_graph()?;
        self.is_recording = true;
        Ok(())
    }

    fn end_graph(&mut self) -> Result<u64, RunError> {
        self.is_recording = false;
        self.side.end_graph()
    }

    fn launch_graph(&mut self, graph: u64) -> Result<(), RunError> {
        self.side.launch_graph(graph)
    }

    fn drop_graph(&mut self, graph: u64) -> Result<(), RunError> {
        self.side.drop_graph(graph);
        Ok(())
    }
}
