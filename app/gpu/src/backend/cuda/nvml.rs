//! The sensors, through NVML: read-only, and every field may be missing (WSL, Jetson, vGPU, no permission).

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use vramlab_trace::Telemetry;

/// Reasons in NVML's words, in the order of its header.
const REASONS: &[(ThrottleReasons, &str)] = &[
    (ThrottleReasons::GPU_IDLE, "gpu_idle"),
    (ThrottleReasons::APPLICATIONS_CLOCKS_SETTING, "applications_clocks_setting"),
    (ThrottleReasons::SW_POWER_CAP, "sw_power_cap"),
    (ThrottleReasons::HW_SLOWDOWN, "hw_slowdown"),
    (ThrottleReasons::SYNC_BOOST, "sync_boost"),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, "sw_thermal_slowdown"),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, "hw_thermal_slowdown"),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "hw_power_brake_slowdown"),
    (ThrottleReasons::DISPLAY_CLOCK_SETTING, "display_clock_setting"),
];

/// NVML with the device that runs, or nothing.
pub struct Sensors {
    nvml: Option<Nvml>,
    bus_id: Option<String>,
}

impl Sensors {
    /// Opens NVML for the device at the PCI address. A machine without NVML gives sensors that answer nothing.
    pub fn open(bus_id: Option<String>) -> Self {
        Self { nvml: Nvml::init().ok(), bus_id }
    }

    pub fn driver_version(&self) -> Option<String> {
        self.nvml.as_ref()?.sys_driver_version().ok()
    }

    /// 1 if the device is split into MIG slices.
    pub fn mig(&self) -> Option<f64> {
        self.device()?.mig_mode().ok().map(|mode| f64::from(u8::from(mode.current != 0)))
    }

    /// The SM clock at this moment.
    pub fn sm_clock_mhz(&self) -> Option<f64> {
        self.device()?.clock_info(Clock::SM).ok().map(f64::from)
    }

    pub fn read(&self) -> Telemetry {
        let Some(device) = self.device() else { return Telemetry::default() };
        let own = std::process::id();
        let others = device.running_compute_processes().ok().map(|processes| {
            u32::try_from(processes.iter().filter(|process| process.pid != own).count()).unwrap_or(u32::MAX)
        });
        Telemetry {
            sm_clock_mhz: device.clock_info(Clock::SM).ok().map(f64::from),
            mem_clock_mhz: device.clock_info(Clock::Memory).ok().map(f64::from),
            power_w: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
            throttle: device.current_throttle_reasons().map(names).unwrap_or_default(),
            other_processes: others,
        }
    }

    fn device(&self) -> Option<nvml_wrapper::Device<'_>> {
        let nvml = self.nvml.as_ref()?;
        self.bus_id.as_ref().and_then(|id| nvml.device_by_pci_bus_id(id.as_str()).ok())
    }
}

fn names(reasons: ThrottleReasons) -> Vec<String> {
    REASONS.iter().filter(|(flag, _)| reasons.contains(*flag)).map(|(_, name)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits are those of nvml.h: 0x4 power cap, 0x20 software thermal.
    #[test]
    fn reasons_are_named_as_in_the_header() {
        let reasons = ThrottleReasons::from_bits_truncate(0x24);
        assert_eq!(names(reasons), ["sw_power_cap", "sw_thermal_slowdown"]);
    }

    /// R13: a machine without NVML, or a device that NVML does not know, has sensors without values.
    #[test]
    fn missing_sensors_answer_nothing() {
        let sensors = Sensors { nvml: None, bus_id: None };
        assert_eq!(sensors.read(), Telemetry::default());
        assert_eq!(sensors.mig(), None);
    }
}
