//! The models' answers for a question of the figure: where the kernel stands, under which ceilings, and what each change
//! would do.

use super::question::{MAX_BATCH, Question, Roof, TILES, Tier};
use vramlab_model::op_intensity::{self, Op, Traffic};
use vramlab_model::roofline::{self, Bound, Level, MOST_UTILISATION};

const TERA: f64 = 1e12;
const GIGA: f64 = 1e9;

/// One memory level: its ceiling, and the kernel's dot under it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    pub tier: Tier,
    pub level: Level,
    /// FLOP per byte; 0 for a kernel without FLOPs.
    pub intensity: f64,
    /// TFLOP/s under this level and the compute ceiling together.
    pub roof_tflops: f64,
}

/// The question answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    pub flops: f64,
    pub peak_tflops: f64,
    pub dots: Vec<Dot>,
    pub bound: Bound,
    pub attainable_tflops: f64,
    pub floor_secs: f64,
    pub ridge: f64,
    /// What the reader says was measured, in TFLOP/s; the time behind it is in `measured_secs`.
    pub measured_tflops: f64,
    pub measured_secs: f64,
    pub utilisation: f64,
    /// The batch from 1 on in powers of two, for a product: intensity at HBM and attainable TFLOP/s.
    pub trail: Vec<(u64, f64, f64)>,
}

impl Answered {
    /// Faster than the ceilings allow, by more than clocks and counters can explain.
    pub fn is_above(&self) -> bool {
        self.utilisation > MOST_UTILISATION
    }

    pub fn dot(&self, tier: Tier) -> Option<&Dot> {
        self.dots.iter().find(|dot| dot.tier == tier)
    }

    /// Bytes at HBM.
    pub fn hbm_bytes(&self) -> f64 {
        self.dot(Tier::Hbm).map_or(0.0, |dot| dot.level.bytes)
    }
}

/// Asks both models. The error is a sentence.
pub fn ask(question: &Question) -> Result<Answered, String> {
    let at = |batch| ask_once(question, batch);
    let (traffic, roofs, found) = at(question.batch)?;
    let peak = roofs.flop_per_s;
    let tiers = [(Tier::Hbm, Some(roofs.hbm)), (Tier::L2, roofs.l2), (Tier::L1, roofs.l1)];
    let dots = tiers.into_iter().filter_map(|(tier, level)| {
        let level = level?;
        let slope = level.flop_per_s(traffic.flops)?;
        let intensity = level.intensity(traffic.flops)?;
        Some(Dot { tier, level, intensity, roof_tflops: slope.min(peak) / TERA })
    });
    let reach = question.reach_pct as f64 / 100.0;
    let measured_secs = found.floor_secs / reach;
    let trail = if question.op == Op::Gemm && !question.has_levels { trail(question)? } else { Vec::new() };
    Ok(Answered {
        flops: traffic.flops,
        peak_tflops: peak / TERA,
        dots: dots.collect(),
        bound: found.bound,
        attainable_tflops: found.attainable_flop_per_s / TERA,
        floor_secs: found.floor_secs,
        ridge: found.ridge,
        measured_tflops: traffic.flops / measured_secs / TERA,
        measured_secs,
        utilisation: roofline::utilisation(found.floor_secs, measured_secs),
        trail,
    })
}

fn ask_once(question: &Question, batch: u64) -> Result<(Traffic, roofline::Question, roofline::Answer), String> {
    let traffic = op_intensity::run(&question.kernel(batch));
    let no_ceiling = || format!("{} has no {} units", question.device, question.precision.label());
    let peak = question.unit_ceiling(question.roof).ok_or_else(no_ceiling)?.0 * question.compute_x;
    let level = |tier: Tier, bytes: f64, factor: f64| {
        let ceiling = question.tier_ceiling(tier, question.roof)?;
        Some(Level { bytes, bytes_per_s: ceiling.0 * GIGA * factor })
    };
    let near = |tier, bytes| if question.has_levels { level(tier, bytes, 1.0) } else { None };
    let roofs = roofline::Question {
        flops: traffic.flops,
        flop_per_s: peak * TERA,
        hbm: level(Tier::Hbm, traffic.hbm_bytes, question.hbm_x).ok_or_else(no_ceiling)?,
        l2: near(Tier::L2, traffic.l2_bytes),
        l1: near(Tier::L1, traffic.l1_bytes),
        floor_secs: 0.0,
    };
    let found = roofline::run(&roofs).ok_or_else(no_ceiling)?;
    Ok((traffic, roofs, found))
}

fn trail(question: &Question) -> Result<Vec<(u64, f64, f64)>, String> {
    let batches = std::iter::successors(Some(1_u64), |batch| Some(batch * 2)).take_while(|batch| *batch <= MAX_BATCH);
    batches
        .map(|batch| {
            let (traffic, roofs, found) = ask_once(question, batch)?;
            let intensity = roofs.hbm.intensity(traffic.flops).unwrap_or_default();
            Ok((batch, intensity, found.attainable_flop_per_s / TERA))
        })
        .collect()
}

/// What could be changed about a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Fuse,
    Tile,
    Narrow,
    Batch,
}

impl Change {
    pub const ALL: [Self; 4] = [Self::Fuse, Self::Tile, Self::Narrow, Self::Batch];
}

/// A change and its effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    pub change: Change,
    /// The question after the change.
    pub after: Question,
    /// Bytes at HBM and L2, and the shortest time, after ÷ before. Of a batch: for each row of it.
    pub hbm_bytes: f64,
    pub l2_bytes: f64,
    pub secs: f64,
    pub bound: Bound,
}

/// Every change that this kernel allows, with its effect.
pub fn effects(question: &Question) -> Vec<Effect> {
    Change::ALL.into_iter().filter_map(|change| effect(question, change)).collect()
}

fn effect(question: &Question, change: Change) -> Option<Effect> {
    let (before, after) = changed(question, change)?;
    let (old, new) = (ask_once(&before, before.batch).ok()?, ask_once(&after, after.batch).ok()?);
    let rows = before.batch as f64 / after.batch as f64;
    Some(Effect {
        change,
        hbm_bytes: rows * new.0.hbm_bytes / old.0.hbm_bytes,
        l2_bytes: rows * new.0.l2_bytes / old.0.l2_bytes,
        secs: rows * new.2.floor_secs / old.2.floor_secs,
        bound: new.2.bound,
        after,
    })
}

/// The question before and after a change; `None` where the kernel does not allow it.
fn changed(question: &Question, change: Change) -> Option<(Question, Question)> {
    let (mut before, mut after) = (question.clone(), question.clone());
    match change {
        Change::Fuse => {
            // With nothing to fuse yet, the question is what one more step costs: in the kernel, or as its own.
            if question.extra_steps == 0 {
                before.extra_steps = 1;
                after.extra_steps = 1;
            } else if question.is_fused {
                return None;
            }
            before.is_fused = false;
            after.is_fused = true;
        }
        Change::Tile => {
            let is_tiled = matches!(question.op, Op::Gemm | Op::Stencil5);
            after.tile = *TILES.iter().find(|tile| is_tiled && question.has_levels && **tile > question.tile)?;
        }
        Change::Narrow => {
            after.precision = question.precision.narrower()?;
            after.unit_ceiling(after.roof)?;
        }
        Change::Batch => {
            after.batch = question.batch * 2;
            if question.op != Op::Gemm || after.batch > MAX_BATCH {
                return None;
            }
        }
    }
    Some((before, after))
}

/// The roofs of a set as they are drawn: TFLOP/s of the compute ceiling, GB/s of each level.
pub fn plain_roof(question: &Question, roof: Roof) -> Option<(f64, f64)> {
    Some((question.unit_ceiling(roof)?.0, question.tier_ceiling(Tier::Hbm, roof)?.0))
}

/// A slope in TFLOP per second and FLOP per byte: what one GB/s gives.
pub fn tflops_at(intensity: f64, gb_per_s: f64) -> f64 {
    intensity * gb_per_s / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::question::Precision;
    use super::*;
    use vramlab_units::{Args, Map};

    fn question(change: impl FnOnce(&mut Question)) -> Question {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        change(&mut question);
        question
    }

    fn layer(batch: u64) -> Question {
        question(|q| (q.op, q.precision, q.batch) = (Op::Gemm, Precision::Bf16, batch))
    }

    /// Vectors 1 and 4 of the brief, on the published roof of the H200.
    #[test]
    fn the_dots_stand_where_the_brief_says() {
        let saxpy = ask(&question(|_| {})).unwrap();
        assert!((saxpy.attainable_tflops - 0.8).abs() < 1e-9 && saxpy.bound == Bound::Hbm);
        let one = ask(&layer(1)).unwrap();
        assert!((one.dots[0].intensity - 0.999_512).abs() < 1e-6);
        assert!((one.floor_secs * 1e6 - 6.993_92).abs() < 1e-4);
        let many = ask(&layer(256)).unwrap();
        assert_eq!(many.bound, Bound::Compute);
        assert!(ask(&layer(229)).unwrap().bound == Bound::Hbm && ask(&layer(230)).unwrap().bound == Bound::Compute);
    }

    #[test]
    fn the_trail_climbs_and_then_levels() {
        let trail = ask(&layer(1)).unwrap().trail;
        assert_eq!(trail.len(), 11);
        assert!(trail.windows(2).all(|pair| pair[1].1 > pair[0].1 && pair[1].2 >= pair[0].2));
        assert!((trail[10].2 - 989.4).abs() < 1e-9);
    }

    /// Half the bytes, half the time while HBM binds; on the compute ceiling a narrower type helps by its faster units.
    #[test]
    fn changes_help_where_they_bind() {
        let secs = |question: &Question, change| effect(question, change).map(|effect| effect.secs);
        let saxpy = question(|_| {});
        assert!((secs(&saxpy, Change::Narrow).unwrap() - 0.5).abs() < 1e-9);
        assert!((secs(&saxpy, Change::Fuse).unwrap() - 0.6).abs() < 1e-9, "12 bytes instead of 20");
        assert_eq!(secs(&saxpy, Change::Batch), None);
        let compute = layer(1024);
        assert!((secs(&compute, Change::Narrow).unwrap() - 0.5).abs() < 1e-3);
        let decode = layer(1);
        assert!((secs(&decode, Change::Batch).unwrap() - 0.5).abs() < 1e-3, "per row of the batch");
    }

    #[test]
    fn small_tiles_make_l2_bind() {
        let tiled = |tile| ask(&Question { has_levels: true, tile, ..layer(1024) }).unwrap().bound;
        assert_eq!((tiled(16), tiled(256)), (Bound::L2, Bound::Compute));
    }

    #[test]
    fn a_copy_has_no_flops_and_no_division() {
        let copy = ask(&question(|q| q.op = Op::Copy)).unwrap();
        assert_eq!((copy.attainable_tflops, copy.bound, copy.dots[0].intensity), (0.0, Bound::Hbm, 0.0));
    }

    #[test]
    fn above_the_roof_is_known_as_such() {
        let at = |reach_pct| ask(&question(|q| q.reach_pct = reach_pct)).unwrap().is_above();
        assert_eq!((at(100), at(101), at(103), at(110)), (false, false, true, true));
    }
}
