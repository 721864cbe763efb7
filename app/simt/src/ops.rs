//! Arithmetic on one scalar, bit for bit as the hardware does it. A scalar is held in 64 bits, zeros above its own.

use crate::tree::{Op, Unary};
use crate::types::Scalar;

/// The number that `bits` hold, as a signed 64-bit integer. Unsigned 64-bit numbers wrap.
pub fn int(scalar: Scalar, bits: u64) -> i64 {
    match scalar {
        Scalar::I8 => i64::from(bits as u8 as i8),
        Scalar::I16 => i64::from(bits as u16 as i16),
        Scalar::I32 => i64::from(bits as u32 as i32),
        Scalar::F32 => f32::from_bits(bits as u32) as i64,
        Scalar::F64 => f64::from_bits(bits) as i64,
        _ => bits as i64,
    }
}

/// The number that `bits` hold, as a real.
pub fn real(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F64 => f64::from_bits(bits),
        Scalar::U64 => bits as f64,
        _ => int(scalar, bits) as f64,
    }
}

/// The bits of an integer under `scalar`, cut to its size.
pub fn of_int(scalar: Scalar, value: i64) -> u64 {
    match scalar {
        Scalar::Bool => u64::from(value != 0),
        Scalar::I8 | Scalar::U8 => u64::from(value as u8),
        Scalar::I16 | Scalar::U16 => u64::from(value as u16),
        Scalar::I32 | Scalar::U32 => u64::from(value as u32),
        Scalar::I64 | Scalar::U64 => value as u64,
        Scalar::F32 => u64::from((value as f32).to_bits()),
        Scalar::F64 => (value as f64).to_bits(),
    }
}

pub fn of_f32(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// The bits of a real under `scalar`.
pub fn of_real(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        Scalar::F32 => of_f32(value as f32),
        Scalar::F64 => value.to_bits(),
        Scalar::Bool => u64::from(value != 0.0),
        Scalar::U64 => value as u64,
        // The hardware saturates, and so does `as`.
        Scalar::I32 => of_int(scalar, i64::from(value as i32)),
        Scalar::U32 => of_int(scalar, i64::from(value as u32)),
        _ => of_int(scalar, value as i64),
    }
}

pub fn cast(from: Scalar, to: Scalar, bits: u64) -> u64 {
    if from == to {
        bits
    } else if to == Scalar::Bool {
        u64::from(is_true(from, bits))
    } else if from.is_float() {
        of_real(to, real(from, bits))
    } else if from == Scalar::U64 && to.is_float() {
        if to == Scalar::F32 { of_f32(bits as f32) } else { (bits as f64).to_bits() }
    } else {
        of_int(to, int(from, bits))
    }
}

pub fn is_true(scalar: Scalar, bits: u64) -> bool {
    if scalar.is_float() { real(scalar, bits) != 0.0 } else { bits != 0 }
}

/// None only for a division by zero of integers.
pub fn binary(op: Op, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    match scalar {
        Scalar::F32 => Some(float(op, f32::from_bits(a as u32), f32::from_bits(b as u32))),
        Scalar::F64 => Some(double(op, f64::from_bits(a), f64::from_bits(b))),
        Scalar::U32 | Scalar::U64 | Scalar::U8 | Scalar::U16 | Scalar::Bool => unsigned(op, scalar, a, b),
        _ => signed(op, scalar, int(scalar, a), int(scalar, b)),
    }
}

fn float(op: Op, a: f32, b: f32) -> u64 {
    match op {
        Op::Add => of_f32(a + b),
        Op::Sub => of_f32(a - b),
        Op::Mul => of_f32(a * b),
        Op::Div => of_f32(a / b),
        Op::Rem => of_f32(a % b),
        _ => double(op, f64::from(a), f64::from(b)),
    }
}

fn double(op: Op, a: f64, b: f64) -> u64 {
    match op {
        Op::Add => (a + b).to_bits(),
        Op::Sub => (a - b).to_bits(),
        Op::Mul => (a * b).to_bits(),
        Op::Div => (a / b).to_bits(),
        Op::Rem => (a % b).to_bits(),
        Op::Lt => u64::from(a < b),
        Op::Le => u64::from(a <= b),
        Op::Gt => u64::from(a > b),
        Op::Ge => u64::from(a >= b),
        Op::Eq => u64::from(a == b),
        Op::Ne => u64::from(a != b),
        Op::Shl | Op::Shr | Op::And | Op::Or | Op::Xor => 0,
    }
}

/// A shift by the width or more gives zero, as the hardware's `shl` and `shr` do.
fn shift(scalar: Scalar, by: u64) -> Option<u32> {
    (by < scalar.bytes() * 8).then_some(by as u32)
}

fn unsigned(op: Op, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let cut = |value: u64| if scalar.bytes() == 8 { value } else { value & ((1 << (scalar.bytes() * 8)) - 1) };
    Some(match op {
        Op::Add => cut(a.wrapping_add(b)),
        Op::Sub => cut(a.wrapping_sub(b)),
        Op::Mul => cut(a.wrapping_mul(b)),
        Op::Div => a.checked_div(b)?,
        Op::Rem => a.checked_rem(b)?,
        Op::Shl => shift(scalar, b).map_or(0, |by| cut(a << by)),
        Op::Shr => shift(scalar, b).map_or(0, |by| a >> by),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Lt => u64::from(a < b),
        Op::Le => u64::from(a <= b),
        Op::Gt => u64::from(a > b),
        Op::Ge => u64::from(a >= b),
        Op::Eq => u64::from(a == b),
        Op::Ne => u64::from(a != b),
    })
}

fn signed(op: Op, scalar: Scalar, a: i64, b: i64) -> Option<u64> {
    let out = |value: i64| of_int(scalar, value);
    Some(match op {
        Op::Add => out(a.wrapping_add(b)),
        Op::Sub => out(a.wrapping_sub(b)),
        Op::Mul => out(a.wrapping_mul(b)),
        Op::Div if b == 0 => return None,
        Op::Rem if b == 0 => return None,
        Op::Div => out(a.wrapping_div(b)),
        Op::Rem => out(a.wrapping_rem(b)),
        Op::Shl => shift(scalar, b as u64).map_or(0, |by| out(a.wrapping_shl(by))),
        Op::Shr => out(a >> shift(scalar, b as u64).unwrap_or(63)),
        Op::And => out(a & b),
        Op::Or => out(a | b),
        Op::Xor => out(a ^ b),
        Op::Lt => u64::from(a < b),
        Op::Le => u64::from(a <= b),
        Op::Gt => u64::from(a > b),
        Op::Ge => u64::from(a >= b),
        Op::Eq => u64::from(a == b),
        Op::Ne => u64::from(a != b),
    })
}

pub fn unary(op: Unary, scalar: Scalar, bits: u64) -> u64 {
    match op {
        Unary::Not => u64::from(!is_true(scalar, bits)),
        Unary::BitNot => of_int(scalar, !int(scalar, bits)),
        Unary::Neg if scalar == Scalar::F32 => of_f32(-f32::from_bits(bits as u32)),
        Unary::Neg if scalar == Scalar::F64 => (-f64::from_bits(bits)).to_bits(),
        Unary::Neg => of_int(scalar, int(scalar, bits).wrapping_neg()),
    }
}
