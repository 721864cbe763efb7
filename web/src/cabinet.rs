//! The reader's documents in the browser: the folder that `vramlab_lesson::progress` wants, over a store of texts by
//! key. The browser's store keeps or refuses a whole value at once, so nothing is ever half written.

use std::collections::BTreeMap;
use std::io;
use vramlab_lesson::progress::Files;

/// A store of texts by key, as browsers have it. `Err` says why the browser refused.
pub trait Shelf {
    fn get(&self, key: &str) -> Result<Option<String>, String>;
    fn set(&mut self, key: &str, text: &str) -> Result<(), String>;
    fn remove(&mut self, key: &str) -> Result<(), String>;
    fn keys(&self) -> Result<Vec<String>, String>;
}

/// What holds the documents of a visit when the browser stores nothing.
#[derive(Default)]
pub struct Memory(BTreeMap<String, String>);

impl Shelf for Memory {
    fn get(&self, key: &str) -> Result<Option<String>, String> {
        Ok(self.0.get(key).cloned())
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        self.0.insert(key.to_owned(), text.to_owned());
        Ok(())
    }

    fn remove(&mut self, key: &str) -> Result<(), String> {
        self.0.remove(key);
        Ok(())
    }

    fn keys(&self) -> Result<Vec<String>, String> {
        Ok(self.0.keys().cloned().collect())
    }
}

/// Keys of this program begin with this: other pages of the same site have the same store.
const PREFIX: &str = "vramlab/";

pub struct Cabinet {
    shelf: Box<dyn Shelf>,
    /// Why nothing outlives this visit. The first lock fails with it, which tells the reader; afterwards the documents
    /// are kept in memory and saving works, so that nothing nags.
    refusal: Option<String>,
    today: String,
}

impl Cabinet {
    /// The browser's store, or memory with the reason why there is none.
    pub fn new(shelf: Result<Box<dyn Shelf>, String>, today: String) -> Self {
        let tried = shelf.and_then(|mut shelf| {
            let probe = format!("{PREFIX}probe");
            shelf.set(&probe, "1").and_then(|()| shelf.remove(&probe)).map(|()| shelf)
        });
        match tried {
            Ok(shelf) => Self { shelf, refusal: None, today },
            Err(why) => Self { shelf: Box::<Memory>::default(), refusal: Some(why), today },
        }
    }

    fn take(&self, name: &str) -> io::Result<String> {
        let found = self.shelf.get(&key(name)).map_err(io::Error::other)?;
        found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

impl Files for Cabinet {
    fn read(&mut self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let found = self.shelf.get(&key(name)).map_err(io::Error::other)?;
        Ok(found.map(String::into_bytes))
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        self.shelf.set(&key(name), text).map_err(io::Error::other)
    }

    fn sync(&mut self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    /// The new value is set before the old key goes. When the store is full even for that, the copy makes room first:
    /// it is in our hands, and comes back if the value is refused all the same.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let text = self.take(from)?;
        if self.shelf.set(&key(to), &text).is_err() {
            self.shelf.remove(&key(from)).map_err(io::Error::other)?;
            if let Err(why) = self.shelf.set(&key(to), &text) {
                let _ = self.shelf.set(&key(from), &text);
                return Err(io::Error::other(why));
            }
            return Ok(());
        }
        self.shelf.remove(&key(from)).map_err(io::Error::other)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn list(&mut self) -> io::Result<Vec<String>> {
        let keys = self.shelf.keys().map_err(io::Error::other)?;
        Ok(keys.iter().filter_map(|key| key.strip_prefix(PREFIX)).map(str::to_owned).collect())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.shelf.remove(&key(name)).map_err(io::Error::other)
    }

    /// Other tabs run between our tasks, never inside one, and a save is one task.
    fn lock(&mut self) -> io::Result<()> {
        self.refusal.take().map_or(Ok(()), |why| Err(io::Error::other(why)))
    }

    fn unlock(&mut self) {}

    fn date(&self) -> String {
        self.today.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_lesson::progress::{Progress, load, save};

    /// A store that takes so many bytes.
    #[derive(Default)]
    struct Small {
        kept: Memory,
        room: usize,
    }

    impl Shelf for Small {
        fn get(&self, key: &str) -> Result<Option<String>, String> {
            self.kept.get(key)
        }

        fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
            let others: usize = self.kept.0.iter().filter(|(known, _)| *known != key).map(|(_, text)| text.len()).sum();
            if others + text.len() > self.room {
                return Err("QuotaExceededError".to_owned());
            }
            self.kept.set(key, text)
        }

        fn remove(&mut self, key: &str) -> Result<(), String> {
            self.kept.remove(key)
        }

        fn keys(&self) -> Result<Vec<String>, String> {
            self.kept.keys()
        }
    }

    fn cabinet(shelf: Result<Box<dyn Shelf>, String>) -> Cabinet {
        Cabinet::new(shelf, "2026-11-30".to_owned())
    }

    fn with_step(step: &str) -> Progress {
        let mut progress = Progress::default();
        progress.set_done("02_access_patterns", step);
        progress
    }

    #[test]
    fn progress_is_found_again() {
        let mut files = cabinet(Ok(Box::<Memory>::default()));
        save(&mut files, &with_step("puzzle")).unwrap();
        let loaded = load(&mut files);
        assert!(loaded.progress.is_done("02_access_patterns", "puzzle") && loaded.can_save);
        assert_eq!(loaded.messages, []);
        assert!(files.list().unwrap().iter().all(|name| !name.ends_with(".unfinished") && name != "probe"));
    }

    #[test]
    fn b2_a_blocked_store_is_told_once_and_the_visit_goes_on_in_memory() {
        let mut files = cabinet(Err("SecurityError".to_owned()));
        let loaded = load(&mut files);
        assert_eq!((loaded.messages.len(), loaded.can_save), (1, false));
        assert!(loaded.messages[0].en.as_ref().unwrap().contains("SecurityError"));
        save(&mut files, &with_step("puzzle")).unwrap();
        let again = load(&mut files);
        assert!(again.progress.is_done("02_access_patterns", "puzzle"));
        assert_eq!(again.messages, []);
    }

    #[test]
    fn b2_a_store_without_room_at_the_start_counts_as_blocked() {
        let mut files = cabinet(Ok(Box::new(Small { room: 0, ..Small::default() })));
        assert_eq!(load(&mut files).messages.len(), 1);
        save(&mut files, &with_step("puzzle")).unwrap();
    }

    #[test]
    fn b2_a_store_that_fills_up_keeps_the_last_document_it_took() {
        let mut progress = with_step("puzzle");
        let room = 3 * progress.to_bytes().len();
        let mut files = cabinet(Ok(Box::new(Small { room, ..Small::default() })));
        save(&mut files, &progress).unwrap();
        progress.set_note("02_access_patterns", "", &"x".repeat(room));
        let error = save(&mut files, &progress).unwrap_err();
        assert!(error.to_string().contains("QuotaExceededError"), "{error}");
        let loaded = load(&mut files);
        assert!(loaded.progress.is_done("02_access_patterns", "puzzle"));
        assert_eq!(loaded.messages, []);
    }
}
