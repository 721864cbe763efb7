//! What the machine says about its processor: `/proc` and `/sys` on Linux, elsewhere what the standard library knows.
//! A fact that it does not tell is absent.

use crate::sys;
use std::fs;
use std::path::Path;
use vramlab_trace::DeviceFacts;

/// Everything that is known here and now; free memory changes.
pub fn facts() -> DeviceFacts {
    let info = read("/proc/cpuinfo");
    let memory = read("/proc/meminfo");
    let caches = caches(Path::new("/sys/devices/system/cpu/cpu0/cache"));
    let size = |level: u32| caches.iter().find(|cache| cache.level == level).map(|cache| cache.bytes);
    let last = caches.iter().max_by_key(|cache| cache.level).filter(|cache| cache.level > 1).map(|cache| cache.bytes);
    DeviceFacts {
        name: name(&info),
        driver: driver(),
        l1_bytes: size(1),
        l2_bytes: size(2),
        // The last cache, whatever its level; what only `/proc` tells is that one on x86.
        l3_bytes: last.or_else(|| value(&info, "cache size").and_then(kilobytes)),
        line_bytes: caches.first().and_then(|cache| cache.line_bytes).or_else(|| number(value(&info, "clflush size")?)),
        n_cores: Some(n_cores() as f64),
        total_bytes: value(&memory, "MemTotal").and_then(kilobytes),
        free_bytes: free_bytes(&memory),
        ..DeviceFacts::default()
    }
}

/// One processor of each core that this thread may use, that on which it runs first: hardware threads of one core share
/// its first cache, and the system has put us on a core that it thinks fit.
pub fn cores() -> Vec<usize> {
    let mut allowed = sys::allowed_processors();
    if let Some(here) = sys::current_processor().and_then(|here| allowed.iter().position(|known| *known == here)) {
        allowed.rotate_left(here);
    }
    let mut firsts = Vec::new();
    let mut out = Vec::new();
    for processor in allowed {
        let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        let siblings = read(&path);
        let siblings = siblings.trim().to_owned();
        if siblings.is_empty() || !firsts.contains(&siblings) {
            firsts.push(siblings);
            out.push(processor);
        }
    }
    out
}

/// Cores that this program may use.
fn n_cores() -> usize {
    match cores().len() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The text after `key` and a colon, in `/proc` style.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// `307200 KB`, `24113548 kB`.
fn kilobytes(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    unit.eq_ignore_ascii_case("kb").then(|| number.parse::<f64>().ok()).flatten().map(|kib| kib * 1024.0)
}

fn name(info: &str) -> String {
    let known = ["model name", "Model", "Hardware", "cpu model"].into_iter().find_map(|key| value(info, key));
    known.map_or_else(|| format!("{} processor", std::env::consts::ARCH), str::to_owned)
}

fn driver() -> String {
    let version = read("/proc/sys/kernel/osrelease");
    // What distributions and clouds add to the number says nothing about the measurement.
    match version.trim().split(['-', '+']).next().unwrap_or_default() {
        "" => std::env::consts::OS.to_owned(),
        number => format!("Linux {number}"),
    }
}

/// What is free, and no more than the group of this process may still take.
fn free_bytes(memory: &str) -> Option<f64> {
    let free = value(memory, "MemAvailable").and_then(kilobytes)?;
    let limit = number(read("/sys/fs/cgroup/memory.max").trim());
    let used = number(read("/sys/fs/cgroup/memory.current").trim());
    Some(limit.zip(used).map_or(free, |(limit, used)| free.min((limit - used).max(0.0))))
}

/// A cache that holds data.
#[derive(Debug, PartialEq)]
struct Cache {
    level: u32,
    bytes: f64,
    line_bytes: Option<f64>,
}

/// The data caches of one processor, by level.
fn caches(folder: &Path) -> Vec<Cache> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut out: Vec<Cache> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let field = |name: &str| fs::read_to_string(path.join(name)).ok().map(|text| text.trim().to_owned());
            cache(&field("level")?, &field("type")?, &field("size")?, field("coherency_line_size").as_deref())
        })
        .collect();
    out.sort_by_key(|cache| cache.level);
    out
}

fn cache(level: &str, kind: &str, size: &str, line: Option<&str>) -> Option<Cache> {
    let (digits, factor) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1024.0),
        None => match size.strip_suffix('M') {
            Some(digits) => (digits, 1024.0 * 1024.0),
            None => (size, 1.0),
        },
    };
    let line_bytes = line.and_then(number).filter(|bytes| *bytes > 0.0);
    let cache = Cache { level: level.parse().ok()?, bytes: digits.parse::<f64>().ok()? * factor, line_bytes };
    (kind != "Instruction" && cache.bytes > 0.0).then_some(cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_text_is_read_by_key() {
        let info = "processor\t: 0\nmodel name\t: AMD Ryzen 7 5800X\ncache size\t: 512 KB\nclflush size\t: 64\n";
        assert_eq!(name(info), "AMD Ryzen 7 5800X");
        assert_eq!(value(info, "cache size").and_then(kilobytes), Some(524_288.0));
        assert_eq!(value("MemAvailable:   24113548 kB\n", "MemAvailable").and_then(kilobytes), Some(24_692_273_152.0));
        assert!(name("").ends_with("processor"));
    }

    #[test]
    fn only_caches_that_hold_data_count() {
        assert_eq!(
            cache("1", "Data", "48K", Some("64")),
            Some(Cache { level: 1, bytes: 49_152.0, line_bytes: Some(64.0) })
        );
        assert_eq!(cache("3", "Unified", "32M", None).map(|cache| cache.bytes), Some(33_554_432.0));
        assert_eq!(cache("1", "Instruction", "32K", Some("64")), None);
        assert_eq!(cache("2", "Unified", "lots", Some("64")), None);
    }

    #[test]
    fn what_this_machine_tells_is_plausible() {
        let facts = facts();
        assert!(!facts.name.is_empty() && !facts.driver.is_empty());
        assert!(facts.n_cores.is_some_and(|cores| cores >= 1.0));
        let in_range = |fact: Option<f64>, low: f64, high: f64| fact.is_none_or(|fact| (low..=high).contains(&fact));
        assert!(in_range(facts.line_bytes, 16.0, 256.0), "{:?}", facts.line_bytes);
        assert!(in_range(facts.l1_bytes, 4096.0, 4e6), "{:?}", facts.l1_bytes);
        assert!(in_range(facts.l3_bytes, 65_536.0, 4e9), "{:?}", facts.l3_bytes);
        assert!(facts.free_bytes.zip(facts.total_bytes).is_none_or(|(free, total)| free <= total));
        #[cfg(target_os = "linux")]
        assert!(facts.free_bytes.is_some() && facts.total_bytes.is_some());
    }
}
