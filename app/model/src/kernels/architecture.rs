//! What one SM of each compute capability holds: the limits that decide how many blocks are on it at once.
//!
//! Source: CUDA Programming Guide, "Technical Specifications per Compute Capability" (warps, registers, shared memory), and
//! `cuda_occupancy.h` of CUDA 13.5 (blocks, how registers and shared memory are dealt out). For 12.0 the Blackwell Tuning Guide
//! prints 32 blocks where the header and the guide say 24. Capabilities whose limits were not seen in either are left out.

/// Registers and shared memory of one SM, and how they are dealt out. Sizes in bytes, registers of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sm {
    /// Compute capability × 10.
    pub cc: u32,
    pub warps: u64,
    pub blocks: u64,
    pub shared_kib: u64,
    /// Most of one block, when the kernel asks for more than [`DEFAULT_SHARED`].
    pub block_shared_kib: u64,
    /// Kept by the driver for each block.
    pub reserved: u64,
    /// A block that caches global loads stays in one half of the SM.
    pub is_halved: bool,
}

pub const WARP_LANES: u64 = 32;
pub const REGISTERS: u64 = 65_536;
/// A warp takes registers by this many: 8 a lane.
pub const REGISTER_UNIT: u64 = 256;
pub const MOST_REGISTERS: u64 = 255;
/// Each with a quarter of the registers.
pub const PARTITIONS: u64 = 4;
pub const DEFAULT_SHARED: u64 = 48 << 10;

impl Sm {
    /// Bytes by which shared memory is dealt out: 256 before 8.0, then 128.
    pub fn shared_unit(self) -> u64 {
        if self.cc < 80 { 256 } else { 128 }
    }

    /// The capability as it is written, `9.0`.
    pub fn name(self) -> String {
        format!("{}.{}", self.cc / 10, self.cc % 10)
    }
}

const fn sm(cc: u32, warps: u64, blocks: u64, shared_kib: u64, block_shared_kib: u64) -> Sm {
    Sm {
        cc,
        warps,
        blocks,
        shared_kib,
        block_shared_kib,
        reserved: if cc < 80 { 0 } else { 1024 },
        is_halved: cc == 52,
    }
}

pub const SMS: &[Sm] = &[
    sm(50, 64, 32, 64, 48),
    sm(52, 64, 32, 96, 48),
    sm(70, 64, 32, 96, 96),
    sm(75, 32, 16, 64, 64),
    sm(80, 64, 32, 164, 163),
    sm(86, 48, 16, 100, 99),
    sm(87, 48, 16, 164, 163),
    sm(89, 48, 24, 100, 99),
    sm(90, 64, 32, 228, 227),
    sm(100, 64, 32, 228, 227),
    sm(120, 48, 24, 100, 99),
];

/// The capability written as `9.0`.
pub fn find(name: &str) -> Option<Sm> {
    SMS.iter().copied().find(|sm| sm.name() == name)
}
