//! Models of writing kernels: tiles and reuse, fusion, layout, and what one SM holds.

pub mod architecture;
pub mod bank_wheel;
pub mod fuse_registers;
pub mod fuse_rules;
pub mod fusion_chain;
pub mod fusion_graph;
pub mod gemm_tile;
pub mod gemm_time;
pub mod gemm_walk;
pub mod graph;
pub mod grid_waves;
pub mod launch_timeline;
pub mod layout_change;
pub mod merge;
pub mod merge_tree;
pub mod occupancy;
pub mod occupancy_cliff;
pub mod row_passes;
pub mod stack_distance;
pub mod stencil_halo;
pub mod struct_fields;
pub mod tensor_strides;
pub mod warp_reduce;
