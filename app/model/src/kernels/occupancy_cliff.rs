//! Where occupancy falls: the blocks on an SM as one resource of a launch grows, and the next step down.
//!
//! Question: that of `occupancy`, and which of its numbers moves: registers, threads or dynamic shared memory. Answer: the stretch of
//! values over which the SM holds what it holds now, the next value above at which it holds fewer warps, the last one below at
//! which it holds more, with blocks and occupancy of each.
//! Assumption and source: those of `occupancy`, asked for every value. Errors: those of `occupancy`.

use super::architecture::{DEFAULT_SHARED, MOST_REGISTERS, Sm};
use super::occupancy::{self, Launch, Occupancy};
use crate::fields::{answer, choice, number};
use crate::inference::shown;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// The number of a launch that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Registers,
    Threads,
    Shared,
}

/// A stretch of values over which the SM holds the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First and last value.
    pub from: u64,
    pub to: u64,
    pub blocks: u64,
    /// At the last value.
    pub warps: u64,
}

impl Axis {
    pub const ALL: [Self; 3] = [Self::Registers, Self::Threads, Self::Shared];

    pub fn name(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::Threads => "threads",
            Self::Shared => "shared",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axis| axis.name() == name)
    }

    pub fn value(self, launch: Launch) -> u64 {
        match self {
            Self::Registers => launch.registers,
            Self::Threads => launch.threads,
            Self::Shared => launch.dynamic_bytes,
        }
    }

    /// The launch with another value.
    pub fn with(self, launch: Launch, value: u64) -> Launch {
        match self {
            Self::Registers => Launch { registers: value, ..launch },
            Self::Threads => Launch { threads: value, ..launch },
            Self::Shared => Launch { dynamic_bytes: value, ..launch },
        }
    }

    /// The least and the largest value that are looked at.
    pub fn ends(self, sm: Sm) -> (u64, u64) {
        match self {
            Self::Registers => (0, MOST_REGISTERS),
            Self::Threads => (1, 1024),
            Self::Shared => (0, (sm.block_shared_kib << 10).max(DEFAULT_SHARED) + 1024),
        }
    }

    /// The first values of the units in which the resource is dealt out.
    fn starts(self, sm: Sm, launch: Launch) -> Vec<u64> {
        let (least, most) = self.ends(sm);
        match self {
            Self::Registers | Self::Threads => (least..=most).collect(),
            Self::Shared => {
                let unit = sm.shared_unit();
                let first = (unit - launch.static_bytes % unit) % unit + 1;
                std::iter::once(least).chain((first..=most).step_by(unit as usize)).collect()
            }
        }
    }
}

/// Blocks and warps on the SM.
pub fn held(sm: Sm, launch: Launch) -> (u64, u64) {
    let blocks = launch.limits(sm).resident();
    (blocks, blocks * launch.warps())
}

/// Every stretch of equal blocks and warps, in order.
pub fn stretches(sm: Sm, launch: Launch, axis: Axis) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for value in axis.starts(sm, launch) {
        let (blocks, warps) = held(sm, axis.with(launch, value));
        match all.last_mut() {
            Some(last) if (last.blocks, last.warps) == (blocks, warps) => last.to = value,
            _ => all.push(Stretch { from: value, to: value, blocks, warps }),
        }
    }
    for idx in 1..all.len() {
        all[idx - 1].to = all[idx].from - 1;
    }
    if let Some(last) = all.last_mut() {
        last.to = axis.ends(sm).1;
    }
    all
}

/// Where a launch stands on its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub here: Stretch,
    /// The next stretch above with fewer warps.
    pub fall: Option<Stretch>,
    /// The next stretch below with more.
    pub rise: Option<Stretch>,
}

pub fn place(all: &[Stretch], value: u64) -> Option<Place> {
    let at = all.iter().position(|part| (part.from..=part.to).contains(&value))?;
    let here = all[at];
    let fall = all[at + 1..].iter().find(|part| part.warps < here.warps).copied();
    let rise = all[..at].iter().rev().find(|part| part.warps > here.warps).copied();
    Some(Place { here, fall, rise })
}

pub struct OccupancyCliff;

fn axis(args: &Args) -> Axis {
    Axis::from_name(args.text("axis")).unwrap_or(Axis::Registers)
}

impl Model for OccupancyCliff {
    const ID: &'static str = "occupancy_cliff";
    const TITLE: Text = Text::new("占用率的断崖在哪里", "Where occupancy falls");
    const ASSUMES: Text = Occupancy::ASSUMES;
    const SOURCE: &'static str = Occupancy::SOURCE;
    const EXAMPLE: &'static str =
        r#"{"compute_capability": "9.0", "threads_per_block": 256, "registers_per_thread": 64, "axis": "registers"}"#;

    fn question() -> Vec<FieldSpec> {
        let mut fields = Occupancy::question();
        let doc = Text::new(
            "哪个数在变：寄存器、线程、动态共享内存",
            "What moves: registers, threads or dynamic shared memory",
        );
        fields.push(choice("axis", "", &["registers", "threads", "shared"], doc).default_value("registers"));
        fields
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 20, Text::new(zh, en));
        let share = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1.0, Text::new(zh, en));
        vec![
            count("blocks_per_sm", "现在几个 block", "Blocks now"),
            share("occupancy", "现在的占用率", "Occupancy now"),
            count("from", "这一级台阶从哪个值起", "First value of this stretch"),
            count("to", "到哪个值止", "Its last value"),
            count("headroom", "还能加多少不掉", "What may be added before the fall").optional(),
            count("falls_at", "加到多少就掉", "The value at which it falls").optional(),
            count("blocks_after", "掉到几个 block", "Blocks after the fall").optional(),
            share("occupancy_after", "掉到多少", "Occupancy after it").optional(),
            count("rises_at", "减到多少就升", "The value at which it rises").optional(),
            count("blocks_above", "升到几个 block", "Blocks after the rise").optional(),
            share("occupancy_above", "升到多少", "Occupancy after it").optional(),
            shown("limiter", "卡在哪里", "What keeps further blocks out"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let sm = occupancy::sm(args)?;
        let launch = occupancy::launch(args);
        let axis = axis(args);
        let value = axis.value(launch);
        let most = axis.ends(sm).1;
        let Some(place) = place(&stretches(sm, launch, axis), value) else {
            let why = format!("{value} B, beyond the {most} B that are looked at");
            return Err(FieldError::conflict("shared_bytes", why));
        };
        let share = |part: Stretch| number(part.warps as f64 / sm.warps as f64);
        let of = |part: Option<Stretch>, take: &dyn Fn(Stretch) -> Value| part.map_or(Value::Null, take);
        let whole = |n: u64| Value::from(n);
        Ok(answer([
            ("blocks_per_sm", whole(place.here.blocks)),
            ("occupancy", share(place.here)),
            ("from", whole(place.here.from)),
            ("to", whole(place.here.to)),
            ("headroom", of(place.fall, &|part| whole(part.from - 1 - value))),
            ("falls_at", of(place.fall, &|part| whole(part.from))),
            ("blocks_after", of(place.fall, &|part| whole(part.blocks))),
            ("occupancy_after", of(place.fall, &share)),
            ("rises_at", of(place.rise, &|part| whole(part.to))),
            ("blocks_above", of(place.rise, &|part| whole(part.blocks))),
            ("occupancy_above", of(place.rise, &share)),
            ("limiter", launch.limits(sm).limiter().into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::architecture::{SMS, find};
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    const PLAIN: Launch = Launch { threads: 256, registers: 32, static_bytes: 0, dynamic_bytes: 0, is_opt_in: true };

    /// By hand: 16,384 registers a partition, a warp takes 32 r rounded up to 256; whole warps times 4, over 8.
    #[test]
    fn the_stairs_of_256_threads() {
        let found = stretches(find("9.0").unwrap(), PLAIN, Axis::Registers);
        let stairs: Vec<(u64, u64)> = found.iter().map(|part| (part.to, part.blocks)).collect();
        assert_eq!(stairs, [(32, 8), (40, 6), (48, 5), (64, 4), (80, 3), (128, 2), (255, 1)]);
        let blocks: u64 = found.iter().map(|part| part.to - part.from + 1).sum();
        assert_eq!(blocks, 256);
    }

    /// Brief 23: from 64 registers to 65 a quarter of the blocks goes.
    #[test]
    fn the_next_fall_is_named() {
        let given = json!({"compute_capability": "9.0", "threads_per_block": 256, "registers_per_thread": 50});
        let found = eval("occupancy_cliff", &question(&given)).unwrap();
        assert_eq!((found["falls_at"].as_u64(), found["headroom"].as_u64()), (Some(65), Some(14)));
        assert_eq!((found["blocks_per_sm"].as_u64(), found["blocks_after"].as_u64()), (Some(4), Some(3)));
        assert_eq!((found["rises_at"].as_u64(), found["blocks_above"].as_u64()), (Some(48), Some(5)));
        assert_eq!(found["occupancy_after"].as_f64(), Some(0.375));
        let given = json!({"compute_capability": "9.0", "threads_per_block": 256, "registers_per_thread": 200});
        assert_eq!(eval("occupancy_cliff", &question(&given)).unwrap()["falls_at"], Value::Null);
    }

    /// Every value inside a stretch holds what the stretch says, to the byte.
    #[test]
    fn the_stretches_cover_every_value() {
        for sm in SMS {
            for (fixed, is_opt_in) in [(0, true), (100, true), (4096, false)] {
                let launch = Launch { static_bytes: fixed, is_opt_in, ..PLAIN };
                for axis in Axis::ALL {
                    let found = stretches(*sm, launch, axis);
                    let (mut next, most) = axis.ends(*sm);
                    for part in &found {
                        assert_eq!(part.from, next, "{sm:?} {axis:?}");
                        for value in [part.from, part.from.midpoint(part.to), part.to] {
                            let (blocks, warps) = held(*sm, axis.with(launch, value));
                            assert_eq!((blocks, warps), (part.blocks, part.warps), "{sm:?} {axis:?} {value}");
                        }
                        next = part.to + 1;
                    }
                    assert_eq!(next, most + 1);
                }
            }
        }
    }

    /// The header's limit: 227 KiB for a block on 9.0, 48 KiB for a kernel that does not ask.
    #[test]
    fn the_last_fall_is_to_nothing() {
        let sm = find("9.0").unwrap();
        let last = |is_opt_in| stretches(sm, Launch { is_opt_in, ..PLAIN }, Axis::Shared).last().copied().unwrap();
        assert_eq!((last(true).from, last(true).blocks), ((227 << 10) + 1, 0));
        assert_eq!((last(false).from, last(false).blocks), ((48 << 10) + 1, 0));
    }
}
