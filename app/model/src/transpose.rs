//! An n × n fp32 transpose by 32 × 32 tiles: what each method asks of global and shared memory, and the floor.
//!
//! Question: method, matrix size, peak bandwidth. Answer: sectors of a warp's read and write request, bank degree of
//! the tile's store and load, bytes on each level, the least time. [`steps`] gives one block's accesses for a player.
//! Shape: a block owns one tile; a warp handles one row of it, lane = column. Naive: it reads a row of the source and
//! writes a column of the target. With a tile: rows go into shared memory, columns come out, rows are written.
//! Assumption: a floor of one read and one write of every byte. Where L2 does not merge the naive method's scattered
//! writes, DRAM moves a 64-byte piece for each element; the truth lies between `floor_us` and `unmerged_us`.
//! Source: sectors and banks by `coalescing` and `bank_conflicts`; the tile and its padding: CUDA C++ Best Practices
//! Guide, "Shared Memory in Matrix Multiplication (C=AAᵀ)"; M. Harris, "An Efficient Matrix Transpose in CUDA C/C++".
//! Errors: `n` is no multiple of 32.

use crate::access::{self, AccessError, LaneAddrs};
use crate::bank_conflicts::{self, Layout, Swizzle};
use crate::coalescing;
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, ByteAddr, Bytes, FieldError, FieldSpec, GbPerSec, Map, Text, Value};

/// Rows and columns of a tile.
pub const TILE: u64 = 32;
const ELEM: Bytes = Bytes(4);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Straight from source to target.
    Naive,
    /// Through a 32 × 32 tile in shared memory.
    Tile,
    /// The tile's rows are 33 words apart.
    TilePad,
    /// The tile's columns are combined with the row by exclusive or.
    TileSwizzle,
}

impl Method {
    pub const ALL: [Self; 4] = [Self::Naive, Self::Tile, Self::TilePad, Self::TileSwizzle];
    const IDS: [&'static str; 4] = ["naive", "tile", "tile_pad", "tile_swizzle"];

    pub fn id(self) -> &'static str {
        Self::IDS[self as usize]
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.id() == id)
    }

    /// How the tile lies in shared memory, if there is one.
    pub fn layout(self) -> Option<Layout> {
        match self {
            Self::Naive => None,
            Self::Tile => Some(Layout::default()),
            Self::TilePad => Some(Layout { pad_words: 1, swizzle: Swizzle::None }),
            Self::TileSwizzle => Some(Layout { pad_words: 0, swizzle: Swizzle::Xor }),
        }
    }

    /// Shared memory of a block.
    pub fn tile_bytes(self) -> Bytes {
        self.layout().map_or(Bytes(0), |layout| ELEM * (TILE * (TILE + layout.pad_words)))
    }
}

/// What a warp does in one step of the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    ReadSource,
    StoreTile,
    /// All warps of the block wait until the tile is full.
    Barrier,
    LoadTile,
    WriteTarget,
}

impl Stage {
    pub fn title(self) -> Text {
        match self {
            Self::ReadSource => Text::new("读源矩阵", "Read the source"),
            Self::StoreTile => Text::new("写入共享内存", "Store to the tile"),
            Self::Barrier => Text::new("等所有 warp (barrier)", "Wait for all warps (barrier)"),
            Self::LoadTile => Text::new("从共享内存读出", "Load from the tile"),
            Self::WriteTarget => Text::new("写目标矩阵", "Write the target"),
        }
    }
}

/// A place in the source, the tile or the target, counted from the block's corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub row: u64,
    pub col: u64,
}

/// One warp-wide access of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub stage: Stage,
    /// The row of the tile that the warp handles; 0 at the barrier.
    pub warp_row: u64,
    /// The cell that each lane touches in the stage's array; empty at the barrier.
    pub cells: Vec<Cell>,
    /// Byte addresses: global for source and target (the block at the matrix's corner), shared for the tile.
    pub lane_addrs: LaneAddrs,
    /// Sectors of a global access, wavefronts of a shared one, 0 at the barrier.
    pub cost: u32,
}

/// Every access of one block in order: all rows in, the barrier, all rows out. `n` is at least 32.
pub fn steps(method: Method, n: u64) -> Result<Vec<Step>, AccessError> {
    let Some(layout) = method.layout() else {
        let mut steps = Vec::new();
        for row in 0..TILE {
            steps.push(global_step(Stage::ReadSource, row, n, false)?);
            steps.push(global_step(Stage::WriteTarget, row, n, true)?);
        }
        return Ok(steps);
    };
    let mut steps = Vec::new();
    for row in 0..TILE {
        steps.push(global_step(Stage::ReadSource, row, n, false)?);
        steps.push(tile_step(Stage::StoreTile, row, layout, false)?);
    }
    steps.push(Step { stage: Stage::Barrier, warp_row: 0, cells: Vec::new(), lane_addrs: Vec::new(), cost: 0 });
    for row in 0..TILE {
        steps.push(tile_step(Stage::LoadTile, row, layout, true)?);
        steps.push(global_step(Stage::WriteTarget, row, n, false)?);
    }
    Ok(steps)
}

/// The cells of a row, or of a column, one a lane.
fn cells(warp_row: u64, is_column: bool) -> Vec<Cell> {
    let cell = |lane| if is_column { Cell { row: lane, col: warp_row } } else { Cell { row: warp_row, col: lane } };
    (0..TILE).map(cell).collect()
}

fn addrs(cells: &[Cell], elem_from_cell: impl Fn(Cell) -> u64) -> LaneAddrs {
    cells.iter().map(|cell| Some(ByteAddr(elem_from_cell(*cell) * ELEM.0))).collect()
}

fn global_step(stage: Stage, warp_row: u64, n: u64, is_column: bool) -> Result<Step, AccessError> {
    let cells = cells(warp_row, is_column);
    let lane_addrs = addrs(&cells, |cell| cell.row * n + cell.col);
    let cost = coalescing::run(&lane_addrs, ELEM)?.sectors.len() as u32;
    Ok(Step { stage, warp_row, cells, lane_addrs, cost })
}

fn tile_step(stage: Stage, warp_row: u64, layout: Layout, is_column: bool) -> Result<Step, AccessError> {
    let cells = cells(warp_row, is_column);
    let lane_addrs = addrs(&cells, |cell| layout.place(cell.row * TILE + cell.col, 1));
    let cost = bank_conflicts::run(&lane_addrs, ELEM)?.wavefronts();
    Ok(Step { stage, warp_row, cells, lane_addrs, cost })
}

/// The cost of the whole transpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transpose {
    /// Sectors of each warp request; every row of every tile costs the same.
    pub read_sectors: u32,
    pub write_sectors: u32,
    /// Wavefronts of a store to and a load from the tile; none without a tile.
    pub store_degree: Option<u32>,
    pub load_degree: Option<u32>,
    /// Every element once in and once out: what must cross DRAM.
    pub useful: Bytes,
    /// Sectors between L1 and L2, as bytes.
    pub l2: Bytes,
    /// DRAM traffic if no scattered write is merged in L2.
    pub unmerged: Bytes,
}

pub fn run(method: Method, n: u64) -> Result<Transpose, AccessError> {
    let steps = steps(method, n)?;
    let cost = |stage| steps.iter().filter(|step| step.stage == stage).map(|step| step.cost).max();
    let read_sectors = cost(Stage::ReadSource).unwrap_or_default();
    let write_sectors = cost(Stage::WriteTarget).unwrap_or_default();
    let one_way = ELEM * (n * n);
    let n_requests = n * n / access::WARP_LANES as u64;
    let write_pieces = match method {
        Method::Naive => coalescing::DRAM_PIECE * (n * n),
        _ => one_way,
    };
    Ok(Transpose {
        read_sectors,
        write_sectors,
        store_degree: cost(Stage::StoreTile),
        load_degree: cost(Stage::LoadTile),
        useful: one_way * 2,
        l2: coalescing::SECTOR * (n_requests * u64::from(read_sectors + write_sectors)),
        unmerged: one_way + write_pieces,
    })
}

pub struct TransposeModel;

impl Model for TransposeModel {
    const ID: &'static str = "transpose";
    const TITLE: Text = Text::new("矩阵转置", "Matrix transpose");
    const ASSUMES: Text = Text::new(
        "fp32，32 × 32 的块，一个 warp 管一行。floor_us 假设每个字节只进出显存一次；unmerged_us 假设 L2 一次也没合并零散的写。",
        "fp32, 32 × 32 tiles, a warp for each row. floor_us lets every byte cross DRAM once each way; unmerged_us \
         assumes that L2 merges none of the scattered writes.",
    );
    const SOURCE: &'static str = "coalescing and bank_conflicts; CUDA C++ Best Practices Guide, \"Shared Memory\"; \
        M. Harris, \"An Efficient Matrix Transpose in CUDA C/C++\"";
    const EXAMPLE: &'static str = r#"{"method": "tile_pad", "n": 8192, "peak_gb_per_s": 4800}"#;

    fn question() -> Vec<FieldSpec> {
        let method = Text::new(
            "naive 直接转置；tile 经过共享内存；tile_pad 每行多留一个字；tile_swizzle 列号与行号异或",
            "naive: straight; tile: through shared memory; tile_pad: rows 33 words apart; tile_swizzle: column xor row",
        );
        let n = Text::new("矩阵边长，32 的整数倍", "Rows and columns of the matrix, a multiple of 32");
        vec![
            fields::choice("method", "", &Method::IDS, method),
            FieldSpec::int("n", "element", 32, 65_536, n).default_value(8192),
            fields::peak(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let int = |key, unit, max, zh, en| FieldSpec::int(key, unit, 0, max, Text::new(zh, en));
        let us = |key, zh, en| FieldSpec::num(key, "µs", 0.0, 1.0e12, Text::new(zh, en));
        vec![
            int("read_sectors_per_request", "1", 32, "每条读请求的 sector 数", "Sectors per read request"),
            int("write_sectors_per_request", "1", 32, "每条写请求的 sector 数", "Sectors per write request"),
            int(
                "store_degree",
                "1",
                32,
                "写共享内存的冲突度；没有块时为 null",
                "Bank degree of the store to the tile; null without one",
            )
            .optional(),
            int(
                "load_degree",
                "1",
                32,
                "读共享内存的冲突度；没有块时为 null",
                "Bank degree of the load from the tile; null without one",
            )
            .optional(),
            int("tile_bytes", "B", 1 << 20, "每个线程块用多少共享内存", "Shared memory of a block"),
            int("bytes_useful", "B", 1 << 40, "读一遍加写一遍的字节数", "Every element read once and written once"),
            int("l2_bytes", "B", 1 << 40, "L1 与 L2 之间的字节数", "Bytes between L1 and L2, in sectors"),
            us("floor_us", "下限：bytes_useful ÷ 带宽", "The floor: bytes_useful ÷ bandwidth"),
            us("unmerged_us", "L2 完全不合并写时的时间", "The time if L2 merges no write"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let n = args.uint("n");
        if !n.is_multiple_of(TILE) {
            return Err(FieldError::illegal("n", &n.into(), "a multiple of 32 from 32 to 65536"));
        }
        let method = Method::from_id(args.text("method")).unwrap_or(Method::Naive);
        let found = run(method, n).map_err(|error| FieldError::conflict("n", error.to_string()))?;
        let peak = GbPerSec(args.num("peak_gb_per_s"));
        let us = |bytes: Bytes| fields::number((bytes / peak).0 / 1000.0);
        let degree = |degree: Option<u32>| degree.map_or(Value::Null, Value::from);
        Ok(fields::answer([
            ("read_sectors_per_request", found.read_sectors.into()),
            ("write_sectors_per_request", found.write_sectors.into()),
            ("store_degree", degree(found.store_degree)),
            ("load_degree", degree(found.load_degree)),
            ("tile_bytes", method.tile_bytes().0.into()),
            ("bytes_useful", found.useful.0.into()),
            ("l2_bytes", found.l2.0.into()),
            ("floor_us", us(found.useful)),
            ("unmerged_us", us(found.unmerged)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[track_caller]
    fn check(method: Method, sectors: (u32, u32), degrees: (Option<u32>, Option<u32>)) {
        let found = run(method, 8192).unwrap();
        assert_eq!((found.read_sectors, found.write_sectors), sectors);
        assert_eq!((found.store_degree, found.load_degree), degrees);
    }

    /// Test vector 7 of the brief for the tile; a column of a wide matrix touches one sector a lane.
    #[test]
    fn each_method_pays_in_its_own_place() {
        check(Method::Naive, (4, 32), (None, None));
        check(Method::Tile, (4, 4), (Some(1), Some(32)));
        check(Method::TilePad, (4, 4), (Some(1), Some(1)));
        check(Method::TileSwizzle, (4, 4), (Some(1), Some(1)));
    }

    /// The brief: 8192² fp32, 512 MiB over 4.8 TB/s is 111.8 µs.
    #[test]
    fn the_floor_is_two_passes_over_the_bus() {
        let given = json!({"method": "tile_pad", "n": 8192, "peak_gb_per_s": 4800});
        let answer = eval("transpose", &question(&given)).unwrap();
        assert_eq!(answer["bytes_useful"], 512_u64 << 20);
        assert!((answer["floor_us"].as_f64().unwrap() - 111.8).abs() < 0.1);
        assert_eq!((&answer["tile_bytes"], &answer["l2_bytes"]), (&json!(4224), &json!(512_u64 << 20)));
        let naive = eval("transpose", &question(&json!({"method": "naive", "peak_gb_per_s": 4800}))).unwrap();
        assert_eq!(naive["l2_bytes"].as_u64(), Some((512 << 20) * 9 / 2)); // 36 sectors instead of 8
        assert_eq!(naive["store_degree"], Value::Null);
    }

    /// Unmerged, 8192² scattered floats move 64 bytes each, and 4 each on the way in: 17 times 256 MiB.
    #[test]
    fn unmerged_writes_cost_a_dram_piece_each() {
        assert_eq!(run(Method::Naive, 8192).unwrap().unmerged, Bytes(17 << 28));
        assert_eq!(run(Method::TilePad, 8192).unwrap().unmerged, Bytes(512 << 20));
    }

    /// The player's accesses, followed element by element, are a transpose.
    #[test]
    fn the_steps_transpose_the_tile() {
        for method in Method::ALL {
            let mut tile: BTreeMap<u64, Cell> = BTreeMap::new();
            let mut target = BTreeMap::new();
            let mut in_lanes: Vec<Cell> = Vec::new();
            for step in steps(method, 64).unwrap() {
                let addrs = step.lane_addrs.iter().flatten();
                match step.stage {
                    Stage::ReadSource => in_lanes.clone_from(&step.cells),
                    Stage::StoreTile => tile.extend(addrs.map(|addr| addr.0).zip(in_lanes.iter().copied())),
                    Stage::Barrier => assert_eq!(tile.len(), 1024, "the tile is full, and no word was written twice"),
                    Stage::LoadTile => in_lanes = addrs.map(|addr| tile[&addr.0]).collect(),
                    Stage::WriteTarget => {
                        target.extend(step.cells.iter().map(|cell| (cell.row, cell.col)).zip(in_lanes.clone()));
                    }
                }
            }
            assert_eq!(target.len(), 1024);
            for ((row, col), from) in target {
                assert_eq!((from.row, from.col), (col, row), "{method:?}");
            }
        }
    }

    #[test]
    fn a_matrix_that_tiles_do_not_cover_is_refused() {
        let given = json!({"method": "tile", "n": 100, "peak_gb_per_s": 4800});
        let error = eval("transpose", &question(&given)).unwrap_err();
        assert_eq!(error.to_string(), "n = 100 is not allowed; it must be a multiple of 32 from 32 to 65536");
    }
}
