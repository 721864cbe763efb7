//! What stands above the timeline and across it: named phases, repeats that were found, refusals, and other marks of the
//! recording. Where they are closer than can be told apart, their number is told instead.

use super::look::Look;
use super::scene::Scene;
use egui::{Painter, Pos2, Rect, Stroke, pos2, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::steps::How;
use vramlab_units::{Bytes, Lang, Text, show};

const REPEATS: Text = Text::new("{n} 次重复", "{n} repeats");
const REFUSED: Text = Text::new("OOM：要 {}", "OOM: {} wanted");
const MANY_REFUSED: Text = Text::new("{n} 次 OOM", "{n} OOMs");
const MANY: Text = Text::new("{n} 段", "{n} phases");

/// Rows of phases that are drawn; deeper ones are told when pointed at.
pub const MOST_ROWS: usize = 2;
/// Height of a row of phases.
pub const ROW: f32 = 18.0;

/// A named stretch in sight.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    pub name: String,
    /// In events done.
    pub from: usize,
    pub until: usize,
    pub row: usize,
}

/// Phases of the annotations by depth, else the repeats that were found.
pub fn regions(scene: &Scene) -> Vec<Region> {
    let steps = &scene.analysis.steps;
    let mut ends: Vec<usize> = Vec::new();
    let mut out: Vec<Region> = Vec::with_capacity(steps.phases.len());
    let mut phases: Vec<_> = steps.phases.iter().collect();
    // Of two that begin at once the longer one is around the other.
    phases.sort_by_key(|phase| (phase.from, std::cmp::Reverse(phase.until)));
    for phase in phases {
        // A row is free once its last phase is over.
        let row = ends.iter().position(|end| *end <= phase.from).unwrap_or(ends.len());
        match ends.get_mut(row) {
            Some(end) => *end = phase.until,
            None => ends.push(phase.until),
        }
        let name = phase.name.split('#').next_back().unwrap_or(&phase.name).to_owned();
        out.push(Region { name, from: phase.from, until: phase.until, row });
    }
    if out.is_empty() && matches!(steps.how, How::Period { .. }) {
        let first = steps.ends.first().copied().unwrap_or(0);
        let length = steps.ends.get(1).map_or(first, |second| second - first);
        let starts = std::iter::once(first.saturating_sub(length)).chain(steps.ends.iter().copied());
        let region = |(idx, (from, until)): (usize, (usize, &usize))| Region {
            name: (idx + 1).to_string(),
            from,
            until: *until,
            row: 0,
        };
        out.extend(starts.zip(&steps.ends).enumerate().map(region));
    }
    out
}

/// Rows that the regions need.
pub fn n_rows(regions: &[Region]) -> usize {
    regions.iter().map(|region| region.row + 1).max().unwrap_or(0).min(MOST_ROWS)
}

/// The innermost region at a moment.
pub fn region_at(regions: &[Region], moment: usize) -> Option<&Region> {
    let around = |region: &&Region| region.from < moment && moment <= region.until;
    regions.iter().filter(around).min_by_key(|region| region.until - region.from)
}

/// Everything that a painter of marks needs.
pub struct Frame<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub look: &'a Look,
    pub plot: Rect,
}

impl Frame<'_> {
    fn x(&self, moment: usize) -> f32 {
        let share = (moment as f64 - self.look.from as f64) / self.look.span() as f64;
        self.plot.left() + self.plot.width() * share.clamp(0.0, 1.0) as f32
    }

    fn is_seen(&self, from: usize, until: usize) -> bool {
        until >= self.look.from && from <= self.look.until
    }

    /// The regions above the plot, each row from its own height down.
    pub fn regions(&self, all: &[Region], is_repeats: bool) {
        for row in 0..n_rows(all) {
            let top = self.plot.top() - self.tokens.px(ROW) * (n_rows(all) - row) as f32 - self.tokens.px(4.0);
            let inside = |region: &&Region| region.row == row && self.is_seen(region.from, region.until);
            let seen: Vec<&Region> = all.iter().filter(inside).collect();
            self.row(&seen, top, is_repeats);
        }
    }

    fn row(&self, seen: &[&Region], top: f32, is_repeats: bool) {
        let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return };
        let height = self.tokens.px(ROW) - self.tokens.px(3.0);
        let (left, right) = (self.x(first.from), self.x(last.until));
        // Narrower than this on average, single ones are a grey wall: their number says more.
        if seen.len() > 3 && (right - left) / (seen.len() as f32) < self.tokens.px(5.0) {
            let rect = Rect::from_min_max(pos2(left, top), pos2(right.max(left + 2.0), top + height));
            self.cell(rect, false);
            let words = if is_repeats { REPEATS } else { MANY };
            self.label(rect, &words.get(self.lang).replace("{n}", &seen.len().to_string()));
            return;
        }
        for (idx, region) in seen.iter().enumerate() {
            let (left, right) = (self.x(region.from), self.x(region.until));
            let rect = Rect::from_min_max(pos2(left, top), pos2(right.max(left + 1.0), top + height));
            self.cell(rect, idx % 2 == 1);
            self.label(rect, &region.name);
        }
    }

    fn cell(&self, rect: Rect, is_odd: bool) {
        let fill = self.tokens.tint(self.tokens.ink, if is_odd { 0.16 } else { 0.09 });
        self.painter.rect_filled(rect.shrink2(vec2(0.5_f32.min(rect.width() / 4.0), 0.0)), 2.0, fill);
    }

    /// The words, cut where they do not fit; pointing at the phase tells them whole.
    fn label(&self, rect: Rect, words: &str) {
        let room = rect.width() - self.tokens.px(8.0);
        let font = self.tokens.font(Type::Small);
        let whole = self.painter.layout_no_wrap(words.to_owned(), font, self.tokens.ink).size().x;
        // A letter and an ellipsis say nothing.
        if room < whole.min(self.tokens.px(40.0)) {
            return;
        }
        let mut job =
            egui::text::LayoutJob::simple_singleline(words.to_owned(), self.tokens.font(Type::Small), self.tokens.ink);
        job.wrap = egui::text::TextWrapping::truncate_at_width(room);
        let text = self.painter.layout_job(job);
        let at = pos2(rect.left() + self.tokens.px(4.0), rect.center().y - text.size().y / 2.0);
        self.painter.galley(at, text, self.tokens.ink);
    }

    /// A refusal is a line across everything, with what was wanted; other marks of the recording are ticks below.
    pub fn events(&self, scene: &Scene) {
        let ooms: Vec<(f32, u64)> = scene
            .analysis
            .ooms
            .iter()
            .filter(|oom| self.is_seen(oom.event, oom.event + 1))
            .map(|oom| (self.x(oom.event + 1), oom.evidence.request))
            .collect();
        let mut free_from = f32::NEG_INFINITY;
        let mut last = f32::NEG_INFINITY;
        for (x, _) in &ooms {
            if *x - last >= 1.0 {
                self.painter.vline(*x, self.plot.y_range(), self.tokens.stroke(1.5, self.tokens.bad));
                last = *x;
            }
        }
        let crowded = ooms.len() > 8;
        for (x, request) in ooms.iter().take(if crowded { 1 } else { 8 }) {
            let words = match crowded {
                true => MANY_REFUSED.get(self.lang).replace("{n}", &ooms.len().to_string()),
                false => REFUSED.get(self.lang).replace("{}", &show::bytes_binary(Bytes(*request))),
            };
            free_from = self.flag(*x, &words, free_from);
        }
    }

    /// A small flag at the top of a line; where the next one may begin.
    fn flag(&self, x: f32, words: &str, free_from: f32) -> f32 {
        let text = self.painter.layout_no_wrap(words.to_owned(), self.tokens.font(Type::Small), self.tokens.surface);
        let pad = vec2(self.tokens.px(5.0), self.tokens.px(2.0));
        let width = text.size().x + 2.0 * pad.x;
        let left = if x + width > self.plot.right() { x - width } else { x };
        if left < free_from {
            return free_from;
        }
        let rect = Rect::from_min_size(pos2(left, self.plot.top()), text.size() + 2.0 * pad);
        self.painter.rect_filled(rect, 2.0, self.tokens.bad);
        self.painter.galley(rect.min + pad, text, self.tokens.surface);
        rect.right() + self.tokens.px(4.0)
    }

    /// The cursor.
    pub fn cursor(&self) {
        let x = self.x(self.look.cursor);
        if !self.is_seen(self.look.cursor, self.look.cursor) {
            return;
        }
        self.painter.vline(x, self.plot.y_range(), self.tokens.stroke(1.5, self.tokens.accent));
        let head: Vec<Pos2> =
            vec![pos2(x - 5.0, self.plot.top() - 6.0), pos2(x + 5.0, self.plot.top() - 6.0), pos2(x, self.plot.top())];
        self.painter.add(egui::Shape::convex_polygon(head, self.tokens.accent, Stroke::NONE));
    }
}
