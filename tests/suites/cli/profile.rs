//! `vramlab profile` around programs that every machine has: what is passed through, what is written, what is refused.
//! Without a GPU it watches the host's memory and says so.

use crate::program::{Answer, command, repository, vramlab};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Runs `vramlab profile` in a folder, with `input` for the program.
fn profile(folder: &Path, args: &[&str], input: &str) -> Answer {
    let mut command = command(folder);
    command.current_dir(folder).args(["--lang", "en", "profile"]).args(args);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

fn recording(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn input_output_and_exit_code_are_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let answer = profile(folder.path(), &["--", "sh", "-c", "cat; echo bad >&2; exit 7"], "hello\n");
    assert_eq!((answer.code, answer.out.as_str()), (Some(7), "hello\n"));
    assert!(answer.err.contains("bad\n") && answer.err.contains("with code 7"), "{}", answer.err);
    assert!(answer.err.contains("vramlab vramlab-profile.json"), "{}", answer.err);
    // A second recording does not replace the first.
    profile(folder.path(), &["--", "true"], "");
    let first = recording(&folder.path().join("vramlab-profile.json"));
    assert_eq!((&first["vramlab_profile"], &first["exit"]["code"]), (&Value::from(1), &Value::from(7)));
    assert_eq!(recording(&folder.path().join("vramlab-profile-2.json"))["exit"]["code"], Value::from(0));
}

#[test]
fn a_program_that_is_killed_is_128_and_its_signal() {
    let folder = tempfile::tempdir().unwrap();
    let answer = profile(folder.path(), &["--", "sh", "-c", "kill -9 $$"], "");
    assert_eq!(answer.code, Some(137), "{}", answer.err);
    assert!(answer.err.contains("by signal 9"), "{}", answer.err);
}

#[test]
fn memory_of_the_whole_tree_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    // A shell that holds 30 MB, started by a shell that holds next to nothing.
    let program = "sh -c 'x=$(head -c 30000000 /dev/zero | tr \"\\0\" a); sleep 0.6; : $x' & wait";
    let args = ["--json", "--interval", "5ms", "--out", "run.json.gz", "--", "sh", "-c", program];
    let answer = profile(folder.path(), &args, "");
    let json = answer.json();
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let most = json["host_peak"]["bytes"].as_u64().unwrap();
    assert!((30_000_000..300_000_000).contains(&most), "{json}");
    let largest = &json["host_peak"]["by"][0];
    assert!(largest["bytes"].as_u64().unwrap() > 30_000_000, "{json}");
    assert!(json["sampler"]["cpu_share"].as_f64().unwrap() < 0.5 && json["samples"].as_u64().unwrap() > 20, "{json}");
    let told = profile(folder.path(), &["--open", "run.json.gz"], "");
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.out.contains("host memory"), "{}", told.out);
}

/// With --json the report is the data, and what the program prints goes to standard error.
#[test]
fn the_report_as_data_is_not_mixed_with_the_programs_output() {
    let folder = tempfile::tempdir().unwrap();
    let answer = profile(folder.path(), &["--json", "--compare", "--", "echo", "words"], "");
    let json = answer.json();
    assert!(answer.err.contains("words\n"), "{}", answer.err);
    assert!(json["compared"]["plain_us"].as_u64().is_some_and(|us| us > 0), "{json}");
    assert_eq!(json["exit"]["code"], Value::from(0));
}

/// SIGTERM is handed on; what was measured is still written.
#[test]
#[cfg(unix)]
fn a_signal_ends_the_program_and_the_recording_stays() {
    let folder = tempfile::tempdir().unwrap();
    for (name, code) in [("TERM", 143), ("INT", 130)] {
        let mut command = command(folder.path());
        command.current_dir(folder.path()).args(["profile", "--out", "run.json", "--", "sleep", "30"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        let began = Instant::now();
        let sent = std::process::Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{name}");
        assert!(began.elapsed() < Duration::from_secs(10));
        let run = recording(&folder.path().join("run.json"));
        assert_eq!(run["exit"]["signal"], Value::from(code - 128));
    }
}

#[test]
fn wrong_usage_is_2_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let missing = profile(folder.path(), &["--", "no-such-program"], "");
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("there is no program \"no-such-program\"") && missing.err.contains("help: "));
    for args in [
        &["--interval", "0ms", "--", "true"][..],
        &["--out", "no/such/folder/run.json", "--", "true"],
        &["--open", "nothing.json"],
        &[],
    ] {
        let answer = profile(folder.path(), args, "");
        assert_eq!(answer.code, Some(2), "{args:?}: {}", answer.err);
    }
    std::fs::write(folder.path().join("other.json"), "{}").unwrap();
    let other = profile(folder.path(), &["--open", "other.json"], "");
    assert!(other.code == Some(2) && other.err.contains("not a profile"), "{}", other.err);
    // Nothing is left behind by what did not run.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["other.json"]);
}

/// A run that is over at once: nobody of our name is blamed, and no single look is called a peak.
#[test]
fn a_short_run_has_no_peak_and_no_culprit() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..8 {
        let answer = profile(folder.path(), &["--", "true"], "");
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        let host = answer.err.lines().find(|line| line.trim_start().starts_with("host memory")).unwrap_or_default();
        assert!(!host.contains("vramlab"), "{round}: {}", answer.err);
        let words = answer.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("only, ") && words.contains("no peak"), "{words}");
        assert!(!words.contains("; 1 samples"), "{words}");
    }
}

#[test]
fn places_and_cards_that_are_not_there_are_said_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], code: i32, words: &str| {
        let answer = profile(folder.path(), args, "");
        assert_eq!(answer.code, Some(code), "{args:?}: {}", answer.err);
        assert!(answer.err.contains(words) && !answer.err.contains(".tmp"), "{words}: {}", answer.err);
    };
    refused(&["--out", "x.txt", "--", "true"], 2, "ends with .json or .json.gz");
    refused(&["--out", "no/such/run.json", "--", "true"], 2, "--out no/such/run.json: No such file");
    refused(&["--device", "77", "--", "true"], 3, "--device 77: ");
    // The folder of the reader's data comes from the environment here, and is not named as if it were needed.
    refused(&[], 2, "Usage: vramlab profile -- <CMD>");
    let zh = profile(folder.path(), &["--lang", "zh", "--", "no-such-program"], "");
    assert!(zh.err.contains("没有程序"), "{}", zh.err);
}

/// The recorded run with its snapshot: the same figures as in the model's test.
#[test]
fn the_recorded_run_is_reconciled_with_its_snapshot() {
    let path = |name: &str| repository(&format!("assets/profiles/{name}")).display().to_string();
    let args =
        ["--json", "profile", "--open", &path("gpt_training.json.gz"), "--snapshot", &path("gpt_training.pickle.gz")];
    let answer = vramlab(&args);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let json = answer.json();
    let both = &json["reconciled"];
    assert_eq!(both["nvml_process_bytes"], Value::from(4_102_029_312_u64));
    assert_eq!(
        (&both["context_bytes"], &both["libraries_bytes"]),
        (&Value::from(555_745_280), &Value::from(134_532_616))
    );
    assert_eq!(
        (&both["reserved_bytes"], &both["allocated_bytes"]),
        (&Value::from(3_294_625_792_u64), &Value::from(2_709_468_160_u64))
    );
    assert_eq!((&both["segments_matched"], &both["segments"]), (&Value::from(56), &Value::from(56)));
    let other = repository("assets/snapshots/oom.pickle.gz").display().to_string();
    let wrong = vramlab(&["profile", "--open", &path("gpt_training.json.gz"), "--snapshot", &other]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
}
