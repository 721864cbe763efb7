//! How a block is played in slices: statements and what they call are futures that wait after some operations, and whoever plays them
//! (`super::Playing`) goes on when it likes. Nothing wakes them; nothing else is asynchronous. An expression without a call is worked
//! out in one go (`eval`), so a slice is overrun by one expression at most.

use super::Block;
use super::exec::none;
use crate::fault::Fault;
use crate::tree::{Expr, Lvalue, Node, Where};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Operations, lane by lane, between two rests: about a millisecond in a browser.
const SLICE: u64 = 20_000;

/// What may take long.
pub(super) type Slow<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// Goes on with `work` until it rests or ends.
pub(super) fn go_on<T>(work: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match work.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(out) => Some(out),
        Poll::Pending => None,
    }
}

/// Is not ready once.
struct Rest(bool);

impl Future for Rest {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Values of sub-expressions that are known already, by where these stand in memory.
pub(super) type Known = Vec<(usize, Vec<u64>)>;

fn place(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

impl Block<'_> {
    /// Rests if the slice is used up.
    pub(super) async fn breathe(&mut self) {
        if self.report.steps >= *self.rest_at {
            *self.rest_at = self.report.steps + SLICE;
            Rest(false).await;
        }
    }

    /// The value that was worked out before the expression around it.
    pub(super) fn known(&self, expr: &Expr) -> Option<Vec<u64>> {
        let place = place(expr);
        self.known.iter().find(|(known, _)| *known == place).map(|(_, value)| value.clone())
    }

    /// An expression's value, like `eval`, with rests in what it calls.
    pub(super) async fn value(&mut self, expr: &Expr, mask: &[bool]) -> Result<Vec<u64>, Fault> {
        if calls(expr) { self.calling(expr, mask).await } else { self.eval(expr, mask) }
    }

    fn calling<'b>(&'b mut self, expr: &'b Expr, mask: &'b [bool]) -> Slow<'b, Vec<u64>> {
        Box::pin(async move {
            self.spend(expr.at)?;
            self.descend(expr.at)?;
            let out = match &expr.node {
                Node::Call { function, args } => {
                    let args = self.values(args, mask).await?;
                    self.enter(*function, &args, mask).await?
                }
                Node::Lambda { lambda, args } => {
                    let args = self.values(args, mask).await?;
                    self.enter_lambda(*lambda, &args, mask).await?
                }
                Node::Logic { is_and, left, right } => {
                    let value = self.value(left, mask).await?;
                    let open = open(*is_and, &value, mask);
                    let decided = if none(&open) { None } else { Some(self.value(right, &open).await?) };
                    decide(value, decided, &open)
                }
                Node::Choose { cond, then, other } => {
                    let cond = self.value(cond, mask).await?;
                    let [yes, no] = split(&cond, mask);
                    let first = if none(&yes) && !none(&no) { None } else { Some(self.value(then, &yes).await?) };
                    let second = if none(&no) { None } else { Some(self.value(other, &no).await?) };
                    choose(first, second, &yes)
                }
                Node::Comma(all) => self.values(all, mask).await?.pop().unwrap_or_default(),
                _ => {
                    // What is left works out all its parts. Those that call come first; the language leaves the order open.
                    let mut known = Known::new();
                    for part in parts(expr).into_iter().filter(|part| calls(part)) {
                        known.push((place(part), self.value(part, mask).await?));
                    }
                    self.known = known;
                    let out = self.node(expr, mask);
                    self.known.clear();
                    out?
                }
            };
            self.depth -= 1;
            Ok(out)
        })
    }

    async fn values(&mut self, all: &[Expr], mask: &[bool]) -> Result<Vec<Vec<u64>>, Fault> {
        let mut out = Vec::new();
        for one in all {
            out.push(self.value(one, mask).await?);
        }
        Ok(out)
    }
}

/// Threads for which the right side of `&&` or `||` decides.
pub(super) fn open(is_and: bool, left: &[u64], mask: &[bool]) -> Vec<bool> {
    mask.iter().zip(left).map(|(active, bit)| *active && (*bit != 0) == is_and).collect()
}

pub(super) fn decide(mut value: Vec<u64>, decided: Option<Vec<u64>>, open: &[bool]) -> Vec<u64> {
    for ((value, decided), open) in value.iter_mut().zip(decided.into_iter().flatten()).zip(open) {
        if *open {
            *value = decided;
        }
    }
    value
}

/// Threads for which a condition holds, and those for which it does not.
pub(super) fn split(cond: &[u64], mask: &[bool]) -> [Vec<bool>; 2] {
    let of = |holds: bool| mask.iter().zip(cond).map(|(active, bit)| *active && (*bit != 0) == holds).collect();
    [of(true), of(false)]
}

/// The first value where `yes` says so, the second elsewhere; a value may have several scalars.
pub(super) fn choose(first: Option<Vec<u64>>, second: Option<Vec<u64>>, yes: &[bool]) -> Vec<u64> {
    let (Some(first), Some(mut out)) = (first.as_ref(), second.clone()) else {
        return first.or(second).unwrap_or_default();
    };
    for (index, bits) in first.iter().enumerate().filter(|(index, _)| yes[index % yes.len()]) {
        out[index] = *bits;
    }
    out
}

/// True if a function or a lambda is called in it.
fn calls(expr: &Expr) -> bool {
    matches!(expr.node, Node::Call { .. } | Node::Lambda { .. }) || parts(expr).into_iter().any(calls)
}

/// The expressions directly in an expression.
fn parts(expr: &Expr) -> Vec<&Expr> {
    fn of(place: &Lvalue) -> Option<&Expr> {
        match &place.place {
            Where::Local { index, .. } => index.as_deref(),
            Where::Memory(pointer) => Some(pointer),
        }
    }
    match &expr.node {
        Node::Const(_) | Node::Special(..) => Vec::new(),
        Node::Read(place) | Node::AddressOf(place) => of(place).into_iter().collect(),
        Node::Unary(_, one) | Node::Cast { value: one, .. } | Node::Component(one, _) => vec![one],
        Node::Binary(_, a, b)
        | Node::Offset { pointer: a, count: b, .. }
        | Node::Distance { from: a, to: b, .. }
        | Node::Logic { left: a, right: b, .. } => vec![a, b],
        Node::Choose { cond, then, other } => vec![cond, then, other],
        Node::Assign(place, value) | Node::Update { place, value, .. } => {
            std::iter::once(&**value).chain(of(place)).collect()
        }
        Node::Vector(all)
        | Node::Comma(all)
        | Node::Builtin(_, all)
        | Node::Call { args: all, .. }
        | Node::Lambda { args: all, .. } => all.iter().collect(),
    }
}
