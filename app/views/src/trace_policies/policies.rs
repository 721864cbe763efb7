//! The allocators that are compared, and what each would have held. All of it is the engines'.

use vramlab_alloc::bfc::Options as Bfc;
use vramlab_alloc::caching::Config;
use vramlab_alloc::jax::Policy as Jax;
use vramlab_alloc::replay::Kind;
use vramlab_alloc::{MIB, tensorflow};
use vramlab_snapshot::policies::{Held, hold, trace_of};
use vramlab_snapshot::{Analysis, Options, read};
use vramlab_units::Text;

/// A recording that is bundled with the program unpacks to less.
const LIMIT: usize = 64 << 20;
/// The card that the recordings were made on: an H200.
const CC_MAJOR: u32 = 9;

/// An allocator with its settings, in the order shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Native,
    Expandable,
    Divisions,
    Pool,
    Growth,
    JaxDefault,
    TensorFlow,
    Driver,
}

impl Policy {
    pub const ALL: [Self; 8] = [
        Self::Native,
        Self::Expandable,
        Self::Divisions,
        Self::Pool,
        Self::Growth,
        Self::JaxDefault,
        Self::TensorFlow,
        Self::Driver,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Expandable => "expandable",
            Self::Divisions => "divisions",
            Self::Pool => "stream_pool",
            Self::Growth => "bfc_growth",
            Self::JaxDefault => "jax",
            Self::TensorFlow => "tensorflow",
            Self::Driver => "plain",
        }
    }

    pub fn name(self) -> Text {
        match self {
            Self::Native => Text::new("PyTorch 默认", "PyTorch, default"),
            Self::Expandable => Text::new("PyTorch，expandable_segments", "PyTorch, expandable_segments"),
            Self::Divisions => Text::new("PyTorch，roundup_power2_divisions:4", "PyTorch, roundup_power2_divisions:4"),
            Self::Pool => Text::new("cudaMallocAsync，阈值最大", "cudaMallocAsync, highest threshold"),
            Self::Growth => Text::new("BFC，按需翻倍", "BFC, growing"),
            Self::JaxDefault => Text::new("JAX 默认", "JAX, default"),
            Self::TensorFlow => Text::new("TensorFlow 默认", "TensorFlow, default"),
            Self::Driver => Text::new("每次 cudaMalloc", "cudaMalloc each time"),
        }
    }

    /// What it takes before the first tensor is a share of the card.
    pub fn preallocates(self) -> bool {
        matches!(self, Self::JaxDefault | Self::TensorFlow)
    }

    fn kind(self, capacity: u64) -> Kind {
        let pytorch = |settings: &str| Kind::Caching(Config::parse(settings).unwrap_or_default());
        match self {
            Self::Native => pytorch(""),
            Self::Expandable => pytorch("expandable_segments:True"),
            Self::Divisions => pytorch("roundup_power2_divisions:4"),
            Self::Pool => Kind::StreamPool { release_threshold_bytes: u64::MAX },
            Self::Growth => Kind::Bfc(Bfc::growing(capacity)),
            Self::JaxDefault => Kind::Jax(Jax::default()),
            Self::TensorFlow => Kind::Bfc(tensorflow::options(capacity, CC_MAJOR, false)),
            Self::Driver => Kind::Plain,
        }
    }
}

/// A recording's requests, ready to be played.
pub struct Recording {
    trace: vramlab_alloc::trace::Trace,
    pub n_requests: usize,
}

impl Recording {
    /// From the bytes of a snapshot.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let snapshot = read(bytes, LIMIT).map_err(|error| error.to_string())?;
        let analysis = Analysis::of(&snapshot, 0, &Options::default());
        let trace = trace_of(&snapshot, &analysis);
        let n_requests = trace.n_requests();
        Ok(Self { trace, n_requests })
    }

    /// Every policy on a card, in the order of [`Policy::ALL`].
    pub fn play(&self, capacity_mib: u64) -> Vec<Held> {
        let capacity = capacity_mib * MIB;
        Policy::ALL.iter().map(|policy| hold(&self.trace, &policy.kind(capacity), capacity)).collect()
    }
}
