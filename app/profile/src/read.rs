//! A profile from bytes, plain or gzip. Everything that later code relies upon is checked here, and what is wrong is said
//! by its column: lengths, order of times, numbers of names, kinds.

use crate::record::{Activity, Profile, VERSION};
use std::io::Read as _;

/// What a compressed file may unpack to.
const MAX_UNPACKED_BYTES: u64 = 512 << 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("the compressed profile is cut off or damaged")]
    Unpack,
    #[error("the profile unpacks to more than {} MiB", MAX_UNPACKED_BYTES >> 20)]
    TooLarge,
    #[error("not a profile: {0}")]
    Json(String),
    #[error("this profile has version {0}; this program reads version {VERSION}")]
    Version(u32),
    #[error("the profile contradicts itself: {0}")]
    Contradiction(String),
}

/// Reads and checks a profile.
pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    let unpacked;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        unpacked = unpack(bytes)?;
        &unpacked
    } else {
        bytes
    };
    let version = version(bytes)?;
    if version != VERSION {
        return Err(ReadError::Version(version));
    }
    let profile: Profile = serde_json::from_slice(bytes).map_err(|error| ReadError::Json(error.to_string()))?;
    check(&profile).map_err(ReadError::Contradiction)?;
    Ok(profile)
}

/// The version alone: a newer file is told as such, whatever else has changed in it.
fn version(bytes: &[u8]) -> Result<u32, ReadError> {
    #[derive(serde::Deserialize)]
    struct Only {
        vramlab_profile: u32,
    }
    serde_json::from_slice::<Only>(bytes)
        .map(|only| only.vramlab_profile)
        .map_err(|error| ReadError::Json(error.to_string()))
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut out = Vec::new();
    let mut inside = flate2::read::GzDecoder::new(bytes).take(MAX_UNPACKED_BYTES + 1);
    inside.read_to_end(&mut out).map_err(|_| ReadError::Unpack)?;
    if out.len() as u64 > MAX_UNPACKED_BYTES { Err(ReadError::TooLarge) } else { Ok(out) }
}

fn check(profile: &Profile) -> Result<(), String> {
    let samples = &profile.samples;
    let n = samples.t_us.len();
    for (name, length) in [
        ("used", samples.used.len()),
        ("util", samples.util.len()),
        ("sm_mhz", samples.sm_mhz.len()),
        ("mem_mhz", samples.mem_mhz.len()),
        ("power_mw", samples.power_mw.len()),
        ("throttle", samples.throttle.len()),
    ] {
        same(&format!("samples.{name}"), length, n)?;
    }
    ascending("samples.t_us", &samples.t_us)?;
    for (idx, process) in profile.processes.iter().enumerate() {
        same(&format!("processes[{idx}].rss"), process.rss.len(), process.gpu.len())?;
        if process.first.checked_add(process.gpu.len()).is_none_or(|end| end > n) {
            return Err(format!("processes[{idx}] goes on beyond the {n} samples"));
        }
    }
    profile.activities.iter().enumerate().try_for_each(|(idx, activity)| check_activity(idx, activity))
}

fn check_activity(idx: usize, activity: &Activity) -> Result<(), String> {
    let at = |name: &str| format!("activities[{idx}].{name}");
    let kernels = &activity.kernels;
    let n = kernels.start_ns.len();
    for (name, length) in [("ns", kernels.ns.len()), ("name", kernels.name.len()), ("stream", kernels.stream.len())] {
        same(&at(&format!("kernels.{name}")), length, n)?;
    }
    let n_names = activity.names.len();
    if let Some(name) = kernels.name.iter().find(|name| **name as usize >= n_names) {
        return Err(format!("{} names number {name} of {n_names}", at("kernels.name")));
    }
    spans(&at("kernels"), &kernels.start_ns, &kernels.ns)?;
    for (name, transfers) in [("copies", &activity.copies), ("sets", &activity.sets)] {
        let n = transfers.start_ns.len();
        let lengths = [("ns", transfers.ns.len()), ("bytes", transfers.bytes.len()), ("kind", transfers.kind.len())];
        for (column, length) in lengths {
            same(&at(&format!("{name}.{column}")), length, n)?;
        }
        spans(&at(name), &transfers.start_ns, &transfers.ns)?;
    }
    let memory = &activity.memory;
    let n = memory.t_ns.len();
    for (name, length) in [
        ("is_free", memory.is_free.len()),
        ("kind", memory.kind.len()),
        ("address", memory.address.len()),
        ("bytes", memory.bytes.len()),
        ("is_pool", memory.is_pool.len()),
    ] {
        same(&at(&format!("memory.{name}")), length, n)?;
    }
    ascending(&at("memory.t_ns"), &memory.t_ns)
}

fn same(name: &str, length: usize, n: usize) -> Result<(), String> {
    if length == n { Ok(()) } else { Err(format!("{name} has {length} values where there are {n}")) }
}

fn ascending(name: &str, times: &[u64]) -> Result<(), String> {
    match times.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(row) => Err(format!("{name} goes back in time after row {row}")),
        None => Ok(()),
    }
}

/// Starts in order, and no end beyond what a number holds.
fn spans(name: &str, starts: &[u64], lengths: &[u64]) -> Result<(), String> {
    ascending(&format!("{name}.start_ns"), starts)?;
    match starts.iter().zip(lengths).position(|(start, length)| start.checked_add(*length).is_none()) {
        Some(row) => Err(format!("{name} ends beyond all time in row {row}")),
        None => Ok(()),
    }
}
