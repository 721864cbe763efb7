//! How many steps a chapter has: as many as are read at one sitting.

use super::Checker;

/// A chapter that takes [`LEAST_MINUTES`] or more has as many at least. A shorter one says so by its `minutes`.
const LEAST_STEPS: usize = 8;
/// What a chapter has at most, however long it takes.
const MOST_STEPS: usize = 14;
/// The shortest of the chapters that are meant to fill a sitting.
const LEAST_MINUTES: u32 = 25;

impl Checker<'_> {
    pub(super) fn steps(&mut self) {
        let (n, minutes) = (self.chapter.steps.len(), self.chapter.minutes);
        if n > MOST_STEPS {
            let what = format!("the chapter has {n} steps; {MOST_STEPS} are read at one sitting");
            let help = "join what belongs together: runs of one card with [[step.also]], a guess with its figure, a \
                        note with the step it is about; or make it two chapters";
            self.warn("step-count", &format!("step[{MOST_STEPS}]"), what, Some(help.to_owned()));
        } else if (1..LEAST_STEPS).contains(&n) && minutes >= LEAST_MINUTES {
            let steps = if n == 1 { "1 step".to_owned() } else { format!("{n} steps") };
            let what = format!("{steps} for {minutes} minutes; a chapter that long has {LEAST_STEPS} to {MOST_STEPS}");
            let help = "cut it into steps of one idea each, or say fewer minutes".to_owned();
            self.warn("step-count", "minutes", what, Some(help));
        }
    }
}
