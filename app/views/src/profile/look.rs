//! What is looked at: a window of time and a cursor in it, microseconds since the program began.

/// Which memory is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    #[default]
    Gpu,
    Host,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub from: u64,
    pub until: u64,
    pub cursor: u64,
    pub memory: Memory,
}

/// Less than this is not shown: kernels are microseconds long.
const LEAST_SPAN: u64 = 20;

impl Look {
    pub fn whole(wall_us: u64, cursor: u64, memory: Memory) -> Self {
        Self { from: 0, until: wall_us.max(LEAST_SPAN), cursor, memory }
    }

    pub fn span(&self) -> u64 {
        self.until.saturating_sub(self.from).max(1)
    }

    /// Shows `from..=until`, kept inside the run and not too short.
    pub fn show(&mut self, from: f64, until: f64, wall_us: u64) {
        let most = wall_us.max(LEAST_SPAN) as f64;
        let (low, high) = (from.min(until).clamp(0.0, most), from.max(until).clamp(0.0, most));
        let span = (high - low).clamp(LEAST_SPAN as f64, most);
        let low = ((low + high - span) / 2.0).clamp(0.0, most - span);
        (self.from, self.until) = (low.round() as u64, (low + span).round() as u64);
    }

    /// `factor` above 1 enlarges; the time `fixed` stays where it is.
    pub fn zoom(&mut self, factor: f64, fixed: f64, wall_us: u64) {
        let (from, until) = (self.from as f64, self.until as f64);
        self.show(fixed - (fixed - from) / factor, fixed + (until - fixed) / factor, wall_us);
    }

    /// Moves the window by a share of itself.
    pub fn pan(&mut self, share: f64, wall_us: u64) {
        let span = self.span() as f64;
        let most = (wall_us.max(LEAST_SPAN) as f64 - span).max(0.0);
        let from = (self.from as f64 + share * span).clamp(0.0, most);
        (self.from, self.until) = (from.round() as u64, (from + span).round() as u64);
    }

    /// Puts the cursor on a time; the window follows it.
    pub fn point_at(&mut self, t_us: u64, wall_us: u64) {
        self.cursor = t_us.min(wall_us);
        if self.cursor < self.from || self.cursor > self.until {
            let (half, at) = (self.span() as f64 / 2.0, self.cursor as f64);
            self.show(at - half, at + half, wall_us);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_stays_inside_the_run() {
        let mut look = Look::whole(1_000_000, 400_000, Memory::Gpu);
        look.zoom(4.0, 400_000.0, 1_000_000);
        assert_eq!((look.from, look.until), (300_000, 550_000));
        look.pan(10.0, 1_000_000);
        assert_eq!((look.from, look.until), (750_000, 1_000_000));
        look.zoom(1e12, 900_000.0, 1_000_000);
        assert_eq!(look.span(), LEAST_SPAN);
        look.zoom(1e-12, 900_000.0, 1_000_000);
        assert_eq!((look.from, look.until), (0, 1_000_000));
        look.show(10.0, 100.0, 1_000_000);
        look.point_at(5_000_000, 1_000_000);
        assert!(look.until == 1_000_000 && look.cursor == 1_000_000);
    }

    #[test]
    fn a_run_of_no_time_can_be_looked_at() {
        let mut look = Look::whole(0, 0, Memory::Host);
        look.zoom(2.0, 0.0, 0);
        look.pan(1.0, 0);
        look.point_at(3, 0);
        assert_eq!((look.from, look.until, look.cursor), (0, LEAST_SPAN, 0));
    }
}
