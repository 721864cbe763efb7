//! The detective case: a deployment dies with three requests on four cards. The reader asks for evidence, a ledger exposes
//! what cannot be, and every change is guessed before it is computed.
//!
//! `question.rs` is the case and what the reader has done, `paint.rs` geometry and pictures, `words.rs` the sentences. What
//! must be is the model `told_numbers`.

mod paint;
mod question;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Label, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use paint::{Geometry, Part, Scene};
use question::{Evidence, Fix, Found, Guess, MOST_GUESS, Question};
use vramlab_kit::{Button, Slider, Tokens, Type, Verdict, legend};
use vramlab_units::show::number;
use vramlab_units::{Args, FieldError, FieldSpec, Lang, Map, Text};

/// See the module's docs.
pub struct ServingCase {
    question: Question,
    found: Found,
    /// Where the slider of the guess stands.
    draft: f64,
}

impl ServingCase {
    fn evidence_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let text = |text: &str, role, color| RichText::new(text).font(tokens.font(role)).color(color);
        ui.add(Label::new(text(words::ASK.get(lang), Type::Note, tokens.muted)));
        controls::row(ui, tokens, |flow| {
            for evidence in Evidence::ALL {
                let has = self.question.has(evidence);
                let button = Button::secondary(words::evidence(evidence).get(lang)).selected(has);
                if flow.item(|ui| button.show(ui, tokens)).clicked() {
                    self.question.asked[evidence as usize] = !has;
                }
            }
        });
        for evidence in Evidence::ALL.into_iter().filter(|one| self.question.has(*one)) {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = tokens.space.xs;
                ui.add(Label::new(text(words::evidence(evidence).get(lang), Type::NoteStrong, tokens.ink)));
                ui.add(Label::new(text(words::answer(evidence).get(lang), Type::Note, tokens.ink)).wrap());
            });
        }
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        if response.clicked() {
            response.request_focus();
        }
        let ledgers = [paint::told(&self.question), paint::must(&self.question, &self.found)];
        let over = response.hover_pos().and_then(|at| geometry.hit(at, &ledgers));
        let painter = &ui.painter_at(rect.expand(tokens.px(6.0)));
        Scene { painter, tokens, lang, geometry: &geometry, question: &self.question, ledgers: &ledgers }.paint();
        figure::focus_ring(ui, tokens, &response);
        figure::speak(&response, &self.finding(lang), None);
        let marks: Vec<_> = Part::ALL
            .into_iter()
            .zip(words::PARTS)
            .filter(|(part, _)| ledgers.iter().flatten().any(|(known, _)| known == part))
            .map(|(part, name)| (paint::mark(tokens, part), name.get(lang)))
            .collect();
        legend(ui, tokens, &marks);
        let said = over.map(|(row, part, gb)| {
            let name = [words::TOLD, words::MUST][row].get(lang);
            format!("{name} · {} · {}", words::PARTS[part as usize].get(lang), words::gb(gb))
        });
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
    }

    fn exposed_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        for (weight, text) in words::exposed(&self.question, &self.found, lang) {
            let (sign, color) = match weight {
                words::Weight::Contradiction => ("✗", tokens.bad),
                words::Weight::Question => ("?", tokens.caution),
            };
            ui.horizontal_top(|ui| {
                let sign = RichText::new(sign).font(tokens.font(Type::NoteStrong)).color(color);
                ui.add_sized(vec2(tokens.px(14.0), tokens.px(18.0)), Label::new(sign));
                ui.add(Label::new(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.ink)).wrap());
            });
        }
    }

    fn fixes_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let fixes: Vec<(usize, String)> =
            Fix::ALL.iter().enumerate().map(|(idx, fix)| (idx, words::fix(*fix).get(lang).to_owned())).collect();
        controls::row(ui, tokens, |flow| {
            controls::choice(flow, tokens, words::FIX.get(lang), &mut self.question.fix, &fixes);
        });
        let at = self.question.fix;
        if !self.question.is_revealed(at) {
            controls::row(ui, tokens, |flow| {
                let range = 0.0..=MOST_GUESS as f64;
                let slider = Slider::new(words::GUESS.get(lang), &mut self.draft, range).step(1.0).width(150.0);
                flow.item(|ui| slider.default_value(8.0).shown(|n| format!("{n:.0}")).show(ui, tokens));
                if flow.item(|ui| Button::primary(words::COMMIT.get(lang)).show(ui, tokens)).clicked() {
                    self.question.guesses[at] = Guess::Number(self.draft.round().max(0.0) as u64);
                }
                if flow.item(|ui| Button::quiet(words::SKIP.get(lang)).show(ui, tokens)).clicked() {
                    self.question.guesses[at] = Guess::Skipped;
                }
            });
        }
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let (rect, response) = ui.allocate_exact_size(vec2(width, tokens.px(34.0)), Sense::hover());
        let found = Found::of(Fix::ALL[at]);
        let painter = &ui.painter_at(rect.expand(tokens.px(4.0)));
        let said = if self.question.is_revealed(at) {
            paint::card(painter, tokens, rect, &found);
            words::verdict(self.question.guesses[at], &found, lang)
        } else {
            paint::hidden(painter, tokens, rect, words::HIDDEN.get(lang));
            words::LIMITS.get(lang).to_owned()
        };
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &said));
        figure::readout_ui(ui, tokens, &said);
        if self.question.is_revealed(at) {
            figure::readout_ui(ui, tokens, words::LIMITS.get(lang));
        }
    }

    /// What was revealed, change by change.
    fn key_numbers(&self) -> Vec<KeyNumber> {
        let shown = (0..Fix::ALL.len()).filter(|idx| self.question.is_revealed(*idx));
        shown
            .map(|idx| {
                let found = Found::of(Fix::ALL[idx]);
                let one = KeyNumber::new(words::fix(Fix::ALL[idx]), found.fits.to_string());
                let exact = format!("{} GB ÷ {} GB", number(found.room), number(found.kv_request));
                match self.question.guesses[idx] {
                    Guess::Number(guess) => {
                        let near = guess.abs_diff(found.fits) as f64 <= (found.fits as f64 * 0.15).max(1.0);
                        one.exact(format!("{exact}; {guess}")).judged(if near {
                            Verdict::Good
                        } else {
                            Verdict::Caution
                        })
                    }
                    _ => one.exact(exact),
                }
            })
            .collect()
    }
}

impl View for ServingCase {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.evidence_ui(ui, tokens, lang);
        ui.add_space(tokens.space.m);
        self.figure_ui(ui, cx);
        self.exposed_ui(ui, tokens, lang);
        ui.add_space(tokens.space.m);
        self.fixes_ui(ui, tokens, lang);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.question, &self.found, lang)
    }

    fn params(&self) -> Map {
        self.question.params()
    }

    fn data(&self) -> DataTable {
        let header =
            ["change", "guess", "requests that fit", "weights (GB)", "KV of a request (GB)"].map(str::to_owned);
        let row = |(idx, fix): (usize, &Fix)| {
            let guess = match self.question.guesses[idx] {
                Guess::Number(guess) => guess.to_string(),
                _ => String::new(),
            };
            let found = Found::of(*fix);
            // What was not asked for yet stays out of the table, too.
            let tell = |value: String| if self.question.is_revealed(idx) { value } else { String::new() };
            vec![
                words::fix(*fix).en.to_owned(),
                guess,
                tell(found.fits.to_string()),
                tell(found.weights.to_string()),
                tell(found.kv_request.to_string()),
            ]
        };
        DataTable { header: header.to_vec(), rows: Fix::ALL.iter().enumerate().map(row).collect() }
    }
}

impl Visualizer for ServingCase {
    const ID: &'static str = "serving_case";
    const TITLE: Text = Text::new("三个请求就 OOM", "Out of memory with three requests");

    fn fields() -> Vec<FieldSpec> {
        Question::fields()
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let question = Question::from_args(args).map_err(|(field, why)| FieldError::conflict(field, why))?;
        Ok(Self { question, found: Found::of(Fix::None), draft: 8.0 })
    }
}
