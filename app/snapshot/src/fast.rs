//! Maps whose keys come from a file: fast, and seeded anew in each process, so that no file can be made to collide.

/// A hash map with a fast hasher.
pub type FastMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
