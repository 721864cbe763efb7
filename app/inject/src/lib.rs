//! The library that `vramlab profile` has loaded into the program it watches: CUPTI's activity records, written to a file
//! of bounded size that the profiler reads afterwards.
//!
//! The driver loads it on `cuInit` because `CUDA_INJECTION64_PATH` names it, and calls `InitializeInjection`. Read
//! `vramlab_profile::wire` first (the file's layout), then `session.rs` (start, flush,
//! end), `layout.rs` (where CUPTI's structs keep what is copied), `cupti.rs` (its functions, looked up by name), `out.rs`
//! (the file). A guest must not disturb its host: it prints nothing, never panics across the border, and without CUPTI,
//! without a folder to write to or in a forked child it does nothing.

#[cfg(unix)]
mod cupti;
pub mod layout;
#[cfg(unix)]
mod out;
#[cfg(unix)]
mod session;

/// Called by the CUDA driver once, inside `cuInit`. 1 says that loading went well, whatever came of it.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the driver looks this name up; the function takes nothing")]
// SAFETY: no other symbol of this library has this name.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjection() -> i32 {
    session::start();
    1
}

/// The file's name as cargo writes it, beside the program or in `deps/`.
pub const FILE: &str = if cfg!(target_os = "macos") { "libvramlab_inject.dylib" } else { "libvramlab_inject.so" };
