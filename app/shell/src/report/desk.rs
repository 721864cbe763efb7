//! What the application does with reports: the exports of the notebook, and runs that come back from one.

use super::{Sheet, notebook_csv, notebook_markdown};
use crate::action::ExportFormat;
use crate::app::App;
use crate::documents::Doc;
use crate::notebook::{Notebook, imported};
use crate::panels::notebook::Side;
use vramlab_trace::Run;
use vramlab_units::Text;

const IMPORTED: Text = Text::new("笔记本里多了 {n} 次运行", "{n} runs joined the notebook");
const NOTHING_NEW: Text = Text::new("这些运行笔记本里都有了", "the notebook has all of these runs already");

impl App {
    /// Name and text of an export.
    pub(crate) fn notebook_text(&self, format: ExportFormat) -> (&'static str, String) {
        let (notebook, library, lang) = (&self.notebook, &self.library, self.lang());
        let sheets = notebook.entries.iter().map(|entry| (entry, Sheet::of(entry, notebook, library, lang)));
        match format {
            ExportFormat::Json => ("vramlab-notebook.json", notebook.to_json()),
            ExportFormat::Csv => ("vramlab-notebook.csv", notebook_csv(&sheets.collect::<Vec<_>>())),
            ExportFormat::Markdown => {
                let with = |(entry, sheet): (_, Sheet)| {
                    let entry: &crate::notebook::Entry = entry;
                    let experiment = library.experiment(&entry.run.experiment).map(|(experiment, _)| experiment);
                    (entry, sheet, experiment)
                };
                ("vramlab-notebook.md", notebook_markdown(&sheets.map(with).collect::<Vec<_>>(), lang))
            }
        }
    }

    /// Takes the runs of an exported notebook or report in. False if the bytes are neither.
    pub fn import_notebook(&mut self, name: &str, bytes: &[u8]) -> bool {
        let lang = self.lang();
        match imported(bytes) {
            None => return false,
            Some(Err(why)) => self.note(format!("{name}: {why}"), true),
            Some(Ok(theirs)) => {
                let n_before = self.notebook.entries.len();
                let runs: Vec<Run> = theirs.notebook.entries.iter().map(|entry| entry.run.clone()).collect();
                let draft = std::mem::take(&mut self.notebook.draft);
                self.notebook = Notebook::merge(std::mem::take(&mut self.notebook), theirs.notebook);
                self.notebook.draft = draft;
                // Runs of both may have had the same number.
                self.notebook_view.forget_picks();
                if let Some(lens) = theirs.report_lens {
                    self.pick_pair(&runs, &lens);
                }
                self.mark(Doc::Notebook);
                let n = self.notebook.entries.len() - n_before;
                let text = if n == 0 { NOTHING_NEW } else { IMPORTED };
                self.note(text.get(lang).replace("{n}", &n.to_string()), false);
                self.settings.is_notebook_open = true;
            }
        }
        true
    }

    /// A report shows its comparison again.
    fn pick_pair(&mut self, runs: &[Run], lens: &str) {
        for (side, run) in Side::ALL.into_iter().zip(runs) {
            let found = self.notebook.entries.iter().find(|entry| entry.run == *run).map(|entry| entry.n);
            if let Some(n) = found {
                self.notebook_view.toggle_pick(side, n, lens);
            }
        }
    }
}
