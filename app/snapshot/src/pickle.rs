//! Python's pickles, protocols 0 to 5, over plain types: dict, list, tuple, set, str, bytes, int, float, bool, None.
//!
//! A pickle is a program for a stack machine. This machine has no opcode that looks anything up or calls anything: a
//! reference to a class is an error with its name and place. It needs no recursion, and nothing larger than the file is
//! ever reserved because the file says so.

mod items;
mod values;

use crate::compact::Compactor;
use crate::model::TextId;
use values::lossy;

/// What stands on the stack. Containers are slots of the heap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits, or bytes: kept as being there.
    Opaque,
    Float(f64),
    Text(TextId),
    Slot(u32),
    /// A finished event, kept in place of its dictionary.
    Event(u32),
    Frame(u32),
    /// A slot as the memo keeps it: slots are used again, and then what was remembered is void.
    Remembered {
        slot: u32,
        generation: u32,
    },
    /// A place of the memo that was never set.
    Unset,
}

/// A container, or what became of it.
#[derive(Clone, Debug)]
pub enum Slot {
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Frame(u32),
    Stack(crate::model::StackId),
    /// An event that is no item of a list yet.
    Event(u32),
    /// A list of events in a row.
    Run {
        from: u32,
        n: u32,
    },
    /// Turned into an event; the slot will be used again.
    Vacant,
}

/// Why a pickle was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PickleError {
    #[error("the file ends at byte {offset}, in the middle of {what}")]
    Truncated { offset: usize, what: &'static str },
    #[error(
        "byte {offset}: the pickle refers to the class {name}; a snapshot holds plain data, and classes are never loaded"
    )]
    Class { offset: usize, name: String },
    #[error("byte {offset}: opcode 0x{code:02x} is not one of plain data")]
    Opcode { offset: usize, code: u8 },
    #[error("byte {offset}: {what}")]
    Damaged { offset: usize, what: &'static str },
    #[error("byte {offset}: pickle protocol {version}; 0 to 5 are read")]
    Protocol { offset: usize, version: u8 },
    #[error("reading was cancelled at byte {offset}")]
    Cancelled { offset: usize },
    #[error("reading needs about {needs} bytes of memory; {limit} are allowed")]
    TooLarge { needs: u64, limit: u64 },
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub n_bytes: usize,
}

/// Asked every so many opcodes, whether to go on.
pub type Watch<'w> = &'w mut dyn FnMut(Progress) -> bool;
const OPCODES_A_LOOK: usize = 1 << 16;

/// The stack machine.
pub struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the opcode at hand began.
    op_at: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: Vec<Value>,
    generations: Vec<u32>,
    pub heap: Compactor,
}

/// Python opens at most a thousand items at once for each level of nesting.
const MOST_STACKED: usize = 4 << 20;
/// A container costs its opcode, its place in the memo and what it is put into.
const BYTES_A_SLOT: usize = 3;
const BYTES_A_MEMO: usize = 2;
const FEW: usize = 4096;

type Step<T> = Result<T, PickleError>;

impl<'a> Machine<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            op_at: 0,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            generations: Vec::new(),
            heap: Compactor::default(),
        }
    }

    /// Runs to STOP; the result is what stands on the stack. `limit` bounds the memory that is taken, bytes.
    pub fn run(&mut self, limit: usize, watch: Watch<'_>) -> Step<Value> {
        loop {
            for _ in 0..OPCODES_A_LOOK {
                self.op_at = self.at;
                let code = self.byte("an opcode")?;
                if code == b'.' {
                    return self.pop();
                }
                self.step(code)?;
            }
            let held = self.held();
            if held > limit as u64 {
                let needs = held.saturating_mul(self.bytes.len() as u64) / (self.at as u64).max(1);
                return Err(PickleError::TooLarge { needs: needs.max(held), limit: limit as u64 });
            }
            self.foresee(limit);
            if !watch(Progress { done: self.at, n_bytes: self.bytes.len() }) {
                return Err(PickleError::Cancelled { offset: self.at });
            }
        }
    }

    /// Makes room for as many as there will be if the file goes on as it began: tables that double are copied, and half
    /// empty at the end.
    fn foresee(&mut self, limit: usize) {
        let share = self.bytes.len() as f64 / self.at.max(1) as f64;
        let more = |len: usize, capacity: usize, size: usize| {
            let wanted = (len as f64 * share * 1.02) as usize + OPCODES_A_LOOK / 8;
            let is_due =
                capacity - len < OPCODES_A_LOOK / 8 && wanted > capacity && wanted.saturating_mul(size) < limit;
            is_due.then_some(wanted - len)
        };
        if let Some(n) = more(self.memo.len(), self.memo.capacity(), size_of::<Value>()) {
            self.memo.reserve_exact(n);
        }
        let slots = &mut self.heap.slots;
        if let Some(n) = more(slots.len(), slots.capacity(), size_of::<Slot>()) {
            slots.reserve_exact(n);
            self.generations.reserve_exact(n);
        }
        let events = &mut self.heap.events;
        if let Some(n) = more(events.len(), events.capacity(), size_of::<crate::Event>()).filter(|_| !events.is_empty())
        {
            events.reserve_exact(n);
        }
    }

    /// Memory taken, about, bytes.
    fn held(&self) -> u64 {
        let own = self.stack.capacity() * size_of::<Value>()
            + self.marks.capacity() * size_of::<usize>()
            + self.memo.len() * size_of::<Value>()
            + self.generations.len() * size_of::<u32>();
        own as u64 + self.heap.held()
    }

    #[inline]
    fn step(&mut self, code: u8) -> Step<()> {
        match code {
            b'h' => self.get_memos(|m| m.byte("a memo index").map(usize::from), b'h'),
            b'j' => self.get_memos(|m| m.u32("a memo index").map(|idx| idx as usize), b'j'),
            0x94 => {
                let top = self.top()?;
                self.memo_put(self.memo.len(), top)
            }
            b'K' => self.int(|m| m.byte("an integer").map(i64::from)),
            b'M' => self.int(|m| m.array::<2>("an integer").map(|b| i64::from(u16::from_le_bytes(b)))),
            b'J' => self.int(|m| m.array::<4>("an integer").map(|b| i64::from(i32::from_le_bytes(b)))),
            0x8a => {
                let n = self.byte("a long integer")? as usize;
                self.long(n)
            }
            0x8b => {
                let n = self.u32("a long integer")? as usize;
                self.long(n)
            }
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'}' => {
                let pairs = self.heap.pairs();
                self.push_slot(Slot::Dict(pairs))
            }
            b']' => {
                let list = self.heap.list();
                self.push_slot(Slot::List(list))
            }
            b')' => self.push_slot(Slot::Tuple(Vec::new())),
            0x8f => self.push_slot(Slot::List(Vec::new())),
            b'u' => self.set_items(),
            b'e' | 0x90 => self.append_items(),
            b's' => self.set_item(),
            b'a' => self.append_item(),
            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Bool(true)),
            0x89 => self.push(Value::Bool(false)),
            b'G' => {
                let bits = self.array::<8>("a float")?;
                self.push(Value::Float(f64::from_be_bytes(bits)))
            }
            0x8c => {
                let n = self.byte("a text")? as usize;
                self.text(n)
            }
            b'X' => {
                let n = self.u32("a text")? as usize;
                self.text(n)
            }
            0x8d => {
                let n = self.length("a text")?;
                self.text(n)
            }
            0x85..=0x87 => self.tuple_of(usize::from(code - 0x84)),
            0x80 => self.protocol(),
            0x95 => self.array::<8>("a frame").map(|_| ()),
            _ => self.step_rare(code),
        }
    }

    /// Opcodes of older protocols, and those that are refused.
    fn step_rare(&mut self, code: u8) -> Step<()> {
        match code {
            b't' => {
                let items = self.since_mark()?;
                self.push_slot(Slot::Tuple(items))
            }
            b'l' | 0x91 => {
                let items = self.since_mark()?;
                let items = items.into_iter().map(|item| self.compact(item)).collect();
                self.push_slot(Slot::List(items))
            }
            b'd' => {
                let items = self.since_mark()?;
                let pairs = self.pairs(&items)?;
                self.push_slot(Slot::Dict(pairs))
            }
            b'0' => self.pop().map(|_| ()),
            b'1' => self.since_mark().map(|_| ()),
            b'2' => {
                let top = self.top()?;
                self.push(top)
            }
            b'I' | b'L' => self.decimal(),
            b'F' => self.decimal_float(),
            b'S' | b'V' => self.line_text(code),
            b'U' | b'C' => {
                let n = self.byte("a text")? as usize;
                self.raw(n, code == b'U')
            }
            b'T' | b'B' => {
                let n = self.u32("a text")? as usize;
                self.raw(n, code == b'T')
            }
            0x8e | 0x96 => {
                let n = self.length("bytes")?;
                self.raw(n, false)
            }
            b'g' => self.get_memo(Self::memo_line),
            b'p' => {
                let idx = self.memo_line()?;
                let top = self.top()?;
                self.memo_put(idx, top)
            }
            b'q' => {
                let idx = self.byte("a memo index")? as usize;
                let top = self.top()?;
                self.memo_put(idx, top)
            }
            b'r' => {
                let idx = self.u32("a memo index")? as usize;
                let top = self.top()?;
                self.memo_put(idx, top)
            }
            b'c' | b'i' => {
                let module = self.line("a class")?;
                let name = self.line("a class")?;
                Err(PickleError::Class { offset: self.op_at, name: format!("{}.{}", lossy(module), lossy(name)) })
            }
            0x93 => Err(PickleError::Class { offset: self.op_at, name: self.class_on_stack() }),
            _ => Err(PickleError::Opcode { offset: self.op_at, code }),
        }
    }

    fn class_on_stack(&self) -> String {
        let names = self.stack.iter().rev().take(2).rev().map(|value| match value {
            Value::Text(text) => self.heap.texts[text.0 as usize].clone(),
            _ => "?".to_owned(),
        });
        names.collect::<Vec<_>>().join(".")
    }

    fn protocol(&mut self) -> Step<()> {
        match self.byte("the protocol")? {
            0..=5 => Ok(()),
            version => Err(PickleError::Protocol { offset: self.op_at, version }),
        }
    }

    // Bytes.

    #[inline]
    fn byte(&mut self, what: &'static str) -> Step<u8> {
        let byte = *self.bytes.get(self.at).ok_or(PickleError::Truncated { offset: self.at, what })?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Step<[u8; N]> {
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let bytes = *bytes.ok_or(PickleError::Truncated { offset: self.bytes.len(), what })?;
        self.at += N;
        Ok(bytes)
    }

    #[inline]
    fn u32(&mut self, what: &'static str) -> Step<u32> {
        self.array::<4>(what).map(u32::from_le_bytes)
    }

    fn length(&mut self, what: &'static str) -> Step<usize> {
        let n = u64::from_le_bytes(self.array::<8>(what)?);
        usize::try_from(n).map_err(|_| PickleError::Truncated { offset: self.bytes.len(), what })
    }

    fn take(&mut self, n: usize, what: &'static str) -> Step<&'a [u8]> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(PickleError::Truncated { offset: self.bytes.len(), what })?;
        let out = &self.bytes[self.at..end];
        self.at = end;
        Ok(out)
    }

    fn line(&mut self, what: &'static str) -> Step<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let n = rest.iter().position(|byte| *byte == b'\n');
        let n = n.ok_or(PickleError::Truncated { offset: self.bytes.len(), what })?;
        self.at += n + 1;
        Ok(&rest[..n])
    }

    fn damaged(&self, what: &'static str) -> PickleError {
        PickleError::Damaged { offset: self.op_at, what }
    }

    // The stack, the memo, the heap.

    #[inline]
    fn push(&mut self, value: Value) -> Step<()> {
        if self.stack.len() >= MOST_STACKED {
            return Err(self.damaged("more values are open at once than plain data has"));
        }
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Step<Value> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.len() > floor {
            true => Ok(self.stack.pop().unwrap_or(Value::None)),
            false => Err(self.damaged("the stack is empty")),
        }
    }

    #[inline]
    fn top(&self) -> Step<Value> {
        self.stack.last().copied().ok_or_else(|| self.damaged("the stack is empty"))
    }

    fn since_mark(&mut self) -> Step<Vec<Value>> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        let mark = mark.ok_or_else(|| self.damaged("there is no mark"))?;
        Ok(self.stack.split_off(mark))
    }

    fn push_slot(&mut self, slot: Slot) -> Step<()> {
        let idx = self.heap.add(slot);
        if idx as usize > self.bytes.len() / BYTES_A_SLOT + FEW {
            return Err(self.damaged("more containers than plain data of this length holds"));
        }
        if self.generations.len() <= idx as usize {
            self.generations.push(0);
        }
        self.push(Value::Slot(idx))
    }

    /// The frames of a stack are remembered values in a row: they need no look at the table of opcodes.
    #[inline]
    fn get_memos(&mut self, read: impl Fn(&mut Self) -> Step<usize>, code: u8) -> Step<()> {
        loop {
            self.get_memo(&read)?;
            if self.bytes.get(self.at) != Some(&code) {
                return Ok(());
            }
            self.op_at = self.at;
            self.at += 1;
        }
    }

    #[inline]
    fn get_memo(&mut self, read: impl FnOnce(&mut Self) -> Step<usize>) -> Step<()> {
        let idx = read(self)?;
        let value = match self.memo.get(idx).copied().unwrap_or(Value::Unset) {
            Value::Remembered { slot, generation } if self.generations[slot as usize] == generation => {
                Value::Slot(slot)
            }
            Value::Remembered { .. } => return Err(self.damaged("an event that stands in two places")),
            Value::Unset => return Err(self.damaged("a memo index that was never set")),
            value => value,
        };
        self.push(value)
    }

    #[inline]
    fn memo_put(&mut self, idx: usize, value: Value) -> Step<()> {
        let value = match value {
            Value::Slot(slot) => Value::Remembered { slot, generation: self.generations[slot as usize] },
            value => value,
        };
        if idx == self.memo.len() && idx < self.bytes.len() / BYTES_A_MEMO + FEW {
            self.memo.push(value);
            return Ok(());
        }
        // An honest memo has no more entries than the file has bytes.
        if idx > self.bytes.len() {
            return Err(self.damaged("a memo index beyond the size of the file"));
        }
        if self.memo.len() > self.bytes.len() / BYTES_A_MEMO + FEW {
            return Err(self.damaged("the file remembers more than plain data of this length does"));
        }
        if idx >= self.memo.len() {
            self.memo.resize(idx + 1, Value::Unset);
        }
        self.memo[idx] = value;
        Ok(())
    }
}
