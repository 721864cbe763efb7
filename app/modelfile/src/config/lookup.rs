//! Keys with their values and origins, in the order in which they win: the reader's settings, the inner part, the outer one.

use crate::arch::Origin;
use crate::json::Node;
use crate::problem::{Lines, Place, Problem};

/// A key, its value, and where both stand.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key as it is known here.
    pub name: String,
    /// The key as the file writes it, with its path.
    pub key: String,
    pub node: Node,
    pub place: Option<Place>,
    pub origin: Origin,
}

impl Entry {
    /// `problem`, at the place of this entry.
    pub fn at(&self, problem: Problem) -> Problem {
        match self.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Lookup {
    entries: Vec<Entry>,
    n_given: usize,
}

impl Lookup {
    /// Settings of the reader. The later of two wins.
    pub fn given(&mut self, given: &[(String, String)]) {
        for (key, value) in given.iter().rev() {
            let origin = Origin::Given { key: format!("{key}={value}") };
            let node = crate::node_of(value);
            self.entries.push(Entry { name: key.clone(), key: key.clone(), node, place: None, origin });
        }
        self.n_given = self.entries.len();
    }

    /// The keys of a JSON object at `path`.
    pub fn map(&mut self, node: &Node, lines: &Lines<'_>, path: &str) {
        for (key, value) in node.map().unwrap_or_default() {
            self.json(key, value, lines, format!("{path}{key}"));
        }
    }

    /// The image tower's part of a configuration, under names of its own.
    pub fn vision(&mut self, node: &Node, lines: &Lines<'_>) {
        for (key, value) in node.map().unwrap_or_default() {
            self.json(&format!("vision.{key}"), value, lines, format!("vision_config.{key}"));
        }
    }

    fn json(&mut self, name: &str, node: &Node, lines: &Lines<'_>, key: String) {
        let place = lines.place(node.at);
        let origin = Origin::Read { key: key.clone(), line: Some(place.line) };
        self.entries.push(Entry { name: name.to_owned(), key, node: node.clone(), place: Some(place), origin });
    }

    /// A key of a binary header, under the name that it corresponds to.
    pub fn header(&mut self, name: &str, key: &str, node: Node) {
        let origin = Origin::Read { key: key.to_owned(), line: None };
        self.entries.push(Entry { name: name.to_owned(), key: key.to_owned(), node, place: None, origin });
    }

    /// The first entry under `name` that is not null.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name && !entry.node.is_null())
    }

    pub fn find_given(&self, name: &str) -> Option<&Entry> {
        self.entries[..self.n_given].iter().find(|entry| entry.name == name && !entry.node.is_null())
    }

    /// Whether the key is there and says `null`.
    pub fn is_null(&self, name: &str) -> bool {
        self.find(name).is_none() && self.entries.iter().any(|entry| entry.name == name)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.find(name)?.node.text().map(str::to_owned)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.find(name)?.node.flag()
    }

    pub fn given_keys(&self) -> impl Iterator<Item = &str> {
        self.entries[..self.n_given].iter().map(|entry| entry.name.as_str())
    }

    pub fn has_given(&self) -> bool {
        self.n_given > 0
    }

    /// Entries that came from a file.
    pub fn n_read(&self) -> usize {
        self.entries.len() - self.n_given
    }
}
