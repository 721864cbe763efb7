//! Painting the plans: time to the right, the peak upwards, the card a line. It decides nothing.

use super::question::{Found, GIB, Question};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rect, Stroke, pos2, vec2};
use vramlab_kit::axis::{Axis, Spread};
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_model::plan_pareto::{Plan, State};
use vramlab_units::Lang;
use vramlab_units::show::with_unit;

const HEIGHT: f32 = 330.0;
const LEFT: f32 = 46.0;
const BELOW: f32 = 40.0;
const ABOVE: f32 = 26.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub plot: Rect,
    x: Axis,
    y: Axis,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, found: &Found, card_gib: f64) -> Self {
        let rect = Rect::from_min_size(origin, vec2(width, HEIGHT * scale));
        let plot = Rect::from_min_max(rect.min + vec2(LEFT, ABOVE) * scale, rect.max - vec2(12.0, BELOW) * scale);
        let times = found.plans.iter().map(|plan| plan.time_ms).chain([0.0]);
        let peaks = found.plans.iter().map(|plan| plan.peak as f64 / GIB).chain([card_gib]);
        let whole = |axis: Option<Axis>| axis.unwrap_or(Axis { spread: Spread::Linear, min: 0.0, max: 1.0 });
        let y = whole(Axis::around(Spread::Linear, peaks));
        Self { rect, plot, x: whole(Axis::around(Spread::Linear, times)), y }
    }

    pub fn place(&self, ms: f64, bytes: i64) -> Pos2 {
        let share = |axis: &Axis, value: f64| axis.share_from_value(value).unwrap_or(0.0) as f32;
        let (x, y) = (share(&self.x, ms), share(&self.y, bytes as f64 / GIB));
        pos2(self.plot.left() + self.plot.width() * x, self.plot.bottom() - self.plot.height() * y)
    }

    /// The plan nearest to a point; of plans in one place, one of the set, else the one with the fewest changes.
    pub fn hit(&self, at: Pos2, found: &Found, reach: f32) -> Option<u32> {
        let key = |plan: &Plan| {
            let is_best = found.set.iter().any(|other| other.bits == plan.bits);
            let away = self.place(plan.time_ms, plan.peak).distance(at).round() as i32;
            (away, !is_best, plan.bits.count_ones())
        };
        found.plans.iter().min_by_key(|plan| key(plan)).filter(|plan| key(plan).0 as f32 <= reach).map(|plan| plan.bits)
    }
}

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub found: &'a Found,
    pub way: &'a [State],
    pub hovered: Option<u32>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axes();
        self.card();
        for plan in &self.found.plans {
            self.dot(plan);
        }
        self.front();
        self.way();
        if let Some(plan) = self.hovered.and_then(|bits| self.found.plans.get(bits as usize)) {
            self.told(plan);
        }
    }

    fn axes(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let plot = geometry.plot;
        let font = || tokens.font(Type::MonoSmall);
        let n_x = if plot.width() < tokens.px(360.0) { 4 } else { 8 };
        for tick in geometry.x.ticks(n_x) {
            let x = geometry.place(tick, 0).x;
            painter.vline(x, plot.y_range(), tokens.stroke(1.0, tokens.grid));
            let at = pos2(x, plot.bottom() + tokens.px(5.0));
            ink::text(painter, at, Align2::CENTER_TOP, with_unit(tick, "1"), font(), tokens.muted);
        }
        for tick in geometry.y.ticks(6) {
            let y = geometry.place(0.0, (tick * GIB) as i64).y;
            painter.hline(plot.x_range(), y, tokens.stroke(1.0, tokens.grid));
            let at = pos2(plot.left() - tokens.px(6.0), y);
            ink::text(painter, at, Align2::RIGHT_CENTER, with_unit(tick, "1"), font(), tokens.muted);
        }
        let small = || tokens.font(Type::Small);
        let (x, y) = match lang {
            Lang::Zh => ("一步的时间，ms", "峰值，GiB"),
            Lang::En => ("time of a step, ms", "peak, GiB"),
        };
        let at = pos2(plot.right(), geometry.rect.bottom());
        ink::text(painter, at, Align2::RIGHT_BOTTOM, x, small(), tokens.muted);
        ink::text(painter, geometry.rect.left_top(), Align2::LEFT_TOP, y, small(), tokens.muted);
    }

    /// What does not fit.
    fn card(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let plot = geometry.plot;
        let y = geometry.place(0.0, (question.card_gib * GIB) as i64).y.clamp(plot.top(), plot.bottom());
        let above = plot.with_max_y(y);
        if above.height() > 1.0 {
            area(painter, tokens, above, Area::Fragmented);
        }
        painter.hline(plot.x_range(), y, tokens.stroke(1.5, tokens.ink));
        let card = with_unit(question.card_gib, "GiB");
        let text = match lang {
            Lang::Zh => format!("卡 {card}"),
            Lang::En => format!("the card, {card}"),
        };
        // In the hatched part if it has the height of a word.
        let (x, font) = (plot.right() - tokens.px(6.0), tokens.font(Type::Small));
        let (at, anchor) = if above.height() > tokens.px(24.0) {
            (pos2(x, y - tokens.px(4.0)), Align2::RIGHT_BOTTOM)
        } else {
            (pos2(x, y + tokens.px(3.0)), Align2::RIGHT_TOP)
        };
        ink::text_on(painter, at, anchor, text, font, tokens.ink, tokens.surface);
    }

    fn dot(&self, plan: &Plan) {
        let Self { painter, tokens, geometry, .. } = self;
        let at = geometry.place(plan.time_ms, plan.peak);
        let radius = tokens.px(4.0);
        if plan.refused.is_some() {
            painter.circle_filled(at, radius, tokens.surface);
            ink::strike(painter, at, radius * 0.8, tokens.stroke(1.2, tokens.muted));
        } else {
            painter.circle(at, radius, tokens.surface, tokens.stroke(1.2, tokens.muted));
        }
    }

    /// The stairs of what nothing beats.
    fn front(&self) {
        let Self { painter, tokens, geometry, found, .. } = self;
        let color = tokens.role(Role::Optimizer);
        let places: Vec<Pos2> = found.set.iter().map(|plan| geometry.place(plan.time_ms, plan.peak)).collect();
        for pair in places.windows(2) {
            let corner = pos2(pair[1].x, pair[0].y);
            painter.line_segment([pair[0], corner], tokens.stroke(1.5, color));
            painter.line_segment([corner, pair[1]], tokens.stroke(1.5, color));
        }
        for place in places {
            painter.circle(place, tokens.px(5.5), color, tokens.stroke(1.5, tokens.surface));
        }
    }

    /// The plan that is looked at, from the baseline on, a leg a change.
    fn way(&self) {
        let Self { painter, tokens, geometry, way, .. } = self;
        let places: Vec<Pos2> = way.iter().map(|state| geometry.place(state.timing().step_ms, state.peak)).collect();
        for pair in places.windows(2) {
            painter.line_segment([pair[0], pair[1]], tokens.stroke(2.0, tokens.accent));
        }
        for (idx, place) in places.iter().enumerate() {
            let is_last = idx + 1 == places.len();
            let (radius, fill) = if is_last { (7.0, tokens.accent) } else { (3.0, tokens.accent) };
            painter.circle(*place, tokens.px(radius), fill, tokens.stroke(1.5, tokens.surface));
        }
        if let Some(start) = places.first().filter(|_| places.len() > 1) {
            let text = words::plan(self.question, &self.found.plans[0], self.lang);
            let at = *start + vec2(tokens.px(12.0), tokens.px(8.0));
            let font = tokens.font(Type::Small);
            ink::text_on(painter, at, Align2::RIGHT_TOP, text, font, tokens.accent, tokens.surface);
        }
    }

    fn told(&self, plan: &Plan) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let at = geometry.place(plan.time_ms, plan.peak);
        painter.circle_stroke(at, tokens.px(8.0), Stroke::new(1.5, tokens.ink));
        let lines = [
            (words::plan(question, plan, *lang), ink::Shade::Ink),
            (format!("{}, {}", words::ms(plan.time_ms), words::gib(plan.peak)), ink::Shade::Muted),
        ];
        ink::info_box(painter, tokens, geometry.plot, at, &lines);
    }
}

/// The colour of the set, for the legend.
pub fn front_colour(tokens: &Tokens) -> Color32 {
    tokens.role(Role::Optimizer)
}
