//! The card as NVML sees it. Every query is read-only, and every value may be missing.

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper::enums::device::UsedGpuMemory;
use std::collections::BTreeMap;
use vramlab_profile::record;
use vramlab_units::{Localized, Text};

pub struct Card {
    nvml: Nvml,
    index: u32,
}

/// What one look at the card gives.
#[derive(Clone, Debug, Default)]
pub struct Look {
    pub used: Option<u64>,
    /// By process; one whose memory NVML does not tell is left out.
    pub by_process: BTreeMap<u32, u64>,
}

/// What changes slowly.
#[derive(Clone, Debug, Default)]
pub struct Slow {
    pub util: Option<u32>,
    pub sm_mhz: Option<u32>,
    pub mem_mhz: Option<u32>,
    pub power_mw: Option<u32>,
    pub throttle: Option<u64>,
}

impl Card {
    /// Opens NVML, or says why there is nothing to watch.
    pub fn open(index: u32) -> Result<Self, Localized> {
        let nvml = Nvml::init().map_err(|error| Localized::from(crate::gauges::why(&error)))?;
        let n = nvml.device_count().unwrap_or_default();
        if index >= n {
            return Err(match n {
                0 => Text::new("NVML 没有列出 GPU。", "NVML lists no GPU.").into(),
                n => Localized::both(
                    format!("没有 GPU {index}：NVML 列出 0 到 {}。", n - 1),
                    format!("There is no GPU {index}: NVML lists 0 to {}.", n - 1),
                ),
            });
        }
        Ok(Self { nvml, index })
    }

    fn device(&self) -> Option<nvml_wrapper::Device<'_>> {
        self.nvml.device_by_index(self.index).ok()
    }

    /// What the file says of the card.
    pub fn facts(&self) -> record::Device {
        let device = self.device();
        let memory = device.as_ref().and_then(|device| device.memory_info().ok());
        record::Device {
            name: device.as_ref().and_then(|device| device.name().ok()).unwrap_or_default(),
            driver: self.nvml.sys_driver_version().unwrap_or_default(),
            index: self.index,
            n_devices: self.nvml.device_count().unwrap_or_default(),
            total_bytes: memory.as_ref().map_or(0, |memory| memory.total),
            reserved_bytes: memory.as_ref().map(|memory| memory.reserved),
            before_bytes: memory.as_ref().map_or(0, |memory| memory.used),
        }
    }

    pub fn look(&self) -> Look {
        let Some(device) = self.device() else { return Look::default() };
        let processes = device.running_compute_processes().unwrap_or_default();
        let of = |process: nvml_wrapper::struct_wrappers::device::ProcessInfo| match process.used_gpu_memory {
            UsedGpuMemory::Used(bytes) => Some((process.pid, bytes)),
            UsedGpuMemory::Unavailable => None,
        };
        Look {
            used: device.memory_info().ok().map(|memory| memory.used),
            by_process: processes.into_iter().filter_map(of).collect(),
        }
    }

    pub fn slow(&self) -> Slow {
        let Some(device) = self.device() else { return Slow::default() };
        Slow {
            util: device.utilization_rates().ok().map(|rates| rates.gpu),
            sm_mhz: device.clock_info(Clock::SM).ok(),
            mem_mhz: device.clock_info(Clock::Memory).ok(),
            power_mw: device.power_usage().ok(),
            throttle: device.current_throttle_reasons().ok().map(|reasons| reasons.bits()),
        }
    }
}
