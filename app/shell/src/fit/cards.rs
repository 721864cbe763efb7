//! The cards of the course, as far as memory and time are concerned: `assets/hardware.toml` and the peaks of
//! `assets/ceilings.toml`. The window and the command line ask the same list.

use std::sync::LazyLock;
use vramlab_fit::Card;
use vramlab_gpu::hardware::{Hardware, Profile};

const HARDWARE: &str = include_str!("../../../../assets/hardware.toml");
const CEILINGS: &str = include_str!("../../../../assets/ceilings.toml");

/// Each card with its id, in the file's order. Empty only if the file is broken, which its own test reports.
pub static CARDS: LazyLock<Vec<(String, Card)>> = LazyLock::new(|| {
    let Ok(hardware) = Hardware::read(HARDWARE) else { return Vec::new() };
    hardware.devices.iter().filter_map(|profile| Some((profile.id.clone(), card(profile, &hardware)?))).collect()
});

fn card(profile: &Profile, hardware: &Hardware) -> Option<Card> {
    let total = profile.facts.get("total_bytes")?;
    Some(Card {
        name: profile.name.clone(),
        total_bytes: total.value as u64,
        source: hardware.sources.get(&total.source).map_or_else(String::new, |source| source.text.clone()),
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

/// The card called `text`: its id, or the last in the list whose id holds that word, so that `a100` is the larger one.
pub fn named(text: &str) -> Option<&'static (String, Card)> {
    let id = text.to_ascii_lowercase().replace(['-', ' '], "_");
    let exact = CARDS.iter().find(|(known, _)| *known == id);
    exact.or_else(|| CARDS.iter().rev().find(|(known, _)| !id.is_empty() && known.contains(&id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_have_their_size_and_peaks_where_they_are_known() {
        let (id, card) = named("H200").unwrap();
        assert_eq!((id.as_str(), card.total_bytes, card.bf16_tflop_per_s), ("h200", 150_754_820_096, Some(989.4)));
        assert_eq!(named("a100").map(|(id, _)| id.as_str()), Some("a100_80"));
        assert_eq!(named("t4").and_then(|(_, card)| card.bf16_tflop_per_s), None);
        assert!(named("h2000").is_none() && named("").is_none());
    }
}
