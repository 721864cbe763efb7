//! What reaches over days and chapters: predictions on the ruler and on the plot, the gap, reviews that come back, the
//! calibration. The chapter is `tests/data/predictions`.

use super::{Desk, settings};
use egui::accesskit::Role;
use egui::{Key, Pos2, Rect};
use egui_kittest::kittest::Queryable as _;
use vramlab_shell::Still;
use vramlab_shell::platform::Event;
use vramlab_shell::settings::ThemeChoice;
use vramlab_tests::root;
use vramlab_units::Lang;

const SIZE: [f32; 2] = [1440.0, 6000.0];
const CHAPTER: &str = "90_predictions";

fn text() -> String {
    std::fs::read_to_string(root().join("tests/data/predictions/90_predictions.toml")).unwrap()
}

fn open_chapter(desk: &mut Desk) {
    desk.send(Event::File { name: format!("{CHAPTER}.toml"), bytes: text().into_bytes() });
    assert_eq!(desk.said()["route"], format!("/ch/{CHAPTER}"), "{}", desk.notes());
}

fn desk() -> Desk {
    let mut desk = Desk::with("/", &settings(Lang::En, ThemeChoice::Light), SIZE);
    open_chapter(&mut desk);
    desk
}

/// The next window: what was on disk, on this day.
fn next_window(desk: Desk, today: &str) -> Desk {
    let mut desk = desk;
    desk.harness.run_steps(16); // two seconds pass: what was done is due to be saved
    let files = desk.inside.borrow().files.clone();
    drop(desk);
    let still = Still::default();
    still.inside.borrow_mut().files = files;
    still.inside.borrow_mut().today = Some(today.to_owned());
    let mut next = Desk::on(still, SIZE);
    open_chapter(&mut next);
    next
}

fn go(desk: &mut Desk, route: &str) {
    desk.send(Event::Route(route.to_owned()));
}

/// Where the first widget of this role under a heading stands.
fn below(desk: &Desk, heading: &str, role: Role, words: &str) -> Rect {
    let top = desk.top_of(heading);
    let nodes = desk.harness.get_all_by_role(role).filter(|node| {
        use egui_kittest::kittest::NodeT as _;
        let label = node.accesskit_node().label().unwrap_or_default();
        node.rect().top() >= top && label.contains(words)
    });
    let first = nodes.min_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
    first.unwrap_or_else(|| panic!("no {role:?} \"{words}\" below \"{heading}\"")).rect()
}

fn drag(desk: &mut Desk, from: Pos2, to: Pos2) {
    desk.harness.hover_at(from);
    desk.harness.run_ok();
    desk.harness.drag_at(from);
    desk.harness.run_ok();
    desk.harness.hover_at(to);
    desk.harness.run_ok();
    desk.harness.drop_at(to);
    desk.harness.run_ok();
}

#[test]
fn a_number_is_dragged_on_the_log_ruler_and_revealed_with_its_factor() {
    let mut desk = desk();
    let ruler = below(&desk, "A number", Role::Slider, "");
    // 50 to 5000: two decades, so that the middle is 500.
    drag(&mut desk, ruler.left_center(), ruler.center());
    desk.click_below("A number", "Commit to it");
    assert!(desk.has("Your prediction") && desk.has("500\u{2009}GB/s"));
    assert!(!desk.has("too high by"), "nothing is revealed yet");
    desk.click_below("A number", "Reveal");
    // 4814.3 / 16 = 300.9; 500 / 300.9 = 1.66
    assert!(desk.has("model 301\u{2009}GB/s, you 500\u{2009}GB/s: too high by a factor of 1.66"));
    assert!(!desk.has("Change it") || desk.top_of("An order") > 0.0);
    let next = next_window(desk, "2026-12-01");
    assert!(next.has("too high by a factor of 1.66"), "what was revealed stays revealed");
}

#[test]
fn the_ruler_works_by_keys_and_takes_typed_units() {
    let mut desk = desk();
    let ruler = below(&desk, "A number", Role::Slider, "");
    let center = ruler.center();
    drag(&mut desk, center, center);
    for _ in 0..3 {
        desk.press(Key::ArrowRight);
    }
    desk.click_below("A number", "Commit to it");
    let kept = |desk: &Desk, text: &str| desk.has(&format!("{text}\u{2009}GB/s"));
    assert!(kept(&desk, "660"), "three fiftieths of two decades above 500"); // 500 · 10^(3·2/50) = 659
    desk.click_below("A number", "Change it");
    let field = below(&desk, "A number", Role::TextInput, "");
    desk.harness.get_all_by_role(Role::TextInput).find(|node| node.rect() == field).unwrap().focus();
    desk.harness.run_ok();
    desk.press_with(egui::Modifiers::COMMAND, Key::A);
    desk.type_text("0.25 TB/s");
    desk.press(Key::Enter);
    assert!(kept(&desk, "250"));
}

#[test]
fn a_typed_unit_of_another_kind_is_refused() {
    let mut desk = desk();
    let field = below(&desk, "A number", Role::TextInput, "");
    desk.harness.get_all_by_role(Role::TextInput).find(|node| node.rect() == field).unwrap().focus();
    desk.harness.run_ok();
    desk.type_text("3 GB");
    desk.press(Key::Enter);
    assert!(desk.has("cannot be turned into GB/s; enter a number from 50"));
    assert!(!desk.has("Your prediction"));
}

#[test]
fn an_order_is_revealed_with_its_swapped_pairs() {
    let mut desk = desk();
    desk.click_below("An order", "Commit to it");
    assert!(desk.has("L2 cache → shared memory → registers"), "shown in reverse, so that committing is a choice");
    desk.click_below("An order", "Reveal");
    assert!(desk.has("3 of 3 pairs stand the wrong way round: "));
    assert!(desk.has("registers comes before shared memory"));
}

/// The figure on which the curve is drawn.
fn plot(desk: &Desk) -> Rect {
    below(desk, "A curve", Role::Figure, "How does useful bandwidth fall")
}

fn draw(desk: &mut Desk) {
    let rect = plot(desk);
    let (left, right) = (rect.left() + rect.width() * 0.07, rect.right() - 14.0);
    let (top, bottom) = (rect.top() + rect.height() * 0.3, rect.top() + rect.height() * 0.6);
    drag(desk, egui::pos2(left, top), egui::pos2(right, bottom));
}

#[test]
fn a_curve_is_drawn_by_pointer_kept_and_shown_on_the_measured_chart() {
    let mut desk = desk();
    assert!(!desk.has("Your curve"), "nothing is drawn yet");
    draw(&mut desk);
    desk.click_below("A curve", "Commit to it");
    assert!(desk.has("Your prediction"));
    desk.click_below("A curve", "See it beside the measurement →");
    assert_eq!(desk.said()["route"], format!("/ch/{CHAPTER}/step/measure"));
    desk.harness.run_steps(40);
    assert!(desk.has("Your curve: the largest gap is at stride"), "the gap is in words");
    let next = next_window(desk, "2026-12-01");
    assert!(next.has("Your curve: the largest gap is at stride"), "the curve and its gap are there again");
    next.assert_finite("a revealed curve");
}

#[test]
fn a_curve_is_drawn_by_keys_and_a_place_is_cleared() {
    let mut desk = desk();
    let rect = plot(&desk);
    let node = |desk: &Desk| {
        let all = desk.harness.get_all_by_role(Role::Figure);
        let mut mine = all.filter(|node| node.rect() == rect);
        use egui_kittest::kittest::NodeT as _;
        mine.next().unwrap().accesskit_node().label().unwrap_or_default()
    };
    desk.harness.get_all_by_role(Role::Figure).find(|node| node.rect() == rect).unwrap().focus();
    desk.harness.run_ok();
    desk.press(Key::ArrowUp);
    // From the middle of 10 to 10,000 a twentieth of three decades up: 316 · 10^0.15.
    assert!(node(&desk).ends_with("1\u{2009}element: 447\u{2009}GB/s"), "{}", node(&desk));
    desk.press(Key::ArrowRight);
    desk.press(Key::ArrowDown);
    assert!(node(&desk).ends_with("2\u{2009}element: 224\u{2009}GB/s"), "{}", node(&desk));
    desk.press(Key::Delete);
    assert!(node(&desk).ends_with("2\u{2009}element: –"), "{}", node(&desk));
    desk.click_below("A curve", "Commit to it");
    assert!(desk.has("draw at least 3 places") && !desk.has("Your prediction"), "one place is no curve");
}

/// Answers the number question of a review on screen.
fn answer(desk: &mut Desk, number: &str) {
    desk.harness.get_all_by_role(Role::TextInput).last().expect("a field").focus();
    desk.harness.run_ok();
    desk.type_text(number);
    desk.press(Key::Enter);
}

/// Opens the deck's first question in the chapter and answers it: stride 8 makes 8 sectors.
fn answer_in_the_deck(desk: &mut Desk, number: &str) {
    answer(desk, number);
    desk.harness.run_steps(4);
}

#[test]
fn a_review_due_tomorrow_is_due_tomorrow() {
    let mut desk = desk();
    desk.inside.borrow_mut().today = Some("2026-11-30".to_owned());
    answer_in_the_deck(&mut desk, "9");
    assert!(desk.has("Not yet") && desk.has("Comes back tomorrow"));
    go(&mut desk, "/review");
    assert!(desk.has("the next question comes tomorrow"), "not today any more");
    let mut next = next_window(desk, "2026-12-01");
    go(&mut next, "/review");
    assert!(next.has("question 1 of 1"));
    // The second appearance draws the second stride: 16 bytes, 16 sectors.
    assert!(next.has("Stride 16 bytes, 4-byte elements"));
    answer(&mut next, "16");
    assert!(next.has("Right") && next.has("Comes back in"));
    next.click("See how it went");
    assert!(next.has("1 of 1 right at the first try"));
    let mut later = next_window(next, "2026-12-02");
    go(&mut later, "/review");
    assert!(!later.has("question 1 of"), "known: it rests for some days");
}

#[test]
fn what_is_missed_comes_once_more_and_the_truth_is_shown() {
    let mut desk = desk();
    answer_in_the_deck(&mut desk, "9");
    let mut next = next_window(desk, "2026-12-05");
    go(&mut next, "/review");
    answer(&mut next, "17");
    assert!(next.has("Not yet") && next.has("Answer 16"), "a review ends with the answer");
    next.click("Next question");
    assert!(next.has("Once more, since it was missed") && next.has("Stride 32 bytes"));
    answer(&mut next, "32");
    next.click("See how it went");
    assert!(next.has("0 of 1 right at the first try") && next.has("Predictions"));
    go(&mut next, "/review");
    assert!(next.has("comes tomorrow"), "the second try of a day moves no schedule");
}

#[test]
fn half_a_chapter_makes_its_questions_new_and_the_palette_leads_there() {
    let mut desk = desk();
    go(&mut desk, "/review");
    assert!(desk.has("There is nothing to review yet"));
    go(&mut desk, &format!("/ch/{CHAPTER}"));
    for heading in ["A number", "An order"] {
        if heading == "A number" {
            let ruler = below(&desk, heading, Role::Slider, "");
            drag(&mut desk, ruler.left_center(), ruler.center());
        }
        desk.click_below(heading, "Commit to it");
    }
    desk.press_with(egui::Modifiers::COMMAND, Key::K);
    desk.type_text("review what is due");
    desk.press(Key::Enter);
    assert_eq!(desk.said()["route"], "/review");
    assert!(desk.has("question 1 of 2"), "two of four steps are done");
    desk.click("Skip for now");
    assert!(desk.has("The order is shuffled"));
    desk.click("No");
    assert!(desk.has("Right") && desk.has("A set has no order."));
}

/// The start page: what is due, and the reader's own numbers, once there are any.
#[test]
fn the_start_page_tells_what_is_due_and_how_the_numbers_hold() {
    let mut desk = desk();
    go(&mut desk, "/");
    assert!(!desk.has("Due today") && !desk.has("How your predictions hold"), "nothing for a new reader");
    go(&mut desk, &format!("/ch/{CHAPTER}"));
    let ruler = below(&desk, "A number", Role::Slider, "");
    drag(&mut desk, ruler.left_center(), ruler.center());
    desk.click_below("A number", "Commit to it");
    go(&mut desk, "/");
    assert!(!desk.has("How your predictions hold"), "a prediction whose truth is hidden would give it away");
    go(&mut desk, &format!("/ch/{CHAPTER}"));
    desk.click_below("A number", "Reveal");
    answer_in_the_deck(&mut desk, "9");
    go(&mut desk, "/");
    // 500 against 301 is a factor of 1.66.
    assert!(desk.has("Numbers so far: 1, of which 1 within a factor of two."));
    assert!(desk.has("the next question comes tomorrow"));
    let mut next = next_window(desk, "2026-12-01");
    go(&mut next, "/");
    assert!(next.has("1 due"));
    next.click_below("Due today", "Start");
    assert_eq!(next.said()["route"], "/review");
}

/// Two predictions before one result: it waits for both.
#[test]
fn a_result_waits_for_every_prediction_that_it_reveals() {
    let text = text().replace("tolerance = 0.1", "tolerance = 0.1\nrevealed_by = \"measure\"\nat = 16");
    let mut desk = Desk::with("/", &settings(Lang::En, ThemeChoice::Light), SIZE);
    desk.send(Event::File { name: format!("{CHAPTER}.toml"), bytes: text.into_bytes() });
    draw(&mut desk);
    desk.click_below("A curve", "Commit to it");
    desk.harness.run_steps(8);
    assert!(desk.has("Settle on your answer first") && !desk.has("Your curve"));
    let ruler = below(&desk, "A number", Role::Slider, "");
    drag(&mut desk, ruler.left_center(), ruler.center());
    desk.click_below("A number", "Commit to it");
    desk.harness.run_steps(8);
    assert!(desk.has("Your curve") && !desk.has("Settle on your answer first"));
    assert!(desk.has("too high by a factor of 1.66"), "the measurement has shown it");
    assert!(!desk.has("Change it"), "what has been seen is not changed any more");
}
