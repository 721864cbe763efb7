//! The fault list for lessons, L1 to L9, L11 and L12, each by its code, against a small registry.

#![expect(clippy::unwrap_used, reason = "a suite that cannot go on says so by failing")]

mod common;

use common::Small;
use std::time::{Duration, Instant};
use vramlab_lesson::{
    Form, Limits, Pack, PackError, Parsed, Problem, Severity, StepBody, check, check_pack, parse, render, scaffold,
};
use vramlab_units::Lang;

const EXAMPLE: &str = include_str!("../examples/every_step.toml");
const TEN_FAULTS: &str = include_str!("../examples/ten_faults.toml");

fn read(text: &str) -> Parsed {
    parse("00_test", "00_test/chapter.toml", text.as_bytes())
}

fn findings(text: &str) -> Vec<Problem> {
    check(&read(text), &Small)
}

fn rules(problems: &[Problem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.rule).collect()
}

/// A chapter with one step, `[[step]]` written on line 4.
fn with_step(step: &str) -> String {
    format!(
        "schema = 1\ntitle = {{ zh = \"章\", en = \"Chapter\" }}\n\n[[step]]\nid = \"a\"\ntitle = {{ zh = \"步\", en = \"Step\" }}\n{step}\n"
    )
}

fn with_prose(zh: &str) -> String {
    with_step(&format!("kind = \"prose\"\ntext = {{ zh = '''{zh}''', en = \"Words.\" }}"))
}

/// The only finding of `text`, as `(rule, line, column, underlined text)`.
#[track_caller]
fn only(text: &str) -> Problem {
    let found = findings(text);
    assert_eq!(found.len(), 1, "{}", found.iter().map(render).collect::<String>());
    found[0].clone()
}

fn underlined(problem: &Problem) -> String {
    problem.place.text.chars().skip(problem.place.column - 1).take(problem.place.width).collect()
}

#[test]
fn the_example_has_no_finding() {
    assert_eq!(findings(EXAMPLE).iter().map(render).collect::<String>(), "");
}

const SKETCH: &str = r#"
schema = 1
lang = "en"
title = "C"
[[step]]
id = "draw"
kind = "predict"
form = "sketch"
title = "Draw"
ask = "How does it fall?"
explain = "It falls."
REVEALS
[[step]]
id = "map"
kind = "prose"
title = "M"
text = "T"
[[step]]
id = "measure"
kind = "experiment"
title = "Measure"
run = "strided_read/sweep"
text = "T"
explain = "E"
alt = "A"
"#;

#[test]
fn a_curve_is_drawn_on_an_experiment_that_has_it() {
    let with = |lines: &str| SKETCH.replace("REVEALS", lines);
    let whole = "revealed_by = \"measure\"\nseries = \"write\"\nmin = 10\nmax = 10000";
    let good = with(whole);
    assert_eq!(findings(&good).iter().map(render).collect::<String>(), "");
    let chapter = read(&good).chapter.unwrap();
    let StepBody::Predict(predict) = &chapter.steps[0].body else { panic!("{:?}", chapter.steps[0].body) };
    let Form::Sketch(sketch) = &predict.question.form else { panic!("{:?}", predict.question.form) };
    assert_eq!((sketch.series.as_deref(), sketch.min, sketch.max), (Some("write"), 10.0, 10_000.0));

    let wrong = |from: &str, to: &str| only(&good.replace(from, to));
    let series = wrong("\"write\"", "\"wirte\"");
    assert_eq!((series.rule, series.help.as_deref()), ("unknown-series", Some("did you mean \"write\"?")));
    assert_eq!(wrong("revealed_by = \"measure\"", "revealed_by = \"map\"").rule, "wrong-form");
    assert_eq!(wrong("min = 10\n", "min = 0\n").rule, "out-of-range", "a logarithmic axis has no 0");
    assert_eq!(wrong("max = 10000", "max = 1").rule, "out-of-range");
    assert_eq!(wrong("min = 10\n", "").rule, "missing-field");
    assert_eq!(wrong("min = 10\n", "min = 10\nunit = \"GB/s\"\n").rule, "unknown-field");
    assert_eq!(wrong("revealed_by = \"measure\"\n", "").rule, "missing-field");
    assert_eq!(wrong("series =", "run = \"x/y\"\nseries =").rule, "unknown-experiment");
    let check = good.replacen("kind = \"predict\"", "kind = \"check\"", 1);
    assert!(rules(&findings(&check)).contains(&"wrong-form"));
}

#[test]
fn ten_planted_faults_are_ten_findings_in_the_order_of_the_file() {
    let found = findings(TEN_FAULTS);
    let marked: Vec<(usize, &str)> = TEN_FAULTS
        .lines()
        .enumerate()
        .filter_map(|(idx, line)| {
            let (_, rule) = line.rsplit_once("# ")?;
            let (number, rule) = rule.split_once(' ')?;
            number.parse::<u32>().ok()?;
            Some((idx + 1, rule.split(',').next()?))
        })
        .collect();
    assert_eq!(marked.len(), 10);
    // The unit is missing, so its finding stands at the header of that step, four lines above its comment.
    let expected: Vec<(usize, &str)> =
        marked.into_iter().map(|(line, rule)| (line - if rule == "no-unit" { 4 } else { 0 }, rule)).collect();
    assert_eq!(found.iter().map(|problem| (problem.place.line, problem.rule)).collect::<Vec<_>>(), expected);
    let shown: Vec<String> = found.iter().map(underlined).collect();
    assert_eq!(shown[..6], ["subtitel", "step:nowhere", "\"sector_mapp\"", "0", "9", "\"strided_read/no_effect\""]);
    assert_eq!(shown[7..9], ["[[step]]", "../../etc/passwd.png"]);
    let helps: Vec<&str> = found.iter().filter_map(|problem| problem.help.as_deref()).collect();
    assert!(helps.contains(&"did you mean \"subtitle\"?") && helps.contains(&"did you mean \"sector_map\"?"));
    assert!(found[4].what.contains("says 9") && found[4].what.contains("says 8"), "{}", found[4].what);
}

#[test]
fn l1_a_syntax_error_on_line_41_leaves_the_other_steps_open() {
    let mut lines: Vec<&str> = EXAMPLE.lines().collect();
    assert!(lines[40].starts_with("  { zh = "), "a hint of the step \"guess\": {}", lines[40]);
    lines[40] = "  { zh = \"一\" \"二\" },";
    let parsed = read(&lines.join("\n"));
    let places: Vec<usize> = parsed.problems.iter().map(|problem| problem.place.line).collect();
    assert!(!places.is_empty() && places.iter().all(|line| *line == 41), "{places:?}");
    assert!(render(&parsed.problems[0]).contains("━"));
    let chapter = parsed.chapter.unwrap();
    let broken: Vec<&str> = chapter
        .steps
        .iter()
        .filter(|step| matches!(step.body, StepBody::Broken { .. }))
        .map(|step| step.id.as_str())
        .collect();
    assert_eq!((broken, chapter.steps.len()), (vec!["guess"], 9));
    assert_eq!((chapter.audits.len(), chapter.reviews.len()), (1, 2));
}

#[test]
fn l1_one_broken_chapter_leaves_the_others_of_its_pack() {
    let files = vec![
        ("01_a/chapter.toml".to_owned(), b"schema = 1\ntitle = {".to_vec()),
        ("02_b/chapter.toml".to_owned(), EXAMPLE.as_bytes().to_vec()),
    ];
    let pack = Pack::from_files("mine", files, Limits::default()).unwrap();
    assert_eq!(pack.chapters.len(), 2, "both are in the list");
    assert_eq!(pack.chapters[0].parsed.chapter.as_ref().unwrap().title.get(Lang::En), "01_a", "named by its id");
    assert_eq!(rules(&check_pack(&pack, &Small)), ["syntax"]);
}

#[test]
fn l2_all_unknown_names_of_a_file_are_reported_in_one_go() {
    let text = EXAMPLE
        .replace("kind = \"equation\"", "kind = \"equasion\"")
        .replace("run = \"strided_read/sweep\"", "run = \"strided_reed/sweep\"")
        .replace("show = \"sector_map\"", "show = \"sectormap\"")
        .replacen("revealed_by", "reveald_by", 1)
        .replace("take = \"sectors\" }\nunit = \"1\"\nmin", "take = \"sector\" }\nunit = \"1\"\nmin");
    let found = findings(&text);
    let expected = ["unknown-field", "unknown-visualizer", "unknown-kind", "unknown-experiment", "unknown-field"];
    assert_eq!(rules(&found), expected, "{}", found.iter().map(render).collect::<String>());
    let helps: Vec<&str> = found.iter().map(|problem| problem.help.as_deref().unwrap_or_default()).collect();
    for (help, hint) in helps.iter().zip(["revealed_by", "sector_map", "equation", "strided_read/sweep", "sectors"]) {
        assert_eq!(*help, format!("did you mean \"{hint}\"?"));
    }
    let kernel = only(&with_step(
        "kind = \"experiment\"\nrun = \"zzz\"\ntext = { zh = \"一\", en = \"a\" }\nexplain = { zh = \"一\", en = \"a\" }\nalt = { zh = \"一\", en = \"a\" }",
    ));
    assert_eq!((kernel.rule, underlined(&kernel)), ("unknown-experiment", "\"zzz\"".to_owned()));
    assert!(kernel.help.unwrap().contains("strided_read/sweep"));
}

#[test]
fn l3_the_version_is_read_before_anything_else() {
    for (text, rule, needs) in [
        ("schema = 9\npages = [[\n", "newer-version", "needs version 9"),
        ("# x\n\nschema = 0 # old\nvisual = 3\n", "older-version", "version 0"),
        ("schema = 18446744073709551615\n", "newer-version", "needs version 18446744073709551615"),
    ] {
        let parsed = read(text);
        assert_eq!(parsed.chapter, None);
        assert_eq!(rules(&parsed.problems), [rule], "{text}");
        assert!(parsed.problems[0].what.contains(needs));
    }
    assert!(read("schema = 0\n").problems[0].help.as_ref().unwrap().contains("migrate"));
    for text in [
        "title = \"x\"\nlang = \"en\"\n",
        "schema = \"1\"\ntitle = \"x\"\nlang = \"en\"\n",
        "schema = 1.5\ntitle = \"x\"\nlang = \"en\"\n",
    ] {
        let parsed = read(text);
        assert!(parsed.chapter.is_some() && parsed.problems.len() == 1, "{text}: {:?}", parsed.problems);
    }
}

#[test]
fn l4_a_missing_language_is_found_and_the_other_one_shown() {
    let text = with_step("kind = \"prose\"\ntext = { en = \"Words.\" }");
    let found = only(&text);
    assert_eq!((found.rule, found.severity, found.place.line), ("missing-translation", Severity::Error, 8));
    assert!(found.what.contains("text") && found.what.contains("Chinese"), "{}", found.what);
    let chapter = read(&text).chapter.unwrap();
    let StepBody::Prose { text } = &chapter.steps[0].body else { panic!("the step opens") };
    assert_eq!((text.get(Lang::Zh), text.lang_shown(Lang::Zh)), ("Words.", Lang::En));
    let empty = with_step("kind = \"prose\"\ntext = { zh = \" \", en = \"Words.\" }");
    assert_eq!(rules(&findings(&empty)), ["missing-translation", "empty-text"]);
    assert_eq!(rules(&findings(&with_step("kind = \"prose\"\ntext = \"Words.\""))), ["no-language"]);
    let none = read(&with_step("kind = \"prose\"\ntext = {}"));
    assert!(matches!(none.chapter.unwrap().steps[0].body, StepBody::Broken { .. }), "never an empty page");
}

#[test]
fn l5_numbers_without_unit_and_mixed_units() {
    let number = |unit: &str| {
        with_step(&format!(
            "kind = \"check\"\nask = {{ zh = \"多少\", en = \"How much\" }}\nanswer = {{ value = 32, source = \"guide\" }}\n{unit}min = 1\nmax = 64\nexplain = {{ zh = \"一\", en = \"a\" }}"
        ))
    };
    assert_eq!(only(&number("")).rule, "no-unit");
    assert_eq!(only(&number("unit = \"\"\n")).rule, "no-unit");
    assert_eq!(findings(&number("unit = \"B\"\n")), []);
    let mixed = only(&with_prose("\n| 卡 | 容量 |\n| --- | --- |\n| A | 80 GB |\n| B | 74.5 GiB |\n"));
    assert_eq!((mixed.rule, underlined(&mixed)), ("mixed-units", "74.5 GiB".to_owned()));
    assert!(mixed.help.unwrap().contains("80 GB is 74.5 GiB"), "both readings");
    let unclear = only(&with_prose("每个 SM 有 228 KB 共享内存。"));
    assert_eq!((unclear.rule, underlined(&unclear)), ("unclear-unit", "228 KB".to_owned()));
    assert!(unclear.what.contains("228000 B") && unclear.what.contains("233472 B"), "{}", unclear.what);
    let wrong = EXAMPLE.replace(
        "take = \"sectors\" }\nunit = \"1\"                                    #",
        "take = \"sectors\" }\nunit = \"B\" #",
    );
    assert_eq!(rules(&findings(&wrong)), ["wrong-unit"], "the model's unit is compared");
}

#[test]
fn l6_an_answer_that_differs_from_the_model_shows_both_values() {
    let text = EXAMPLE.replacen("take = \"sectors\" }", "take = \"sectors\", value = 9 }", 1);
    let found = only(&text);
    // 32 lanes × 8 B = 256 B = 8 sectors of 32 B
    assert_eq!(found.what, "the chapter says 9; the model coalescing says 8");
    assert_eq!(underlined(&found), "9");
    assert_eq!(findings(&EXAMPLE.replacen("take = \"sectors\" }", "take = \"sectors\", value = 8 }", 1)), []);
    let off = EXAMPLE.replacen("max = 32\nrevealed_by", "max = 7\nrevealed_by", 1);
    assert_eq!(rules(&findings(&off)), ["off-ruler"]);
}

#[test]
fn l6_every_redraw_and_every_slider_position_is_asked() {
    let text = EXAMPLE.replace("redraw = { stride = [4, 8,", "redraw = { stride = [4, 0,");
    let found = only(&text);
    assert_eq!((found.rule, found.what.contains("stride_bytes = 0")), ("out-of-range", true), "{}", found.what);
    let text = EXAMPLE.replace("slider = { min = 4, max = 64,", "slider = { min = -4, max = 64,");
    let found = only(&text);
    assert!(found.what.contains("stride_bytes = -4") && found.what.contains("at stride = -4"), "{}", found.what);
    let text = EXAMPLE.replace(
        "set = { stride_bytes = \"$stride\", elem_bytes = 4 }, take = \"sectors\" }\nunit",
        "set = { stride_bytes = \"$strid\" }, take = \"sectors\" }\nunit",
    );
    assert_eq!(rules(&findings(&text)), ["conflict", "unused-name"]);
}

#[test]
fn l7_bounds_and_encodings() {
    let deep = read(&format!("schema = 1\ntitle = {}", "[".repeat(20_000)));
    assert!(deep.problems[0].what.contains("recurs") && deep.problems.len() <= 201, "{:?}", deep.problems[0]);
    let keys = read(&format!("schema = 1\n{}b = 1", "a.".repeat(20_000)));
    assert!(!keys.problems.is_empty());
    let started = Instant::now();
    let large = parse("a", "a.toml", &vec![b'#'; 50 << 20]);
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_eq!((large.chapter, rules(&large.problems)), (None, vec!["too-large"]));
    let nul = read(&EXAMPLE.replace("An example", "An\0example"));
    assert_eq!(rules(&nul.problems), ["control-character"]);
    assert!(nul.problems[0].what.contains("at byte "), "{}", nul.problems[0].what);
    let mut bytes = EXAMPLE.as_bytes().to_vec();
    let at = EXAMPLE.find("example of").unwrap();
    bytes[at] = 0xff;
    let latin = parse("a", "a.toml", &bytes);
    assert_eq!((latin.chapter, rules(&latin.problems), latin.problems[0].place.line), (None, vec!["encoding"], 4));
    assert!(latin.problems[0].what.contains(&format!("byte {at}")));
}

/// Files of nearly 2 MiB, each with as much of one thing as fits.
#[test]
fn l7_no_large_file_takes_long_or_reports_without_end() {
    let size = 1_900_000;
    let head = "schema = 1\ntitle = { zh = \"章\", en = \"Chapter\" }\n";
    let check_step = "[[step]]\nid = \"a\"\nkind = \"check\"\n";
    for (unit, before) in [
        ("\"x\",", format!("{check_step}hints = [")),
        ("a = 1\n", check_step.to_owned()),
        ("a = = 1\n", check_step.to_owned()),
        ("[[step]]\n", String::new()),
        ("[[step]]\nid = \"x\" 3\n", String::new()),
        ("[[step.option]]\n", check_step.to_owned()),
        ("\u{202e}", "# ".to_owned()),
        ("[x](step:y) 3 KB ![](a) ", format!("{check_step}ask = \"\"\"")),
        ("k = { a = [", String::new()),
    ] {
        let text = format!("{head}{before}{}", unit.repeat(size / unit.len()));
        let started = Instant::now();
        let parsed = read(&text);
        let found = check(&parsed, &Small);
        assert!(found.len() <= 2 * (vramlab_lesson::MAX_PROBLEMS + 1), "{unit}: {} problems", found.len());
        assert!(!found.is_empty() && started.elapsed() < Duration::from_secs(20), "{unit}: {:?}", started.elapsed());
    }
    let links: String = (0..9_000).map(|n| format!("[x](step:{n}) ")).collect();
    let started = Instant::now();
    let found = findings(&with_prose(&links));
    assert_eq!((found.len(), found.last().map(|problem| problem.rule)), (201, Some("too-many")));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn l7_bom_and_crlf_are_accepted() {
    let plain = read(EXAMPLE);
    let windows =
        parse("00_test", "00_test/chapter.toml", format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n")).as_bytes());
    assert_eq!(windows.problems, []);
    let (plain, windows) = (plain.chapter.unwrap(), windows.chapter.unwrap());
    let bodies =
        |chapter: &vramlab_lesson::Chapter| chapter.steps.iter().map(|step| step.body.clone()).collect::<Vec<_>>();
    assert_eq!(bodies(&plain), bodies(&windows));
}

#[test]
fn l7_bidirectional_controls_are_flagged() {
    let found = only(&with_prose("安全\u{202e}的"));
    assert_eq!((found.rule, found.place.line), ("bidi-control", 8));
    let escaped = only(&with_step("kind = \"prose\"\ntext = { zh = \"安全\\u202e的\", en = \"Words.\" }"));
    assert_eq!(escaped.rule, "bidi-control", "also when only an escape brings it in");
    let escaped = only(&with_step("kind = \"prose\"\ntext = { zh = \"一\\u0000二\", en = \"Words.\" }"));
    assert_eq!(escaped.rule, "control-character");
}

#[test]
fn l7_markdown_is_bounded() {
    let broken = |zh: &str| {
        let parsed = read(&with_prose(zh));
        let is_broken = matches!(parsed.chapter.unwrap().steps[0].body, StepBody::Broken { .. });
        (rules(&parsed.problems).first().copied().map(str::to_owned), is_broken)
    };
    assert_eq!(broken(&format!("{}x", "> ".repeat(40))), (Some("too-deep".to_owned()), true));
    let wide = format!("\n|{}\n|{}\n", "a|".repeat(5_000), "-|".repeat(5_000));
    assert_eq!(broken(&wide), (Some("too-deep".to_owned()), true));
    assert_eq!(broken(&"长".repeat(70_000)), (Some("too-large".to_owned()), true));
    let started = Instant::now();
    let _ = broken(&"[".repeat(190_000));
    let _ = broken(&"`".repeat(190_000));
    let _ = broken(&"*a ".repeat(60_000));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn l8_pictures_and_links_stay_in_the_pack() {
    for bad in [
        "../../etc/passwd",
        "/etc/passwd.png",
        "file:///etc/passwd",
        "http://x.org/a.png",
        "https://x.org/a.png",
        "C:\\a.png",
    ] {
        let found = only(&with_prose(&format!("![图]({bad})")));
        assert_eq!((found.rule, found.place.line), ("refused-image", 8), "{bad}");
    }
    for bad in
        ["file:///etc/passwd", "javascript:alert(1)", "../x.csv", "step:nowhere", "chapter:99_x", "data/none.csv", "#a"]
    {
        assert_eq!(only(&with_prose(&format!("[x]({bad})"))).rule, "dead-link", "{bad}");
    }
    let misspelt = only(&with_prose("先看这个。\n\n[改一改](kernel:transpos)"));
    assert_eq!((misspelt.rule, misspelt.place.line), ("dead-link", 10));
    assert!(misspelt.help.is_some_and(|help| help.contains("transpose")));
    for good in [
        "step:a",
        "kernel:transpose",
        "chapter:01_bottleneck",
        "chapter:00_test/a",
        "https://x.org/a",
        "figures/sectors.png",
    ] {
        assert_eq!(findings(&with_prose(&format!("[x]({good})"))), [], "{good}");
    }
    assert_eq!(findings(&with_prose("![扇区](figures/sectors.png)")), []);
    assert_eq!(only(&with_prose("![](figures/sectors.png)")).rule, "missing-alt");
    assert_eq!(only(&with_prose("![扇区](figures/none.png)")).rule, "missing-file");
}

#[test]
fn l9_two_chapters_with_one_id_are_both_named() {
    let file = |name: &str| (name.to_owned(), EXAMPLE.as_bytes().to_vec());
    let files = vec![file("02_b/chapter.toml"), file("02_b.toml"), file("old/02_b/chapter.toml")];
    let pack = Pack::from_files("mine", files, Limits::default()).unwrap();
    assert_eq!(pack.chapters.len(), 1);
    let what: Vec<&str> = pack.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(what.len(), 2);
    assert!(what[0].contains("02_b.toml") && what[0].contains("02_b/chapter.toml"), "{what:?}");
    assert!(what[1].contains("02_b.toml") && what[1].contains("old/02_b/chapter.toml"), "{what:?}");
    let twice = EXAMPLE.replace("id = \"map\"", "id = \"puzzle\"");
    let found: Vec<Problem> = read(&twice).problems;
    assert_eq!(rules(&found), ["duplicate-id"]);
    assert!(found[0].what.contains("line 13"), "{}", found[0].what);
}

#[test]
fn l9_empty_packs_and_folders_without_a_chapter() {
    let pack = Pack::from_files("mine", Vec::new(), Limits::default()).unwrap();
    assert_eq!(rules(&pack.problems), ["no-chapters"]);
    assert!(pack.problems[0].what.contains("mine"));
    let files = vec![
        ("02_b/chapter.toml".to_owned(), EXAMPLE.as_bytes().to_vec()),
        ("02_b/figures/a.png".to_owned(), vec![1]),
        ("03_c/notes.txt".to_owned(), vec![1]),
        ("03_c/.DS_Store".to_owned(), vec![1]),
    ];
    let pack = Pack::from_files("mine", files, Limits::default()).unwrap();
    assert_eq!(rules(&pack.problems), ["no-chapter"]);
    assert!(pack.problems[0].what.contains("03_c"));
    assert_eq!(pack.file("02_b", "figures/a.png"), Some(&[1_u8][..]));
    assert_eq!(pack.file("02_b", "../03_c/notes.txt"), None);
}

#[test]
fn l9_links_into_other_chapters_of_a_pack_are_followed_to_the_step() {
    let other = with_prose("见 [图](chapter:00_example/map) 和 [没有](chapter:00_example/mapp)。");
    let files = vec![
        ("00_example/chapter.toml".to_owned(), EXAMPLE.as_bytes().to_vec()),
        ("07_other.toml".to_owned(), other.into_bytes()),
    ];
    let found = check_pack(&Pack::from_files("mine", files, Limits::default()).unwrap(), &Small);
    assert_eq!(rules(&found), ["dead-link"]);
    assert_eq!(
        (found[0].place.file.as_str(), found[0].help.as_deref()),
        ("07_other.toml", Some("did you mean \"map\"?"))
    );
}

#[test]
fn l11_a_character_without_glyph_is_found_once() {
    let found = only(&with_prose("鿫，又是鿫。"));
    assert_eq!((found.rule, underlined(&found)), ("no-glyph", "鿫".to_owned()));
    assert!(found.what.contains("U+9FEB"));
}

#[test]
fn l12_parameters_out_of_range_name_the_range() {
    let step = |stride: &str| {
        with_step(&format!(
            "kind = \"visualizer\"\nshow = \"sector_map\"\nparams = {{ stride_bytes = {stride} }}\ntext = {{ zh = \"看\", en = \"Look\" }}\nalt = {{ zh = \"图\", en = \"Map\" }}"
        ))
    };
    assert_eq!(findings(&step("8")), []);
    for bad in ["0", "1e30", "-1", "\"wide\"", "4097"] {
        let found = only(&step(bad));
        assert_eq!((found.rule, found.what.contains("from 1 to 4096")), ("out-of-range", true), "{}", found.what);
    }
    for bad in ["nan", "inf", "1e400", "99999999999999999999", "1979-05-27"] {
        assert_eq!(only(&step(bad)).rule, "wrong-type", "{bad}");
    }
}

#[test]
fn checks_of_words_and_options() {
    let long = "字".repeat(400);
    let found = only(&with_prose(&long));
    assert_eq!((found.rule, found.severity), ("too-long", Severity::Warning));
    assert_eq!(findings(&with_prose(&format!("```text\n{long}\n```"))), [], "code is not prose");
    let why = EXAMPLE.replace(
        "why = { zh = \"扇区是集合，与次序无关。\", en = \"Sectors are a set; order does not enter.\" }\n",
        "",
    );
    let found = only(&why);
    assert_eq!(found.rule, "missing-why");
    assert!(!matches!(read(&why).chapter.unwrap().steps[5].body, StepBody::Broken { .. }), "the question still opens");
    let alt = EXAMPLE
        .replace("alt = { zh = \"步长对有效带宽的折线图。\", en = \"A line of useful rate against stride.\" }\n", "");
    assert_eq!(only(&alt).rule, "missing-alt");
    assert_eq!(only(&with_prose("<script>x</script>")).rule, "html");
    let early = EXAMPLE.replace("revealed_by = \"map\" ", "revealed_by = \"puzzle\" ");
    assert_eq!(only(&early).rule, "revealed-early");
}

#[test]
fn the_scaffold_passes_in_both_languages_and_in_one() {
    for lang in [None, Some(Lang::Zh), Some(Lang::En)] {
        let text = scaffold("40_my_chapter", lang).unwrap();
        assert!(text.contains("my chapter") && !text.contains("NAME\""), "{text}");
        let parsed = parse("40_my_chapter", "40_my_chapter/chapter.toml", text.as_bytes());
        assert_eq!(check(&parsed, &Small).iter().map(render).collect::<String>(), "", "{lang:?}");
        let chapter = parsed.chapter.unwrap();
        assert_eq!((chapter.lang, chapter.number, chapter.steps.len()), (lang, Some(40), 3));
    }
    for bad in ["", "My Chapter", "../x", "a/b", "中文"] {
        assert!(scaffold(bad, None).is_err(), "{bad}");
    }
}

#[test]
fn every_prefix_and_every_flipped_byte_of_a_chapter_is_survived() {
    let text = EXAMPLE.replace("\n\n", "\n");
    let bytes = text.as_bytes();
    let small = &bytes[..text.find("# --- equation").unwrap()];
    let started = Instant::now();
    for end in (0..small.len()).chain((small.len()..bytes.len()).step_by(5)) {
        let _ = check(&parse("a", "a.toml", &bytes[..end]), &Small).iter().map(render).collect::<String>();
    }
    let mut flipped = small.to_vec();
    for idx in 0..small.len() {
        for bit in [0x01, 0x20, 0x80] {
            flipped[idx] ^= bit;
            let parsed = parse("a", "a.toml", &flipped);
            let _ = check(&parsed, &Small).iter().map(render).collect::<String>();
            flipped[idx] ^= bit;
        }
    }
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
}

mod zip_packs {
    use super::*;
    use std::io::{Cursor, Write as _};
    use zip::write::{SimpleFileOptions, ZipWriter};

    fn zipped(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        fill(&mut writer);
        writer.finish().unwrap().into_inner()
    }

    fn with(files: &[(&str, &[u8])]) -> Vec<u8> {
        zipped(|writer| {
            for (name, bytes) in files {
                writer.start_file(*name, SimpleFileOptions::default()).unwrap();
                writer.write_all(bytes).unwrap();
            }
        })
    }

    fn open(bytes: &[u8]) -> Result<Pack, PackError> {
        let limits = Limits { files: 5, file_bytes: 100_000, total_bytes: 250_000, ratio: 100 };
        Pack::from_zip("mine.zip", bytes, limits)
    }

    #[test]
    fn a_zip_of_chapters_opens() {
        let toml = EXAMPLE.as_bytes();
        let pack =
            open(&with(&[("pack/02_b/chapter.toml", toml), ("pack/02_b/figures/a.png", b"png"), ("__MACOSX/x", b"")]))
                .unwrap();
        assert_eq!((pack.chapters.len(), pack.chapters[0].id.as_str(), pack.problems.len()), (1, "02_b", 0));
        assert_eq!(pack.file("02_b", "figures/a.png"), Some(&b"png"[..]));
        let single = open(&with(&[("chapter.toml", toml)])).unwrap();
        assert_eq!(single.chapters[0].id, "mine", "a zipped chapter without a folder is named after the archive");
    }

    #[test]
    fn l8_names_that_leave_the_pack_are_refused() {
        for bad in ["../x.toml", "/etc/passwd", "a/../../b", "C:\\x.toml", "a\\..\\..\\b"] {
            let refused = open(&with(&[(bad, b"x")]));
            assert!(matches!(refused, Err(PackError::BadName { .. })), "{bad}: {refused:?}");
        }
        let link =
            zipped(|writer| writer.add_symlink("02_b/a.png", "/etc/passwd", SimpleFileOptions::default()).unwrap());
        assert_eq!(open(&link), Err(PackError::Symlink { file: "02_b/a.png".to_owned() }));
    }

    #[test]
    fn bombs_stop_at_their_cap() {
        // 90 kB of zeros deflate to about 100 bytes.
        let bomb = zipped(|writer| {
            writer.start_file("a.toml", SimpleFileOptions::default()).unwrap();
            writer.write_all(&vec![0; 90_000]).unwrap();
        });
        assert!(bomb.len() < 1_000, "packed at all");
        assert!(matches!(open(&bomb), Err(PackError::Ratio { .. })));
        // Text that does not repeat passes the ratio and meets the other caps.
        let noise = |n: u32| (0..n).flat_map(|x| x.wrapping_mul(2_654_435_761).to_le_bytes()).collect::<Vec<u8>>();
        assert!(matches!(open(&with(&[("a.bin", &noise(30_000))])), Err(PackError::FileTooLarge { .. })));
        let many = [("a", &noise(24_000)[..]), ("b", &noise(24_000)[..]), ("c", &noise(24_000)[..])];
        assert!(matches!(open(&with(&many)), Err(PackError::TooLarge { .. })));
        let names: Vec<String> = (0..6).map(|n| format!("f{n}")).collect();
        let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        assert!(matches!(open(&with(&many)), Err(PackError::TooManyFiles { found: 6, limit: 5, .. })));
    }

    #[test]
    fn what_is_no_zip_is_named() {
        let looks = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
        assert!(looks(b"").contains("an empty file"));
        assert!(looks(b"<!DOCTYPE html><html>").contains("a web page"));
        assert!(looks(EXAMPLE.as_bytes()).contains("a chapter"));
        let good = with(&[("02_b/chapter.toml", EXAMPLE.as_bytes())]);
        for end in (0..good.len()).step_by(7) {
            assert!(open(&good[..end]).is_err(), "{end} bytes");
        }
        let mut flipped = good.clone();
        for idx in 0..good.len() {
            flipped[idx] ^= 0x10;
            let _ = open(&flipped);
            flipped[idx] ^= 0x10;
        }
    }
}

#[test]
fn a_chapter_has_as_many_steps_as_are_read_at_one_sitting() {
    let chapter = |n: usize, minutes: u32| {
        let steps: String = (1..=n)
            .map(|n| format!("\n[[step]]\nid = \"s{n}\"\ntitle = \"Step\"\nkind = \"prose\"\ntext = \"Words.\"\n"))
            .collect();
        format!("schema = 1\nlang = \"en\"\ntitle = \"Chapter\"\nminutes = {minutes}\n{steps}")
    };
    for (n, minutes) in [(1, 24), (7, 10), (8, 25), (14, 45), (14, 5)] {
        assert_eq!(findings(&chapter(n, minutes)), [], "{n} steps in {minutes} minutes");
    }
    for (n, minutes, line) in [(15, 45, 90), (15, 5, 90), (7, 25, 4), (1, 30, 4)] {
        let found = only(&chapter(n, minutes));
        assert_eq!((found.rule, found.severity, found.place.line), ("step-count", Severity::Warning, line), "{n}");
        assert!(found.what.contains(&n.to_string()) && found.help.is_some(), "{}", render(&found));
    }
}
