//! What a launch passes to a kernel: plain words of at most eight bytes, and maps for the copy engine of a Hopper.
#![expect(unsafe_code, reason = "a tensor map is made by the driver; hands out plain bytes")]

use super::content;
use super::driver::check;
use crate::error::RunError;
use crate::launch::TensorMap;
use cudarc::driver::sys;
use std::ffi::c_void;

/// One argument, as the bytes that the driver copies.
pub enum Word {
    Plain(u64),
    Map(Box<sys::CUtensorMap>),
}

impl Word {
    /// Where the bytes lie, for as long as `self` stays.
    pub fn place(&self) -> *mut c_void {
        match self {
            Self::Plain(word) => std::ptr::from_ref(word).cast_mut().cast(),
            Self::Map(map) => std::ptr::from_ref(&**map).cast_mut().cast(),
        }
    }

    /// The map of a matrix of bf16 at `address`, `bytes` long: row after row, in boxes whose rows of 128 bytes lie swizzled in shared
    /// memory.
    pub fn map(map: &TensorMap, address: u64, bytes: u64) -> Result<Self, RunError> {
        let row_bytes = 2 * map.columns;
        if map.box_columns != 64 || map.box_rows == 0 || !row_bytes.is_multiple_of(16) || map.rows * row_bytes > bytes {
            let what = format!(
                "tensor_map:{}: {} × {} bf16 in boxes of {} × {}; a box has 64 columns and 1 to 256 rows, a row a multiple of \
                 16 bytes, and the matrix lies within its buffer of {bytes} bytes",
                map.buffer, map.rows, map.columns, map.box_rows, map.box_columns
            );
            return Err(content(what));
        }
        let mut out = Box::new(sys::CUtensorMap { opaque: [0; 16] });
        let (sizes, strides) = ([map.columns, map.rows], [row_bytes]);
        let (boxes, steps) = ([map.box_columns, map.box_rows], [1_u32, 1]);
        // SAFETY: the map is live and aligned by its type; the four lists have the two dimensions (strides one) that are
        // announced; the address is that of a live buffer, which holds the whole matrix.
        let code = unsafe {
            sys::cuTensorMapEncodeTiled(
                &raw mut *out,
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                2,
                address as *mut c_void,
                sizes.as_ptr(),
                strides.as_ptr(),
                boxes.as_ptr(),
                steps.as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        check(code, "cuTensorMapEncodeTiled")?;
        Ok(Self::Map(out))
    }
}
