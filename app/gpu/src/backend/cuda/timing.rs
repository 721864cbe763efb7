//! How a launch is timed: warmed up by time until the clock settles, events queued behind a kernel that spins, launches
//! batched when one is too short, one duration a sample.

use super::driver::{Device, Event};
use super::nvml::Sensors;
use super::tools::Tools;
use crate::backend::PointCx;
use crate::error::RunError;
use std::time::{Duration, Instant};

/// The spin in front of a sample, without the time to queue a batch.
const SPIN_US: f64 = 40.0;
/// Time on the host to queue one launch, generously.
const QUEUE_US: f64 = 6.0;
/// Launches shorter than this are timed in batches that last at least [`BATCH_NS`].
pub const SHORT_NS: f64 = 50_000.0;
const BATCH_NS: f64 = 200_000.0;
const MAX_BATCH: u32 = 128;
/// An idle clock is far below the working one; warming lasts until two readings this far apart agree.
const SETTLE_STEP: Duration = Duration::from_millis(12);
const SETTLE_LEAST: Duration = Duration::from_millis(25);
const SETTLE_MOST: Duration = Duration::from_millis(600);

/// One kernel with its arguments, ready to be launched again and again.
pub type Launch<'a> = dyn Fn() -> Result<(), RunError> + 'a;

/// The clock of a point: two events and the spin.
pub struct Timer<'a> {
    device: &'a Device,
    tools: &'a Tools,
    sensors: &'a Sensors,
    sm_clock_mhz: f64,
    from: Event,
    to: Event,
    kernel: &'a str,
    /// Kernels that one launch of the closure queues.
    n_kernels: f64,
}

impl<'a> Timer<'a> {
    pub fn new(
        device: &'a Device,
        tools: &'a Tools,
        sensors: &'a Sensors,
        sm_clock_mhz: f64,
        kernel: &'a str,
    ) -> Result<Self, RunError> {
        Ok(Self {
            device,
            tools,
            sensors,
            sm_clock_mhz,
            from: Event::new()?,
            to: Event::new()?,
            kernel,
            n_kernels: 1.0,
        })
    }

    /// The same for launches that queue so many kernels each: the spin in front of a sample covers all of their calls.
    pub fn of_kernels(self, n: usize) -> Self {
        Self { n_kernels: n.max(1) as f64, ..self }
    }

    /// Runs the launch until the SM clock stands still; gives the time of one launch then, in nanoseconds, and the
    /// clock. Near the clock of the last point, `settled_mhz`, a short warm-up is enough.
    pub fn warm_up(
        &self,
        launch: &Launch<'_>,
        settled_mhz: Option<f64>,
        cx: &PointCx,
    ) -> Result<(f64, Option<f64>), RunError> {
        launch()?;
        self.device.synchronize(self.kernel)?;
        let mut one_ns = self.sample(launch, 1)?;
        let start = Instant::now();
        let mut last_mhz = settled_mhz;
        loop {
            self.run_for(launch, one_ns, SETTLE_STEP, cx)?;
            let now_mhz = self.sensors.sm_clock_mhz();
            let is_still = match (last_mhz, now_mhz) {
                (Some(last), Some(now)) => (now / last - 1.0).abs() <= 0.01,
                // Without a clock to read, the longest ramp that was seen has to pass once.
                _ => start.elapsed() > if settled_mhz.is_some() { SETTLE_LEAST } else { SETTLE_MOST / 3 },
            };
            let is_enough = settled_mhz.is_some() || start.elapsed() >= SETTLE_LEAST;
            if (is_still && is_enough) || start.elapsed() >= SETTLE_MOST {
                return Ok((self.sample(launch, 1)?, now_mhz));
            }
            last_mhz = now_mhz;
            one_ns = self.sample(launch, 1)?;
        }
    }

    fn run_for(&self, launch: &Launch<'_>, one_ns: f64, time: Duration, cx: &PointCx) -> Result<(), RunError> {
        let start = Instant::now();
        let n = (time.as_nanos() as f64 / one_ns.max(1_000.0)).clamp(1.0, 512.0) as u32;
        while start.elapsed() < time {
            cx.check()?;
            for _ in 0..n {
                launch()?;
            }
            self.device.synchronize(self.kernel)?;
        }
        Ok(())
    }

    /// How many launches one sample holds.
    pub fn batch(one_ns: f64) -> u32 {
        if one_ns >= SHORT_NS { 1 } else { (BATCH_NS / one_ns.max(1.0)).ceil().clamp(1.0, f64::from(MAX_BATCH)) as u32 }
    }

    /// Nanoseconds of one launch, from `batch` launches between two events behind a spin.
    pub fn sample(&self, launch: &Launch<'_>, batch: u32) -> Result<f64, RunError> {
        let spin_us = SPIN_US + QUEUE_US * f64::from(batch) * self.n_kernels;
        self.tools.spin((spin_us * self.sm_clock_mhz) as u64)?;
        self.from.record()?;
        for _ in 0..batch {
            launch()?;
        }
        self.to.record()?;
        self.to.wait(self.kernel)?;
        Ok(self.device.elapsed_ms(&self.from, &self.to, self.kernel)? * 1e6 / f64::from(batch))
    }

    /// The sensors' words while the launch keeps the device busy for a few milliseconds.
    pub fn telemetry(&self, launch: &Launch<'_>, one_ns: f64) -> Result<vramlab_trace::Telemetry, RunError> {
        let n = (4e6 / one_ns.max(1_000.0)).ceil().clamp(1.0, 512.0) as u32;
        for _ in 0..n {
            launch()?;
        }
        let words = self.sensors.read();
        self.device.synchronize(self.kernel)?;
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch of 50 µs or more stands alone; shorter ones fill 200 µs together, within a bounded queue.
    #[test]
    fn short_launches_are_batched() {
        assert_eq!(Timer::batch(50_000.0), 1);
        assert_eq!(Timer::batch(49_999.0), 5);
        assert_eq!(Timer::batch(10_000.0), 20);
        assert_eq!(Timer::batch(1_300.0), MAX_BATCH);
        assert_eq!(Timer::batch(0.0), MAX_BATCH);
    }
}
