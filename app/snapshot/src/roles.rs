//! What a block is for, guessed: from its stack, from when it lived, and from rules that the reader gives. What nothing
//! speaks for stays unknown.

use crate::lives::Life;
use crate::model::{Action, Event, Snapshot, StackId};
use crate::rules::Rule;
use crate::sites::frame_text;
use crate::steps::{Phase, Steps};
use vramlab_units::Text;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Weights, biases and buffers of modules.
    Parameter,
    /// Kept from the backward pass until the optimizer.
    Gradient,
    /// State of the optimizer.
    Optimizer,
    /// Made by the forward pass and kept.
    Activation,
    /// Keys and values of earlier tokens.
    KvCache,
    /// Needed for a moment: temporaries of a pass or of the optimizer.
    Workspace,
    #[default]
    Unknown,
}

impl Role {
    pub const ALL: [Self; 7] = [
        Self::Parameter,
        Self::Gradient,
        Self::Optimizer,
        Self::Activation,
        Self::KvCache,
        Self::Workspace,
        Self::Unknown,
    ];

    /// The name in data.
    pub fn id(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Gradient => "gradient",
            Self::Optimizer => "optimizer",
            Self::Activation => "activation",
            Self::KvCache => "kv_cache",
            Self::Workspace => "workspace",
            Self::Unknown => "unknown",
        }
    }

    pub fn title(self) -> Text {
        match self {
            Self::Parameter => Text::new("参数", "parameters"),
            Self::Gradient => Text::new("梯度", "gradients"),
            Self::Optimizer => Text::new("优化器状态", "optimizer state"),
            Self::Activation => Text::new("激活", "activations"),
            Self::KvCache => Text::new("KV cache", "KV cache"),
            Self::Workspace => Text::new("临时", "temporaries"),
            Self::Unknown => Text::new("未知", "unknown"),
        }
    }
}

/// What a stack alone tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ruled(Role),
    Empty,
    Optimizer,
    Module,
    Backward,
    Forward,
    KvCache,
    Other,
}

/// One role a life.
pub fn roles(snapshot: &Snapshot, device: usize, lives: &[Life], steps: &Steps, rules: &[Rule]) -> Vec<Role> {
    let kinds: Vec<Kind> = (0..snapshot.stack_ends.len() as u32).map(|id| kind(snapshot, StackId(id), rules)).collect();
    let kind_of = |stack: StackId| kinds.get(stack.0 as usize).copied().unwrap_or(Kind::Empty);
    let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
    let has_stacks = events.iter().any(|event| event.stack != StackId(0));
    let marks = Marks::of(steps, events, kind_of);
    let guess = |life: &Life| -> Role {
        let from = life.from.map_or(0, |from| from as usize);
        let until = life.freed.map_or(events.len(), |freed| freed as usize);
        match kind_of(life.stack) {
            Kind::Ruled(role) => role,
            Kind::Empty if life.from.is_none() || !has_stacks => Role::Unknown,
            // The autograd thread has no Python stack. What outlives the gradients is a library's.
            Kind::Empty | Kind::Backward if marks.is_gradient(from, until, life.freed.is_none()) => Role::Gradient,
            Kind::Empty | Kind::Backward => Role::Workspace,
            Kind::Optimizer if marks.is_state(from, until) => Role::Optimizer,
            Kind::Optimizer => Role::Workspace,
            Kind::Module => Role::Parameter,
            Kind::KvCache => Role::KvCache,
            Kind::Forward if life.from.is_none() => Role::Unknown,
            Kind::Forward if marks.is_activation(from, until, life.freed.is_none()) => Role::Activation,
            Kind::Forward => Role::Workspace,
            Kind::Other => Role::Unknown,
        }
    };
    lives.iter().map(guess).collect()
}

/// Where the backward pass and the optimizer worked, and where gradients were given up. All in order.
struct Marks {
    /// Begin and end of each optimizer step.
    optimizers: Vec<(usize, usize)>,
    zeroed: Vec<usize>,
    /// Requests of the backward pass.
    backward: Vec<usize>,
    n_events: usize,
}

impl Marks {
    fn of(steps: &Steps, events: &[Event], kind_of: impl Fn(StackId) -> Kind) -> Self {
        let named = |name: &'static str| steps.phases.iter().filter(move |phase| phase.name.starts_with(name));
        let frees = |phase: &&Phase| {
            let inside = events.get(phase.from..phase.until).unwrap_or_default();
            inside.iter().any(|event| event.action == Action::FreeRequested)
        };
        let mut optimizers: Vec<(usize, usize)> =
            named("Optimizer.step").map(|phase| (phase.from, phase.until)).collect();
        if optimizers.is_empty() {
            optimizers = optimizer_runs(events, &kind_of);
        }
        let is_backward = |event: &Event| {
            event.action == Action::Alloc && matches!(kind_of(event.stack), Kind::Empty | Kind::Backward)
        };
        let mut zeroed: Vec<usize> = named("Optimizer.zero_grad").filter(frees).map(|phase| phase.until).collect();
        zeroed.sort_unstable();
        Self {
            optimizers,
            // Gradients that are only set to zero stay: then this tells nothing.
            zeroed,
            backward: (0..events.len()).filter(|idx| is_backward(&events[*idx])).collect(),
            n_events: events.len(),
        }
    }

    /// Optimizer steps that began in a life.
    fn n_optimizers(&self, from: usize, until: usize) -> usize {
        let begun = |at: usize| self.optimizers.partition_point(|(start, _)| *start <= at);
        begun(until).saturating_sub(begun(from))
    }

    /// Kept for the backward pass, and not for longer than a step. A free often repeats the stack of its alloc, so that
    /// who freed tells nothing.
    fn is_activation(&self, from: usize, until: usize, is_kept: bool) -> bool {
        let next = self.backward.partition_point(|idx| *idx <= from);
        let reaches_backward = self.backward.get(next).is_some_and(|idx| *idx < until);
        (reaches_backward || is_kept) && self.n_optimizers(from, until) <= 1
    }

    fn is_gradient(&self, from: usize, until: usize, is_kept: bool) -> bool {
        let next = self.zeroed.partition_point(|end| *end <= from);
        if self.zeroed.get(next).is_some_and(|end| *end < until) {
            return false;
        }
        self.n_optimizers(from, until) > 0 || (self.optimizers.is_empty() && is_kept)
    }

    /// Optimizer state outlives the step that made it.
    fn is_state(&self, from: usize, until: usize) -> bool {
        let own = self.optimizers.partition_point(|(_, end)| *end <= from);
        let end = self.optimizers.get(own).map_or(self.n_events, |(_, end)| end + 1);
        until >= end.min(self.n_events)
    }
}

/// Without annotations: requests of the optimizer with none of a pass between them.
fn optimizer_runs(events: &[Event], kind_of: impl Fn(StackId) -> Kind) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut is_apart = true;
    for (idx, event) in events.iter().enumerate().filter(|(_, event)| event.action == Action::Alloc) {
        match (kind_of(event.stack), out.last_mut()) {
            (Kind::Optimizer, Some(last)) if !is_apart => last.1 = idx + 1,
            (Kind::Optimizer, _) => {
                out.push((idx, idx + 1));
                is_apart = false;
            }
            (Kind::Empty | Kind::Forward | Kind::Backward, _) => is_apart = true,
            _ => {}
        }
    }
    out
}

fn kind(snapshot: &Snapshot, stack: StackId, rules: &[Rule]) -> Kind {
    let mut found = Kind::Empty;
    if let Some(role) = ruled(snapshot, stack, rules) {
        return Kind::Ruled(role);
    }
    for frame in snapshot.stack(stack) {
        let here = frame_kind(snapshot.text(frame.file), snapshot.text(frame.name));
        if strength(here) > strength(found) {
            found = here;
        }
    }
    found
}

/// What the first rule that fits any frame says.
fn ruled(snapshot: &Snapshot, stack: StackId, rules: &[Rule]) -> Option<Role> {
    if rules.is_empty() {
        return None;
    }
    let frames: Vec<String> = snapshot.stack(stack).map(|frame| frame_text(snapshot, &frame)).collect();
    rules.iter().find(|rule| frames.iter().any(|frame| rule.pattern.matches(frame))).map(|rule| rule.role)
}

fn frame_kind(file: &str, name: &str) -> Kind {
    let is_cache =
        file.contains("cache_utils") || ["kv", "kv_cache", "update_cache", "past_key_values"].contains(&name);
    match name {
        _ if file.contains("torch/optim/") => Kind::Optimizer,
        _ if is_cache => Kind::KvCache,
        "backward" | "_backward" => Kind::Backward,
        "_apply" | "convert" if file.contains("torch/nn/modules/") => Kind::Module,
        "reset_parameters" => Kind::Module,
        _ if file.contains("torch/nn/init.py") || file.contains("torch/nn/parameter.py") => Kind::Module,
        "forward" => Kind::Forward,
        _ if file.contains("torch/nn/functional.py") => Kind::Forward,
        _ => Kind::Other,
    }
}

/// Which of two frames of one stack decides.
fn strength(kind: Kind) -> u8 {
    match kind {
        Kind::Empty => 0,
        Kind::Other => 1,
        Kind::Forward => 2,
        Kind::Module => 3,
        Kind::Backward => 4,
        Kind::KvCache => 5,
        Kind::Optimizer => 6,
        Kind::Ruled(_) => 7,
    }
}
