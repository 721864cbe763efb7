//! Top-k routing with a capacity: every expert computes C rows, empty ones too, so that no size depends on the data.

use super::Params;
use crate::ops::{Linear, Routing};
use crate::plan::Plan;
use crate::sim::{Dtype, Sim, Tensor};

pub(super) struct Experts {
    router: Linear,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
    routing: Routing,
    hidden: u64,
    ffn: u64,
}

impl Experts {
    pub fn new(plan: &Plan, params: &mut Params) -> Self {
        let routing = Routing {
            n_tokens: plan.n_tokens(),
            experts: plan.experts,
            top_k: plan.top_k,
            capacity: plan.expert_capacity(),
        };
        let size = plan.experts * plan.hidden * plan.ffn;
        // A module's children are moved before its own parameters.
        let router = params.linear(plan.hidden, plan.experts, false);
        params.stand_behind(3);
        let [gate, up, down] = [0; 3].map(|_| params.take(size));
        Self { router, gate, up, down, routing, hidden: plan.hidden, ffn: plan.ffn }
    }

    /// The output and the load-balance loss.
    pub fn forward(&self, sim: &Sim, n: &Tensor) -> (Tensor, Tensor) {
        let routing = self.routing;
        let p = sim.softmax(sim.cast_away(sim.linear(n.clone(), &self.router), Dtype::F32));
        let (w, chosen) = sim.top_k(&p, routing);
        let w = sim.normalise(w, routing);
        let (pair, used, share) = sim.places(&chosen, routing);
        let balance = sim.balance(&share, &p, routing);
        let n_rows = routing.experts * routing.capacity;
        let rows = sim.pick_rows(n, sim.halves(&pair), n_rows, self.hidden);
        let inner = n_rows * self.ffn;
        let y = {
            let gate = sim.activation("silu", sim.bmm(rows.clone(), self.gate.clone(), inner));
            let up = sim.bmm(rows.clone(), self.up.clone(), inner);
            sim.bmm(sim.mul(gate, up), self.down.clone(), n_rows * self.hidden)
        };
        let s = sim.mul(sim.pick_rows(&w, pair.clone(), n_rows, 1), used.clone());
        let out = sim.put_back(&pair, &y, &s, routing, self.hidden);
        drop((p, w, chosen, rows, y, s, pair, used, share));
        (out, balance)
    }
}
