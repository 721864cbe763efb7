//! What is put into tuples, dictionaries and lists.

use super::{Machine, Slot, Step, Value};
use crate::compact::ACTION;

impl Machine<'_> {
    pub(super) fn tuple_of(&mut self, n: usize) -> Step<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let start = self.stack.len().checked_sub(n).filter(|start| *start >= floor);
        let start = start.ok_or_else(|| self.damaged("the stack is empty"))?;
        let items = self.stack.split_off(start);
        self.push_slot(Slot::Tuple(items))
    }

    pub(super) fn pairs(&self, items: &[Value]) -> Step<Vec<(Value, Value)>> {
        if !items.len().is_multiple_of(2) {
            return Err(self.damaged("a key without a value"));
        }
        Ok(items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    pub(super) fn set_items(&mut self) -> Step<()> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        let mark = mark.ok_or_else(|| self.damaged("there is no mark"))?;
        if !(self.stack.len() - mark).is_multiple_of(2) {
            return Err(self.damaged("a key without a value"));
        }
        let Some(Value::Slot(slot)) = mark.checked_sub(1).and_then(|idx| self.stack.get(idx)).copied() else {
            return Err(self.damaged("items for something that is no dictionary"));
        };
        let is_action = self.is_action(mark);
        match &mut self.heap.slots[slot as usize] {
            Slot::Dict(pairs) if pairs.is_empty() && is_action => {
                self.heap.begin_event(slot, &self.stack[mark..]);
            }
            Slot::Dict(pairs) => pairs.extend(self.stack[mark..].chunks_exact(2).map(|pair| (pair[0], pair[1]))),
            Slot::Event(idx) => {
                let idx = *idx;
                self.heap.go_on(idx, &self.stack[mark..]);
            }
            _ => return Err(self.damaged("items for something that is no dictionary, or for one that was complete")),
        }
        self.stack.truncate(mark);
        Ok(())
    }

    /// Whether the first of the items from `mark` on is an event's.
    #[inline]
    fn is_action(&self, mark: usize) -> bool {
        self.stack.get(mark) == Some(&Value::Text(ACTION))
    }

    pub(super) fn set_item(&mut self) -> Step<()> {
        let value = self.pop()?;
        let key = self.pop()?;
        let Value::Slot(slot) = self.top()? else {
            return Err(self.damaged("an item for something that is no dictionary"));
        };
        match &mut self.heap.slots[slot as usize] {
            Slot::Dict(pairs) => pairs.push((key, value)),
            Slot::Event(idx) => {
                let idx = *idx;
                self.heap.go_on(idx, &[key, value]);
            }
            _ => return Err(self.damaged("an item for something that is no dictionary")),
        }
        Ok(())
    }

    pub(super) fn append_items(&mut self) -> Step<()> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        let mark = mark.ok_or_else(|| self.damaged("there is no mark"))?;
        let list = mark.checked_sub(1).and_then(|idx| self.stack.get(idx)).copied();
        for idx in mark..self.stack.len() {
            let item = self.compact(self.stack[idx]);
            self.stack[idx] = item;
        }
        match list {
            Some(Value::Slot(slot)) if self.heap.append(slot, &self.stack[mark..]) => {}
            _ => return Err(self.damaged("items for something that is no list, or for one that was complete")),
        }
        self.stack.truncate(mark);
        Ok(())
    }

    pub(super) fn append_item(&mut self) -> Step<()> {
        let item = self.pop()?;
        let item = self.compact(item);
        let Value::Slot(slot) = self.top()? else {
            return Err(self.damaged("an item for something that is no list"));
        };
        match self.heap.append(slot, &[item]) {
            true => Ok(()),
            false => Err(self.damaged("an item for something that is no list")),
        }
    }

    /// A dictionary that is complete becomes an event or a frame.
    #[inline]
    pub(super) fn compact(&mut self, value: Value) -> Value {
        let Value::Slot(slot) = value else { return value };
        let out = self.heap.compact(slot);
        if let Some(Value::Event(_)) = out {
            // The slot will be used again: what was remembered of it is void.
            self.generations[slot as usize] += 1;
        }
        out.unwrap_or(value)
    }
}
