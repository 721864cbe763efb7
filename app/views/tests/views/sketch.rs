//! A curve that is predicted: keys that edit its places, and its gap on the measured chart.

use crate::samples;
use crate::stage::Stage;
use egui::{Event, Key, Modifiers};
use vramlab_kit::{Theme, Tokens};
use vramlab_units::Lang;
use vramlab_views::ExperimentChart;
use vramlab_views::experiment_chart::{ReaderGap, ReaderMark, Sketch};

struct Drawing {
    stage: Stage,
    sketch: Sketch,
    marks: Vec<ReaderMark>,
}

impl Drawing {
    /// Four places between 1 and 10,000, under the keyboard.
    fn new() -> Self {
        let data = samples::sweep();
        let xs = vec![1.0, 2.0, 4.0, 8.0];
        let sketch = Sketch { x: data.x, y: data.y, xs, y_low: 1.0, y_high: 10_000.0, ask: data.finding };
        let stage = Stage::new(Tokens::new(Theme::Light, 1.0), Lang::En, 844.0);
        let mut this = Self { stage, sketch, marks: Vec::new() };
        this.frame(Vec::new(), true);
        this
    }

    fn frame(&mut self, events: Vec<Event>, takes_focus: bool) -> Vec<String> {
        let Self { stage, sketch, marks } = self;
        let tokens = Tokens::new(Theme::Light, 1.0);
        let painted = stage.frame(events, &mut |ui, cx| {
            let response = sketch.ui(ui, &tokens, cx.lang, marks);
            if takes_focus {
                response.request_focus();
            }
        });
        painted.texts()
    }

    fn press(&mut self, key: Key) -> Vec<String> {
        let event = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
        self.frame(vec![event], false)
    }

    fn at(&self, x: f64) -> Option<f64> {
        self.marks.iter().find(|mark| mark.x == x).map(|mark| mark.y)
    }
}

#[test]
fn keys_choose_a_place_move_it_and_clear_it() {
    let mut drawing = Drawing::new();
    drawing.press(Key::End);
    drawing.press(Key::ArrowUp);
    // From the middle of four decades, 100, a twentieth of them up.
    let twentieth = 10_f64.powf(4.0 / 20.0);
    assert!((drawing.at(8.0).unwrap() / (100.0 * twentieth) - 1.0).abs() < 1e-9, "{:?}", drawing.marks);
    drawing.press(Key::PageDown); // five twentieths
    assert!((drawing.at(8.0).unwrap() / (100.0 / twentieth.powi(4)) - 1.0).abs() < 1e-9, "{:?}", drawing.marks);
    let texts = drawing.press(Key::Home);
    assert!(texts.contains(&"–".to_owned()), "nothing stands at the first place yet: {texts:?}");
    for _ in 0..30 {
        drawing.press(Key::ArrowUp);
    }
    assert_eq!(drawing.at(1.0), Some(10_000.0), "the upper end holds");
    drawing.press(Key::End);
    drawing.press(Key::Delete);
    assert_eq!((drawing.at(8.0), drawing.marks.len()), (None, 1));
}

#[test]
fn the_gap_stands_on_the_measured_chart() {
    let mut data = samples::sweep();
    data.reader = vec![ReaderMark { x: 2.0, y: 900.0, curve: 1 }, ReaderMark { x: 8.0, y: 900.0, curve: 1 }];
    data.gaps = vec![ReaderGap { x: 8.0, given: 900.0, truth: 300.0, label: "3×".to_owned() }];
    let tokens = Tokens::new(Theme::Light, 1.0);
    for (width, lang) in [(844.0, Lang::En), (320.0, Lang::Zh)] {
        let mut stage = Stage::new(tokens.clone(), lang, width);
        let mut chart = ExperimentChart::default();
        let painted = stage.paint(|ui, cx| {
            chart.ui(ui, &tokens, cx.lang, &data);
        });
        assert!(painted.texts().contains(&"3×".to_owned()));
        painted.assert_finite("a gap", &Default::default());
    }
}
