//! Exit codes, each by a run that ends that way. The runner plays its scripts, so no GPU is needed.

use crate::program::{command, vramlab};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CPU: &str = "cpu_stride/main";
const CUDA: &str = "strided_read/stride";

fn play(script: &str, more: &[&str]) -> crate::program::Answer {
    let mut args = vec!["run", CPU, "--play", script];
    args.extend(more);
    vramlab(&args)
}

#[test]
fn a_runner_that_dies_is_4() {
    for script in ["segfault", "exit_139", "garbage", "cut_line", "out_of_memory", "illegal_address", "compile_error"] {
        let answer = play(script, &[]);
        assert_eq!(answer.code, Some(4), "{script}: {}", answer.err);
        assert!(answer.err.starts_with("error: ") && answer.out.is_empty(), "{script}: {}", answer.err);
    }
}

/// R1 to R3: a device that is demanded and is not there is 3, with what to do.
#[test]
fn a_device_that_is_missing_is_3_where_it_is_demanded() {
    for script in ["no_driver", "old_driver", "no_nvrtc"] {
        let answer = vramlab(&["run", CUDA, "--backend", "cuda", "--play", script]);
        assert_eq!(answer.code, Some(3), "{script}: {}", answer.err);
        assert!(answer.err.contains("help: "), "{script}: {}", answer.err);
    }
    let none = vramlab(&["run", CUDA, "--backend", "cuda"]);
    assert_eq!(none.code, Some(3), "{}", none.err);
    let wgpu = vramlab(&["run", CUDA, "--backend", "wgpu"]);
    assert_eq!(wgpu.code, Some(3), "{}", wgpu.err);
}

#[test]
fn without_a_device_the_recording_is_replayed() {
    let listed = vramlab(&["--json", "list", "traces"]).json();
    let has_trace = listed["items"].as_array().unwrap().iter().any(|item| item["experiment"] == CUDA);
    let answer = vramlab(&["--json", "run", CUDA]);
    if !has_trace {
        // Nothing to replay: then the missing device is the answer, and not a made-up curve.
        assert_eq!(answer.code, Some(3), "{}", answer.err);
        return;
    }
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let json = answer.json();
    assert_eq!((json["evidence"].as_str(), json["verdict"].as_str()), (Some("recorded"), Some("shown")));
    assert!(answer.err.contains("replaying the recording instead"), "{}", answer.err);
}

/// R14: what the reference refutes has no number, and the run is invalid.
#[test]
fn a_wrong_result_is_1_and_has_no_number() {
    let answer = play("wrong_result", &["--json"]);
    assert_eq!(answer.code, Some(1), "{}", answer.err);
    let json = answer.json();
    assert_eq!(json["verdict"], "invalid");
    assert!(json["points"].as_array().unwrap().iter().all(|point| point["measured"].is_null()));
}

#[test]
fn wrong_usage_is_2_and_says_what_is_legal() {
    let cases: &[(&[&str], &str)] = &[
        (&["run", "strided_read/strid"], "did you mean \"strided_read/stride\"?"),
        (&["run", CUDA, "--set", "offset=40"], "offset = 40 is not allowed; it must be a number from 0 to 32"),
        (&["run", CUDA, "--set", "loads=4"], "the curves of this experiment differ in it"),
        (&["run", CUDA, "--set", "stride=3"], "it is the x axis of this experiment"),
        (&["run", CUDA, "--set", "n_word=65536"], "did you mean \"n_words\"?"),
        (&["run", CUDA, "--backend", "cpu"], "strided_read/stride runs on cuda, not on cpu"),
        (&["run", CUDA, "--budget", "8 gigs"], "is not a unit of size"),
        (&["run", CUDA, "--backend", "gpu"], "possible values: auto, cuda, cpu, wgpu, trace"),
        (&["record", "--out", "x"], "required"),
        (&["tour", "77"], "no chapter is called"),
        (&["tour", "30"], "is planned and not yet written"),
        (&["--lang", "fr", "doctor"], "it must be zh or en"),
        (&["evil"], "did you mean \"eval\"?"),
        (&["list"], "as in `vramlab list experiments`"),
        (&["eval"], "vramlab eval coalescing"),
        (&["in_flight/main"], "did you mean `vramlab run in_flight/main`?"),
    ];
    for (args, words) in cases {
        let answer = vramlab(args);
        assert_eq!(answer.code, Some(2), "{args:?}: {}", answer.err);
        assert!(answer.err.contains(words), "{args:?}: {}", answer.err);
        assert!(answer.out.is_empty(), "{args:?}: {}", answer.out);
    }
}

/// C28: Ctrl-C cancels the job, ends the child, and is 130 within two seconds.
#[cfg(unix)]
#[test]
fn an_interrupt_is_130() {
    let data = tempfile::tempdir().unwrap();
    let mut run = command(data.path());
    let mut child =
        run.args(["run", CPU, "--play", "slow"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let tasks = format!("/proc/{}/task", child.id());
    let has_child = || {
        let children = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).ok();
        let tasks = fs::read_dir(&tasks).into_iter().flatten().flatten();
        tasks.filter_map(children).any(|text| !text.trim().is_empty())
    };
    let started = Instant::now();
    // The runner's child starts after the program has begun to listen for interrupts.
    while !has_child() && started.elapsed().as_secs() < 20 {
        std::thread::yield_now();
    }
    let sent = Instant::now();
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(3), "{:?}", sent.elapsed());
}

/// A kernel that never ends is ended at its deadline.
#[test]
fn the_deadline_is_5() {
    let answer = play("hang", &[]);
    assert_eq!(answer.code, Some(5), "{}", answer.err);
    assert!(answer.err.contains("deadline"), "{}", answer.err);
}

/// Nothing that was played becomes a trace.
#[test]
fn a_scripted_run_is_not_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let answer = vramlab(&["record", CPU, "--play", "ok", "--out", dir.path().to_str().unwrap()]);
    assert_eq!(answer.code, Some(1), "{}", answer.err);
    assert!(answer.err.contains("is not a measurement"), "{}", answer.err);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// `--all` means what can run here: the rest is named with its reason, once.
#[test]
fn what_cannot_run_here_is_left_out_of_all_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let answer = vramlab(&["--json", "record", "--all", "--play", "no_driver", "--out", dir.path().to_str().unwrap()]);
    assert_eq!(answer.code, Some(3), "{}", answer.err);
    let json = answer.json();
    assert_eq!((json["written"].as_array().unwrap().len(), json["left_out"].as_array().unwrap().len()), (0, 1));
    assert!(json["left_out"][0]["experiments"].as_array().unwrap().len() >= 10, "{json:#}");
}

/// C27: data alone on standard output, with a schema number.
#[test]
fn json_stands_alone_with_its_schema() {
    for args in [
        ["--json", "doctor"].as_slice(),
        &["--json", "list", "chapters"],
        &["--json", "list", "visualizers"],
        &["--json", "list", "models"],
        &["--json", "list", "kernels"],
        &["--json", "list", "experiments"],
        &["--json", "list", "traces"],
        &["eval", "--schema"],
        &["eval", "coalescing", "--schema"],
        &["--json", "check"],
        &["--json", "run", CPU, "--play", "ok"],
    ] {
        let answer = vramlab(args);
        assert_eq!(answer.json()["schema"], 1, "{args:?}");
    }
}

/// C30: under a second.
#[test]
fn doctor_answers_within_a_second() {
    let once = || {
        let started = Instant::now();
        let answer = vramlab(&["--json", "doctor"]);
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        let ids: Vec<String> = answer.json()["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["id"].as_str().unwrap().to_owned())
            .collect();
        for id in ["processor", "gpu", "nvrtc", "counters", "window", "fonts", "data"] {
            assert!(ids.iter().any(|known| known == id), "{id} is missing from {ids:?}");
        }
        started.elapsed()
    };
    // The best of three: suites run beside it.
    let best = (0..3).map(|_| once()).min().unwrap();
    assert!(best < Duration::from_secs(1), "{best:?}");
}
