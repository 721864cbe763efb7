//! `check`, `new`, `migrate`: what authors and recorders see.

use crate::program::{repository, vramlab};
use std::fs;

/// What comes with the program is without an error.
#[test]
fn the_built_in_content_checks() {
    let answer = vramlab(&["--json", "check"]);
    let json = answer.json();
    assert_eq!(json["errors"], 0, "{:#}", json["problems"]);
    assert_eq!(answer.code, Some(0));
    assert!(json["checked"]["chapters"].as_u64() >= Some(1) && json["checked"]["experiments"].as_u64() >= Some(10));
    // Recording them all takes the sum of what each says.
    assert!(json["record_secs"]["cuda"].as_f64() > Some(0.0) && json["record_secs"]["cpu"].as_f64() > Some(0.0));
}

/// Ten planted faults are ten findings, each at the line whose comment names it.
#[test]
fn ten_planted_faults_are_ten_findings_with_their_places() {
    let path = repository("tests/data/faulty/00_ten_faults/chapter.toml");
    let text = fs::read_to_string(&path).unwrap();
    let answer = vramlab(&["--json", "check", path.to_str().unwrap()]);
    assert_eq!(answer.code, Some(1));
    let json = answer.json();
    let found: Vec<(u64, &str)> = json["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| (problem["line"].as_u64().unwrap(), problem["rule"].as_str().unwrap()))
        .collect();
    assert_eq!(found, planted(&text), "{:#}", json["problems"]);
}

/// `(line, rule)` of the comments `# 3 unknown-visualizer`. A missing unit is found at the step's header.
fn planted(text: &str) -> Vec<(u64, &str)> {
    let mut header = 0;
    let mut out = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text == "[[step]]" {
            header = line;
        }
        let Some((number, rule)) = text.rsplit_once("# ").and_then(|(_, comment)| comment.split_once(' ')) else {
            continue;
        };
        if number.parse::<u32>().is_ok() {
            let rule = rule.split(',').next().unwrap_or_default();
            out.push((if rule == "no-unit" { header } else { line }, rule));
        }
    }
    assert_eq!(out.len(), 10);
    out
}

#[test]
fn a_finding_reads_with_file_line_column_caret_and_hint() {
    let path = repository("tests/data/faulty/00_ten_faults");
    let answer = vramlab(&["check", path.to_str().unwrap()]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.out.contains("chapter.toml:16:8\n"), "{}", answer.out);
    assert!(answer.out.contains("   16 │ show = \"sector_mapp\""), "{}", answer.out);
    assert!(answer.out.contains("━━━━━━━━━━━━━"), "{}", answer.out);
    assert!(answer.out.contains("help: did you mean \"sector_map\"?"), "{}", answer.out);
    assert!(answer.out.contains("10 errors"), "{}", answer.out);
}

#[test]
fn a_new_chapter_checks_in_both_languages_and_in_one() {
    for lang in [None, Some("zh"), Some("en")] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        let mut args = vec!["new", "chapter", "40_my_chapter", "--dir", root];
        args.extend(lang.iter().flat_map(|lang| ["--lang", lang]));
        let made = vramlab(&args);
        assert_eq!(made.code, Some(0), "{}", made.err);
        let path = dir.path().join("40_my_chapter/chapter.toml");
        assert_eq!(made.out.trim(), path.to_str().unwrap());
        for what in [root, path.to_str().unwrap(), path.parent().unwrap().to_str().unwrap()] {
            let checked = vramlab(&["check", "--strict", what]);
            assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""), "{lang:?}: {}", checked.out);
            assert!(checked.out.contains("no problems in 1 chapter"), "{}", checked.out);
        }
        let again = vramlab(&args);
        assert_eq!(again.code, Some(2));
        assert!(again.err.contains("exists already; nothing was changed"), "{}", again.err);
    }
}

#[test]
fn an_id_that_is_no_folder_name_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for id in ["../outside", "a/b", "", "With Blanks", "a\0b"] {
        if id.contains('\0') {
            continue; // No system passes it on.
        }
        let answer = vramlab(&["new", "chapter", id, "--dir", dir.path().to_str().unwrap()]);
        assert_eq!(answer.code, Some(2), "{id}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// T1, T3: what is not a trace is told apart from what was one.
#[test]
fn traces_that_are_none_and_traces_that_end_early() {
    let dir = tempfile::tempdir().unwrap();
    let sample = fs::read(repository("tests/data/traces/v1-sample.vltrace")).unwrap();
    let rules = |name: &str, bytes: &[u8]| -> Vec<String> {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let answer = vramlab(&["--json", "check", path.to_str().unwrap()]);
        assert_eq!(answer.code, Some(1), "{name}: {}", answer.out);
        let json = answer.json();
        json["problems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|problem| problem["rule"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(rules("empty.vltrace", b""), ["not-a-trace"]);
    assert_eq!(rules("page.vltrace", b"<!doctype html><html>"), ["not-a-trace"]);
    assert!(rules("cut.vltrace", &sample[..sample.len() - 40]).contains(&"damaged-trace".to_owned()));
}

#[test]
fn paths_without_content_are_wrong_usage_and_missing_ones_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = vramlab(&["check", dir.path().to_str().unwrap()]);
    assert_eq!(nothing.code, Some(1), "{}", nothing.out);
    assert!(nothing.out.contains("there are no chapters in"), "{}", nothing.out);
    let missing = vramlab(&["check", "/no/such/place.toml"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.out.contains("/no/such/place.toml"), "{}", missing.out);
}

#[test]
fn a_kernel_with_faults_is_found_at_its_own_path() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("my_kernel");
    fs::create_dir(&folder).unwrap();
    let own = repository("kernels/strided_read");
    for entry in fs::read_dir(own).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    let manifest = folder.join("stride.experiment.toml");
    let text = fs::read_to_string(&manifest).unwrap().replace("time_secs = 10", "time_secs = 99");
    fs::write(&manifest, text).unwrap();
    for what in [dir.path(), folder.as_path(), manifest.as_path()] {
        let answer = vramlab(&["--json", "check", what.to_str().unwrap()]);
        assert_eq!(answer.code, Some(1), "{}", answer.out);
        let json = answer.json();
        let first = &json["problems"][0];
        assert!(first["file"].as_str().unwrap().ends_with("my_kernel/stride.experiment.toml"), "{first:#}");
        assert_eq!(first["line"], 3, "{first:#}");
    }
}

#[test]
fn an_old_chapter_is_brought_up_to_date_and_the_old_one_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("chapter.toml");
    let old = fs::read_to_string(repository("app/lesson/examples/v0.toml")).unwrap();
    fs::write(&path, &old).unwrap();
    let dry = vramlab(&["migrate", "--dry-run", path.to_str().unwrap()]);
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
    let done = vramlab(&["--json", "migrate", dir.path().to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let json = done.json();
    assert_eq!((json["files"][0]["from"].as_u64(), json["files"][0]["to"].as_u64()), (Some(0), Some(1)));
    assert!(fs::read_to_string(&path).unwrap().contains("schema = 1"));
    assert_eq!(fs::read_to_string(dir.path().join("chapter.toml.before")).unwrap(), old);
}

/// Ends with the test, however that ends.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lines that a watching check prints, as they come.
fn watched(child: &mut std::process::Child) -> std::sync::mpsc::Receiver<String> {
    let (send, lines) = std::sync::mpsc::channel();
    let out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in std::io::BufRead::lines(out).map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    lines
}

#[test]
fn a_watching_check_tells_of_every_change_until_all_is_well() {
    let limit = std::time::Duration::from_secs(20); // a bound, not a wait
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("40_mine/chapter.toml");
    fs::create_dir(path.parent().unwrap()).unwrap();
    let good = vramlab_lesson::scaffold("40_mine", Some(vramlab_units::Lang::En)).unwrap();
    fs::write(&path, &good).unwrap();
    let mut command = crate::program::command(dir.path());
    command.args(["check", "--watch", "40_mine"]).current_dir(dir.path());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let lines = watched(&mut running.0);
    let until = |wanted: &str| {
        let mut seen = Vec::new();
        loop {
            let line = lines.recv_timeout(limit).unwrap_or_else(|_| panic!("no \"{wanted}\" after {seen:?}"));
            let is_last = line.contains(wanted);
            seen.push(line);
            if is_last {
                return seen;
            }
        }
    };
    until("no problems in 1 chapter");
    let bad = good.replacen("kind = \"prose\"", "kind = \"prosa\"", 1).replace("minutes = 10", "minutes = -30");
    fs::write(&path, bad).unwrap();
    let found = until("2 errors, 0 warnings in 1 chapter").join("\n");
    assert!(found.contains("did you mean \"prose\"?") && found.contains("minutes = -30"), "{found}");
    assert!(found.contains("━"), "{found}");
    // An editor that replaces the file by name.
    let beside = path.with_extension("toml~");
    fs::write(&beside, &good).unwrap();
    fs::rename(&beside, &path).unwrap();
    until("no problems in 1 chapter");
    let alone = vramlab(&["check", "--watch"]);
    assert_eq!(alone.code, Some(2), "{}", alone.err);
}
