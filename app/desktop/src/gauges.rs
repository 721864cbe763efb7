//! Live gauges through NVML, read at most four times a second and only while they are on screen. NVML's queries are
//! read-only and need no CUDA context.

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use std::time::Duration;
use vramlab_shell::platform::Gauges;
use vramlab_units::Text;

const EVERY: Duration = Duration::from_millis(250);

/// NVML, opened at the first look.
#[derive(Default)]
pub struct Meter {
    nvml: Option<Result<Nvml, Text>>,
    last: Gauges,
    read_at: Option<Duration>,
}

impl Meter {
    /// The latest values; `now` is the time since the start of the program.
    pub fn read(&mut self, now: Duration) -> Gauges {
        if self.read_at.is_some_and(|at| now.saturating_sub(at) < EVERY) {
            return self.last.clone();
        }
        self.read_at = Some(now);
        let nvml = self.nvml.get_or_insert_with(|| Nvml::init().map_err(|error| why(&error)));
        self.last = match nvml {
            Ok(nvml) => {
                read(nvml).unwrap_or_else(|error| Gauges { why_absent: why(&error).into(), ..self.last.clone() })
            }
            Err(why) => Gauges { why_absent: (*why).into(), ..Gauges::default() },
        };
        self.last.clone()
    }
}

fn read(nvml: &Nvml) -> Result<Gauges, NvmlError> {
    let device = nvml.device_by_index(0)?;
    let memory = device.memory_info().ok();
    let mut gauges = Gauges {
        device: device.name().unwrap_or_default(),
        used_bytes: memory.as_ref().map(|memory| memory.used as f64),
        total_bytes: memory.as_ref().map(|memory| memory.total as f64),
        power_limit_w: device.enforced_power_limit().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
        max_sm_clock_mhz: device.max_clock_info(Clock::SM).ok().map(f64::from),
        ..Gauges::default()
    };
    gauges.telemetry.sm_clock_mhz = device.clock_info(Clock::SM).ok().map(f64::from);
    gauges.telemetry.mem_clock_mhz = device.clock_info(Clock::Memory).ok().map(f64::from);
    gauges.telemetry.power_w = device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3);
    gauges.telemetry.temperature_c = device.temperature(TemperatureSensor::Gpu).ok().map(f64::from);
    Ok(gauges)
}

/// Each kind of failure in a sentence of its own.
pub fn why(error: &NvmlError) -> Text {
    match error {
        NvmlError::LibloadingError(_) | NvmlError::LibraryNotFound => {
            Text::new("没有 NVIDIA 驱动：找不到 NVML。", "No NVIDIA driver: NVML was not found.")
        }
        NvmlError::DriverNotLoaded => Text::new("NVIDIA 驱动没有加载。", "The NVIDIA driver is not loaded."),
        NvmlError::NoPermission => Text::new("没有权限读取 NVML。", "There is no permission to read NVML."),
        NvmlError::GpuLost => {
            Text::new("GPU 已丢失；上面是最后一次读数。", "The GPU was lost; these are its last values.")
        }
        NvmlError::NotFound => Text::new("NVML 没有列出 GPU。", "NVML lists no GPU."),
        _ => Text::new("NVML 没有回答。", "NVML does not answer."),
    }
}
