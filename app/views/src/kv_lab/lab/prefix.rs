//! The pool that recognises prompts by their blocks (`vramlab_serve::prefix`), a word of the script at a time.

use super::frame::{Frame, Fresh, Moment, Phase, Table, Tone, Why};
use super::script::{Deed, Word};
use vramlab_serve::Problem;
use vramlab_serve::prefix::{Admission, PrefixPool, Step, Tape};
use vramlab_units::Lang;

/// What came of a word.
enum Came {
    Admitted(Admission),
    Done,
    Refused(Problem),
}

/// A script that was played.
pub struct Prefixes {
    block_tokens: u32,
    n_blocks: u32,
    tape: Tape,
    words: Vec<Word>,
    came: Vec<Came>,
    /// Steps of the tape when each word is over.
    ends: Vec<usize>,
    /// Name and, word by word, tokens of each sequence that was admitted.
    names: Vec<String>,
}

impl Prefixes {
    pub fn new(words: Vec<Word>, block_tokens: u32, n_blocks: u32) -> Result<Self, Problem> {
        let tape = Tape::new(block_tokens, n_blocks)?;
        let mut this =
            Self { block_tokens, n_blocks, tape, words, came: Vec::new(), ends: Vec::new(), names: Vec::new() };
        for idx in 0..this.words.len() {
            let came = this.play(idx);
            this.came.push(came);
            this.ends.push(this.tape.steps().len());
        }
        Ok(this)
    }

    fn play(&mut self, idx: usize) -> Came {
        let word = self.words[idx].clone();
        let seq = self.names.iter().position(|name| *name == word.name);
        let unknown = || Problem::new("requests", "它没被接纳过", "it was never admitted");
        let step = match (word.deed, seq) {
            (Deed::Start { salt, tokens }, _) => Step::Admit { tokens, salt },
            (Deed::Append { tokens }, Some(seq)) => Step::Append { seq: seq as u32, tokens },
            (Deed::End, Some(seq)) => Step::Finish { seq: seq as u32 },
            _ => return Came::Refused(unknown()),
        };
        match self.tape.push(step) {
            Ok(Some(admission)) => {
                self.names.push(word.name);
                Came::Admitted(admission)
            }
            Ok(None) => Came::Done,
            Err(problem) => Came::Refused(problem),
        }
    }

    pub fn n_steps(&self) -> usize {
        self.words.len()
    }

    pub fn word(&self, step: usize) -> Option<&str> {
        self.words.get(step.checked_sub(1)?).map(|word| word.text.as_str())
    }

    pub fn history(&self) -> Vec<Moment> {
        let at = |step| {
            let used = self.n_blocks - self.pool(step).queue().len() as u32;
            let running = self.names.iter().filter(|name| self.tokens(name, step).is_some()).count() as u32;
            Moment { used, running, waiting: 0, is_preempted: false }
        };
        (1..=self.n_steps()).map(at).collect()
    }

    fn pool(&self, step: usize) -> PrefixPool {
        self.tape.at(step.checked_sub(1).and_then(|idx| self.ends.get(idx)).copied().unwrap_or(0))
    }

    /// Tokens of a sequence after the first words of the script.
    fn tokens(&self, name: &str, step: usize) -> Option<u32> {
        let (mut tokens, mut is_alive) = (0, false);
        for (word, came) in self.words.iter().zip(&self.came).take(step).filter(|(word, _)| word.name == name) {
            match (&word.deed, came) {
                (_, Came::Refused(_)) => {}
                (Deed::Start { tokens: n, .. } | Deed::Append { tokens: n }, _) => {
                    (tokens, is_alive) = (tokens + n.len() as u32, true);
                }
                (Deed::End | Deed::Fork { .. }, _) => is_alive = false,
            }
        }
        is_alive.then_some(tokens)
    }

    pub fn frame(&self, step: usize) -> Frame {
        let (pool, before) = (self.pool(step), self.pool(step.saturating_sub(1)));
        let mut frame = Frame::new(self.block_tokens, self.n_blocks);
        for (block, content) in (0..self.n_blocks).zip(pool.contents()) {
            let one = &mut frame.blocks[block as usize];
            (one.is_cached, one.content) = (pool.is_cached(block), content);
        }
        for (id, name) in self.names.iter().enumerate() {
            if let Some(tokens) = self.tokens(name, step) {
                let (id, blocks) = (id as u32, pool.blocks(id as u32).to_vec());
                frame.add(Table { id, name: name.clone(), phase: Phase::Running, tokens, blocks });
            }
        }
        for block in 0..self.n_blocks {
            match (before.holders(block), pool.holders(block)) {
                (0, 1..) if before.is_cached(block) && pool.is_cached(block) && !self.was_evicted(step, block) => {
                    frame.mark(block, Fresh::Shared);
                }
                (0, 1..) => frame.mark(block, Fresh::Taken),
                (a, b) if b > a => frame.mark(block, Fresh::Shared),
                (1.., 0) => frame.mark(block, Fresh::Given),
                _ => {}
            }
            // A free block that can be found again is full.
            if frame.blocks[block as usize].holders == 0 && pool.is_cached(block) {
                frame.blocks[block as usize].filled = self.block_tokens;
            }
        }
        frame.queue = pool.queue();
        frame.whys = self.whys(step);
        frame.counted()
    }

    fn was_evicted(&self, step: usize, block: u32) -> bool {
        let came = step.checked_sub(1).and_then(|idx| self.came.get(idx));
        matches!(came, Some(Came::Admitted(admission)) if admission.evicted.contains(&block))
    }

    fn whys(&self, step: usize) -> Vec<Why> {
        let Some(idx) = step.checked_sub(1).filter(|idx| *idx < self.words.len()) else { return Vec::new() };
        let word = &self.words[idx];
        match (&self.came[idx], &word.deed) {
            (Came::Refused(problem), _) => vec![Why::new(
                Tone::Bad,
                format!("{} 做不了：{}。", word.text, problem.get(Lang::Zh)),
                format!("{} cannot be done: {}.", word.text, problem.get(Lang::En)),
            )],
            (Came::Admitted(admission), deed) => {
                let n = if let Deed::Start { tokens, .. } = deed { tokens.len() as u32 } else { 0 };
                self.admitted(&word.name, n, admission)
            }
            (Came::Done, Deed::End) => vec![Why::new(
                Tone::Plain,
                format!("{} 结束：块从尾到头排进空闲队列，内容还留着，后来的提示认得出。", word.name),
                format!(
                    "{} ends: its blocks join the queue, the last first; their content stays and can be found.",
                    word.name
                ),
            )],
            (Came::Done, _) => vec![Why::new(
                Tone::Plain,
                format!("{} 接着写；写满一块，这块就有了哈希，可以被认出。", word.name),
                format!("{} goes on; a block that is full gets its hash and can be found.", word.name),
            )],
        }
    }

    fn admitted(&self, name: &str, n: u32, admission: &Admission) -> Vec<Why> {
        let Admission { reused_tokens: reused, blocks, evicted, .. } = admission;
        let hits = (reused / self.block_tokens) as usize;
        let fresh = blocks.len() - hits;
        let most = (n.saturating_sub(1) / self.block_tokens) * self.block_tokens;
        let mut whys = Vec::new();
        if hits > 0 {
            let list = list(&blocks[..hits]);
            whys.push(Why::new(
                Tone::Good,
                format!("{name} 的前 {reused} 个 token 认出来了：哈希链和块 {list} 一样，不用再算；另取 {fresh} 块。"),
                format!("The first {reused} tokens of {name} are known: the chain of hashes leads to block {list}; {fresh} new blocks are taken."),
            ));
        } else {
            whys.push(Why::new(
                Tone::Plain,
                format!("{name} 的第一块就没人有：{n} 个 token 全部要算，取 {fresh} 块。"),
                format!("Nobody has the first block of {name}: all {n} tokens are computed, {fresh} blocks taken."),
            ));
        }
        if *reused == most && hits > 0 {
            whys.push(Why::new(
                Tone::Plain,
                format!("最多只能认到 {most} 个：只认写满的块，最后一个 token 总要重算。"),
                format!("{most} is the most that can be found: only full blocks are known, and the last token is always computed."),
            ));
        }
        if !evicted.is_empty() {
            let list = list(evicted);
            whys.push(Why::new(
                Tone::Caution,
                format!("淘汰：块 {list} 排在空闲队列最前面，内容作废。"),
                format!("Evicted from the head of the queue: block {list}; what was held there is lost."),
            ));
        }
        whys
    }
}

/// Block numbers, as many as one reads.
fn list(blocks: &[u32]) -> String {
    let shown: Vec<String> = blocks.iter().take(6).map(u32::to_string).collect();
    let more = if blocks.len() > 6 { " …" } else { "" };
    shown.join(", ") + more
}
