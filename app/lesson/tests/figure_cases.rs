//! Author's figures that are wrong, hostile or too large: each is refused at its place, quickly, and leaves the other
//! steps alone.

mod common;

use common::Small;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use vramlab_lesson::{Problem, StepBody, check, parse, render};

/// The top of a figure: the step begins on line 3. `rest` begins on line 10.
fn figure(draw: &str, rest: &str) -> String {
    format!(
        "schema = 1\nlang = \"en\"\n[[step]]\nid = \"a\"\nkind = \"figure\"\ntitle = \"T\"\ntext = \"Try.\"\n\
         alt = \"A figure.\"\ndraw = \"{draw}\"\n{rest}\n\n[[step]]\nid = \"b\"\nkind = \"prose\"\ntitle = \"P\"\ntext = \"p\"\n"
    )
}

/// A slider `n` on line 10 with these ends, and a line of `value` on line 13.
fn line(slider: &str, value: &str) -> String {
    figure(
        "line",
        &format!(
            "slider = [{{ name = \"n\", means = \"n\", unit = \"1\", {slider} }}]\nx = {{ sweep = \"n\" }}\n\
             caption = \"At $n.\"\nseries = [{{ value = '{value}', label = \"s\" }}]"
        ),
    )
}

const ENDS: &str = "min = 1, max = 8, step = 1, start = 2";

fn findings(text: &str) -> Vec<Problem> {
    check(&parse("00_test", "00_test/chapter.toml", format!("title = \"C\"\n{text}").as_bytes()), &Small)
        .into_iter()
        .map(|mut problem| {
            problem.place.line -= 1; // the title
            problem
        })
        .collect()
}

fn underlined(problem: &Problem) -> String {
    problem.place.text.chars().skip(problem.place.column - 1).take(problem.place.width).collect()
}

/// The first finding has this rule and underlines this text; all findings of the file are quick.
#[track_caller]
fn refuse(text: &str, rule: &str, marked: &str) -> Problem {
    let before = Instant::now();
    let found = findings(text);
    assert!(before.elapsed() < Duration::from_secs(3), "{:?}", before.elapsed());
    let all: String = found.iter().map(render).collect();
    let first = found.first().unwrap_or_else(|| panic!("nothing was found in\n{text}"));
    assert_eq!((first.rule, underlined(first).as_str()), (rule, marked), "{all}");
    assert!(first.help.is_some() || !first.what.is_empty(), "{all}");
    first.clone()
}

#[test]
fn a_plain_line_has_no_finding() {
    assert_eq!(findings(&line(ENDS, "2 * n")).iter().map(render).collect::<String>(), "");
}

#[test]
fn sums_of_unlike_units_are_refused_at_the_sign() {
    let text = figure(
        "line",
        "slider = [{ name = \"t\", means = \"time\", unit = \"s\", min = 1, max = 8, step = 1, start = 2 }]\n\
         value = [\n  { name = \"rate\", means = \"r\", unit = \"GB/s\", constant = 3350 },\n  \
         { name = \"sum\", means = \"m\", unit = \"GB\", formula = \"rate * t + t\" },\n]\n\
         x = { sweep = \"t\" }\ncaption = \"$sum\"\nseries = [{ value = \"sum\" }]",
    );
    let problem = refuse(&text, "unlike-units", "+");
    assert_eq!((problem.place.line, problem.place.column), (13, 65));
    assert_eq!(problem.what, "`+` joins unlike units: GB and s");
    assert!(problem.help.unwrap().contains("constant in GB/s"));
    let result = text.replace("rate * t + t", "rate * t").replace("unit = \"GB\"", "unit = \"B\"");
    let problem = refuse(&result, "unlike-units", "\"rate * t\"");
    assert!(problem.help.unwrap().contains("multiply by a constant in B/GB"));
    let mixed = text
        .replace("rate * t + t", "rate * t")
        .replace("[{ value = \"sum\" }]", "[{ value = \"sum\" }, { value = \"t\" }]");
    assert!(refuse(&mixed, "unlike-units", "\"t\"").what.contains("the first line is in GB"));
}

#[test]
fn sliders_without_end_are_refused() {
    refuse(&line("min = 1, max = 1e300, step = 1, start = 2", "n"), "out-of-range", "1e300");
    refuse(&line("min = 0, max = 1000000000, step = 1e-9, start = 2", "n"), "out-of-range", "1e-9");
    refuse(&line("min = 1, max = 8, step = 0, start = 2", "n"), "out-of-range", "0");
    refuse(&line("min = 8, max = 1, step = 1, start = 2", "n"), "out-of-range", "1");
    refuse(&line("min = 1, max = 8, step = 1, start = 9", "n"), "out-of-range", "9");
    refuse(&line("min = 0, max = 8, step = 1, start = 1, log = true", "n"), "out-of-range", "0");
}

#[test]
fn numbers_that_are_none_are_refused() {
    refuse(&line("min = 1, max = inf, step = 1, start = 2", "n"), "wrong-type", "inf");
    refuse(&line("min = nan, max = 8, step = 1, start = 2", "n"), "wrong-type", "nan");
    refuse(&line(ENDS, "1e999 * n"), "bad-formula", "1");
    let nowhere = refuse(&line(ENDS, "1 / (n - 5)"), "out-of-range", "'1 / (n - 5)'");
    assert!(nowhere.what.contains("division by zero") && nowhere.what.contains("at n = 5"), "{}", nowhere.what);
    assert!(refuse(&line(ENDS, "10 ^ (n * 100)"), "out-of-range", "'10 ^ (n * 100)'").what.contains("n = 4"));
}

#[test]
fn formulas_that_cost_too_much_are_refused() {
    refuse(&line(ENDS, &"(".repeat(1_000)), "bad-formula", "(");
    refuse(&line(ENDS, &format!("{}n", "-".repeat(1_500))), "bad-formula", "-");
    let long = vec!["n"; 1_500].join("+");
    assert!(refuse(&line(ENDS, &long), "bad-formula", "'").what.contains("2000 bytes"));
    let many: String = (0..8).fold(String::new(), |mut out, idx| {
        let formula = vec!["n"; 900].join("+");
        let _ =
            writeln!(out, "[[step.value]]\nname = \"v{idx}\"\nmeans = \"v\"\nunit = \"1\"\nformula = \"{formula}\"");
        out
    });
    let text = figure(
        "line",
        &format!(
            "slider = [{{ name = \"n\", means = \"n\", unit = \"1\", {ENDS} }}]\nx = {{ sweep = \"n\" }}\ncaption = \"$n\"\n\
             series = [{{ value = \"v7\" }}]\n{many}"
        ),
    );
    let found = findings(&text);
    assert!(found[0].rule == "too-costly" && found[0].what.contains("6000"), "{}", render(&found[0]));
}

#[test]
fn names_that_need_each_other_are_refused() {
    let values = |a: &str, b: &str| {
        figure(
            "line",
            &format!(
                "slider = [{{ name = \"n\", means = \"n\", unit = \"1\", {ENDS} }}]\nvalue = [\n  \
                 {{ name = \"alpha\", means = \"a\", unit = \"1\", formula = '{a}' }},\n  \
                 {{ name = \"beta\", means = \"b\", unit = \"1\", formula = '{b}' }},\n]\nx = {{ sweep = \"n\" }}\n\
                 caption = \"$alpha\"\nseries = [{{ value = \"beta\" }}]"
            ),
        )
    };
    assert_eq!(findings(&values("n + 1", "2 * alpha")).iter().map(render).collect::<String>(), "");
    assert_eq!(refuse(&values("2 * beta", "alpha"), "cyclic", "beta").place.line, 12);
    refuse(&values("1 + alpha", "alpha"), "cyclic", "alpha");
    let typo = refuse(&values("n", "alhpa"), "unknown-symbol", "alhpa");
    assert_eq!(typo.help.as_deref(), Some("did you mean \"alpha\"?"));
    refuse(&values("n", "alpha").replace("$alpha", "$gamma"), "unknown-symbol", "$gamma");
    refuse(&values("n", "alpha").replace("sweep = \"n\"", "sweep = \"alpha\""), "unknown-symbol", "\"alpha\"");
    refuse(&values("n", "alpha").replace("name = \"beta\"", "name = \"n\""), "duplicate-id", "\"n\"");
    refuse(&values("n", "alpha").replace("name = \"beta\"", "name = \"max\""), "bad-name", "\"max\"");
}

#[test]
fn lists_without_end_are_refused() {
    let nodes: String = (0..20_000).fold(String::new(), |mut out, idx| {
        let _ = writeln!(out, "[[step.node]]\nid = \"n{idx}\"\nlabel = \"n\"");
        out
    });
    let found = findings(&figure("graph", &format!("caption = \"c\"\n{nodes}")));
    assert_eq!(found[0].rule, "too-large", "{}", render(&found[0]));
    assert!(found[0].what.contains("20000") && found[0].what.contains("60") && found[0].place.line > 180);
    let many = |n: usize, item: &str| vec![item; n].join(", ");
    let sliders = many(9, "{ name = \"n\", means = \"n\", unit = \"1\", min = 1, max = 8, step = 1, start = 2 }");
    let found = findings(&figure("table", &format!("caption = \"c\"\nslider = [{sliders}]\ncolumn = []")));
    assert!(found.iter().any(|problem| problem.rule == "too-large" && problem.what.contains("9 sliders")));
    let series = many(9, "{ value = \"n\" }");
    let text = line(ENDS, "n").replace("series = [{ value = 'n', label = \"s\" }]", &format!("series = [{series}]"));
    assert!(findings(&text)[0].what.contains("may have 8"));
}

#[test]
fn a_grid_or_a_chart_that_a_slider_blows_up_is_refused() {
    let grid = figure(
        "bytes",
        "slider = [{ name = \"n\", means = \"n\", unit = \"GiB\", min = 1, max = 1000000001, step = 1000, start = 1, log = true }]\n\
         caption = \"$n\"\nsquare = \"1 MiB\"\npart = [{ value = \"n\" }]",
    );
    let problem = refuse(&grid, "out-of-range", "\"1 MiB\"");
    assert!(problem.what.contains("squares of 1 MiB; a grid has at most 4096") && problem.what.contains("at n = "));
    refuse(&grid.replace("1 MiB", "1 furlong"), "missing-field", "\"1 furlong\"");
    let wrong = refuse(&grid.replace("unit = \"GiB\"", "unit = \"s\""), "unlike-units", "\"n\"");
    assert_eq!(wrong.what, "a square is bytes; this is in s");
    let gantt = figure(
        "gantt",
        "slider = [{ name = \"n\", means = \"n\", unit = \"1\", min = 1, max = 1000000, step = 1, start = 2, log = true }]\n\
         value = [{ name = \"t\", means = \"t\", unit = \"ms\", constant = 2 }]\ncaption = \"$n\"\n\
         row = [{ label = \"r\", spans = [{ start = \"0\", length = \"t\", times = \"1000 * n\", every = \"t\" }] }]",
    );
    let problem = refuse(&gantt, "out-of-range", "\"1000 * n\"");
    assert!(problem.what.contains("more than 2000 intervals"), "{}", problem.what);
    let back = gantt
        .replace("times = \"1000 * n\", every = \"t\"", "label = \"x\"")
        .replace("length = \"t\"", "length = \"-t\"");
    let back = back.replace("caption = \"$n\"", "caption = \"$n $t\"");
    assert!(refuse(&back, "out-of-range", "\"-t\"").what.contains("cannot be -2 long"));
}

#[test]
fn models_are_asked_at_every_position() {
    let text = figure(
        "line",
        &format!(
            "slider = [{{ name = \"stride\", means = \"s\", unit = \"B\", {ENDS} }}]\nx = {{ sweep = \"stride\" }}\n\
             value = [{{ name = \"sectors\", means = \"S\", unit = \"1\", from = {{ model = \"coalescing\", set = {{ stride_bytes = \"$stride\" }}, take = \"sectors\" }} }}]\n\
             caption = \"$sectors\"\nseries = [{{ value = \"sectors\" }}]"
        ),
    );
    assert_eq!(findings(&text).iter().map(render).collect::<String>(), "");
    refuse(&text.replace("coalescing", "coalesing"), "unknown-model", "\"coalesing\"");
    refuse(&text.replace("$stride\"", "$strode\""), "unknown-symbol", "$strode");
    refuse(
        &text.replace(
            "name = \"sectors\", means = \"S\", unit = \"1\"",
            "name = \"sectors\", means = \"S\", unit = \"B\"",
        ),
        "wrong-unit",
        "\"B\"",
    );
    let far = text.replace("max = 8,", "max = 8000,");
    let problem = findings(&far).remove(0);
    assert!(problem.rule == "out-of-range" && problem.what.contains("at stride = "), "{}", render(&problem));
}

#[test]
fn a_field_of_another_drawing_is_named() {
    let text = line(ENDS, "n").replace("caption =", "bar = [{ label = \"b\", value = \"n\" }]\ncaption =");
    let problem = refuse(&text, "unknown-field", "bar");
    assert!(problem.help.unwrap().contains("draw = \"bar\""));
    refuse(&line(ENDS, "n").replace("x = { sweep = \"n\" }\n", ""), "missing-field", "\"line\"");
    refuse(&line(ENDS, "n").replace("draw = \"line\"", "draw = \"pie\""), "out-of-range", "\"pie\"");
}

#[test]
fn a_name_longer_than_a_line_is_refused() {
    let long = "word ".repeat(40);
    let text = line(ENDS, "n").replace("label = \"s\"", &format!("label = \"{long}\""));
    assert!(refuse(&text, "too-long", &format!("\"{long}\"")).what.contains("200 characters"));
}

#[test]
fn a_row_without_a_value_is_found() {
    let text = figure(
        "table",
        &format!(
            "slider = [{{ name = \"n\", means = \"n\", unit = \"1\", {ENDS} }}]\ncaption = \"$n\"\n\
             column = [{{ label = \"inverse\", value = \"1 / n\" }}]\nrows = {{ sweep = \"n\", values = [1, 2, 0] }}"
        ),
    );
    assert!(refuse(&text, "out-of-range", "0").what.contains("at 0 in the column \"inverse\""));
}

#[test]
fn captions_and_questions_without_end_are_refused() {
    let names: String = (0..20_000).map(|n| format!("$q{n} ")).collect();
    let text = line(ENDS, "n").replace("At $n.", &format!("At $n. {names}"));
    let before = Instant::now();
    let found = findings(&text);
    assert!(before.elapsed() < Duration::from_secs(3), "{:?}", before.elapsed());
    assert!(found[0].rule == "too-large" && found[0].what.contains("64 values"), "{}", render(&found[0]));
    let list = vec!["\"$n\""; 50_000].join(", ");
    let value = format!(
        "value = [{{ name = \"v\", means = \"v\", unit = \"1\", from = {{ model = \"coalescing\", set = {{ stride_bytes = [{list}] }}, take = \"sectors\" }} }}]\nx ="
    );
    let found = findings(&line(ENDS, "v").replace("\nx =", &format!("\n{value}")));
    assert!(found.iter().any(|problem| problem.rule == "too-large" && problem.what.contains("512 values")));
}

#[test]
fn a_line_that_its_axis_cannot_hold_is_refused() {
    let text = line(ENDS, "0 - n").replace("x = {", "y = { scale = \"log10\" }\nx = {");
    assert!(refuse(&text, "out-of-range", "'0 - n'").what.contains("above 0"));
    refuse(&text.replace("scale = \"log10\"", "scale = \"log10\", min = 0"), "out-of-range", "0");
}

#[test]
fn what_nothing_uses_is_found() {
    let text = line(ENDS, "n")
        .replace("slider = [", "value = [{ name = \"idle\", means = \"i\", unit = \"1\", constant = 2 }]\nslider = [");
    refuse(&text, "unused-name", "\"idle\"");
}

#[test]
fn a_broken_figure_leaves_the_other_steps() {
    let text = format!("title = \"C\"\n{}", line(ENDS, "n +"));
    let chapter = parse("00_test", "00_test/chapter.toml", text.as_bytes()).chapter.unwrap();
    assert!(matches!(chapter.steps[0].body, StepBody::Broken { .. }));
    assert!(matches!(chapter.steps[1].body, StepBody::Prose { .. }));
}

#[test]
fn the_dearest_figure_that_is_allowed_is_still_quick() {
    let sliders: Vec<String> = (0..8)
        .map(|idx| {
            format!("{{ name = \"s{idx}\", means = \"s\", unit = \"1\", min = 1, max = 1000, step = 0.01, start = 2 }}")
        })
        .collect();
    let values: String = (0..40).fold(String::new(), |mut out, idx| {
        let formula: Vec<String> = (0..70).map(|n| format!("s{}", (idx + n) % 8)).collect();
        let _ = writeln!(
            out,
            "[[step.value]]\nname = \"v{idx}\"\nmeans = \"v\"\nunit = \"1\"\nformula = \"{}\"",
            formula.join(" + ")
        );
        out
    });
    let all: Vec<String> = (0..40).map(|idx| format!("$v{idx}")).collect();
    let series: Vec<String> = (0..8).map(|idx| format!("{{ value = \"v{idx}\" }}")).collect();
    let text = figure(
        "line",
        &format!(
            "slider = [{}]\nx = {{ sweep = \"s0\" }}\ncaption = \"{}\"\nseries = [{}]\n{values}",
            sliders.join(", "),
            all.join(" "),
            series.join(", ")
        ),
    );
    let before = Instant::now();
    assert_eq!(findings(&text).iter().map(render).collect::<String>(), "");
    assert!(before.elapsed() < Duration::from_secs(8), "checking took {:?}", before.elapsed());
    let parsed = parse("00_test", "c.toml", format!("title = \"C\"\n{text}").as_bytes()).chapter.unwrap();
    let StepBody::Figure(figure) = &parsed.steps[0].body else { panic!("a figure") };
    let before = Instant::now();
    vramlab_lesson::figure::picture(figure, &std::collections::BTreeMap::new(), &|_, _| unreachable!()).unwrap();
    assert!(before.elapsed() < Duration::from_millis(900), "one picture took {:?}", before.elapsed());
}

/// A guess in `unit`, with `more` fields, before the figure that reveals it: a line in GB over `n`.
fn guessed(unit: &str, more: &str) -> String {
    let figure = figure(
        "line",
        &format!(
            "slider = [{{ name = \"n\", means = \"n\", unit = \"1\", {ENDS} }}]\n\
             value = [{{ name = \"sent\", means = \"sent\", unit = \"GB\", constant = 4 }}]\n\
             x = {{ sweep = \"n\" }}\ncaption = \"At $n.\"\nseries = [{{ value = \"sent\" }}]"
        ),
    );
    let guess = format!(
        "[[step]]\nid = \"g\"\nkind = \"predict\"\ntitle = \"G\"\nask = \"How much?\"\nunit = \"{unit}\"\nmin = 1\n\
         max = 8\nanswer = {{ value = 4, source = \"s\" }}\nexplain = \"4\"\nrevealed_by = \"a\"\n{more}\n[[step]]\nid = \"a\""
    );
    figure.replacen("[[step]]\nid = \"a\"", &guess, 1)
}

#[test]
fn a_guess_is_held_against_the_figure_that_reveals_it() {
    assert_eq!(findings(&guessed("GB", "")).iter().map(render).collect::<String>(), "");
    assert_eq!(findings(&guessed("1", "")).len(), 0, "the slider is a count");
    let unit = refuse(&guessed("min", ""), "wrong-unit", "\"min\"");
    assert_eq!(unit.what, "the guess is in min; the figure \"a\" that reveals it shows GB, 1");
    let place = refuse(&guessed("GB", "at = 4"), "unused-field", "4");
    assert!(place.what.contains("only the chart of an experiment"), "{}", place.what);
}

fn grid(square: &str, unit: &str) -> String {
    figure(
        "bytes",
        &format!(
            "value = [\n  {{ name = \"a\", means = \"a\", unit = \"MB\", constant = 4 }},\n  \
             {{ name = \"b\", means = \"b\", unit = \"{unit}\", constant = 8 }},\n]\nsquare = \"{square}\"\n\
             caption = \"$a, $b\"\npart = [{{ value = \"a\" }}, {{ value = \"b\" }}]"
        ),
    )
}

#[test]
fn one_grid_counts_in_one_system() {
    assert_eq!(findings(&grid("1 MB", "B")).iter().map(render).collect::<String>(), "");
    assert_eq!(findings(&grid("1 MB", "kB")).len(), 0);
    let mixed = refuse(&grid("1 MB", "MiB"), "mixed-units", "\"b\"");
    assert_eq!(mixed.what, "this is in MiB, and MB stands before it in the same figure");
    refuse(&grid("1 MiB", "MB"), "mixed-units", "\"a\"");
    let meant = refuse(&grid("1 KB", "MB"), "missing-field", "\"1 KB\"");
    assert_eq!(meant.help.unwrap(), "did you mean \"1 kB\" (powers of 1000) or \"1 KiB\" (powers of 1024)?");
}

#[test]
fn a_grid_is_read_in_the_authors_units() {
    let parsed = parse("00_test", "00_test/chapter.toml", format!("title = \"C\"\n{}", grid("1 MB", "B")).as_bytes());
    let chapter = parsed.chapter.unwrap();
    let StepBody::Figure(figure) = &chapter.steps[0].body else { panic!() };
    let nothing = &|_: &str, _: &vramlab_units::Map| Ok(vramlab_units::Map::new());
    let picture = vramlab_lesson::figure::picture(figure, &vramlab_lesson::answer::Values::new(), nothing).unwrap();
    let vramlab_lesson::figure::picture::Drawn::Bytes(grid) = picture.drawn else { panic!() };
    assert_eq!(grid.sizes, ["4\u{2009}MB", "8\u{2009}B"]);
}

#[test]
fn an_axis_on_logarithms_blames_the_slider_it_runs_over() {
    let text = line("min = 0, max = 8, step = 1, start = 2", "n + 1");
    let log = text.replace("x = { sweep = \"n\" }", "x = { sweep = \"n\", scale = \"log2\" }");
    let problem = refuse(&log, "out-of-range", "0");
    assert!(problem.what.starts_with("x runs over n from 0"), "{}", problem.what);
    assert_eq!(findings(&log.replace("scale = \"log2\"", "scale = \"log2\", min = 1")).len(), 0);
}

/// `times` and the unit of the second value of a chart with two rows of intervals.
fn rows(times: &str, unit: &str) -> String {
    figure(
        "gantt",
        &format!(
            "slider = [{{ name = \"n\", means = \"n\", unit = \"1\", {ENDS} }}]\nvalue = [\n  \
             {{ name = \"a\", means = \"a\", unit = \"ms\", constant = 4 }},\n  \
             {{ name = \"b\", means = \"b\", unit = \"{unit}\", constant = 8 }},\n]\ncaption = \"$a, $b\"\nrow = [\n  \
             {{ label = \"r\", spans = [{{ start = \"0\", length = \"a\", times = \"{times}\", every = \"a\" }}] }},\n  \
             {{ label = \"q\", spans = [{{ start = \"b\", length = \"b\" }}, {{ start = \"2 * b\", length = \"b\" }}] }},\n]"
        ),
    )
}

#[test]
fn an_interval_comes_a_whole_number_of_times() {
    assert_eq!(findings(&rows("floor(n / 3)", "ms")).iter().map(render).collect::<String>(), "");
    let part = refuse(&rows("n / 3", "ms"), "out-of-range", "\"n / 3\"");
    assert!(part.what.contains("cannot come 0.667 times; write floor(n / 3) or ceil(n / 3)"), "{}", part.what);
}

#[test]
fn one_slip_in_a_unit_is_one_finding_with_its_constant() {
    let text = rows("n", "s");
    let problem = refuse(&text, "unlike-units", "\"b\"");
    assert_eq!(problem.help.unwrap(), "multiply it by a constant in ms/s, or draw it in a figure of its own");
    assert_eq!(findings(&text).len(), 1);
    let share = rows("n", "%");
    let help = refuse(&share, "unlike-units", "\"b\"").help.unwrap();
    assert_eq!(help, "one drawing has one unit; give % a figure of its own");
    // The value's own finding says it all.
    let wrong = rows("n", "s").replace("unit = \"s\", constant = 8", "unit = \"s\", formula = \"2 * a\"");
    assert_eq!(refuse(&wrong, "unlike-units", "\"2 * a\"").what, "the formula of b gives ms, and its unit is s");
    assert_eq!(findings(&wrong).len(), 1);
}
