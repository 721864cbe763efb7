//! An author's figure while its file is being written: the sliders stay where the reader left them, a mistake stands
//! beside the text with its place, the rest of the page works, and links carry the state.

use super::Desk;
use serde_json::Value;
use vramlab_shell::platform::Event;
use vramlab_tests::read;

const ID: &str = "90_six_figures/amdahl";

fn six() -> String {
    read("tests/data/figures/90_six_figures/chapter.toml")
}

fn lessons(text: &str) -> Event {
    Event::Lessons {
        root: "/lessons".to_owned(),
        files: vec![("90_six_figures/chapter.toml".to_owned(), text.as_bytes().to_vec())],
    }
}

fn figure(desk: &Desk) -> Value {
    desk.said()["figures"][ID].clone()
}

#[test]
fn the_sliders_stay_while_the_file_changes() {
    let mut desk = Desk::open("/");
    desk.send(lessons(&six()));
    desk.send(Event::Route("/ch/90_six_figures/step/amdahl?n=64".to_owned()));
    // 1 / (0.05 + 0.95 / 64) = 15.4
    assert!(figure(&desk)["finding"].as_str().unwrap().starts_with("64 processors make it 15.4"), "{}", figure(&desk));
    // Another formula under the same sliders: 1 / (0.05 + 0.95 / 128) = 17.4
    desk.send(lessons(&six().replace("(serial + p / n)", "(serial + p / (2 * n))")));
    assert_eq!(figure(&desk)["params"]["n"], 64, "{}", figure(&desk));
    assert!(figure(&desk)["finding"].as_str().unwrap().contains("17.4"), "{}", figure(&desk));
    // A slider that ends before the reader's place goes back to its start, and the other one stays.
    let short = six().replace("min = 1, max = 1024, step = 1, start = 16", "min = 1, max = 32, step = 1, start = 4");
    desk.send(lessons(&short));
    assert_eq!(figure(&desk)["params"]["n"], 4, "{}", figure(&desk));
}

#[test]
fn a_mistake_stands_beside_the_text_until_it_is_mended() {
    let mut desk = Desk::open("/");
    desk.send(lessons(&six()));
    assert!(!desk.has("unlike units"));
    desk.send(lessons(&six().replace("(serial + p / n)", "(serial + p / n) + billions")));
    assert!(desk.has("nothing is called \"billions\" here"), "the sentence");
    assert!(desk.has("90_six_figures/chapter.toml:22:"), "the place");
    assert!(desk.has("━"), "the caret");
    assert!(desk.has("GPUs:"), "the next figure still works");
    // What only the models or the sliders show is found as well: at p = 0.5 and n = 1 nothing is divided.
    desk.send(lessons(&six().replace("1 / (serial + p / n)", "1 / (serial + p / n - 1)")));
    assert!(desk.has("division by zero"), "found at an end of the sliders");
    desk.send(lessons(&six()));
    assert!(!desk.has("━") && figure(&desk)["finding"].as_str().unwrap().contains("9.14"), "{}", figure(&desk));
}

#[test]
fn a_link_with_a_slider_out_of_range_is_refused_with_the_range() {
    let mut desk = Desk::open("/");
    desk.send(lessons(&six()));
    for bad in ["n=4096", "n=NaN", "m=2"] {
        desk.send(Event::Route(format!("/ch/90_six_figures/step/amdahl?{bad}")));
        let shown = figure(&desk);
        assert_eq!(shown["params"]["n"], 16, "{bad}: the default is shown");
        assert!(shown["refused"].as_str().is_some_and(|why| why.contains(&bad[..1])), "{bad}: {shown}");
    }
}

/// A chapter in which a figure answers a prediction.
fn asked() -> String {
    let guess = "[[step]]\nid = \"guess\"\nkind = \"predict\"\ntitle = { zh = \"猜\", en = \"G\" }\nask = { zh = \"多快？\", en = \"How fast?\" }\nunit = \"1\"\nmin = 1\n\
                 max = 64\nanswer = { value = 9.14, source = \"s\" }\nexplain = { zh = \"因\", en = \"e\" }\nrevealed_by = \"amdahl\"\n\n[[step]]";
    six().replacen("[[step]]", guess, 1)
}

#[test]
fn a_figure_that_answers_a_prediction_waits_for_the_guess() {
    let mut desk = Desk::open("/");
    desk.send(lessons(&asked()));
    desk.send(Event::Route("/ch/90_six_figures".to_owned()));
    assert!(desk.has("This figure answers a prediction above") && !desk.has("make it 9.14"));
    desk.click("Show it anyway");
    assert!(!desk.has("This figure answers a prediction above"));
    assert!(figure(&desk)["finding"].as_str().unwrap().contains("9.14"), "{}", figure(&desk));
}
