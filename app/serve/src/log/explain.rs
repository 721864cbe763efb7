//! How the printed numbers hang together: each that follows from others is computed again.

use super::{Found, Key, Log};

/// One sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub of: Key,
    /// With the numbers in it: `23.58GiB × 0.90 − …`.
    pub formula: String,
    pub computed: f64,
    pub printed: f64,
    /// What the rounding of the printed numbers allows.
    pub tolerance: f64,
}

impl Check {
    pub fn agrees(&self) -> bool {
        (self.computed - self.printed).abs() <= self.tolerance
    }
}

/// Tokens of a block where the log names none: the engines' default.
pub const DEFAULT_BLOCK: f64 = 16.0;

/// Every sum that the log has the numbers for.
pub fn explain(log: &Log) -> Vec<Check> {
    [usable(log), pool(log), tokens(log), concurrency(log), needed(log), both(log)].into_iter().flatten().collect()
}

fn check(of: &Found, formula: String, computed: f64, tolerance: f64) -> Check {
    Check { of: of.key, formula, computed, printed: of.value, tolerance: tolerance + of.rounding * 1.01 }
}

fn usable(log: &Log) -> Option<Check> {
    let (total, share, usable) = (log.get(Key::Total)?, log.get(Key::Utilisation)?, log.get(Key::Usable)?);
    let formula = format!("{} × {}", total.printed, share.printed);
    // A utilisation is printed with two digits and meant exactly.
    Some(check(usable, formula, total.value * share.value, total.rounding))
}

/// What is left of the usable part. Versions differ in what they take off.
fn pool(log: &Log) -> Option<Check> {
    let pool = log.get(Key::Pool)?;
    let (total, share) = (log.get(Key::Total)?, log.get(Key::Utilisation)?);
    let mut taken: Vec<&Found> = Vec::new();
    if let Some(peak) = log.get(Key::TorchPeak) {
        taken.extend([Some(peak), log.get(Key::NonTorch)].into_iter().flatten());
    } else if let Some(consumed) = log.get(Key::Consumed) {
        taken.extend([Some(consumed), log.get(Key::ActivationPeak)].into_iter().flatten());
    } else {
        taken.extend([Key::Weights, Key::NonTorch, Key::ActivationPeak].into_iter().filter_map(|key| log.get(key)));
        if taken.len() < 3 {
            return None;
        }
    }
    let minus: String = taken.iter().map(|found| format!(" − {}", found.printed)).collect();
    let computed = total.value * share.value - taken.iter().map(|found| found.value).sum::<f64>();
    let tolerance = total.rounding + taken.iter().map(|found| found.rounding).sum::<f64>();
    Some(check(pool, format!("{} × {}{minus}", total.printed, share.printed), computed, tolerance))
}

/// Blocks times their size, where both are printed.
fn tokens(log: &Log) -> Option<Check> {
    let (tokens, blocks) = (log.get(Key::Tokens)?, log.get(Key::GpuBlocks)?);
    let size = log.value(Key::BlockTokens).unwrap_or(DEFAULT_BLOCK);
    Some(check(tokens, format!("{} × {size}", blocks.printed), blocks.value * size, 0.0))
}

fn concurrency(log: &Log) -> Option<Check> {
    let (times, len) = (log.get(Key::Concurrency)?, log.get(Key::MaxLen)?);
    let (tokens, shown) = match (log.get(Key::Tokens), log.get(Key::GpuBlocks)) {
        (Some(tokens), _) => (tokens.value, tokens.printed.clone()),
        (None, Some(blocks)) => {
            let size = log.value(Key::BlockTokens).unwrap_or(DEFAULT_BLOCK);
            (blocks.value * size, format!("{} × {size}", blocks.printed))
        }
        _ => return None,
    };
    // The present V1 prints ⌊concurrency · length⌋ as tokens: one token less at most.
    Some(check(times, format!("{shown} ÷ {}", len.printed), tokens / len.value, 1.0 / len.value))
}

/// The longest request that fits, from what one of the longest would need.
fn needed(log: &Log) -> Option<Check> {
    let (needed, pool) = (log.get(Key::Needed)?, log.get(Key::Pool)?);
    let (len, estimated) = (log.get(Key::MaxLen)?, log.get(Key::EstimatedLen)?);
    let each = needed.value / len.value;
    let formula = format!("{} ÷ ({} ÷ {})", pool.printed, needed.printed, len.printed);
    let tolerance = (pool.rounding + needed.rounding * pool.value / needed.value) / each + DEFAULT_BLOCK;
    Some(check(estimated, formula, pool.value / each, tolerance))
}

/// SGLang prints keys and values apart; they are equal unless heads differ in size.
fn both(log: &Log) -> Option<Check> {
    let (keys, values) = (log.get(Key::KeyBytes)?, log.get(Key::ValueBytes)?);
    Some(check(values, keys.printed.clone(), keys.value, keys.rounding))
}

impl Log {
    /// Bytes that a token takes on one card, from whatever of the log has it.
    pub fn bytes_per_token(&self) -> Option<f64> {
        if let (Some(needed), Some(len)) = (self.value(Key::Needed), self.value(Key::MaxLen)) {
            return Some(needed / len).filter(|each| each.is_finite());
        }
        let tokens = match (self.value(Key::Tokens), self.value(Key::GpuBlocks)) {
            (Some(tokens), _) => tokens,
            (None, Some(blocks)) => blocks * self.value(Key::BlockTokens).unwrap_or(DEFAULT_BLOCK),
            _ => return None,
        };
        let pool = match (self.value(Key::KeyBytes), self.value(Key::ValueBytes)) {
            (Some(keys), Some(values)) => keys + values,
            _ => self.value(Key::Pool)?,
        };
        (tokens > 0.0).then_some(pool / tokens)
    }
}
