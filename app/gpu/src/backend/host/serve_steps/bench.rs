//! The memory of a step and its launches.

use super::super::{Card, Stage};
use super::lists::{ITEM_WORDS, Lists};
use super::{BLOCK_TOKENS, HEAD, INNER, KV_HEADS, LAYER_ROWS, Q_HEADS};
use crate::error::RunError;
use std::time::{Duration, Instant};
use vramlab_serve::replay::Work;
use vramlab_trace::run::median;

/// Tokens of a step at most, and of the product that the rate of sums is read from.
pub const MOST_TOKENS: u64 = 512;
/// Queries of a place for partial results.
const QUERIES: u64 = 64;
/// Keys of the fills.
pub const KEYS: [u32; 3] = [0x1357_9BDF, 0x2468_ACE0, 0x0F1E_2D3C];
const WARM: Duration = Duration::from_millis(40);
const SAMPLES: usize = 5;
/// Launches over which an empty one is timed.
const EMPTY: u32 = 64;

pub struct Bench {
    pub n_layers: u64,
    /// Rows of a layer's keys, and of its values.
    pub kv_rows: u64,
    pub weights: u64,
    pub cache: u64,
    pub x: u64,
    pub made: u64,
    pub seen: u64,
    partial: u64,
    whole: u64,
    arrived: u64,
    table: u64,
    items: [u64; 2],
    pub lists: Lists,
    tokens: u64,
}

impl Bench {
    /// Takes memory for the largest of `works` and fills the inputs.
    pub fn open(stage: &mut Stage<'_>, n_layers: u64, pool_blocks: u64, works: &[&Work]) -> Result<Self, RunError> {
        let lists: Vec<Lists> = works.iter().map(|work| Lists::of(work)).collect();
        let most = |of: fn(&Lists) -> usize| lists.iter().map(of).max().unwrap_or(1).max(1) as u64;
        let places = most(|lists| lists.n_places as usize) * KV_HEADS;
        let item = 4 * ITEM_WORDS as u64;
        let kv_rows = pool_blocks * BLOCK_TOKENS * KV_HEADS;
        let bench = Self {
            n_layers,
            kv_rows,
            weights: stage.must(n_layers * LAYER_ROWS * INNER * 2)?,
            cache: stage.must(n_layers * 2 * kv_rows * HEAD * 2)?,
            x: stage.must(MOST_TOKENS * INNER * 2)?,
            made: stage.must(MOST_TOKENS * LAYER_ROWS * 2)?,
            seen: stage.must(MOST_TOKENS * Q_HEADS * HEAD * 4)?,
            partial: stage.must(places * QUERIES * HEAD * 4)?,
            whole: stage.must(places * QUERIES * 8)?,
            arrived: stage.must(places * 4)?,
            table: stage.must(4 * most(|lists| lists.table.len()))?,
            items: [
                stage.must(item * most(|lists| lists.decodes.len()))?,
                stage.must(item * most(|lists| lists.chunks.len()))?,
            ],
            lists: Lists::default(),
            tokens: 0,
        };
        let fills = [
            (bench.weights, n_layers * LAYER_ROWS * INNER),
            (bench.cache, n_layers * 2 * kv_rows * HEAD),
            (bench.x, MOST_TOKENS * INNER),
        ];
        for ((address, n), key) in fills.into_iter().zip(KEYS) {
            stage.card.launch("fill", 2048, 256, &[address, n / 2, key.into()])?;
        }
        stage.card.set(bench.arrived, 0, places * 4)?;
        stage.card.set(bench.made, 0xFF, MOST_TOKENS * LAYER_ROWS * 2)?;
        stage.card.set(bench.seen, 0xFF, MOST_TOKENS * Q_HEADS * HEAD * 4)?;
        stage.card.sync()?;
        Ok(bench)
    }

    pub fn close(&self, card: &mut dyn Card) -> Result<(), RunError> {
        let all = [self.weights, self.cache, self.x, self.made, self.seen, self.partial, self.whole, self.arrived];
        all.into_iter().chain([self.table]).chain(self.items).try_for_each(|address| card.free(address))
    }

    /// Brings the lists of a step to the card.
    pub fn load(&mut self, card: &mut dyn Card, work: &Work) -> Result<(), RunError> {
        self.lists = Lists::of(work);
        self.tokens = work.tokens().into();
        upload(card, self.table, self.lists.table.iter().copied())?;
        upload(card, self.items[0], self.lists.decodes.iter().flatten().copied())?;
        upload(card, self.items[1], self.lists.chunks.iter().flatten().copied())
    }

    /// Warm by time, not by count.
    pub fn warm(&mut self, stage: &mut Stage<'_>) -> Result<(), RunError> {
        let start = Instant::now();
        loop {
            stage.cx.check()?;
            self.products_of(stage.card, 16)?;
            self.products_of(stage.card, MOST_TOKENS)?;
            stage.card.sync()?;
            if cfg!(test) || start.elapsed() >= WARM {
                return Ok(());
            }
        }
    }

    /// Nanoseconds of an empty launch, one of many in a row.
    pub fn launches(&mut self, stage: &mut Stage<'_>) -> Result<f64, RunError> {
        let ns = self.median(stage, |_, card| (0..EMPTY).try_for_each(|_| card.launch("nothing", 1, 32, &[])))?;
        Ok(ns / f64::from(EMPTY))
    }

    /// Nanoseconds of `work` by the card's clock, the median of a few.
    pub fn median(
        &mut self,
        stage: &mut Stage<'_>,
        work: impl Fn(&Self, &mut dyn Card) -> Result<(), RunError>,
    ) -> Result<f64, RunError> {
        let mut samples = Vec::new();
        for _ in 0..SAMPLES {
            stage.cx.check()?;
            samples.push(self.timed(stage.card, &work)?);
        }
        Ok(median(&samples).unwrap_or(1.0))
    }

    fn timed(
        &self,
        card: &mut dyn Card,
        work: impl Fn(&Self, &mut dyn Card) -> Result<(), RunError>,
    ) -> Result<f64, RunError> {
        // Everything is queued while this spins.
        card.busy(40 + 6 * (3 * self.n_layers).max(EMPTY.into()))?;
        card.start_clock()?;
        work(self, card)?;
        card.stop_clock()
    }

    /// Nanoseconds of the step that was loaded.
    pub fn step(&self, card: &mut dyn Card) -> Result<f64, RunError> {
        self.timed(card, |bench, card| {
            (0..bench.n_layers).try_for_each(|layer| {
                bench.products(card, layer, bench.tokens)?;
                bench.attend(card, layer)
            })
        })
    }

    pub fn products_of(&self, card: &mut dyn Card, tokens: u64) -> Result<(), RunError> {
        (0..self.n_layers).try_for_each(|layer| self.products(card, layer, tokens))
    }

    pub fn attention(&self, card: &mut dyn Card) -> Result<(), RunError> {
        (0..self.n_layers).try_for_each(|layer| self.attend(card, layer))
    }

    fn products(&self, card: &mut dyn Card, layer: u64, tokens: u64) -> Result<(), RunError> {
        let tile = match tokens {
            0..=16 => 16,
            17..=32 => 32,
            33..=64 => 64,
            _ => 128,
        };
        let stages = if tile == 32 || tile == 64 { 4 } else { 3 };
        let blocks = LAYER_ROWS / 128 * tokens.div_ceil(tile);
        let shape = [blocks as u32, 128, (stages * (128 + tile) * 128) as u32];
        let weights = self.weights + layer * LAYER_ROWS * INNER * 2;
        let args = [weights, self.x, self.made, tokens, LAYER_ROWS];
        card.launch_shared(&format!("products_{tile}"), shape, &args)
    }

    fn attend(&self, card: &mut dyn Card, layer: u64) -> Result<(), RunError> {
        let keys = self.cache + layer * 2 * self.kv_rows * HEAD * 2;
        let lists = [("decodes", &self.lists.decodes, self.items[0]), ("chunks", &self.lists.chunks, self.items[1])];
        for (entry, items, address) in lists {
            if items.is_empty() {
                continue;
            }
            let args = [
                self.x,
                keys,
                keys + self.kv_rows * HEAD * 2,
                self.table,
                address,
                self.partial,
                self.whole,
                self.arrived,
                self.seen,
            ];
            card.launch(entry, items.len() as u32 * KV_HEADS as u32, 128, &args)?;
        }
        Ok(())
    }
}

fn upload(card: &mut dyn Card, address: u64, words: impl Iterator<Item = u32>) -> Result<(), RunError> {
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    if bytes.is_empty() {
        return Ok(());
    }
    let host = card.host(bytes.len() as u64, false)?;
    card.host_bytes(host)?.copy_from_slice(&bytes);
    card.upload(address, host)?;
    card.sync()?;
    card.drop_host(host)
}
