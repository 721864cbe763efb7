//! What the figures draw: one device of a snapshot, its analysis, and which band of the stacked area every block is in.

use super::filter::Passing;
use super::look::Filter;
use egui::{Color32, Rect, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use std::sync::Arc;
use vramlab_kit::{Role as Look, Tokens, Type, paint};
use vramlab_snapshot::analysis::Analysis;
use vramlab_snapshot::bands::{Bands, bands, bands_of};
use vramlab_snapshot::lives::Life;
use vramlab_snapshot::peak::{By, Key};
use vramlab_snapshot::roles::Role;
use vramlab_snapshot::spans::Spans;
use vramlab_snapshot::timeline::Series;
use vramlab_snapshot::{Event, Snapshot};

/// What the colours tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Role,
    Site,
    Stack,
    Stream,
}

impl Colour {
    /// The name in addresses.
    pub fn id(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Site => "site",
            Self::Stack => "stack",
            Self::Stream => "stream",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        [Self::Role, Self::Site, Self::Stack, Self::Stream].into_iter().find(|colour| colour.id() == id)
    }

    fn by(self) -> By {
        match self {
            Self::Role => By::Role,
            Self::Site => By::Site,
            Self::Stack => By::Stack,
            Self::Stream => By::Stream,
        }
    }
}

/// The place of blocks whose stack was not recorded.
const NO_STACK: Key = Key(0);

/// Bands of their own; what is smaller is one band together.
const TOP: usize = 8;

/// A device of a snapshot, ready to be drawn.
#[derive(Clone)]
pub struct Scene {
    pub snapshot: Arc<Snapshot>,
    pub analysis: Arc<Analysis>,
    pub colour: Colour,
    /// The largest groups, then all others as one.
    pub bands: Arc<Bands>,
    /// Where in time those that are shown are in use.
    pub spans: Arc<Spans>,
    /// Which blocks are shown; nothing for all of them.
    narrowed: Option<Arc<Narrowed>>,
}

/// Blocks that pass a filter.
struct Narrowed {
    filter: Filter,
    /// One a life.
    passes: Vec<bool>,
    /// Bytes of those that pass, after each number of events.
    totals: Series,
}

impl Scene {
    pub fn new(snapshot: Arc<Snapshot>, analysis: Arc<Analysis>, colour: Colour) -> Self {
        let bands = Arc::new(bands(&snapshot, &analysis, colour.by(), TOP));
        let spans = Arc::new(Spans::of(&analysis.lives, |_| true));
        Self { snapshot, analysis, colour, bands, spans, narrowed: None }
    }

    /// The same device in other colours.
    pub fn in_colours(&self, colour: Colour) -> Self {
        Self { colour, ..self.clone() }.with_bands()
    }

    /// The same blocks under another judgement of what happened to them.
    pub fn with_analysis(&self, analysis: Arc<Analysis>) -> Self {
        Self { analysis, ..self.clone() }
    }

    fn with_bands(mut self) -> Self {
        let by = self.colour.by();
        self.bands = Arc::new(match &self.narrowed {
            Some(narrowed) => {
                let passes = |idx: u32| narrowed.passes.get(idx as usize).copied().unwrap_or(true);
                bands_of(&self.snapshot, &self.analysis, by, TOP, &passes)
            }
            None => bands(&self.snapshot, &self.analysis, by, TOP),
        });
        self
    }

    /// The same device, narrowed to the blocks that pass; nothing if they are those that are shown already.
    pub fn narrowed_to(&self, filter: &Filter) -> Option<Self> {
        let wanted = filter.of_blocks();
        let known = self.narrowed.as_ref().map(|narrowed| &narrowed.filter);
        if known.map_or(wanted.is_empty(), |known| *known == wanted) {
            return None;
        }
        let narrowed = (!wanted.is_empty()).then(|| {
            let passing = Passing::of(&self.snapshot, &self.analysis, &wanted);
            let passes: Vec<bool> = self.analysis.lives.iter().map(|life| passing.life(life)).collect();
            let totals = Series::new(totals(&self.analysis, &passes));
            Arc::new(Narrowed { passes, totals, filter: wanted.clone() })
        });
        let passes = |idx: u32| {
            narrowed.as_ref().is_none_or(|narrowed| narrowed.passes.get(idx as usize).copied().unwrap_or(true))
        };
        let spans = Arc::new(Spans::of(&self.analysis.lives, passes));
        Some(Self { spans, narrowed, ..self.clone() }.with_bands())
    }

    pub fn is_narrowed(&self) -> bool {
        self.narrowed.is_some()
    }

    /// Whether a block is shown.
    pub fn shows(&self, life: u32) -> bool {
        let narrowed = self.narrowed.as_ref();
        narrowed.is_none_or(|narrowed| narrowed.passes.get(life as usize).copied().unwrap_or(true))
    }

    /// Bytes of what is shown, after each number of events.
    pub fn totals(&self) -> &Series {
        match &self.narrowed {
            Some(narrowed) => &narrowed.totals,
            None => &self.analysis.timeline.allocated,
        }
    }

    pub fn events(&self) -> &[Event] {
        self.snapshot.traces.get(self.analysis.device).map_or(&[], Vec::as_slice)
    }

    pub fn n_events(&self) -> usize {
        self.events().len()
    }

    /// Milliseconds from the first event to the last that is done; nothing where times were not recorded.
    pub fn ms_at(&self, at: usize) -> Option<f64> {
        let first = self.events().first().filter(|event| event.time_us > 0)?;
        let last = self.events().get(at.checked_sub(1)?)?;
        Some(last.time_us.saturating_sub(first.time_us) as f64 / 1e3)
    }

    pub fn life(&self, idx: u32) -> Option<&Life> {
        self.analysis.lives.get(idx as usize)
    }

    /// The block that an alloc made, by the index of the event.
    pub fn life_of_event(&self, event: usize) -> Option<u32> {
        self.analysis.of_event.get(event).copied().flatten()
    }

    /// The colour of a band. Roles have their own everywhere in the program; places and streams go by order. Grey is what
    /// has no place, and what is too small for a band of its own.
    pub fn color(&self, tokens: &Tokens, band: usize) -> Color32 {
        match (self.colour, self.bands.all.get(band).and_then(|band| band.key)) {
            (_, None) => rest(tokens),
            (Colour::Role, Some(Key(role))) => {
                let role = Role::ALL.into_iter().find(|candidate| *candidate as u32 == role);
                role_color(tokens, role.unwrap_or_default())
            }
            (Colour::Site, Some(NO_STACK)) => tokens.tint(tokens.muted, 0.75),
            (_, Some(_)) => tokens.category(self.n_coloured_before(band)),
        }
    }

    /// Bands before this one that are not grey.
    fn n_coloured_before(&self, band: usize) -> usize {
        let is_grey = |key| self.colour == Colour::Site && key == NO_STACK;
        let before = self.bands.all.iter().take(band).filter_map(|band| band.key);
        before.filter(|key| !is_grey(*key)).count()
    }

    /// The colour of a place in the code; nothing where colours tell something else apart.
    pub fn color_of_site(&self, tokens: &Tokens, site: Key) -> Option<Color32> {
        let band = self.bands.all.iter().position(|band| band.key == Some(site));
        (self.colour == Colour::Site).then(|| band.map_or(rest(tokens), |band| self.color(tokens, band)))
    }

    /// The colour of a block.
    pub fn color_of(&self, tokens: &Tokens, life: u32) -> Color32 {
        match self.bands.of_life.get(life as usize) {
            Some(band) => self.color(tokens, usize::from(*band)),
            None => rest(tokens),
        }
    }
}

fn totals(analysis: &Analysis, passes: &[bool]) -> Vec<u64> {
    let mut changes = vec![0_i64; analysis.timeline.n_events() + 2];
    let mut change = |at: usize, by: i64| {
        if let Some(slot) = changes.get_mut(at) {
            *slot = slot.saturating_add(by);
        }
    };
    for (life, _) in analysis.lives.iter().zip(passes).filter(|(life, passes)| **passes && !life.was_pending) {
        change(life.from.map_or(0, |from| from as usize + 1), life.size.cast_signed());
        if let Some(freed) = life.freed {
            change(freed as usize + 1, -life.size.cast_signed());
        }
    }
    let mut now = 0_i64;
    let sum = |by: &i64| {
        now = now.saturating_add(*by);
        now.max(0) as u64
    };
    changes[..=analysis.timeline.n_events()].iter().map(sum).collect()
}

fn rest(tokens: &Tokens) -> Color32 {
    tokens.tint(tokens.muted, 0.45)
}

/// The colour of a role, as in every chapter.
pub fn role_color(tokens: &Tokens, role: Role) -> Color32 {
    let look = match role {
        Role::Parameter => Look::Parameters,
        Role::Gradient => Look::Gradients,
        Role::Optimizer => Look::Optimizer,
        Role::Activation => Look::Activations,
        Role::KvCache => Look::KvCache,
        Role::Workspace => Look::Workspace,
        Role::Unknown => return rest(tokens),
    };
    tokens.role(look)
}

/// What a colour stands for, with its words: an area, or a line.
pub fn band_chip(ui: &mut Ui, tokens: &Tokens, color: Color32, words: &str, is_line: bool) {
    let galley = paint::elided(ui, tokens, Type::Small, tokens.ink, words, paint::most_width(ui) - tokens.px(18.0));
    let size = vec2(tokens.px(16.0) + galley.size().x, tokens.px(20.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, words));
    let square =
        Rect::from_center_size(pos2(rect.left() + tokens.px(5.0), rect.center().y), Vec2::splat(tokens.px(10.0)));
    if is_line {
        ui.painter().hline(square.x_range(), square.center().y, tokens.stroke(1.5, color));
    } else {
        ui.painter().rect_filled(square, 2.0, color);
    }
    let at = pos2(rect.left() + tokens.px(16.0), rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, tokens.ink);
}
