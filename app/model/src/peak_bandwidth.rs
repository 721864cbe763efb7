//! Peak bandwidth of a memory from its bus and its clock.
//!
//! Question: bus width, and either the rate of one pin or the memory clock. Answer: GB/s.
//! Assumption: two transfers a clock (double data rate), which is how NVML and the data sheets state memory clocks of
//! HBM and GDDR; refresh and error correction are left out, so a kernel reaches 90 to 97 % of it.
//! Source: CUDA C++ Best Practices Guide, "Theoretical Bandwidth Calculation".
//! Errors: none or both of `gbit_per_pin` and `mem_clock_mhz`; fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, GbPerSec, Map, Ratio, Text, Value};

/// Transfers in one clock of a double-data-rate memory.
pub const TRANSFERS_PER_CLOCK: f64 = 2.0;

pub fn gbit_per_pin_from_clock(mem_clock_mhz: f64) -> f64 {
    mem_clock_mhz * TRANSFERS_PER_CLOCK / 1000.0
}

pub fn run(bus_bits: u64, gbit_per_pin: f64) -> GbPerSec {
    GbPerSec(gbit_per_pin * bus_bits as f64 / 8.0)
}

/// The rate that each of `bus_bits` pins must have for `peak`.
pub fn gbit_per_pin_for(bus_bits: u64, peak: GbPerSec) -> f64 {
    peak.0 * 8.0 / bus_bits as f64
}

/// Data pins of one HBM stack, up to and including HBM3e.
/// Source: JEDEC JESD235 and JESD238 (HBM, HBM3); HBM4 doubles it.
pub const HBM_STACK_BITS: u64 = 1024;
/// Data pins of one GDDR chip.
/// Source: JEDEC JESD250 (GDDR6), JESD239 (GDDR7).
pub const GDDR_CHIP_BITS: u64 = 32;

/// The pins of each stack or chip behind a bus: as many full ones as fit, and what is left over.
pub fn parts(bus_bits: u64, bits_of_one: u64) -> Vec<u64> {
    let n_full = (bus_bits / bits_of_one) as usize;
    let rest = bus_bits % bits_of_one;
    std::iter::repeat_n(bits_of_one, n_full).chain((rest > 0).then_some(rest)).collect()
}

/// The computed peak against the one that a vendor prints.
pub fn of_published(peak: GbPerSec, published_gb_per_s: f64) -> Ratio {
    Ratio(peak.0 / published_gb_per_s)
}

pub struct PeakBandwidth;

impl Model for PeakBandwidth {
    const ID: &'static str = "peak_bandwidth";
    const TITLE: Text = Text::new("显存峰值带宽", "Peak memory bandwidth");
    const ASSUMES: Text = Text::new(
        "每个时钟周期传两次数据（DDR）；不扣刷新和纠错的开销，实测通常是它的 90–97 %。",
        "Two transfers a clock (double data rate); refresh and error correction are left out: kernels measure 90 to 97 \
         % of it.",
    );
    const SOURCE: &'static str = "CUDA C++ Best Practices Guide, \"Theoretical Bandwidth Calculation\"";
    const EXAMPLE: &'static str = r#"{"bus_bits": 6016, "mem_clock_mhz": 3201}"#;

    fn question() -> Vec<FieldSpec> {
        let pin = Text::new(
            "每根数据线的速率；与 mem_clock_mhz 二选一",
            "Rate of one data pin; either this or mem_clock_mhz",
        );
        let clock = Text::new(
            "NVML 报告的显存时钟；与 gbit_per_pin 二选一",
            "Memory clock as NVML reports it; either this or gbit_per_pin",
        );
        let published = Text::new("厂商公布的带宽，用来比较", "Bandwidth that the vendor prints, to compare with");
        vec![
            FieldSpec::int("bus_bits", "bit", 1, 65_536, Text::new("显存总线位宽", "Width of the memory bus")),
            FieldSpec::num("gbit_per_pin", "Gb/s", 0.01, 100.0, pin).optional(),
            FieldSpec::num("mem_clock_mhz", "MHz", 1.0, 50_000.0, clock).optional(),
            FieldSpec::num("published_gb_per_s", "GB/s", 0.1, 1.0e6, published).optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num(
                "gb_per_s",
                "GB/s",
                0.0,
                1.0e6,
                Text::new("峰值带宽，10⁹ 字节每秒", "Peak bandwidth, 10⁹ bytes per second"),
            ),
            FieldSpec::num("gbit_per_pin", "Gb/s", 0.0, 100.0, Text::new("每根数据线的速率", "Rate of one data pin")),
            FieldSpec::num("of_published", "%", 0.0, 1.0e7, Text::new("算出的占公布的多少", "Computed over published"))
                .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let gbit_per_pin = match (args.has("gbit_per_pin"), args.has("mem_clock_mhz")) {
            (true, false) => args.num("gbit_per_pin"),
            (false, true) => gbit_per_pin_from_clock(args.num("mem_clock_mhz")),
            (true, true) => {
                let reason = "give either gbit_per_pin or mem_clock_mhz, not both";
                return Err(FieldError::conflict("mem_clock_mhz", reason));
            }
            (false, false) => {
                let legal = "a number from 0.01 to 100, unless mem_clock_mhz is given".to_owned();
                return Err(FieldError::Missing { field: "gbit_per_pin".to_owned(), legal });
            }
        };
        let peak = run(args.uint("bus_bits"), gbit_per_pin);
        let published = args.has("published_gb_per_s").then(|| args.num("published_gb_per_s"));
        let ratio = published.map(|published| fields::number(of_published(peak, published).0));
        Ok(fields::answer([
            ("gb_per_s", fields::number(peak.0)),
            ("gbit_per_pin", fields::number(gbit_per_pin)),
            ("of_published", ratio.unwrap_or(Value::Null)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: Value, gb_per_s: f64, within: f64) {
        let answer = eval("peak_bandwidth", &question(&given)).unwrap();
        let found = answer["gb_per_s"].as_f64().unwrap();
        assert!((found - gb_per_s).abs() <= within, "{found} for {given}");
    }

    /// Public row 42: A100-40GB, 1215 MHz × 2 × 5120 bit = 1555 GB/s; RTX 4090, 21 Gb/s × 384 bit = 1008 GB/s. H200:
    /// 3201 MHz × 2 × 6016 bit from NVML = 4814 GB/s, data sheet 4.8 TB/s.
    #[test]
    fn cards_have_the_bandwidth_of_their_data_sheets() {
        check(json!({"bus_bits": 5120, "mem_clock_mhz": 1215}), 1555.0, 0.5);
        check(json!({"bus_bits": 384, "gbit_per_pin": 21}), 1008.0, 0.0);
        check(json!({"bus_bits": 6016, "mem_clock_mhz": 3201}), 4814.3, 0.05);
    }

    /// Brief 01, vectors 1 and 2.
    #[test]
    fn peaks_follow_from_pins_or_clocks() {
        check(json!({"bus_bits": 5120, "gbit_per_pin": 2.43}), 1555.2, 1e-6);
        check(json!({"bus_bits": 512, "gbit_per_pin": 28}), 1792.0, 1e-6);
        check(json!({"bus_bits": 6144, "mem_clock_mhz": 3201}), 4916.736, 1e-6);
        check(json!({"bus_bits": 7680, "mem_clock_mhz": 3996}), 7672.32, 1e-6);
        let given = json!({"bus_bits": 6144, "mem_clock_mhz": 3201, "published_gb_per_s": 4800});
        let answer = eval("peak_bandwidth", &question(&given)).unwrap();
        assert!((answer["of_published"].as_f64().unwrap() - 1.02432).abs() < 1e-9);
    }

    /// Brief 01, geometry: 5120 bit are five stacks, 384 bit are twelve chips; the H200's driver reports less than six.
    #[test]
    fn a_bus_is_made_of_stacks_or_chips() {
        assert_eq!(parts(5120, HBM_STACK_BITS), [1024; 5]);
        assert_eq!(parts(384, GDDR_CHIP_BITS), [32; 12]);
        assert_eq!(parts(6016, HBM_STACK_BITS), [1024, 1024, 1024, 1024, 1024, 896]);
    }

    /// Brief 01, vector 7.
    #[test]
    fn a_bus_of_no_bits_is_refused_by_name() {
        let given = json!({"bus_bits": 0, "gbit_per_pin": 21});
        let error = eval("peak_bandwidth", &question(&given)).unwrap_err();
        assert_eq!(error.to_string(), "bus_bits = 0 is not allowed; it must be an integer from 1 to 65536");
    }

    #[test]
    fn one_of_rate_and_clock_is_needed() {
        let missing = eval("peak_bandwidth", &question(&json!({"bus_bits": 384}))).unwrap_err();
        assert_eq!(missing.field(), "gbit_per_pin");
        let both = json!({"bus_bits": 384, "gbit_per_pin": 21, "mem_clock_mhz": 10_500});
        assert_eq!(eval("peak_bandwidth", &question(&both)).unwrap_err().field(), "mem_clock_mhz");
    }
}
