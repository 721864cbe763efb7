//! Block tables with fork and copy-on-write (`vramlab_serve::tables`), a word of the script at a time.

use super::frame::{Frame, Fresh, Moment, Phase, Table, Tone, Why};
use super::script::{Deed, Word};
use vramlab_serve::Problem;
use vramlab_serve::tables::{Change, Cursor, Tables};
use vramlab_units::Lang;

/// A script that was played.
pub struct Forks {
    tables: Tables,
    words: Vec<Word>,
    /// Changes made when each word is over.
    ends: Vec<usize>,
    /// Why a word could not be done.
    refused: Vec<Option<Problem>>,
    names: Vec<String>,
}

impl Forks {
    pub fn new(words: Vec<Word>, block_tokens: u32, n_blocks: u32) -> Result<Self, Problem> {
        let mut tables = Tables::new(block_tokens, n_blocks)?;
        let (mut names, mut ends, mut refused) = (Vec::<String>::new(), Vec::new(), Vec::new());
        for word in &words {
            let find = |name: &str| names.iter().position(|known| known == name).unwrap_or(usize::MAX) as u32;
            let done = match &word.deed {
                Deed::Start { tokens, .. } => tables.start(tokens.len() as u32).map(|_| true),
                Deed::Fork { parent } => tables.fork(find(parent)).map(|_| true),
                Deed::Append { tokens } => tables.append(find(&word.name), tokens.len() as u32).map(|()| false),
                Deed::End => tables.end(find(&word.name)).map(|()| false),
            };
            if done == Ok(true) {
                names.push(word.name.clone());
            }
            refused.push(done.err());
            ends.push(tables.changes.len());
        }
        Ok(Self { tables, words, ends, refused, names })
    }

    pub fn n_steps(&self) -> usize {
        self.words.len()
    }

    pub fn word(&self, step: usize) -> Option<&str> {
        self.words.get(step.checked_sub(1)?).map(|word| word.text.as_str())
    }

    pub fn history(&self) -> Vec<Moment> {
        let mut cursor = Cursor::new(&self.tables);
        (1..=self.n_steps())
            .map(|step| {
                let is_preempted =
                    self.changes(step).iter().any(|change| matches!(change, Change::Gone { is_preempted: true, .. }));
                let state = cursor.seek(self.ends[step - 1]);
                let running = state.sequences.iter().filter(|one| one.is_alive).count() as u32;
                Moment { used: state.used_blocks(), running, waiting: 0, is_preempted }
            })
            .collect()
    }

    fn changes(&self, step: usize) -> &[Change] {
        let Some(idx) = step.checked_sub(1).filter(|idx| *idx < self.ends.len()) else { return &[] };
        let from = if idx > 0 { self.ends[idx - 1] } else { 0 };
        &self.tables.changes[from..self.ends[idx]]
    }

    pub fn frame(&self, step: usize) -> Frame {
        let end = step.checked_sub(1).and_then(|idx| self.ends.get(idx)).copied().unwrap_or(0);
        let mut cursor = Cursor::new(&self.tables);
        let state = cursor.seek(end);
        let mut frame = Frame::new(state.block_tokens, state.holders.len() as u32);
        for (id, one) in state.sequences.iter().enumerate() {
            if one.is_alive || one.was_preempted {
                let phase = if one.is_alive { Phase::Running } else { Phase::Preempted };
                let (id, name) = (id as u32, self.names.get(id).cloned().unwrap_or_default());
                frame.add(Table { id, name, phase, tokens: one.tokens, blocks: one.blocks.clone() });
            }
        }
        for change in self.changes(step) {
            match change {
                Change::Take { block, is_shared: false, .. } => frame.mark(*block, Fresh::Taken),
                Change::Take { block, is_shared: true, .. } => frame.mark(*block, Fresh::Shared),
                Change::Copy { to, .. } => frame.mark(*to, Fresh::Copied),
                Change::Give { block, .. } => frame.mark(*block, Fresh::Given),
                _ => {}
            }
        }
        // The lowest free block goes first.
        frame.queue = (0..).zip(&state.holders).filter(|(_, n)| **n == 0).map(|(block, _)| block).collect();
        frame.whys = self.whys(step);
        frame.counted()
    }

    fn name(&self, seq: u32) -> &str {
        self.names.get(seq as usize).map_or("?", String::as_str)
    }

    fn whys(&self, step: usize) -> Vec<Why> {
        let Some(idx) = step.checked_sub(1).filter(|idx| *idx < self.words.len()) else { return Vec::new() };
        if let Some(problem) = &self.refused[idx] {
            let word = &self.words[idx].text;
            return vec![Why::new(
                Tone::Bad,
                format!("{word} 做不了：{}。", problem.get(Lang::Zh)),
                format!("{word} cannot be done: {}.", problem.get(Lang::En)),
            )];
        }
        let mut whys: Vec<Why> = self.changes(step).iter().filter_map(|change| self.why(*change)).collect();
        whys.extend(self.taken(step));
        whys.extend(self.given(step));
        whys
    }

    fn why(&self, change: Change) -> Option<Why> {
        match change {
            Change::Copy { seq, from, to } => {
                let name = self.name(seq);
                Some(Why::new(
                    Tone::Caution,
                    format!("写时复制：{name} 要写进块 {from}，别的序列也在用它；先抄到块 {to} 再写。"),
                    format!(
                        "Copy-on-write: {name} writes into block {from}, which another holds too; it is copied to block {to} first."
                    ),
                ))
            }
            Change::Gone { seq, tokens, is_preempted: true } => {
                let name = self.name(seq);
                Some(Why::new(
                    Tone::Bad,
                    format!("抢占：没有空闲的块，最新的 {name} 让出，丢掉 {tokens} 个 token 的 KV。"),
                    format!(
                        "Preempted: no block is free; {name}, the newest, gives way and loses {tokens} tokens of KV."
                    ),
                ))
            }
            _ => None,
        }
    }

    fn taken(&self, step: usize) -> Option<Why> {
        let count = |wanted: bool| {
            let is = |change: &&Change| matches!(change, Change::Take { is_shared, .. } if *is_shared == wanted);
            self.changes(step).iter().filter(is).count()
        };
        let (own, shared) = (count(false), count(true));
        let word = self.words.get(step - 1)?;
        let name = &word.name;
        match &word.deed {
            Deed::Fork { parent } => Some(Why::new(
                Tone::Good,
                format!("{name} 从 {parent} 分叉：共用 {shared} 块，一块也没抄。"),
                format!("{name} forks from {parent}: {shared} blocks are shared, none is copied."),
            )),
            // The copy has been told.
            Deed::Append { .. } if own == 0 && self.has_copy(step) => None,
            Deed::Start { tokens, .. } | Deed::Append { tokens } => {
                let n = tokens.len();
                let (zh, en) = if own == 0 {
                    ("写进已有的块，没取新块".to_owned(), "no new block is taken".to_owned())
                } else {
                    (format!("取 {own} 块，编号最低的先取"), format!("{own} blocks are taken, the lowest number first"))
                };
                Some(Why::new(
                    Tone::Plain,
                    format!("{name} 写 {n} 个 token：{zh}。"),
                    format!("{name} writes {n} tokens: {en}."),
                ))
            }
            Deed::End => None,
        }
    }

    fn has_copy(&self, step: usize) -> bool {
        self.changes(step).iter().any(|change| matches!(change, Change::Copy { .. }))
    }

    fn given(&self, step: usize) -> Option<Why> {
        let word = self.words.get(step - 1).filter(|word| word.deed == Deed::End)?;
        let mut cursor = Cursor::new(&self.tables);
        let holders = cursor.seek(self.ends[step - 1]).holders.clone();
        let given: Vec<u32> = self
            .changes(step)
            .iter()
            .filter_map(|change| if let Change::Give { block, .. } = change { Some(*block) } else { None })
            .collect();
        let freed = given.iter().filter(|block| holders[**block as usize] == 0).count();
        let (name, kept) = (&word.name, given.len() - freed);
        Some(Why::new(
            Tone::Plain,
            format!("{name} 结束：{freed} 块空出来，{kept} 块别人还在用。"),
            format!("{name} ends: {freed} blocks are free again, {kept} are still held by others."),
        ))
    }
}
