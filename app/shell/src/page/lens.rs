//! The lenses of an experiment card: the same run, other observables. The choice is part of the address.

use crate::action::Action;
use crate::app::App;
use crate::page::runs::RUN;
use crate::widgets::{self, Evidence};
use egui::{Label, RichText, Ui};
use vramlab_gpu::lens::{Lens, LensKind, View};
use vramlab_gpu::manifest::{Experiment, Measure};
use vramlab_gpu::verdict::{Judged, missing, through};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_kit::widgets::segmented;
use vramlab_lesson::{Chapter, ExperimentStep, Step};
use vramlab_trace::Run;
use vramlab_units::{Lang, Localized, Map, Text};

/// The parameter of an address that names a lens.
pub const LENS: &str = "lens";

const LENSES: Text = Text::new("视角", "Lens");
const ABSENT: Text = Text::new("这个实验没有{lens}视角：{why}", "No {lens} lens here: {why}");
const UNSAID: Text = Text::new("还没有人为它写观察量", "nobody has declared an observable for it yet");
const MISSING: Text = Text::new("用这个视角看不了：{}", "This lens cannot show the run: {}");
const OF_MEASURE: Text = Text::new("这个结论说的是“{}”", "this verdict is about \"{}\"");
const UNKNOWN: Text = Text::new(
    "链接里的视角“{}”这个实验没有，显示原来的量",
    "this experiment has no lens \"{}\" as in the link; its own measure is shown",
);

/// What a card is looked at through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Looking<'a> {
    Measure,
    Lens(&'a Lens),
    /// The lens is not there.
    Absent(LensKind),
}

impl<'a> Looking<'a> {
    /// `id` is a lens of the experiment, or one of the four kinds; empty, or anything else, is the measure.
    pub fn of(experiment: &'a Experiment, id: &str) -> Self {
        if let Some(lens) = experiment.lens(id) {
            return Self::Lens(lens);
        }
        let Some(kind) = LensKind::from_id(id) else { return Self::Measure };
        match experiment.views(kind).first() {
            Some(View::Measure) => Self::Measure,
            Some(View::Lens(lens)) => Self::Lens(lens),
            None => Self::Absent(kind),
        }
    }

    fn kind(self, experiment: &Experiment) -> LensKind {
        match self {
            Self::Measure => experiment.measure.lens,
            Self::Lens(lens) => lens.of,
            Self::Absent(kind) => kind,
        }
    }

    /// The run as this lens shows it: the experiment with the lens in the place of its measure, and the judged points.
    /// Nothing for the measure itself.
    pub fn see(self, experiment: &Experiment, run: &Run, judged: &Judged) -> Option<(Experiment, Judged)> {
        let Self::Lens(lens) = self else { return None };
        let measure = Measure { lens: lens.of, ..lens.shows.clone() };
        // The marks are the measure's.
        let seen = Experiment { measure, marks: Vec::new(), ..experiment.clone() };
        Some((seen, through(lens, run, judged)))
    }
}

impl App {
    /// The lens through which an experiment's card is looked at; empty is its measure.
    pub(crate) fn lens_of(&self, experiment: &str) -> String {
        self.lenses.get(experiment).cloned().unwrap_or_default()
    }

    /// A link brought a lens, or none.
    pub(crate) fn take_lens(&mut self, experiment: &str, wanted: &Map) {
        let id = wanted.get(LENS).and_then(|id| id.as_str()).unwrap_or_default().to_owned();
        let is_known = id.is_empty()
            || LensKind::from_id(&id).is_some()
            || self.library.experiment(experiment).is_some_and(|(found, _)| found.lens(&id).is_some());
        if is_known {
            self.lenses.insert(experiment.to_owned(), id);
        } else {
            let lang = self.lang();
            self.note(UNKNOWN.get(lang).replace("{}", &id), false);
        }
    }
}

/// The parameters of an address for a run of a card and a lens; what is the default is left out.
pub fn address(all: &ExperimentStep, run_idx: usize, lens: &str) -> Map {
    let mut out = Map::new();
    if run_idx > 0 {
        out.insert(RUN.to_owned(), all.at(run_idx).run.as_str().into());
    }
    if !lens.is_empty() {
        out.insert(LENS.to_owned(), lens.into());
    }
    out
}

/// The choice of a lens, and of an observable where a lens has several. Nothing for an experiment without lenses.
pub fn ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    (chapter, step): (&Chapter, &Step),
    (all, run_idx): (&ExperimentStep, usize),
    experiment: &Experiment,
    actions: &mut Vec<Action>,
) {
    if experiment.lenses.is_empty() && experiment.absent.is_empty() {
        return;
    }
    let lang = app.lang();
    let was = app.lens_of(&experiment.id);
    let looking = Looking::of(experiment, &was);
    let mut id = was.clone();
    choice_ui(ui, tokens, lang, experiment, looking, &mut id);
    if let Looking::Lens(lens) = looking
        && !lens.assumes.is_empty()
    {
        ui.horizontal_wrapped(|ui| {
            widgets::chip(ui, tokens, &Evidence::Model, lang);
            let text = RichText::new(lens.assumes.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted);
            ui.add(Label::new(text).wrap());
        });
    }
    ui.add_space(tokens.space.xs);
    if id != was {
        let (before, params) = (address(all, run_idx, &was), address(all, run_idx, &id));
        app.lenses.insert(experiment.id.clone(), id);
        let (chapter, step) = (chapter.id.clone(), step.id.clone());
        actions.push(Action::Address { chapter, step, before, params });
    }
}

/// The four lenses and what the chosen one can show: in one row, or the lenses above where there is no room.
fn choice_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, experiment: &Experiment, looking: Looking<'_>, id: &mut String) {
    let mut kind = looking.kind(experiment);
    let has_several = experiment.views(kind).len() > 1;
    let mut lenses_ui = |ui: &mut Ui, id: &mut String| {
        let options = LensKind::ALL.map(|kind| (kind, kind.title().get(lang)));
        if segmented(ui, tokens, LENSES.get(lang), &mut kind, &options) {
            *id = first_id(experiment, kind);
        }
    };
    if ui.available_width() < tokens.px(480.0) {
        lenses_ui(ui, id);
        if has_several {
            ui.horizontal_wrapped(|ui| observables_ui(ui, tokens, lang, experiment, looking, id));
        }
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(LENSES.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        lenses_ui(ui, id);
        ui.add_space(tokens.space.xs);
        observables_ui(ui, tokens, lang, experiment, looking, id);
    });
}

/// The observables of the lens that is looked through, where there are several.
fn observables_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    experiment: &Experiment,
    looking: Looking<'_>,
    id: &mut String,
) {
    let views = experiment.views(looking.kind(experiment));
    for view in views.iter().filter(|_| views.len() > 1) {
        let (name, view_id, is_chosen) = match view {
            View::Measure => (&experiment.measure.title, "", looking == Looking::Measure),
            View::Lens(lens) => (&lens.shows.title, lens.id.as_str(), looking == Looking::Lens(lens)),
        };
        if widgets::pill(ui, tokens, is_chosen, name.get(lang)).clicked() {
            view_id.clone_into(id);
        }
    }
}

/// What a kind shows first: its observable's id, nothing for the measure, the kind itself where it is absent.
fn first_id(experiment: &Experiment, kind: LensKind) -> String {
    match experiment.views(kind).first() {
        Some(View::Measure) => String::new(),
        Some(View::Lens(lens)) => lens.id.clone(),
        None => kind.id().to_owned(),
    }
}

/// Why there is nothing to see, in the place of the chart.
pub fn nothing(looking: Looking<'_>, experiment: &Experiment, judged: Option<&Judged>) -> Option<Localized> {
    match looking {
        Looking::Measure => None,
        Looking::Lens(lens) => {
            let lacks = missing(lens, judged?)?;
            let say = |lang: Lang| MISSING.get(lang).replace("{}", lacks.get(lang));
            Some(Localized::both(say(Lang::Zh), say(Lang::En)))
        }
        Looking::Absent(kind) => {
            let say = |lang: Lang| {
                let why = experiment.why_no_lens(kind).map_or(UNSAID.get(lang), |why| why.get(lang));
                let name = kind.title().get(lang);
                let name = if lang == Lang::En { name.to_lowercase() } else { name.to_owned() };
                ABSENT.get(lang).replace("{lens}", &name).replace("{why}", why)
            };
            Some(Localized::both(say(Lang::Zh), say(Lang::En)))
        }
    }
}

/// Under another observable the verdict is still the measure's, and says so.
pub fn verdict_note_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, experiment: &Experiment, id: &str) {
    if Looking::of(experiment, id) != Looking::Measure {
        let text = OF_MEASURE.get(lang).replace("{}", experiment.measure.title.get(lang));
        ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.muted));
    }
}

/// The words in the place of a chart.
pub fn nothing_ui(ui: &mut Ui, tokens: &Tokens, words: &str) {
    ui.add_space(tokens.space.xs);
    ui.add(Label::new(RichText::new(words).font(tokens.font(Type::Body)).color(tokens.muted)).wrap());
    ui.add_space(tokens.space.s);
}
