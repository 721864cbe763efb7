//! The question of the bins: a trace, how the pool grows, its limit, the card. Plain data and its fields.

use vramlab_alloc::MIB;
use vramlab_alloc::bfc::Options;
use vramlab_alloc::replay::Kind;
use vramlab_alloc::trace::Trace;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// Limits and cards of this figure, in MiB.
pub const MOST_MIB: u64 = 1 << 18;
/// A figure is stepped through by hand.
pub const MOST_EVENTS: usize = 256;
const MOST_TEXT: usize = 4096;

/// Traces worth looking at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    Growth,
    Holes,
    Waste,
    Split,
}

impl Preset {
    pub const ALL: [Self; 4] = [Self::Growth, Self::Holes, Self::Waste, Self::Split];

    /// Id in parameters.
    pub fn id(self) -> &'static str {
        match self {
            Self::Growth => "growth",
            Self::Holes => "holes",
            Self::Waste => "waste",
            Self::Split => "split",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.id() == id)
    }

    fn words(self) -> &'static str {
        match self {
            Self::Growth => "a:700 b:1M c:1048577 d:10M e:19.5M",
            Self::Holes => "a:6M b:6M c:6M -a -c d:10M -b e:10M",
            Self::Waste => "a:100M",
            Self::Split => "a:700M",
        }
    }

    /// Whether the pool grows, and its limit in MiB.
    fn pool(self) -> (bool, u64) {
        match self {
            Self::Growth => (true, 1024),
            Self::Holes => (false, 20),
            Self::Waste => (false, 150),
            Self::Split => (false, 1024),
        }
    }

    /// The event that shows the point, counted from 1.
    fn telling(self) -> usize {
        match self {
            Self::Growth => 2,
            Self::Holes => 6,
            Self::Waste | Self::Split => 1,
        }
    }

    fn question(self) -> Question {
        let (grows, limit_mib) = self.pool();
        Question {
            preset: Some(self),
            trace: Trace::parse(self.words()).unwrap_or_default(),
            words: self.words().to_owned(),
            grows,
            limit_mib,
            capacity_mib: None,
        }
    }
}

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// None once the reader has changed something.
    pub preset: Option<Preset>,
    pub trace: Trace,
    /// The trace as text.
    words: String,
    pub grows: bool,
    pub limit_mib: u64,
    /// The card, where it holds less than the limit.
    pub capacity_mib: Option<u64>,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, options: Vec<&'static str>, doc| {
            let options = options.into_iter().map(Into::into).collect();
            FieldSpec::new(key, "", FieldKind::Choice { options }, doc)
        };
        let mib = |key, zh, en| FieldSpec::int(key, "MiB", 1, MOST_MIB as i64, Text::new(zh, en)).optional();
        let trace = Text::new(
            "轨迹，一个词一个事件：a:9M 申请，-a 释放；空着就用预设的",
            "The trace, one event a word: a:9M asks, -a frees; empty for the preset's",
        );
        let policy = Text::new(
            "growth：区域翻倍；fixed：一次拿满上限",
            "growth: regions that double; fixed: the whole limit at once",
        );
        vec![
            choice("preset", Preset::ALL.map(Preset::id).to_vec(), Text::new("现成的轨迹", "A trace at hand"))
                .default_value("growth"),
            FieldSpec::new("trace", "", FieldKind::Text { max_len: MOST_TEXT }, trace).optional(),
            choice("policy", vec!["growth", "fixed"], policy).optional(),
            mib("limit_mib", "池的上限", "Limit of the pool"),
            mib("capacity_mib", "卡上能给的；不写就给得起上限", "What the card can give; else the limit"),
            FieldSpec::int("event", "1", 1, MOST_EVENTS as i64, Text::new("看到第几个事件", "Events that are over"))
                .optional(),
        ]
    }

    /// The question, and the event to look at.
    pub fn from_args(args: &Args) -> Result<(Self, usize), FieldError> {
        let preset = Preset::from_id(args.text("preset")).unwrap_or(Preset::Growth);
        let mut this = preset.question();
        let own = args.has("trace").then(|| args.text("trace")).filter(|words| !words.is_empty());
        if let Some(words) = own {
            this.trace = read(words)?;
            this.words = words.to_owned();
        }
        if args.has("policy") {
            this.grows = args.text("policy") == "growth";
        }
        if args.has("limit_mib") {
            this.limit_mib = args.uint("limit_mib");
        }
        if args.has("capacity_mib") {
            this.capacity_mib = Some(args.uint("capacity_mib"));
        }
        if this != preset.question() {
            this.preset = None;
        }
        let event = match (args.has("event"), this.preset) {
            (true, _) => args.uint("event") as usize,
            (false, Some(preset)) => preset.telling(),
            (false, None) => this.n_events(),
        };
        if event > this.n_events() {
            let legal = format!("an integer from 1 to {}", this.n_events());
            return Err(FieldError::illegal("event", &event.into(), legal));
        }
        Ok((this, event))
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        if let Some(preset) = self.preset {
            map.insert("preset".into(), preset.id().into());
            return map;
        }
        map.insert("trace".into(), self.words.clone().into());
        map.insert("policy".into(), if self.grows { "growth" } else { "fixed" }.into());
        map.insert("limit_mib".into(), self.limit_mib.into());
        if let Some(capacity) = self.capacity_mib {
            map.insert("capacity_mib".into(), capacity.into());
        }
        map
    }

    /// Another trace at hand, and the event that shows its point.
    pub fn of_preset(preset: Preset) -> (Self, usize) {
        (preset.question(), preset.telling())
    }

    pub fn n_events(&self) -> usize {
        self.trace.events().len()
    }

    pub fn limit_bytes(&self) -> u64 {
        self.limit_mib * MIB
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_mib.unwrap_or(self.limit_mib) * MIB
    }

    pub fn options(&self) -> Options {
        if self.grows { Options::growing(self.limit_bytes()) } else { Options::fixed(self.limit_bytes()) }
    }

    pub fn kind(&self) -> Kind {
        Kind::Bfc(self.options())
    }

    /// The size of the last request, which a slider moves.
    pub fn last_request(&self) -> Option<u64> {
        self.trace.events().iter().rev().find_map(|event| match event {
            vramlab_alloc::trace::Event::Malloc { bytes, .. } => Some(*bytes),
            _ => None,
        })
    }

    pub fn set_last_request(&mut self, bytes: u64) {
        let words: Vec<&str> = self.words.split_whitespace().collect();
        let Some(at) = words.iter().rposition(|word| word.contains(':')) else { return };
        let name = words[at].split(':').next().unwrap_or_default();
        let changed = format!("{name}:{bytes}");
        let words: Vec<&str> =
            words.iter().enumerate().map(|(idx, word)| if idx == at { &changed } else { *word }).collect();
        let words = words.join(" ");
        if let Ok(trace) = Trace::parse(&words) {
            (self.trace, self.words, self.preset) = (trace, words, None);
        }
    }
}

/// A trace short enough to be stepped through, of requests and frees alone.
fn read(words: &str) -> Result<Trace, FieldError> {
    let conflict = |reason: String| FieldError::conflict("trace", reason);
    let trace = Trace::parse(words).map_err(|error| conflict(error.to_string()))?;
    match trace.events().len() {
        0 => Err(conflict("it has no event; write a:9M for a request".to_owned())),
        1..=MOST_EVENTS => Ok(trace),
        n => Err(conflict(format!("it has {n} events; this figure takes at most {MOST_EVENTS}"))),
    }
}
