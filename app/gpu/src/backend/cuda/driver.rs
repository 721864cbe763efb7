//! The thin layer over the driver API: raw call, checked code, owned handle. What a code means is in `errors.rs`.
#![expect(unsafe_code, reason = "this is the border to the CUDA driver; callers above it see only checked values")]

use super::errors;
use super::guard::guarded;
use super::words::Word;
use crate::error::RunError;
use cudarc::driver::sys;
use std::ffi::{CStr, CString, c_void};

/// Turns a result code into an error that names what was being run.
pub fn check(code: sys::CUresult, what: &str) -> Result<(), RunError> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(errors::device(code as i32, what)),
    }
}

/// A start-up call: its failure means that there is no device to run on.
fn start(code: sys::CUresult, doing: &str) -> Result<(), RunError> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(errors::unavailable(code as i32, doing)),
    }
}

/// The first device, with its primary context current on this thread for the life of the value.
pub struct Device {
    pub ordinal: sys::CUdevice,
    pub context: sys::CUcontext,
    elapsed: ElapsedFn,
}

type ElapsedFn = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;

impl Device {
    /// Opens device 0 of those that `CUDA_VISIBLE_DEVICES` shows. Errors say what is missing.
    pub fn open() -> Result<Self, RunError> {
        // SAFETY: asking whether a library can be loaded runs only its initialisers.
        if !unsafe { sys::is_culib_present() } {
            return Err(RunError::unavailable(
                if cfg!(windows) {
                    ("没有 NVIDIA 驱动：找不到 nvcuda.dll", "no NVIDIA driver: nvcuda.dll is nowhere to be found")
                } else {
                    (
                        "没有 NVIDIA 驱动：库路径上找不到 libcuda.so.1",
                        "no NVIDIA driver: libcuda.so.1 is nowhere on the library path",
                    )
                },
                (
                    "安装 NVIDIA 驱动；不装也行：实验改为重放录制",
                    "install the NVIDIA driver, or go on with the recorded traces",
                ),
            ));
        }
        guarded("opening the device", Self::open_loaded)?
    }

    fn open_loaded() -> Result<Self, RunError> {
        let (mut ordinal, mut n_devices, mut context) = (0, 0, std::ptr::null_mut());
        // SAFETY: every pointer is to a live local; the driver writes one value to each.
        unsafe {
            start(sys::cuInit(0), "cuInit")?;
            start(sys::cuDeviceGetCount(&raw mut n_devices), "cuDeviceGetCount")?;
            if n_devices == 0 {
                return Err(errors::unavailable(100, "cuDeviceGetCount"));
            }
            start(sys::cuDeviceGet(&raw mut ordinal, 0), "cuDeviceGet")?;
            start(sys::cuDevicePrimaryCtxRetain(&raw mut context, ordinal), "cuDevicePrimaryCtxRetain")?;
            start(sys::cuCtxSetCurrent(context), "cuCtxSetCurrent")?;
        }
        Ok(Self { ordinal, context, elapsed: elapsed_fn()? })
    }

    pub fn attribute(&self, attribute: sys::CUdevice_attribute) -> Option<f64> {
        let mut value = 0;
        // SAFETY: `value` is live; the ordinal came from the driver.
        let code = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, self.ordinal) };
        (code == sys::CUresult::CUDA_SUCCESS).then_some(f64::from(value))
    }

    pub fn name(&self) -> Result<String, RunError> {
        let mut buffer = [0 as std::ffi::c_char; 256];
        // SAFETY: the driver writes at most 256 bytes, with a final zero.
        unsafe { check(sys::cuDeviceGetName(buffer.as_mut_ptr(), 256, self.ordinal), "cuDeviceGetName")? };
        // SAFETY: the call above ended the text with a zero inside the buffer.
        Ok(unsafe { CStr::from_ptr(buffer.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// PCI address as NVML wants it, `0000:3b:00.0`.
    pub fn pci_bus_id(&self) -> Option<String> {
        let mut buffer = [0 as std::ffi::c_char; 64];
        // SAFETY: the driver writes at most 64 bytes, with a final zero.
        let code = unsafe { sys::cuDeviceGetPCIBusId(buffer.as_mut_ptr(), 64, self.ordinal) };
        // SAFETY: on success the text ends with a zero inside the buffer.
        (code == sys::CUresult::CUDA_SUCCESS)
            .then(|| unsafe { CStr::from_ptr(buffer.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// The newest CUDA version that the driver speaks, `13.0`.
    pub fn driver_api(&self) -> Option<(i32, i32)> {
        let mut version = 0;
        // SAFETY: `version` is live.
        let code = unsafe { sys::cuDriverGetVersion(&raw mut version) };
        (code == sys::CUresult::CUDA_SUCCESS).then_some((version / 1000, version % 1000 / 10))
    }

    /// Free and total bytes at this moment.
    pub fn memory(&self) -> Result<(u64, u64), RunError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are to live locals.
        unsafe { check(sys::cuMemGetInfo_v2(&raw mut free, &raw mut total), "cuMemGetInfo")? };
        Ok((free as u64, total as u64))
    }

    /// Waits for everything queued so far; errors of kernels come out here.
    pub fn synchronize(&self, kernel: &str) -> Result<(), RunError> {
        // SAFETY: no arguments; the context is current.
        unsafe { check(sys::cuCtxSynchronize(), kernel) }
    }

    /// Milliseconds between two recorded events.
    pub fn elapsed_ms(&self, from: &Event, to: &Event, kernel: &str) -> Result<f64, RunError> {
        let mut ms = 0.0;
        // SAFETY: both events live; the function was looked up in the loaded driver with this signature.
        unsafe { check((self.elapsed)(&raw mut ms, from.0, to.0), kernel)? };
        Ok(f64::from(ms))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: retained once in `open`. After a fatal error the call fails, which changes nothing.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.ordinal) };
    }
}

/// The newer symbol where the driver has it (CUDA 12.8), else the older one: both keep their meaning.
fn elapsed_fn() -> Result<ElapsedFn, RunError> {
    [&b"cuEventElapsedTime_v2"[..], b"cuEventElapsedTime"]
        .into_iter()
        // SAFETY: both symbols have this signature in every version of cuda.h.
        .find_map(|name| unsafe { sys::culib().get::<ElapsedFn>(name) }.ok().map(|symbol| *symbol))
        .ok_or_else(|| {
            RunError::unavailable(
                ("驱动库里没有 cuEventElapsedTime", "the driver library has no cuEventElapsedTime"),
                ("重新安装完整的 NVIDIA 驱动", "install a complete NVIDIA driver"),
            )
        })
}

/// Device memory, freed when dropped.
pub struct Memory {
    pub address: sys::CUdeviceptr,
    pub bytes: u64,
}

impl Memory {
    /// Allocates; an exhausted device is told with what was asked and what is free.
    pub fn alloc(device: &Device, bytes: u64, what: &str) -> Result<Self, RunError> {
        let mut address = 0;
        // SAFETY: `address` is live; the size is at least one byte.
        let code = unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes.max(1) as usize) };
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (free_bytes, total_bytes) = device.memory()?;
            return Err(RunError::OutOfMemory { asked_bytes: bytes, free_bytes, total_bytes });
        }
        check(code, what)?;
        Ok(Self { address, bytes })
    }

    /// Sets the first `bytes` bytes.
    pub fn set(&self, byte: u8, bytes: u64, what: &str) -> Result<(), RunError> {
        // SAFETY: the range is cut to the allocation.
        unsafe { check(sys::cuMemsetD8_v2(self.address, byte, bytes.min(self.bytes) as usize), what) }
    }

    /// Reads `out.len()` bytes from `offset` on.
    pub fn read(&self, offset: u64, out: &mut [u8], what: &str) -> Result<(), RunError> {
        if offset.saturating_add(out.len() as u64) > self.bytes {
            return Err(RunError::Content { what: format!("a read past the end of {what}") });
        }
        // SAFETY: source range checked above; the target is a live slice of that length.
        unsafe {
            check(sys::cuMemcpyDtoH_v2(out.as_mut_ptr().cast::<c_void>(), self.address + offset, out.len()), what)
        }
    }

    /// Copies the whole of `self` to `to` on the device, asynchronously: the driver's own copy, as a yardstick.
    pub fn copy_to(&self, to: &Self, what: &str) -> Result<(), RunError> {
        let bytes = self.bytes.min(to.bytes) as usize;
        // SAFETY: both ranges lie inside live allocations.
        unsafe { check(sys::cuMemcpyDtoDAsync_v2(to.address, self.address, bytes, std::ptr::null_mut()), what) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated once in `alloc`. After a fatal error the call fails, which changes nothing.
        let _ = unsafe { sys::cuMemFree_v2(self.address) };
    }
}

/// A point in the stream that can be timed.
pub struct Event(sys::CUevent);

impl Event {
    pub fn new() -> Result<Self, RunError> {
        let mut event = std::ptr::null_mut();
        // SAFETY: `event` is live; flags 0 asks for timing.
        unsafe { check(sys::cuEventCreate(&raw mut event, 0), "cuEventCreate")? };
        Ok(Self(event))
    }

    pub fn record(&self) -> Result<(), RunError> {
        // SAFETY: the event lives; the null stream is the default stream.
        unsafe { check(sys::cuEventRecord(self.0, std::ptr::null_mut()), "cuEventRecord") }
    }

    /// Records on another stream than the default one.
    pub(super) fn record_on(&self, stream: sys::CUstream) -> Result<(), RunError> {
        // SAFETY: event and stream live.
        unsafe { check(sys::cuEventRecord(self.0, stream), "cuEventRecord") }
    }

    /// Lets `stream` wait for what was recorded last.
    pub(super) fn hold(&self, stream: sys::CUstream) -> Result<(), RunError> {
        // SAFETY: event and stream live; 0 is the only flag.
        unsafe { check(sys::cuStreamWaitEvent(stream, self.0, 0), "cuStreamWaitEvent") }
    }

    pub fn wait(&self, kernel: &str) -> Result<(), RunError> {
        // SAFETY: the event lives.
        unsafe { check(sys::cuEventSynchronize(self.0), kernel) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created once in `new`.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// A loaded module with one entry.
pub struct Function {
    module: sys::CUmodule,
    function: sys::CUfunction,
    pub name: String,
}

/// Blocks, threads a block, dynamic shared bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub grid: (u32, u32),
    pub block: (u32, u32),
    pub shared_bytes: u32,
}

impl Function {
    /// Loads compiled code (a cubin, or PTX with its final zero) and finds `entry` in it.
    pub fn load(image: &[u8], entry: &str) -> Result<Self, RunError> {
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        let name = CString::new(entry).map_err(|_| RunError::Content { what: format!("entry {entry:?}") })?;
        // SAFETY: the image is a complete cubin or zero-terminated PTX from NVRTC; the handles are live locals.
        unsafe {
            check(sys::cuModuleLoadData(&raw mut module, image.as_ptr().cast()), entry)?;
            let found = sys::cuModuleGetFunction(&raw mut function, module, name.as_ptr());
            let this = Self { module, function, name: entry.to_owned() };
            if found == sys::CUresult::CUDA_ERROR_NOT_FOUND {
                return Err(RunError::Content { what: format!("the kernel's source has no extern \"C\" `{entry}`") });
            }
            check(found, entry)?;
            Ok(this)
        }
    }

    /// More than 48 KiB of dynamic shared memory must be asked for.
    pub fn allow_shared(&self, bytes: u32) -> Result<(), RunError> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function lives.
        unsafe { check(sys::cuFuncSetAttribute(self.function, attribute, bytes as i32), &self.name) }
    }

    /// Registers and local bytes of a thread, shared bytes that the source declares: as the driver has loaded it.
    pub fn takes(&self) -> Result<[u32; 3], RunError> {
        use sys::CUfunction_attribute as Attribute;
        let get = |attribute| {
            let mut value = 0;
            // SAFETY: `value` is live and the function lives.
            unsafe { check(sys::cuFuncGetAttribute(&raw mut value, attribute, self.function), &self.name)? };
            Ok(u32::try_from(value).unwrap_or_default())
        };
        Ok([
            get(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            get(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            get(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        ])
    }

    /// Blocks of this shape that the driver puts on an SM at once.
    pub fn blocks_per_sm(&self, threads: u32, shared_bytes: u32) -> Result<u32, RunError> {
        let mut n = 0;
        let (threads, shared) = (threads as i32, shared_bytes as usize);
        // SAFETY: `n` is live and the function lives.
        let code =
            unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut n, self.function, threads, shared) };
        check(code, &self.name)?;
        Ok(u32::try_from(n).unwrap_or_default())
    }

    /// Queues one launch. `args` hold the kernel's parameters, each as its bytes in a 64-bit word.
    pub fn launch(&self, shape: Shape, args: &[u64]) -> Result<(), RunError> {
        self.launch_on(std::ptr::null_mut(), shape, args)
    }

    /// The same on another stream than the default one.
    pub(super) fn launch_on(&self, stream: sys::CUstream, shape: Shape, args: &[u64]) -> Result<(), RunError> {
        self.queue(stream, shape, args.iter().map(|arg| std::ptr::from_ref(arg).cast_mut().cast::<c_void>()).collect())
    }

    /// Queues one launch, some of whose parameters may be maps for the copy engine.
    pub fn launch_words(&self, shape: Shape, args: &[Word]) -> Result<(), RunError> {
        self.queue(std::ptr::null_mut(), shape, args.iter().map(Word::place).collect())
    }

    fn queue(&self, stream: sys::CUstream, shape: Shape, mut pointers: Vec<*mut c_void>) -> Result<(), RunError> {
        // SAFETY: every pointer is to live bytes of its caller, eight or the 128 of a map, which the driver copies before it
        // returns; no parameter is wider. What the kernel does with them is the kernel's contract, checked by its oracle.
        unsafe {
            let (gx, gy, bx, by) = (shape.grid.0, shape.grid.1, shape.block.0, shape.block.1);
            let args = pointers.as_mut_ptr();
            let extra = std::ptr::null_mut();
            let code =
                sys::cuLaunchKernel(self.function, gx, gy, 1, bx, by, 1, shape.shared_bytes, stream, args, extra);
            check(code, &self.name)
        }
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: loaded once in `load`.
        let _ = unsafe { sys::cuModuleUnload(self.module) };
    }
}
