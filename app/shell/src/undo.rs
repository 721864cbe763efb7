//! Undo and redo of a figure's parameters. One drag of a slider is one change, however many frames it took.

use vramlab_units::Map;

/// Changes of one figure closer together than this are one.
const ONE_DRAG_SECS: f64 = 0.8;
/// Changes that are kept.
const MOST: usize = 100;

/// What a figure showed: its parameters that differ from those of the chapter.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub chapter: String,
    pub step: String,
    pub params: Map,
}

impl State {
    fn is_of(&self, other: &Self) -> bool {
        (&self.chapter, &self.step) == (&other.chapter, &other.step)
    }
}

/// What the reader changed, newest last.
#[derive(Default)]
pub struct Changes {
    /// Before and after of every change.
    past: Vec<(State, State)>,
    future: Vec<(State, State)>,
    last_secs: f64,
}

impl Changes {
    /// The reader changed a figure.
    pub fn note(&mut self, before: State, after: State, now_secs: f64) {
        self.future.clear();
        let is_same_drag = now_secs - self.last_secs < ONE_DRAG_SECS;
        self.last_secs = now_secs;
        match self.past.last_mut() {
            Some((_, last)) if is_same_drag && last.is_of(&after) => *last = after,
            _ => self.past.push((before, after)),
        }
        if self.past.len() > MOST {
            self.past.remove(0);
        }
    }

    /// What to show instead, if something can be undone.
    pub fn undo(&mut self) -> Option<State> {
        let change = self.past.pop()?;
        let out = change.0.clone();
        self.future.push(change);
        self.last_secs = f64::NEG_INFINITY;
        Some(out)
    }

    pub fn redo(&mut self) -> Option<State> {
        let change = self.future.pop()?;
        let out = change.1.clone();
        self.past.push(change);
        self.last_secs = f64::NEG_INFINITY;
        Some(out)
    }

    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(step: &str, stride: i64) -> State {
        let params = Map::from_iter([("stride".to_owned(), stride.into())]);
        State { chapter: "02".to_owned(), step: step.to_owned(), params }
    }

    #[test]
    fn a_drag_is_one_change() {
        let mut changes = Changes::default();
        for (now, stride) in [(10.0, 2), (10.1, 3), (10.2, 4)] {
            changes.note(at("sectors", stride - 1), at("sectors", stride), now);
        }
        assert_eq!(changes.undo(), Some(at("sectors", 1)));
        assert!(!changes.can_undo());
        assert_eq!(changes.redo(), Some(at("sectors", 4)));
        assert_eq!(changes.redo(), None);
    }

    #[test]
    fn another_figure_is_another_change_and_a_new_one_forgets_what_was_undone() {
        let mut changes = Changes::default();
        changes.note(at("sectors", 1), at("sectors", 2), 10.0);
        changes.note(at("banks", 1), at("banks", 2), 10.1);
        assert_eq!(changes.undo(), Some(at("banks", 1)));
        assert_eq!(changes.undo(), Some(at("sectors", 1)));
        changes.note(at("banks", 1), at("banks", 5), 20.0);
        assert!(!changes.can_redo());
        assert_eq!(changes.undo(), Some(at("banks", 1)));
    }
}
