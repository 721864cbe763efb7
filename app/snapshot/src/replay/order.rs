//! What the order of events tells of how they came about.

use super::recorded::Recorded;
use crate::model::{Action, Event};

/// A free that no other stream holds up: it is complete at once. Where the cache was flushed next, the allocator may have
/// waited for it, and the request decides.
pub(super) fn is_plain(events: &[Event], idx: usize) -> bool {
    let (address, rest) = (events[idx].address, &events[idx + 1..]);
    let is_at_once = rest.first().is_some_and(|next| next.action == Action::FreeCompleted && next.address == address);
    let after = rest.iter().find(|event| event.action != Action::FreeCompleted);
    is_at_once && !after.is_some_and(|event| Recorded::returns(event) || event.action == Action::Oom)
}

/// The last of a run of returned segments belongs to `empty_cache` if no request for memory follows, or one with another
/// stack. Without stacks only the first is known.
pub(crate) fn is_explicit(events: &[Event], idx: usize) -> bool {
    let returns = |event: &Event| matches!(event.action, Action::SegmentFree | Action::SegmentUnmap);
    let goes_on = |event: &&Event| returns(event) || event.action == Action::FreeCompleted;
    let Some(next) = events[idx + 1..].iter().find(|event| event.action != Action::FreeCompleted) else { return true };
    if returns(next) {
        // Another stack is another call.
        return next.stack != events[idx].stack;
    }
    let gives = matches!(next.action, Action::SegmentAlloc | Action::SegmentMap | Action::Oom);
    let request = events[idx + 1..].iter().find(|event| !goes_on(event));
    !gives || request.is_none_or(|request| request.stack != events[idx].stack)
}
