//! The scores and the loss.

use super::{incoming, one, two};
use crate::sim::{Dtype, Sim, Tensor};
use crate::tape::Owner;

impl Sim {
    /// `F.cross_entropy(logits.float().view(-1, V), targets)`: the mean over all rows.
    pub fn cross_entropy(&self, logits: &Tensor, targets: &Tensor) -> Tensor {
        self.name("cross_entropy");
        let full = self.cast(logits, Dtype::F32);
        if full.dtype != logits.dtype {
            self.own(&full, Owner::Logits);
        }
        let scores = self.log_softmax(full.clone());
        let loss = self.nll(&scores, targets);
        drop(scores);
        drop(full);
        loss
    }

    /// `torch.tanh(x / cap) * cap`: the tanh is saved.
    pub fn cap(&self, logits: &Tensor) -> Tensor {
        let narrowed = self.scale(logits.clone());
        self.own(&narrowed, Owner::Logits);
        self.name("tanh");
        let out = self.alloc_for(narrowed.n, narrowed.dtype, Owner::Logits);
        let saved = self.save_if(narrowed.needs_grad(), &out);
        let edge = self.node("tanh", [(&narrowed).into()], move |sim, grads| {
            let _result = saved.as_ref().map(|it| it.get(sim));
            let grad = incoming(grads);
            one(sim.alloc_for(grad.n, grad.dtype, Owner::Logits))
        });
        drop(narrowed);
        let capped = self.scale(out.with_edge(edge));
        self.own(&capped, Owner::Logits);
        capped
    }

    fn log_softmax(&self, x: Tensor) -> Tensor {
        let out = self.alloc_for(x.n, Dtype::F32, Owner::Logits);
        let saved = self.save_if(x.needs_grad(), &out);
        let edge = self.node("log_softmax", [(&x).into()], move |sim, grads| {
            let _result = saved.as_ref().map(|it| it.get(sim));
            one(sim.alloc_for(incoming(grads).n, Dtype::F32, Owner::Logits))
        });
        out.with_edge(edge)
    }

    fn nll(&self, scores: &Tensor, targets: &Tensor) -> Tensor {
        let saved_scores = self.save_if(scores.needs_grad(), scores);
        let saved_targets = self.save_if(scores.needs_grad(), targets);
        let loss = self.alloc_for(1, Dtype::F32, Owner::Logits);
        let weight = self.alloc_for(1, Dtype::F32, Owner::Logits);
        let saved_weight = self.save_if(scores.needs_grad(), &weight);
        let n = scores.n;
        let edge = self.node("nll_loss", [scores.into()], move |sim, _| {
            let _held = [&saved_scores, &saved_targets, &saved_weight].map(|it| it.as_ref().map(|it| it.get(sim)));
            one(sim.alloc_for(n, Dtype::F32, Owner::Logits))
        });
        loss.with_edge(edge)
    }
}

impl Sim {
    /// `loss + 0.01 * torch.stack(extras).sum()`.
    pub fn add_balance(&self, loss: Tensor, extras: &[Tensor]) -> Tensor {
        self.name("balance loss");
        let scaled = self.scale(self.total(self.stack(extras)));
        let sum = self.add(loss, scaled);
        self.own(&sum, Owner::Logits);
        sum
    }

    /// `torch.stack` of single numbers: their gradients are views.
    fn stack(&self, list: &[Tensor]) -> Tensor {
        let out = self.alloc(list.len() as u64, Dtype::F32);
        let Some((first, rest)) = list.split_first() else { return out };
        let joined = rest.iter().fold(first.clone(), |all, next| {
            let edge = self.node("stack", [(&all).into(), next.into()], |_, grads| {
                let grad = incoming(grads);
                two(Some(grad.view(1)), Some(grad.view(1)))
            });
            all.with_edge(edge)
        });
        let edge = self.node("stack", [(&joined).into()], |_, grads| one(incoming(grads).view(1)));
        out.with_edge(edge)
    }

    /// `x.sum()` of a few numbers: the gradient is a view of one.
    pub fn total(&self, x: Tensor) -> Tensor {
        let sum = self.alloc(1, x.dtype);
        let n = x.n;
        let edge = self.node("sum", [(&x).into()], move |_, grads| one(incoming(grads).view(n)));
        sum.with_edge(edge)
    }
}
