//! The model's lower bound: no launch is faster than its bytes over the peak of the main memory.

use super::JudgedPoint;
use crate::manifest::Kernel;

/// The least time of one launch in nanoseconds. Nothing where the kernel is not bound by main memory (its manifest then
/// estimates the time itself), or where the device does not tell its peak.
pub fn floor_ns(point: &JudgedPoint, kernel: &Kernel) -> Option<f64> {
    if kernel.work.get("est_ns").is_some() {
        return None;
    }
    let get = |name: &str| point.vars.get(name).copied();
    // One byte per nanosecond is exactly 1 GB/s.
    Some(get("work.bytes_moved")? / get("device.peak_gb_per_s")?).filter(|floor| floor.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::*;
    use crate::testing::{experiment, kernel, run};

    /// 4 GiB of words at 1000 GB/s: 4.295 ms, and the launches take 1.25 times that.
    #[test]
    fn bytes_over_the_peak() {
        let run = run(|_| 1.25);
        let judged = judge(&run, &experiment(), &kernel());
        let floor = floor_ns(&judged.points[0], &kernel()).unwrap();
        assert!((floor - 4_294_967.296).abs() < 1e-6, "{floor}");
        assert!((run.points[0].median_ns().unwrap() / floor - 1.25).abs() < 1e-12);
    }

    #[test]
    fn without_a_peak_or_beside_main_memory_there_is_none() {
        let mut run = run(|_| 1.25);
        let judged = judge(&run, &experiment(), &kernel());
        let mut on_chip = kernel();
        on_chip.work.0.push(("est_ns".into(), "1000".into()));
        assert_eq!(floor_ns(&judged.points[0], &on_chip), None);
        run.device.peak_gb_per_s = None;
        assert_eq!(floor_ns(&judge(&run, &experiment(), &kernel()).points[0], &kernel()), None);
    }
}
