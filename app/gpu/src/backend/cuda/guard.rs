//! cudarc panics when a library or a symbol is missing; here such a panic becomes an error that names it.

use crate::error::RunError;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic of the binding comes back as [`RunError::Unavailable`] with its text.
pub fn guarded<T>(doing: &str, work: impl FnOnce() -> T) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("the binding stopped without a word");
        let first = text.lines().next().unwrap_or(text);
        let what = format!("{doing}: {first}");
        RunError::unavailable(
            (what.clone(), what),
            (
                "安装这里点名的库，版本与驱动的 CUDA 一致",
                "install the library named here, in the version of the driver's CUDA",
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R3: a missing symbol is a sentence, not an abort.
    #[test]
    fn a_panic_of_the_binding_is_a_value() {
        let result = guarded("timing", || -> u32 { panic!("Missing symbol cuEventElapsedTime_v2: not found") });
        let RunError::Unavailable { what, .. } = result.unwrap_err() else { unreachable!() };
        let what = what.get(vramlab_units::Lang::En);
        assert!(what.starts_with("timing: Missing symbol cuEventElapsedTime_v2"), "{what}");
    }
}
