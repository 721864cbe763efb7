//! `assets/hardware.toml`: what is published or known of the devices of the course, each number with its source. For
//! planning without a device, for comparisons with a data sheet, and for texts; a live device's own facts always win.

use serde::Deserialize;
use std::collections::BTreeMap;
use vramlab_trace::DeviceFacts;

/// Share of a card's memory that is free when nothing else runs: an assumption of the plans made without a device.
pub const FREE_SHARE: f64 = 0.9;

/// The whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    pub devices: Vec<Profile>,
    pub sources: BTreeMap<String, Source>,
}

/// One device.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub id: String,
    /// As the driver names it.
    pub name: String,
    /// Kind of the memory chips, as their standard is called: `HBM3e`, `GDDR6`.
    pub memory: Option<String>,
    /// Bandwidth as the vendor prints it, which need not be what bus and clock give.
    pub published_gb_per_s: Option<Fact>,
    /// By the names of [`DeviceFacts`].
    pub facts: BTreeMap<String, Fact>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub value: f64,
    /// Id in [`Hardware::sources`].
    pub source: String,
    /// A second source says otherwise, or the vendor's own words were not seen.
    pub is_doubtful: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub text: String,
    #[serde(default)]
    pub url: Option<String>,
    /// When it was written or last read.
    pub date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    source: BTreeMap<String, Source>,
    device: Vec<Device>,
}

#[derive(Deserialize)]
struct Device {
    id: String,
    name: String,
    #[serde(default)]
    memory: Option<(String, String)>,
    #[serde(default)]
    published_gb_per_s: Option<Entry>,
    #[serde(flatten)]
    facts: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Plain(f64, String),
    Marked(f64, String, String),
}

impl Hardware {
    /// Reads the file's text. Errors are sentences for whoever edits it.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        if file.schema != 1 {
            return Err(format!("schema {} is not 1", file.schema));
        }
        let devices = file.device.into_iter().map(|device| profile(device, &file.source)).collect::<Result<_, _>>()?;
        Ok(Self { devices, sources: file.source })
    }

    pub fn get(&self, id: &str) -> Option<&Profile> {
        self.devices.iter().find(|device| device.id == id)
    }

    /// The profile of a device that the driver calls `name`, if the course knows it.
    pub fn named(&self, name: &str) -> Option<&Profile> {
        self.devices.iter().find(|device| device.name == name)
    }
}

impl Profile {
    /// As a driver would report them, with [`FREE_SHARE`] of the memory free.
    pub fn device_facts(&self) -> DeviceFacts {
        let get = |name: &str| self.facts.get(name).map(|fact| fact.value);
        DeviceFacts {
            name: self.name.clone(),
            cc: get("cc"),
            sm_count: get("sm_count"),
            sm_clock_mhz: get("sm_clock_mhz"),
            mem_clock_mhz: get("mem_clock_mhz"),
            bus_bits: get("bus_bits"),
            peak_gb_per_s: get("peak_gb_per_s"),
            l2_bytes: get("l2_bytes"),
            total_bytes: get("total_bytes"),
            free_bytes: get("total_bytes").map(|total| (total * FREE_SHARE).floor()),
            shared_per_sm_bytes: get("shared_per_sm_bytes"),
            shared_per_block_bytes: get("shared_per_block_bytes"),
            threads_per_sm: get("threads_per_sm"),
            has_kernel_timeout: get("has_kernel_timeout"),
            ..DeviceFacts::default()
        }
    }
}

fn profile(device: Device, sources: &BTreeMap<String, Source>) -> Result<Profile, String> {
    let Device { id, name, memory, published_gb_per_s, facts } = device;
    let known = |name: &str, source: &str| {
        let reason = || format!("{id}.{name}: there is no source \"{source}\"");
        sources.contains_key(source).then_some(()).ok_or_else(reason)
    };
    let fact = |name: &str, entry: Entry| {
        let (value, source, mark) = match entry {
            Entry::Plain(value, source) => (value, source, None),
            Entry::Marked(value, source, mark) => (value, source, Some(mark)),
        };
        known(name, &source)?;
        if mark.as_ref().is_some_and(|mark| mark != "doubtful") {
            return Err(format!("{id}.{name}: the only mark is \"doubtful\""));
        }
        Ok(Fact { value, source, is_doubtful: mark.is_some() })
    };
    let named = |(name, entry): (String, Entry)| {
        if !DeviceFacts::NAMES.contains(&name.as_str()) {
            return Err(format!("{id}: there is no fact \"{name}\""));
        }
        fact(&name, entry).map(|fact| (name, fact))
    };
    if let Some((_, source)) = &memory {
        known("memory", source)?;
    }
    let published_gb_per_s = published_gb_per_s.map(|entry| fact("published_gb_per_s", entry)).transpose()?;
    let facts = facts.into_iter().map(named).collect::<Result<_, _>>()?;
    Ok(Profile { name, memory: memory.map(|(kind, _)| kind), published_gb_per_s, facts, id: id.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardware() -> Hardware {
        Hardware::read(include_str!("../../../assets/hardware.toml")).unwrap()
    }

    /// Bus × double data rate ÷ 8 must give the peak that the file prints, and the published one.
    #[test]
    fn peaks_are_what_bus_and_clock_give() {
        let published = [
            ("t4", 320.0),
            ("rtx4090", 1008.0),
            ("l4", 300.0),
            ("a100_40", 1555.0),
            ("a100_80", 2039.0),
            ("h200", 4814.3),
            ("rtx5090", 1792.0),
        ];
        for device in &hardware().devices {
            let facts = device.device_facts();
            let peak = facts.peak_gb_per_s.unwrap();
            let computed = facts.bus_bits.unwrap() * facts.mem_clock_mhz.unwrap() * 2e6 / 8.0 / 1e9;
            assert!((computed / peak - 1.0).abs() < 1e-3, "{}: {computed} against {peak}", device.id);
            if let Some((_, published)) = published.iter().find(|(id, _)| *id == device.id) {
                assert!((peak / published - 1.0).abs() < 1e-3, "{}: {peak} against {published}", device.id);
            }
        }
    }

    #[test]
    fn the_eight_devices_of_the_course_are_there_with_every_fact_that_plans_use() {
        let hardware = hardware();
        for id in ["t4", "rtx3060_laptop", "rtx4090", "l4", "a100_40", "a100_80", "h200", "rtx5090", "b200"] {
            let facts = hardware.get(id).unwrap().device_facts();
            for name in ["cc", "sm_count", "l2_bytes", "free_bytes", "shared_per_block_bytes", "has_kernel_timeout"] {
                assert!(facts.get(name).is_some(), "{id}: {name}");
            }
        }
        assert_eq!(hardware.named("NVIDIA H200").unwrap().id, "h200");
    }

    /// What a vendor prints lies within 5 % of what bus and clock give, except where the file calls a number doubtful.
    #[test]
    fn published_bandwidths_are_near_the_computed_ones() {
        for device in &hardware().devices {
            assert!(device.memory.as_ref().is_some_and(|kind| kind.starts_with("HBM") || kind.starts_with("GDDR")));
            let published = device.published_gb_per_s.as_ref().unwrap();
            let computed = device.facts["peak_gb_per_s"].value;
            let is_near = (published.value / computed - 1.0).abs() < 0.05;
            assert!(is_near || published.is_doubtful, "{}: {} against {computed}", device.id, published.value);
        }
    }

    #[test]
    fn a_number_without_its_source_is_refused() {
        let text =
            "schema = 1\n[source.a]\ntext = \"x\"\ndate = \"2026-11-30\"\n[[device]]\nid = \"x\"\nname = \"X\"\n";
        assert!(Hardware::read(&format!("{text}cc = [75, \"b\"]")).unwrap_err().contains("no source \"b\""));
        assert!(Hardware::read(&format!("{text}memory = [\"HBM3\", \"b\"]")).unwrap_err().contains("x.memory"));
        assert!(Hardware::read(&format!("{text}cc = 75")).is_err());
        assert!(Hardware::read(&format!("{text}colour = [1, \"a\"]")).unwrap_err().contains("colour"));
    }
}
