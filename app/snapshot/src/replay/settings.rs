//! The allocator's settings, as a snapshot names them.

use crate::model::Snapshot;
use vramlab_alloc::caching::{Config, ConfigError};

/// The settings that a snapshot was recorded with.
pub fn config_of(snapshot: &Snapshot) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    let number = |name: &str| snapshot.setting(name).and_then(|text| text.parse::<f64>().ok());
    // What the process was started with, or was told last, for what has no field of its own.
    if let Some(written) = snapshot.setting("PYTORCH_CUDA_ALLOC_CONF").and_then(|text| Config::parse(text).ok()) {
        config.max_non_split_rounding_bytes = written.max_non_split_rounding_bytes;
        config.large_segment_bytes = written.large_segment_bytes;
    }
    config.expandable_segments = snapshot.setting("expandable_segments") == Some("True");
    config.max_split_bytes = number("max_split_size").filter(|bytes| *bytes > 0.0).map(|bytes| bytes as u64);
    config.gc_threshold = number("garbage_collection_threshold").filter(|share| *share > 0.0);
    if let Some(bytes) = number("large_segment_size").filter(|bytes| *bytes > 0.0) {
        config.large_segment_bytes = bytes as u64;
    }
    if let Some(classes) = snapshot.setting("roundup_power2_divisions") {
        let inner = classes.trim_start_matches('[').trim_end_matches(']');
        for (class, n) in inner.split(',').filter_map(|pair| pair.split_once(':')) {
            let class = class.parse::<u64>().ok().filter(|mib| mib.is_power_of_two()).map(|mib| mib.ilog2() as usize);
            if let (Some(class), Ok(n)) = (class, n.parse()) {
                config.roundup_divisions[class.min(15)] = n;
            }
        }
    }
    config.check()?;
    Ok(config)
}
