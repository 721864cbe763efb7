//! Which processes belong to the program: our own descendants, as `/proc` tells them. Elsewhere than on Linux it is the child
//! alone, without its memory.

use std::collections::{BTreeMap, BTreeSet};
use vramlab_profile::record::Process;

/// A program of our own name that holds less than this is one that has not become its program yet.
const UNBORN_PAGES: u64 = 64;
/// More processes than this are not followed, only counted: a build starts thousands.
const MOST: usize = 256;

pub struct Tree {
    own: u32,
    own_name: Option<String>,
    page_bytes: u64,
    pub processes: Vec<Process>,
    /// Alive now, with their place in the list.
    alive: BTreeMap<u32, usize>,
    foreign: BTreeSet<u32>,
    pub n_untracked: u64,
}

impl Tree {
    pub fn new() -> Self {
        Self {
            own: std::process::id(),
            own_name: name_of(std::process::id()),
            page_bytes: super::sys::page_bytes(),
            processes: Vec::new(),
            alive: BTreeMap::new(),
            foreign: BTreeSet::new(),
            n_untracked: 0,
        }
    }

    /// Looks for new processes. `row`: the sample in which they are seen.
    pub fn scan(&mut self, row: usize) {
        let mut open = vec![self.own];
        let mut seen = BTreeSet::new();
        while let Some(pid) = open.pop() {
            for child in children(pid) {
                if seen.insert(child) {
                    open.push(child);
                    self.follow(child, row);
                }
            }
        }
    }

    /// Follows our own process: what a sample of one costs.
    pub fn follow_self(&mut self) {
        self.follow(self.own, 0);
    }

    fn follow(&mut self, pid: u32, row: usize) {
        let name = name_of(pid);
        if let Some(idx) = self.alive.get(&pid) {
            // A shell becomes the program that it starts.
            if let Some(name) = name {
                self.processes[*idx].name = name;
            }
            return;
        }
        // Nothing is to be seen of one that has ended and was not waited for.
        let Some(pages) = rss_pages(pid) else { return };
        // Between the start of a program and its first instruction it still has our name, and a page or two.
        let is_unborn = pid != self.own && pages < UNBORN_PAGES && name == self.own_name;
        let Some(name) = name.filter(|_| !is_unborn) else { return };
        if self.processes.len() >= MOST {
            self.n_untracked += 1;
            return;
        }
        self.alive.insert(pid, self.processes.len());
        self.processes.push(Process { pid, name, first: row, ..Process::default() });
    }

    /// Takes one sample of every process that is alive: its resident memory, and what NVML attributes to it.
    pub fn sample(&mut self, row: usize, on_gpu: &BTreeMap<u32, u64>) {
        for pid in on_gpu.keys() {
            if !self.alive.contains_key(pid) && !self.foreign.contains(pid) {
                if is_descendant(*pid, self.own) {
                    self.follow(*pid, row);
                } else {
                    self.foreign.insert(*pid);
                }
            }
        }
        let (page_bytes, processes) = (self.page_bytes, &mut self.processes);
        self.alive.retain(|pid, idx| {
            let rss = rss_pages(*pid);
            let process = &mut processes[*idx];
            if rss.is_some() || on_gpu.contains_key(pid) {
                process.gpu.push(on_gpu.get(pid).copied());
                process.rss.push(rss.map(|pages| pages * page_bytes));
            }
            // A process that is being torn down has no memory on the host any more, but still some on the card.
            rss.is_some() || on_gpu.contains_key(pid)
        });
    }

    /// Whether NVML listed a process that is not ours: its numbers may be those of another namespace.
    pub fn has_foreign(&self) -> bool {
        !self.foreign.is_empty()
    }
}

/// Children of all threads of a process.
fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of_thread =
        |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(entry.ok()?.path().join("children")).ok();
    let lists: Vec<String> = threads.filter_map(of_thread).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|word| word.parse().ok()).collect()
}

fn name_of(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Resident pages; nothing of a process that has ended, also while its parent has not waited for it.
fn rss_pages(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok().filter(|pages| *pages > 0)
}

/// Whether `pid` descends from `ancestor`, by the parents in `/proc`.
fn is_descendant(mut pid: u32, ancestor: u32) -> bool {
    const DEEPEST: usize = 64;
    for _ in 0..DEEPEST {
        if pid == ancestor {
            return true;
        }
        match parent(pid) {
            Some(up) if up > 1 => pid = up,
            _ => return false,
        }
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold blanks and brackets; what follows its last bracket is plain.
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_child_of_a_child_is_found_with_its_memory() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 5 & wait"]).spawn().unwrap();
        let mut tree = Tree::new();
        for row in 0..100 {
            tree.scan(row);
            tree.sample(row, &BTreeMap::new());
            if tree.processes.iter().any(|process| process.name == "sleep") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let sleep = tree.processes.iter().find(|process| process.name == "sleep").expect("sleep is seen");
        assert!(sleep.rss.first().copied().flatten().is_some_and(|bytes| bytes > 100_000), "{sleep:?}");
        assert!(is_descendant(sleep.pid, std::process::id()) && !is_descendant(1, std::process::id()));
        super::super::sys::send(sleep.pid, libc::SIGKILL);
        child.wait().unwrap();
    }
}
