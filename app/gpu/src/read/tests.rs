//! What an author does wrong, and what the reader says to it.

use super::*;
use crate::testing::{EXPERIMENT, KERNEL, kernel};

fn of_kernel(text: &str) -> Vec<ManifestProblem> {
    read_kernel("read/kernel.toml", "read", text).1
}

fn of_experiment(text: &str) -> Vec<ManifestProblem> {
    read_experiment("read/stride.experiment.toml", "read/stride", text, &kernel()).1
}

/// One change to a good file gives one problem, under the changed word.
#[track_caller]
fn one(problems: &[ManifestProblem], rule: &str, under: &str, help: Option<&str>) {
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let problem = &problems[0];
    let underlined: String = problem.text.chars().skip(problem.column - 1).take(problem.width).collect();
    assert_eq!((problem.rule, underlined.as_str()), (rule, under), "{problem:#?}");
    if let Some(help) = help {
        assert!(problem.help.as_ref().is_some_and(|found| found.contains(help)), "{problem:#?}");
    }
}

#[track_caller]
fn change(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

#[test]
fn derived_quantities_keep_the_authors_order() {
    let kernel = kernel();
    let names: Vec<&str> = kernel.derive.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["threads", "blocks"]);
    // The other way round, `threads` is not known yet.
    let swapped = change(
        KERNEL,
        "threads = \"256 * loads\"\nblocks = \"floor(n_words / (stride * threads))\"",
        "blocks = \"floor(n_words / (stride * threads))\"\nthreads = \"256 * loads\"",
    );
    one(&of_kernel(&swapped), "unknown-name", "threads", None);
    // And the order survives the protocol.
    let json = serde_json::to_string(&kernel).unwrap();
    assert_eq!(serde_json::from_str::<Kernel>(&json).unwrap(), kernel);
}

#[test]
fn a_wrong_name_in_a_formula_is_underlined_and_guessed() {
    let text = change(KERNEL, "bytes = \"n_words * 4\"", "bytes = \"n_wrods * 4\"");
    one(&of_kernel(&text), "unknown-name", "n_wrods", Some("\"n_words\""));
    let text = change(EXPERIMENT, "bytes.input >= 2 * device.l2_bytes", "bytes.input >= 2 * device.l2_byte");
    one(&of_experiment(&text), "unknown-name", "device.l2_byte", Some("device.l2_bytes"));
    let text = change(EXPERIMENT, "work.bytes_useful / time_ns", "work.bytes_usefull / time_ns");
    one(&of_experiment(&text), "unknown-name", "work.bytes_usefull", Some("work.bytes_useful"));
    // A time is known only where something has been measured.
    let text = change(EXPERIMENT, "at_most = \"device.peak_gb_per_s\"", "at_most = \"time_ns\"");
    one(&of_experiment(&text), "unknown-name", "time_ns", None);
}

#[test]
fn a_formula_that_does_not_parse_points_at_the_place() {
    let text = change(KERNEL, "grid = \"blocks\"", "grid = \"blocks +\"");
    let problems = of_kernel(&text);
    assert_eq!((problems.len(), problems[0].rule), (1, "bad-formula"));
    assert_eq!(problems[0].text, "grid = \"blocks +\"");
    assert_eq!(problems[0].column, "grid = \"blocks +".chars().count() + 1);
}

#[test]
fn ids_that_do_not_exist_are_guessed() {
    one(&of_kernel(&change(KERNEL, "strided_sum", "stride_sum")), "unknown-id", "\"stride_sum\"", Some("strided_sum"));
    one(&of_kernel(&change(KERNEL, "\"random\"", "\"randon\"")), "unknown-fill", "\"randon\"", Some("random"));
    one(&of_kernel(&change(KERNEL, "\"ptr:out\"", "\"ptr:outt\"")), "unknown-id", "ptr:outt", Some("out"));
    let text = change(EXPERIMENT, "model = \"coalescing\"", "model = \"coalesce\"");
    assert_eq!(of_experiment(&text)[0].help.as_deref(), Some("did you mean \"coalescing\"?"));
    let text = change(EXPERIMENT, "take = \"efficiency\"", "take = \"efficency\"");
    one(&of_experiment(&text), "unknown-field", "\"efficency\"", Some("efficiency"));
    let text = change(EXPERIMENT, "set = { stride_bytes", "set = { strid_bytes");
    assert!(of_experiment(&text).iter().any(|problem| problem.what.contains("asks for no \"strid_bytes\"")));
    let text = change(EXPERIMENT, "backend = \"cuda\"", "backend = \"cpu\"");
    one(&of_experiment(&text), "unknown-id", "\"cpu\"", Some("[cpu]"));
}

#[test]
fn numbers_stay_in_their_ranges() {
    one(&of_kernel(&change(KERNEL, "default = 8", "default = 4")), "bad-range", "4", None);
    one(&of_kernel(&change(KERNEL, "unit = \"element\"", "unit = \"\"")), "missing-unit", "\"\"", None);
    let text = change(EXPERIMENT, "values = [1, 2, 4, 8, 16]", "values = [1, 2, 4, 8, 128]");
    one(&of_experiment(&text), "bad-range", "[1, 2, 4, 8, 128]", None);
    one(&of_experiment(&change(EXPERIMENT, "quick = [1, 8]", "quick = [8, 1]")), "bad-range", "[8, 1]", None);
}

#[test]
fn limits_of_an_experiment_hold() {
    let text = change(EXPERIMENT, "time_secs = 6", "time_secs = 13");
    one(&of_experiment(&text), "bad-range", "13", None);
    let text = change(EXPERIMENT, "set = { loads = 8 }", "set = { loads = 3 }");
    one(&of_experiment(&text), "bad-range", "3", None);
    let text = change(EXPERIMENT, "elem_bytes = 4 }", "elem_bytes = 3 }");
    one(&of_experiment(&text), "bad-range", "3", None);
    let text = change(EXPERIMENT, "samples = [5, 21]", "samples = [5, 2100]");
    one(&of_experiment(&text), "bad-range", "[5, 2100]", None);
}

#[test]
fn the_effect_names_points_that_a_quick_run_measures() {
    one(&of_experiment(&change(EXPERIMENT, "read@8", "read@4")), "bad-point", "\"read@4\"", None);
    one(&of_experiment(&change(EXPERIMENT, "read@8", "reed@8")), "bad-point", "\"reed@8\"", Some("read"));
    one(&of_experiment(&change(EXPERIMENT, "read@8", "read 8")), "bad-point", "\"read 8\"", Some("stride@8"));
}

#[test]
fn an_output_that_is_not_poisoned_could_pass_by_chance() {
    let text = KERNEL.replace("fill = \"poison\"", "fill = \"random\"");
    one(&of_kernel(&text), "bad-fill", "\"out\"", None);
}

#[test]
fn a_missing_language_is_a_warning_and_both_missing_an_error() {
    let text = change(KERNEL, "title = { zh = \"读\", en = \"Read\" }", "title = { zh = \"读\" }");
    let (kernel, problems) = read_kernel("k", "read", &text);
    assert!(kernel.is_some() && problems.len() == 1 && problems[0].is_warning, "{problems:?}");
    let text = change(KERNEL, "title = { zh = \"读\", en = \"Read\" }", "title = { }");
    assert!(read_kernel("k", "read", &text).0.is_none());
}

#[test]
fn l2_all_problems_of_a_file_come_at_once() {
    let mut text = KERNEL.to_owned();
    for (from, to) in [
        ("strided_sum", "stride_sum"),
        ("bytes = \"n_words * 4\"", "bytes = \"n_wrods * 4\""),
        ("key = \"loads\"\nunit = \"1\"", "key = \"loads\""),
        ("grid = \"blocks\"", "gird = \"blocks\""),
        ("source = \"read.cu\"", "source = \"../read.cu\""),
    ] {
        text = change(&text, from, to);
    }
    let problems = of_kernel(&text);
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
    for what in ["stride_sum", "n_wrods", "unit is missing", "\"gird\"", "grid is missing", "../read.cu"] {
        assert!(problems.iter().any(|problem| problem.what.contains(what)), "{what}: {problems:#?}");
    }
}

#[test]
fn l1_l3_l7_files_that_cannot_be_read() {
    let problems = of_kernel(&change(KERNEL, "min = 1024", "min = = 1024"));
    assert_eq!((problems[0].rule, problems[0].line), ("syntax", 9));
    let newer = of_kernel(&change(KERNEL, "schema = 1", "schema = 9"));
    assert!(newer[0].help.as_ref().unwrap().contains("newer"), "{newer:?}");
    let older = of_kernel(&change(KERNEL, "schema = 1", "schema = 0"));
    assert!(older[0].help.as_ref().unwrap().contains("migrate"), "{older:?}");
    assert_eq!(of_kernel(&"#".repeat(300 << 10))[0].rule, "too-large");
    assert_eq!(of_kernel(&format!("a = {}", "[".repeat(20_000)))[0].rule, "syntax");
    assert!(!of_kernel("").is_empty());
    assert!(of_kernel(&KERNEL.replace('\n', "\r\n")).is_empty());
}

#[test]
fn a_library_is_built_from_paths_and_texts() {
    let files = [
        ("kernels/read/kernel.toml", KERNEL),
        ("kernels/read/read.cu", "// code"),
        ("kernels/read/stride.experiment.toml", EXPERIMENT),
        ("kernels/read/experiment.toml", EXPERIMENT),
        ("kernels/read/notes/kernel.toml", "not read"),
    ];
    let library = Library::from_files(files);
    assert_eq!(library.problems, []);
    assert_eq!(library.experiments.keys().collect::<Vec<_>>(), ["read/main", "read/stride"]);
    assert_eq!(library.sources("read").unwrap()["read.cu"], "// code");
    assert_eq!(library.read_back("read"), ["out"]);
    let without_source = Library::from_files([files[0], files[2]]);
    one(&without_source.problems, "missing-file", "read.cu", None);
}

#[test]
fn the_hash_follows_what_shapes_the_numbers() {
    let library = |kernel: &str, source: &str, experiment: &str| {
        let files = [("r/kernel.toml", kernel), ("r/read.cu", source), ("r/s.experiment.toml", experiment)];
        Library::from_files(files).content_hash("r/s").unwrap()
    };
    let before = library(KERNEL, "int x;\n", EXPERIMENT);
    assert_eq!(before.len(), "sha256:".len() + 16);
    // Line ends, prose and judgement do not matter.
    assert_eq!(library(KERNEL, "int x; \r\n\r\n", EXPERIMENT), before);
    assert_eq!(library(&change(KERNEL, "\"Read\"", "\"Reads\""), "int x;\n", EXPERIMENT), before);
    assert_eq!(library(KERNEL, "int x;\n", &change(EXPERIMENT, "at_least = 4", "at_least = 5")), before);
    // Code, shapes and sweeps do.
    assert_ne!(library(KERNEL, "int y;\n", EXPERIMENT), before);
    assert_ne!(library(&change(KERNEL, "tile = \"256\"", "tile = \"128\""), "int x;\n", EXPERIMENT), before);
    assert_ne!(library(KERNEL, "int x;\n", &change(EXPERIMENT, "8, 16]", "8, 32]")), before);
}

/// A launch that follows another is read like the first one.
#[test]
fn launches_in_a_row_are_checked_too() {
    let then = "\n[[cuda.then]]\nentry = \"last\"\nwhen = \"loads > 1\"\ngrid = \"blocks\"\nblock = \"64\"\nargs = [\"ptr:out\"]\n";
    let text = format!("{KERNEL}{then}");
    let (kernel, problems) = read_kernel("read/kernel.toml", "read", &text);
    assert!(problems.is_empty(), "{problems:#?}");
    let then = &kernel.unwrap().cuda.unwrap().then[0];
    assert_eq!((then.entry.as_str(), then.when.as_deref(), then.args.len()), ("last", Some("loads > 1"), 1));
    one(&of_kernel(&change(&text, "\"loads > 1\"", "\"laods > 1\"")), "unknown-name", "laods", Some("\"loads\""));
    one(
        &of_kernel(&change(&text, "args = [\"ptr:out\"]", "args = [\"ptr:oot\"]")),
        "unknown-id",
        "ptr:oot",
        Some("out"),
    );
}
