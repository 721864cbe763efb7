//! Rotary positions: `x * cos + cat((-high, low)) * sin` with the halves of `x.chunk(2, -1)`.

use super::{incoming, two};
use crate::sim::{Edge, Sim, Tensor};

impl Sim {
    /// The tables are buffers of T·d elements; nothing else is saved.
    pub fn rotate(&self, x: &Tensor, cos: &Tensor, sin: &Tensor) -> Tensor {
        self.name("rope");
        let [low, high] = self.chunk2(x);
        let straight = self.mul(x.clone(), cos.clone());
        let turned = {
            let negated = self.scale(high);
            self.mul(self.join(negated, low), sin.clone())
        };
        self.add(straight, turned)
    }

    /// Views of the halves; the gradient is put together again.
    pub fn chunk2(&self, x: &Tensor) -> [Tensor; 2] {
        let n = x.n;
        let edge = self.node("chunk", [x.into()], move |sim, grads| {
            let dtype = grads.iter().flatten().next().map(|grad| grad.dtype);
            [dtype.map(|dtype| sim.alloc(n, dtype)), None, None, None]
        });
        [0, 1].map(|slot| {
            let edge = match edge {
                Edge::Node(node, _) => Edge::Node(node, slot),
                other => other,
            };
            x.view(n / 2).with_edge(edge)
        })
    }

    /// `torch.cat`: gradients are views.
    fn join(&self, a: Tensor, b: Tensor) -> Tensor {
        let out = self.alloc(a.n + b.n, a.dtype);
        let (n_a, n_b) = (a.n, b.n);
        let edge = self.node("cat", [(&a).into(), (&b).into()], move |_, grads| {
            let grad = incoming(grads);
            two(Some(grad.view(n_a)), Some(grad.view(n_b)))
        });
        out.with_edge(edge)
    }
}
