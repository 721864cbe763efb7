//! Who waits, in the order in which they are admitted.

use super::Policy;
use crate::Request;
use std::collections::{BTreeSet, VecDeque};

/// Under FCFS a deque whose front takes the preempted; under priorities a set ordered by (priority, place by arrival).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Waiting {
    Fcfs(VecDeque<u32>),
    Priority(BTreeSet<(i32, u32, u32)>),
}

/// Where each request stands in the order of arrival.
pub(crate) fn places(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, request) in order.iter().enumerate() {
        places[*request as usize] = place as u32;
    }
    places
}

impl Waiting {
    pub fn new(policy: Policy) -> Self {
        match policy {
            Policy::Fcfs => Self::Fcfs(VecDeque::new()),
            Policy::Priority => Self::Priority(BTreeSet::new()),
        }
    }

    pub fn push_back(&mut self, request: u32, key: (i32, u32)) {
        match self {
            Self::Fcfs(deque) => deque.push_back(request),
            Self::Priority(set) => drop(set.insert((key.0, key.1, request))),
        }
    }

    pub fn push_front(&mut self, request: u32, key: (i32, u32)) {
        match self {
            Self::Fcfs(deque) => deque.push_front(request),
            Self::Priority(set) => drop(set.insert((key.0, key.1, request))),
        }
    }

    pub fn front(&self) -> Option<u32> {
        match self {
            Self::Fcfs(deque) => deque.front().copied(),
            Self::Priority(set) => set.first().map(|(_, _, request)| *request),
        }
    }

    /// Takes out the first, or the last, or wherever a priority put it.
    pub fn take(&mut self, request: u32, key: (i32, u32), is_front: bool) {
        match self {
            Self::Fcfs(deque) => drop(if is_front { deque.pop_front() } else { deque.pop_back() }),
            Self::Priority(set) => drop(set.remove(&(key.0, key.1, request))),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Fcfs(deque) => deque.len(),
            Self::Priority(set) => set.len(),
        }
    }

    pub fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Self::Fcfs(deque) => Box::new(deque.iter().copied()),
            Self::Priority(set) => Box::new(set.iter().map(|(_, _, request)| *request)),
        }
    }
}

/// What a request is ordered by under priorities.
pub(crate) fn key(requests: &[Request], places: &[u32], request: u32) -> (i32, u32) {
    (requests[request as usize].priority, places[request as usize])
}
