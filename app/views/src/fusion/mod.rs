//! Figures of chapter 04: operators that a lasso makes one kernel, the lanes of processor and GPU while small kernels are
//! launched, a row merged as a tree.

pub mod lanes;
pub mod lasso;
pub mod tree;
