//! The theme, resolved to egui values. Loaded from `assets/theme.toml`; raw colours live here and in `palette.rs` alone.
//!
//! Data colours are stored as a [`Role`] (or an order in a series) and resolved when painted, so that a figure made in
//! the light theme is right in the dark one. Turning tokens into egui's own style is `style.rs`.

use crate::palette::{self, Palette};
use egui::{Color32, CornerRadius, FontFamily, FontId, Stroke};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const SOURCE: &str = include_str!("../../../assets/theme.toml");

/// Which of the two looks is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    #[default]
    Light,
    Dark,
}

impl Theme {
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// The code used in settings, file names and the command line.
    pub fn code(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.code() == code)
    }
}

/// What a mark stands for. The same thing has the same colour in all chapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Parameters,
    Gradients,
    Optimizer,
    Activations,
    KvCache,
    Workspace,
}

impl Role {
    pub const ALL: [Self; 6] =
        [Self::Parameters, Self::Gradients, Self::Optimizer, Self::Activations, Self::KvCache, Self::Workspace];
}

/// The outcome of a comparison. Its colour never stands alone: a word or a sign goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    Good,
    Caution,
    Bad,
    /// Nothing to judge yet.
    Neutral,
}

/// The steps of the type scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// 12: axis numbers, chips.
    Small,
    /// 13.5: labels, secondary sentences, buttons.
    Note,
    /// 13.5 in the heavier weight.
    NoteStrong,
    /// 15: prose.
    Body,
    BodyStrong,
    /// 16, heavier: the title of a card.
    Card,
    /// 22, monospaced: a key number.
    Number,
    /// 26, heavier: the chapter's title.
    Chapter,
    /// 13.5, monospaced: values and code.
    Mono,
    /// 12, monospaced.
    MonoSmall,
}

/// Distances between things, from the spacing scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    pub xxs: f32,
    pub xs: f32,
    pub s: f32,
    pub m: f32,
    pub l: f32,
    pub xl: f32,
    pub xxl: f32,
}

/// Everything a widget or a figure needs to know about the look, for one theme and one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokens {
    pub theme: Theme,
    /// 1.0 at the normal size; presenter mode and the text-size setting enlarge it.
    pub scale: f32,
    /// Length of a transition; 0 when the reader asked for reduced motion.
    pub motion_secs: f32,
    pub ground: Color32,
    pub surface: Color32,
    /// A little deeper than its card: code, tracks of bars.
    pub sunken: Color32,
    pub ink: Color32,
    pub muted: Color32,
    pub line: Color32,
    pub grid: Color32,
    /// What can be pressed and where you are; never data.
    pub accent: Color32,
    pub accent_hover: Color32,
    pub accent_soft: Color32,
    pub on_accent: Color32,
    pub good: Color32,
    pub caution: Color32,
    pub bad: Color32,
    pub shadow: Color32,
    pub space: Space,
    pub control_radius: u8,
    pub card_radius: u8,
    /// The least height and width of anything that can be pressed.
    pub hit: f32,
    roles: [Color32; 6],
    hierarchy: Vec<Color32>,
    categories: Vec<Color32>,
    sizes: Sizes,
    hairline: f32,
}

impl Tokens {
    /// Text in presenter mode is this much larger.
    pub const PRESENTER_SCALE: f32 = 1.6;

    /// `scale` multiplies type, strokes and distances; 1.0 is the normal size.
    pub fn new(theme: Theme, scale: f32) -> Self {
        let file: File = toml::from_str(SOURCE).expect("assets/theme.toml is held by the tests of this file");
        let look = match theme {
            Theme::Light => file.light,
            Theme::Dark => file.dark,
        };
        let color = |name: &str| look.color(name);
        let [xxs, xs, s, m, l, xl, xxl] = file.space.steps.map(|step| step * scale);
        Self {
            theme,
            scale,
            motion_secs: file.motion.secs,
            ground: color("ground"),
            surface: color("surface"),
            sunken: color("sunken"),
            ink: color("ink"),
            muted: color("muted"),
            line: color("line"),
            grid: color("grid"),
            accent: color("accent"),
            accent_hover: color("accent_hover"),
            accent_soft: color("accent_soft"),
            on_accent: color("on_accent"),
            good: color("good"),
            caution: color("caution"),
            bad: color("bad"),
            shadow: color("shadow"),
            space: Space { xxs, xs, s, m, l, xl, xxl },
            control_radius: file.shape.control_radius,
            card_radius: file.shape.card_radius,
            hit: file.shape.hit * scale,
            roles: Role::ALL.map(|role| look.role(role)),
            hierarchy: file.hierarchy.colors(theme),
            categories: file.category.colors(theme),
            sizes: file.sizes,
            hairline: file.shape.hairline,
        }
    }

    /// The same look without transitions.
    #[must_use]
    pub fn without_motion(mut self) -> Self {
        self.motion_secs = 0.0;
        self
    }

    pub fn is_dark(&self) -> bool {
        self.theme == Theme::Dark
    }

    pub fn role(&self, role: Role) -> Color32 {
        self.roles[role as usize]
    }

    pub fn verdict(&self, verdict: Verdict) -> Color32 {
        match verdict {
            Verdict::Good => self.good,
            Verdict::Caution => self.caution,
            Verdict::Bad => self.bad,
            Verdict::Neutral => self.muted,
        }
    }

    /// The memory hierarchy, 0.0 = nearest (registers, dark) to 1.0 = farthest (disk, light).
    pub fn hierarchy(&self, far: f32) -> Color32 {
        palette::sample(&self.hierarchy, far)
    }

    /// A magnitude from 0.0 to 1.0.
    pub fn magnitude(&self, palette: Palette, share: f32) -> Color32 {
        palette.at(share)
    }

    /// The colour of series `idx` of `n_series`, for charts with more series than roles: by order along viridis, kept
    /// away from the end that would vanish in the surface.
    pub fn series(&self, idx: usize, n_series: usize) -> Color32 {
        let share = if n_series > 1 { idx as f32 / (n_series - 1) as f32 } else { 0.4 };
        let (from, to) = if self.is_dark() { (0.42, 1.0) } else { (0.0, 0.54) };
        Palette::Viridis.at(from + (to - from) * share)
    }

    /// The colour of the `idx`-th of some groups that have neither a role nor an order. Neighbours differ in lightness and
    /// in hue; after the eighth they begin again.
    pub fn category(&self, idx: usize) -> Color32 {
        self.categories[idx % self.categories.len()]
    }

    /// `color` mixed into the surface; 0.0 is the surface.
    pub fn tint(&self, color: Color32, share: f32) -> Color32 {
        palette::mix(self.surface, color, share)
    }

    /// A length that grows with the text.
    pub fn px(&self, points: f32) -> f32 {
        points * self.scale
    }

    pub fn font(&self, role: Type) -> FontId {
        let sizes = &self.sizes;
        let (size, family) = match role {
            Type::Small => (sizes.small, FontFamily::Proportional),
            Type::Note => (sizes.note, FontFamily::Proportional),
            Type::NoteStrong => (sizes.note, crate::fonts::strong()),
            Type::Body => (sizes.body, FontFamily::Proportional),
            Type::BodyStrong => (sizes.body, crate::fonts::strong()),
            Type::Card => (sizes.card, crate::fonts::strong()),
            Type::Number => (sizes.number, FontFamily::Monospace),
            Type::Chapter => (sizes.chapter, crate::fonts::strong()),
            Type::Mono => (sizes.note, FontFamily::Monospace),
            Type::MonoSmall => (sizes.small, FontFamily::Monospace),
        };
        FontId::new(size * self.scale, family)
    }

    /// Distance between the lines of prose.
    pub fn body_line(&self) -> f32 {
        (self.sizes.body * self.sizes.body_line * self.scale).round()
    }

    /// The widest column of prose: some 74 Latin letters or 38 汉字.
    pub fn prose_width(&self) -> f32 {
        38.0 * self.sizes.body * self.scale
    }

    pub fn hairline(&self) -> Stroke {
        Stroke::new(self.hairline, self.line)
    }

    /// A stroke of `points` in the width of this size.
    pub fn stroke(&self, points: f32, color: Color32) -> Stroke {
        Stroke::new(points * self.scale, color)
    }

    pub fn control_corner(&self) -> CornerRadius {
        CornerRadius::same(self.control_radius)
    }

    pub fn card_corner(&self) -> CornerRadius {
        CornerRadius::same(self.card_radius)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version")]
    _version: u32,
    light: Look,
    dark: Look,
    hierarchy: ByTheme,
    category: ByTheme,
    #[serde(rename = "type")]
    sizes: Sizes,
    space: Steps,
    shape: Shape,
    motion: Motion,
}

#[derive(Deserialize)]
struct Look {
    role: BTreeMap<Role, String>,
    #[serde(flatten)]
    named: BTreeMap<String, String>,
}

impl Look {
    fn color(&self, name: &str) -> Color32 {
        parse_hex(self.named.get(name).map_or("", String::as_str))
    }

    fn role(&self, role: Role) -> Color32 {
        parse_hex(self.role.get(&role).map_or("", String::as_str))
    }
}

#[derive(Deserialize)]
struct ByTheme {
    light: Vec<String>,
    dark: Vec<String>,
}

impl ByTheme {
    fn colors(&self, theme: Theme) -> Vec<Color32> {
        let hexes = match theme {
            Theme::Light => &self.light,
            Theme::Dark => &self.dark,
        };
        hexes.iter().map(|hex| parse_hex(hex)).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    small: f32,
    note: f32,
    body: f32,
    card: f32,
    number: f32,
    chapter: f32,
    body_line: f32,
    #[serde(rename = "presenter")]
    _presenter: f32,
}

#[derive(Deserialize)]
struct Steps {
    steps: [f32; 7],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    control_radius: u8,
    card_radius: u8,
    hairline: f32,
    hit: f32,
    #[serde(rename = "touch_hit")]
    _touch_hit: f32,
}

#[derive(Deserialize)]
struct Motion {
    secs: f32,
}

/// `#RRGGBB` or `#RRGGBBAA`. Anything else is a bug in the file, and a panic that names the value.
fn parse_hex(hex: &str) -> Color32 {
    Color32::from_hex(hex).unwrap_or_else(|_| panic!("assets/theme.toml: \"{hex}\" is not a colour like #1A1D21"))
}
