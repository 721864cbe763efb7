//! NVRTC: CUDA C++ to machine code for exactly the device at hand, without an installed toolkit. Needs no device, so
//! that a test compiles every kernel for every architecture.
#![expect(unsafe_code, reason = "this is the border to NVRTC; it hands out plain bytes")]

use super::guard::guarded;
use crate::error::RunError;
use cudarc::nvrtc::sys::{self, nvrtcResult};
use std::ffi::{CString, c_char};

/// Names that nvcc finds in its headers and NVRTC, which reads none, does not know. The player of kernels knows the same.
const LIMITS: [&str; 3] =
    ["INFINITY=__int_as_float(0x7f800000)", "NAN=__int_as_float(0x7fffffff)", "FLT_MAX=3.402823466e+38f"];

/// What was compiled: a cubin, or zero-terminated PTX where this NVRTC does not know the architecture.
#[derive(Clone, Debug)]
pub struct Image {
    pub bytes: Vec<u8>,
    /// `sm_90`, `sm_90a`, or `compute_90` for PTX.
    pub arch: String,
}

/// The version of the NVRTC that is installed, or what is missing.
pub fn version() -> Result<(i32, i32), RunError> {
    // SAFETY: asking whether a library can be loaded runs only its initialisers.
    if !unsafe { sys::is_culib_present() } {
        return Err(RunError::unavailable(
            if cfg!(windows) {
                ("没有 NVRTC：找不到 nvrtc64_*.dll", "no NVRTC: nvrtc64_*.dll is nowhere to be found")
            } else {
                (
                    "没有 NVRTC：库路径上找不到 libnvrtc.so.13 或 .so.12",
                    "no NVRTC: libnvrtc.so.13 or .so.12 is nowhere on the library path",
                )
            },
            (
                "运行 `pip install nvidia-cuda-nvrtc`（或 -cu12），把它的 lib 目录放进 LD_LIBRARY_PATH；或安装 CUDA toolkit",
                "install it with `pip install nvidia-cuda-nvrtc` (or -cu12) and put its lib folder on \
                 LD_LIBRARY_PATH, or install the CUDA toolkit",
            ),
        ));
    }
    guarded("asking NVRTC for its version", || {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live locals.
        match unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) } {
            nvrtcResult::NVRTC_SUCCESS => Ok((major, minor)),
            code => Err(unusable(&format!("NVRTC answers with {code:?}"))),
        }
    })?
}

/// Compiles `source` (shown in messages as `name`) for compute capability `cc` × 10, with `defines` as `NAME=value`.
pub fn compile(name: &str, source: &str, cc: u32, defines: &[String]) -> Result<Image, RunError> {
    compile_own(name, source, cc, None, defines)
}

/// The same for a source that uses the instructions which `own` (`sm_90a`) has beyond its family: on that architecture.
pub fn compile_own(
    name: &str,
    source: &str,
    cc: u32,
    own: Option<&str>,
    defines: &[String],
) -> Result<Image, RunError> {
    inspect(name, source, cc, own, defines, false).map(|made| made.image)
}

/// What a compilation leaves beside the code.
#[derive(Clone, Debug)]
pub struct Made {
    pub image: Image,
    /// Warnings, and what `ptxas` says of registers and memory where it was asked.
    pub log: String,
    pub ptx: String,
}

/// Compiles, with everything that there is to know about the code if `is_asked`.
pub fn inspect(
    name: &str,
    source: &str,
    cc: u32,
    own: Option<&str>,
    defines: &[String],
    is_asked: bool,
) -> Result<Made, RunError> {
    let found = version()?;
    let own = own.filter(|own| *own == format!("sm_{cc}a"));
    if let Some(own) = own.filter(|_| found < (12, 0)) {
        return Err(RunError::unavailable(
            (
                format!("这个内核要为 {own} 编译，NVRTC 12.0 起才会"),
                format!("the kernel needs {own}, which NVRTC knows from 12.0 on"),
            ),
            ("安装 CUDA 12 或更新的 NVRTC", "install the NVRTC of CUDA 12 or later"),
        ));
    }
    guarded("compiling", || {
        let known = supported();
        // Without the exact architecture, PTX for the newest one below it, which the driver translates.
        let (arch, is_exact) = match known.iter().copied().filter(|known| *known <= cc).max() {
            Some(exact) if exact == cc => (own.map_or_else(|| format!("sm_{cc}"), str::to_owned), true),
            Some(below) => (format!("compute_{below}"), false),
            None if known.is_empty() => (format!("sm_{cc}"), true),
            None => {
                let oldest = known.iter().min().copied().unwrap_or_default();
                let (major, minor) = found;
                return Err(RunError::unavailable(
                    (
                        format!("NVRTC {major}.{minor} 只能为 sm_{oldest} 及以后的显卡编译，这块是 sm_{cc}"),
                        format!("NVRTC {major}.{minor} compiles for sm_{oldest} and later; the device is sm_{cc}"),
                    ),
                    (
                        "安装旧一些的 CUDA 里的 NVRTC：CUDA 12 还能为 sm_50 编译",
                        "install the NVRTC of an older CUDA version: CUDA 12 still compiles for sm_50",
                    ),
                ));
            }
        };
        let mut options = vec![format!("--gpu-architecture={arch}"), "--std=c++17".to_owned()];
        options.extend(LIMITS.iter().map(|limit| format!("--define-macro={limit}")));
        options.extend(defines.iter().map(|define| format!("--define-macro={define}")));
        if is_asked && is_exact {
            options.push("--ptxas-options=-v".to_owned());
        }
        let program = Program::new(name, source)?;
        let bytes = program.compile(&arch, &options, is_exact)?;
        let (log, ptx) = if is_asked { (program.log(), program.ptx()) } else { Default::default() };
        Ok(Made { image: Image { bytes, arch }, log, ptx })
    })?
}

fn unusable(what: &str) -> RunError {
    RunError::unavailable(
        (format!("NVRTC 用不了：{what}"), what),
        ("安装一套完整的 CUDA toolkit 或 NVRTC 包", "install one complete CUDA toolkit or NVRTC package"),
    )
}

/// Architectures that this NVRTC compiles for; empty if it cannot say (before CUDA 11.2).
fn supported() -> Vec<u32> {
    let mut n = 0;
    // SAFETY: `n` is live.
    if unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut n) } != nvrtcResult::NVRTC_SUCCESS {
        return Vec::new();
    }
    let mut archs = vec![0; usize::try_from(n).unwrap_or_default()];
    // SAFETY: the list has the length that NVRTC asked for.
    let code = unsafe { sys::nvrtcGetSupportedArchs(archs.as_mut_ptr()) };
    if code != nvrtcResult::NVRTC_SUCCESS {
        return Vec::new();
    }
    archs.into_iter().filter_map(|arch| u32::try_from(arch).ok()).collect()
}

/// A program of NVRTC, destroyed when dropped.
struct Program {
    handle: sys::nvrtcProgram,
    source_bytes: usize,
}

impl Program {
    fn new(name: &str, source: &str) -> Result<Self, RunError> {
        let nul = |_| RunError::Content { what: format!("{name} holds a zero byte") };
        let (text, title) = (CString::new(source).map_err(nul)?, CString::new(name).map_err(nul)?);
        let (mut handle, none) = (std::ptr::null_mut(), std::ptr::null());
        // SAFETY: both texts end with a zero and outlive the call, which copies them; there are no headers.
        let code = unsafe { sys::nvrtcCreateProgram(&raw mut handle, text.as_ptr(), title.as_ptr(), 0, none, none) };
        match code {
            nvrtcResult::NVRTC_SUCCESS => Ok(Self { handle, source_bytes: source.len() }),
            code => Err(unusable(&format!("NVRTC does not take the program: {code:?}"))),
        }
    }

    fn compile(&self, arch: &str, options: &[String], is_exact: bool) -> Result<Vec<u8>, RunError> {
        let texts: Vec<CString> = options.iter().filter_map(|option| CString::new(option.as_str()).ok()).collect();
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let n_options = i32::try_from(pointers.len()).unwrap_or_default();
        // SAFETY: the handle lives; the options are zero-terminated and outlive the call.
        let code = unsafe { sys::nvrtcCompileProgram(self.handle, n_options, pointers.as_ptr()) };
        if code != nvrtcResult::NVRTC_SUCCESS {
            return Err(self.failure(code, arch, options));
        }
        let (size, get): (GetSize, Get) = if is_exact {
            (sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN)
        } else {
            (sys::nvrtcGetPTXSize, sys::nvrtcGetPTX)
        };
        self.text(size, get).ok_or_else(|| unusable("NVRTC compiled the kernel and does not give the code out"))
    }

    fn log(&self) -> String {
        self.words(sys::nvrtcGetProgramLogSize, sys::nvrtcGetProgramLog)
    }

    fn ptx(&self) -> String {
        self.words(sys::nvrtcGetPTXSize, sys::nvrtcGetPTX)
    }

    /// A text of NVRTC without its final zero.
    fn words(&self, size: GetSize, get: Get) -> String {
        let text = self.text(size, get).unwrap_or_default();
        String::from_utf8_lossy(&text).trim_end_matches('\0').trim_end().to_owned()
    }

    fn failure(&self, code: nvrtcResult, arch: &str, options: &[String]) -> RunError {
        let log = crate::build::of_failure(&self.log());
        if log.contains("builtins") || code == nvrtcResult::NVRTC_ERROR_BUILTIN_OPERATION_FAILURE {
            return RunError::unavailable(
                (
                    format!("NVRTC 在，配套的 libnvrtc-builtins 不在（{log}）"),
                    format!("NVRTC is there, its companion libnvrtc-builtins is not ({log})"),
                ),
                (
                    "两个库要来自同一个包，例如 `pip install nvidia-cuda-nvrtc`，并把那个目录放进 LD_LIBRARY_PATH",
                    "install both from one package, e.g. `pip install nvidia-cuda-nvrtc`, and put that folder on \
                     LD_LIBRARY_PATH",
                ),
            );
        }
        let log = if log.is_empty() { format!("{code:?} for {} bytes of source", self.source_bytes) } else { log };
        RunError::Compile { arch: arch.to_owned(), options: options.to_vec(), log }
    }

    fn text(&self, size: GetSize, get: Get) -> Option<Vec<u8>> {
        let mut n = 0;
        // SAFETY: the handle lives and `n` is live; the buffer below has the size that NVRTC asked for.
        unsafe {
            if size(self.handle, &raw mut n) != nvrtcResult::NVRTC_SUCCESS || n == 0 {
                return None;
            }
            let mut bytes = vec![0_u8; n];
            (get(self.handle, bytes.as_mut_ptr().cast()) == nvrtcResult::NVRTC_SUCCESS).then_some(bytes)
        }
    }
}

type GetSize = unsafe fn(sys::nvrtcProgram, *mut usize) -> nvrtcResult;
type Get = unsafe fn(sys::nvrtcProgram, *mut c_char) -> nvrtcResult;

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created once in `new`.
        let _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.handle) };
    }
}
