//! Statements, each for the threads that are in it. They wait now and then (`wait`), so that a loop holds nobody up.

use super::wait::Slow;
use super::{Arg, Block, Frame, MOST_DEPTH, WARP, memory};
use crate::fault::{Fault, Kind, Place};
use crate::tree::{Expr, Function, Slot, Stmt};

/// Threads that have left or cut short the turn of a loop.
struct Turn {
    is_broken: Vec<bool>,
    is_continued: Vec<bool>,
}

pub(super) fn none(mask: &[bool]) -> bool {
    !mask.contains(&true)
}

impl Block<'_> {
    /// The launch's arguments, the same for every thread.
    pub(super) fn arguments(&self, kernel: &Function) -> Vec<Vec<u64>> {
        let bits = |arg: &Arg| match arg {
            Arg::Buffer(index) => memory::global(*index),
            Arg::Bits(bits) => *bits,
        };
        self.launch.args.iter().take(kernel.params.len()).map(|arg| vec![bits(arg); self.n]).collect()
    }

    /// Spends `lanes` operations of the budget.
    pub(super) fn spend(&mut self, at: Place) -> Result<(), Fault> {
        self.report.steps += self.n as u64;
        if self.report.steps > self.launch.budget {
            let n = vramlab_units::show::grouped(self.launch.budget as f64);
            let zh = format!("做了 {n} 次运算还没有结束：是不是死循环？");
            return Err(Fault::new(
                at,
                Kind::Budget,
                zh,
                format!("it has not ended after {n} operations: is a loop endless?"),
            ));
        }
        Ok(())
    }

    /// Counts how deep the player is in itself.
    pub(super) fn deeper<T>(
        &mut self,
        at: Place,
        inner: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.descend(at)?;
        let out = inner(self);
        self.depth -= 1;
        out
    }

    /// One step deeper; who took it goes back by taking one off `depth`.
    pub(super) fn descend(&mut self, at: Place) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth <= MOST_DEPTH {
            return Ok(());
        }
        let (zh, en) = ("函数或式子套得太深", "functions or expressions are nested too deep");
        Err(Fault::new(at, Kind::Budget, zh, en))
    }

    /// Calls a function; its value for every thread.
    pub(super) async fn enter(&mut self, index: usize, args: &[Vec<u64>], mask: &[bool]) -> Result<Vec<u64>, Fault> {
        let program = self.program;
        let function = &program.functions[index];
        let base = self.locals.len();
        for ty in &function.slots {
            self.locals.push(vec![0; ty.flat().1 * self.n]);
        }
        for (slot, arg) in args.iter().enumerate() {
            self.locals[base + slot].copy_from_slice(arg);
        }
        let result = self.play(index, base, &function.body, function.returns.flat().1, mask).await;
        self.locals.truncate(base);
        result
    }

    /// Calls a lambda, which has its variables in the frame around it.
    pub(super) async fn enter_lambda(
        &mut self,
        lambda: usize,
        args: &[Vec<u64>],
        mask: &[bool],
    ) -> Result<Vec<u64>, Fault> {
        let (function, base) = self.here();
        let program = self.program;
        let lambda = &program.functions[function].lambdas[lambda];
        for (slot, arg) in lambda.params.iter().zip(args) {
            self.write(base + slot, 0, arg, mask);
        }
        self.play(function, base, &lambda.body, lambda.returns.flat().1, mask).await
    }

    async fn play(
        &mut self,
        function: usize,
        base: usize,
        body: &[Stmt],
        n_result: usize,
        mask: &[bool],
    ) -> Result<Vec<u64>, Fault> {
        let n = self.n;
        self.frames.push(Frame { function, base, is_done: vec![false; n], result: vec![0; n_result * n] });
        let mut mask = mask.to_vec();
        let played = self.all(body, &mut mask, &mut None).await;
        let frame = self.frames.pop();
        played?;
        Ok(frame.map(|frame| frame.result).unwrap_or_default())
    }

    /// The function that is played and where its variables begin.
    pub(super) fn here(&self) -> (usize, usize) {
        self.frames.last().map_or((0, 0), |frame| (frame.function, frame.base))
    }

    fn all<'b>(&'b mut self, body: &'b [Stmt], mask: &'b mut Vec<bool>, turn: &'b mut Option<Turn>) -> Slow<'b, ()> {
        Box::pin(async move {
            for stmt in body {
                if none(mask) {
                    break;
                }
                self.breathe().await;
                self.descend(place(stmt))?;
                self.one(stmt, mask, turn).await?;
                self.depth -= 1;
            }
            Ok(())
        })
    }

    async fn one(&mut self, stmt: &Stmt, mask: &mut Vec<bool>, turn: &mut Option<Turn>) -> Result<(), Fault> {
        match stmt {
            Stmt::Expr(value) => self.value(value, mask).await.map(|_| ()),
            Stmt::Init { slot, values } => self.init(*slot, values, mask).await,
            Stmt::Block(body) => self.all(body, mask, turn).await,
            Stmt::If { cond, then, other } => {
                let cond = self.value(cond, mask).await?;
                let mut yes: Vec<bool> = mask.iter().zip(&cond).map(|(active, bit)| *active && *bit != 0).collect();
                let mut no: Vec<bool> = mask.iter().zip(&cond).map(|(active, bit)| *active && *bit == 0).collect();
                self.diverge(&yes, &no);
                self.all(then, &mut yes, turn).await?;
                self.all(other, &mut no, turn).await?;
                for (index, active) in mask.iter_mut().enumerate() {
                    *active = yes[index] || no[index];
                }
                Ok(())
            }
            Stmt::Loop { cond, step, body, is_late, at } => {
                self.turns(cond.as_ref(), step.as_ref(), body, *is_late, *at, mask).await
            }
            Stmt::Break | Stmt::Continue => {
                if let Some(turn) = turn {
                    let leave = if matches!(stmt, Stmt::Break) { &mut turn.is_broken } else { &mut turn.is_continued };
                    join(leave, mask);
                }
                mask.fill(false);
                Ok(())
            }
            Stmt::Return(value, _) => {
                let value = match value {
                    Some(value) => Some(self.value(value, mask).await?),
                    None => None,
                };
                if let Some(frame) = self.frames.last_mut() {
                    if let Some(value) = value {
                        set(&mut frame.result, 0, &value, mask);
                    }
                    join(&mut frame.is_done, mask);
                }
                mask.fill(false);
                Ok(())
            }
        }
    }

    async fn turns(
        &mut self,
        cond: Option<&Expr>,
        step: Option<&Expr>,
        body: &[Stmt],
        is_late: bool,
        at: Place,
        mask: &mut [bool],
    ) -> Result<(), Fault> {
        let mut active = mask.to_vec();
        let mut is_first = true;
        loop {
            self.spend(at)?;
            self.breathe().await;
            if let Some(cond) = cond.filter(|_| !is_late || !is_first) {
                let holds = self.value(cond, &active).await?;
                let stay: Vec<bool> = active.iter().zip(&holds).map(|(active, bit)| *active && *bit != 0).collect();
                let leave: Vec<bool> = active.iter().zip(&stay).map(|(active, stay)| *active && !stay).collect();
                self.diverge(&stay, &leave);
                active = stay;
            }
            is_first = false;
            if none(&active) {
                break;
            }
            let mut turn = Some(Turn { is_broken: vec![false; self.n], is_continued: vec![false; self.n] });
            self.all(body, &mut active, &mut turn).await?;
            if let Some(turn) = turn {
                join(&mut active, &turn.is_continued);
            }
            if let Some(step) = step.filter(|_| !none(&active)) {
                self.value(step, &active).await?;
            }
        }
        if let Some(frame) = self.frames.last() {
            for (active, is_done) in mask.iter_mut().zip(&frame.is_done) {
                *active &= !is_done;
            }
        }
        Ok(())
    }

    async fn init(&mut self, slot: Slot, values: &[Expr], mask: &[bool]) -> Result<(), Fault> {
        let index = self.here().1 + slot;
        let mut all = Vec::new();
        for value in values {
            all.extend(self.value(value, mask).await?);
        }
        all.resize(self.locals[index].len(), 0);
        self.write(index, 0, &all, mask);
        Ok(())
    }

    /// Writes scalars of a variable from number `first` on, for the threads of `mask`.
    pub(super) fn write(&mut self, variable: usize, first: usize, value: &[u64], mask: &[bool]) {
        set(&mut self.locals[variable], first, value, mask);
    }

    /// Counts the warps that go both ways.
    fn diverge(&mut self, yes: &[bool], no: &[bool]) {
        let both = yes.chunks(WARP).zip(no.chunks(WARP)).filter(|(yes, no)| !none(yes) && !none(no));
        self.report.divergent += both.count() as u64;
    }
}

/// Adds the threads of `more` to `mask`.
fn join(mask: &mut [bool], more: &[bool]) {
    for (active, more) in mask.iter_mut().zip(more) {
        *active |= more;
    }
}

/// Sets scalars from number `first` on, where `mask` says so. Scalars lie one after another, each for every thread.
fn set(to: &mut [u64], first: usize, value: &[u64], mask: &[bool]) {
    let n = mask.len();
    for (scalar, part) in value.chunks(n).enumerate() {
        let start = (first + scalar) * n;
        for ((to, from), active) in to[start..start + n].iter_mut().zip(part).zip(mask) {
            if *active {
                *to = *from;
            }
        }
    }
}

/// Where a statement stands; a block's is that of its first.
fn place(stmt: &Stmt) -> Place {
    match stmt {
        Stmt::Expr(value) => value.at,
        Stmt::If { cond, .. } => cond.at,
        Stmt::Loop { at, .. } | Stmt::Return(_, at) => *at,
        Stmt::Init { values, .. } => values.first().map_or(Place::default(), |value| value.at),
        Stmt::Block(body) => body.first().map_or(Place::default(), place),
        Stmt::Break | Stmt::Continue => Place::default(),
    }
}
