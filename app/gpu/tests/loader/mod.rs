//! Finding NVRTC for the suites that compile kernels.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use vramlab_gpu::backend::cuda::compile;

/// Where the loader looks for libraries.
const LOADER_PATH: &str = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };

/// True if the test named `test` can go on in this process. The loader reads its path once, at the start of a process:
/// where a folder is named, the test runs again in a process that has it.
pub fn has_nvrtc(test: &str, n: usize) -> bool {
    let named = std::env::var_os("VRAMLAB_NVRTC_DIR");
    if let Some(dir) = named.filter(|_| std::env::var_os("VRAMLAB_NVRTC_INNER").is_none()) {
        let mut paths = vec![PathBuf::from(&dir)];
        paths.extend(std::env::split_paths(&std::env::var_os(LOADER_PATH).unwrap_or_default()));
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([test, "--exact", "--nocapture"]).env("VRAMLAB_NVRTC_INNER", "1");
        let status = again.env(LOADER_PATH, std::env::join_paths(paths).unwrap()).status().unwrap();
        assert!(status.success(), "{test} with the NVRTC of {}: {status}", dir.display());
        return false;
    }
    let Err(why) = compile::version() else { return true };
    let is_promised = std::env::var_os("VRAMLAB_NVRTC_INNER").is_some()
        || std::env::var_os("VRAMLAB_STRICT").is_some_and(|value| value == "1");
    assert!(!is_promised, "{n} compilations skipped: {why}");
    // Past the harness, which would swallow it.
    let _ = writeln!(std::io::stderr(), "{test}: skipped {n} compilations: {why}");
    false
}
