//! Hardware counters in this process, through CUPTI's range profiler (CUDA 12.6 or later): one user range around one
//! launch, replayed once a pass. Never used inside timed launches.
//!
//! The order of calls is that of the CUPTI documentation, section "Range Profiling API": host object and configuration
//! image, enable and disable once a job; configure, start, range, stop, decode, evaluate once a point.
#![expect(unsafe_code, reason = "this is the border to CUPTI; it hands out plain numbers")]

use super::driver::Device;
use super::guard::guarded;
use crate::error::RunError;
use cudarc::cupti::sys::{self, CUptiResult};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::mem::{offset_of, size_of_val, zeroed};

/// Why no counter could be read, as a sentence.
pub type Why = String;

/// What stopped a reading: the profiler, or the kernel that ran under it.
#[derive(Debug)]
pub enum Failure {
    Profiler(Why),
    Run(RunError),
}

impl From<Why> for Failure {
    fn from(why: Why) -> Self {
        Self::Profiler(why)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

/// What is run inside or before a range.
pub type Work<'a> = dyn Fn() -> Result<(), RunError> + 'a;

/// A parameter struct of CUPTI with its size filled in: up to and including `$last`, without padding, as the header's
/// own macro counts it.
macro_rules! params {
    ($type:ident, $last:ident { $($field:ident : $value:expr),* $(,)? }) => {{
        // SAFETY: the structs hold integers, pointers and C enums that have a zero variant.
        let mut params: sys::$type = unsafe { zeroed() };
        params.structSize = offset_of!(sys::$type, $last) + size_of_val(&params.$last);
        $(params.$field = $value;)*
        params
    }};
}

/// Calls a CUPTI function with a parameter struct.
macro_rules! call {
    ($function:ident, $params:expr) => {
        // SAFETY: the struct is complete for its stated size; what it points to outlives the call.
        done(stringify!($function), unsafe { sys::$function(&raw mut $params) })
    };
}

fn done(name: &str, code: CUptiResult) -> Result<(), Why> {
    match code {
        CUptiResult::CUPTI_SUCCESS => Ok(()),
        CUptiResult::CUPTI_ERROR_INSUFFICIENT_PRIVILEGES => {
            Err("the driver lets only administrators read counters; ask the administrator for \
             `options nvidia NVreg_RestrictProfilingToAdminUsers=0`"
                .to_owned())
        }
        CUptiResult::CUPTI_ERROR_INVALID_METRIC_NAME => Err(format!("{name}: this device has no such counter")),
        code => Err(format!("{name} answers {code:?}")),
    }
}

/// What a job needs to read its counters, once a point.
pub struct Counters {
    host: *mut sys::CUpti_Profiler_Host_Object,
    names: Vec<CString>,
    config: Vec<u8>,
    pub n_passes: usize,
}

/// Whether CUPTI can be loaded. Whether it may count is known only to the driver.
pub fn is_installed() -> bool {
    // SAFETY: asking whether a library can be loaded runs only its initialisers.
    unsafe { sys::is_culib_present() }
}

impl Counters {
    /// Prepares to read `metrics`. The error says why that cannot be done here.
    pub fn open(device: &Device, metrics: &[String]) -> Result<Self, Why> {
        if !is_installed() {
            return Err(
                "CUPTI is not installed (libcupti.so.13 or .so.12); it comes with the CUDA toolkit and as the \
                        Python package nvidia-cuda-cupti"
                    .to_owned(),
            );
        }
        guarded("CUPTI", || Self::open_loaded(device, metrics)).map_err(|error| error.to_string())?
    }

    fn open_loaded(device: &Device, metrics: &[String]) -> Result<Self, Why> {
        let mut init = params!(CUpti_Profiler_Initialize_Params, pPriv {});
        call!(cuptiProfilerInitialize, init)?;
        let mut chip = params!(CUpti_Device_GetChipName_Params, pChipName { deviceIndex: device.ordinal as usize });
        call!(cuptiDeviceGetChipName, chip)?;
        let mut available = availability(device)?;
        let mut host = params!(
            CUpti_Profiler_Host_Initialize_Params,
            pHostObject {
                profilerType: sys::CUpti_ProfilerType::CUPTI_PROFILER_TYPE_RANGE_PROFILER,
                pChipName: chip.pChipName,
                pCounterAvailabilityImage: available.as_mut_ptr(),
            }
        );
        call!(cuptiProfilerHostInitialize, host)?;
        let names: Vec<CString> = metrics.iter().filter_map(|name| CString::new(name.as_str()).ok()).collect();
        let mut this = Self { host: host.pHostObject, names, config: Vec::new(), n_passes: 0 };
        this.configure()?;
        Ok(this)
    }

    fn configure(&mut self) -> Result<(), Why> {
        let mut names = pointers(&self.names);
        let mut add = params!(
            CUpti_Profiler_Host_ConfigAddMetrics_Params,
            numMetrics { pHostObject: self.host, ppMetricNames: names.as_mut_ptr(), numMetrics: names.len() }
        );
        call!(cuptiProfilerHostConfigAddMetrics, add)?;
        let mut size =
            params!(CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize { pHostObject: self.host });
        call!(cuptiProfilerHostGetConfigImageSize, size)?;
        self.config = vec![0; size.configImageSize];
        let mut image = params!(
            CUpti_Profiler_Host_GetConfigImage_Params,
            pConfigImage {
                pHostObject: self.host,
                configImageSize: self.config.len(),
                pConfigImage: self.config.as_mut_ptr(),
            }
        );
        call!(cuptiProfilerHostGetConfigImage, image)?;
        let mut passes = params!(
            CUpti_Profiler_Host_GetNumOfPasses_Params,
            numOfPasses { configImageSize: self.config.len(), pConfigImage: self.config.as_mut_ptr() }
        );
        call!(cuptiProfilerHostGetNumOfPasses, passes)?;
        self.n_passes = passes.numOfPasses;
        Ok(())
    }

    /// Runs `before` and then `launch` once a pass, with the counters on around `launch` alone.
    pub fn read(
        &self,
        session: &Session,
        before: &Work<'_>,
        launch: &Work<'_>,
    ) -> Result<BTreeMap<String, f64>, Failure> {
        guarded("CUPTI", || session.read(self, before, launch)).map_err(|error| error.to_string())?
    }

    fn evaluate(&self, data: &[u8]) -> Result<BTreeMap<String, f64>, Why> {
        let mut names = pointers(&self.names);
        let mut values = vec![f64::NAN; names.len()];
        let mut evaluate = params!(
            CUpti_Profiler_Host_EvaluateToGpuValues_Params,
            pMetricValues {
                pHostObject: self.host,
                pCounterDataImage: data.as_ptr(),
                counterDataImageSize: data.len(),
                rangeIndex: 0,
                ppMetricNames: names.as_mut_ptr(),
                numMetrics: names.len(),
                pMetricValues: values.as_mut_ptr(),
            }
        );
        call!(cuptiProfilerHostEvaluateToGpuValues, evaluate)?;
        let named = self.names.iter().map(|name| name.to_string_lossy().into_owned());
        Ok(named.zip(values).filter(|(_, value)| value.is_finite()).collect())
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        let mut end = params!(CUpti_Profiler_Host_Deinitialize_Params, pHostObject { pHostObject: self.host });
        let _ = guarded("CUPTI", || call!(cuptiProfilerHostDeinitialize, end));
    }
}

fn pointers(names: &[CString]) -> Vec<*const c_char> {
    names.iter().map(|name: &CString| CStr::as_ptr(name)).collect()
}

/// Which counters the device offers, as CUPTI's opaque image.
fn availability(device: &Device) -> Result<Vec<u8>, Why> {
    let mut size =
        params!(CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage { ctx: device.context });
    call!(cuptiProfilerGetCounterAvailability, size)?;
    let mut image = vec![0; size.counterAvailabilityImageSize];
    let mut get = params!(
        CUpti_Profiler_GetCounterAvailability_Params,
        pCounterAvailabilityImage {
            ctx: device.context,
            counterAvailabilityImageSize: image.len(),
            pCounterAvailabilityImage: image.as_mut_ptr(),
        }
    );
    call!(cuptiProfilerGetCounterAvailability, get)?;
    Ok(image)
}

/// The range profiler, enabled on the context until dropped.
pub struct Session(*mut sys::CUpti_RangeProfiler_Object);

impl Session {
    pub fn open(device: &Device) -> Result<Self, Why> {
        let mut enable = params!(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject { ctx: device.context });
        guarded("CUPTI", || call!(cuptiRangeProfilerEnable, enable)).map_err(|error| error.to_string())??;
        Ok(Self(enable.pRangeProfilerObject))
    }

    fn read(
        &self,
        counters: &Counters,
        before: &Work<'_>,
        launch: &Work<'_>,
    ) -> Result<BTreeMap<String, f64>, Failure> {
        let mut data = self.data_image(counters)?;
        self.configure(counters, &mut data)?;
        // One pass more than promised is already too many: a wrong count must not loop for ever.
        for _ in 0..=counters.n_passes.max(1) {
            let mut start =
                params!(CUpti_RangeProfiler_Start_Params, pRangeProfilerObject { pRangeProfilerObject: self.0 });
            call!(cuptiRangeProfilerStart, start)?;
            before()?;
            self.range(launch)?;
            let mut stop =
                params!(CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted { pRangeProfilerObject: self.0 });
            call!(cuptiRangeProfilerStop, stop)?;
            if stop.isAllPassSubmitted != 0 {
                let mut decode =
                    params!(CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped { pRangeProfilerObject: self.0 });
                call!(cuptiRangeProfilerDecodeData, decode)?;
                return Ok(counters.evaluate(&data)?);
            }
        }
        Err(Failure::Profiler(format!("CUPTI wants more than the {} passes it promised", counters.n_passes)))
    }

    fn range(&self, launch: &Work<'_>) -> Result<(), Failure> {
        let mut push = params!(
            CUpti_RangeProfiler_PushRange_Params,
            pRangeName { pRangeProfilerObject: self.0, pRangeName: c"launch".as_ptr() }
        );
        call!(cuptiRangeProfilerPushRange, push)?;
        let launched = launch();
        let mut pop =
            params!(CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject { pRangeProfilerObject: self.0 });
        call!(cuptiRangeProfilerPopRange, pop)?;
        Ok(launched?)
    }

    fn data_image(&self, counters: &Counters) -> Result<Vec<u8>, Why> {
        let mut names = pointers(&counters.names);
        let mut size = params!(
            CUpti_RangeProfiler_GetCounterDataSize_Params,
            counterDataSize {
                pRangeProfilerObject: self.0,
                pMetricNames: names.as_mut_ptr(),
                numMetrics: names.len(),
                maxNumOfRanges: 1,
                maxNumRangeTreeNodes: 1,
            }
        );
        call!(cuptiRangeProfilerGetCounterDataSize, size)?;
        let mut data = vec![0; size.counterDataSize];
        let mut init = params!(
            CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
            pCounterData { pRangeProfilerObject: self.0, counterDataSize: data.len(), pCounterData: data.as_mut_ptr() }
        );
        call!(cuptiRangeProfilerCounterDataImageInitialize, init)?;
        Ok(data)
    }

    fn configure(&self, counters: &Counters, data: &mut [u8]) -> Result<(), Why> {
        let mut config = params!(
            CUpti_RangeProfiler_SetConfig_Params,
            targetNestingLevel {
                pRangeProfilerObject: self.0,
                configSize: counters.config.len(),
                pConfig: counters.config.as_ptr(),
                counterDataImageSize: data.len(),
                pCounterDataImage: data.as_mut_ptr(),
                range: sys::CUpti_ProfilerRange::CUPTI_UserRange,
                replayMode: sys::CUpti_ProfilerReplayMode::CUPTI_UserReplay,
                maxRangesPerPass: 1,
                numNestingLevels: 1,
                minNestingLevel: 1,
            }
        );
        call!(cuptiRangeProfilerSetConfig, config)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mut end =
            params!(CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject { pRangeProfilerObject: self.0 });
        let _ = guarded("CUPTI", || call!(cuptiRangeProfilerDisable, end));
    }
}
