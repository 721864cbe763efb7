//! The memories of a launch: buffers, the block's shared memory, and how an address names a place in one of them.
//!
//! An address is 64 bits: which memory in the top four, which buffer or variable in the next twenty, the byte in the rest.

use crate::fault::{Fault, Kind, Place};

const SPACE_SHIFT: u32 = 60;
const OBJECT_SHIFT: u32 = 40;
const BYTE_MASK: u64 = (1 << OBJECT_SHIFT) - 1;
/// Bytes of shared memory from here on are the launch's, behind what the kernel declares.
pub const DYNAMIC_SHARED: u64 = 1 << 38;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    Global,
    Shared,
    /// A thread's own variables.
    Local,
}

/// A buffer of global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub space: Space,
    /// The buffer's or variable's number.
    pub object: usize,
    pub byte: u64,
}

pub fn global(buffer: usize) -> u64 {
    1 << SPACE_SHIFT | (buffer as u64) << OBJECT_SHIFT
}

pub fn shared(byte: u64) -> u64 {
    2 << SPACE_SHIFT | byte
}

pub(crate) fn local(variable: usize, byte: u64) -> u64 {
    3 << SPACE_SHIFT | (variable as u64) << OBJECT_SHIFT | byte
}

/// The place behind an address; none if it is null or was never one.
pub fn target(address: u64) -> Option<Target> {
    let space = match address >> SPACE_SHIFT {
        1 => Space::Global,
        2 => Space::Shared,
        3 => Space::Local,
        _ => return None,
    };
    let object = (address >> OBJECT_SHIFT) as usize & 0xF_FFFF;
    Some(Target { space, object, byte: address & BYTE_MASK })
}

/// Reads `n` scalars of `size` bytes from `bytes`, which hold them.
pub(crate) fn load(bytes: &[u8], size: usize) -> u64 {
    let mut raw = [0; 8];
    raw[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(raw)
}

pub(crate) fn store(bytes: &mut [u8], size: usize, bits: u64) {
    bytes[..size].copy_from_slice(&bits.to_le_bytes()[..size]);
}

/// Bytes `[byte, byte + width)` are outside a memory of `size` bytes.
pub(crate) fn outside(at: Place, what: (&str, &str), byte: u64, width: u64, size: u64, thread: usize) -> Fault {
    // An address before the beginning wraps to a large one.
    let shown = if byte > BYTE_MASK / 2 { format!("-{}", BYTE_MASK + 1 - byte) } else { byte.to_string() };
    let (zh, en) = what;
    Fault::new(
        at,
        Kind::Address,
        format!("线程 {thread} 访问{zh}的第 {shown} 字节起的 {width} 字节，它只有 {size} 字节"),
        format!("thread {thread} accesses {width} B at byte {shown} of {en}, which has {size} B"),
    )
}
