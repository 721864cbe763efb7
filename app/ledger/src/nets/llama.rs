//! Llama: RMSNorm, rotary positions, grouped heads, SwiGLU or experts, no biases; with adapters on q and v the rest is frozen.

use super::moe::Experts;
use super::{Model, Params};
use crate::ops::{Heads, Linear};
use crate::plan::{Attention, Net, Norm, Plan};
use crate::sim::{Dtype, Sim, Tensor};
use crate::tape::Owner;
use std::cell::OnceCell;
use std::rc::Rc;

/// A linear layer without bias, an adapter beside it.
struct Adapted {
    base: Linear,
    adapter: Option<[Linear; 2]>,
}

enum FeedForward {
    SwiGlu([Linear; 3]),
    Experts(Experts),
}

struct Block {
    n1: Tensor,
    q: Adapted,
    k: Adapted,
    v: Adapted,
    o: Adapted,
    /// Over each head of q and of k.
    head_norms: Option<[Tensor; 2]>,
    p1: Option<Tensor>,
    n2: Tensor,
    ff: FeedForward,
    p2: Option<Tensor>,
    layer: usize,
    plan: Rc<Plan>,
    tables: Rc<OnceCell<[Tensor; 2]>>,
}

pub(super) struct Llama {
    te: Tensor,
    blocks: Vec<Rc<Block>>,
    norm: Tensor,
    head: Linear,
    plan: Rc<Plan>,
    tables: Rc<OnceCell<[Tensor; 2]>>,
}

impl Adapted {
    fn new(params: &mut Params, plan: &Plan, k: u64, c: u64, has_adapter: bool, has_bias: bool) -> Self {
        let rank = if has_adapter { plan.lora_rank } else { 0 };
        let base = params.base(plan, k, c, has_bias);
        let adapter = (rank > 0).then(|| [params.linear(k, rank, false), params.linear(rank, c, false)]);
        Self { base, adapter }
    }

    /// `base(x)`, or `base(x) + 2 * b(a(x))`.
    fn forward(&self, sim: &Sim, x: &Tensor) -> Tensor {
        let base = sim.linear(x.clone(), &self.base);
        match &self.adapter {
            None => base,
            Some([a, b]) => sim.add(base, sim.scale(sim.linear(sim.linear(x.clone(), a), b))),
        }
    }
}

fn norm(sim: &Sim, plan: &Plan, x: &Tensor, weight: &Tensor) -> Tensor {
    match plan.norm {
        Norm::Fused => sim.rms_norm(x, weight),
        Norm::Plain => sim.rms_norm_plain(x, weight),
    }
}

impl Block {
    fn new(plan: &Rc<Plan>, params: &mut Params, layer: usize, tables: &Rc<OnceCell<[Tensor; 2]>>) -> Self {
        params.layer = Some(layer);
        let (h, d) = (plan.hidden, plan.head_dim());
        let (inner, shared) = (plan.heads * d, plan.kv_heads * d);
        let extras = plan.extras;
        let has_bias = extras.has_qkv_bias;
        let behind = |params: &mut Params| extras.has_post_norms.then(|| params.frozen(plan, h));
        Self {
            n1: params.frozen(plan, h),
            q: Adapted::new(params, plan, h, inner, true, has_bias),
            k: Adapted::new(params, plan, h, shared, false, has_bias),
            v: Adapted::new(params, plan, h, shared, true, has_bias),
            o: Adapted::new(params, plan, inner, h, false, false),
            head_norms: extras.has_head_norms.then(|| [params.frozen(plan, d), params.frozen(plan, d)]),
            p1: behind(params),
            n2: params.frozen(plan, h),
            ff: match plan.net {
                Net::Moe => FeedForward::Experts(Experts::new(plan, params)),
                _ => FeedForward::SwiGlu([
                    params.base(plan, h, plan.ffn, false),
                    params.base(plan, h, plan.ffn, false),
                    params.base(plan, plan.ffn, h, false),
                ]),
            },
            p2: behind(params),
            layer,
            plan: Rc::clone(plan),
            tables: Rc::clone(tables),
        }
    }

    fn attention(&self, sim: &Sim, n: Tensor) -> Tensor {
        let plan = &self.plan;
        let heads = Heads { batch: plan.batch, heads: plan.heads, seq_len: plan.seq_len, head_dim: plan.head_dim() };
        let [cos, sin] = self.tables.get().expect("tables are made before the first step");
        // Written out, the transposed heads are not in the order of the projections; with shared heads the sum over them is.
        let is_copied_back = plan.attention == Attention::Math && plan.batch > 1;
        let is_shared = plan.kv_heads < plan.heads;
        let view = |x: Tensor, is_strided: bool| if is_strided { sim.strided(x) } else { x };
        let turned = |x: Tensor, which: usize| match &self.head_norms {
            None => sim.rotate(&x, cos, sin),
            Some(norms) => sim.rotate(&norm(sim, plan, &x, &norms[which]), cos, sin),
        };
        let q = turned(view(self.q.forward(sim, &n), is_copied_back), 0);
        let k = turned(view(self.k.forward(sim, &n), is_copied_back && !is_shared), 1);
        let v = view(self.v.forward(sim, &n), is_copied_back && !is_shared);
        let times = plan.heads / plan.kv_heads;
        let is_view = plan.kv_heads == 1;
        let (wide_k, wide_v) = (sim.repeat(k.clone(), times, is_view), sim.repeat(v.clone(), times, is_view));
        let mixed = match plan.attention {
            Attention::Flash => sim.flash(q.clone(), wide_k, wide_v, heads),
            Attention::Math => {
                let (wide_k, wide_v) = (wide_k, wide_v);
                sim.attend(&q, &wide_k, &wide_v, heads)
            }
        };
        let joined = match plan.attention {
            Attention::Flash if !heads.is_padded() => mixed.clone(),
            _ => sim.copy(mixed.clone()),
        };
        self.o.forward(sim, &joined)
    }

    fn forward(&self, sim: &Sim, x: &Tensor) -> (Tensor, Option<Tensor>) {
        sim.enter(Some(self.layer));
        let mixed = self.attention(sim, norm(sim, &self.plan, x, &self.n1));
        let x = sim.add(x.clone(), self.behind(sim, mixed, self.p1.as_ref()));
        let n = norm(sim, &self.plan, &x, &self.n2);
        let (out, balance) = match &self.ff {
            FeedForward::SwiGlu([gate, up, down]) => {
                let inner = sim.mul(sim.activation("silu", sim.linear(n.clone(), gate)), sim.linear(n.clone(), up));
                (sim.linear(inner, down), None)
            }
            FeedForward::Experts(experts) => {
                let (out, balance) = experts.forward(sim, &n);
                (out, Some(balance))
            }
        };
        drop(n);
        if self.p2.is_some() {
            return (sim.add(x.clone(), self.behind(sim, out, self.p2.as_ref())), balance);
        }
        (sim.add(x.clone(), out.clone()), balance)
    }

    /// Through the norm behind a part, if there is one.
    fn behind(&self, sim: &Sim, x: Tensor, weight: Option<&Tensor>) -> Tensor {
        match weight {
            Some(weight) => norm(sim, &self.plan, &x, weight),
            None => x,
        }
    }
}

impl Llama {
    pub fn new(plan: &Plan, params: &mut Params) -> Self {
        let plan = Rc::new(plan.clone());
        let tables = Rc::default();
        params.layer = None;
        let te = params.frozen(&plan, plan.vocab * plan.hidden);
        let blocks =
            (0..plan.layers as usize).map(|layer| Rc::new(Block::new(&plan, params, layer, &tables))).collect();
        params.layer = None;
        let norm = params.frozen(&plan, plan.hidden);
        let head = if plan.is_tied {
            Linear { weight: te.clone(), bias: None, k: plan.hidden, c: plan.vocab, is_nf4: false }
        } else {
            let weight = params.frozen(&plan, plan.hidden * plan.vocab);
            Linear { weight, bias: None, k: plan.hidden, c: plan.vocab, is_nf4: false }
        };
        Self { te, blocks, norm, head, plan, tables }
    }
}

impl Model for Llama {
    fn make_buffers(&self, sim: &Sim) {
        let dtype = if self.plan.precision == crate::Precision::Fp32 { Dtype::F32 } else { Dtype::Bf16 };
        sim.name("rope tables");
        let table = || sim.alloc_for(self.plan.seq_len * self.plan.head_dim(), dtype, Owner::Input);
        let _ = self.tables.set([table(), table()]);
    }

    fn forward(&self, sim: &Sim, tokens: &Tensor) -> (Tensor, Vec<Tensor>) {
        let embedded = sim.embedding(tokens, &self.te, self.plan.hidden);
        let embedded = if self.plan.extras.is_scaled { sim.scale(embedded) } else { embedded };
        // Without experts the loop is a function of its own, and the embedding stays in the caller's local.
        let is_moe = self.plan.net == Net::Moe;
        let _kept = (!is_moe).then(|| embedded.clone());
        let (x, balances) = super::blocks(sim, &self.plan, self.blocks.len(), embedded, |range| {
            let blocks: Vec<Rc<Block>> = self.blocks[range].to_vec();
            move |sim: &Sim, x: &Tensor| {
                let mut balance = None;
                let mut at = x.clone();
                for block in &blocks {
                    (at, balance) = block.forward(sim, &at);
                }
                (at, balance)
            }
        });
        sim.enter(None);
        let normed = norm(sim, &self.plan, &x, &self.norm);
        // A mixture's loop leaves the last block's output in a local.
        let _local = is_moe.then_some(x);
        let logits = sim.linear(normed.clone(), &self.head);
        sim.own(&logits, Owner::Logits);
        let logits = if self.plan.extras.is_capped { sim.cap(&logits) } else { logits };
        drop(normed);
        (logits, balances)
    }

    fn input(&self) -> (u64, Dtype, Option<u64>) {
        (self.plan.n_tokens(), Dtype::I64, None)
    }
}
