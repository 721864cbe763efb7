//! CUDA through the driver API, loaded dynamically: the same program starts on a machine without a GPU.

use super::Backend;
use crate::error::RunError;

/// Opens the first device that the driver offers.
pub fn open(_budget_bytes: Option<u64>) -> Result<Box<dyn Backend>, RunError> {
    Err(RunError::Unavailable {
        what: "no CUDA driver was looked for".to_owned(),
        fix: "replay a recorded trace".to_owned(),
    })
}
