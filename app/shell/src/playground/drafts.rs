//! The reader's kernels as they are kept: one small document, saved within two seconds of a change, merged with that of another window.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vramlab_views::playground::desk::Draft;

pub const SCHEMA: u32 = 1;
/// Texts of one kernel that can come back.
const MOST_SHELF: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shelf: Vec<String>,
    is_tried: bool,
    is_solved: bool,
}

/// Every kernel that the reader has touched, by the name of its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drafts {
    schema: u32,
    kernels: BTreeMap<String, Kept>,
    /// As they were on disk when this window last looked.
    #[serde(skip)]
    synced: BTreeMap<String, Kept>,
}

impl Drafts {
    pub fn from_json(text: &str) -> Result<Self, String> {
        let mut this: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        this.synced.clone_from(&this.kernels);
        Ok(this)
    }

    pub fn to_json(&self) -> String {
        let this = Self { schema: SCHEMA, ..self.clone() };
        serde_json::to_string_pretty(&this).expect("drafts are plain data")
    }

    pub fn get(&self, slug: &str) -> Option<Draft> {
        let kept = self.kernels.get(slug)?;
        let (text, shelf) = (kept.text.clone(), kept.shelf.clone());
        Some(Draft { text, shelf, is_tried: kept.is_tried, is_solved: kept.is_solved })
    }

    /// Whether the exercise was tried, and whether it was solved.
    pub fn marks(&self, slug: &str) -> (bool, bool) {
        self.kernels.get(slug).map_or((false, false), |kept| (kept.is_tried || kept.text.is_some(), kept.is_solved))
    }

    pub fn put(&mut self, slug: &str, draft: Draft) {
        let Draft { text, shelf, is_tried, is_solved } = draft;
        self.kernels.insert(slug.to_owned(), Kept { text, shelf, is_tried, is_solved });
    }

    /// What two windows have written, in one: mine where I wrote. A text of theirs that mine would cover goes on the shelf.
    pub fn merge(theirs: Self, mine: &Self) -> Self {
        let mut out = theirs;
        for (slug, kept) in &mine.kernels {
            let is_mine = mine.synced.get(slug) != Some(kept);
            let other = out.kernels.get(slug);
            match other {
                Some(other) if is_mine && mine.synced.get(slug) != Some(other) => {
                    let both = both(other, kept);
                    out.kernels.insert(slug.clone(), both);
                }
                Some(_) if !is_mine => {}
                _ => drop(out.kernels.insert(slug.clone(), kept.clone())),
            }
        }
        out
    }
}

/// Two windows have changed one kernel: the second one's text stands, the first one's can be taken back.
fn both(first: &Kept, second: &Kept) -> Kept {
    let mut all = second.clone();
    all.is_tried |= first.is_tried;
    all.is_solved |= first.is_solved;
    for text in first.shelf.iter().chain(&first.text) {
        if all.text.as_ref() != Some(text) && !all.shelf.contains(text) {
            all.shelf.push(text.clone());
        }
    }
    all.shelf.drain(..all.shelf.len().saturating_sub(MOST_SHELF));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Draft {
        Draft { text: Some(text.to_owned()), ..Draft::default() }
    }

    /// What a window finds on disk.
    fn reopened(drafts: &Drafts) -> Drafts {
        Drafts::from_json(&drafts.to_json()).unwrap()
    }

    #[test]
    fn a_document_reads_back_and_one_of_another_version_does_not_stop_the_program() {
        let mut drafts = Drafts::default();
        drafts.put("a", Draft { shelf: vec!["old".to_owned()], is_solved: true, ..text("new\n界") });
        let back = reopened(&drafts);
        assert_eq!(back.get("a"), drafts.get("a"));
        assert_eq!(back.marks("a"), (true, true));
        assert_eq!(back.marks("b"), (false, false));
        assert!(Drafts::from_json("{\"kernels\": {\"a\": {\"later\": 1}}}").is_ok());
        assert!(Drafts::from_json("[").is_err());
    }

    #[test]
    fn two_windows_keep_both_texts() {
        let mut disk = Drafts::default();
        disk.put("a", text("start"));
        let (mut one, mut two) = (reopened(&disk), reopened(&disk));
        one.put("a", text("one"));
        one.put("b", text("only one"));
        let disk = Drafts::merge(reopened(&disk), &one);
        two.put("a", text("two"));
        let disk = Drafts::merge(reopened(&disk), &two);
        let both = disk.get("a").unwrap();
        assert_eq!((both.text.as_deref(), both.shelf), (Some("two"), vec!["one".to_owned()]));
        assert_eq!(disk.get("b").unwrap().text.as_deref(), Some("only one"));
    }

    #[test]
    fn a_window_that_goes_on_writing_leaves_no_litter() {
        let mut mine = Drafts::default();
        for typed in ["a", "ab", "abc"] {
            mine.put("k", text(typed));
            let stored = Drafts::merge(reopened(&mine), &mine);
            mine = reopened(&stored);
        }
        let draft = mine.get("k").unwrap();
        assert_eq!((draft.text.as_deref(), draft.shelf.len()), (Some("abc"), 0));
    }

    #[test]
    fn a_window_that_wrote_nothing_takes_what_is_there() {
        let mut disk = Drafts::default();
        disk.put("a", text("start"));
        let mine = reopened(&disk);
        disk.put("a", text("theirs"));
        let merged = Drafts::merge(reopened(&disk), &mine);
        assert_eq!(merged.get("a").unwrap().text.as_deref(), Some("theirs"));
        assert_eq!(merged.get("a").unwrap().shelf, Vec::<String>::new());
    }
}
