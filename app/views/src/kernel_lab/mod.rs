//! Figures of chapter 23: what one SM holds and where occupancy falls, and how the lanes of a warp add up.

pub mod reduction;
pub mod sm;
