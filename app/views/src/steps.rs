//! Stepping through a figure: how many of its steps are over. The state machine and the buttons are the kit's.

use crate::view::ViewCx;
use egui::Ui;
use vramlab_kit::{Command, Playhead, playback};

/// A place between 0 (nothing is over) and `total` (everything is).
#[derive(Clone, Debug)]
pub struct Steps {
    head: Playhead,
}

impl Steps {
    pub fn new(now: usize, total: usize, steps_per_sec: f64) -> Self {
        let mut head = Playhead::new(total + 1, steps_per_sec);
        head.apply(Command::Seek(now), false);
        Self { head }
    }

    /// Steps that are over.
    pub fn now(&self) -> usize {
        self.head.now()
    }

    pub fn total(&self) -> usize {
        self.head.n_steps().saturating_sub(1)
    }

    /// Another number of steps; a finished figure stays finished.
    pub fn set_total(&mut self, total: usize) {
        let was_over = self.head.is_at_end() && !self.head.is_playing();
        self.head.set_n_steps(total + 1);
        if was_over {
            self.head.apply(Command::Last, false);
        }
    }

    pub fn set_speed(&mut self, steps_per_sec: f64) {
        self.head.set_speed(steps_per_sec);
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
        assert_eq!((steps.now(), steps.total()), (32, 32));
        steps = Steps::new(1, 4, 2.0);
        steps.set_total(8);
        assert_eq!(steps.now(), 1);
        steps.set_total(0);
        assert_eq!((steps.now(), steps.total()), (0, 0));
    }
}
