//! `vramlab project`: the whole chain on this processor, what is refused, and files that are damaged.

use crate::program::{Answer, vramlab};
use std::fs;
use std::path::{Path, PathBuf};

/// A small net: a step takes milliseconds.
const SIZES: [&str; 10] =
    ["--set", "n_layers=4", "--set", "width=16", "--set", "seq_len=8", "--set", "batch=8", "--set", "n_classes=16"];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn project(verb: &str, file: &Path, rest: &[&str]) -> Answer {
    let mut all = vec!["project", verb, file.to_str().unwrap()];
    all.extend(rest);
    if !rest.contains(&"--lang") {
        all.extend(["--lang", "en"]);
    }
    vramlab(&all)
}

#[track_caller]
fn fine(answer: Answer) -> Answer {
    assert_eq!(answer.code, Some(0), "{}{}", answer.out, answer.err);
    answer
}

/// A project with a baseline and three candidates.
fn compared(folder: &Folder, name: &str) -> PathBuf {
    let file = folder.file(name);
    fine(project("new", &file, &[&SIZES[..], &["--hypothesis", "checkpoints halve it"]].concat()));
    fine(project("baseline", &file, &["--backend", "cpu"]));
    fine(project("compare", &file, &["checkpoint", "accumulate4", "checkpoint2+offload"]));
    file
}

#[test]
fn from_a_baseline_to_a_decision_with_its_reason() {
    let folder = Folder::new();
    let file = compared(&folder, "p.json");
    let shown = fine(project("report", &file, &["--json"])).json();
    let candidates = shown["candidates"].as_array().unwrap();
    let peak = |entry: &serde_json::Value| entry["result"]["used_bytes"].as_u64().unwrap();
    for entry in candidates.iter().chain([&shown["baseline"]]) {
        assert_eq!(entry["result"]["used_bytes"], entry["result"]["predicted_bytes"], "the prediction is exact");
        assert_eq!(entry["device"]["backend"], "cpu");
    }
    assert_eq!(candidates[0]["result"]["gap"]["n_differ"], 0, "checkpoints keep every bit");
    assert_eq!(candidates[2]["result"]["gap"]["n_differ"], 0, "offloading too");
    assert!(candidates[1]["result"]["gap"]["relative"].as_f64().unwrap() < 1e-4);
    assert!(peak(&candidates[0]) * 10 < peak(&shown["baseline"]) * 8, "a checkpoint saves a fifth at least");

    // Under a budget that the baseline does not meet.
    let budget = format!("{}B", peak(&shown["baseline"]) - 1);
    let decided = fine(project("decide", &file, &["--budget", &budget]));
    assert!(decided.out.contains("keep") && decided.out.contains("over the budget"), "{}", decided.out);
    let none = project("decide", &file, &["--budget", "64KiB"]);
    assert_eq!(none.code, Some(1), "{}", none.err);
    assert!(none.out.contains("none fits; the smallest is"), "{}", none.out);

    let why = fine(project("explain", &file, &["checkpoint"]));
    assert!(why.out.contains("| activations |") && why.out.contains("The peak "), "{}", why.out);
    let report = folder.file("report.md");
    fine(vramlab(&["project", "report", file.to_str().unwrap(), "--out", report.to_str().unwrap()]));
    let text = fs::read_to_string(report).unwrap();
    for words in ["假设", "Hypothesis", "处理器上的证据", "a processor's evidence", "E1 / E1 / E1", "bit for bit"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("| E2") && !text.contains("| E3"), "a processor's run stays E1: {text}");
}

#[test]
fn what_differs_is_refused_by_name_and_nothing_is_written() {
    let folder = Folder::new();
    let file = compared(&folder, "a.json");
    let before = fs::read(&file).unwrap();
    let refused = |answer: Answer, words: &str| {
        assert_eq!(answer.code, Some(2), "{}{}", answer.out, answer.err);
        assert!(answer.err.contains(words), "{words}: {}", answer.err);
        assert_eq!(fs::read(&file).unwrap(), before);
    };
    refused(project("compare", &file, &["checkpoint", "--set", "batch=16"]), "not comparable: batch 8 vs 16");
    refused(
        project("compare", &file, &["checkpoint", "--set", "seq_len=16", "--set", "seed=2"]),
        "not comparable: seq_len 8 vs 16, seed 1 vs 2",
    );
    // Another project, equal but for its format.
    let other = folder.file("b.json");
    fine(project("new", &other, &[&SIZES[..], &["--dtype", "fp64"]].concat()));
    fine(project("baseline", &other, &["--backend", "cpu"]));
    let from = other.to_str().unwrap();
    refused(project("compare", &file, &["--from", from]), "not comparable: dtype fp32 vs fp64");
    // A run that says it was made on a card.
    let text = String::from_utf8(before.clone()).unwrap();
    fs::write(&other, text.replace("\"backend\": \"cpu\"", "\"backend\": \"cuda\"")).unwrap();
    refused(project("compare", &file, &["--from", from]), "not comparable: backend cpu vs cuda");
    // Losses that this machine does not repeat.
    let losses = text.find("\"losses\": [").unwrap();
    let digit = text[losses..].find('.').unwrap() + losses + 1;
    let mut changed = text.clone();
    changed.replace_range(digit..=digit, if &text[digit..=digit] == "9" { "8" } else { "9" });
    fs::write(&other, &changed).unwrap();
    let answer = project("compare", &other, &["checkpoint", "--again"]);
    assert_eq!(answer.code, Some(2), "{}{}", answer.out, answer.err);
    assert!(answer.err.contains("the baseline does not repeat"), "{}", answer.err);
    assert_eq!(fs::read_to_string(&other).unwrap(), changed);
    refused(project("compare", &file, &["chekpoint"]), "checkpoint[N]");
    refused(project("compare", &file, &["accumulate3"]), "does not split into 3");
    refused(project("baseline", &file, &["--backend", "cpu"]), "has its baseline already");
    refused(project("new", &file, &[]), "is there already");
}

#[test]
fn what_does_not_fit_is_kept_as_a_result() {
    let folder = Folder::new();
    let file = folder.file("p.json");
    fine(project("new", &file, &SIZES));
    fine(project("baseline", &file, &["--backend", "cpu"]));
    let answer = fine(project("compare", &file, &["checkpoint", "--limit", "64KiB"]));
    assert!(answer.out.contains("out of memory"), "{}", answer.out);
    let shown = fine(project("report", &file, &["--json"])).json();
    let result = &shown["candidates"][0]["result"];
    assert_eq!(result["outcome"], "out_of_memory");
    assert!(result["needed_bytes"].as_u64() > result["limit_bytes"].as_u64());
    let decided = fine(project("decide", &file, &["--budget", "1GiB"]));
    assert!(decided.out.contains("did not fit"), "{}", decided.out);
    // Measured without a limit, it takes the place of the refusal.
    fine(project("compare", &file, &["checkpoint", "--again"]));
    let shown = fine(project("report", &file, &["--json"])).json();
    assert_eq!(shown["candidates"].as_array().unwrap().len(), 1);
}

#[test]
fn a_damaged_file_names_its_place_and_stays_as_it_is() {
    let folder = Folder::new();
    let file = compared(&folder, "p.json");
    let text = fs::read_to_string(&file).unwrap();
    let half = &text[..text.len() / 2];
    for (damaged, words) in [
        (half.to_owned(), "line"),
        (text.replace("vramlab-project/1", "vramlab-project/9"), "this program reads"),
        (text.replacen("\"width\": 16", "\"width\": 0", 1), "width"),
        (String::new(), "line 1"),
        ("\u{0}".repeat(100), "line 1"),
    ] {
        fs::write(&file, &damaged).unwrap();
        for verb in ["baseline", "explain", "report"] {
            let answer = project(verb, &file, &[]);
            assert_eq!(answer.code, Some(2), "{}{}", answer.out, answer.err);
            assert!(answer.err.contains(words) && answer.err.contains("nothing was written"), "{}", answer.err);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), damaged);
    }
    let gone = project("report", &folder.file("nowhere.json"), &[]);
    assert_eq!(gone.code, Some(2));
    assert!(gone.err.contains("project new"), "{}", gone.err);
}

/// What was measured is of the work that stands in the file: whoever edits the one must not be told the other's numbers.
#[test]
fn a_file_edited_by_hand_is_refused_by_every_verb() {
    let folder = Folder::new();
    let file = compared(&folder, "p.json");
    let text = fs::read_to_string(&file).unwrap();
    let used = text.find("\"used_bytes\": ").unwrap() + "\"used_bytes\": ".len();
    let end = used + text[used..].find(',').unwrap();
    for (edited, words) in [
        (
            text.replacen("\"batch\": 8", "\"batch\": 4", 1),
            "not comparable: batch is 4, and the baseline was measured with 8",
        ),
        (format!("{}99999999{}", &text[..used], &text[end..]), "99999999 is not what its owners hold together"),
    ] {
        fs::write(&file, &edited).unwrap();
        for (verb, rest) in
            [("report", &[][..]), ("explain", &[]), ("decide", &["--budget", "1GiB"]), ("compare", &["offload"])]
        {
            let answer = project(verb, &file, rest);
            assert_eq!(answer.code, Some(2), "{verb}: {}{}", answer.out, answer.err);
            assert!(answer.err.contains(words), "{verb}: {}", answer.err);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    }
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    let zh = project("explain", &file, &["--lang", "zh"]);
    assert!(zh.err.contains("文件到这里断了") && zh.err.contains("什么也没写"), "{}", zh.err);
}

/// A net of 27 KiB: its budgets are as small, and its rows have digits.
#[test]
fn small_work_has_small_budgets_and_sizes() {
    let folder = Folder::new();
    let file = folder.file("p.json");
    let sizes = ["n_layers=1", "width=8", "n_heads=2", "seq_len=8", "batch=1"].map(|size| ["--set", size]).concat();
    fine(project("new", &file, &sizes));
    fine(project("baseline", &file, &["--backend", "cpu"]));
    fine(project("compare", &file, &["checkpoint", "keep"]));
    let none = project("decide", &file, &["--budget", "1KiB"]);
    assert_eq!(none.code, Some(1), "{}", none.err);
    assert!(none.out.contains("Under 1 KiB: none fits"), "{}", none.out);
    let chosen = fine(project("decide", &file, &["--budget", "1GiB"]));
    assert!(chosen.out.contains("Under 1 GiB: ") && chosen.out.contains("× "), "{}", chosen.out);
    let why = fine(project("explain", &file, &[])).out;
    assert!(!why.contains("0.00") && why.contains(" KiB |"), "{why}");
    let report = fine(project("report", &file, &[])).out;
    assert!(report.contains("| keep (once more) |"), "{report}");
}

#[test]
fn wrong_words_say_what_is_right() {
    let folder = Folder::new();
    let file = folder.file("p.json");
    let says = |answer: Answer, words: &str| {
        assert_eq!(answer.code, Some(2), "{}{}", answer.out, answer.err);
        assert!(answer.err.contains(words), "{words}: {}", answer.err);
    };
    says(project("new", &file, &["--set", "n_layer=4"]), "did you mean \"n_layers\"");
    says(project("new", &file, &["--set", "width=30", "--set", "n_heads=4"]), "cannot be shared by 4 heads");
    says(project("new", &file, &["--net", "rnn"]), "it must be mlp or block");
    says(project("new", &file, &["--dtype", "bf16"]), "it must be fp32 or fp64");
    says(project("new", &file, &["--gate-loss", "2"]), "is not from 0 to 1");
    assert!(!file.exists());
    fine(project("new", &file, &["--set", "width=16384", "--set", "n_layers=128"]));
    says(project("baseline", &file, &["--backend", "cpu"]), "too large for a processor");
    says(project("compare", &file, &["checkpoint"]), "there is no baseline yet");
    says(project("decide", &file, &["--budget", "1GiB"]), "there is no baseline yet");
    // Nobody has a GPU here.
    let answer = project("baseline", &file, &["--backend", "cuda"]);
    assert_eq!(answer.code, Some(3), "{}", answer.err);
    let zh = fine(project("new", &folder.file("z.json"), &["--lang", "zh"]));
    assert!(zh.out.contains("预测"), "{}", zh.out);
}
