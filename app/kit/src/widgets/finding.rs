//! Sentences with a verdict: the caption under a figure, and notes about what happened and what to do.

use crate::icons::Icon;
use crate::tokens::{Tokens, Type, Verdict};
use crate::widgets::Button;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Frame, Label, Margin, Rect, Response, Sense, Ui, vec2};

/// The sentence under a figure. It changes with the state, and a screen reader hears it when it does. `word` names the
/// verdict ("effect shown"); it may be empty when there is nothing to judge.
pub fn finding(ui: &mut Ui, tokens: &Tokens, verdict: Verdict, word: &str, sentence: &str) -> Response {
    let mut job = LayoutJob::default();
    if !word.is_empty() {
        job.append(word, 0.0, format(tokens, Type::NoteStrong, tokens.ink));
    }
    let lead = if word.is_empty() { 0.0 } else { tokens.space.xs };
    job.append(sentence, lead, format(tokens, Type::Note, if word.is_empty() { tokens.ink } else { tokens.muted }));
    let row = ui.horizontal_top(|ui| {
        if verdict != Verdict::Neutral {
            let line = tokens.px(22.0);
            let (dot, _) = ui.allocate_exact_size(vec2(tokens.px(8.0), line), Sense::hover());
            ui.painter().circle_filled(dot.center(), tokens.px(4.0), tokens.verdict(verdict));
        }
        ui.add(Label::new(job).wrap())
    });
    let response = row.inner;
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_live(egui::accesskit::Live::Polite));
    response
}

fn format(tokens: &Tokens, role: Type, color: Color32) -> TextFormat {
    TextFormat { line_height: Some(tokens.px(22.0)), ..TextFormat::simple(tokens.font(role), color) }
}

/// What happened and what to do: in place, or floating as a toast.
#[must_use = "call show"]
pub struct Note<'a> {
    verdict: Verdict,
    title: &'a str,
    text: &'a str,
    action: Option<&'a str>,
    close: Option<&'a str>,
}

/// What the reader did with a note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoteAnswer {
    pub is_action_clicked: bool,
    pub is_closed: bool,
}

impl<'a> Note<'a> {
    pub fn new(verdict: Verdict, title: &'a str, text: &'a str) -> Self {
        Self { verdict, title, text, action: None, close: None }
    }

    /// A button in the note: "Undo", "Try again".
    pub fn action(mut self, label: &'a str) -> Self {
        self.action = Some(label);
        self
    }

    /// A closing cross with the name that a screen reader says.
    pub fn closable(mut self, name: &'a str) -> Self {
        self.close = Some(name);
        self
    }

    pub fn show(self, ui: &mut Ui, tokens: &Tokens) -> NoteAnswer {
        let color = tokens.verdict(self.verdict);
        let fill = if self.verdict == Verdict::Neutral { tokens.sunken } else { tokens.tint(color, 0.09) };
        let margin = Margin::symmetric(tokens.space.s as i8, tokens.space.xs as i8);
        let frame = Frame::new().fill(fill).corner_radius(tokens.control_corner()).inner_margin(margin);
        let mut answer = NoteAnswer::default();
        frame.show(ui, |ui| {
            ui.set_width(ui.available_width());
            let right = self.right_width(tokens, ui);
            let is_narrow = right > 0.0 && ui.available_width() - right < tokens.px(220.0);
            ui.horizontal_top(|ui| {
                let (square, _) = ui.allocate_exact_size(vec2(tokens.px(16.0), tokens.px(22.0)), Sense::hover());
                self.icon().paint(ui.painter(), tokens, square, color);
                ui.vertical(|ui| {
                    let right = if is_narrow { 0.0 } else { right };
                    ui.set_max_width((ui.available_width() - right).max(tokens.px(80.0)));
                    self.words(ui, tokens);
                });
                if !is_narrow {
                    self.buttons_ui(ui, tokens, &mut answer);
                }
            });
            if is_narrow {
                ui.horizontal_wrapped(|ui| self.buttons_ui(ui, tokens, &mut answer));
            }
        });
        answer
    }

    fn buttons_ui(&self, ui: &mut Ui, tokens: &Tokens, answer: &mut NoteAnswer) {
        if let Some(label) = self.action {
            answer.is_action_clicked = Button::quiet(label).show(ui, tokens).clicked();
        }
        if let Some(name) = self.close {
            answer.is_closed = Button::icon_only(Icon::Close, name).show(ui, tokens).clicked();
        }
    }

    fn words(&self, ui: &mut Ui, tokens: &Tokens) {
        let mut job = LayoutJob::default();
        job.append(self.title, 0.0, format(tokens, Type::NoteStrong, tokens.ink));
        let lead = if self.title.is_empty() { 0.0 } else { tokens.space.xs };
        job.append(self.text, lead, format(tokens, Type::Note, tokens.ink));
        let response = ui.add(Label::new(job).wrap());
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_live(egui::accesskit::Live::Polite));
    }

    fn right_width(&self, tokens: &Tokens, ui: &Ui) -> f32 {
        let text_width = |text: &str| crate::paint::text(ui, tokens, Type::Note, tokens.ink, text).size().x;
        let action = self.action.map_or(0.0, |label| text_width(label) + tokens.px(20.0) + tokens.space.xs);
        action + if self.close.is_some() { tokens.hit + tokens.space.xs } else { 0.0 }
    }

    fn icon(&self) -> Icon {
        match self.verdict {
            Verdict::Good => Icon::Check,
            Verdict::Caution | Verdict::Bad => Icon::Warning,
            Verdict::Neutral => Icon::Info,
        }
    }
}

/// The sign of a verdict at `rect`: tick, triangle or cross.
pub fn sign(ui: &Ui, tokens: &Tokens, rect: Rect, verdict: Verdict) {
    let icon = match verdict {
        Verdict::Good => Icon::Check,
        Verdict::Caution => Icon::Warning,
        Verdict::Bad => Icon::Close,
        Verdict::Neutral => return,
    };
    icon.paint(ui.painter(), tokens, rect, tokens.verdict(verdict));
}
