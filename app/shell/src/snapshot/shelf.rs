//! Snapshots that are open beside the one that is looked at, and those that are still to be read: several files that come
//! together, the devices of one file, or files that were added one by one.

use super::desk::{Opened, State, analysed, begun_part, examples, stem};
use crate::platform::Platform;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::channel;
use vramlab_snapshot::Snapshot;
use vramlab_units::{Localized, Value};

/// More are no longer read side by side.
pub const MOST: usize = 16;

/// What is still to be read.
pub enum Incoming {
    Bytes(String, Vec<u8>),
    /// An example, by its path.
    Example(String),
    /// Another device of a file that is open.
    Device {
        name: String,
        n_bytes: u64,
        snapshot: Arc<Snapshot>,
        device: usize,
    },
}

/// See the module's docs.
#[derive(Default)]
pub struct Shelf {
    /// Open, and not looked at.
    pub others: Vec<Opened>,
    queue: VecDeque<Incoming>,
    /// The one that is being read.
    next: State,
    /// What could not be read, and why.
    pub failed: Vec<(String, Localized)>,
    /// The next file is to stand beside those that are open.
    pub adds: bool,
    /// Files of one drop that have not come yet.
    n_expected: usize,
    has_begun: bool,
    n_opened: usize,
}

impl Shelf {
    /// So many files come together: the first opens, the others stand beside it.
    pub fn expects(&mut self, n: usize) {
        (self.n_expected, self.has_begun) = (n, false);
    }

    /// A file of any kind has come; true if, being a snapshot, it is to stand beside those that are open.
    pub fn arrives(&mut self, is_snapshot: bool) -> bool {
        let is_of_many = self.n_expected > 0;
        self.n_expected = self.n_expected.saturating_sub(1);
        if !is_snapshot {
            return false;
        }
        let is_beside = std::mem::take(&mut self.adds) || (is_of_many && self.has_begun);
        self.has_begun = true;
        is_beside
    }

    pub fn queue(&mut self, incoming: Incoming) {
        if self.others.len() + self.queue.len() + 1 < MOST {
            self.queue.push_back(incoming);
        }
    }

    /// How many were opened so far.
    pub fn number_so_far(&self) -> usize {
        self.n_opened
    }

    pub fn set_number(&mut self, n: usize) {
        self.n_opened = n;
    }

    pub fn clear(&mut self) {
        let (n_expected, has_begun, adds) = (self.n_expected, self.has_begun, self.adds);
        *self = Self { n_expected, has_begun, adds, ..Self::default() };
    }

    /// What is being read beside, if anything.
    pub fn reading(&self) -> Option<&str> {
        match &self.next {
            State::Fetching { path } => Some(stem(path)),
            State::Waiting { name, .. } | State::Counting { name, .. } | State::Reading { name, .. } => Some(name),
            _ => self.queue.front().map(|incoming| match incoming {
                Incoming::Bytes(name, _) | Incoming::Device { name, .. } => name.as_str(),
                Incoming::Example(path) => stem(path),
            }),
        }
    }

    /// One step further; true while another frame is wanted at once.
    pub fn advance(&mut self, platform: &mut dyn Platform) -> bool {
        let next = match std::mem::take(&mut self.next) {
            State::Empty => match self.queue.pop_front() {
                Some(incoming) => begin(platform, incoming),
                None => return false,
            },
            other => other,
        };
        let (next, is_urgent) = next.step(platform, &mut self.n_opened);
        match next {
            State::Open(opened) => self.others.push(*opened),
            // Beside others its last part is read without a question.
            State::Asking(asking) => self.next = begun_part(platform, *asking),
            State::Failed { name, why } => self.failed.push((name, why)),
            next => self.next = next,
        }
        is_urgent || !self.queue.is_empty()
    }

    /// Puts the `idx`-th of those beside in the place of the one that is looked at.
    pub fn swap(&mut self, state: &mut State, idx: usize) {
        if idx >= self.others.len() {
            return;
        }
        let chosen = self.others.remove(idx);
        if let State::Open(before) = std::mem::replace(state, State::Open(Box::new(chosen))) {
            self.others.push(*before);
        }
        self.others.sort_by_key(|opened| opened.number);
    }
}

fn begin(platform: &mut dyn Platform, incoming: Incoming) -> State {
    match incoming {
        Incoming::Bytes(name, bytes) => State::Waiting { name, bytes, is_told: false },
        Incoming::Example(path) => State::Fetching { path },
        Incoming::Device { name, n_bytes, snapshot, device } => {
            let (tell, from) = channel();
            platform.aside(Box::new(move || {
                // Nobody waits any more if everything was closed meanwhile.
                let _gone = tell.send(Ok(analysed(snapshot, device))).is_err();
            }));
            State::Reading { name, n_bytes, from }
        }
    }
}

/// Examples that an address names, one or several, by their stems.
pub fn named(files: &Value) -> Vec<&'static str> {
    let names: Vec<&str> = match files {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    names.into_iter().filter_map(|name| examples().find(|path| stem(path) == name)).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_opens_and_the_others_stand_beside() {
        let mut shelf = Shelf::default();
        assert!(!shelf.arrives(true), "one file alone replaces what is open");
        shelf.expects(3);
        assert!(!shelf.arrives(false), "a file of another kind counts, and is none");
        assert!(!shelf.arrives(true));
        assert!(shelf.arrives(true));
        assert!(!shelf.arrives(true), "the next one comes alone again");
        shelf.adds = true;
        assert!(shelf.arrives(true) && !shelf.arrives(true));
    }
}
