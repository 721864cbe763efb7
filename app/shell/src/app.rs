//! The application: its state, the loop of a frame, and nothing that paints.
//!
//! A frame: events of the platform are heard, keys become actions, panels paint and push actions, [`App::apply`] performs
//! them, what changed is saved. State comes in three tiers: saved (`settings`, `progress`, `notebook`), in memory (this
//! struct), and per frame (`ViewCx`, borrowed).

use crate::action::Action;
use crate::documents::Doc;
use crate::experiments::Experiments;
use crate::library::Library;
use crate::notebook::Notebook;
use crate::page::StepStates;
use crate::panels::palette::PaletteState;
use crate::platform::{Fetch, Platform, Rest};
use crate::route::{Page, Route};
use crate::settings::{Settings, ThemeChoice};
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_kit::{Theme, Tokens};
use vramlab_lesson::progress::{ChapterProgress, Progress, Saver};
use vramlab_units::{Lang, Text};

/// Something the reader should know, shown until dismissed.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    pub text: String,
    pub is_bad: bool,
    /// An action the note offers, with its label.
    pub offer: Option<(Text, Action)>,
}

pub struct App {
    pub(crate) platform: Box<dyn Platform>,
    pub(crate) library: Library,
    pub(crate) guide: Rc<crate::guide::Guide>,
    pub(crate) settings: Settings,
    pub(crate) progress: Progress,
    pub(crate) saver: Saver,
    pub(crate) notebook: Notebook,
    /// Words in the notebook are saved soon, not with every letter.
    pub(crate) notebook_saver: Saver,
    pub(crate) notebook_view: crate::panels::notebook::NotebookView,
    /// The lens of each experiment's card, by its id; absent or empty is the measure.
    pub(crate) lenses: BTreeMap<String, String>,
    pub(crate) experiments: Experiments,
    pub(crate) steps: StepStates,
    pub(crate) study: crate::study::Study,
    pub(crate) snapshot: crate::snapshot::Desk,
    pub(crate) fit: crate::fit::Desk,
    pub(crate) profile: crate::profile::Desk,
    pub(crate) playground: crate::playground::Desks,
    /// Kernels that are being written are saved soon, not with every letter.
    pub(crate) playground_saver: Saver,
    pub(crate) route: Route,
    pub(crate) history: Vec<Route>,
    pub(crate) notes: Vec<Note>,
    pub(crate) palette: Option<PaletteState>,
    pub(crate) shows_shortcuts: bool,
    pub(crate) share: Option<crate::panels::share::Share>,
    pub(crate) changes: crate::undo::Changes,
    pub(crate) is_presenting: bool,
    /// Results are shown without a prediction: for pictures, and for whoever prepares a class.
    pub reveals_all: bool,
    pub(crate) is_rail_open: bool,
    pub(crate) drawer: Option<crate::panels::Drawer>,
    pub(crate) rail_query: String,
    /// The step that the page scrolls to in the next frame.
    pub(crate) scroll_to: Option<crate::page::Target>,
    pub(crate) charts: BTreeMap<String, vramlab_views::ExperimentChart>,
    pub(crate) shown: BTreeMap<String, Rc<crate::page::experiment::Shown>>,
    /// Traces that could not be read, with the reason.
    pub(crate) broken_traces: BTreeMap<String, String>,
    /// The lesson folder that is watched.
    pub(crate) folder: Option<String>,
    /// The last file that has no page of its own yet.
    pub(crate) received: Option<crate::intake::Received>,
    /// Paths of the recent files that are gone.
    pub(crate) missing: std::collections::BTreeSet<String>,
    /// What hangs over the window, by its content.
    pub(crate) hovering: crate::intake::Hovering,
    pub(crate) dirty: Vec<Doc>,
    pub(crate) reset_copy: Option<(String, ChapterProgress)>,
    /// egui's monotonic clock in this frame.
    pub(crate) now_secs: f64,
    tokens: Tokens,
    look: Option<(Theme, f32, bool)>,
    has_fonts: bool,
    n_fonts: usize,
}

impl App {
    /// Opens the program on what the reader left: settings, progress, notebook and the last place.
    pub fn new(mut platform: Box<dyn Platform>) -> Self {
        let found = crate::documents::load(platform.files());
        let library = Library::built_in();
        let guide = Rc::new(crate::guide::Guide::built_in(&library));
        let mut this = Self {
            library,
            guide,
            settings: found.settings,
            progress: found.progress.progress,
            saver: Saver::default(),
            notebook: found.notebook,
            notebook_saver: Saver::default(),
            notebook_view: Default::default(),
            lenses: BTreeMap::new(),
            experiments: Experiments::default(),
            steps: StepStates::default(),
            study: crate::study::Study::default(),
            snapshot: crate::snapshot::Desk::default(),
            fit: crate::fit::Desk::default(),
            profile: crate::profile::Desk::default(),
            playground: crate::playground::Desks::new(found.drafts),
            playground_saver: Saver::default(),
            route: Route::default(),
            history: Vec::new(),
            notes: Vec::new(),
            palette: None,
            shows_shortcuts: false,
            share: None,
            changes: crate::undo::Changes::default(),
            is_presenting: false,
            reveals_all: false,
            is_rail_open: true,
            drawer: None,
            rail_query: String::new(),
            scroll_to: None,
            charts: BTreeMap::new(),
            shown: BTreeMap::new(),
            broken_traces: BTreeMap::new(),
            folder: None,
            received: None,
            missing: Default::default(),
            hovering: Default::default(),
            dirty: Vec::new(),
            reset_copy: None,
            now_secs: 0.0,
            tokens: Tokens::new(Theme::Light, 1.0),
            look: None,
            has_fonts: false,
            n_fonts: 0,
            platform,
        };
        for message in found.messages {
            let text = message.get(this.lang()).to_owned();
            this.note(text, true);
        }
        this.look_for_recent();
        let first = this.platform.initial_route().or_else(|| this.settings.last_route.clone());
        if let Some(text) = first {
            this.follow(&text);
        }
        this
    }

    pub fn route(&self) -> &Route {
        &self.route
    }

    pub fn notebook(&self) -> &Notebook {
        &self.notebook
    }

    pub fn playground(&self) -> &crate::playground::Desks {
        &self.playground
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn can_go_back(&self) -> bool {
        !self.history.is_empty()
    }

    pub fn can_undo_change(&self) -> bool {
        self.changes.can_undo()
    }

    pub fn can_redo_change(&self) -> bool {
        self.changes.can_redo()
    }

    pub fn can_undo_reset(&self) -> bool {
        self.reset_copy.is_some()
    }

    /// How many steps of a chapter are done; steps that no longer exist do not count.
    pub(crate) fn n_done(&self, chapter: &str) -> usize {
        let Some(open) = self.library.chapter(chapter) else { return 0 };
        open.steps.iter().filter(|step| self.progress.is_done(chapter, &step.id)).count()
    }

    /// The answer that is kept of a step.
    pub(crate) fn answer(&self, chapter: &str, step: &str) -> Option<&vramlab_lesson::answer::Given> {
        self.progress.step(chapter, step)?.answer.as_ref()
    }

    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The reader's language: chosen, else the system's, else Chinese.
    pub fn lang(&self) -> Lang {
        self.settings.lang.or_else(|| self.platform.preferred_lang()).unwrap_or_default()
    }

    pub fn has_motion(&self) -> bool {
        !self.settings.reduced_motion.unwrap_or_else(|| self.platform.prefers_reduced_motion())
    }

    /// The chapter that is open.
    pub fn chapter_id(&self) -> Option<&str> {
        match &self.route.page {
            Page::Chapter { chapter, .. } => Some(chapter),
            _ => None,
        }
    }

    pub(crate) fn note(&mut self, text: impl Into<String>, is_bad: bool) {
        let note = Note { text: text.into(), is_bad, offer: None };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        const MOST: usize = 6;
        if self.notes.len() > MOST {
            self.notes.remove(0);
        }
    }

    pub(crate) fn mark(&mut self, doc: Doc) {
        if !self.dirty.contains(&doc) {
            self.dirty.push(doc);
        }
    }

    /// Follows a route given as text; what cannot be followed is noted and the nearest place is shown.
    pub(crate) fn follow(&mut self, text: &str) {
        let (route, unread) = Route::parse(text);
        if let Some(lang) = route.lang {
            self.settings.lang = Some(lang);
        }
        for what in unread {
            let lang = self.lang();
            self.note(crate::text::UNREAD_ROUTE.get(lang).replace("{}", &what), false);
        }
        self.go(route, false);
    }

    /// Goes to a place; a chapter or step that does not exist leads to the nearest one, with a note.
    pub(crate) fn go(&mut self, mut route: Route, is_new: bool) {
        if let Page::Chapter { chapter, step } = &route.page {
            let lang = self.lang();
            match self.library.nearest_chapter(chapter) {
                Some(found) if found == *chapter => {
                    if let Some(step) = step
                        && self.library.awaited(chapter).is_none()
                        && !self.library.has_step(chapter, step)
                    {
                        self.note(crate::text::NO_STEP.get(lang).replace("{}", step), false);
                        route = Route::chapter(chapter);
                    }
                }
                Some(found) => {
                    self.note(crate::text::NO_CHAPTER.get(lang).replace("{}", chapter), false);
                    route = Route::chapter(&found);
                }
                None => {
                    self.note(crate::text::NO_CHAPTER.get(lang).replace("{}", chapter), false);
                    route = Route::default();
                }
            }
        }
        if let Some((page, unread)) = self.guide.corrected(&route.page) {
            let lang = self.lang();
            self.note(crate::text::UNREAD_ROUTE.get(lang).replace("{}", &unread), false);
            route = Route { page, ..route };
        }
        if let Page::Chapter { chapter, step: Some(step) } = &route.page {
            self.scroll_to = Some(crate::page::Target::new(step));
            if !route.params.is_empty() {
                self.steps.open_with(chapter, step, &route.params);
            }
        }
        if self.platform.rest() == Rest::Here {
            self.follow_desks(&route);
        }
        self.note_place(&route);
        if matches!(route.page, Page::Start | Page::Files) {
            self.look_for_recent();
        }
        if is_new && route.page != self.route.page {
            self.history.push(std::mem::replace(&mut self.route, route));
        } else {
            self.route = route;
        }
        let text = self.route.text();
        self.platform.set_route(&text, is_new);
        self.settings.last_route = Some(text);
        self.mark(Doc::Settings);
    }

    /// Hands a route to the page of files that it leads to. Not in the first part of the program on the web.
    #[inline(never)]
    pub(crate) fn follow_desks(&mut self, route: &Route) {
        match route.page {
            Page::Snapshot => self.snapshot.follow(&route.params),
            Page::Profile => self.profile.follow(&route.params),
            Page::Fit => self.fit.follow(&route.params),
            _ => {}
        }
    }

    /// Where the reader is, for the start page: the step, or the first one of a chapter that was never opened.
    fn note_place(&mut self, route: &Route) {
        let Page::Chapter { chapter, step } = &route.page else { return };
        let known = self.progress.resume().is_some_and(|(open, _)| open == chapter);
        let step = match step {
            Some(step) => step.clone(),
            None if known => return,
            None => {
                let last = self.progress.chapters.get(chapter).and_then(|open| open.last_step.as_ref());
                let last = last.map(|last| last.value.clone()).filter(|step| self.library.has_step(chapter, step));
                let first = || Some(self.library.chapter(chapter)?.steps.first()?.id.clone());
                let Some(step) = last.or_else(first) else { return };
                step
            }
        };
        if self.progress.resume() != Some((chapter, &step)) {
            self.change_progress(|progress| progress.visit(chapter, &step));
        }
    }

    /// The look for this frame; tokens are made anew only when theme, size or motion changed.
    fn refresh_look(&mut self, ctx: &egui::Context) {
        if !self.has_fonts {
            let n_before = self.n_fonts;
            let fonts = self.fonts();
            if self.n_fonts != n_before {
                ctx.set_fonts(fonts);
            }
        }
        let theme = match self.settings.theme {
            ThemeChoice::Light => Theme::Light,
            ThemeChoice::Dark => Theme::Dark,
            ThemeChoice::System => match ctx.system_theme() {
                Some(egui::Theme::Dark) => Theme::Dark,
                _ => Theme::Light,
            },
        };
        let presenter = if self.is_presenting { Tokens::PRESENTER_SCALE } else { 1.0 };
        let look = (theme, self.settings.text_scale * presenter, self.has_motion());
        if self.look != Some(look) {
            self.look = Some(look);
            self.tokens = Tokens::new(theme, look.1);
            if !look.2 {
                self.tokens = self.tokens.clone().without_motion();
            }
            self.tokens.apply(ctx);
        }
    }

    /// One frame.
    pub fn ui(&mut self, ui: &mut egui::Ui) {
        let ctx = ui.ctx().clone();
        self.now_secs = ctx.input(|input| input.time);
        self.refresh_look(&ctx);
        for event in self.platform.poll() {
            self.hear(event);
        }
        self.take_drops(&ctx);
        let mut actions = crate::commands::pressed(self, &ctx);
        self.take_texts();
        crate::panels::ui(self, ui, &mut actions);
        for action in actions {
            self.apply(&ctx, action);
        }
        self.tend_desks(&ctx);
        if self.notebook_saver.is_due(self.now_secs) {
            self.mark(Doc::Notebook);
        }
        self.save();
        self.save_progress(false);
        let waits =
            [&self.saver, &self.notebook_saver, &self.playground_saver].map(|saver| saver.wait_secs(self.now_secs));
        if let Some(secs) = waits.into_iter().flatten().reduce(f64::min) {
            ctx.request_repaint_after(std::time::Duration::from_secs_f64(secs.max(0.05)));
        }
    }

    /// What is written in the playground goes on and is kept.
    fn tend_desks(&mut self, ctx: &egui::Context) {
        if self.playground.is_empty() {
            return;
        }
        if self.platform.rest() == Rest::Here && self.advance_desks() {
            ctx.request_repaint();
        }
        if self.playground.keep() {
            self.playground_saver.changed(self.now_secs);
        }
        if self.playground_saver.is_due(self.now_secs) {
            self.mark(Doc::Playground);
        }
    }

    /// Takes one text of a chapter that is yet to be fetched, that of the open chapter first.
    fn take_texts(&mut self) {
        let open = self.chapter_id().and_then(|id| Some((id.to_owned(), self.library.awaited(id)?)));
        for (id, path) in open.into_iter().chain(self.library.all_awaited()) {
            let Fetch::Here(bytes) = self.platform.fetch(path) else { continue };
            self.library.take_text(&id, &bytes);
            self.guide = Rc::new(crate::guide::Guide::built_in(&self.library));
            if self.chapter_id() == Some(&id) {
                self.go(self.route.clone(), false);
            }
            return;
        }
    }

    /// Every font file that is here; the web fetches the others.
    fn fonts(&mut self) -> egui::FontDefinitions {
        let files: BTreeMap<&str, _> = vramlab_kit::fonts::FILES
            .iter()
            .filter_map(|file| match self.platform.fetch(file.path) {
                Fetch::Here(bytes) => Some((file.path, bytes)),
                _ => None,
            })
            .collect();
        self.has_fonts = files.len() == vramlab_kit::fonts::FILES.len();
        self.n_fonts = files.len();
        vramlab_kit::fonts::definitions(|path| files.get(path).cloned())
    }

    /// Every change of the progress goes through here, so that it is saved soon.
    pub(crate) fn change_progress(&mut self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.progress);
        self.saver.changed(self.now_secs);
    }

    /// Saves the progress when it is due, or at once, with all else, when the program ends.
    pub fn save_progress(&mut self, is_last: bool) {
        if is_last {
            if self.notebook_saver.is_unsaved() {
                self.mark(Doc::Notebook);
            }
            if self.playground.keep() || self.playground_saver.is_unsaved() {
                self.mark(Doc::Playground);
            }
            self.save();
        }
        if !self.saver.is_unsaved() || !(is_last || self.saver.is_due(self.now_secs)) {
            return;
        }
        match vramlab_lesson::progress::save(self.platform.files(), &self.progress) {
            Ok((merged, messages)) => {
                self.progress = merged;
                self.saver.saved();
                for message in messages {
                    let text = message.get(self.lang()).to_owned();
                    self.note(text, true);
                }
            }
            Err(error) => {
                self.saver.failed(self.now_secs, &error);
                self.say_unsaved(&error.to_string());
            }
        }
    }

    /// A failed save is said once, with a way out; everything is still in memory.
    fn say_unsaved(&mut self, why: &str) {
        let text = crate::text::NOT_SAVED.get(self.lang()).replace("{}", why);
        let offer = Some((crate::text::EXPORT_NOW, Action::ExportProgress));
        let note = Note { text, is_bad: true, offer };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Stores what changed in this frame. A failure leaves everything in memory and says so.
    fn save(&mut self) {
        for doc in std::mem::take(&mut self.dirty) {
            let files = self.platform.files();
            let saved = match doc {
                Doc::Settings => crate::documents::save_settings(files, &self.settings),
                Doc::Playground => match crate::documents::save_drafts(files, &self.playground.drafts) {
                    Ok(stored) => {
                        self.playground.drafts = stored;
                        self.playground_saver.saved();
                        Ok(())
                    }
                    Err(error) => {
                        self.playground_saver.failed(self.now_secs, &error);
                        Err(error)
                    }
                },
                Doc::Notebook => match crate::documents::save_notebook(files, &self.notebook) {
                    Ok(stored) => {
                        self.notebook = stored;
                        self.notebook_saver.saved();
                        Ok(())
                    }
                    Err(error) => {
                        self.notebook_saver.failed(self.now_secs, &error);
                        Err(error)
                    }
                },
            };
            if let Err(why) = saved.map_err(|error| error.to_string()) {
                self.say_unsaved(&why);
            }
        }
    }
}
