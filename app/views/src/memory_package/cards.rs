//! The cards of `assets/hardware.toml` as this figure needs them: bus, pins, kind of memory, what the vendor prints.

use super::question::Kind;
use std::sync::LazyLock;
use vramlab_gpu::hardware::{Hardware, Profile};
use vramlab_model::peak_bandwidth::gbit_per_pin_from_clock;

/// A card whose memory is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub id: String,
    pub name: String,
    pub kind: Kind,
    /// As its standard is called: `HBM3e`.
    pub memory: String,
    pub bus_bits: u64,
    pub gbit_per_pin: f64,
    pub sm_count: u64,
    pub published: Option<Published>,
}

/// What the vendor prints, and where that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    pub gb_per_s: f64,
    pub source: String,
    pub date: String,
    pub is_doubtful: bool,
}

/// In the order of the file.
pub static CARDS: LazyLock<Vec<Card>> = LazyLock::new(|| {
    let hardware = Hardware::read(include_str!("../../../../assets/hardware.toml")).unwrap_or_else(|_| Hardware {
        devices: Vec::new(), // the suite of `hardware.rs` reads the same file
        sources: std::collections::BTreeMap::new(),
    });
    hardware.devices.iter().filter_map(|device| card(&hardware, device)).collect()
});

fn card(hardware: &Hardware, device: &Profile) -> Option<Card> {
    let get = |name: &str| device.facts.get(name).map(|fact| fact.value);
    let memory = device.memory.clone()?;
    let published = device.published_gb_per_s.as_ref().and_then(|fact| {
        let source = hardware.sources.get(&fact.source)?;
        let (source, date) = (source.text.clone(), source.date.clone());
        Some(Published { gb_per_s: fact.value, source, date, is_doubtful: fact.is_doubtful })
    });
    Some(Card {
        id: device.id.clone(),
        name: short(&device.name),
        kind: if memory.starts_with("HBM") { Kind::Hbm } else { Kind::Gddr },
        memory,
        bus_bits: get("bus_bits")? as u64,
        gbit_per_pin: gbit_per_pin_from_clock(get("mem_clock_mhz")?),
        sm_count: get("sm_count")? as u64,
        published,
    })
}

/// A name that fits on a button: `A100 40GB`, `RTX 4090`.
fn short(name: &str) -> String {
    let name =
        ["NVIDIA ", "GeForce ", "Tesla ", " GPU"].iter().fold(name.to_owned(), |name, part| name.replace(part, ""));
    name.replace("-SXM4-", " ")
}

pub fn find(id: &str) -> Option<usize> {
    CARDS.iter().position(|card| card.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_of_the_file_is_on_offer() {
        assert!(CARDS.len() >= 9);
        let h200 = &CARDS[find("h200").unwrap()];
        assert_eq!((h200.kind, h200.bus_bits, h200.name.as_str()), (Kind::Hbm, 6016, "H200"));
        assert_eq!(CARDS[find("a100_40").unwrap()].name, "A100 40GB");
        assert_eq!(CARDS[find("rtx4090").unwrap()].kind, Kind::Gddr);
    }
}
