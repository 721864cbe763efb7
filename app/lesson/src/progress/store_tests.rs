//! Cases P1 to P5 of the storage list, on a disk in memory whose n-th operation fails.

use super::*;
use std::collections::BTreeMap;

/// Content written and content that would survive a power cut: an unsynced file is torn.
#[derive(Clone, Default)]
struct Disk {
    files: BTreeMap<String, Vec<u8>>,
    unsynced: Vec<String>,
    n_operations: usize,
    /// The operation that fails, and whether everything after it fails as well, as after a power cut.
    fails_at: Option<(usize, bool)>,
    is_read_only: bool,
    is_locked: bool,
}

impl Disk {
    fn operation(&mut self) -> io::Result<()> {
        self.n_operations += 1;
        match self.fails_at {
            Some((n, false)) if n == self.n_operations => Err(io::Error::other("injected")),
            Some((n, true)) if n <= self.n_operations => Err(io::Error::other("no power")),
            _ => Ok(()),
        }
    }

    fn change(&mut self) -> io::Result<()> {
        self.operation()?;
        if self.is_read_only { Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem)) } else { Ok(()) }
    }

    /// The disk after the machine went down: half of each unsynced file is there.
    fn after_power_cut(&self) -> Self {
        let mut files = self.files.clone();
        for name in &self.unsynced {
            if let Some(bytes) = files.get_mut(name) {
                bytes.truncate(bytes.len() / 2);
            }
        }
        Self { files, ..Self::default() }
    }

    fn with(name: &str, bytes: &[u8]) -> Self {
        Self { files: BTreeMap::from([(name.to_owned(), bytes.to_vec())]), ..Self::default() }
    }
}

impl Files for Disk {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.operation()?;
        Ok(self.files.get(name).cloned())
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        assert!(name.ends_with(TEMP), "{name} would be overwritten in place");
        let outcome = self.change();
        let n_written = if outcome.is_ok() { bytes.len() } else { bytes.len() / 3 };
        if !self.is_read_only {
            self.files.insert(name.to_owned(), bytes[..n_written].to_vec());
            self.unsynced.push(name.to_owned());
        }
        outcome
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        self.change()?;
        self.unsynced.retain(|unsynced| unsynced != name);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.change()?;
        assert!(!self.unsynced.iter().any(|name| name == from), "{from} is renamed before it is synced");
        let bytes = self.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        self.files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.change()
    }

    fn list(&mut self) -> io::Result<Vec<String>> {
        self.operation()?;
        Ok(self.files.keys().cloned().collect())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.change()?;
        self.files.remove(name);
        Ok(())
    }

    fn lock(&mut self) -> io::Result<()> {
        self.change()?;
        assert!(!self.is_locked, "locked twice");
        self.is_locked = true;
        Ok(())
    }

    fn unlock(&mut self) {
        self.is_locked = false;
    }

    fn date(&self) -> String {
        "2026-11-30".to_owned()
    }
}

fn with_steps(n: usize) -> Progress {
    let mut progress = Progress::default();
    (0..n).for_each(|step| progress.set_done("02_access_patterns", &format!("step-{step}")));
    progress
}

fn n_done(progress: &Progress) -> usize {
    progress.chapters.values().flat_map(|chapter| chapter.steps.values()).filter(|step| step.done_at.is_some()).count()
}

/// A disk with a document of one step and a backup, and the document of two steps to be saved.
fn saved_once() -> (Disk, Progress) {
    let mut disk = Disk::default();
    for n in 0..2 {
        save(&mut disk, &with_steps(n)).unwrap();
    }
    disk.n_operations = 0;
    (disk, with_steps(2))
}

fn count_operations() -> usize {
    let (mut disk, new) = saved_once();
    save(&mut disk, &new).unwrap();
    disk.n_operations
}

#[test]
fn p4_after_a_power_cut_at_any_operation_the_old_or_the_new_document_is_there() {
    let n_operations = count_operations();
    assert!(n_operations >= 9, "lock, read, 2 × (write, sync, rename), sync: {n_operations}");
    for n in 1..=n_operations + 1 {
        let (mut disk, new) = saved_once();
        disk.fails_at = Some((n, true));
        let outcome = save(&mut disk, &new);
        assert_eq!(outcome.is_ok(), n > n_operations, "operation {n}");
        let mut disk = disk.after_power_cut();
        let loaded = load(&mut disk);
        let found = n_done(&loaded.progress);
        assert!(found == 1 || found == 2, "operation {n}: {found} steps");
        assert!(outcome.is_err() || found == 2, "saved means saved");
        assert_eq!(loaded.messages, [], "operation {n}: nothing to tell");
        assert!(!disk.files.keys().any(|name| name.ends_with(TEMP)), "operation {n}: swept at the start");
    }
}

#[test]
fn p3_after_any_single_failure_the_old_document_is_intact_and_the_next_try_saves() {
    for n in 1..=count_operations() {
        let (mut disk, new) = saved_once();
        disk.fails_at = Some((n, false));
        let error = save(&mut disk, &new).unwrap_err();
        assert!(error.to_string().contains("injected"), "{error}");
        assert!(!disk.is_locked, "operation {n}: the lock is given back");
        let found = n_done(&load(&mut disk.after_power_cut()).progress);
        assert!(found == 1 || found == 2, "operation {n}: {found} steps");
        disk.fails_at = None;
        save(&mut disk, &new).unwrap();
        assert_eq!(n_done(&load(&mut disk).progress), 2, "operation {n}");
    }
}

#[test]
fn p4_loading_survives_a_failure_at_any_operation() {
    for damage in [&b""[..], b"{", b"\0\0\0\0"] {
        for n in 1..=12 {
            let (mut disk, _) = saved_once();
            disk.files.insert(MAIN.to_owned(), damage.to_vec());
            disk.files.insert(format!("{MAIN}{TEMP}"), b"half".to_vec());
            let before = disk.files.clone();
            disk.fails_at = Some((n, false));
            let _ = load(&mut disk);
            assert!(!disk.is_locked);
            assert_eq!(disk.files.get(BACKUP), before.get(BACKUP), "the good copy is never touched");
            assert!(disk.files.values().any(|bytes| bytes == damage), "nor is the damaged one deleted");
        }
    }
}

#[track_caller]
fn check_damaged(bytes: &[u8], why: &str) {
    let (mut disk, new) = saved_once();
    save(&mut disk, &new).unwrap();
    disk.files.insert(MAIN.to_owned(), bytes.to_vec());
    let loaded = load(&mut disk);
    assert_eq!(n_done(&loaded.progress), 1, "the last good copy");
    let text = loaded.messages.iter().map(|message| message.en.clone().unwrap()).collect::<Vec<_>>().join(" ");
    assert!(text.contains(why) && text.contains("progress.damaged-2026-11-30.json"), "{text}");
    assert_eq!(disk.files.get("progress.damaged-2026-11-30.json").unwrap(), bytes);
    // The next save must not take the damaged file for a good one.
    let backup = disk.files[BACKUP].clone();
    save(&mut disk, &loaded.progress).unwrap();
    assert_eq!(disk.files[BACKUP], backup, "the good copy is not overwritten by a bad one");
    assert_eq!(n_done(&load(&mut disk).progress), 1);
}

#[test]
fn p1_a_damaged_file_is_set_aside_and_the_last_good_copy_loaded() {
    check_damaged(b"", "empty");
    check_damaged(b" \n", "empty");
    check_damaged(&[0; 4096], "nothing but zeros");
    check_damaged(b"{\"vramlab_progress\": 1, \"chapters\": {\"02", "damaged");
    check_damaged(b"\xff\xfe\x00garbage", "damaged");
    check_damaged(b"{\"vramlab_progress\": 2, \"pages\": []}", "newer version (2)");
    check_damaged(b"{\"chapters\": {}}", "does not say its version");
    check_damaged(&[b"[".repeat(100_000)].concat(), "damaged");
}

#[test]
fn p1_every_prefix_of_the_file_is_noticed() {
    let bytes = with_steps(3).to_bytes();
    for end in 0..bytes.len() - 2 {
        assert!(Progress::from_bytes(&bytes[..end]).is_err(), "{end} bytes");
    }
}

#[test]
fn p1_files_set_aside_on_one_day_do_not_replace_each_other() {
    let mut disk = Disk::with(MAIN, b"first");
    let _ = load(&mut disk);
    disk.files.insert(MAIN.to_owned(), b"second".to_vec());
    let loaded = load(&mut disk);
    assert_eq!(disk.files["progress.damaged-2026-11-30.json"], b"first");
    assert_eq!(disk.files["progress.damaged-2026-11-30-2.json"], b"second");
    assert!(loaded.messages.last().unwrap().en.as_ref().unwrap().contains("begins anew"));
}

#[test]
fn p1_a_file_that_goes_bad_while_we_run_is_kept_and_replaced_by_what_we_have() {
    let (mut disk, new) = saved_once();
    disk.files.insert(MAIN.to_owned(), b"{\"vramlab_progress\": 7}".to_vec());
    let (progress, messages) = save(&mut disk, &new).unwrap();
    assert_eq!((n_done(&progress), messages.len()), (2, 1));
    assert_eq!(disk.files["progress.damaged-2026-11-30.json"], b"{\"vramlab_progress\": 7}");
    assert_eq!(n_done(&load(&mut disk).progress), 2);
}

#[test]
fn p1_both_copies_damaged() {
    let mut disk = Disk::with(MAIN, b"x");
    disk.files.insert(BACKUP.to_owned(), b"y".to_vec());
    let loaded = load(&mut disk);
    assert_eq!((n_done(&loaded.progress), loaded.messages.len()), (0, 3));
    assert_eq!(disk.files.len(), 2, "both are kept under dated names: {:?}", disk.files.keys());
}

#[test]
fn p2_a_read_only_disk_leaves_the_session_in_memory() {
    let (mut disk, new) = saved_once();
    disk.is_read_only = true;
    let loaded = load(&mut disk);
    assert_eq!((n_done(&loaded.progress), loaded.can_save, loaded.messages.len()), (1, false, 1));
    assert!(save(&mut disk, &new).is_err());
}

#[test]
fn p5_two_windows_lose_nothing() {
    let (mut disk, _) = saved_once();
    let mut one = load(&mut disk).progress;
    let mut two = load(&mut disk).progress;
    one.set_done("02_access_patterns", "in-one");
    two.set_done("05_peak", "in-two");
    one = save(&mut disk, &one).unwrap().0;
    two = save(&mut disk, &two).unwrap().0;
    one.set_done("02_access_patterns", "in-one-again");
    save(&mut disk, &one).unwrap();
    let all = load(&mut disk).progress;
    for (chapter, step) in [
        ("02_access_patterns", "step-0"),
        ("02_access_patterns", "in-one"),
        ("02_access_patterns", "in-one-again"),
        ("05_peak", "in-two"),
    ] {
        assert!(all.is_done(chapter, step), "{chapter}/{step}");
    }
    assert!(two.step("02_access_patterns", "in-one").is_some(), "the second window sees the first");
}

#[test]
fn p5_a_window_that_slept_keeps_its_answers_against_a_reset_it_never_saw() {
    let (mut disk, _) = saved_once();
    let mut busy = load(&mut disk).progress;
    let mut asleep = load(&mut disk).progress;
    (0..50).for_each(|n| busy.set_note("02_access_patterns", "", &format!("note {n}")));
    busy.reset("02_access_patterns");
    save(&mut disk, &busy).unwrap();
    asleep.set_done("02_access_patterns", "answered-after-waking");
    let all = save(&mut disk, &asleep).unwrap().0;
    assert!(all.is_done("02_access_patterns", "answered-after-waking"));
    assert!(!all.is_done("02_access_patterns", "step-0"), "the reset holds for what came before it");
}

#[test]
fn saving_the_same_again_writes_nothing() {
    let (mut disk, new) = saved_once();
    let saved = save(&mut disk, &new).unwrap().0;
    disk.n_operations = 0;
    save(&mut disk, &saved).unwrap();
    assert_eq!(disk.n_operations, 2, "lock and read");
}

/// Another document by the same rules: a list of lines, merged as a set.
#[test]
fn p5_any_document_is_merged_with_what_another_window_saved() {
    let is_good = |bytes: &[u8]| if bytes.starts_with(b"lines\n") { Ok(()) } else { Err("not lines".to_owned()) };
    let save_line = |disk: &mut Disk, line: &str| {
        let merge = |theirs: Option<&[u8]>| [theirs.unwrap_or(b"lines\n"), line.as_bytes(), b"\n"].concat();
        save_kept(disk, "runs.json", &is_good, &merge).unwrap()
    };
    let mut disk = Disk::default();
    save_line(&mut disk, "one");
    save_line(&mut disk, "two");
    assert_eq!(disk.files["runs.json"], b"lines\none\ntwo\n");
    assert_eq!(disk.files["runs.backup.json"], b"lines\none\n");
    disk.files.insert("runs.json".to_owned(), vec![0; 9]);
    let kept = load_kept(&mut disk, "runs.json", &is_good);
    assert_eq!((kept.bytes.as_deref(), kept.messages.len()), (Some(&b"lines\none\n"[..]), 2));
    assert_eq!(disk.files["runs.damaged-2026-11-30.json"], [0; 9]);
}
