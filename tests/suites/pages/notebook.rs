//! The notebook: words are saved soon, two runs are compared or refused, reports come back, thousands of runs scroll;
//! and the lenses of a card, which are part of the address.

use super::{CHAPTER, Desk, settings};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use serde_json::Value;
use vramlab_shell::notebook::Notebook;
use vramlab_shell::platform::Event;
use vramlab_shell::settings::ThemeChoice;
use vramlab_shell::{Library, Still};
use vramlab_trace::Run;
use vramlab_units::Lang;

const STRIDE: &str = "assets/traces/h200/strided_read.stride.vltrace";
const OFFSET: &str = "assets/traces/h200/strided_read.offset.vltrace";
/// Wide enough for the panel, low enough that it scrolls.
const SCREEN: [f32; 2] = [1440.0, 2400.0];

fn run(path: &str) -> Run {
    let bytes = vramlab_content::get(path).and_then(vramlab_content::Content::here).unwrap();
    vramlab_trace::file::read(bytes).unwrap().run
}

/// The stride sweep again, every launch `factor` times as long.
fn again(factor: f64, date: &str) -> Run {
    let mut run = run(STRIDE);
    run.date = date.to_owned();
    run.points.iter_mut().flat_map(|point| &mut point.samples_ns).for_each(|ns| *ns *= factor);
    run
}

fn notebook(runs: impl IntoIterator<Item = Run>) -> String {
    let library = Library::built_in();
    let mut out = Notebook::default();
    for run in runs {
        let id = run.experiment.clone();
        out.push(library.notebook_entry(&id, run, Lang::En));
    }
    out.to_json()
}

/// The start page with these runs in the notebook.
fn open(runs: impl IntoIterator<Item = Run>) -> Desk {
    let mut still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    still.inside.borrow_mut().files.insert("notebook.json".to_owned(), notebook(runs).into_bytes());
    still.route = Some("/settings".to_owned());
    Desk::on(still, SCREEN)
}

/// Presses `word` on the row of run `n`.
fn pick(desk: &mut Desk, n: u64, word: &str) {
    let row = format!("#{n} ");
    let is_row = |label: &str| label.starts_with(&row);
    let rect = desk.controls().into_iter().find(|(name, _)| is_row(name)).expect("the row is in sight").1;
    {
        let mut buttons = desk.harness.get_all_by_label(word);
        let inside = buttons.find(|node| rect.contains(node.rect().center()));
        inside.unwrap_or_else(|| panic!("no {word} on row {n}")).click_accesskit();
    }
    desk.harness.run_ok();
}

fn saved(desk: &Desk) -> String {
    let inside = desk.inside.borrow();
    String::from_utf8_lossy(inside.files.get("notebook.json").map(Vec::as_slice).unwrap_or_default()).into_owned()
}

/// The text of the latest file that was saved under this name.
fn exported(desk: &Desk, name: &str) -> String {
    let inside = desk.inside.borrow();
    let found = inside.saved_files.iter().rev().find(|(known, _)| known == name);
    String::from_utf8(found.unwrap_or_else(|| panic!("nothing was saved as {name}")).1.clone()).unwrap()
}

/// Opens the row and types; the field has the focus afterwards.
fn type_hypothesis(desk: &mut Desk, words: &str) {
    let row = desk.controls().into_iter().find(|(name, _)| name.starts_with("#1 ")).expect("the row").0;
    desk.click(&row);
    let fields = desk.harness.get_all_by_role(egui::accesskit::Role::MultilineTextInput);
    let field = fields.min_by(|a, b| a.rect().top().total_cmp(&b.rect().top())).expect("a field");
    field.focus();
    desk.harness.step();
    for letter in words.chars() {
        desk.harness.event(egui::Event::Text(letter.to_string()));
        desk.harness.step();
    }
}

#[test]
fn words_are_saved_within_two_seconds_and_not_with_every_letter() {
    let mut desk = open([run(STRIDE)]);
    let before = saved(&desk);
    type_hypothesis(&mut desk, "half");
    assert_eq!(desk.harness.state().notebook().entries[0].hypothesis, "half");
    assert_eq!(saved(&desk), before, "four letters in a second are not four files");
    // A frame of the harness is a quarter of a second.
    desk.harness.run_steps(8);
    assert!(saved(&desk).contains("\"hypothesis\":\"half\""), "two seconds later they are on disk");
}

#[test]
fn words_are_saved_when_the_window_closes_at_once() {
    let mut desk = open([run(STRIDE)]);
    type_hypothesis(&mut desk, "now");
    assert!(!saved(&desk).contains("\"hypothesis\":\"now\""));
    desk.harness.state_mut().save_progress(true);
    assert!(saved(&desk).contains("\"hypothesis\":\"now\""));
}

#[test]
fn the_hypothesis_for_the_next_run_is_kept_until_it() {
    let mut desk = open([]);
    {
        let mut fields = desk.harness.get_all_by_role(egui::accesskit::Role::TextInput);
        let is_draft = |node: &egui_kittest::Node<'_>| {
            node.accesskit_node().data().placeholder() == Some("Hypothesis for the next run")
        };
        fields.find(is_draft).expect("a field").focus();
    }
    desk.harness.step();
    desk.type_text("half");
    desk.harness.run_steps(9);
    assert!(saved(&desk).contains("\"draft\":\"half\""), "{}", saved(&desk));
}

#[test]
fn words_that_could_not_be_saved_are_tried_again() {
    let mut desk = open([run(STRIDE)]);
    desk.inside.borrow_mut().store_error = Some("disk full".to_owned());
    type_hypothesis(&mut desk, "later");
    desk.harness.run_steps(8);
    assert!(desk.notes().contains("disk full"), "{}", desk.notes());
    desk.inside.borrow_mut().store_error = None;
    desk.harness.run_steps(20);
    assert!(saved(&desk).contains("\"hypothesis\":\"later\""));
}

#[test]
fn a_faster_candidate_has_improved_and_the_report_says_so() {
    let mut desk = open([run(STRIDE), again(0.95, "2026-12-01")]);
    pick(&mut desk, 1, "Baseline");
    assert!(desk.has("choose another run"));
    pick(&mut desk, 2, "Candidate");
    assert!(desk.has("Improved") && desk.has("improved at 12 of 12 points"));
    // Every launch takes 0.95 of the time.
    assert!(desk.has("1.053×"), "the gain of each point");
    desk.click("Markdown");
    let report = exported(&desk, "vramlab-report.md");
    for part in [
        "**Improved**",
        "hypothesis: (none written)",
        "NVIDIA H200",
        "level of evidence: E3",
        "1.053×",
        "92.3\u{2009}% → 97.2\u{2009}%",
        "n_words",
    ] {
        assert!(report.contains(part), "{part} is missing in:\n{report}");
    }
    desk.click("CSV");
    let table = exported(&desk, "vramlab-report.csv");
    assert_eq!(table.lines().count(), 13, "{table}");
    assert!(table.lines().skip(1).all(|line| line.ends_with(",improved")), "{table}");
}

/// Two starts of the program on one card differ by one to three per cent.
#[test]
fn a_difference_as_small_as_a_new_start_makes_comes_with_a_caution() {
    for (factor, is_small) in [(0.98, true), (0.9, false)] {
        let mut desk = open([run(STRIDE), again(factor, "2026-12-01")]);
        pick(&mut desk, 1, "Baseline");
        pick(&mut desk, 2, "Candidate");
        assert!(desk.has("Improved"));
        assert_eq!(desk.has("a new start of the program moves medians as much"), is_small, "{factor}");
    }
}

#[test]
fn the_same_samples_are_no_difference() {
    let mut desk = open([run(STRIDE), again(1.0, "2026-12-01")]);
    pick(&mut desk, 1, "Baseline");
    pick(&mut desk, 2, "Candidate");
    assert!(desk.has("No difference detected") && desk.has("at 12 of 12 points"));
}

#[test]
fn five_samples_are_too_few() {
    let mut few = again(0.9, "2026-12-01");
    few.points.iter_mut().for_each(|point| point.samples_ns.truncate(5));
    let mut desk = open([run(STRIDE), few]);
    pick(&mut desk, 1, "Baseline");
    pick(&mut desk, 2, "Candidate");
    assert!(desk.has("Insufficient samples"));
}

#[test]
fn unlike_runs_are_refused_by_the_difference() {
    let mut other = again(1.0, "2026-12-01");
    other.device.name = "Round Card".to_owned();
    let mut desk = open([run(STRIDE), run(OFFSET), other]);
    pick(&mut desk, 1, "Baseline");
    pick(&mut desk, 2, "Candidate");
    let refusal = "the experiment differs, strided_read/stride against strided_read/offset";
    assert!(desk.has("Not comparable") && desk.has(refusal));
    pick(&mut desk, 3, "Candidate");
    assert!(desk.has("the device differs, NVIDIA H200 against Round Card"));
    desk.click("JSON");
    let report: Value = serde_json::from_str(&exported(&desk, "vramlab-report.json")).unwrap();
    assert!(report["verdict"].is_null() && report["refused"].as_str().unwrap().contains("the device differs"));
}

#[test]
fn a_report_comes_back_with_its_runs_and_its_comparison() {
    let mut desk = open([run(STRIDE), again(1.05, "2026-12-01")]);
    pick(&mut desk, 1, "Baseline");
    pick(&mut desk, 2, "Candidate");
    desk.click("JSON");
    let text = exported(&desk, "vramlab-report.json");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["verdict"], "regressed");
    assert_eq!(report["points"].as_array().map(Vec::len), Some(12));
    let mut fresh = open([]);
    fresh.send(Event::File { name: "report.json".to_owned(), bytes: text.into_bytes() });
    assert_eq!(fresh.harness.state().notebook().entries, desk.harness.state().notebook().entries);
    assert!(fresh.has("Regressed") && fresh.has("regressed at 12 of 12 points"));
    assert!(fresh.notes().contains("2 runs joined"), "{}", fresh.notes());
    assert!(!saved(&fresh).is_empty(), "what came in is on disk");
}

#[test]
fn an_exported_notebook_comes_back_once() {
    let text = notebook([run(STRIDE), run(OFFSET)]);
    let mut desk = open([run(STRIDE)]);
    let send = |desk: &mut Desk| {
        desk.send(Event::File { name: "notebook.json".to_owned(), bytes: text.clone().into_bytes() });
    };
    send(&mut desk);
    assert_eq!(desk.harness.state().notebook().entries.len(), 2);
    send(&mut desk);
    assert_eq!(desk.harness.state().notebook().entries.len(), 2);
    assert!(desk.notes().contains("all of these runs already"), "{}", desk.notes());
    let newer = br#"{"schema": 9, "next_n": 0, "entries": []}"#.to_vec();
    desk.send(Event::File { name: "newer.json".to_owned(), bytes: newer });
    assert!(desk.notes().contains("newer version"), "{}", desk.notes());
}

#[test]
fn both_languages_export_the_whole_notebook() {
    for (lang, words) in
        [(Lang::Zh, ["假设", "结论", "证据等级", "下界"]), (Lang::En, ["hypothesis", "verdict", "level", "floor"])]
    {
        let mut still = Still::with_settings(&settings(lang, ThemeChoice::Dark));
        still.inside.borrow_mut().files.insert("notebook.json".to_owned(), notebook([run(STRIDE)]).into_bytes());
        still.route = Some("/settings".to_owned());
        let mut desk = Desk::on(still, SCREEN);
        desk.click("Markdown");
        let report = exported(&desk, "vramlab-notebook.md");
        assert!(words.iter().all(|word| report.contains(word)), "{report}");
        desk.click("CSV");
        let table = exported(&desk, "vramlab-notebook.csv");
        let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        for column in ["low95", "high95", "floor_ns", "level", "hypothesis"] {
            assert!(header.contains(&column), "{column}");
        }
        // 4 bytes a word of 4 GiB at 4814.304 GB/s: no launch can be faster than 0.892 ms.
        let first: Vec<&str> = table.lines().nth(1).unwrap().split(',').collect();
        let floor: f64 = first[header.iter().position(|name| *name == "floor_ns").unwrap()].parse().unwrap();
        assert!((floor - 4_294_967_296.0 / 4814.304).abs() < 1.0, "{floor}");
    }
}

#[test]
fn the_empty_notebook_teaches_and_leads_to_an_experiment() {
    let mut desk = open([]);
    assert!(desk.has("Every run of yours is kept here") && desk.has("baseline"));
    desk.click("Go to the first experiment");
    assert!(desk.inside.borrow().routes.last().unwrap().starts_with("/ch/"));
}

#[test]
fn thousands_of_runs_lay_out_only_what_is_in_sight() {
    let mut small = run(OFFSET);
    small.points.truncate(2);
    let many = |n: usize| (0..n).map(|idx| Run { date: format!("{idx}"), ..small.clone() }).collect::<Vec<_>>();
    let (few, all) = (open(many(40)), open(many(4_000)));
    let shapes = |desk: &Desk| desk.harness.output().shapes.len();
    assert!(shapes(&all) < shapes(&few) + 50, "{} shapes against {}", shapes(&all), shapes(&few));
    let rows = all.controls().iter().filter(|(name, _)| name.starts_with('#')).count();
    assert!(rows > 5 && rows < 40, "{rows}");
}

#[test]
fn a_lens_is_part_of_the_address() {
    let mut desk = Desk::with(
        &format!("/ch/{CHAPTER}/step/stride?lens=dram"),
        &settings(Lang::En, ThemeChoice::Light),
        [1440.0, 40_000.0],
    );
    desk.click_below("The stride sweep", "Reveal the recorded result");
    assert!(desk.has("What DRAM really delivers"));
    assert!(desk.has("this verdict is about \"Useful bandwidth\""));
    desk.click_below("The stride sweep", "Lens: Inference");
    assert_eq!(desk.inside.borrow().routes.last().unwrap(), &format!("/ch/{CHAPTER}/step/stride?lens=token"));
    assert!(desk.has("Llama-3-8B"), "the assumption stands beside a number that rests on it");
    desk.click_below("The stride sweep", "Lens: Training");
    assert!(desk.has("No training lens here: this kernel reads and never writes"));
    desk.click_below("The stride sweep", "Lens: Kernel");
    assert_eq!(desk.inside.borrow().routes.last().unwrap(), &format!("/ch/{CHAPTER}/step/stride"));
}

#[test]
fn a_lens_that_does_not_exist_is_noted() {
    let desk = Desk::open(&format!("/ch/{CHAPTER}/step/stride?lens=nowhere"));
    assert!(desk.notes().contains("nowhere"), "{}", desk.notes());
}

/// The lens of the card when a run is chosen is the lens of the comparison; two lenses are refused.
#[test]
fn two_lenses_are_not_compared() {
    let mut still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    let runs = notebook([run(STRIDE), again(0.95, "2026-12-01")]);
    still.inside.borrow_mut().files.insert("notebook.json".to_owned(), runs.into_bytes());
    still.route = Some(format!("/ch/{CHAPTER}/step/stride?lens=token"));
    let mut desk = Desk::on(still, [1440.0, 40_000.0]);
    pick(&mut desk, 1, "Baseline");
    pick(&mut desk, 2, "Candidate");
    // Less time a token is better, and the gain is that of the launches.
    assert!(desk.has("improved at 12 of 12 points"));
    desk.click_below("The stride sweep", "Reveal the recorded result");
    desk.click_below("The stride sweep", "Lens: Kernel");
    pick(&mut desk, 2, "Candidate");
    pick(&mut desk, 2, "Candidate");
    assert!(desk.has("the lens differs, token against measure"));
}
