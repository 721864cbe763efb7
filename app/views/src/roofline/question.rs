//! The question of the roofline figure: a kernel, a card, which ceilings count, and what if they were others. Plain data,
//! its fields, and what follows from them without the model.

use super::ceilings::{CEILINGS, Ceiling, Device, Set};
use vramlab_model::op_intensity::{self, Op};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// How numbers are stored, and with it which units do the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Fp64,
    Fp32,
    Tf32,
    Bf16,
    Fp8,
}

impl Precision {
    pub const ALL: [Self; 5] = [Self::Fp64, Self::Fp32, Self::Tf32, Self::Bf16, Self::Fp8];

    pub fn id(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Fp64 => "FP64",
            Self::Fp32 => "FP32",
            Self::Tf32 => "TF32",
            Self::Bf16 => "BF16",
            Self::Fp8 => "FP8",
        }
    }

    pub fn elem_bytes(self) -> f64 {
        match self {
            Self::Fp64 => 8.0,
            Self::Fp32 | Self::Tf32 => 4.0,
            Self::Bf16 => 2.0,
            Self::Fp8 => 1.0,
        }
    }

    /// The units that a kernel of `op` computes on. Only products use tensor cores; all else with fewer than four bytes
    /// an element is widened to FP32 on arrival.
    pub fn unit(self, op: Op) -> Self {
        match self {
            Self::Fp64 | Self::Fp32 => self,
            _ if op.is_product() => self,
            _ => Self::Fp32,
        }
    }

    /// The next narrower storage; TF32 stores as FP32 does.
    pub fn narrower(self) -> Option<Self> {
        match self {
            Self::Fp64 => Some(Self::Fp32),
            Self::Fp32 | Self::Tf32 => Some(Self::Bf16),
            Self::Bf16 => Some(Self::Fp8),
            Self::Fp8 => None,
        }
    }

    fn ceiling(self, set: &Set) -> Option<&Ceiling> {
        match self {
            Self::Fp64 => set.fp64.as_ref(),
            Self::Fp32 => set.fp32.as_ref(),
            Self::Tf32 => set.tf32.as_ref(),
            Self::Bf16 => set.bf16.as_ref(),
            Self::Fp8 => set.fp8.as_ref(),
        }
    }
}

/// Which of the two roofs counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roof {
    Published,
    Measured,
}

impl Roof {
    pub const ALL: [Self; 2] = [Self::Published, Self::Measured];

    pub fn id(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Measured => "measured",
        }
    }
}

/// One of the memory levels of the figure, from far to near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Hbm,
    L2,
    L1,
}

impl Tier {
    pub fn label(self) -> &'static str {
        match self {
            Self::Hbm => "HBM",
            Self::L2 => "L2",
            Self::L1 => "L1",
        }
    }

    fn ceiling(self, set: &Set) -> Option<&Ceiling> {
        match self {
            Self::Hbm => set.hbm.as_ref(),
            Self::L2 => set.l2.as_ref(),
            Self::L1 => set.l1.as_ref(),
        }
    }
}

pub const MAX_BATCH: u64 = 1024;
pub const MAX_EXTRA: u64 = 16;
pub const TILES: [u64; 6] = [1, 16, 32, 64, 128, 256];
/// Elements of everything that is not a product: 2²⁸, far beyond any L2.
const N_ELEMS: f64 = 268_435_456.0;
/// Side of the weights of a linear layer.
pub const SIDE: f64 = 4096.0;
/// How far a ceiling can be dragged, as a factor.
pub const COMPUTE_X: (f64, f64) = (0.2, 2.5);
pub const HBM_X: (f64, f64) = (0.2, 5.0);
/// The measured rate in per cent of the attainable one.
pub const REACH: (u64, u64) = (10, 150);

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub op: Op,
    pub precision: Precision,
    pub device: String,
    pub roof: Roof,
    /// All three memory levels, or HBM alone.
    pub has_levels: bool,
    /// Card and roof can be chosen too; else the chapter has chosen them.
    pub has_all_controls: bool,
    pub batch: u64,
    pub tile: u64,
    pub extra_steps: u64,
    pub is_fused: bool,
    pub reach_pct: u64,
    pub compute_x: f64,
    pub hbm_x: f64,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, options: Vec<String>, default: &str, doc| {
            let options = options.into_iter().map(Into::into).collect();
            FieldSpec::new(key, "", FieldKind::Choice { options }, doc).default_value(default)
        };
        let flag = |key, default: bool, doc| FieldSpec::new(key, "", FieldKind::Bool, doc).default_value(default);
        let int = |key, unit, (low, high): (u64, u64), doc| FieldSpec::int(key, unit, low as i64, high as i64, doc);
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let devices = CEILINGS.devices.iter().map(|device| device.id.clone()).collect();
        vec![
            choice("op", ids(&KERNELS.map(Op::id)), "saxpy", Text::new("内核", "The kernel")),
            choice("precision", ids(&Precision::ALL.map(Precision::id)), "fp32", Text::new("精度", "Precision")),
            choice("device", devices, "h200", Text::new("显卡", "The card")),
            choice("roof", ids(&Roof::ALL.map(Roof::id)), "published", Text::new("用哪条屋顶", "The roof that counts")),
            flag("levels", false, Text::new("画出 L1、L2、HBM 三级", "Show L1, L2 and HBM")),
            flag("all_controls", true, Text::new("显卡、屋顶和层级也可选", "Card, roof and levels can be chosen too")),
            int("batch", "1", (1, MAX_BATCH), Text::new("线性层的批大小", "Batch of a linear layer")).default_value(1),
            choice(
                "tile",
                TILES.iter().map(u64::to_string).collect(),
                "256",
                Text::new("一个线程块的输出小块边长，1 是不分块", "Side of a block's tile of outputs; 1 is no tiling"),
            ),
            int("extra_steps", "1", (0, MAX_EXTRA), Text::new("后续的逐元素步骤数", "Elementwise steps that follow"))
                .default_value(0),
            flag("fused", true, Text::new("后续步骤并进同一个内核", "The steps run in the same kernel")),
            int(
                "reach_pct",
                "%",
                REACH,
                Text::new("实测速率占最大可能的百分比", "Measured rate in per cent of the attainable"),
            )
            .default_value(100),
            FieldSpec::num(
                "compute_x",
                "1",
                COMPUTE_X.0,
                COMPUTE_X.1,
                Text::new("计算上限乘几", "Factor on the compute ceiling"),
            )
            .default_value(1.0),
            FieldSpec::num("hbm_x", "1", HBM_X.0, HBM_X.1, Text::new("显存上限乘几", "Factor on the HBM ceiling"))
                .default_value(1.0),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let unknown = |key: &str| FieldError::conflict(key, "is not among its options");
        let precision = Precision::ALL.into_iter().find(|precision| precision.id() == args.text("precision"));
        let roof = Roof::ALL.into_iter().find(|roof| roof.id() == args.text("roof"));
        let this = Self {
            op: Op::from_id(args.text("op")).ok_or_else(|| unknown("op"))?,
            precision: precision.ok_or_else(|| unknown("precision"))?,
            device: args.text("device").to_owned(),
            roof: roof.ok_or_else(|| unknown("roof"))?,
            has_levels: args.flag("levels"),
            has_all_controls: args.flag("all_controls"),
            batch: args.uint("batch"),
            tile: args.text("tile").parse().map_err(|_| unknown("tile"))?,
            extra_steps: args.uint("extra_steps"),
            is_fused: args.flag("fused"),
            reach_pct: args.uint("reach_pct"),
            compute_x: args.num("compute_x"),
            hbm_x: args.num("hbm_x"),
        };
        if this.roof == Roof::Measured && this.device().is_some_and(|device| device.measured.is_none()) {
            return Err(FieldError::conflict("roof", "the course has no measurement of this card"));
        }
        if this.unit_ceiling(this.roof).is_none() {
            let what = format!("{} has no {} units", this.device, this.precision.label());
            return Err(FieldError::conflict("precision", what));
        }
        Ok(this)
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        let mut put = |key: &str, value: vramlab_units::Value| map.insert(key.to_owned(), value);
        put("op", self.op.id().into());
        put("precision", self.precision.id().into());
        put("device", self.device.clone().into());
        put("roof", self.roof.id().into());
        put("levels", self.has_levels.into());
        put("all_controls", self.has_all_controls.into());
        put("batch", self.batch.into());
        put("tile", self.tile.to_string().into());
        put("extra_steps", self.extra_steps.into());
        put("fused", self.is_fused.into());
        put("reach_pct", self.reach_pct.into());
        put("compute_x", self.compute_x.into());
        put("hbm_x", self.hbm_x.into());
        map
    }

    pub fn device(&self) -> Option<&'static Device> {
        CEILINGS.device(&self.device)
    }

    fn set(&self, roof: Roof) -> Option<&'static Set> {
        let device = self.device()?;
        match roof {
            Roof::Published => Some(&device.published),
            Roof::Measured => device.measured.as_ref(),
        }
    }

    /// The compute ceiling in TFLOP/s, as the file has it.
    pub fn unit_ceiling(&self, roof: Roof) -> Option<&'static Ceiling> {
        self.precision.unit(self.op).ceiling(self.set(roof)?)
    }

    /// A level's ceiling in GB/s, as the file has it. What nobody publishes is taken from the measurement.
    pub fn tier_ceiling(&self, tier: Tier, roof: Roof) -> Option<&'static Ceiling> {
        let of = |roof| tier.ceiling(self.set(roof)?);
        of(roof).or_else(|| if tier == Tier::Hbm { None } else { of(Roof::Measured) })
    }

    /// What the model is asked: the kernel, with `batch` in place of the reader's if one is given.
    pub fn kernel(&self, batch: u64) -> op_intensity::Question {
        let is_product = self.op.is_product();
        let n = if is_product { SIDE } else { N_ELEMS };
        op_intensity::Question {
            op: self.op,
            elem_bytes: self.precision.elem_bytes(),
            n,
            m: if is_product { batch as f64 } else { 1.0 },
            k: n,
            tile: self.tile as f64,
            inner_tile: self.inner_tile(),
            extra_steps: self.extra_steps as f64,
            is_fused: self.is_fused,
        }
    }

    /// Outputs that a warp keeps to itself, by the side: half a tile at most. Lanes that want one word share it.
    fn inner_tile(&self) -> f64 {
        let most = if matches!(self.precision, Precision::Fp64 | Precision::Fp32) { 32 } else { 64 };
        (self.tile / 2).clamp(1, most) as f64
    }

    /// After another kernel or card was chosen: a precision that goes with them.
    pub fn settle(&mut self) {
        if self.precision == Precision::Tf32 && !self.op.is_product() {
            self.precision = Precision::Fp32;
        }
        if self.unit_ceiling(self.roof).is_none() {
            self.precision = Precision::Bf16;
        }
    }

    pub fn is_scaled(&self) -> bool {
        self.compute_x != 1.0 || self.hbm_x != 1.0
    }
}

/// The kernels of the figure. A decoding linear layer is the product at batch 1.
pub const KERNELS: [Op; 6] = [Op::Copy, Op::Saxpy, Op::Dot, Op::Stencil5, Op::Softmax, Op::Gemm];

pub fn kernel_label(op: Op) -> Text {
    match op {
        Op::Copy => Text::new("拷贝 copy", "copy"),
        Op::Saxpy => Text::new("saxpy", "saxpy"),
        Op::Dot => Text::new("点积 dot", "dot product"),
        Op::Stencil5 => Text::new("五点 stencil", "5-point stencil"),
        Op::Softmax => Text::new("softmax", "softmax"),
        Op::Gemv | Op::Gemm => Text::new("线性层 linear", "linear layer"),
    }
}
