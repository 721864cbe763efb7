//! When to save: soon after a change, again after a failure, less and less often, and never silently.

use super::SaveError;
use vramlab_units::Localized;

/// Longest time an answer stays unsaved, in seconds.
pub const DELAY_SECS: f64 = 2.0;
/// Longest pause between two tries after failures.
pub const MAX_PAUSE_SECS: f64 = 60.0;

/// Keeps the schedule; the caller asks [`Self::is_due`] each frame and does the saving.
#[derive(Clone, Debug, Default)]
pub struct Saver {
    /// When the oldest unsaved change must be on disk, on the caller's monotonic clock.
    due_at: Option<f64>,
    n_failures: u32,
    last_error: Option<String>,
}

impl Saver {
    /// Notes a change at `now_secs`.
    pub fn changed(&mut self, now_secs: f64) {
        let _ = self.due_at.get_or_insert(now_secs + DELAY_SECS);
    }

    pub fn is_due(&self, now_secs: f64) -> bool {
        self.due_at.is_some_and(|due_at| now_secs >= due_at)
    }

    /// Seconds until the next try; `None` if nothing waits.
    pub fn wait_secs(&self, now_secs: f64) -> Option<f64> {
        self.due_at.map(|due_at| (due_at - now_secs).max(0.0))
    }

    /// True if closing now would lose something: ask once more and offer an export.
    pub fn is_unsaved(&self) -> bool {
        self.due_at.is_some()
    }

    pub fn saved(&mut self) {
        *self = Self::default();
    }

    /// Notes a failed try: the next one comes after 4, 8, 16, … seconds.
    pub fn failed(&mut self, now_secs: f64, error: &SaveError) {
        self.n_failures = self.n_failures.saturating_add(1);
        let pause = DELAY_SECS * 2_f64.powi(self.n_failures.min(10) as i32);
        self.due_at = Some(now_secs + pause.min(MAX_PAUSE_SECS));
        self.last_error = Some(error.to_string());
    }

    /// What stays on screen while saving fails.
    pub fn banner(&self) -> Option<Localized> {
        let error = self.last_error.as_ref()?;
        Some(Localized::both(
            format!("进度暂时存不下来：{error}。本次学习照常继续，请现在导出一份。"),
            format!("Your progress cannot be saved: {error}. What you do now stays in memory; export it now."),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> SaveError {
        SaveError { doing: "writing", file: "progress.json".to_owned(), why: "no space left on device".to_owned() }
    }

    #[test]
    fn p8_an_answer_is_due_within_two_seconds() {
        let mut saver = Saver::default();
        saver.changed(10.0);
        saver.changed(11.9); // later changes do not push the first one back
        assert!(!saver.is_due(11.9) && saver.is_due(12.0));
        saver.saved();
        assert!(!saver.is_due(1e9) && !saver.is_unsaved());
    }

    #[test]
    fn p2_p3_failures_back_off_and_stay_visible() {
        let mut saver = Saver::default();
        saver.changed(0.0);
        let mut pauses = Vec::new();
        for _ in 0..7 {
            saver.failed(100.0, &error());
            pauses.push(saver.wait_secs(100.0).unwrap());
        }
        assert_eq!(pauses, [4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]);
        let banner = saver.banner().unwrap();
        assert!(banner.en.unwrap().contains("export it now") && banner.zh.unwrap().contains("导出"));
        assert!(saver.is_unsaved());
        saver.saved();
        assert_eq!(saver.banner(), None);
    }
}
