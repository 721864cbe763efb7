//! Stepping through a figure: how many of its steps are over. The state machine and the buttons are the kit's.

use crate::view::ViewCx;
use egui::{EventFilter, Key, PointerButton, Response, Ui};
use vramlab_kit::{Command, Playhead, playback};

/// A place among `total` steps: at least the first is over, and at the last one everything is.
#[derive(Clone, Debug)]
pub struct Steps {
    head: Playhead,
    total: usize,
}

impl Steps {
    /// With `now` of `total` steps over.
    pub fn new(now: usize, total: usize, steps_per_sec: f64) -> Self {
        let mut head = Playhead::new(total.max(1), steps_per_sec);
        head.apply(Command::Seek(now.saturating_sub(1)), false);
        Self { head, total }
    }

    /// Steps that are over.
    pub fn now(&self) -> usize {
        (self.head.now() + 1).min(self.total)
    }

    pub fn seek(&mut self, now: usize) {
        self.head.apply(Command::Seek(now.saturating_sub(1)), false);
    }

    pub fn apply(&mut self, command: Command, has_motion: bool) {
        self.head.apply(command, has_motion);
    }

    /// The keys of a figure that is stepped through: arrows step, Home and End go to the ends, Space plays.
    pub fn keys(&mut self, ui: &Ui, response: &Response, has_motion: bool) {
        if response.clicked_by(PointerButton::Primary) {
            response.request_focus();
        }
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        for (key, command) in [
            (Key::ArrowRight, Command::StepForward),
            (Key::ArrowLeft, Command::StepBack),
            (Key::Home, Command::First),
            (Key::End, Command::Last),
        ] {
            if ui.input(|input| input.key_pressed(key)) {
                self.apply(command, has_motion);
            }
        }
        if response.clicked() && !response.clicked_by(PointerButton::Primary) {
            self.apply(Command::Toggle, has_motion);
        }
    }

    /// Another number of steps; a finished figure stays finished.
    pub fn set_total(&mut self, total: usize) {
        let was_over = self.head.is_at_end() && !self.head.is_playing();
        self.total = total;
        self.head.set_n_steps(total.max(1));
        if was_over {
            self.head.apply(Command::Last, false);
        }
    }

    pub fn is_playing(&self) -> bool {
        self.head.is_playing()
    }

    /// Moves on with the clock: before painting, so that the picture shows the step that the bar names.
    pub fn tick(&mut self, cx: &ViewCx<'_>) {
        self.head.tick(cx.time_secs);
    }

    pub fn ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        playback(ui, cx.tokens, cx.lang, &mut self.head, cx.time_secs, cx.has_motion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_figure_stays_finished_when_the_question_changes() {
        let mut steps = Steps::new(2, 2, 2.0);
        steps.set_total(32);
        assert_eq!(steps.now(), 32);
        steps = Steps::new(1, 4, 2.0);
        steps.set_total(8);
        assert_eq!(steps.now(), 1);
        steps.set_total(0);
        assert_eq!(steps.now(), 0);
    }
}
