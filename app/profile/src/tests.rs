//! Hostile files, and answers worked out by hand.

use crate::activity::{self, Without};
use crate::read::{ReadError, read};
use crate::record::{Activity, Exit, Process, Profile, Samples, VERSION};
use crate::report::Report;
use crate::wire::{Header, Kind, Record, State, put_name};
use std::io::Write as _;

/// Five samples of a parent with a child, 20 ms apart.
fn small() -> Profile {
    let n = 5;
    let samples = Samples {
        t_us: (0..n).map(|row| row * 20_000).collect(),
        used: vec![Some(100), Some(600), Some(900), Some(900), Some(100)],
        util: vec![Some(0), Some(50), Some(100), Some(50), None],
        sm_mhz: vec![Some(345), Some(1980), Some(1980), Some(1980), None],
        mem_mhz: vec![None; 5],
        power_mw: vec![None; 5],
        throttle: vec![Some(1), Some(4), Some(4), Some(0), None],
    };
    let parent = Process { pid: 10, name: "sh".into(), first: 0, gpu: vec![None; 5], rss: vec![Some(5); 5] };
    let child = Process {
        pid: 11,
        name: "python".into(),
        first: 1,
        gpu: vec![Some(500), Some(800), Some(800)],
        rss: vec![Some(1), Some(2), Some(3)],
    };
    Profile {
        vramlab_profile: VERSION,
        wall_us: 100_000,
        interval_us: 20_000,
        exit: Exit { code: Some(0), signal: None },
        samples,
        processes: vec![parent, child],
        sampler: crate::record::Sampler { cpu_us: 500, ..Default::default() },
        ..Profile::default()
    }
}

#[test]
fn the_peak_is_the_first_highest_sum_with_its_holders() {
    let report = Report::of(&small());
    let tree = report.tree.unwrap();
    assert_eq!((tree.bytes, tree.row, tree.t_us, tree.by), (800, 2, 40_000, vec![(1, 800)]));
    let host = report.host.unwrap();
    assert_eq!((host.bytes, host.row), (8, 3));
    assert_eq!(report.device.unwrap().bytes, 900);
    assert_eq!((report.util, report.sm_mhz), (Some((50.0, 100)), Some((345, 1980))));
    assert_eq!(report.throttle, [("sw_power_cap", 0.5)]);
    assert!((report.sampler_share - 0.005).abs() < 1e-12);
}

#[test]
fn a_profile_comes_back_as_it_went_plain_and_packed() {
    let profile = small();
    let text = profile.to_json();
    assert!(text.starts_with("{\"vramlab_profile\":1"), "the first key says what it is");
    assert_eq!(read(text.as_bytes()).unwrap(), profile);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(text.as_bytes()).unwrap();
    let packed = gz.finish().unwrap();
    assert_eq!(read(&packed).unwrap(), profile);
    assert_eq!(read(&packed[..packed.len() - 9]), Err(ReadError::Unpack));
}

#[test]
fn what_contradicts_itself_is_refused_with_its_column() {
    let refused = |change: fn(&mut Profile)| {
        let mut profile = small();
        change(&mut profile);
        match read(profile.to_json().as_bytes()) {
            Err(ReadError::Contradiction(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(|p| p.samples.used.truncate(2)), "samples.used has 2 values where there are 5");
    assert_eq!(refused(|p| p.samples.t_us[4] = 1), "samples.t_us goes back in time after row 3");
    assert!(refused(|p| p.processes[0].first = 1).contains("beyond the 5 samples"));
    assert!(refused(|p| p.processes[1].first = usize::MAX).contains("beyond"));
    let activity = |kernels| Activity { kernels, names: vec!["a".into()], ..Activity::default() };
    let kernels = |name, start, ns| crate::record::Kernels {
        start_ns: vec![start],
        ns: vec![ns],
        name: vec![name],
        stream: vec![0],
    };
    let mut profile = small();
    profile.activities = vec![activity(kernels(1, 0, 1))];
    assert!(
        matches!(read(profile.to_json().as_bytes()), Err(ReadError::Contradiction(why)) if why.contains("number 1 of 1"))
    );
    profile.activities = vec![activity(kernels(0, 2, u64::MAX))];
    assert!(
        matches!(read(profile.to_json().as_bytes()), Err(ReadError::Contradiction(why)) if why.contains("beyond all time"))
    );
}

#[test]
fn other_files_newer_files_and_nonsense_are_told_apart() {
    assert_eq!(read(br#"{"vramlab_profile": 7, "samples": 3}"#), Err(ReadError::Version(7)));
    for text in [
        "",
        "{",
        "[]",
        "{\"traceEvents\": []}",
        r#"{"vramlab_profile": -1}"#,
        r#"{"vramlab_profile": 1, "wall_us": -5}"#,
    ] {
        assert!(matches!(read(text.as_bytes()), Err(ReadError::Json(_))), "{text}");
    }
    // Nothing but the version is a run of which nothing is known.
    let empty = read(br#"{"vramlab_profile": 1}"#).unwrap();
    let report = Report::of(&empty);
    assert_eq!((report.tree, report.host, report.n_samples), (None, None, 0));
    for lang in [vramlab_units::Lang::Zh, vramlab_units::Lang::En] {
        assert!(crate::words::lines(&empty, &Report::of(&empty), lang).len() >= 3);
    }
}

fn file(state: State) -> Vec<u8> {
    let header =
        Header { pid: 11, cupti_version: 130_001, start: [1_000, 5_000], state: state as u32, ..Header::default() };
    let mut out = header.bytes().to_vec();
    let mut put = |kind, detail, stream, words| Record { kind, detail, device: 0, stream, words }.put(&mut out);
    put(Kind::Alloc, 3, 0, [41_001_000, 0x7f00, 256, 0]);
    put(Kind::Copy, 1, 7, [2_000, 2_500, 64, 0]);
    put_name(0, b"_Z4copyPKfPf", &mut out);
    Record { kind: Kind::Kernel, detail: 0, device: 0, stream: 0, words: [3_000, 3_400, 7, 0] }.put(&mut out);
    Record { kind: Kind::Kernel, detail: 0, device: 0, stream: 0, words: [1_500, 1_700, 7, 0] }.put(&mut out);
    Record { kind: Kind::Overhead, detail: 2, device: 0, stream: 0, words: [10, 30, 0, 0] }.put(&mut out);
    out
}

/// CUPTI's 1,000 is the monotonic 5,000, and the program began at 4,000: CUPTI's 1,500 is 1,500 ns after the beginning.
#[test]
fn the_file_of_the_library_is_put_in_order_and_on_the_programs_clock() {
    let activity = activity::read(&file(State::Recording), 4_000).unwrap();
    assert_eq!((activity.pid, activity.is_whole, activity.n_records()), (11, false, 4));
    assert_eq!(activity.kernels.start_ns, [1_500, 3_000]);
    assert_eq!(
        (activity.kernels.ns.as_slice(), activity.names.as_slice()),
        ([200, 400].as_slice(), ["_Z4copyPKfPf".to_owned()].as_slice())
    );
    assert_eq!((activity.copies.bytes.as_slice(), activity.copies.kind.as_slice()), ([64].as_slice(), [1].as_slice()));
    assert_eq!(activity.overhead, [(2, 20)]);
    let mut profile = small();
    profile.activities = vec![activity];
    let traced = Report::of(&profile).traced.unwrap();
    // The first allocation comes at 41 ms; at 60 ms NVML says 800, of which 256 are its own. NVML's peak is at 40 ms.
    assert_eq!((traced.live.peak_bytes, traced.context_bytes, traced.outside_bytes), (256, Some(544), Some(800)));
    assert_eq!((traced.n_kernels, traced.busy_ns, traced.kernels[0].name.as_str()), (2, 600, "copy"));
}

/// Cut anywhere, with bytes turned over anywhere: an answer or a reason, never a panic.
#[test]
fn a_damaged_file_of_the_library_is_read_as_far_as_it_goes() {
    let whole = file(State::Ended);
    for n in 0..whole.len() {
        let _ = activity::read(&whole[..n], 0);
        let mut turned = whole.clone();
        turned[n] ^= 0xff;
        if let Ok(activity) = activity::read(&turned, 0) {
            let mut profile = small();
            profile.activities = vec![activity];
            read(profile.to_json().as_bytes()).unwrap();
            Report::of(&profile);
        }
    }
    assert_eq!(activity::read(b"VRLACT0", 0), Err(Without::NotOurs));
    assert_eq!(activity::read(&file(State::NoCupti), 0), Err(Without::NoCupti));
    assert_eq!(activity::read(&file(State::UnknownVersion), 0), Err(Without::UnknownVersion(130_001)));
}
