//! The page of a recorded run: the report in words, memory by process over time, lanes of kernels and copies, and NVML's
//! figure reconciled with a snapshot of the same run.

pub mod reconcile;
