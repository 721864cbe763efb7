//! `vramlab snapshot`: the answers and exit codes of every recording, and of files that are none.

use crate::program::{repository, vramlab};

fn data(name: &str) -> String {
    repository(&format!("tests/data/{name}")).to_str().unwrap().to_owned()
}

/// A refusal, or growth over at least three steps, is a finding. The training of three steps keeps what it had after the
/// first; that of two steps cannot be judged; the caches grow by design with every token, which a trace cannot tell from a
/// leak: it is named as growth, by blocks that are replaced. The two ranks read longer sequences with every step, which is no
/// growth of any one place.
const EXITS: [(&str, i32, &str); 22] = [
    ("mlp_adam", 0, "during Adam.step; 1.35 GiB reserved at most"),
    ("resnet50_b32", 0, "2 steps, and growth needs at least 3"),
    ("kv_cat", 1, "each replaced by a larger one"),
    ("kv_cat_expandable", 1, "448 KiB more each repeat over 2392 repeats"),
    ("kv_cat_round4", 1, "each replaced by a larger one"),
    ("training_loop", 0, "no OOM; no growth over 12 steps"),
    ("expandable_train", 0, "no OOM; no growth over 7 steps"),
    ("cut_ring", 0, "no OOM; no growth over 12 steps"),
    ("kv_growth", 1, "each replaced by a larger one"),
    ("leak", 1, "4 MiB more each step over 12 steps"),
    ("fragmentation", 1, "a request for 64 MiB was refused (OOM): fragmentation"),
    ("oom", 1, "(OOM): fragmentation or truly full, as the limit decides"),
    ("retry", 1, "(OOM): fragmentation or truly full, as the limit decides"),
    ("options", 1, "was refused (OOM)"),
    ("random_native", 1, "was refused (OOM)"),
    ("random_expandable", 1, "was refused (OOM)"),
    ("roundup", 1, "was refused (OOM)"),
    ("graph_pool", 0, "no OOM; no growth"),
    ("graph_gone", 0, "no OOM; no steps were found"),
    ("streams", 0, "no OOM; no growth"),
    ("rank0", 0, "from no one place"),
    ("rank1", 0, "from no one place"),
];

/// A recording lies with the tests, or with the lessons that show it.
fn recording(name: &str) -> String {
    let places = ["tests/data/snapshots", "assets/snapshots"].map(|dir| repository(&format!("{dir}/{name}.pickle.gz")));
    let found = places.iter().find(|path| path.exists()).unwrap_or_else(|| panic!("{name} is gone"));
    found.to_str().unwrap().to_owned()
}

/// No recording is left out.
#[test]
fn every_recording_has_its_exit() {
    for dir in ["tests/data/snapshots", "assets/snapshots"] {
        for entry in std::fs::read_dir(repository(dir)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if let Some(name) = name.strip_suffix(".pickle.gz") {
                assert!(EXITS.iter().any(|(known, ..)| *known == name), "{dir}/{name} has no row");
            }
        }
    }
}

/// Words of an output, without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_recording_exits_as_its_data_says() {
    for (name, code, says) in EXITS {
        let answer = vramlab(&["snapshot", &recording(name), "--lang", "en"]);
        assert_eq!(answer.code, Some(code), "{name}: {}{}", answer.out, answer.err);
        assert!(words(&answer.out).contains(says), "{name}: {}", answer.out);
        for line in answer.out.lines() {
            assert!(line.chars().count() <= 84, "{name}: {line}");
        }
    }
}

/// Every counter that `memory_stats()` had in that process, under its own name.
#[test]
fn the_stats_are_those_of_the_process() {
    for (name, ..) in EXITS {
        let answer = vramlab(&["--json", "snapshot", &recording(name)]).json();
        let recorded: serde_json::Value =
            serde_json::from_slice(&std::fs::read(data(&format!("snapshots/{name}.json"))).unwrap()).unwrap();
        let recorded = recorded["stats"].as_object().unwrap();
        // A log without its beginning has no totals of the process, only its own.
        let is_total = |key: &str| key.ends_with(".allocated") || key.ends_with(".freed");
        let mut n_compared = 0;
        for (key, value) in answer["stats"].as_object().unwrap() {
            if let Some(truth) = recorded.get(key).filter(|_| name != "cut_ring" || !is_total(key)) {
                assert_eq!(value, truth, "{name}: {key}");
                n_compared += 1;
            }
        }
        assert!(n_compared >= 56, "{name}: {n_compared}");
        assert_eq!(answer["peak"]["allocated_bytes"], answer["stats"]["allocated_bytes.all.peak"], "{name}");
        assert_eq!(answer["segments"]["metrics"]["reserved_bytes"], answer["stats"]["reserved_bytes.all.current"]);
        assert!(answer["findings"].is_array() && answer["is_replay_exact"] == true, "{name}");
    }
}

/// The same loop was recorded under both settings.
#[test]
fn other_settings_are_replayed() {
    let file = data("snapshots/kv_cat_round4.pickle.gz");
    let answer = vramlab(&["--json", "snapshot", &file, "--replay", "expandable_segments:True"]).json();
    let what_if = answer["what_if"].as_array().unwrap();
    assert_eq!(what_if.len(), 1);
    assert_eq!(what_if[0]["peak_reserved_bytes"], 1_793_064_960_u64);
}

/// The limit that the process had makes one cause of two; the last line says what to do. Its message, pasted, says the same.
#[test]
fn a_limit_and_a_pasted_message_name_the_cause() {
    let file = recording("oom");
    let open = vramlab(&["snapshot", &file, "--lang", "en"]);
    let last = words(open.out.split("\n\n").last().unwrap());
    assert!(last.starts_with("Do first: raise or remove this process's limit"), "{}", open.out);
    assert!(words(&open.out).contains("guessed as the 2.83 GiB"), "{}", open.out);
    let given = vramlab(&["snapshot", &file, "--limit", "3GiB", "--lang", "en"]);
    assert!(words(&given.out).contains("was refused (OOM): fragmentation: enough is free"), "{}", given.out);
    let json = vramlab(&["--json", "snapshot", &file, "--limit", "3GiB"]).json();
    assert_eq!(
        (&json["ooms"][0]["cause"], &json["what_if"][0]["is_capacity_guessed"]),
        (&"fragmentation".into(), &false.into())
    );
    assert_eq!(json["ooms"][0]["left_bytes"], (3_u64 << 30) - 2_780_823_552);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("oom.txt");
    let recorded: serde_json::Value =
        serde_json::from_slice(&std::fs::read(data("snapshots/oom.json")).unwrap()).unwrap();
    std::fs::write(&path, recorded["message"].as_str().unwrap()).unwrap();
    let pasted = vramlab(&["snapshot", path.to_str().unwrap(), "--lang", "en"]);
    assert_eq!(pasted.code, Some(1), "{}", pasted.err);
    assert!(words(&pasted.out).contains("fragmentation: enough is free"), "{}", pasted.out);
    assert!(words(&pasted.out).contains("is allowed 3 GiB"), "{}", pasted.out);
}

#[test]
fn what_is_no_snapshot_is_2_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = data("snapshots/mlp_adam.pickle.gz");
    let attack = write("attack.pickle", b"cposix\nsystem\n(S'echo hi'\ntR.");
    let cut = write("cut.pickle", &std::fs::read(data("files/mlp_adam.pickle")).unwrap()[..5000]);
    let cases: &[(&[&str], &str)] = &[
        (&["snapshot", "nowhere.pickle"], "nowhere.pickle"),
        (&["snapshot", &attack], "posix.system"),
        (&["snapshot", &cut], "the file ends at byte 5000"),
        (&["snapshot", &good, "--replay", "max_split_size_mb:3"], "above the large segment"),
        (&["snapshot", &good, "--replay", "expandable:True"], "the setting = expandable is not allowed"),
        (&["snapshot", &good, "--device", "7"], "it has device 0 only"),
        (&["snapshot", &good, "--top", "0"], "a whole number from 1"),
        (&["snapshot", &good, "--limit", "3"], "a size with its unit"),
        (&["snapshot"], "required"),
    ];
    for (args, says) in cases {
        let answer = vramlab(args);
        assert_eq!(answer.code, Some(2), "{args:?}: {}", answer.err);
        assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
        assert!(answer.out.is_empty(), "{args:?}: {}", answer.out);
    }
}

/// 1.32 GiB do not fit into 1 GiB: that is what the run is stopped for.
#[test]
fn a_peak_over_the_given_limit_is_a_finding() {
    let file = data("snapshots/mlp_adam.pickle.gz");
    let answer = vramlab(&["snapshot", &file, "--limit", "1GiB", "--lang", "en"]);
    assert_eq!(answer.code, Some(1), "{}", answer.err);
    assert!(words(&answer.out).contains("Finding the peak of 1.32 GiB is over the limit of 1 GiB"), "{}", answer.out);
    let json = vramlab(&["--json", "snapshot", &file, "--limit", "1GiB"]).json();
    assert_eq!(json["findings"][0]["kind"], "over_limit");
    assert_eq!(vramlab(&["snapshot", &file, "--limit", "2GiB"]).code, Some(0));
}

/// What cannot be opened says so in the reader's language; a program is called no snapshot.
#[test]
fn what_cannot_be_opened_is_told_in_chinese_too() {
    let file = data("snapshots/mlp_adam.pickle.gz");
    let dir = tempfile::tempdir().unwrap();
    let elf = dir.path().join("ls");
    std::fs::write(&elf, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0").unwrap();
    for (args, zh) in [
        (vec!["snapshot", "nofile.pickle", "--lang", "zh"], "nofile.pickle：没有这个文件"),
        (vec!["snapshot", &file, "--limit", "0", "--lang", "zh"], "--limit 0 不是一个上限"),
        (vec!["snapshot", elf.to_str().unwrap(), "--lang", "zh"], "不是显存快照"),
        (vec!["snapshot", elf.to_str().unwrap(), "--lang", "en"], "not a memory snapshot"),
    ] {
        let answer = vramlab(&args);
        assert_eq!(answer.code, Some(2), "{}{}", answer.out, answer.err);
        assert!(answer.err.contains(zh), "{}", answer.err);
    }
}

/// A message comes by standard input too; among ranks it is named as what it is.
#[test]
fn a_pasted_message_is_read_from_standard_input() {
    let text = "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.72 GiB \
                already allocated; 5.56 MiB free; 9.79 GiB reserved in total by PyTorch)";
    let dir = tempfile::tempdir().unwrap();
    let mut command = crate::program::command(dir.path());
    command.args(["snapshot", "-", "--lang", "en"]).stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let answer: crate::program::Answer = child.wait_with_output().unwrap().into();
    assert_eq!(answer.code, Some(1), "{}", answer.err);
    assert!(words(&answer.out).contains("this text does not say"), "{}", answer.out);
    let path = dir.path().join("oom.txt");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let ranks = vramlab(&["snapshot", "--ranks", path, path, "--lang", "en"]);
    assert_eq!(ranks.code, Some(2), "{}", ranks.out);
    assert!(ranks.err.contains("oom.txt: text that PyTorch printed, not a memory snapshot"), "{}", ranks.err);
}

/// S5: what people drop instead.
#[test]
fn s5_a_checkpoint_is_called_one_and_recording_is_taught() {
    let dir = tempfile::tempdir().unwrap();
    let zip = dir.path().join("weights.pt");
    std::fs::write(&zip, b"PK\x03\x04\0\0archive/data.pkl").unwrap();
    let model = dir.path().join("model.pkl");
    std::fs::write(&model, b"\x80\x04\x8c\x10sklearn.ensemble\x94\x8c\x16RandomForestClassifier\x94\x93\x94)\x81\x94.")
        .unwrap();
    let answer = vramlab(&["snapshot", zip.to_str().unwrap(), "--lang", "en"]);
    assert_eq!(answer.code, Some(2), "{}", answer.err);
    for says in ["a checkpoint, not a memory snapshot", "_dump_snapshot()"] {
        assert!(answer.err.contains(says), "{}", answer.err);
    }
    let answer = vramlab(&["snapshot", model.to_str().unwrap(), "--lang", "en"]);
    assert_eq!(answer.code, Some(2), "{}", answer.err);
    assert!(answer.err.contains("sklearn.ensemble.RandomForestClassifier"), "{}", answer.err);
}

/// PyTorch's table and its counters, explained in both languages.
#[test]
fn tables_are_explained_row_by_row() {
    let table = data("files/memory_summary.txt");
    for (lang, says) in [("zh", "empty_cache 还不掉"), ("en", "empty_cache cannot return")] {
        let answer = vramlab(&["snapshot", &table, "--lang", lang]);
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        for row in ["Allocated memory", "Non-releasable memory", "Oversize GPU segments", "837 MiB", says] {
            assert!(answer.out.contains(row), "{lang}: {row}: {}", answer.out);
        }
    }
    let rows = vramlab(&["--json", "snapshot", &data("snapshots/mlp_adam.json")]).json();
    assert_eq!(rows["rows"][0]["current"], 877_854_720_u64);
    assert_eq!((rows["is_exact"].as_bool(), rows["num_ooms"].as_u64()), (Some(true), Some(0)));
}

/// One loop under two settings: the README's peaks of both, what differs between them, and lines that fit.
#[test]
fn two_files_are_compared() {
    let files = ["kv_cat", "kv_cat_expandable"].map(|name| data(&format!("snapshots/{name}.pickle.gz")));
    let found = vramlab(&["--json", "snapshot", &files[0], &files[1], "--top", "99"]).json();
    let (first, second) = (&found["compare"]["first"], &found["compare"]["second"]);
    assert_eq!(
        (&first["allocated_bytes"], &second["allocated_bytes"]),
        (&1_314_193_408_u64.into(), &1_239_220_224_u64.into())
    );
    assert_eq!(second["peak_reserved_bytes"], 1_793_064_960_u64);
    assert_eq!(found["is_same_program"], true);
    for by in ["by_site", "by_role"] {
        let sum: i64 = found[by].as_array().unwrap().iter().map(|row| row["gained_bytes"].as_i64().unwrap()).sum();
        assert_eq!(sum, 1_239_220_224 - 1_314_193_408, "{by}");
    }
    let told = vramlab(&["snapshot", &files[0], &files[1], "--lang", "en", "--at", "end"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(words(&told.out).contains("Allocated 1.1 GiB → 1.03 GiB"), "{}", told.out);
    assert!(words(&told.out).contains("expandable_segments: False → True"), "{}", told.out);
    for line in told.out.lines() {
        assert!(line.chars().count() <= 84, "{line}");
    }
}

/// Three files, or two that are said to be: ranks, the fullest against the mean.
#[test]
fn more_files_are_ranks_with_their_imbalance() {
    let files =
        ["kv_cat_expandable", "kv_cat", "kv_cat_round4"].map(|name| data(&format!("snapshots/{name}.pickle.gz")));
    let found = vramlab(&["--json", "snapshot", &files[0], &files[1], &files[2]]).json();
    let peaks = [1_239_220_224_u64, 1_314_193_408, 1_510_408_192];
    let said: Vec<u64> =
        found["ranks"].as_array().unwrap().iter().map(|r| r["peak_allocated_bytes"].as_u64().unwrap()).collect();
    assert_eq!(said, peaks);
    let mean = peaks.iter().sum::<u64>() as f64 / 3.0;
    assert!((found["allocated"]["imbalance"].as_f64().unwrap() - (1_510_408_192.0 / mean - 1.0)).abs() < 1e-9);
    // A folder stands for the pickles in it.
    let dir = tempfile::tempdir().unwrap();
    for (rank, file) in files[..2].iter().enumerate() {
        std::fs::copy(file, dir.path().join(format!("rank{rank}.pickle.gz"))).unwrap();
    }
    let told = vramlab(&["snapshot", "--ranks", dir.path().to_str().unwrap(), "--lang", "en"]);
    assert!(words(&told.out).contains("fullest is rank 1 with 1.22 GiB, 2.9 % above the mean"), "{}", told.out);
    assert!(told.err.contains("the allocator's settings differ ("), "{}", told.err);
    for line in told.out.lines() {
        assert!(line.chars().count() <= 84, "{line}");
    }
}

/// Other programs are no ranks: refused, with what differs, also where it is insisted.
#[test]
fn unrelated_snapshots_are_refused_as_ranks() {
    let [mlp, resnet, kv] =
        ["mlp_adam", "resnet50_b32", "kv_cat"].map(|name| data(&format!("snapshots/{name}.pickle.gz")));
    for args in [vec!["snapshot", &kv, &resnet, &mlp], vec!["snapshot", "--ranks", &kv, &resnet]] {
        let told = vramlab(&[&args[..], &["--lang", "en"]].concat());
        assert_eq!((told.code, told.out.as_str()), (Some(2), ""), "{}", told.out);
        let err = words(&told.err);
        assert!(err.contains("kv_cat.pickle.gz and resnet50_b32.pickle.gz are not ranks of one job"), "{err}");
        assert!(err.contains("common") && err.contains("train.py"), "{err}");
        let zh = vramlab(&[&args[..], &["--lang", "zh"]].concat());
        assert!(zh.err.contains("不是同一个作业的 rank") && zh.err.contains("共同"), "{}", zh.err);
    }
}

/// In Chinese an error is Chinese, what it is about and what to do.
#[test]
fn errors_are_told_in_the_language_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let whole = std::fs::read(data("files/mlp_adam.pickle")).unwrap();
    let (cut, attack) = (path("cut.pickle", &whole[..5_000]), data("files/attack.pickle"));
    let mlp = data("snapshots/mlp_adam.pickle.gz");
    for (args, says) in [
        (vec!["snapshot", &cut], "文件在第 5000 字节处断了"),
        (vec!["snapshot", &attack], "pickle 里引用了类"),
        (vec!["snapshot", &mlp, "--device", "7"], "这份快照里只有设备 0"),
        (vec!["snapshot", &mlp, "--replay", "max_split_size_mb:3"], "max_split_size_mb = 3 不合法"),
        (vec!["snapshot", &mlp, "--replay", "per_process_memory_fraction:2"], "在 0 到 1 之间，两端都行"),
    ] {
        let told = vramlab(&[&args[..], &["--lang", "zh"]].concat());
        assert_eq!(told.code, Some(2), "{args:?}: {}", told.err);
        assert!(told.err.contains(says), "{args:?}: {}", told.err);
        for english in ["byte ", "must be", "not allowed", "the file", "is not in"] {
            assert!(!told.err.contains(english), "{args:?}: {}", told.err);
        }
    }
}

/// Rules of the reader decide roles; a slip in them is 2, with its line.
#[test]
fn rules_are_read_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let (good, bad) = (dir.path().join("good.txt"), dir.path().join("bad.txt"));
    std::fs::write(&good, "/train\\.py:\\d+ kv/ = activation\n").unwrap();
    std::fs::write(&bad, "train.py = kv_cache\ntrain.py kv_cache\n").unwrap();
    let file = data("snapshots/kv_cat.pickle.gz");
    let found = vramlab(&["--json", "snapshot", &file, "--rules", good.to_str().unwrap()]).json();
    assert_eq!(found["peak"]["by_role"][0]["label"], "activations");
    let told = vramlab(&["snapshot", &file, "--rules", bad.to_str().unwrap(), "--lang", "en"]);
    assert_eq!(told.code, Some(2), "{}", told.out);
    assert!(told.err.contains("line 2, column 18"), "{}", told.err);
}
