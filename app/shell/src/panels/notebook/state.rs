//! What the notebook's panel remembers while the program runs: filters, the open row, the two runs that were chosen, and
//! what was computed for them.

use crate::library::Library;
use crate::notebook::{Entry, Notebook};
use crate::report::{Sheet, Versus};
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_units::Lang;

/// A run chosen for a comparison, and the lens through which its card was looked at then (empty: the measure).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    pub n: u64,
    pub lens: String,
}

/// Which side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Baseline,
    Candidate,
}

impl Side {
    pub const ALL: [Self; 2] = [Self::Baseline, Self::Candidate];
}

#[derive(Debug, Default)]
pub struct NotebookView {
    /// Only runs of this experiment, only runs on this device.
    pub experiment: Option<String>,
    pub device: Option<String>,
    /// The row that is open.
    pub open: Option<u64>,
    /// Height of what the open row tells, as of the last frame.
    pub detail_height: f32,
    picks: [Option<Pick>; 2],
    sheets: BTreeMap<u64, Rc<Sheet>>,
    /// What the sheets were computed for.
    sheets_of: Option<(Lang, usize)>,
    versus: Option<([Pick; 2], usize, Rc<Versus>)>,
    choices: Option<(Lang, usize, Rc<Choices>)>,
}

/// What the filters offer: titles by id.
#[derive(Debug, Default)]
pub struct Choices {
    pub experiments: BTreeMap<String, String>,
    pub devices: BTreeMap<String, String>,
}

impl Choices {
    fn of(notebook: &Notebook, library: &Library, lang: Lang) -> Self {
        let mut this = Self::default();
        for run in notebook.entries.iter().map(|entry| &entry.run) {
            if !this.experiments.contains_key(&run.experiment) {
                let title = library.experiment_title(&run.experiment, lang).to_owned();
                this.experiments.insert(run.experiment.clone(), title);
            }
            if !this.devices.contains_key(&run.device.name) {
                this.devices.insert(run.device.name.clone(), super::row::short_device(&run.device.name));
            }
        }
        this
    }
}

impl NotebookView {
    /// The runs that pass the filters, newest first.
    pub fn shown(&self, notebook: &Notebook) -> Vec<usize> {
        let passes = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        let is_shown = |entry: &Entry| {
            passes(&self.experiment, &entry.run.experiment) && passes(&self.device, &entry.run.device.name)
        };
        (0..notebook.entries.len()).rev().filter(|idx| is_shown(&notebook.entries[*idx])).collect()
    }

    /// What the filters offer, computed once for each language and state of the notebook.
    pub fn choices(&mut self, notebook: &Notebook, library: &Library, lang: Lang) -> Rc<Choices> {
        let n = notebook.entries.len();
        if let Some((known_lang, known_n, choices)) = &self.choices
            && (*known_lang, *known_n) == (lang, n)
        {
            return Rc::clone(choices);
        }
        let choices = Rc::new(Choices::of(notebook, library, lang));
        self.choices = Some((lang, n, Rc::clone(&choices)));
        choices
    }

    pub fn show_all(&mut self) {
        (self.experiment, self.device) = (None, None);
    }

    pub fn pick(&self, side: Side) -> Option<&Pick> {
        self.picks[side as usize].as_ref()
    }

    /// Chooses a run for a side, or takes the choice back. A run is on one side at most.
    pub fn toggle_pick(&mut self, side: Side, n: u64, lens: &str) {
        let was = self.pick(side).is_some_and(|pick| pick.n == n);
        for pick in &mut self.picks {
            pick.take_if(|pick| pick.n == n);
        }
        if !was {
            self.picks[side as usize] = Some(Pick { n, lens: lens.to_owned() });
        }
    }

    pub fn forget_picks(&mut self) {
        self.picks = [None, None];
    }

    /// A run on paper, computed once for each language and state of the notebook.
    pub fn sheet(&mut self, entry: &Entry, notebook: &Notebook, library: &Library, lang: Lang) -> Rc<Sheet> {
        let key = Some((lang, notebook.entries.len()));
        if self.sheets_of != key {
            self.sheets.clear();
            self.sheets_of = key;
        }
        let make = || Rc::new(Sheet::of(entry, notebook, library, lang));
        Rc::clone(self.sheets.entry(entry.n).or_insert_with(make))
    }

    /// What comes of the two chosen runs; nothing until both are.
    pub fn versus(&mut self, notebook: &Notebook, library: &Library) -> Option<(usize, usize, Rc<Versus>)> {
        let [Some(base), Some(new)] = &self.picks else { return None };
        let find = |pick: &Pick| notebook.entries.iter().position(|entry| entry.n == pick.n);
        let (base_idx, new_idx) = (find(base)?, find(new)?);
        let (key, n) = ([base.clone(), new.clone()], notebook.entries.len());
        if let Some((known, known_n, versus)) = &self.versus
            && *known == key
            && *known_n == n
        {
            return Some((base_idx, new_idx, Rc::clone(versus)));
        }
        let entries = &notebook.entries;
        let lenses = [base.lens.as_str(), new.lens.as_str()];
        let versus = Rc::new(Versus::of(&entries[base_idx], &entries[new_idx], lenses, library));
        self.versus = Some((key, n, Rc::clone(&versus)));
        Some((base_idx, new_idx, versus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_on_one_side_and_a_second_press_takes_it_back() {
        let mut view = NotebookView::default();
        view.toggle_pick(Side::Baseline, 3, "");
        view.toggle_pick(Side::Candidate, 3, "dram");
        assert_eq!(view.pick(Side::Baseline), None);
        assert_eq!(view.pick(Side::Candidate), Some(&Pick { n: 3, lens: "dram".into() }));
        view.toggle_pick(Side::Baseline, 4, "");
        assert!(view.pick(Side::Baseline).is_some() && view.pick(Side::Candidate).is_some());
        view.toggle_pick(Side::Candidate, 3, "");
        assert_eq!(view.pick(Side::Candidate), None);
    }
}
