//! Sixty files that are damaged, hostile, or something else, with the memory that each one costs: a clear error or an
//! answer, no panic, at once, and bounded. And of one small file for each format every prefix and every flipped bit.

mod common;
#[path = "bounded/files.rs"]
mod files;

use files::{Expect, File};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};
use vramlab_snapshot::{Analysis, Options, analysis, findings, read, segments};

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counted for each thread.
struct Counting;

fn grow(n_bytes: usize) {
    // A thread that ends has no counters any more.
    let _ended = LIVE.try_with(|live| {
        live.set(live.get().saturating_add(n_bytes));
        MOST.with(|most| most.set(most.get().max(live.get())));
    });
}

fn shrink(n_bytes: usize) {
    let _ended = LIVE.try_with(|live| live.set(live.get().saturating_sub(n_bytes)));
}

#[expect(unsafe_code, reason = "memory is counted where it is taken")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, n_bytes: usize) -> *mut u8 {
        grow(n_bytes);
        shrink(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(at, layout, n_bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is unpacked, and what the reader takes.
const LIMIT: usize = 64 << 20;
/// One growing table may be copied as the limit is reached.
const MOST_BYTES: usize = 3 * LIMIT;
const AT_ONCE: Duration = Duration::from_secs(10);

/// What a call answers, with the most memory that it held, bytes.
fn held<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.with(Cell::get);
    MOST.with(|most| most.set(before));
    let out = run();
    (out, MOST.with(Cell::get).saturating_sub(before))
}

#[test]
fn sixty_files_are_a_clear_error_or_an_answer() {
    let all = files::all();
    assert!(all.len() >= 60, "{}", all.len());
    let mut holes = Vec::new();
    for File { name, bytes, expect } in &all {
        let start = Instant::now();
        let (got, most) = held(|| read(bytes, LIMIT));
        let said = got.as_ref().err().map(ToString::to_string);
        let is_right = match (expect, &said) {
            (Expect::Error(says), Some(said)) => said.contains(says) && said.len() < 400,
            (Expect::Opens, None) => true,
            _ => false,
        };
        if !is_right {
            holes.push(format!("{name}: {said:?}"));
        }
        if most > MOST_BYTES || start.elapsed() > AT_ONCE {
            holes.push(format!("{name}: {most} bytes held, {:?}", start.elapsed()));
        }
        if let Ok(snapshot) = got {
            let analysis = Analysis::of(&snapshot, 0, &Options::default());
            let _ = findings::findings(&snapshot, &analysis);
            let _ = analysis::cache(&snapshot, &analysis);
            let _ = segments::at(&snapshot, &analysis, analysis.timeline.n_events());
        }
    }
    assert!(holes.is_empty(), "{}", holes.join("\n"));
}

/// The rule of a budget: the file itself, and not much more than three times as much.
#[test]
fn a_large_recording_costs_less_than_twice_its_size_beside_itself() {
    let bytes = common::many_events(300_000);
    let (got, most) = held(|| read(&bytes, 4 << 30));
    assert_eq!(got.map(|snapshot| snapshot.n_events()), Ok(300_000));
    assert!(most <= 2 * bytes.len(), "{most} bytes for {}", bytes.len());
    let (_, counted) = held(|| vramlab_snapshot::count(&bytes, 4 << 30));
    assert!(counted < most, "{counted} bytes to count, {most} to read");
}

/// One small file for each format.
#[test]
fn every_prefix_and_every_flip() {
    for (name, bytes) in files::small() {
        assert!(bytes.len() < 2048, "{name}: {}", bytes.len());
        assert!(read(&bytes, LIMIT).is_ok(), "{name}: {:?}", read(&bytes, LIMIT).err());
        let mut n_answers = 0;
        for at in 0..bytes.len() {
            let (got, most) = held(|| read(&bytes[..at], 1 << 20));
            assert!(got.is_err(), "{name}: a prefix of {at} bytes is no whole file");
            assert!(most < 8 << 20, "{name}: {most} bytes for a prefix of {at}");
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let (got, most) = held(|| read(&flipped, 1 << 20));
                assert!(most < 8 << 20, "{name}: {most} bytes with bit {bit} of byte {at} flipped");
                if let Ok(snapshot) = got {
                    n_answers += 1;
                    let analysis = Analysis::of(&snapshot, 0, &Options::default());
                    let _ = segments::at(&snapshot, &analysis, 1);
                }
            }
        }
        println!("{name}: {} bytes, {n_answers} flips still read", bytes.len());
    }
}
