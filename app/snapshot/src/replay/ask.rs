//! Requests where the record leaves open how they were served: each way is tried on a copy, and the one that fits what was
//! recorded counts.

use super::Run;
use super::recorded::Recorded;
use crate::model::Event;
use vramlab_alloc::caching::{BlockId, Caching, Error, Served, State};
use vramlab_units::Text;

const FITS: Text = Text::new("预测放得下，录下的是 OOM", "the request fits; recorded is an OOM");

/// How the completions before a request came about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// The request found them, then nothing that fits.
    Found,
    /// The allocator waited for them to flush its cache.
    WaitedFor,
    /// The program had emptied the cache.
    Emptied,
    /// A graph is being captured: nothing is waited for, and the cache is not flushed.
    Captured,
}

const ALL: [How; 4] = [How::Found, How::WaitedFor, How::Emptied, How::Captured];
/// No stream has this number.
const NO_STREAM: u32 = u32::MAX;

/// What the allocator did with a request, tried on a copy.
type Tried = Result<Option<Served>, Error>;

impl Run<'_> {
    /// Serves a request. Where something went back before it, a completion may have been found by the request, or by the
    /// allocator as it waited before it flushed its cache; and the program itself may have emptied it. What fits counts.
    pub(super) fn ask(&mut self, pool: u32, event: &Event, expected: Option<u64>) -> Tried {
        let late = std::mem::take(&mut self.late);
        if !self.machine.device.has_returns() {
            Self::settle(&mut self.machine, &late[0]);
            Self::settle(&mut self.machine, &late[1]);
            return self.machine.malloc_in(pool, event.size, event.stream);
        }
        let mut first = None;
        for how in ALL {
            let (mut machine, served, fits) = self.tried(how, &late, pool, event, expected);
            if fits {
                self.n_ambiguous += u64::from(self.is_ambiguous(how, &machine, &late, pool, event, expected));
                Self::settle(&mut machine, &late[1]);
                self.machine = machine;
                return served;
            }
            first = first.or(Some((machine, served)));
        }
        let Some((machine, served)) = first else { return Ok(None) };
        self.machine = machine;
        Self::settle(&mut self.machine, &late[1]);
        served
    }

    /// One way on a copy, and whether it is what was recorded.
    fn tried(
        &self,
        how: How,
        late: &[Vec<BlockId>; 2],
        pool: u32,
        event: &Event,
        expected: Option<u64>,
    ) -> (Caching<Recorded>, Tried, bool) {
        let mut machine = self.machine.clone();
        match how {
            How::Found => Self::settle(&mut machine, &late[0]),
            How::WaitedFor => machine.device.waited = late.concat(),
            How::Emptied => {
                machine.device.waited = late.concat();
                machine.empty_cache();
            }
            How::Captured => {
                Self::settle(&mut machine, &late[0]);
                machine.settle();
                machine.begin_capture(NO_STREAM, pool);
            }
        }
        let served = machine.malloc_in(pool, event.size, event.stream);
        machine.end_capture(NO_STREAM);
        let address = served.as_ref().ok().and_then(|served| served.map(|served| served.address));
        let is_right = machine.device.n_wrong == self.machine.device.n_wrong && machine.device.queue.is_empty();
        (machine, served, is_right && address == expected)
    }

    /// With a split limit, a completion that was found lets one block go back, one that was waited for is part of a flush:
    /// the record is the same, the count of retries is not.
    fn is_ambiguous(
        &self,
        how: How,
        machine: &Caching<Recorded>,
        late: &[Vec<BlockId>; 2],
        pool: u32,
        event: &Event,
        expected: Option<u64>,
    ) -> bool {
        if how != How::Found || late[0].is_empty() || machine.config().max_split_bytes.is_none() {
            return false;
        }
        let (other, _, fits) = self.tried(How::WaitedFor, late, pool, event, expected);
        fits && other.stats().n_retries != machine.stats().n_retries
    }

    /// A refusal carries no address, and in older files no pool. One before which nothing was returned, although there was something,
    /// is of a capture; so is one that the default pool could have served.
    pub(super) fn oom(&mut self, event: &Event, idx: usize) {
        self.machine.device.refuses = true;
        let device = &self.machine.device;
        let is_bare = device.queue.is_empty();
        let pool = self.homes.of_refusal(idx);
        let (_, served, _) = self.tried(How::WaitedFor, &self.late, pool, event, None);
        // A flush waits for every pending block.
        let is_pending = |id: &BlockId| self.machine.view(*id).state == State::Pending;
        let mut calm = self.machine.clone();
        self.late.iter().for_each(|late| Self::settle(&mut calm, late));
        calm.settle();
        let is_captured = is_bare && (calm.has_releasable() || served.is_ok() || self.blocks.values().any(is_pending));
        if is_captured {
            let late = std::mem::take(&mut self.late);
            late.iter().for_each(|late| Self::settle(&mut self.machine, late));
            self.machine.count_refusal();
            let has_graphs = self.homes.pools.len() > 1 || self.labels.n_unnamed > 0 || self.homes.n_groups > 0;
            if served.is_ok() && !has_graphs {
                self.machine.device.mismatch(idx, || FITS.into());
            }
        } else if self.ask(pool, event, None).is_ok() {
            self.machine.device.mismatch(idx, || FITS.into());
        }
        self.machine.device.refuses = false;
        self.expect_empty();
    }
}
