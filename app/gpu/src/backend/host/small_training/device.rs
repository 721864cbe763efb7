//! The card as a device for training: a stream-ordered pool for memory, kernels of ours for the operations.

use crate::backend::host::Card;
use crate::error::RunError;
use std::collections::BTreeMap;
use vramlab_train::device::{Adam, Buf, Device, Op, Trouble};
use vramlab_train::net::Heads;

const WORD: u64 = 4;
const THREADS: u32 = 256;

/// A card in training. What the card said last when it failed is kept, because a step only hears that it did.
pub struct OnCard<'a> {
    card: &'a mut dyn Card,
    pub fault: Option<RunError>,
    /// Copies that wait on the host, and pinned memory that is free again, by size: pinning takes longer than copying.
    hosts: BTreeMap<u64, u64>,
    spare: BTreeMap<u64, Vec<u64>>,
}

impl<'a> OnCard<'a> {
    pub fn new(card: &'a mut dyn Card) -> Self {
        Self { card, fault: None, hosts: BTreeMap::new(), spare: BTreeMap::new() }
    }

    fn told<T>(&mut self, said: Result<T, RunError>) -> Result<T, Trouble> {
        said.map_err(|error| {
            let what = error.to_string();
            self.fault = Some(error);
            Trouble::Device(what)
        })
    }

    fn upload(&mut self, buf: Buf, bytes: &[u8]) -> Result<(), RunError> {
        let host = self.card.host(bytes.len() as u64, false)?;
        self.card.host_bytes(host)?.copy_from_slice(bytes);
        self.card.upload(buf, host)?;
        self.card.sync()?;
        self.card.drop_host(host)
    }

    fn download(&mut self, buf: Buf, words: usize) -> Result<Vec<f64>, RunError> {
        let mut bytes = vec![0_u8; words * WORD as usize];
        self.card.sync()?;
        self.card.get(buf, &mut bytes)?;
        let number = |word: &[u8]| f64::from(f32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Ok(bytes.chunks_exact(WORD as usize).map(number).collect())
    }

    /// Copies to pinned memory: a copy from pageable memory would wait for one more copy on the host.
    fn away(&mut self, buf: Buf, words: usize) -> Result<u64, RunError> {
        let bytes = words as u64 * WORD;
        let host = match self.spare.get_mut(&bytes).and_then(Vec::pop) {
            Some(host) => host,
            None => self.card.host(bytes, true)?,
        };
        self.hosts.insert(host, bytes);
        self.card.download(buf, host)?;
        Ok(host)
    }

    /// Copies back. Everything is on one stream: the memory may be used again at once.
    fn back(&mut self, host: u64, buf: Buf) -> Result<(), RunError> {
        self.card.upload(buf, host)?;
        if let Some(bytes) = self.hosts.remove(&host) {
            self.spare.entry(bytes).or_default().push(host);
        }
        Ok(())
    }
}

/// Pinned memory goes back when nothing is queued any more.
impl Drop for OnCard<'_> {
    fn drop(&mut self) {
        let _ = self.card.sync();
        let spare = std::mem::take(&mut self.spare).into_values().flatten();
        for host in spare.chain(std::mem::take(&mut self.hosts).into_keys()) {
            let _ = self.card.drop_host(host);
        }
    }
}

impl Device for OnCard<'_> {
    fn word(&self) -> u64 {
        WORD
    }

    fn malloc(&mut self, words: usize) -> Result<Option<Buf>, Trouble> {
        let taken = self.card.pool_malloc(words as u64 * WORD);
        self.told(taken)
    }

    fn free(&mut self, buf: Buf) -> Result<(), Trouble> {
        let done = self.card.pool_free(buf);
        self.told(done)
    }

    fn put(&mut self, buf: Buf, values: &[f64]) -> Result<(), Trouble> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
        let done = self.upload(buf, &bytes);
        self.told(done)
    }

    fn get(&mut self, buf: Buf, words: usize) -> Result<Vec<f64>, Trouble> {
        let got = self.download(buf, words);
        self.told(got)
    }

    fn run(&mut self, op: &Op) -> Result<(), Trouble> {
        let launch = Launch::of(op);
        let done = self.card.launch(launch.entry, launch.n_blocks, THREADS, &launch.args);
        self.told(done)
    }

    fn park(&mut self, buf: Buf, words: usize) -> Result<u64, Trouble> {
        let host = self.away(buf, words);
        self.told(host)
    }

    fn unpark(&mut self, parked: u64, buf: Buf, _words: usize) -> Result<(), Trouble> {
        let done = self.back(parked, buf);
        self.told(done)
    }

    fn sync(&mut self) -> Result<(), Trouble> {
        let done = self.card.sync();
        self.told(done)
    }
}

/// One kernel of `small_training.cu` with its words, in the order of its parameters.
pub struct Launch {
    pub entry: &'static str,
    pub n_blocks: u32,
    pub args: Vec<u64>,
}

fn blocks(n: usize, each: usize) -> u32 {
    u32::try_from(n.div_ceil(each)).unwrap_or(u32::MAX).max(1)
}

fn float(value: f64) -> u64 {
    u64::from((value as f32).to_bits())
}

impl Launch {
    fn new(entry: &'static str, n_blocks: u32, args: impl Into<Vec<u64>>) -> Self {
        Self { entry, n_blocks, args: args.into() }
    }

    pub fn of(op: &Op) -> Self {
        match *op {
            Op::Gemm { out, a, b, m, n, k, ta, tb, add } => {
                let flags = u64::from(ta) + 2 * u64::from(tb) + 4 * u64::from(add);
                let tiles = blocks(m, 64) * blocks(n, 64);
                Self::new("gemm", tiles, [out, a, b, m as u64, n as u64, k as u64, flags])
            }
            Op::Bias { y, bias, rows, cols } => {
                Self::new("bias", blocks(rows * cols, 256), [y, bias, (rows * cols) as u64, cols as u64])
            }
            Op::BiasGrad { out, dy, rows, cols, add } => {
                Self::new("bias_grad", blocks(cols, 32), [out, dy, rows as u64, cols as u64, add.into()])
            }
            Op::Gelu { y, x, n } => Self::new("gelu", blocks(n, 256), [y, x, n as u64]),
            Op::GeluBack { dx, dy, x, n } => Self::new("gelu_back", blocks(n, 256), [dx, dy, x, n as u64]),
            Op::Add { y, x, n } => Self::new("add", blocks(n, 256), [y, x, n as u64]),
            Op::Sum { out, a, b, n } => Self::new("sum", blocks(n, 256), [out, a, b, n as u64]),
            Op::Loss { loss, logits, targets, rows, cols, scale } => {
                Self::new("loss", blocks(rows, 1), [loss, logits, targets, cols as u64, float(scale)])
            }
            Op::Sgd { w, g, n, rate } => Self::new("sgd", blocks(n, 256), [w, g, n as u64, float(rate)]),
            Op::AdamW { w, g, m, v, n, adam } => Self::adamw([w, g, m, v], n, adam),
            Op::Norm { .. } | Op::NormBack { .. } | Op::NormGrad { .. } => Self::norm(op),
            Op::Scores { p, qkv, heads } => Self::attention("scores", heads, true, &[p, qkv]),
            Op::Mix { out, p, qkv, heads } => Self::attention("mix", heads, false, &[out, p, qkv]),
            Op::ScoresBack { ds, dout, p, qkv, heads } => {
                Self::attention("scores_back", heads, true, &[ds, dout, p, qkv])
            }
            Op::MixBack { dqkv, ds, dout, p, qkv, heads } => {
                Self::attention("mix_back", heads, false, &[dqkv, ds, dout, p, qkv])
            }
        }
    }

    fn norm(op: &Op) -> Self {
        match *op {
            Op::Norm { y, stats, x, gamma, beta, rows, cols } => {
                Self::new("layer_norm", blocks(rows, 1), [y, stats, x, gamma, beta, cols as u64])
            }
            Op::NormBack { dx, dy, x, stats, gamma, rows, cols } => {
                Self::new("layer_norm_back", blocks(rows, 1), [dx, dy, x, stats, gamma, cols as u64])
            }
            Op::NormGrad { dgamma, dbeta, dy, x, stats, rows, cols, add } => {
                let args = [dgamma, dbeta, dy, x, stats, rows as u64, cols as u64, add.into()];
                Self::new("layer_norm_grad", blocks(cols, 32), args)
            }
            _ => Self::new("add", 1, [0, 0, 0]),
        }
    }

    fn adamw(places: [u64; 4], n: usize, adam: Adam) -> Self {
        let numbers = [adam.rate, adam.beta1, adam.beta2, adam.eps, adam.decay, adam.correct1, adam.correct2];
        let mut args = places.to_vec();
        args.push(n as u64);
        args.extend(numbers.map(float));
        Self::new("adamw", blocks(n, 256), args)
    }

    /// A block a row of scores, or a block a row of tokens.
    fn attention(entry: &'static str, heads: Heads, is_by_head: bool, places: &[u64]) -> Self {
        let rows = heads.batch * heads.seq * if is_by_head { heads.heads } else { 1 };
        let mut args = places.to_vec();
        args.extend([heads.seq as u64, heads.heads as u64, heads.size as u64]);
        Self::new(entry, blocks(rows, 1), args)
    }
}
