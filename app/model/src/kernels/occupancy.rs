//! How many blocks of a kernel are on one SM at once, and what keeps further ones out.
//!
//! Question: compute capability, threads of a block, registers of a thread, static and dynamic shared memory. Answer: blocks and
//! warps on the SM, occupancy = warps ÷ most warps, every resource that is the least, and the count each alone would allow.
//!
//! Registers go to warps in units of 256, out of one of the SM's partitions, so a limit is whole warps of a partition. The hardware's
//! check rounds the warps of a block up to a multiple of the partitions. Shared memory goes by 128 B (256 before 8.0), with 1 KiB
//! more for each block from 8.0 on, and above 48 KiB only if the kernel asks for it.
//! Assumption: one barrier a block, no clusters, the carve-out gives shared memory all that it may have. On 5.2 global loads are
//! cached, which keeps a block in one half of the SM.
//! Source: CUDA 13.5, `cuda_occupancy.h`; 2,500 of its answers are a test, and 2,600 of an H200's driver. Errors: a block of more than 1,024 threads, an unknown
//! capability.

use super::architecture::{
    self, DEFAULT_SHARED, MOST_REGISTERS, PARTITIONS, REGISTER_UNIT, REGISTERS, SMS, Sm, WARP_LANES,
};
use crate::fields::{answer, number};
use crate::inference::shown;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// A kernel's launch, as far as occupancy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub threads: u64,
    pub registers: u64,
    pub static_bytes: u64,
    pub dynamic_bytes: u64,
    pub is_opt_in: bool,
}

/// Blocks on an SM that each resource alone would allow; none is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub warps: u64,
    pub registers: Option<u64>,
    pub shared: Option<u64>,
    pub blocks: u64,
}

impl Launch {
    pub fn warps(self) -> u64 {
        self.threads.div_ceil(WARP_LANES)
    }

    /// Registers that one warp takes of its partition.
    pub fn registers_per_warp(self) -> u64 {
        (self.registers * WARP_LANES).next_multiple_of(REGISTER_UNIT)
    }

    /// Shared memory that one block takes of the SM.
    pub fn shared_per_block(self, sm: Sm) -> u64 {
        (self.static_bytes + self.dynamic_bytes + sm.reserved).next_multiple_of(sm.shared_unit())
    }

    pub fn limits(self, sm: Sm) -> Limits {
        let halves = if sm.is_halved { 2 } else { 1 };
        let whole = |warps: u64| warps / halves / self.warps() * halves;
        let spread = |warps: u64| Some(whole(warps)).filter(|n| *n > 0).unwrap_or(warps / self.warps());
        Limits {
            warps: spread(sm.warps),
            registers: self.by_registers(spread),
            shared: self.by_shared(sm),
            blocks: sm.blocks,
        }
    }

    fn by_registers(self, spread: impl Fn(u64) -> u64) -> Option<u64> {
        let each = self.registers_per_warp();
        if each == 0 {
            return None;
        }
        if each * self.warps().next_multiple_of(PARTITIONS) > REGISTERS || self.registers > MOST_REGISTERS {
            return Some(0);
        }
        Some(spread(REGISTERS / PARTITIONS / each * PARTITIONS))
    }

    fn by_shared(self, sm: Sm) -> Option<u64> {
        let each = self.shared_per_block(sm);
        let asked = self.static_bytes + self.dynamic_bytes;
        let is_large = self.is_opt_in && asked > DEFAULT_SHARED;
        let most = if is_large { sm.block_shared_kib << 10 } else { DEFAULT_SHARED };
        match each {
            0 => None,
            _ if each > most + sm.reserved => Some(0),
            _ => Some((sm.shared_kib << 10) / each),
        }
    }
}

impl Limits {
    /// The count that the SM holds: the least of all.
    pub fn resident(self) -> u64 {
        [Some(self.warps), self.registers, self.shared, Some(self.blocks)].into_iter().flatten().min().unwrap_or(0)
    }

    /// The names of all that are the least, as the answer writes them.
    pub fn limiter(self) -> String {
        let least = self.resident();
        let named = [
            ("warps", Some(self.warps)),
            ("registers", self.registers),
            ("shared", self.shared),
            ("blocks", Some(self.blocks)),
        ];
        let binding = named.into_iter().filter(|(_, limit)| *limit == Some(least)).map(|(name, _)| name);
        binding.collect::<Vec<_>>().join("+")
    }
}

pub struct Occupancy;

/// The field that names a compute capability.
pub(crate) fn capability() -> FieldSpec {
    let options = SMS.iter().map(|sm| sm.name().into()).collect();
    FieldSpec::new(
        "compute_capability",
        "",
        FieldKind::Choice { options },
        Text::new("计算能力，H100、H200 是 9.0", "Compute capability; 9.0 is that of an H100 or H200"),
    )
}

/// The SM of [`capability`].
pub fn sm(args: &Args) -> Result<Sm, FieldError> {
    let name = args.text("compute_capability");
    architecture::find(name)
        .ok_or_else(|| FieldError::conflict("compute_capability", format!("unknown compute capability {name}")))
}

/// The launch that the fields of [`Occupancy`] describe.
pub fn launch(args: &Args) -> Launch {
    Launch {
        threads: args.uint("threads_per_block"),
        registers: args.uint("registers_per_thread"),
        static_bytes: args.uint("static_bytes"),
        dynamic_bytes: args.uint("shared_bytes"),
        is_opt_in: args.flag("is_opt_in"),
    }
}

impl Model for Occupancy {
    const ID: &'static str = "occupancy";
    const TITLE: Text = Text::new("占用率：一个 SM 上同时有几个 block", "Occupancy: blocks on one SM at once");
    const ASSUMES: Text = Text::new(
        "每个 block 一个 barrier，不用 cluster；共享内存的划分取最大。占用率不是速度。",
        "One barrier a block, no clusters; shared memory has all that the carve-out may give it. Occupancy is not speed.",
    );
    const SOURCE: &'static str = "CUDA 13.5, cuda_occupancy.h; CUDA Programming Guide, technical specifications";
    const EXAMPLE: &'static str =
        r#"{"compute_capability": "9.0", "threads_per_block": 256, "registers_per_thread": 65}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, unit, min, max, zh, en| FieldSpec::int(key, unit, min, max, Text::new(zh, en));
        vec![
            capability(),
            int("threads_per_block", "1", 1, 1024, "一个 block 的线程数", "Threads of a block"),
            int("registers_per_thread", "1", 0, 255, "一个线程的寄存器数", "Registers of a thread").default_value(32),
            int("shared_bytes", "B", 0, 1 << 20, "动态共享内存", "Dynamic shared memory").default_value(0),
            int("static_bytes", "B", 0, 49_152, "静态共享内存", "Static shared memory").default_value(0),
            FieldSpec::new(
                "is_opt_in",
                "",
                FieldKind::Bool,
                Text::new("kernel 申明要超过 48 KiB", "The kernel asks for more than 48 KiB"),
            )
            .default_value(true),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 20, Text::new(zh, en));
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, 1 << 21, Text::new(zh, en));
        vec![
            count("blocks_per_sm", "一个 SM 上的 block", "Blocks on an SM"),
            count("warps_per_sm", "一个 SM 上的 warp", "Warps on an SM"),
            FieldSpec::num("occupancy", "1", 0.0, 1.0, Text::new("占用率", "Occupancy")),
            shown("limiter", "卡在哪里", "What keeps further blocks out"),
            count("by_warps", "只看 warp 数能放几个", "Blocks that warps alone allow"),
            count("by_registers", "只看寄存器能放几个", "Blocks that registers alone allow").optional(),
            count("by_shared", "只看共享内存能放几个", "Blocks that shared memory alone allows").optional(),
            count("by_blocks", "硬件最多几个", "Blocks that the hardware allows"),
            count("registers_per_warp", "一个 warp 实占的寄存器", "Registers that a warp takes"),
            bytes("shared_per_block", "一个 block 实占的共享内存", "Shared memory that a block takes"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let sm = sm(args)?;
        let launch = launch(args);
        let limits = launch.limits(sm);
        let (blocks, shown) = (limits.resident(), |limit: Option<u64>| limit.map_or(Value::Null, Value::from));
        let warps = blocks * launch.warps();
        Ok(answer([
            ("blocks_per_sm", blocks.into()),
            ("warps_per_sm", warps.into()),
            ("occupancy", number(warps as f64 / sm.warps as f64)),
            ("limiter", limits.limiter().into()),
            ("by_warps", limits.warps.into()),
            ("by_registers", shown(limits.registers)),
            ("by_shared", shown(limits.shared)),
            ("by_blocks", limits.blocks.into()),
            ("registers_per_warp", launch.registers_per_warp().into()),
            ("shared_per_block", launch.shared_per_block(sm).into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    fn launch(threads: u64, registers: u64, static_bytes: u64, dynamic_bytes: u64) -> Launch {
        Launch { threads, registers, static_bytes, dynamic_bytes, is_opt_in: true }
    }

    /// `tests/data/occupancy/make.cpp`: what the vendor's header says of seeded random launches.
    #[test]
    fn the_vendors_header_says_the_same() {
        let mut n = 0;
        for line in include_str!("../../../../tests/data/occupancy/header.txt").lines() {
            let (name, rest) = line.split_once(' ').unwrap();
            let given: Vec<u64> = rest.split(' ').map(|word| word.parse().unwrap()).collect();
            let [threads, registers, fixed, dynamic, blocks, factors] = given[..] else { panic!("{line}") };
            let found = launch(threads, registers, fixed, dynamic).limits(architecture::find(name).unwrap());
            assert_eq!(found.resident(), blocks, "{line}: {found:?}");
            for (bit, word) in [(1, "warps"), (2, "registers"), (4, "shared"), (8, "blocks")] {
                assert_eq!(found.limiter().contains(word), factors & bit != 0, "{line}: {found:?}");
            }
            n += 1;
        }
        assert!(n >= 2000, "{n}");
    }

    /// `kernels/peers/occupancy.py`: what the driver of an H200 (580.159.04) says of 2,600 launches of 52 compiled kernels.
    #[test]
    fn the_driver_says_the_same() {
        let sm = architecture::find("9.0").unwrap();
        let mut n = 0;
        for line in include_str!("../../../../tests/data/occupancy/h200.txt").lines() {
            let given: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let [threads, registers, fixed, dynamic, blocks] = given[..] else { panic!("{line}") };
            let found = launch(threads, registers, fixed, dynamic).limits(sm);
            assert_eq!(found.resident(), blocks, "{line}: {found:?}");
            n += 1;
        }
        assert_eq!(n, 2600);
    }

    #[track_caller]
    fn holds(name: &str, launch: Launch, blocks: u64, occupancy: f64, limiter: &str) {
        let sm = architecture::find(name).unwrap();
        let limits = launch.limits(sm);
        assert_eq!(limits.resident(), blocks, "{launch:?}: {limits:?}");
        let share = (blocks * launch.warps()) as f64 / sm.warps as f64;
        assert!((share - occupancy).abs() < 1e-9, "{launch:?}: {share}");
        assert!(limiter.is_empty() || limits.limiter() == limiter, "{launch:?}: {}", limits.limiter());
    }

    /// Brief 23, test vectors.
    #[test]
    fn worked_cases() {
        holds("9.0", launch(256, 32, 0, 0), 8, 1.0, "warps+registers");
        holds("9.0", launch(256, 64, 0, 0), 4, 0.5, "registers");
        holds("9.0", launch(256, 65, 0, 0), 3, 0.375, "registers");
        holds("9.0", launch(256, 72, 0, 0), 3, 0.375, "registers");
        holds("9.0", launch(128, 128, 0, 48 << 10), 4, 0.25, "registers+shared");
        holds("9.0", launch(384, 168, 0, 200 << 10), 1, 0.1875, "");
        holds("9.0", launch(1024, 64, 0, 0), 1, 0.5, "");
        holds("9.0", launch(1024, 65, 0, 0), 0, 0.0, "registers");
        holds("9.0", launch(96, 255, 0, 0), 2, 0.09375, "");
        holds("8.9", launch(256, 40, 0, 0), 6, 1.0, "");
        holds("8.9", launch(64, 32, 0, 0), 24, 1.0, "warps+blocks");
        holds("8.0", launch(256, 32, 0, 80 << 10), 2, 0.25, "shared");
        holds("10.0", launch(32, 32, 0, 0), 32, 0.5, "blocks");
        holds("9.0", launch(33, 32, 0, 0), 32, 1.0, "");
        holds("9.0", launch(256, 32, 0, 228 << 10), 0, 0.0, "shared");
    }

    /// xmartlabs/cuda-calculator issue 1, kokkos/kokkos issue 5624.
    #[test]
    fn public_rows() {
        holds("5.0", launch(128, 85, 0, 0), 5, 0.3125, "");
        holds("5.2", launch(128, 85, 0, 0), 4, 0.25, "");
        holds("8.0", launch(128, 41, 0, 0), 10, 0.625, "");
        holds("8.0", launch(128, 43, 0, 0), 10, 0.625, "");
    }

    #[test]
    fn what_cannot_be_is_said() {
        let refused = |given| eval("occupancy", &question(&given)).unwrap_err();
        let error = refused(json!({"compute_capability": "7.9", "threads_per_block": 256}));
        assert!(error.field() == "compute_capability" && error.to_string().contains("7.5"), "{error}");
        let error = refused(json!({"compute_capability": "9.0", "threads_per_block": 1056}));
        assert!(error.field() == "threads_per_block" && error.to_string().contains("1024"), "{error}");
        let given = json!({"compute_capability": "9.0", "threads_per_block": 256, "registers_per_thread": 256});
        assert!(refused(given).to_string().contains("255"));
        let given = json!({"compute_capability": "8.9", "threads_per_block": 256, "registers_per_thread": 40, "shared_bytes": 0});
        let answer = eval("occupancy", &question(&given)).unwrap();
        assert_eq!((answer["blocks_per_sm"].as_u64(), answer["warps_per_sm"].as_u64()), (Some(6), Some(48)));
        assert_eq!((answer["by_shared"].as_u64(), answer["limiter"].as_str()), (Some(100), Some("warps+registers")));
    }
}
