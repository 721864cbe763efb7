//! Autograd: nodes as forward made them, run from the last to the first.
//!
//! PyTorch runs, of the nodes that are ready, the one created last. A node's consumers are always younger, so that this
//! is simply the order of creation backwards; only a parameter's accumulation is done at once.

use super::{Dtype, Sim, Tensor};
use crate::ops::reduce;
use crate::tape::Owner;

/// Where a gradient goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    None,
    /// A node and which of its outputs.
    Node(u32, u8),
    /// A parameter.
    Leaf(u32),
}

/// Most inputs and outputs of a node.
pub(crate) const MOST: usize = 4;
pub(crate) type Grads = [Option<Tensor>; MOST];
type Back = Box<dyn Fn(&Sim, &Grads) -> Grads>;

/// How a gradient that is larger than its tensor is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Over leading dimensions: the columns of a matrix.
    Columns,
    /// Over leading dimensions, even if those have one element: the tensor has fewer dimensions.
    Leading,
    /// Over the last dimension: a number a row.
    Rows,
}

/// An input of a node, as the node remembers it.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    edge: Edge,
    n: u64,
    dtype: Dtype,
    fold: Fold,
}

impl From<&Tensor> for Input {
    fn from(tensor: &Tensor) -> Self {
        Self { edge: tensor.edge, n: tensor.n, dtype: tensor.dtype, fold: Fold::Columns }
    }
}

impl Input {
    /// As `tensor`, which has fewer dimensions than the result.
    pub fn with_fewer_dimensions(tensor: &Tensor) -> Self {
        Self { fold: Fold::Leading, ..Self::from(tensor) }
    }

    /// As `tensor`, whose gradient is summed over rows.
    pub fn folded_rows(tensor: &Tensor) -> Self {
        Self { fold: Fold::Rows, ..Self::from(tensor) }
    }
}

struct Node {
    back: Option<Back>,
    inputs: [Option<Input>; MOST],
    layer: u16,
    op: &'static str,
}

#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// Gradients of parameters, by parameter.
    grads: Vec<Option<Tensor>>,
}

impl Sim {
    /// A node with its inputs and its formula; the edge for the output. None of them wants a gradient: no node.
    pub fn node<const N: usize>(
        &self,
        op: &'static str,
        inputs: [Input; N],
        back: impl Fn(&Self, &Grads) -> Grads + 'static,
    ) -> Edge {
        let wants = inputs.iter().any(|input| input.edge != Edge::None);
        if !wants || !self.is_grad_enabled.get() || self.is_stopped.get() {
            return Edge::None;
        }
        let mut kept = [None; MOST];
        for (slot, input) in kept.iter_mut().zip(inputs) {
            *slot = Some(input);
        }
        let mut graph = self.graph.borrow_mut();
        let node = Node { back: Some(Box::new(back)), inputs: kept, layer: self.layer.get(), op };
        graph.nodes.push(node);
        Edge::Node(graph.nodes.len() as u32 - 1, 0)
    }

    /// A new parameter's place among the gradients.
    pub fn leaf(&self) -> Edge {
        let mut graph = self.graph.borrow_mut();
        graph.grads.push(None);
        Edge::Leaf(graph.grads.len() as u32 - 1)
    }

    /// The gradient of a parameter, taken away.
    pub fn take_grad(&self, of: &Tensor) -> Option<Tensor> {
        let Edge::Leaf(leaf) = of.edge else { return None };
        self.graph.borrow_mut().grads[leaf as usize].take()
    }

    /// Runs what `body` records in a graph of its own, which is dropped at the end.
    pub(super) fn in_own_graph(&self, body: impl FnOnce()) {
        let before = std::mem::take(&mut self.graph.borrow_mut().nodes);
        body();
        let own = std::mem::replace(&mut self.graph.borrow_mut().nodes, before);
        drop(own);
    }

    /// `loss.backward()`. The graph is used up.
    pub fn backward(&self, loss: &Tensor) {
        let Edge::Node(root, _) = loss.edge else { return };
        let mut nodes = std::mem::take(&mut self.graph.borrow_mut().nodes);
        self.is_backward.set(true);
        let was_enabled = self.is_grad_enabled.replace(false);
        self.op.set("ones");
        let ones = self.alloc_for(1, loss.dtype, Owner::Logits);
        let mut queue = Queue::new(&nodes, root as usize, self.graph.borrow().grads.len());
        queue.inbox[root as usize] = Some([Some(ones.clone()), None, None, None]);
        for idx in (0..=root as usize).rev() {
            let Some(grads) = queue.inbox[idx].take() else { continue };
            let node = &mut nodes[idx];
            self.layer.set(node.layer);
            self.op.set(node.op);
            let Some(back) = node.back.take() else { continue };
            let mut outs = back(self, &grads);
            let inputs = node.inputs;
            for (out, input) in outs.iter_mut().zip(&inputs) {
                self.op.set(node.op);
                if let Some(input) = input.filter(|input| input.edge != Edge::None) {
                    *out = out.take().map(|grad| self.fit(grad, input));
                }
            }
            // The incoming gradients go, then what the node had saved.
            drop(grads);
            drop(back);
            for (grad, input) in outs.into_iter().zip(inputs) {
                if let (Some(grad), Some(input)) = (grad, input) {
                    self.deliver(&mut queue, input.edge, grad);
                }
            }
        }
        self.is_backward.set(false);
        self.is_grad_enabled.set(was_enabled);
        self.enter(None);
    }

    /// A broadcast gradient is summed, one of another dtype is cast.
    fn fit(&self, mut grad: Tensor, input: Input) -> Tensor {
        if grad.n > input.n || input.fold == Fold::Leading {
            grad = match input.fold {
                Fold::Columns | Fold::Leading => reduce::columns(self, &grad, input.n),
                Fold::Rows => self.alloc(input.n, grad.dtype),
            };
        }
        if grad.dtype != input.dtype {
            grad = self.alloc(input.n, input.dtype);
        }
        grad
    }

    fn deliver(&self, queue: &mut Queue, edge: Edge, grad: Tensor) {
        match edge {
            Edge::None => {}
            Edge::Node(node, slot) => {
                let inbox = queue.inbox[node as usize].get_or_insert_default();
                self.add_into(&mut inbox[slot as usize], grad);
            }
            Edge::Leaf(leaf) => {
                let leaf = leaf as usize;
                self.add_into(&mut queue.at_leaf[leaf], grad);
                queue.missing[leaf] -= 1;
                if queue.missing[leaf] == 0
                    && let Some(grad) = queue.at_leaf[leaf].take()
                {
                    self.accumulate(leaf, grad);
                }
            }
        }
    }

    /// Added in place if nobody else holds the first, else into a new tensor.
    fn add_into(&self, slot: &mut Option<Tensor>, grad: Tensor) {
        match slot {
            None => *slot = Some(grad),
            Some(old) if old.is_free_to_change() => drop(grad),
            Some(old) => {
                let sum = self.alloc(old.n, old.dtype);
                *slot = Some(sum);
            }
        }
    }

    /// A parameter adopts its first gradient; later ones are added in place.
    fn accumulate(&self, leaf: usize, grad: Tensor) {
        if self.graph.borrow().grads[leaf].is_some() {
            return;
        }
        let grad = if grad.is_sole() { grad } else { self.alloc(grad.n, grad.dtype) };
        self.own(&grad, Owner::Gradient);
        self.graph.borrow_mut().grads[leaf] = Some(grad);
    }
}

/// Gradients under way.
struct Queue {
    inbox: Vec<Option<Grads>>,
    at_leaf: Vec<Option<Tensor>>,
    /// Contributions that a parameter still waits for.
    missing: Vec<u32>,
}

impl Queue {
    fn new(nodes: &[Node], root: usize, n_leaves: usize) -> Self {
        let mut is_reached = vec![false; root + 1];
        is_reached[root] = true;
        let mut missing = vec![0; n_leaves];
        for idx in (0..=root).rev() {
            if !is_reached[idx] {
                continue;
            }
            for input in nodes[idx].inputs.iter().flatten() {
                match input.edge {
                    Edge::None => {}
                    Edge::Node(node, _) => is_reached[node as usize] = true,
                    Edge::Leaf(leaf) => missing[leaf as usize] += 1,
                }
            }
        }
        Self {
            inbox: std::iter::repeat_with(|| None).take(root + 1).collect(),
            at_leaf: std::iter::repeat_with(|| None).take(n_leaves).collect(),
            missing,
        }
    }
}
