//! Causal attention, head by head, forwards and backwards.

use super::{Cpu, Real};
use crate::device::{Op, Trouble};
use crate::net::Heads;

/// Where a row of q (0), k (1) or v (2) lies.
fn line(heads: Heads, b: usize, t: usize, which: usize, head: usize) -> std::ops::Range<usize> {
    let start = (b * heads.seq + t) * 3 * heads.width() + which * heads.width() + head * heads.size;
    start..start + heads.size
}

/// Where a row of the output lies.
fn output(heads: Heads, b: usize, t: usize, head: usize) -> std::ops::Range<usize> {
    let start = (b * heads.seq + t) * heads.width() + head * heads.size;
    start..start + heads.size
}

fn scores(heads: Heads, b: usize, head: usize, t: usize) -> usize {
    ((b * heads.heads + head) * heads.seq + t) * heads.seq
}

fn each(heads: Heads, mut work: impl FnMut(usize, usize)) {
    for b in 0..heads.batch {
        for head in 0..heads.heads {
            work(b, head);
        }
    }
}

fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    a.iter().zip(b).fold(R::default(), |sum, (a, b)| sum + *a * *b)
}

fn scaled<R: Real>(out: &mut [R], factor: R, from: &[R]) {
    out.iter_mut().zip(from).for_each(|(out, from)| *out += factor * *from);
}

pub fn run<R: Real>(cpu: &mut Cpu<R>, op: &Op) -> Result<(), Trouble> {
    match *op {
        Op::Scores { p, qkv, heads } => cpu.write(p, |cpu, p| {
            let qkv = cpu.at(qkv)?;
            each(heads, |b, head| softmax(p, qkv, heads, b, head));
            Ok(())
        }),
        Op::Mix { out, p, qkv, heads } => cpu.write(out, |cpu, out| {
            let (p, qkv) = (cpu.at(p)?, cpu.at(qkv)?);
            out.fill(R::default());
            each(heads, |b, head| {
                for i in 0..heads.seq {
                    let row = scores(heads, b, head, i);
                    for j in 0..=i {
                        scaled(&mut out[output(heads, b, i, head)], p[row + j], &qkv[line(heads, b, j, 2, head)]);
                    }
                }
            });
            Ok(())
        }),
        Op::ScoresBack { ds, dout, p, qkv, heads } => cpu.write(ds, |cpu, ds| {
            let (dout, p, qkv) = (cpu.at(dout)?, cpu.at(p)?, cpu.at(qkv)?);
            each(heads, |b, head| scores_back(ds, dout, p, qkv, heads, [b, head]));
            Ok(())
        }),
        Op::MixBack { dqkv, ds, dout, p, qkv, heads } => cpu.write(dqkv, |cpu, dqkv| {
            let (ds, dout, p, qkv) = (cpu.at(ds)?, cpu.at(dout)?, cpu.at(p)?, cpu.at(qkv)?);
            dqkv.fill(R::default());
            each(heads, |b, head| {
                for i in 0..heads.seq {
                    let row = scores(heads, b, head, i);
                    for j in 0..=i {
                        let (s, weight) = (ds[row + j], p[row + j]);
                        scaled(&mut dqkv[line(heads, b, i, 0, head)], s, &qkv[line(heads, b, j, 1, head)]);
                        scaled(&mut dqkv[line(heads, b, j, 1, head)], s, &qkv[line(heads, b, i, 0, head)]);
                        scaled(&mut dqkv[line(heads, b, j, 2, head)], weight, &dout[output(heads, b, i, head)]);
                    }
                }
            });
            Ok(())
        }),
        _ => Ok(()),
    }
}

fn scale<R: Real>(heads: Heads) -> R {
    R::of(1.0 / (heads.size as f64).sqrt())
}

fn softmax<R: Real>(p: &mut [R], qkv: &[R], heads: Heads, b: usize, head: usize) {
    for i in 0..heads.seq {
        let start = scores(heads, b, head, i);
        let row = &mut p[start..start + heads.seq];
        let q = &qkv[line(heads, b, i, 0, head)];
        for (j, score) in row.iter_mut().enumerate().take(i + 1) {
            *score = dot(q, &qkv[line(heads, b, j, 1, head)]) * scale(heads);
        }
        let most = row[..=i].iter().copied().fold(row[0], |most, value| if value > most { value } else { most });
        row[..=i].iter_mut().for_each(|score| *score = (*score - most).exp());
        let sum = row[..=i].iter().fold(R::default(), |sum, score| sum + *score);
        row[..=i].iter_mut().for_each(|score| *score = *score / sum);
        row[i + 1..].fill(R::default());
    }
}

fn scores_back<R: Real>(ds: &mut [R], dout: &[R], p: &[R], qkv: &[R], heads: Heads, [b, head]: [usize; 2]) {
    for i in 0..heads.seq {
        let start = scores(heads, b, head, i);
        let (row, p) = (&mut ds[start..start + heads.seq], &p[start..start + heads.seq]);
        let given = &dout[output(heads, b, i, head)];
        for (j, ds) in row.iter_mut().enumerate().take(i + 1) {
            *ds = dot(given, &qkv[line(heads, b, j, 2, head)]);
        }
        let along = dot(&row[..=i], &p[..=i]);
        row[..=i].iter_mut().zip(p).for_each(|(ds, p)| *ds = *p * (*ds - along) * scale(heads));
        row[i + 1..].fill(R::default());
    }
}
