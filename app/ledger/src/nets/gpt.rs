//! GPT, pre-norm: one qkv matrix, learned positions, GELU, biases everywhere but at the head.

use super::{Model, Params};
use crate::ops::{Heads, Linear};
use crate::plan::{Attention, Plan};
use crate::sim::{Dtype, Sim, Tensor};
use crate::tape::Owner;
use std::rc::Rc;

struct Block {
    ln1: [Tensor; 2],
    qkv: Linear,
    proj: Linear,
    ln2: [Tensor; 2],
    fc1: Linear,
    fc2: Linear,
    layer: usize,
    heads: Heads,
    attention: Attention,
    has_dropout: bool,
    is_apart: bool,
}

pub(super) struct Gpt {
    te: Tensor,
    pe: Tensor,
    blocks: Vec<Rc<Block>>,
    ln: [Tensor; 2],
    head: Linear,
    plan: Plan,
}

impl Block {
    fn new(plan: &Plan, params: &mut Params, layer: usize) -> Self {
        let h = plan.hidden;
        params.layer = Some(layer);
        Self {
            ln1: [params.take(h), params.take(h)],
            qkv: params.linear(h, 3 * h, true),
            proj: params.linear(h, h, true),
            ln2: [params.take(h), params.take(h)],
            fc1: params.linear(h, 4 * h, true),
            fc2: params.linear(4 * h, h, true),
            layer,
            heads: Heads { batch: plan.batch, heads: plan.heads, seq_len: plan.seq_len, head_dim: plan.head_dim() },
            attention: plan.attention,
            has_dropout: plan.has_dropout,
            is_apart: plan.is_attention_apart,
        }
    }

    fn forward(&self, sim: &Sim, x: &Tensor) -> Tensor {
        sim.enter(Some(self.layer));
        let qkv = sim.linear(sim.layer_norm(x, &self.ln1[0], &self.ln1[1]), &self.qkv);
        let [q, k, v] = sim.unbind3(qkv);
        // Locals live until the block returns.
        let _locals = (q.clone(), k.clone(), v.clone());
        let (o, _weights) = match self.attention {
            Attention::Flash => (sim.flash(q, k, v, self.heads), None),
            Attention::Math if self.is_apart => (sim.attend(&q, &k, &v, self.heads), None),
            Attention::Math => {
                let (o, weights) = sim.math_attention(q, k, v, self.heads);
                (o, Some(weights))
            }
        };
        let joined = match self.attention {
            // The transposed output of the kernel is contiguous already.
            Attention::Flash if !self.heads.is_padded() => o.clone(),
            _ => sim.copy(o.clone()),
        };
        let x = sim.add(x.clone(), self.drop_out(sim, sim.linear(joined, &self.proj)));
        let inner = sim.linear(sim.layer_norm(&x, &self.ln2[0], &self.ln2[1]), &self.fc1);
        let outer = sim.linear(sim.activation("gelu", inner), &self.fc2);
        sim.add(x.clone(), self.drop_out(sim, outer))
    }

    fn drop_out(&self, sim: &Sim, x: Tensor) -> Tensor {
        if self.has_dropout { sim.dropout(x) } else { x }
    }
}

impl Gpt {
    pub fn new(plan: &Plan, params: &mut Params) -> Self {
        let h = plan.hidden;
        params.layer = None;
        let te = params.take(plan.vocab * h);
        let pe = params.take(plan.seq_len * h);
        let blocks = (0..plan.layers as usize).map(|layer| Rc::new(Block::new(plan, params, layer))).collect();
        params.layer = None;
        let ln = [params.take(h), params.take(h)];
        let head = if plan.is_tied {
            Linear { weight: te.clone(), bias: None, k: h, c: plan.vocab, is_nf4: false }
        } else {
            params.linear(h, plan.vocab, false)
        };
        Self { te, pe, blocks, ln, head, plan: plan.clone() }
    }
}

impl Model for Gpt {
    fn forward(&self, sim: &Sim, tokens: &Tensor) -> (Tensor, Vec<Tensor>) {
        let h = self.plan.hidden;
        let x = {
            let te = sim.embedding(tokens, &self.te, h);
            sim.name("positions");
            let positions = sim.alloc_for(self.plan.seq_len, Dtype::I64, Owner::Input);
            let pe = sim.embedding(&positions, &self.pe, h);
            drop(positions);
            sim.add_shared(te, pe)
        };
        let (x, _) = super::blocks(sim, &self.plan, self.blocks.len(), x, |range| {
            let blocks: Vec<Rc<Block>> = self.blocks[range].to_vec();
            move |sim: &Sim, x: &Tensor| (blocks.iter().fold(x.clone(), |x, block| block.forward(sim, &x)), None)
        });
        sim.enter(None);
        let logits = sim.linear(sim.layer_norm(&x, &self.ln[0], &self.ln[1]), &self.head);
        sim.own(&logits, Owner::Logits);
        (logits, Vec::new())
    }

    fn input(&self) -> (u64, Dtype, Option<u64>) {
        (self.plan.n_tokens(), Dtype::I64, None)
    }
}
