//! What the playground holds of one kernel: the text as it is typed, what it was before, what the processor and the device say of it.
//! Every figure and page that shows the kernel shares one desk.

use super::device::Device;
use super::find::Find;
use std::collections::BTreeMap;
use vramlab_gpu::exercise::{Exercise, Judged, Try};
use vramlab_gpu::manifest::{HostRoutine, Kernel};
use vramlab_gpu::play::{PlayError, Player};
use vramlab_trace::OracleOutcome;
use vramlab_units::{Lang, Map};

/// Operations, lane by lane, before a kernel is given up: well under a second.
pub const BUDGET: u64 = 60_000_000;
/// Longest text that the editor takes, in bytes.
pub const MOST_TEXT: usize = 65_536;
/// Texts that were replaced and can come back.
const MOST_SHELF: usize = 8;

/// What of a desk is kept when the program ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The reader's text, unless it is the original.
    pub text: Option<String>,
    /// Texts that a reset or a solution has replaced, the last one last.
    pub shelf: Vec<String>,
    pub is_tried: bool,
    pub is_solved: bool,
}

pub struct Desk {
    pub slug: String,
    pub kernel: Kernel,
    /// The task; a kernel that is none has no goals and no solution.
    pub exercise: Option<Exercise>,
    pub start: String,
    pub solution: Option<String>,
    /// What the kernel is played with, and run with on a device.
    pub params: Option<Map>,
    /// As it is typed.
    pub source: String,
    pub outcome: Option<Result<Try, PlayError>>,
    pub device: Device,
    pub n_hints: usize,
    /// A paste or a file was too long, by so many bytes, and was not taken.
    pub refused: Option<usize>,
    /// The line that the editor is to show.
    pub jump: Option<u32>,
    pub find: Option<Find>,
    /// Somebody beside the view plays the kernel, without holding the frame.
    pub is_attended: bool,
    /// A check is asked for and has not begun.
    pub wants_check: bool,
    /// A check is under way.
    pub is_checking: bool,
    /// Counts what is to be kept.
    revision: u64,
    /// The text that `outcome` is about.
    judged: String,
    /// The reader's own text, while the solution is shown in its place.
    kept: Option<String>,
    shelf: Vec<String>,
    is_tried: bool,
    is_solved: bool,
}

/// A check as work for another thread, or in pieces.
pub struct Task {
    exercise: Option<Exercise>,
    kernel: Kernel,
    params: Option<Map>,
    pub source: String,
    player: Option<Player>,
}

/// What came of a [`Task`], with the text that it is about.
pub struct Checked {
    source: String,
    outcome: Result<Try, PlayError>,
}

impl Task {
    /// Plays it to the end.
    pub fn run(mut self) -> Checked {
        loop {
            if let Some(checked) = self.go_on() {
                return checked;
            }
        }
    }

    /// Plays a slice, about a millisecond; the result at the end.
    pub fn go_on(&mut self) -> Option<Checked> {
        let outcome = self.step().transpose()?;
        Some(Checked { source: self.source.clone(), outcome })
    }

    fn step(&mut self) -> Result<Option<Try>, PlayError> {
        let mut player = match self.player.take() {
            Some(player) => player,
            None => self.begin()?,
        };
        if !player.go_on()? {
            self.player = Some(player);
            return Ok(None);
        }
        let played = player.finish()?;
        Ok(Some(match &self.exercise {
            Some(exercise) => exercise.judge(played),
            None => Try { played, goals: Vec::new() },
        }))
    }

    fn begin(&self) -> Result<Player, PlayError> {
        let params = self.params.as_ref().ok_or(PlayError::TooLarge)?;
        Player::new(&self.kernel, &self.source, params, BUDGET)
    }
}

impl Desk {
    pub fn exercise(exercise: Exercise, kernel: Kernel, start: String, solution: String) -> Self {
        let params = Some(exercise.params.clone());
        Self::new(Some(exercise), kernel, start, Some(solution), params)
    }

    /// Any other kernel of the course, at a size that the processor can play.
    pub fn kernel(kernel: Kernel, start: String) -> Self {
        let params = vramlab_gpu::small::small_params(&kernel);
        Self::new(None, kernel, start, None, params)
    }

    fn new(
        exercise: Option<Exercise>,
        kernel: Kernel,
        start: String,
        solution: Option<String>,
        params: Option<Map>,
    ) -> Self {
        Self {
            slug: kernel.slug.clone(),
            source: start.clone(),
            kernel,
            exercise,
            start,
            solution,
            params,
            outcome: None,
            device: Device::default(),
            n_hints: 0,
            refused: None,
            jump: None,
            find: None,
            is_attended: false,
            wants_check: false,
            is_checking: false,
            revision: 0,
            judged: String::new(),
            kept: None,
            shelf: Vec::new(),
            is_tried: false,
            is_solved: false,
        }
    }

    /// Takes up what was left last time.
    pub fn resume(&mut self, draft: &Draft) {
        if let Some(text) = draft.text.as_ref().filter(|_| self.host().is_none()) {
            self.source.clone_from(text);
        }
        self.shelf.clone_from(&draft.shelf);
        (self.is_tried, self.is_solved) = (draft.is_tried, draft.is_solved);
    }

    /// What is to be kept. The solution in the reader's place is not the reader's text.
    pub fn draft(&self) -> Draft {
        let own = self.kept.as_ref().unwrap_or(&self.source);
        Draft {
            text: (*own != self.start).then(|| own.clone()),
            shelf: self.shelf.clone(),
            is_tried: self.is_tried,
            is_solved: self.is_solved,
        }
    }

    /// Grows whenever [`Self::draft`] may have changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The routine on the host that launches the kernel, where one does: then the text can only be read.
    pub fn host(&self) -> Option<&HostRoutine> {
        self.kernel.cuda_host.as_ref()
    }

    /// Its state in one sentence.
    pub fn finding(&self, lang: Lang) -> String {
        super::words::finding(self, lang)
    }

    pub fn is_solved(&self) -> bool {
        self.is_solved
    }

    /// Asks for a check, which the view does itself where nobody attends.
    pub fn ask_check(&mut self) {
        if self.is_attended {
            self.wants_check = true;
        } else {
            self.check();
        }
    }

    /// The check that was asked for, as work to do elsewhere.
    pub fn take_task(&mut self) -> Option<Task> {
        if !std::mem::take(&mut self.wants_check) {
            return None;
        }
        self.is_checking = true;
        Some(self.task())
    }

    fn task(&self) -> Task {
        Task {
            exercise: self.exercise.clone(),
            kernel: self.kernel.clone(),
            params: self.params.clone(),
            source: self.source.clone(),
            player: None,
        }
    }

    /// Plays the kernel here and now.
    pub fn check(&mut self) {
        let checked = self.task().run();
        self.hear(checked);
    }

    pub fn hear(&mut self, checked: Checked) {
        (self.is_checking, self.wants_check) = (false, false);
        self.is_tried = true;
        self.revision += 1;
        // The solution that is shown solves nothing for the reader.
        let is_own = self.kept.is_none() && self.solution.as_ref() != Some(&checked.source);
        let is_solved = matches!(&checked.outcome, Ok(tried) if tried.is_solved());
        self.is_solved |= is_own && is_solved && self.exercise.is_some();
        self.judged = checked.source;
        self.outcome = Some(checked.outcome);
    }

    /// True if the text has been changed since it was judged.
    pub fn is_stale(&self) -> bool {
        self.outcome.is_some() && self.judged != self.source
    }

    /// True if the device's answer is about this text.
    pub fn is_device_current(&self) -> bool {
        self.device.about == self.source
    }

    pub fn is_changed(&self) -> bool {
        self.source != self.start
    }

    /// The original comes back; what stood there can be taken back.
    pub fn reset(&mut self) {
        let own = self.kept.take();
        let shown = std::mem::replace(&mut self.source, self.start.clone());
        self.put_away(own);
        self.put_away(Some(shown));
        self.outcome = None;
        self.revision += 1;
    }

    /// Keeps a text that is about to go, unless it can be had elsewhere.
    fn put_away(&mut self, text: Option<String>) {
        let Some(text) = text else { return };
        let is_known = text == self.start || Some(&text) == self.solution.as_ref() || self.shelf.contains(&text);
        if !is_known {
            self.shelf.push(text);
        }
        if self.shelf.len() > MOST_SHELF {
            self.shelf.remove(0);
        }
    }

    pub fn can_take_back(&self) -> bool {
        !self.shelf.is_empty() && self.kept.is_none()
    }

    /// The text that was replaced last comes back; the one in its place can be taken back in turn.
    pub fn take_back(&mut self) {
        let Some(text) = self.shelf.pop() else { return };
        let shown = std::mem::replace(&mut self.source, text);
        let is_known = shown == self.start || Some(&shown) == self.solution.as_ref();
        if !is_known {
            self.shelf.insert(0, shown);
        }
        self.outcome = None;
        self.revision += 1;
    }

    pub fn shows_solution(&self) -> bool {
        self.kept.is_some()
    }

    /// Puts the solution in place of the reader's text, or the text back.
    pub fn toggle_solution(&mut self) {
        let Some(solution) = &self.solution else { return };
        match self.kept.take() {
            Some(own) => self.source = own,
            None => self.kept = Some(std::mem::replace(&mut self.source, solution.clone())),
        }
        self.outcome = None;
    }

    /// Called after typing: who edits the solution makes it their own, and their text before it can be taken back.
    pub fn typed(&mut self) {
        self.refused = None;
        self.revision += 1;
        if self.kept.is_some() && self.solution.as_ref() != Some(&self.source) {
            let own = self.kept.take();
            self.put_away(own);
        }
    }

    /// Refuses a text that is too long, and keeps the one that stands.
    pub fn refuse(&mut self, bytes: usize) {
        self.refused = Some(bytes);
    }

    /// The goals by the device's counters, beside those by addresses; none where the addresses alone tell.
    pub fn counted(&self) -> Vec<Option<Judged>> {
        let (Some(exercise), Some(point)) = (&self.exercise, &self.device.point) else { return Vec::new() };
        if !self.is_device_current() || point.counters.is_empty() {
            return Vec::new();
        }
        let reports = match &self.outcome {
            Some(Ok(tried)) if !self.is_stale() => Some(tried.played.reports.as_slice()),
            _ => None,
        };
        exercise.by_counters(&point.counters, reports)
    }

    /// True if the processor says what the text does to memory.
    pub fn is_played(&self) -> bool {
        matches!(self.outcome, Some(Ok(_))) && !self.is_stale()
    }

    /// The device has run a text that the processor cannot play: its counters alone may solve the exercise.
    pub fn heard_device(&mut self) {
        let counted = self.counted();
        let is_met =
            !counted.is_empty() && counted.iter().flatten().filter(|goal| goal.is_met).count() == counted.len();
        let is_right = matches!(self.device.oracle(), Some(OracleOutcome::Passed { .. }));
        if is_met && is_right && !self.is_played() && self.kept.is_none() && !self.is_solved {
            self.is_solved = true;
            self.revision += 1;
        }
    }

    /// The line that a fault is about, and lines that waste something, with how bad it is.
    pub fn marks(&self) -> BTreeMap<u32, Mark> {
        let mut out = BTreeMap::new();
        if self.is_device_current() {
            for said in self.device.said() {
                let is_error = said.severity == vramlab_gpu::build::Severity::Error;
                let mark = if is_error { Mark::Fault } else { Mark::Waste };
                out.extend(said.line.map(|line| (line, mark)));
            }
        }
        if self.is_stale() {
            return out;
        }
        match &self.outcome {
            Some(Err(PlayError::Source(fault))) => {
                out.insert(fault.at.line, Mark::Fault);
            }
            Some(Ok(tried)) => mark_accesses(tried, &mut out),
            _ => {}
        }
        out
    }

    /// The first line that something is wrong with.
    pub fn first_fault(&self) -> Option<u32> {
        self.marks().into_iter().find(|(_, mark)| *mark == Mark::Fault).map(|(line, _)| line)
    }

    /// True if the kernel's results are wrong wherever it ran last.
    pub fn is_wrong_on_device(&self) -> bool {
        matches!(self.device.oracle(), Some(OracleOutcome::Failed { .. }))
    }
}

fn mark_accesses(tried: &Try, out: &mut BTreeMap<u32, Mark>) {
    for report in &tried.played.reports {
        for (key, site) in &report.sites {
            let mark = if site.moved > site.least { Mark::Waste } else { Mark::Clean };
            let held = out.entry(key.at.line).or_insert(mark);
            *held = (*held).max(mark);
        }
        let raced = report.races.iter().flat_map(|race| [race.first.line, race.second.line]);
        for line in raced.chain(report.unwritten.iter().map(|at| at.line)) {
            out.insert(line, Mark::Fault);
        }
    }
}

/// What is to be said of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// It accesses memory and wastes nothing.
    Clean,
    Waste,
    Fault,
}
