//! The ceilings of `assets/ceilings.toml`: what is published and what was measured, each number with its source.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const SOURCE: &str = include_str!("../../../../assets/ceilings.toml");

/// The file, read once.
pub static CEILINGS: LazyLock<Ceilings> =
    LazyLock::new(|| Ceilings::read(SOURCE).expect("assets/ceilings.toml is held by the tests of this file"));

#[derive(Debug)]
pub struct Ceilings {
    pub devices: Vec<Device>,
    sources: BTreeMap<String, Source>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    pub id: String,
    pub name: String,
    pub published: Set,
    pub measured: Option<Set>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    text: String,
    #[serde(rename = "url")]
    _url: Option<String>,
    date: String,
}

/// A number and the id of its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Ceiling(pub f64, String);

/// TFLOP/s by precision and GB/s by level, where they are known.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    pub fp64: Option<Ceiling>,
    pub fp32: Option<Ceiling>,
    pub tf32: Option<Ceiling>,
    pub bf16: Option<Ceiling>,
    pub fp8: Option<Ceiling>,
    pub hbm: Option<Ceiling>,
    pub l2: Option<Ceiling>,
    pub l1: Option<Ceiling>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    source: BTreeMap<String, Source>,
    device: Vec<Device>,
}

impl Set {
    fn all(&self) -> impl Iterator<Item = &Ceiling> {
        let Self { fp64, fp32, tf32, bf16, fp8, hbm, l2, l1 } = self;
        [fp64, fp32, tf32, bf16, fp8, hbm, l2, l1].into_iter().flatten()
    }
}

impl Ceilings {
    /// Errors are sentences for whoever edits the file.
    fn read(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        if file.schema != 1 {
            return Err(format!("schema {} is not 1", file.schema));
        }
        for device in &file.device {
            for ceiling in device.published.all().chain(device.measured.iter().flat_map(Set::all)) {
                if !(ceiling.0.is_finite() && ceiling.0 > 0.0) {
                    return Err(format!("{}: {} is no ceiling", device.id, ceiling.0));
                }
                if !file.source.contains_key(&ceiling.1) {
                    return Err(format!("{}: there is no source \"{}\"", device.id, ceiling.1));
                }
            }
        }
        Ok(Self { devices: file.device, sources: file.source })
    }

    pub fn device(&self, id: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.id == id)
    }

    /// Where a number comes from, with its date.
    pub fn source_of(&self, ceiling: &Ceiling) -> String {
        self.sources.get(&ceiling.1).map(|source| format!("{} ({})", source.text, source.date)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_reads_and_every_number_has_a_source() {
        let ceilings = Ceilings::read(SOURCE).unwrap();
        let h200 = ceilings.device("h200").unwrap();
        for ceiling in h200.published.all().chain(h200.measured.as_ref().unwrap().all()) {
            assert!(ceilings.source_of(ceiling).contains("2026"), "{ceiling:?}");
        }
    }

    /// No measured ceiling of the file lies above its published one, and the sparse peaks are not among them.
    #[test]
    fn measured_stays_below_published() {
        let h200 = CEILINGS.device("h200").unwrap();
        let measured = h200.measured.as_ref().unwrap();
        let pairs = [
            (&measured.fp64, &h200.published.fp64),
            (&measured.fp32, &h200.published.fp32),
            (&measured.bf16, &h200.published.bf16),
            (&measured.hbm, &h200.published.hbm),
            (&measured.l1, &h200.published.l1),
        ];
        for (measured, published) in pairs {
            assert!(measured.as_ref().unwrap().0 < published.as_ref().unwrap().0, "{measured:?} {published:?}");
        }
        for device in &CEILINGS.devices {
            assert!(device.published.bf16.as_ref().unwrap().0 < 1000.0, "{}: sparse?", device.id);
        }
    }

    /// The public row for the A100's chip: 108 SMs × 1024 BF16 multiply-adds × 2 × 1410 MHz = 311.9 TFLOP/s.
    #[test]
    fn peaks_are_lanes_times_clock() {
        let peak = |n_sms: f64, fma: f64, mhz: f64| n_sms * fma * 2.0 * mhz / 1e6;
        let near =
            |ceiling: &Option<Ceiling>, expected: f64| (ceiling.as_ref().unwrap().0 / expected - 1.0).abs() < 0.01;
        let (a100, h200) = (CEILINGS.device("a100_80").unwrap(), CEILINGS.device("h200").unwrap());
        assert!(near(&a100.published.bf16, peak(108.0, 1024.0, 1410.0)));
        assert!(near(&a100.published.fp32, peak(108.0, 64.0, 1410.0)));
        assert!(near(&h200.published.fp32, peak(132.0, 128.0, 1980.0)));
    }

    #[test]
    fn a_number_without_a_source_is_refused() {
        let text = "schema = 1\n[source.a]\ntext = \"t\"\ndate = \"d\"\n[[device]]\nid = \"x\"\nname = \"X\"\n\
                    [device.published]\nhbm = [1, \"b\"]\n";
        assert!(Ceilings::read(text).unwrap_err().contains("\"b\""));
    }
}
