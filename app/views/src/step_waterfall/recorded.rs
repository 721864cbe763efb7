//! The recorded run of all 32 combinations, and the model's answers for the same card.

use vramlab_model::capstone_step::{FIXES, Machine, PARTS, step};
use vramlab_trace::run::median;
use vramlab_trace::{Point, Run, file};
use vramlab_units::Value;

pub const PATH: &str = "assets/traces/h200/capstone.all.vltrace";
/// Combinations of five fixes.
pub const N: usize = 1 << FIXES.len();
/// The batch and the card when there is no recording: an H200 as its driver tells of itself.
const N_ELEMS: f64 = 33_554_432.0;
const H200: [f64; 3] = [4814.3, 132.0, 1980.0];

/// A step in milliseconds: whole, and by [`PARTS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub whole: f64,
    pub parts: [f64; 5],
    pub peak_mib: f64,
}

/// Predicted and measured steps by the bits of what is mended.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    pub predicted: Vec<Bar>,
    pub measured: Vec<Option<Bar>>,
    /// Device, what ran on it, date.
    pub device: Option<[String; 3]>,
    pub rows: f64,
}

impl Steps {
    /// The model alone.
    pub fn predicted_only() -> Self {
        let machine = Machine::of_card(H200[0], H200[1], H200[2]);
        Self { predicted: predictions(N_ELEMS, &machine), measured: vec![None; N], device: None, rows: N_ELEMS / 64.0 }
    }

    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let run = file::read(bytes).map_err(|error| error.to_string())?.run;
        let fact = |value: Option<f64>, default: f64| value.unwrap_or(default);
        let [peak, sms, clock] = H200;
        let device = &run.device;
        let machine = Machine::of_card(
            fact(device.peak_gb_per_s, peak),
            fact(device.sm_count, sms),
            fact(device.sm_clock_mhz, clock),
        );
        let n_elems = run.points.first().and_then(|point| number(point, "n_elems")).unwrap_or(N_ELEMS);
        let mut measured = vec![None; N];
        for point in &run.points {
            let bits = number(point, "fixes").map_or(N, |bits| bits as usize);
            if let Some(slot) = measured.get_mut(bits) {
                *slot = bar(point);
            }
        }
        let predicted = predictions(n_elems, &machine);
        Ok(Self { predicted, measured, device: Some(told(&run)), rows: n_elems / 64.0 })
    }

    pub fn is_measured(&self) -> bool {
        self.measured.iter().any(Option::is_some)
    }

    /// The measured step where there is one, else the model's.
    pub fn best(&self, bits: u32) -> Bar {
        let at = bits as usize % N;
        self.measured[at].unwrap_or(self.predicted[at])
    }
}

fn told(run: &Run) -> [String; 3] {
    let date = run.date.get(..10).unwrap_or(&run.date).to_owned();
    [run.device.name.clone(), run.device.driver.clone(), date]
}

fn number(point: &Point, key: &str) -> Option<f64> {
    point.params.get(key).and_then(Value::as_f64)
}

/// Nothing for a point whose result was not right: its time is not shown.
fn bar(point: &Point) -> Option<Bar> {
    if point.invalid.is_some() {
        return None;
    }
    let reading = |name: &str| point.readings.get(name).and_then(|samples| median(samples));
    let mut parts = [0.0; 5];
    for (slot, name) in parts.iter_mut().zip(PARTS) {
        *slot = reading(name)?;
    }
    Some(Bar { whole: point.median_ns()? / 1e6, parts, peak_mib: reading("peak_mib")? })
}

fn predictions(n_elems: f64, machine: &Machine) -> Vec<Bar> {
    let one = |bits: u32| {
        let found = step(n_elems, bits, machine);
        Bar { whole: found.step_ms(), parts: found.parts_ms, peak_mib: found.peak_bytes / 1_048_576.0 }
    };
    (0..N as u32).map(one).collect()
}
