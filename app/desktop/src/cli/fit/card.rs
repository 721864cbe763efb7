//! The card that is asked about: one of the course, a size, or the one in this machine.

use crate::cli::Exit;
use crate::cli::fault::Fault;
use crate::cli::say::Say;
use nvml_wrapper::Nvml;
use vramlab_fit::Card;
use vramlab_gpu::hardware::{Hardware, Profile};
use vramlab_units::Lang;

const HARDWARE: &str = include_str!("../../../../../assets/hardware.toml");
const CEILINGS: &str = include_str!("../../../../../assets/ceilings.toml");

fn hardware() -> Result<Hardware, Fault> {
    Hardware::read(HARDWARE).map_err(|why| Fault::new(Exit::Findings, format!("assets/hardware.toml: {why}")))
}

pub fn find(text: &str, say: &Say) -> Result<Card, Fault> {
    let hardware = hardware()?;
    if text == "here" {
        return here(&hardware, say);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let total_bytes = crate::cli::args::bytes(text).map_err(|why| Fault::usage(format!("--gpu: {why}")))?;
        let source = match say.lang {
            Lang::Zh => "命令行给的大小",
            Lang::En => "the size given on the command line",
        };
        let name = vramlab_units::show::bytes_binary(vramlab_units::Bytes(total_bytes));
        return Ok(Card { name, total_bytes, source: source.to_owned(), gb_per_s: None, bf16_tflop_per_s: None });
    }
    let id = text.to_ascii_lowercase().replace(['-', ' '], "_");
    // `a100` is the larger of the two, `4090` an RTX.
    let found = hardware.get(&id).or_else(|| hardware.devices.iter().rev().find(|device| device.id.contains(&id)));
    let profile =
        found.ok_or_else(|| Fault::unknown("GPU", text, hardware.devices.iter().map(|device| device.id.as_str())))?;
    known(profile, &hardware)
}

fn known(profile: &Profile, hardware: &Hardware) -> Result<Card, Fault> {
    let total = profile.facts.get("total_bytes").ok_or_else(|| {
        Fault::new(Exit::Findings, format!("assets/hardware.toml has no total_bytes of {}", profile.id))
    })?;
    let source = hardware.sources.get(&total.source).map_or_else(String::new, |source| source.text.clone());
    Ok(Card {
        name: profile.name.clone(),
        total_bytes: total.value as u64,
        source,
        gb_per_s: profile.facts.get("peak_gb_per_s").map(|fact| fact.value),
        bf16_tflop_per_s: bf16(&profile.id),
    })
}

/// The published peak of products in bfloat16, where the course knows it.
fn bf16(id: &str) -> Option<f64> {
    let file: toml::Table = CEILINGS.parse().ok()?;
    let devices = file.get("device")?.as_array()?;
    let device = devices.iter().find(|device| device.get("id").and_then(toml::Value::as_str) == Some(id))?;
    let entry = device.get("published")?.get("bf16")?.as_array()?.first()?;
    entry.as_float().or_else(|| entry.as_integer().map(|value| value as f64))
}

/// The card in this machine, as NVML reports it.
fn here(hardware: &Hardware, say: &Say) -> Result<Card, Fault> {
    let missing = |why: String| {
        let help = match say.lang {
            Lang::Zh => "vramlab doctor 会说缺什么；--gpu h200 或 --gpu 24GiB 不需要显卡",
            Lang::En => "`vramlab doctor` says what is missing; --gpu h200 or --gpu 24GiB needs no card",
        };
        Fault::new(Exit::NoGpu, why).help(help)
    };
    let nvml = Nvml::init().map_err(|error| missing(format!("NVML: {error}")))?;
    let device = nvml.device_by_index(0).map_err(|error| missing(format!("NVML: {error}")))?;
    let name = device.name().map_err(|error| missing(format!("NVML: {error}")))?;
    let memory = device.memory_info().map_err(|error| missing(format!("NVML: {error}")))?;
    let profile = hardware.named(&name);
    Ok(Card {
        total_bytes: memory.total,
        source: "NVML".to_owned(),
        gb_per_s: profile.and_then(|profile| profile.facts.get("peak_gb_per_s").map(|fact| fact.value)),
        bf16_tflop_per_s: profile.and_then(|profile| bf16(&profile.id)),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_of_the_ceilings_file_are_found() {
        assert_eq!(bf16("h200"), Some(989.4));
        assert_eq!(bf16("t4"), None);
    }
}
