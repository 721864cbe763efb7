//! Settings of the caching allocator, as `PYTORCH_ALLOC_CONF` writes them, and the rounding they imply.

use crate::MIB;
use vramlab_units::{Localized, Text};

/// Blocks are multiples of this.
pub const MIN_BLOCK: u64 = 512;
/// Requests up to this, rounded, come from the small pool.
pub const SMALL: u64 = MIB;
/// Segment of the small pool.
pub const SMALL_SEGMENT: u64 = 2 * MIB;
/// Requests below this take a shared large segment, the others one of their own.
pub const MIN_LARGE: u64 = 10 * MIB;
/// Own segments, and pages of the driver, are multiples of this.
pub const ROUND_LARGE: u64 = 2 * MIB;
/// Sizes in settings reach this, 1 TiB.
const MOST_MIB: u64 = 1 << 20;
/// Classes of `roundup_power2_divisions`: class k holds [2^k, 2^(k+1)) MiB.
pub const N_CLASSES: usize = 16;

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{} = {value} is not allowed; it must be {}", name.get(vramlab_units::Lang::En), legal.get(vramlab_units::Lang::En))]
pub struct ConfigError {
    pub name: Localized,
    pub value: String,
    pub legal: Localized,
}

impl ConfigError {
    /// The same in both languages.
    pub fn told(&self) -> Localized {
        let (name, legal) = (self.name.get(vramlab_units::Lang::Zh), self.legal.get(vramlab_units::Lang::Zh));
        Localized::both(format!("{name} = {} 不合法：要{legal}", self.value), self.to_string())
    }
}

fn bad(name: &str, value: impl Into<String>, legal: impl Into<Localized>) -> ConfigError {
    ConfigError { name: Localized::both(name, name), value: value.into(), legal: legal.into() }
}

const SHARE: Text = Text::new("写 0 到 1 之间的数", "a number between 0 and 1");
const BOOL: Text = Text::new("写 True 或 False", "True or False");
const WHOLE: Text = Text::new("写 MiB 的整数", "a whole number of MiB");
const WHOLE_ABOVE: Text = Text::new("写大于 20 的整数（MiB）", "a whole number of MiB above 20");
const POWER: Text = Text::new("写 2 的幂", "a power of two");
const CLASS: Text = Text::new("写 2 的幂（MiB），或 >", "a power of two in MiB, or >");
const ABOVE_SEGMENT: Text = Text::new("比大段的 20 MiB 大", "above the large segment, 20 MiB");
/// As PyTorch checks them: `per_process_memory_fraction` may be both ends, the threshold neither.
const CLOSED: Text = Text::new("在 0 到 1 之间，两端都行", "from 0 to 1");
const OPEN: Text = Text::new("大于 0、小于 1", "above 0 and below 1");
const PAIRS: Text = Text::new("写成 名:值,名:值", "name:value,name:value");

/// The allocator's settings; [`Config::default`] is PyTorch's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub expandable_segments: bool,
    /// Blocks of this size and more are neither split nor given to smaller requests.
    pub max_split_bytes: Option<u64>,
    /// How much larger than the request an unsplittable block may be.
    pub max_non_split_rounding_bytes: u64,
    /// Divisions of a power of two that sizes are rounded to, by class; 0 and 1 switch it off.
    pub roundup_divisions: [u32; N_CLASSES],
    /// Share of the limit above which old free blocks are returned; works only with a fraction.
    pub gc_threshold: Option<f64>,
    /// Share of the device that this process may reserve.
    pub fraction: Option<f64>,
    /// Shared segment of the large pool.
    pub large_segment_bytes: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            expandable_segments: false,
            max_split_bytes: None,
            max_non_split_rounding_bytes: 20 * MIB,
            roundup_divisions: [0; N_CLASSES],
            gc_threshold: None,
            fraction: None,
            large_segment_bytes: 20 * MIB,
        }
    }
}

impl Config {
    /// Reads `expandable_segments:True,max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2,>:4]`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut this = Self::default();
        for (name, value) in pairs(text)? {
            this.set(name, value)?;
        }
        this.check()?;
        Ok(this)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        let whole = |legal| value.parse::<u64>().map_err(|_| bad(name, value, legal));
        let share = || value.parse::<f64>().map_err(|_| bad(name, value, SHARE));
        match name {
            "expandable_segments" => {
                self.expandable_segments = match value {
                    "True" | "true" => true,
                    "False" | "false" => false,
                    _ => return Err(bad(name, value, BOOL)),
                }
            }
            "max_split_size_mb" => self.max_split_bytes = Some(mib(name, whole(WHOLE_ABOVE)?)?),
            "max_non_split_rounding_mb" => {
                self.max_non_split_rounding_bytes = mib(name, whole(WHOLE_ABOVE)?)?;
            }
            "large_segment_size_mb" => self.large_segment_bytes = mib(name, whole(WHOLE)?)?,
            "garbage_collection_threshold" => self.gc_threshold = Some(share()?),
            "per_process_memory_fraction" => self.fraction = Some(share()?),
            "roundup_power2_divisions" => self.roundup_divisions = divisions(value)?,
            // What changes where memory comes from and not which block is chosen.
            "backend"
            | "pinned_use_cuda_host_register"
            | "pinned_num_register_threads"
            | "release_lock_on_cudamalloc"
            | "pinned_use_background_threads"
            | "graph_capture_record_stream_reuse" => {}
            _ => {
                let legal = "expandable_segments, max_split_size_mb, max_non_split_rounding_mb, large_segment_size_mb, \
                             garbage_collection_threshold, per_process_memory_fraction or roundup_power2_divisions";
                return Err(ConfigError {
                    name: Localized::both("设置项", "the setting"),
                    value: name.to_owned(),
                    legal: Localized::both(
                        format!("写 {} 之一", legal.replace(" or ", ", ").replace(", ", "、")),
                        legal,
                    ),
                });
            }
        }
        Ok(())
    }

    /// What PyTorch refuses is refused here, and sizes beyond any device.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, bytes, least) in [
            // A shared segment holds the largest request that takes one.
            ("large_segment_size_mb", Some(self.large_segment_bytes), MIN_LARGE),
            ("max_split_size_mb", self.max_split_bytes, MIB),
            ("max_non_split_rounding_mb", Some(self.max_non_split_rounding_bytes), MIB),
        ] {
            if let Some(bytes) = bytes.filter(|bytes| !(least..=MOST_MIB * MIB).contains(bytes)) {
                let least = least / MIB;
                let legal = Localized::both(
                    format!("在 {least} 到 {MOST_MIB} MiB 之间"),
                    format!("from {least} to {MOST_MIB} MiB"),
                );
                return Err(bad(name, (bytes / MIB).to_string(), legal));
            }
        }
        if let Some(bytes) = self.max_split_bytes.filter(|bytes| *bytes <= self.large_segment_bytes) {
            return Err(bad("max_split_size_mb", (bytes / MIB).to_string(), ABOVE_SEGMENT));
        }
        if let Some(share) = self.gc_threshold.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(bad("garbage_collection_threshold", share.to_string(), OPEN));
        }
        if let Some(share) = self.fraction.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(bad("per_process_memory_fraction", share.to_string(), CLOSED));
        }
        if let Some(n) = self.roundup_divisions.iter().find(|n| **n > 1 && !n.is_power_of_two()) {
            return Err(bad("roundup_power2_divisions", n.to_string(), POWER));
        }
        Ok(())
    }

    /// What a request takes, before a block is chosen.
    pub fn round(&self, bytes: u64) -> u64 {
        if bytes < MIN_BLOCK {
            return MIN_BLOCK;
        }
        let divisions = u64::from(self.divisions_of(bytes));
        if divisions > 1 && bytes > MIN_BLOCK * divisions {
            return round_to_division(bytes, divisions);
        }
        bytes.next_multiple_of(MIN_BLOCK)
    }

    fn divisions_of(&self, bytes: u64) -> u32 {
        let class = (bytes / MIB).max(1).ilog2() as usize;
        self.roundup_divisions[class.min(N_CLASSES - 1)]
    }

    /// The segment that a rounded request asks the device for.
    pub fn segment_bytes(&self, rounded: u64) -> u64 {
        match rounded {
            size if size <= SMALL => SMALL_SEGMENT,
            size if size < MIN_LARGE => self.large_segment_bytes,
            size => size.next_multiple_of(ROUND_LARGE),
        }
    }
}

fn round_to_division(bytes: u64, divisions: u64) -> u64 {
    if bytes.is_power_of_two() {
        return bytes;
    }
    let power = 1 << bytes.ilog2();
    let step = power >> divisions.ilog2();
    if step == 0 { power << 1 } else { bytes.next_multiple_of(step) }
}

fn mib(name: &str, n: u64) -> Result<u64, ConfigError> {
    n.checked_mul(MIB).ok_or_else(|| bad(name, n.to_string(), Text::new("小于 2^44 MiB", "less than 2^44 MiB")))
}

/// `4` for every class, or `[256:1,512:2,1024:4,>:8]`: the first entry also covers the classes below it, `>` those above
/// the last one named; classes in between that are not named stay off.
fn divisions(value: &str) -> Result<[u32; N_CLASSES], ConfigError> {
    let name = "roundup_power2_divisions";
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad(name, text, POWER));
    let Some(list) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return Ok([number(value)?; N_CLASSES]);
    };
    let mut out = [0; N_CLASSES];
    let mut last = None;
    for entry in list.split(',') {
        let (key, n) = entry
            .split_once(':')
            .ok_or_else(|| bad(name, entry, Text::new("写成 MiB:份数，如 256:2", "MiB:divisions, as in 256:2")))?;
        let n = number(n)?;
        let key = key.trim();
        if key == ">" {
            out[last.map_or(1, |last: usize| last + 1).min(N_CLASSES)..].fill(n);
            continue;
        }
        let size: u64 = key.parse().map_err(|_| bad(name, key, CLASS))?;
        if !size.is_power_of_two() {
            return Err(bad(name, key, CLASS));
        }
        let class = (size.ilog2() as usize).min(N_CLASSES - 1);
        if last.is_none() {
            out[..class].fill(n);
        }
        out[class] = n;
        last = Some(class);
    }
    Ok(out)
}

/// `name:value` pairs; a value in brackets may hold commas.
fn pairs(text: &str) -> Result<Vec<(&str, &str)>, ConfigError> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once(':').ok_or_else(|| ConfigError {
            name: Localized::both("设置", "the settings"),
            value: rest.to_owned(),
            legal: PAIRS.into(),
        })?;
        let end = match after.strip_prefix('[') {
            Some(_) => after
                .find(']')
                .map(|at| at + 1)
                .ok_or_else(|| bad(name, after, Text::new("用 ] 收尾", "closed by ]")))?,
            None => after.find(',').unwrap_or(after.len()),
        };
        out.push((name.trim(), after[..end].trim()));
        rest = after[end..].trim_start_matches([',', ' ']);
    }
    Ok(out)
}
