//! Matrix products and biases.

use super::{Cpu, Real};
use crate::device::{Op, Trouble};

/// Partial sums of a dot product: enough for the processor's vectors, always folded in the same order.
const LANES: usize = 8;

pub fn run<R: Real>(cpu: &mut Cpu<R>, op: &Op) -> Result<(), Trouble> {
    match *op {
        Op::Gemm { out, a, b, m, n, k, ta, tb, add } => cpu.write(out, |cpu, out| {
            let (a, b) = (cpu.at(a)?, cpu.at(b)?);
            let mut row = vec![R::default(); n];
            for i in 0..m {
                if tb {
                    let line = &a[i * k..(i + 1) * k];
                    row.iter_mut().enumerate().for_each(|(j, sum)| *sum = dot(line, &b[j * k..(j + 1) * k]));
                } else {
                    row.fill(R::default());
                    for at in 0..k {
                        let factor = if ta { a[at * m + i] } else { a[i * k + at] };
                        let line = &b[at * n..(at + 1) * n];
                        row.iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * *value);
                    }
                }
                write_row(&mut out[i * n..(i + 1) * n], &row, add);
            }
            Ok(())
        }),
        Op::Bias { y, bias, rows: _, cols } => cpu.write(y, |cpu, y| {
            let bias = cpu.at(bias)?;
            for row in y.chunks_exact_mut(cols) {
                row.iter_mut().zip(bias).for_each(|(y, bias)| *y += *bias);
            }
            Ok(())
        }),
        Op::BiasGrad { out, dy, rows: _, cols, add } => cpu.write(out, |cpu, out| {
            let mut sums = vec![R::default(); cols];
            for row in cpu.at(dy)?.chunks_exact(cols) {
                sums.iter_mut().zip(row).for_each(|(sum, dy)| *sum += *dy);
            }
            write_row(out, &sums, add);
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// The product is summed first and added once, as a matrix product with β = 1 does it.
pub fn write_row<R: Real>(out: &mut [R], row: &[R], add: bool) {
    if add {
        out.iter_mut().zip(row).for_each(|(out, sum)| *out += *sum);
    } else {
        out.copy_from_slice(row);
    }
}

fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    let mut lanes = [R::default(); LANES];
    let (mut left, mut right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (a, b) in (&mut left).zip(&mut right) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    for (lane, (a, b)) in left.remainder().iter().zip(right.remainder()).enumerate() {
        lanes[lane] += *a * *b;
    }
    lanes.into_iter().fold(R::default(), |sum, lane| sum + lane)
}
