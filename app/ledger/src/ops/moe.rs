//! Routing tokens to experts: top-k, places under a capacity, gathering and adding rows.

use super::{incoming, one, reduce};
use crate::sim::{Dtype, Input, Sim, Tensor};

/// Sizes of a routing.
#[derive(Clone, Copy)]
pub(crate) struct Routing {
    pub n_tokens: u64,
    pub experts: u64,
    pub top_k: u64,
    pub capacity: u64,
}

impl Sim {
    /// `p.topk(k)`: values and indices; the gradient is scattered into zeros.
    pub fn top_k(&self, p: &Tensor, routing: Routing) -> (Tensor, Tensor) {
        self.name("topk");
        let n = routing.n_tokens * routing.top_k;
        let values = self.alloc(n, p.dtype);
        let chosen = self.alloc(n, Dtype::I64);
        let saved = self.save_if(p.needs_grad(), &chosen);
        let (n_all, dtype) = (p.n, p.dtype);
        let edge = self.node("topk", [p.into()], move |sim, _| {
            let _chosen = saved.as_ref().map(|it| it.get(sim));
            one(sim.alloc(n_all, dtype))
        });
        (values.with_edge(edge), chosen)
    }

    /// `w / w.sum(-1, keepdim=True)`.
    pub fn normalise(&self, w: Tensor, routing: Routing) -> Tensor {
        self.name("normalise");
        let sum = self.alloc(routing.n_tokens, w.dtype);
        let n = w.n;
        let edge = self.node("sum", [(&w).into()], move |_, grads| one(incoming(grads).view(n)));
        let sum = sum.with_edge(edge);
        let is_wanted = w.needs_grad();
        let saved = [self.save_if(is_wanted, &w), self.save_if(is_wanted, &sum)];
        let out = self.alloc(w.n, w.dtype);
        let edge = self.node("div", [(&w).into(), Input::folded_rows(&sum)], move |sim, grads| {
            let grad = incoming(grads);
            let _held = saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            // -grad * ((self / other) / other)
            let negative = sim.alloc(n, grad.dtype);
            let once = sim.alloc(n, grad.dtype);
            let twice = sim.alloc(n, grad.dtype);
            let of_sum = sim.alloc(n, grad.dtype);
            drop((negative, once, twice));
            [Some(sim.alloc(n, grad.dtype)), Some(of_sum), None, None]
        });
        out.with_edge(edge)
    }

    /// For each row of each expert which (token, choice) pair lies there and whether one does; and the experts' shares.
    pub fn places(&self, chosen: &Tensor, routing: Routing) -> (Tensor, Tensor, Tensor) {
        self.name("places");
        self.without_grad(|| {
            let n = chosen.n;
            let whole = |n: u64| self.alloc(n, Dtype::I64);
            let hot = whole(n * routing.experts);
            let place = {
                let running = whole(hot.n);
                let before = whole(hot.n);
                drop(running);
                let own = whole(hot.n);
                drop(before);
                let place = whole(n);
                drop(own);
                place
            };
            let slot = {
                let fits = self.alloc(n, Dtype::U8);
                let base = whole(n);
                let at = whole(n);
                drop(base);
                let room = whole(1);
                let slot = whole(n);
                drop((fits, at, room));
                slot
            };
            let pairs = whole(n);
            let room = routing.experts * routing.capacity + 1;
            let pair = whole(room);
            let used = self.alloc(room, Dtype::F32);
            let count = reduce::columns(self, &hot, routing.experts);
            let share = self.alloc(routing.experts, Dtype::F32);
            drop((count, place, slot, pairs, hot));
            // Without the last place, where what found no room was written.
            (pair.view(room - 1), used.view(room - 1), share)
        })
    }

    /// `E * (share * p.mean(0)).sum()`.
    pub fn balance(&self, share: &Tensor, p: &Tensor, routing: Routing) -> Tensor {
        self.name("balance");
        let mean = reduce::columns(self, p, routing.experts);
        let n = p.n;
        let edge = self.node("mean", [p.into()], move |sim, grads| one(sim.alloc(n, incoming(grads).dtype)));
        let mean = mean.with_edge(edge);
        let product = self.mul(share.clone(), mean);
        self.scale(self.total(product))
    }

    /// `pair // k`.
    pub fn halves(&self, pair: &Tensor) -> Tensor {
        self.name("index");
        self.alloc(pair.n, Dtype::I64)
    }

    /// `x.index_select(0, index)`: `n_rows` rows of `width`.
    pub fn pick_rows(&self, x: &Tensor, index: Tensor, n_rows: u64, width: u64) -> Tensor {
        self.name("index_select");
        let saved = self.save_if(x.needs_grad(), &index);
        let out = self.alloc(n_rows * width, x.dtype);
        let n = x.n;
        let edge = self.node("index_select", [x.into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _index = saved.as_ref().map(|it| it.get(sim));
            one(sim.alloc(n, dtype))
        });
        out.with_edge(edge)
    }

    /// `torch.zeros(N, h).index_add(0, pair // k, y * s[:, None].to(y.dtype))`.
    pub fn put_back(&self, pair: &Tensor, y: &Tensor, s: &Tensor, routing: Routing, width: u64) -> Tensor {
        self.name("index_add");
        let n = routing.n_tokens * width;
        let zeros = self.alloc(n, y.dtype);
        let index = self.halves(pair);
        let source = self.mul_rows(y.clone(), self.cast(s, y.dtype));
        let saved = [&index, &source].map(|it| self.save_if(source.needs_grad(), it));
        let out = self.alloc(n, y.dtype);
        let n_source = source.n;
        let edge = self.node("index_add", [(&source).into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            one(sim.alloc(n_source, dtype))
        });
        drop(zeros);
        out.with_edge(edge)
    }
}
