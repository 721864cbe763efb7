//! Device facts from the driver's attributes. A fact that the driver does not tell stays empty.

use super::driver::Device;
use super::nvml::Sensors;
use super::{compile, errors};
use crate::error::RunError;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use std::collections::BTreeMap;
use vramlab_trace::DeviceFacts;

/// Asks everything afresh.
pub fn read(device: &Device, sensors: &Sensors) -> Result<DeviceFacts, RunError> {
    let get = |attribute| device.attribute(attribute);
    let positive = |attribute| get(attribute).filter(|value| *value > 0.0);
    let (free, total) = device.memory()?;
    let cc = match (
        get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    ) {
        (Some(major), Some(minor)) => Some(major * 10.0 + minor),
        _ => None,
    };
    let mem_clock_mhz = positive(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE).map(|khz| khz / 1e3);
    let bus_bits = positive(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    Ok(DeviceFacts {
        name: device.name()?,
        driver: sensors.driver_version().unwrap_or_default(),
        versions: versions(device),
        cc,
        sm_count: positive(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        sm_clock_mhz: positive(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).map(|khz| khz / 1e3),
        mem_clock_mhz,
        bus_bits,
        peak_gb_per_s: peak(mem_clock_mhz, bus_bits),
        l2_bytes: positive(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        line_bytes: Some(128.0),
        total_bytes: Some(total as f64),
        free_bytes: Some(free as f64),
        shared_per_sm_bytes: positive(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        shared_per_block_bytes: positive(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        threads_per_sm: positive(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        has_kernel_timeout: get(Attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT),
        ecc: get(Attribute::CU_DEVICE_ATTRIBUTE_ECC_ENABLED),
        mig: sensors.mig(),
        ..DeviceFacts::default()
    })
}

/// Peak of the main memory in GB/s: two transfers a clock on every bit of the bus.
fn peak(mem_clock_mhz: Option<f64>, bus_bits: Option<f64>) -> Option<f64> {
    Some(mem_clock_mhz? * 1e6 * 2.0 * bus_bits? / 8.0 / 1e9)
}

fn versions(device: &Device) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    if let Some((major, minor)) = device.driver_api() {
        out.insert("cuda_driver_api".to_owned(), format!("{major}.{minor}"));
    }
    if let Ok((major, minor)) = compile::version() {
        out.insert("nvrtc".to_owned(), format!("{major}.{minor}"));
    }
    // Launches cost time of the processor, and are another number on another one.
    out.insert("host_processor".to_owned(), crate::backend::cpu::facts().name);
    out
}

/// The architecture to compile for, compute capability × 10.
pub fn arch(device: &Device) -> Result<u32, RunError> {
    let major = device.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    let minor = device.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    match (major, minor) {
        (Some(major), Some(minor)) => Ok((major * 10.0 + minor) as u32),
        _ => Err(errors::unavailable(1, "cuDeviceGetAttribute")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The H200 reports 3201 MHz and 6016 bits: 4814 GB/s.
    #[test]
    fn peak_counts_two_transfers_a_clock() {
        assert_eq!(peak(Some(3201.0), Some(6016.0)).map(f64::round), Some(4814.0));
        assert_eq!(peak(None, Some(6016.0)), None);
    }
}
