//! One event of the trace: what was searched before it, what the pool holds after it. All of it is the allocator's.

use super::question::Question;
use vramlab_alloc::bfc::{N_BINS, bin_of};
use vramlab_alloc::replay::{Against, Block, Counters, Explanation, Part, Piece, Player, Refusal, Source};
use vramlab_alloc::trace::Event;

/// What a chunk in a bin is to this event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was chosen.
    Taken,
    /// Too small, or its bin is not searched.
    NotSearched,
    /// Large enough, but another was smaller, or lay lower.
    PassedOver,
    /// It came from the driver for this request.
    FromDriver,
    /// It has grown by this free.
    Merged,
    /// Nothing happens to it.
    AtRest,
}

/// A free chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub size: u64,
    pub address: u64,
    pub fate: Fate,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Served: the chunk that was cut or given whole, and the block.
    Served {
        asked: u64,
        rounded: u64,
        chunk: u64,
        block: Block,
        rest: u64,
        region: u64,
    },
    Refused {
        asked: u64,
        rounded: u64,
        refusal: Refusal,
    },
    /// The freed block, and the free chunk that it is part of now.
    Freed {
        size: u64,
        chunk: u64,
        joins: (bool, bool),
    },
    /// A free of what was never served, or an event that this allocator does not know.
    Nothing,
}

/// See the module's docs.
#[derive(Clone, Debug)]
pub struct Moment {
    pub name: String,
    pub deed: Deed,
    /// Free chunks of each bin at the time of the search; after a free, what is free then.
    pub bins: Vec<Vec<Cell>>,
    /// The bin of the request.
    pub bin: Option<u32>,
    /// The bin where the search ended.
    pub found_bin: Option<u32>,
    /// The pool after the event, by region.
    pub regions: Vec<Vec<Piece>>,
    /// The block that this event is about.
    pub focus: Option<u64>,
    pub after: Counters,
}

/// What the whole trace needs, so that stepping through it moves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// Sizes of the regions at its end; they are never given back.
    pub regions: Vec<u64>,
    /// Some request is refused for lack of memory.
    pub has_refusal: bool,
}

/// Plays the trace to its end.
pub fn ahead(question: &Question) -> Ahead {
    let kind = question.kind();
    let mut player = Player::new(&question.trace, &kind, question.capacity_bytes());
    let mut has_refusal = false;
    while let Some(step) = player.step() {
        has_refusal |= step.refusal.is_some_and(|refusal| refusal.is_oom);
    }
    let regions = by_region(&player.pieces());
    Ahead { regions: regions.iter().map(|region| bytes(region)).collect(), has_refusal }
}

/// Bytes of a region.
pub fn bytes(region: &[Piece]) -> u64 {
    region.iter().map(|piece| piece.size).sum()
}

fn by_region(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut regions: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        if regions.len() <= piece.segment as usize {
            regions.resize(piece.segment as usize + 1, Vec::new());
        }
        regions[piece.segment as usize].push(*piece);
    }
    regions
}

/// The event `n_done` of the question, counted from 1.
pub fn at(question: &Question, n_done: usize) -> Moment {
    let kind = question.kind();
    let mut player = Player::new(&question.trace, &kind, question.capacity_bytes());
    let mut blocks: Vec<Option<Block>> = vec![None; question.trace.n_requests()];
    for _ in 1..n_done {
        let Some(step) = player.step() else { break };
        match step.event {
            Event::Malloc { id, .. } => blocks[id as usize] = step.block,
            Event::Free { id, .. } => blocks[id as usize] = None,
            _ => {}
        }
    }
    let before = (player.explain_next(), player.counters(), player.pieces());
    let Some(step) = player.step() else { return still(&player) };
    let pieces = player.pieces();
    let mut moment = still(&player);
    match step.event {
        Event::Malloc { id, bytes, .. } => {
            moment.name = question.trace.name(id).to_owned();
            let region = step.after.reserved_bytes.saturating_sub(before.1.reserved_bytes);
            served(&mut moment, bytes, before.0.as_ref(), step.block, region);
            if let Some(refusal) = step.refusal {
                let rounded = before.0.as_ref().map_or(0, |it| it.rounded_bytes);
                moment.deed = Deed::Refused { asked: bytes, rounded, refusal };
            }
        }
        Event::Free { id, .. } => {
            moment.name = question.trace.name(id).to_owned();
            freed(&mut moment, blocks[id as usize], &before.2, &pieces);
        }
        _ => {}
    }
    moment
}

/// The pool as it is, with nothing happening to it.
fn still(player: &Player<'_>) -> Moment {
    let pieces = player.pieces();
    let free = pieces.iter().filter(|piece| piece.part == Part::Free);
    let cells = free.map(|piece| Cell { size: piece.size, address: piece.address, fate: Fate::AtRest });
    Moment {
        name: String::new(),
        deed: Deed::Nothing,
        bins: by_bin(cells),
        bin: None,
        found_bin: None,
        regions: by_region(&pieces),
        focus: None,
        after: player.counters(),
    }
}

/// Each bin's chunks as the allocator orders them: by size, then by address.
fn by_bin(cells: impl Iterator<Item = Cell>) -> Vec<Vec<Cell>> {
    let mut bins: Vec<Vec<Cell>> = vec![Vec::new(); N_BINS as usize];
    for cell in cells {
        bins[bin_of(cell.size) as usize].push(cell);
    }
    for bin in &mut bins {
        bin.sort_by_key(|cell| (cell.size, cell.address));
    }
    bins
}

/// The search of a request, and what it got.
fn served(moment: &mut Moment, asked: u64, why: Option<&Explanation>, block: Option<Block>, region: u64) {
    let Some(why) = why else { return };
    let fate = |against: Option<Against>| match against {
        None => Fate::Taken,
        Some(Against::TooSmall | Against::LowerBin(_)) => Fate::NotSearched,
        Some(_) => Fate::PassedOver,
    };
    let free = why.candidates.iter();
    let mut cells: Vec<Cell> =
        free.map(|it| Cell { size: it.size, address: it.address, fate: fate(it.against) }).collect();
    let chosen = why.chosen().copied();
    moment.bin = Some(bin_of(why.rounded_bytes));
    moment.found_bin = chosen.map(|chosen| bin_of(chosen.size));
    if let Some(block) = block {
        let is_new = block.source != Source::Cached;
        if is_new {
            cells.push(Cell { size: region, address: block.address, fate: Fate::FromDriver });
        }
        let chunk = if is_new { region } else { chosen.map_or(block.size, |chosen| chosen.size) };
        let (rounded, rest) = (why.rounded_bytes, chunk.saturating_sub(block.size));
        moment.deed = Deed::Served { asked, rounded, chunk, block, rest, region };
        moment.focus = Some(block.address);
    }
    moment.bins = by_bin(cells.into_iter());
}

/// A free: the chunk that the block is part of now, and on which sides it found free neighbours.
fn freed(moment: &mut Moment, block: Option<Block>, before: &[Piece], after: &[Piece]) {
    let Some(block) = block else { return };
    let holds = |piece: &&Piece| (piece.address..piece.address + piece.size).contains(&block.address);
    let Some(chunk) = after.iter().find(holds) else { return };
    let is_free = |address: u64, at_end: bool| {
        before.iter().any(|piece| {
            let edge = if at_end { piece.address + piece.size } else { piece.address };
            piece.part == Part::Free && edge == address
        })
    };
    let end = block.address + block.size;
    let joins = (
        chunk.address < block.address && is_free(block.address, true),
        chunk.address + chunk.size > end && is_free(end, false),
    );
    for cell in moment.bins.iter_mut().flatten().filter(|cell| cell.address == chunk.address) {
        cell.fate = Fate::Merged;
    }
    moment.found_bin = Some(bin_of(chunk.size));
    moment.focus = Some(chunk.address);
    moment.deed = Deed::Freed { size: block.size, chunk: chunk.size, joins };
}

#[cfg(test)]
mod tests {
    use super::super::question::Preset;
    use super::*;
    use vramlab_alloc::MIB;

    fn moment(preset: Preset, event: usize) -> Moment {
        at(&Question::of_preset(preset).0, event)
    }

    /// Brief 24: 1 MiB gets 2 MiB − 768 B, because less than twice the request is not split.
    #[test]
    fn a_chunk_below_twice_the_request_is_given_whole() {
        let moment = moment(Preset::Growth, 2);
        assert_eq!((moment.bin, moment.found_bin), (Some(12), Some(12)));
        let Deed::Served { chunk, block, rest, region, .. } = moment.deed else { panic!("{:?}", moment.deed) };
        assert_eq!((chunk, block.size, rest, region), (2_096_384, 2_096_384, 0, 0));
    }

    /// The regions of the vector: 2, 4, 16 and 32 MiB; the request for 10 MiB takes all of 16, below twice its size.
    #[test]
    fn a_new_region_stands_in_its_bin() {
        let moment = moment(Preset::Growth, 4);
        assert_eq!((moment.bin, moment.found_bin), (Some(15), None));
        let Deed::Served { block, region, .. } = &moment.deed else { panic!("{:?}", moment.deed) };
        assert_eq!((block.size, *region), (16 * MIB, 16 * MIB));
        assert_eq!(moment.bins[16].last().map(|cell| cell.fate), Some(Fate::FromDriver));
        let ahead = ahead(&Question::of_preset(Preset::Growth).0);
        assert_eq!(ahead, Ahead { regions: [2, 4, 16, 32].map(|mib| mib * MIB).to_vec(), has_refusal: false });
    }

    /// Brief 24: holes of 6 and 8 MiB, 10 MiB do not fit; freeing the block between them makes one hole of 20 MiB.
    #[test]
    fn holes_are_refused_and_then_joined() {
        let refused = moment(Preset::Holes, 6);
        let Deed::Refused { refusal, .. } = &refused.deed else { panic!("{:?}", refused.deed) };
        assert_eq!(refusal.message, "requested 10485760, in use 6291456, pool 20971520, limit 20971520");
        assert_eq!((refused.bins[14].len(), refused.bins[15].len()), (1, 1));
        let joined = moment(Preset::Holes, 7);
        assert_eq!(joined.deed, Deed::Freed { size: 6 * MIB, chunk: 20 * MIB, joins: (true, true) });
        assert_eq!(joined.found_bin, Some(16));
        let Deed::Served { block, rest, .. } = moment(Preset::Holes, 8).deed else { panic!() };
        assert_eq!((block.size, rest), (10 * MIB, 10 * MIB));
    }
}
