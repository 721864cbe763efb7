//! The library in a process of its own, without a GPU: in front of a CUPTI that the C compiler makes of `fake_cupti.c`, and
//! without any. The process is this test program again, which calls the entry point and ends.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use std::path::Path;
use std::process::{Command, Stdio};
use vramlab_profile::activity::{Without, read};
use vramlab_profile::record::Activity;
use vramlab_profile::wire;

const CHILD: &str = "VRAMLAB_TEST_CHILD";

/// Not a test: what the other process does. It runs to its end like a program, so that exit handlers are called.
#[test]
fn child() {
    match std::env::var(CHILD).as_deref() {
        Ok("ends") => assert_eq!(vramlab_inject::InitializeInjection(), 1),
        Ok("killed") => {
            assert_eq!(vramlab_inject::InitializeInjection(), 1);
            std::process::abort();
        }
        _ => {}
    }
}

fn run(how: &str, folder: Option<&Path>, more: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child"]).env(CHILD, how).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(folder) = folder {
        command.env(wire::DIR, folder);
    }
    command.envs(more.iter().copied());
    command.status().unwrap();
}

fn fake(folder: &Path) -> String {
    let library = folder.join("libfake_cupti.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_cupti.c");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status().unwrap();
    assert!(made.success(), "the C compiler that links Rust programs makes the library");
    library.display().to_string()
}

/// The one file that the process left.
fn left(folder: &Path) -> Result<Activity, Without> {
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    let mine: Vec<_> = files.iter().filter(|path| path.extension().is_some_and(|end| end == "activity")).collect();
    assert_eq!(mine.len(), 1, "{files:?}");
    read(&std::fs::read(mine[0]).unwrap(), 0)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn what_cupti_hands_over_is_in_the_file() {
    let (folder, libraries) = (folder(), folder());
    run("ends", Some(folder.path()), &[(wire::CUPTI, &fake(libraries.path()))]);
    let activity = left(folder.path()).unwrap();
    assert!(activity.is_whole && activity.cupti_version == 130_001);
    assert_eq!(
        (activity.memory.address.as_slice(), activity.memory.bytes.as_slice()),
        ([0x7f00].as_slice(), [2_097_152].as_slice())
    );
    assert_eq!(
        (activity.kernels.ns.as_slice(), activity.kernels.stream.as_slice()),
        ([3_000].as_slice(), [7].as_slice())
    );
    assert_eq!(
        (activity.names.as_slice(), activity.copies.bytes.as_slice()),
        (["_Z4copyPKfPf".to_owned()].as_slice(), [64].as_slice())
    );
    // The kernel began 500 ns after the allocation, on whatever clock.
    assert_eq!(activity.kernels.start_ns[0] - activity.memory.t_ns[0], 500);
    assert_eq!((activity.n_dropped, activity.n_unknown, activity.n_over), (3, 1, 0));
}

#[test]
fn a_bound_is_kept_and_what_is_over_it_is_counted() {
    let (folder, libraries) = (folder(), folder());
    // Room for the header and one record.
    run("ends", Some(folder.path()), &[(wire::CUPTI, &fake(libraries.path())), (wire::MAX_BYTES, "170")]);
    let activity = left(folder.path()).unwrap();
    assert_eq!((activity.n_records(), activity.n_over), (1, 2));
}

#[test]
fn a_process_that_dies_leaves_a_file_that_says_so() {
    let (folder, libraries) = (folder(), folder());
    run("killed", Some(folder.path()), &[(wire::CUPTI, &fake(libraries.path()))]);
    let activity = left(folder.path()).unwrap();
    assert!(!activity.is_whole && activity.n_records() == 0);
}

#[test]
fn every_way_to_fail_is_told_and_the_program_goes_on() {
    let libraries = folder();
    let fake = fake(libraries.path());
    for (more, why) in [
        (vec![(wire::CUPTI, "/no/such/libcupti.so")], Without::NoCupti),
        (vec![(wire::CUPTI, fake.as_str()), ("FAKE_CUPTI_VERSION", "18")], Without::UnknownVersion(18)),
        (vec![(wire::CUPTI, fake.as_str()), ("FAKE_CUPTI_REFUSES", "1")], Without::Refused(999)),
    ] {
        let folder = folder();
        run("ends", Some(folder.path()), &more);
        assert_eq!(left(folder.path()), Err(why));
    }
    // Without a folder, or with one that is not there, nothing is written and nothing breaks.
    run("ends", None, &[(wire::CUPTI, &fake)]);
    run("ends", Some(Path::new("/no/such/folder")), &[(wire::CUPTI, &fake)]);
}
