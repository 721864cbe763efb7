//! Where every tensor lives, and who owns how many bytes when.
//!
//! A [`Tensor`] is a counted handle. The last one to go leaves its number in a bin, which the arena empties before it
//! hands out memory: live bytes are exact at every allocation, which is where peaks happen.

use crate::device::{Buf, Device, Phase, Trouble};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Whom a byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Parameters,
    Gradients,
    OptimizerState,
    /// What the forward pass makes, saved or not, and the data itself.
    Activations,
    /// Gradients of activations and whatever else the backward pass needs for a moment.
    Workspace,
}

impl Owner {
    pub const ALL: [Self; 5] =
        [Self::Parameters, Self::Gradients, Self::OptimizerState, Self::Activations, Self::Workspace];

    pub fn id(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Gradients => "gradients",
            Self::OptimizerState => "optimizer_state",
            Self::Activations => "activations",
            Self::Workspace => "workspace",
        }
    }
}

/// Bytes by owner, in the order of [`Owner::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    pub parameters: u64,
    pub gradients: u64,
    pub optimizer_state: u64,
    pub activations: u64,
    pub workspace: u64,
}

impl Bytes {
    pub fn of(&self, owner: Owner) -> u64 {
        match owner {
            Owner::Parameters => self.parameters,
            Owner::Gradients => self.gradients,
            Owner::OptimizerState => self.optimizer_state,
            Owner::Activations => self.activations,
            Owner::Workspace => self.workspace,
        }
    }

    fn of_mut(&mut self, owner: Owner) -> &mut u64 {
        match owner {
            Owner::Parameters => &mut self.parameters,
            Owner::Gradients => &mut self.gradients,
            Owner::OptimizerState => &mut self.optimizer_state,
            Owner::Activations => &mut self.activations,
            Owner::Workspace => &mut self.workspace,
        }
    }

    /// Nothing where the sum exceeds 64 bits, which only a damaged file can say.
    pub fn checked_total(&self) -> Option<u64> {
        Owner::ALL.iter().try_fold(0_u64, |sum, owner| sum.checked_add(self.of(*owner)))
    }

    pub fn total(&self) -> u64 {
        self.checked_total().unwrap_or(u64::MAX)
    }
}

/// Something that is live at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub label: String,
    pub owner: Owner,
    pub bytes: u64,
}

/// The moment at which most is live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    pub bytes: Bytes,
    pub phase: Phase,
    /// What was being allocated.
    pub label: String,
    /// The largest first.
    pub holders: Vec<Holder>,
}

struct Slot {
    buf: Buf,
    words: usize,
    owner: Owner,
    label: String,
}

type Bin = Rc<RefCell<Vec<u64>>>;

struct Token {
    id: u64,
    bin: Bin,
}

impl Drop for Token {
    fn drop(&mut self) {
        self.bin.borrow_mut().push(self.id);
    }
}

/// A counted handle of memory in the arena.
#[derive(Clone)]
pub struct Tensor {
    token: Rc<Token>,
    pub buf: Buf,
    pub words: usize,
}

impl Tensor {
    /// Also the name of the value that it holds.
    pub fn id(&self) -> u64 {
        self.token.id
    }

    /// Nobody else holds it, so it may be written over.
    pub fn is_alone(&self) -> bool {
        Rc::strong_count(&self.token) == 1
    }
}

pub struct Arena<'d> {
    pub device: &'d mut dyn Device,
    slots: BTreeMap<u64, Slot>,
    bin: Bin,
    next: u64,
    live: Bytes,
    peak: Peak,
    /// The peak's holders are not written down yet.
    is_rising: bool,
    /// The most of each phase.
    phases: BTreeMap<Phase, u64>,
    budget_bytes: Option<u64>,
    pub phase: Phase,
    /// Which layer is at work.
    pub place: String,
}

impl<'d> Arena<'d> {
    pub fn new(device: &'d mut dyn Device, budget_bytes: Option<u64>) -> Self {
        Self {
            device,
            slots: BTreeMap::new(),
            bin: Bin::default(),
            next: 0,
            live: Bytes::default(),
            peak: Peak::default(),
            is_rising: false,
            phases: BTreeMap::new(),
            budget_bytes,
            phase: Phase::Start,
            place: String::new(),
        }
    }

    /// Memory for `words` numbers.
    pub fn take(&mut self, words: usize, owner: Owner, what: &str) -> Result<Tensor, Trouble> {
        self.sweep()?;
        let asked_bytes = words as u64 * self.device.word();
        let live_bytes = self.live.total();
        let label = if self.place.is_empty() { what.to_owned() } else { format!("{} · {what}", self.place) };
        if let Some(budget_bytes) = self.budget_bytes.filter(|budget| live_bytes + asked_bytes > *budget) {
            return Err(Trouble::OverBudget { asked_bytes, live_bytes, budget_bytes, label, phase: self.phase });
        }
        let buf = self.device.malloc(words)?.ok_or(Trouble::Refused { asked_bytes, live_bytes })?;
        self.next += 1;
        let id = self.next;
        *self.live.of_mut(owner) += asked_bytes;
        self.slots.insert(id, Slot { buf, words, owner, label });
        self.note_peak(id);
        Ok(Tensor { token: Rc::new(Token { id, bin: Rc::clone(&self.bin) }), buf, words })
    }

    fn note_peak(&mut self, id: u64) {
        let total = self.live.total();
        let most = self.phases.entry(self.phase).or_default();
        *most = total.max(*most);
        if total > self.peak.bytes.total() {
            let label = self.slots.get(&id).map(|slot| slot.label.clone()).unwrap_or_default();
            self.peak = Peak { bytes: self.live, phase: self.phase, label, holders: Vec::new() };
            self.is_rising = true;
        }
    }

    /// Writes down who holds the peak: before the first byte of it goes.
    fn name_holders(&mut self) {
        if !std::mem::take(&mut self.is_rising) {
            return;
        }
        let word = self.device.word();
        let holder =
            |slot: &Slot| Holder { label: slot.label.clone(), owner: slot.owner, bytes: slot.words as u64 * word };
        self.peak.holders = self.slots.values().map(holder).collect();
        self.peak.holders.sort_by_key(|holder| std::cmp::Reverse(holder.bytes));
    }

    /// Gives back what nobody holds any more.
    pub fn sweep(&mut self) -> Result<(), Trouble> {
        let gone = std::mem::take(&mut *self.bin.borrow_mut());
        if !gone.is_empty() {
            self.name_holders();
        }
        for id in gone {
            if let Some(slot) = self.slots.remove(&id) {
                *self.live.of_mut(slot.owner) -= slot.words as u64 * self.device.word();
                self.device.free(slot.buf)?;
            }
        }
        Ok(())
    }

    pub fn live(&self) -> Bytes {
        self.live
    }

    pub fn peak(&mut self) -> &Peak {
        self.name_holders();
        &self.peak
    }

    /// The most of each phase.
    pub fn phases(&self) -> &BTreeMap<Phase, u64> {
        &self.phases
    }

    /// From now on a new peak is looked for.
    pub fn forget_peak(&mut self) {
        self.peak = Peak::default();
        self.is_rising = false;
        self.phases.clear();
    }
}

/// A step that broke off leaves tensors behind; the device gets their memory back all the same.
impl Drop for Arena<'_> {
    fn drop(&mut self) {
        for slot in std::mem::take(&mut self.slots).into_values() {
            let _ = self.device.free(slot.buf);
        }
    }
}
