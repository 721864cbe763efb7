//! One moment of a replay, for drawing: the address space in strips, whose block each piece is, what the last event
//! changed, and for a request that failed what it wanted beside the most room there was.

use super::{Counters, Explanation, Kind, Part, Piece, Player, Step};
use crate::trace::{Event, Trace};
use std::collections::BTreeMap;

/// A piece of a strip, and the request that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub piece: Piece,
    /// The request and its stream; nothing for holes.
    pub holder: Option<(u32, u32)>,
}

impl Cell {
    /// Bytes of the block beyond what was asked for: rounding, and rests too small to be split off.
    pub fn slack_bytes(&self) -> u64 {
        match self.piece.part {
            Part::Used | Part::Pending => self.piece.size.saturating_sub(self.piece.requested),
            Part::Free | Part::Unmapped => 0,
        }
    }
}

/// A segment, region or range, without the address space at its end that has no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    pub address: u64,
    pub size: u64,
    pub cells: Vec<Cell>,
}

impl Strip {
    /// Nothing in it is in use: it could go back to the card as a whole.
    pub fn is_free(&self) -> bool {
        self.cells.iter().all(|cell| matches!(cell.piece.part, Part::Free | Part::Unmapped))
    }
}

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// What was searched for among the holes.
    pub wanted_bytes: u64,
    /// What the card was asked for.
    pub device_bytes: u64,
    /// The hole that came nearest, by address and size; nothing if there is none, or if the card came nearer.
    pub hole: Option<(u64, u64)>,
}

/// The moment after `done` events.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub done: usize,
    /// The last event; nothing at the start.
    pub step: Option<Step>,
    /// How it was served, if it was a request.
    pub explanation: Option<Explanation>,
    pub strips: Vec<Strip>,
    pub before: Counters,
    pub after: Counters,
    /// What the allocator may still take from the card.
    pub card_bytes: u64,
    /// What the last event gave back to the card.
    pub returned_bytes: u64,
    /// Addresses and bytes that the last event took or freed.
    pub changed: Option<(u64, u64)>,
    pub miss: Option<Miss>,
}

/// The moment after `done` events, or after the last one.
pub fn frame(trace: &Trace, kind: &Kind, capacity_bytes: u64, done: usize) -> Frame {
    let mut player = Player::new(trace, kind, capacity_bytes);
    let mut blocks = vec![None; trace.n_requests()];
    let mut holders = BTreeMap::new();
    let (mut last, mut explanation, mut before) = (None, None, Counters::default());
    let done = done.min(trace.events().len());
    for idx in 0..done {
        explanation = if idx + 1 == done { player.explain_next() } else { None };
        before = player.counters();
        last = player.step();
        if let Some(Step { event: Event::Malloc { id, stream, .. }, block: Some(block), .. }) = &last {
            blocks[*id as usize] = Some((block.address, block.size));
            holders.insert(block.address, (*id, *stream));
        }
    }
    let after = player.counters();
    let changed = last.as_ref().and_then(|step| match step.event {
        Event::Malloc { .. } => step.block.map(|block| (block.address, block.size)),
        Event::Free { id, .. } | Event::Use { id, .. } => blocks[id as usize],
        _ => None,
    });
    let strips = strips(player.pieces(), &holders);
    let card_bytes = limit_bytes(kind, capacity_bytes).saturating_sub(after.reserved_bytes);
    let is_oom = last.as_ref().and_then(|step| step.refusal.as_ref()).is_some_and(|refusal| refusal.is_oom);
    let miss = explanation.as_ref().filter(|_| is_oom).map(|it| miss(it, &strips, card_bytes));
    let returned_bytes = before.reserved_bytes.saturating_sub(after.reserved_bytes);
    Frame { done, step: last, explanation, strips, before, after, card_bytes, returned_bytes, changed, miss }
}

/// The most that the allocator ever takes from the card.
pub fn limit_bytes(kind: &Kind, capacity_bytes: u64) -> u64 {
    let limit = match kind {
        Kind::Caching(config) => config.fraction.map(|share| crate::jax::share_of(capacity_bytes, share)),
        Kind::Bfc(options) => Some(options.limit_bytes),
        Kind::Jax(policy) => policy.options(capacity_bytes).map(|options| options.limit_bytes),
        Kind::StreamPool { .. } | Kind::Plain => None,
    };
    limit.map_or(capacity_bytes, |limit| limit.min(capacity_bytes))
}

/// The most bytes that the strips of any moment have together, and the most strips.
pub fn extent(trace: &Trace, kind: &Kind, capacity_bytes: u64) -> (u64, usize) {
    let mut player = Player::new(trace, kind, capacity_bytes);
    let (mut bytes, mut n_strips) = (0, 0);
    while player.step().is_some() {
        let strips = strips(player.pieces(), &BTreeMap::new());
        bytes = bytes.max(strips.iter().map(|strip| strip.size).sum());
        n_strips = n_strips.max(strips.len());
    }
    (bytes, n_strips)
}

fn strips(pieces: Vec<Piece>, holders: &BTreeMap<u64, (u32, u32)>) -> Vec<Strip> {
    let mut out: Vec<Strip> = Vec::new();
    let mut segment = None;
    for piece in pieces {
        if segment != Some(piece.segment) {
            segment = Some(piece.segment);
            out.push(Strip { address: piece.address, ..Strip::default() });
        }
        let is_held = matches!(piece.part, Part::Used | Part::Pending);
        let holder = if is_held { holders.get(&piece.address).copied() } else { None };
        if let Some(strip) = out.last_mut() {
            strip.cells.push(Cell { piece, holder });
        }
    }
    for strip in &mut out {
        while strip.cells.last().is_some_and(|cell| cell.piece.part == Part::Unmapped) {
            strip.cells.pop();
        }
        strip.size = strip.cells.iter().map(|cell| cell.piece.size).sum();
    }
    out.retain(|strip| strip.size > 0);
    out
}

fn miss(explanation: &Explanation, strips: &[Strip], card_bytes: u64) -> Miss {
    let (wanted_bytes, device_bytes) = (explanation.rounded_bytes, explanation.device_bytes);
    let pieces = strips.iter().flat_map(|strip| &strip.cells).map(|cell| cell.piece);
    let holes = pieces.filter(|piece| piece.part == Part::Free);
    let largest = holes.max_by_key(|piece| (piece.size, std::cmp::Reverse(piece.address)));
    let card_lacks = device_bytes.saturating_sub(card_bytes);
    let hole = largest.filter(|piece| wanted_bytes.saturating_sub(piece.size) <= card_lacks || card_bytes == 0);
    Miss { wanted_bytes, device_bytes, hole: hole.map(|piece| (piece.address, piece.size)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MIB;
    use crate::caching::Config;
    use crate::replay::Source;

    fn native() -> Kind {
        Kind::Caching(Config::default())
    }

    fn at(kind: &Kind, capacity_mib: u64, text: &str, done: usize) -> Frame {
        frame(&Trace::parse(text).unwrap(), kind, capacity_mib * MIB, done)
    }

    /// Brief 11, vector 5: 24 MiB do not fit although 27 MiB were freed, and the flush gives 20 MiB back in vain.
    #[test]
    fn a_miss_is_held_against_the_most_room() {
        let text = "a:9M b:9M c:9M d:9M e:9M f:9M -a -b -c g:24M";
        let frame = at(&native(), 60, text, 10);
        let miss = frame.miss.unwrap();
        assert_eq!((miss.wanted_bytes, miss.device_bytes, miss.hole), (24 * MIB, 24 * MIB, None));
        assert_eq!((frame.card_bytes, frame.returned_bytes), (20 * MIB, 20 * MIB));
        assert_eq!(frame.strips.iter().map(|strip| strip.size / MIB).collect::<Vec<_>>(), [20, 20]);
        let alternating = "a:9M b:9M c:9M d:9M e:9M f:9M -a -c -e g:20M";
        let miss = at(&native(), 60, alternating, 10).miss.unwrap();
        assert_eq!(miss.hole.unwrap().1, 9 * MIB, "the card has nothing left");
    }

    #[test]
    fn pieces_know_their_holder_and_events_what_they_changed() {
        let frame = at(&native(), 100, "a:9M b:9M@1 -a", 3);
        assert_eq!(frame.strips.len(), 2, "a segment belongs to one stream");
        let held: Vec<_> = frame.strips.iter().flat_map(|strip| &strip.cells).filter_map(|cell| cell.holder).collect();
        assert_eq!(held, [(1, 1)]);
        assert_eq!(frame.changed.unwrap().1, 9 * MIB);
        assert!(frame.strips[0].is_free() && !frame.strips[1].is_free());
        assert_eq!(at(&native(), 100, "a:9M", 0).strips, []);
        let served = at(&native(), 100, "a:9M b:9M", 2).step.unwrap().block.unwrap();
        assert_eq!(served.source, Source::Cached);
    }

    /// 11 MiB + 1 B get 12 MiB: the rest of 1,048,064 bytes is not split off (brief 11, vector 3), and 511 are rounding.
    #[test]
    fn slack_is_what_a_block_has_beyond_its_request() {
        let frame = at(&native(), 100, "a:11534337", 1);
        assert_eq!(frame.strips[0].cells[0].slack_bytes(), 12_582_912 - 11_534_337);
    }

    #[test]
    fn a_range_is_drawn_up_to_its_last_page() {
        let expandable = Kind::Caching(Config::parse("expandable_segments:True").unwrap());
        // Brief 11, vector 10: 50 and 5 MiB, the first freed and unmapped: pages 0 and 1 go, 20 MiB stay.
        let text = "a:50M b:5M -a empty c:30M";
        let frame = at(&expandable, 1000, text, 4);
        assert_eq!((frame.strips.len(), frame.strips[0].size), (1, 60 * MIB));
        assert_eq!(frame.strips[0].cells[0].piece.part, Part::Unmapped);
        assert_eq!(extent(&Trace::parse(text).unwrap(), &expandable, 1000 * MIB), (60 * MIB, 1));
    }

    #[test]
    fn limits_are_those_of_the_settings() {
        let half = Kind::Caching(Config::parse("per_process_memory_fraction:0.5").unwrap());
        assert_eq!(limit_bytes(&half, 100 * MIB), 50 * MIB);
        assert_eq!(limit_bytes(&Kind::Plain, 100 * MIB), 100 * MIB);
        assert_eq!(limit_bytes(&Kind::Bfc(crate::bfc::Options::growing(20 * MIB)), 100 * MIB), 20 * MIB);
    }
}
