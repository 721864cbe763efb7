//! What works number by number or row by row: GELU, LayerNorm, the loss, the optimizers.

use super::dense::write_row;
use super::{Cpu, Real};
use crate::device::{Op, Trouble};

const EPS: f64 = 1e-5;
/// √(2/π) and the cubic coefficient of GELU's tanh form.
const ROOT: f64 = 0.797_884_560_802_865_4;
const CUBIC: f64 = 0.044_715;

pub fn run<R: Real>(cpu: &mut Cpu<R>, op: &Op) -> Result<(), Trouble> {
    match *op {
        Op::Gelu { y, x, .. } => cpu.write(y, |cpu, y| {
            y.iter_mut().zip(cpu.at(x)?).for_each(|(y, x)| *y = gelu(*x));
            Ok(())
        }),
        Op::GeluBack { dx, dy, x, .. } if dx == dy => cpu.write(dx, |cpu, dx| {
            dx.iter_mut().zip(cpu.at(x)?).for_each(|(dx, x)| *dx = *dx * gelu_slope(*x));
            Ok(())
        }),
        Op::GeluBack { dx, dy, x, .. } => cpu.write(dx, |cpu, dx| {
            let given = cpu.at(dy)?.iter().zip(cpu.at(x)?);
            dx.iter_mut().zip(given).for_each(|(dx, (dy, x))| *dx = *dy * gelu_slope(*x));
            Ok(())
        }),
        Op::Norm { .. } | Op::NormBack { .. } | Op::NormGrad { .. } => norm(cpu, op),
        Op::Add { y, x, .. } => cpu.write(y, |cpu, y| {
            y.iter_mut().zip(cpu.at(x)?).for_each(|(y, x)| *y += *x);
            Ok(())
        }),
        Op::Sum { out, a, b, .. } => cpu.write(out, |cpu, out| {
            let both = cpu.at(a)?.iter().zip(cpu.at(b)?);
            out.iter_mut().zip(both).for_each(|(out, (a, b))| *out = *a + *b);
            Ok(())
        }),
        Op::Loss { loss, logits, targets, cols, scale, .. } => {
            let mut each = cpu.out(loss)?;
            let done = cpu.write(logits, |cpu, logits| {
                let rows = logits.chunks_exact_mut(cols).zip(cpu.at(targets)?).zip(&mut each);
                rows.for_each(|((logits, target), loss)| *loss = cross_entropy(logits, target.wide() as usize, scale));
                Ok(())
            });
            cpu.held.insert(loss, each);
            done
        }
        Op::Sgd { w, g, rate, .. } => cpu.write(w, |cpu, w| {
            w.iter_mut().zip(cpu.at(g)?).for_each(|(w, g)| *w = *w - R::of(rate) * *g);
            Ok(())
        }),
        Op::AdamW { .. } => adamw(cpu, op),
        _ => Ok(()),
    }
}

fn inner<R: Real>(x: R) -> R {
    R::of(ROOT) * (x + R::of(CUBIC) * x * x * x)
}

fn gelu<R: Real>(x: R) -> R {
    R::of(0.5) * x * (R::of(1.0) + inner(x).tanh())
}

fn gelu_slope<R: Real>(x: R) -> R {
    let t = inner(x).tanh();
    let slope = R::of(ROOT) * (R::of(1.0) + R::of(3.0 * CUBIC) * x * x);
    R::of(0.5) * (R::of(1.0) + t) + R::of(0.5) * x * (R::of(1.0) - t * t) * slope
}

fn norm<R: Real>(cpu: &mut Cpu<R>, op: &Op) -> Result<(), Trouble> {
    match *op {
        Op::Norm { y, stats, x, gamma, beta, cols, .. } => {
            let mut found = cpu.out(stats)?;
            let done = cpu.write(y, |cpu, y| {
                let (gamma, beta) = (cpu.at(gamma)?, cpu.at(beta)?);
                let rows = y.chunks_exact_mut(cols).zip(cpu.at(x)?.chunks_exact(cols));
                for ((y, x), stat) in rows.zip(found.chunks_exact_mut(2)) {
                    let n = R::of(cols as f64);
                    let mean = x.iter().fold(R::default(), |sum, x| sum + *x) / n;
                    let square = x.iter().fold(R::default(), |sum, x| sum + (*x - mean) * (*x - mean));
                    let scale = R::of(1.0) / (square / n + R::of(EPS)).sqrt();
                    stat.copy_from_slice(&[mean, scale]);
                    for at in 0..cols {
                        y[at] = (x[at] - mean) * scale * gamma[at] + beta[at];
                    }
                }
                Ok(())
            });
            cpu.held.insert(stats, found);
            done
        }
        Op::NormBack { dx, dy, x, stats, gamma, cols, .. } => cpu.write(dx, |cpu, dx| {
            let gamma = cpu.at(gamma)?;
            let given = cpu.at(dy)?.chunks_exact(cols).zip(cpu.at(x)?.chunks_exact(cols));
            let rows = dx.chunks_exact_mut(cols).zip(given).zip(cpu.at(stats)?.chunks_exact(2));
            for ((dx, (dy, x)), stat) in rows {
                let (mean, scale, n) = (stat[0], stat[1], R::of(cols as f64));
                let (mut plain, mut along) = (R::default(), R::default());
                for at in 0..cols {
                    let (slope, unit) = (dy[at] * gamma[at], (x[at] - mean) * scale);
                    plain += slope;
                    along += slope * unit;
                }
                for at in 0..cols {
                    let unit = (x[at] - mean) * scale;
                    dx[at] = scale * (dy[at] * gamma[at] - plain / n - unit * (along / n));
                }
            }
            Ok(())
        }),
        Op::NormGrad { dgamma, dbeta, dy, x, stats, cols, add, .. } => {
            let (mut along, mut plain) = (vec![R::default(); cols], vec![R::default(); cols]);
            let given = cpu.at(dy)?.chunks_exact(cols).zip(cpu.at(x)?.chunks_exact(cols));
            for ((dy, x), stat) in given.zip(cpu.at(stats)?.chunks_exact(2)) {
                for at in 0..cols {
                    along[at] += dy[at] * (x[at] - stat[0]) * stat[1];
                    plain[at] += dy[at];
                }
            }
            for (buf, sums) in [(dgamma, along), (dbeta, plain)] {
                cpu.write(buf, |_, out| {
                    write_row(out, &sums, add);
                    Ok(())
                })?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The loss of a row; its logits become their gradient.
fn cross_entropy<R: Real>(logits: &mut [R], target: usize, scale: f64) -> R {
    let most = logits.iter().copied().fold(logits[0], |most, value| if value > most { value } else { most });
    let sum = logits.iter().fold(R::default(), |sum, value| sum + (*value - most).exp());
    let loss = sum.ln() - (logits[target] - most);
    for (class, value) in logits.iter_mut().enumerate() {
        let hit = if class == target { R::of(1.0) } else { R::default() };
        *value = ((*value - most).exp() / sum - hit) * R::of(scale);
    }
    loss
}

fn adamw<R: Real>(cpu: &mut Cpu<R>, op: &Op) -> Result<(), Trouble> {
    let Op::AdamW { w, g, m, v, adam, .. } = *op else { return Ok(()) };
    let (mut first, mut second) = (cpu.out(m)?, cpu.out(v)?);
    let one = R::of(1.0);
    let (beta1, beta2) = (R::of(adam.beta1), R::of(adam.beta2));
    let done = cpu.write(w, |cpu, w| {
        for ((w, g), (m, v)) in w.iter_mut().zip(cpu.at(g)?).zip(first.iter_mut().zip(&mut second)) {
            *m = beta1 * *m + (one - beta1) * *g;
            *v = beta2 * *v + (one - beta2) * *g * *g;
            let step = *m / R::of(adam.correct1) / ((*v / R::of(adam.correct2)).sqrt() + R::of(adam.eps));
            *w = *w - R::of(adam.rate) * (step + R::of(adam.decay) * *w);
        }
        Ok(())
    });
    cpu.held.insert(m, first);
    cpu.held.insert(v, second);
    done
}
