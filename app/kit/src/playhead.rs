//! Play, pause, step and scrub as one state machine, driven by commands and by the clock it is given. The buttons are
//! in `widgets/playback.rs`; here is no window.

/// What a reader can ask of a playhead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    Play,
    Pause,
    /// Play when paused, pause when playing.
    Toggle,
    StepForward,
    StepBack,
    /// Go to a step; a number beyond the last goes to the last.
    Seek(usize),
    First,
    Last,
}

/// Where a figure with steps stands. Steps count from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Playhead {
    now: usize,
    n_steps: usize,
    steps_per_sec: f64,
    /// While playing: the clock and the step when playing began.
    playing_since: Option<(f64, usize)>,
    is_starting: bool,
}

impl Playhead {
    /// At the first of `n_steps` steps, paused.
    pub fn new(n_steps: usize, steps_per_sec: f64) -> Self {
        Self { now: 0, n_steps, steps_per_sec, playing_since: None, is_starting: false }
    }

    pub fn now(&self) -> usize {
        self.now
    }

    pub fn n_steps(&self) -> usize {
        self.n_steps
    }

    pub fn is_playing(&self) -> bool {
        self.is_starting || self.playing_since.is_some()
    }

    pub fn is_at_end(&self) -> bool {
        self.now + 1 >= self.n_steps
    }

    /// The question changed: another number of steps. Keeps the place where that exists.
    pub fn set_n_steps(&mut self, n_steps: usize) {
        if n_steps != self.n_steps {
            self.n_steps = n_steps;
            self.seek(self.now);
        }
    }

    pub fn set_speed(&mut self, steps_per_sec: f64) {
        self.steps_per_sec = steps_per_sec;
        if self.is_playing() {
            self.is_starting = true; // from here on at the new speed
        }
    }

    /// Performs `command`. Without motion, play is a step: the reader asked for pictures that stand still.
    pub fn apply(&mut self, command: Command, has_motion: bool) {
        match command {
            Command::Play if has_motion => self.start(),
            Command::Play => self.seek(self.now + 1),
            Command::Pause => self.pause(),
            Command::Toggle if self.is_playing() => self.pause(),
            Command::Toggle => self.apply(Command::Play, has_motion),
            Command::StepForward => self.seek(self.now + 1),
            Command::StepBack => self.seek(self.now.saturating_sub(1)),
            Command::Seek(step) => self.seek(step),
            Command::First => self.seek(0),
            Command::Last => self.seek(self.n_steps),
        }
    }

    /// Moves on with the clock. True while the next frame is wanted.
    pub fn tick(&mut self, time_secs: f64) -> bool {
        if std::mem::take(&mut self.is_starting) {
            self.playing_since = Some((time_secs, self.now));
        }
        if let Some((since, from)) = self.playing_since {
            let n_passed = ((time_secs - since).max(0.0) * self.steps_per_sec + 1e-9).floor() as usize;
            self.now = from.saturating_add(n_passed).min(self.n_steps.saturating_sub(1));
            if self.is_at_end() {
                self.playing_since = None;
            }
        }
        self.is_playing()
    }

    /// Seconds until the next step is due, while playing.
    pub fn secs_to_next_step(&self, time_secs: f64) -> Option<f64> {
        let (since, from) = self.playing_since?;
        let due = since + (self.now - from + 1) as f64 / self.steps_per_sec;
        Some((due - time_secs).max(0.0))
    }

    fn start(&mut self) {
        if self.is_at_end() {
            self.now = 0; // play again from the start
        }
        self.is_starting = self.n_steps > 1;
    }

    fn pause(&mut self) {
        (self.is_starting, self.playing_since) = (false, None);
    }

    /// Stepping and scrubbing take the playhead in hand: playing stops.
    fn seek(&mut self, step: usize) {
        self.pause();
        self.now = step.min(self.n_steps.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playing() -> Playhead {
        let mut head = Playhead::new(5, 2.0);
        head.apply(Command::Play, true);
        assert!(head.tick(10.0));
        head
    }

    #[test]
    fn plays_with_the_clock_and_stops_at_the_end() {
        let mut head = playing();
        let steps = [10.4, 10.5, 11.2, 12.0].map(|time| (head.tick(time), head.now()));
        assert_eq!(steps, [(true, 0), (true, 1), (true, 2), (false, 4)]);
        assert!(head.is_at_end() && !head.is_playing());
        head.apply(Command::Toggle, true); // again, from the start
        head.tick(20.0);
        assert_eq!((head.now(), head.is_playing()), (0, true));
    }

    #[test]
    fn a_late_frame_skips_steps_and_never_runs_past_the_end() {
        let mut head = playing();
        assert!(!head.tick(1e9));
        assert_eq!(head.now(), 4);
    }

    #[test]
    fn stepping_and_scrubbing_pause() {
        for (command, expected) in [
            (Command::StepForward, 3),
            (Command::StepBack, 1),
            (Command::Seek(4), 4),
            (Command::Seek(99), 4),
            (Command::First, 0),
            (Command::Last, 4),
            (Command::Pause, 2),
            (Command::Toggle, 2),
        ] {
            let mut head = playing();
            head.tick(11.0);
            head.apply(command, true);
            assert_eq!((head.now(), head.is_playing()), (expected, false), "{command:?}");
        }
    }

    #[test]
    fn without_motion_play_is_a_step() {
        let mut head = Playhead::new(3, 2.0);
        head.apply(Command::Play, false);
        assert_eq!((head.now(), head.is_playing(), head.tick(100.0)), (1, false, false));
    }

    #[test]
    fn fewer_steps_keep_the_place_if_it_exists() {
        let mut head = Playhead::new(8, 2.0);
        head.apply(Command::Seek(5), true);
        head.set_n_steps(6);
        assert_eq!(head.now(), 5);
        head.set_n_steps(2);
        assert_eq!(head.now(), 1);
        head.set_n_steps(0);
        head.apply(Command::Play, true);
        assert_eq!((head.now(), head.tick(0.0)), (0, false));
    }

    #[test]
    fn the_next_step_is_due_when_the_clock_says() {
        let mut head = playing();
        head.tick(10.6);
        assert!((head.secs_to_next_step(10.6).unwrap() - 0.4).abs() < 1e-9);
        assert_eq!(Playhead::new(3, 1.0).secs_to_next_step(0.0), None);
    }
}
