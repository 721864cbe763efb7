//! CUDA through the driver API, loaded dynamically: the same program starts on a machine without a GPU.
//!
//! Read this file, then `point.rs`, `timing.rs` (how a launch is timed), `card.rs` (the card as routines of `../host` see it)
//! and `counts.rs`. `driver.rs`, `compile.rs`, `cupti.rs` and
//! `nvml.rs` are the borders to NVIDIA's libraries. Everything that differs between kernels comes from their manifests.

pub mod buffers;
mod card;
pub mod compile;
mod counts;
pub mod cupti;
pub mod driver;
pub mod errors;
pub mod facts;
mod guard;
mod host;
pub mod inspect;
mod lanes;
pub mod nvml;
mod point;
pub mod selftest;
mod staging;
pub mod timing;
pub mod tools;
pub mod words;
mod zh;

use super::{Backend, PointCx, Rung};
use crate::build::Build;
use crate::error::RunError;
use crate::launch::Launch;
use crate::plan::PointPlan;
use crate::protocol::Job;
use buffers::Buffers;
use counts::Counts;
use driver::{Device, Function, Shape};
use host::Host;
use nvml::Sensors;
use std::collections::BTreeMap;
use std::rc::Rc;
use tools::Tools;
use vramlab_trace::{DeviceFacts, Point};

/// Opens the first device that the driver offers.
pub fn open(budget_bytes: Option<u64>) -> Result<Box<dyn Backend>, RunError> {
    Ok(Box::new(Cuda::open(budget_bytes)?))
}

/// The device with everything that stays warm between jobs. Fields are dropped in order: the device last.
pub struct Cuda {
    buffers: Buffers,
    counts: Counts,
    /// What was read back last, kept from point to point.
    host: Host,
    /// Compiled kernels by source, entry and definitions.
    functions: BTreeMap<(String, String, Vec<String>), Rc<Function>>,
    /// Compiled sources of routines.
    images: BTreeMap<String, Vec<u8>>,
    tools: Tools,
    sensors: Sensors,
    cc: u32,
    budget_bytes: Option<u64>,
    /// The SM clock after the last warm-up.
    settled_mhz: Option<f64>,
    facts: DeviceFacts,
    device: Device,
}

impl Cuda {
    pub fn open(budget_bytes: Option<u64>) -> Result<Self, RunError> {
        let device = Device::open()?;
        let sensors = Sensors::open(device.pci_bus_id());
        let facts = facts::read(&device, &sensors)?;
        let cc = facts::arch(&device)?;
        Ok(Self {
            tools: Tools::compile(cc).map_err(|error| refused(&device, error))?,
            buffers: Buffers::default(),
            counts: Counts::default(),
            host: Host::default(),
            functions: BTreeMap::new(),
            images: BTreeMap::new(),
            sensors,
            cc,
            budget_bytes,
            settled_mhz: None,
            facts,
            device,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The compiled kernel of a launch, from the cache if it was compiled before.
    fn function(&mut self, job: &Job, launch: &Launch) -> Result<Rc<Function>, RunError> {
        let Some(cuda) = &job.kernel.cuda else {
            return Err(content(format!("kernel {} has no [cuda] part", job.kernel.slug)));
        };
        let Some(source) = job.sources.get(&cuda.source) else {
            return Err(content(format!("kernel {} came without its source {}", job.kernel.slug, cuda.source)));
        };
        let defines: Vec<String> = launch.define.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let key = (source.clone(), launch.entry.clone(), defines);
        let function = match self.functions.get(&key) {
            Some(known) => known.clone(),
            None => {
                let image = compile::compile_own(&cuda.source, source, self.cc, cuda.arch.as_deref(), &key.2)?;
                Rc::new(Function::load(&image.bytes, &launch.entry)?)
            }
        };
        // Not only when it is new: the same code may ask for more at the next point.
        if launch.shared_bytes > 48 << 10 {
            function.allow_shared(launch.shared_bytes)?;
        }
        self.functions.insert(key, function.clone());
        Ok(function)
    }
}

/// Code that the driver refuses to load, told with the two versions that do not go together.
fn refused(device: &Device, error: RunError) -> RunError {
    let RunError::Device { code: 200 | 209 | 218 | 222, name, .. } = &error else { return error };
    let (Ok(nvrtc), Some(driver)) = (compile::version(), device.driver_api()) else { return error };
    let (speaks, wrote) = (format!("CUDA {}.{}", driver.0, driver.1), format!("NVRTC {}.{}", nvrtc.0, nvrtc.1));
    RunError::unavailable(
        (
            format!("驱动支持到 {speaks}，不接受 {wrote} 编译的代码（{name}）"),
            format!("the driver speaks {speaks} and refuses code of {wrote} ({name})"),
        ),
        (
            format!("更新驱动，或安装 CUDA {} 的 NVRTC", driver.0),
            format!("update the driver, or install the NVRTC of CUDA {}", driver.0),
        ),
    )
}

fn content(what: String) -> RunError {
    RunError::Content { what }
}

fn shape(launch: &Launch) -> Shape {
    let ([gx, gy], [bx, by]) = (launch.grid, launch.block);
    Shape { grid: (gx, gy), block: (bx, by), shared_bytes: launch.shared_bytes }
}

impl Backend for Cuda {
    fn facts(&mut self) -> Result<DeviceFacts, RunError> {
        self.facts = facts::read(&self.device, &self.sensors)?;
        Ok(self.facts.clone())
    }

    fn begin(&mut self, job: &Job, cx: &mut PointCx) -> Result<Rung, RunError> {
        cx.check()?;
        if job.kernel.cuda_host.is_some() {
            return Ok(Rung::none("a routine on the host launches nothing that counters could tell about"));
        }
        // Mistakes in the kernel's source come out before anything is allocated.
        if let Some(first) = job.plan.points.first() {
            for launch in point::resolve(job, first)? {
                self.function(job, &launch)?;
            }
        }
        self.begin_counts(job, cx)
    }

    fn run_point(&mut self, job: &Job, point: &PointPlan, cx: &mut PointCx) -> Result<Point, RunError> {
        match &job.kernel.cuda_host {
            Some(host) => self.work(job, host, point, cx),
            None => self.measure(job, point, cx),
        }
    }

    fn build(&mut self, job: &Job, cx: &mut PointCx) -> Result<Option<Build>, RunError> {
        self.inspect(job, cx).map(Some)
    }

    fn end(&mut self, _job: &Job) {
        self.buffers.clear();
        self.counts.end();
        self.host.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R1: a machine without a driver or a device gets a value with what to do; one with a device opens.
    #[test]
    fn a_machine_without_a_gpu_is_a_value() {
        match Cuda::open(None) {
            Ok(mut cuda) => assert!(cuda.facts().unwrap().sm_count.is_some_and(|n| n >= 1.0)),
            Err(RunError::Unavailable { what, fix }) => assert!(!what.is_empty() && !fix.is_empty()),
            Err(other) => panic!("{other}"),
        }
    }
}
