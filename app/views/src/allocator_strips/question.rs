//! What the reader sets: a trace, the card, the allocators side by side, and their settings. Plain data, its fields, and
//! the allocators it stands for.

use super::presets::{self, Preset};
use vramlab_alloc::MIB;
use vramlab_alloc::bfc;
use vramlab_alloc::caching::Config;
use vramlab_alloc::jax::Policy;
use vramlab_alloc::replay::Kind;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// An allocator that a trace is played through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    Native,
    Expandable,
    Bfc,
    Jax,
    StreamPool,
    Plain,
}

impl Engine {
    pub const ALL: [Self; 6] = [Self::Native, Self::Expandable, Self::Bfc, Self::Jax, Self::StreamPool, Self::Plain];

    /// Id in parameters.
    pub fn id(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Expandable => "expandable",
            Self::Bfc => "bfc",
            Self::Jax => "jax",
            Self::StreamPool => "stream_pool",
            Self::Plain => "plain",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Native => Text::new("PyTorch 默认", "PyTorch, native"),
            Self::Expandable => Text::new("PyTorch 可扩展段", "PyTorch, expandable"),
            Self::Bfc => Text::new("BFC（TensorFlow）", "BFC (TensorFlow)"),
            Self::Jax => Text::new("JAX（XLA 的 BFC）", "JAX (XLA's BFC)"),
            Self::StreamPool => Text::new("cudaMallocAsync 池", "cudaMallocAsync pool"),
            Self::Plain => Text::new("cudaMalloc", "cudaMalloc"),
        }
    }

    /// A name for a column of numbers.
    pub fn short(self) -> Text {
        match self {
            Self::Native => Text::new("默认", "native"),
            Self::Expandable => Text::new("可扩展", "expandable"),
            Self::Bfc => Text::new("BFC", "BFC"),
            Self::Jax => Text::new("JAX", "JAX"),
            Self::StreamPool => Text::new("Async 池", "async pool"),
            Self::Plain => Text::new("cudaMalloc", "cudaMalloc"),
        }
    }

    pub fn is_pytorch(self) -> bool {
        matches!(self, Self::Native | Self::Expandable)
    }
}

/// Settings of all allocators. 0 switches off what may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub max_split_mib: u64,
    pub max_non_split_rounding_mib: u64,
    pub large_segment_mib: u64,
    pub divisions: u32,
    pub gc_threshold: f64,
    pub memory_fraction: f64,
    pub release_threshold_mib: u64,
    /// Regions that double; else the whole limit at once.
    pub bfc_grows: bool,
    pub bfc_limit_mib: u64,
    pub jax_policy: JaxPolicy,
    pub jax_fraction: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_split_mib: 0,
            max_non_split_rounding_mib: 20,
            large_segment_mib: 20,
            divisions: 1,
            gc_threshold: 0.0,
            memory_fraction: 0.0,
            release_threshold_mib: 0,
            bfc_grows: true,
            bfc_limit_mib: 0,
            jax_policy: JaxPolicy::Growable,
            jax_fraction: vramlab_alloc::jax::DEFAULT_FRACTION,
        }
    }
}

/// How JAX sets its pool up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JaxPolicy {
    Growable,
    Fixed,
    OnDemand,
    Platform,
}

impl JaxPolicy {
    pub const ALL: [Self; 4] = [Self::Growable, Self::Fixed, Self::OnDemand, Self::Platform];

    pub fn id(self) -> &'static str {
        match self {
            Self::Growable => "growable",
            Self::Fixed => "fixed",
            Self::OnDemand => "on_demand",
            Self::Platform => "platform",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Growable => Text::new("预占、可再涨", "preallocates, grows"),
            Self::Fixed => Text::new("预占、不再涨", "preallocates, fixed"),
            Self::OnDemand => Text::new("按需", "on demand"),
            Self::Platform => Text::new("逐次 cudaMalloc", "cudaMalloc each time"),
        }
    }
}

pub const DIVISIONS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
pub const MOST_TRACE: usize = 8192;
pub const MOST_CAPACITY_MIB: u64 = 1 << 20;
/// A figure steps through no more than this.
pub const MOST_EVENTS: usize = 1000;

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub preset: &'static Preset,
    pub trace: String,
    /// In the order of [`Engine::ALL`] or as the author wrote them.
    pub engines: Vec<Engine>,
    pub capacity_mib: u64,
    pub settings: Settings,
}

impl Question {
    /// The preset as it is.
    pub fn of(preset: &'static Preset) -> Self {
        let mut settings = Settings::default();
        (preset.set)(&mut settings);
        let (engines, capacity_mib) = (preset.engines.to_vec(), preset.capacity_mib);
        Self { preset, trace: preset.trace(), engines, capacity_mib, settings }
    }

    pub fn fields() -> Vec<FieldSpec> {
        let mut fields = of_the_trace();
        fields.extend(of_pytorch());
        fields.extend(of_the_others());
        fields
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let preset = presets::find(args.text("preset")).unwrap_or(&presets::PRESETS[0]);
        let mut this = Self::of(preset);
        if args.has("trace") && !args.text("trace").trim().is_empty() {
            args.text("trace").clone_into(&mut this.trace);
        }
        if args.has("engines") {
            this.engines = engines(args.text("engines"))?;
        }
        if args.has("capacity_mib") {
            this.capacity_mib = args.uint("capacity_mib");
        }
        this.settings.read(args)?;
        this.check()?;
        Ok(this)
    }

    /// What PyTorch refuses is refused by the name of our field.
    pub fn check(&self) -> Result<(), FieldError> {
        for engine in &self.engines {
            self.kind(*engine)?;
        }
        Ok(())
    }

    /// The allocator with these settings.
    pub fn kind(&self, engine: Engine) -> Result<Kind, FieldError> {
        let (settings, capacity) = (&self.settings, self.capacity_mib * MIB);
        Ok(match engine {
            Engine::Native => Kind::Caching(settings.config(false)?),
            Engine::Expandable => Kind::Caching(settings.config(true)?),
            Engine::Bfc => {
                let limit = match settings.bfc_limit_mib {
                    0 => capacity,
                    mib => (mib * MIB).min(capacity),
                };
                let options = if settings.bfc_grows { bfc::Options::growing } else { bfc::Options::fixed };
                Kind::Bfc(options(limit))
            }
            Engine::Jax => Kind::Jax(settings.policy()),
            Engine::StreamPool => Kind::StreamPool { release_threshold_bytes: settings.release_threshold_mib * MIB },
            Engine::Plain => Kind::Plain,
        })
    }

    pub fn params(&self) -> Map {
        let settings = &self.settings;
        let ids: Vec<&str> = self.engines.iter().map(|engine| engine.id()).collect();
        let trace = if self.trace == self.preset.trace() { "" } else { self.trace.as_str() };
        let values: [(&str, Value); 15] = [
            ("preset", self.preset.id.into()),
            ("trace", trace.into()),
            ("engines", ids.join(",").into()),
            ("capacity_mib", self.capacity_mib.into()),
            ("max_split_mib", settings.max_split_mib.into()),
            ("max_non_split_rounding_mib", settings.max_non_split_rounding_mib.into()),
            ("large_segment_mib", settings.large_segment_mib.into()),
            ("divisions", settings.divisions.to_string().into()),
            ("gc_threshold", settings.gc_threshold.into()),
            ("memory_fraction", settings.memory_fraction.into()),
            ("release_threshold_mib", settings.release_threshold_mib.into()),
            ("bfc_policy", if settings.bfc_grows { "growth" } else { "fixed" }.into()),
            ("bfc_limit_mib", settings.bfc_limit_mib.into()),
            ("jax_policy", settings.jax_policy.id().into()),
            ("jax_fraction", settings.jax_fraction.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl Settings {
    fn read(&mut self, args: &Args) -> Result<(), FieldError> {
        for (key, place) in [
            ("max_split_mib", &mut self.max_split_mib),
            ("max_non_split_rounding_mib", &mut self.max_non_split_rounding_mib),
            ("large_segment_mib", &mut self.large_segment_mib),
            ("release_threshold_mib", &mut self.release_threshold_mib),
            ("bfc_limit_mib", &mut self.bfc_limit_mib),
        ] {
            if args.has(key) {
                *place = args.uint(key);
            }
        }
        for (key, place) in [
            ("gc_threshold", &mut self.gc_threshold),
            ("memory_fraction", &mut self.memory_fraction),
            ("jax_fraction", &mut self.jax_fraction),
        ] {
            if args.has(key) {
                *place = args.num(key);
            }
        }
        if args.has("divisions") {
            self.divisions = args.text("divisions").parse().unwrap_or(1);
        }
        if args.has("bfc_policy") {
            self.bfc_grows = args.text("bfc_policy") == "growth";
        }
        if args.has("jax_policy") {
            let chosen = JaxPolicy::ALL.into_iter().find(|policy| policy.id() == args.text("jax_policy"));
            self.jax_policy = chosen.unwrap_or(JaxPolicy::Growable);
        }
        Ok(())
    }

    fn config(&self, expandable_segments: bool) -> Result<Config, FieldError> {
        let mut config = Config {
            expandable_segments,
            max_split_bytes: (self.max_split_mib > 0).then_some(self.max_split_mib * MIB),
            max_non_split_rounding_bytes: self.max_non_split_rounding_mib * MIB,
            gc_threshold: (self.gc_threshold > 0.0).then_some(self.gc_threshold),
            fraction: (self.memory_fraction > 0.0).then_some(self.memory_fraction),
            large_segment_bytes: self.large_segment_mib * MIB,
            ..Config::default()
        };
        config.roundup_divisions.fill(self.divisions);
        let field = |name: &str| match name {
            "max_split_size_mb" => "max_split_mib",
            "max_non_split_rounding_mb" => "max_non_split_rounding_mib",
            "large_segment_size_mb" => "large_segment_mib",
            "garbage_collection_threshold" => "gc_threshold",
            "per_process_memory_fraction" => "memory_fraction",
            _ => "divisions",
        };
        config
            .check()
            .map_err(|error| FieldError::conflict(field(error.name.get(vramlab_units::Lang::En)), error.to_string()))?;
        Ok(config)
    }

    fn policy(&self) -> Policy {
        let fraction = self.jax_fraction;
        match self.jax_policy {
            JaxPolicy::Growable => Policy::Growable { start: fraction, cap: 1.0 },
            JaxPolicy::Fixed => Policy::Fixed { fraction },
            JaxPolicy::OnDemand => Policy::OnDemand { fraction },
            JaxPolicy::Platform => Policy::Platform,
        }
    }
}

fn engines(text: &str) -> Result<Vec<Engine>, FieldError> {
    let legal = "some of native, expandable, bfc, jax, stream_pool, plain, with commas between them, each once";
    let bad = || FieldError::illegal("engines", &text.into(), legal);
    let mut out = Vec::new();
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        let engine = Engine::ALL.into_iter().find(|engine| engine.id() == word).ok_or_else(bad)?;
        if out.contains(&engine) {
            return Err(bad());
        }
        out.push(engine);
    }
    if out.is_empty() { Err(bad()) } else { Ok(out) }
}

fn mib(key: &'static str, least: i64, zh: &'static str, en: &'static str) -> FieldSpec {
    FieldSpec::int(key, "MiB", least, MOST_CAPACITY_MIB as i64, Text::new(zh, en)).optional()
}

fn share(key: &'static str, min: f64, max: f64, zh: &'static str, en: &'static str) -> FieldSpec {
    FieldSpec::num(key, "%", min, max, Text::new(zh, en)).optional()
}

fn choice(key: &'static str, options: Vec<String>, doc: Text) -> FieldSpec {
    let options = options.into_iter().map(Into::into).collect();
    FieldSpec::new(key, "", FieldKind::Choice { options }, doc)
}

fn of_the_trace() -> Vec<FieldSpec> {
    let ids = presets::PRESETS.iter().map(|preset| preset.id.to_owned()).collect();
    let trace = Text::new(
        "轨迹，一个词一个事件；空着就是预设的。写法同 caching_allocator 的 trace",
        "The trace, one event a word, as caching_allocator has it; empty for the preset's",
    );
    let engines = Text::new(
        "并排看哪几种分配器：native、expandable、bfc、jax、stream_pool、plain，逗号分隔",
        "Allocators side by side: native, expandable, bfc, jax, stream_pool, plain, with commas",
    );
    vec![
        choice("preset", ids, Text::new("一段现成的轨迹，连同设置", "A trace with settings to start from"))
            .default_value(presets::PRESETS[0].id),
        FieldSpec::new("trace", "", FieldKind::Text { max_len: MOST_TRACE }, trace).optional(),
        FieldSpec::new("engines", "", FieldKind::Text { max_len: 80 }, engines).optional(),
        mib("capacity_mib", 1, "整张卡的显存", "All memory of the card"),
    ]
}

fn of_pytorch() -> Vec<FieldSpec> {
    let divisions = DIVISIONS.iter().map(u32::to_string).collect();
    vec![
        mib(
            "max_split_mib",
            0,
            "PyTorch：这么大的块不切；0 为不限",
            "PyTorch: blocks of this size are not split; 0 for no limit",
        ),
        mib(
            "max_non_split_rounding_mib",
            1,
            "PyTorch：不切的块最多可以大出多少",
            "PyTorch: how much larger than the request an unsplit block may be",
        ),
        mib("large_segment_mib", 10, "PyTorch：大池共用段的大小", "PyTorch: the shared segment of the large pool"),
        choice(
            "divisions",
            divisions,
            Text::new("PyTorch：2 的幂之间分几档；1 为关", "PyTorch: divisions between powers of two; 1 is off"),
        )
        .optional(),
        share(
            "gc_threshold",
            0.0,
            0.99,
            "PyTorch：回收旧块的阈值；0 为关",
            "PyTorch: threshold for returning old blocks; 0 is off",
        ),
        share(
            "memory_fraction",
            0.0,
            1.0,
            "PyTorch：本进程的份额；0 为不设",
            "PyTorch: share of this process; 0 for none",
        ),
    ]
}

fn of_the_others() -> Vec<FieldSpec> {
    let policies = JaxPolicy::ALL.iter().map(|policy| policy.id().to_owned()).collect();
    vec![
        mib(
            "release_threshold_mib",
            0,
            "cudaMallocAsync 池的释放阈值",
            "Release threshold of the cudaMallocAsync pool",
        ),
        choice(
            "bfc_policy",
            vec!["growth".to_owned(), "fixed".to_owned()],
            Text::new("BFC：区域按需翻倍，还是一次拿满", "BFC: regions that double, or the limit at once"),
        )
        .optional(),
        mib("bfc_limit_mib", 0, "BFC：上限；0 为整张卡", "BFC: the limit; 0 for the card"),
        choice("jax_policy", policies, Text::new("JAX：怎么占显存", "JAX: how the pool is set up")).optional(),
        share("jax_fraction", 0.01, 1.0, "JAX：占整卡的份额", "JAX: its share of the card"),
    ]
}
