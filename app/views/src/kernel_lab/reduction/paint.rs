//! Geometry and picture of a reduction: a row of 32 cells after every step, and what a block pays. Decides nothing.

use super::question::{Question, STEPS, start};
use super::words;
use crate::ink;
use crate::kernel_lab::sm;
use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Area, Tokens, Type, paint};
use vramlab_model::kernels::warp_reduce::{Form, LANES, Round};
use vramlab_units::Lang;
use vramlab_units::show::grouped;

const TITLE: f32 = 22.0;
const ROW: f32 = 20.0;
const GAP: f32 = 26.0;
const LOW_ROW: f32 = 10.0;
const LOW_GAP: f32 = 17.0;
const ACROSS: f32 = 54.0;
const LINE: f32 = 24.0;

/// One form's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    pub form: Form,
    pub rect: Rect,
    top: f32,
    row: f32,
    pitch: f32,
    wide: f32,
}

impl Panel {
    fn new(form: Form, origin: Pos2, width: f32, scale: f32, is_low: bool) -> Self {
        let px = |points: f32| points * scale;
        let (row, gap) = if is_low { (px(LOW_ROW), px(LOW_GAP)) } else { (px(ROW), px(GAP)) };
        let n = if form == Form::Redux { 1 } else { STEPS };
        let top = origin.y + px(TITLE);
        let bottom = top + row + n as f32 * (row + gap) + px(4.0);
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, bottom));
        Self { form, rect, top, row, pitch: row + gap, wide: width / LANES as f32 }
    }

    /// Steps are rows, the first of them the start.
    pub fn cell(&self, step: usize, lane: usize) -> Rect {
        let at = pos2(self.rect.left() + lane as f32 * self.wide, self.top + step as f32 * self.pitch);
        Rect::from_min_size(at, vec2(self.wide, self.row)).shrink2(vec2((self.wide * 0.06).min(1.5), 0.0))
    }

    pub fn rows(&self) -> usize {
        if self.form == Form::Redux { 1 } else { STEPS }
    }

    fn hit(&self, at: Pos2) -> Option<(usize, usize)> {
        let over = |step: usize| (0..LANES).find(|lane| self.cell(step, *lane).expand(1.0).contains(at));
        (0..=self.rows()).find_map(|step| Some((step, over(step)?)))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub main: Panel,
    /// The tree beside it, if it is not the one shown.
    pub tree: Option<Panel>,
    pub across: Rect,
    pub rows: [Rect; 4],
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, question: Question) -> Self {
        let px = |points: f32| points * scale;
        let main = Panel::new(question.form, origin, width, scale, false);
        let across = Rect::from_min_size(pos2(origin.x, main.rect.bottom() + px(2.0)), vec2(width, px(ACROSS)));
        let tree = (question.form != Form::SharedTree)
            .then(|| Panel::new(Form::SharedTree, pos2(origin.x, across.bottom() + px(4.0)), width, scale, true));
        let below = tree.as_ref().map_or(across.bottom(), |panel| panel.rect.bottom());
        let first = below + px(52.0);
        let row =
            |idx: usize| Rect::from_min_size(pos2(origin.x, first + idx as f32 * px(LINE)), vec2(width, px(LINE)));
        let rows = [row(0), row(1), row(2), row(3)];
        Self { rect: Rect::from_min_max(origin, pos2(origin.x + width, rows[3].bottom())), main, tree, across, rows }
    }

    /// The cell under the pointer: of the tree or not, step, lane.
    pub fn hit(&self, at: Pos2) -> Option<(bool, usize, usize)> {
        let tree = || self.tree.as_ref()?.hit(at).map(|(step, lane)| (true, step, lane));
        self.main.hit(at).map(|(step, lane)| (false, step, lane)).or_else(tree)
    }

    pub fn form_at(&self, at: Pos2) -> Option<Form> {
        let idx = self.rows.iter().position(|row| row.contains(at))?;
        Some(Form::ALL[idx])
    }
}

pub fn color(tokens: &Tokens, form: Form) -> Color32 {
    if form == Form::SharedTree { sm::shared(tokens) } else { sm::register(tokens) }
}

/// How strong a cell is whose value is still needed.
pub fn needed_share(tokens: &Tokens) -> f32 {
    if tokens.is_dark() { 0.5 } else { 0.3 }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: Question,
    pub rounds: &'a [Round],
    pub tree: &'a [Round],
    pub step: usize,
    /// Of the tree or not, step, lane.
    pub picked: Option<(bool, usize, usize)>,
    pub over: Option<Form>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        let geometry = self.geometry;
        let picked = |is_tree: bool| self.picked.filter(|at| at.0 == is_tree).map(|(_, step, lane)| (step, lane));
        self.panel(&geometry.main, self.rounds, picked(false), true);
        self.across();
        if let Some(tree) = &geometry.tree {
            self.panel(tree, self.tree, picked(true), false);
        }
        self.costs();
    }

    fn panel(&self, panel: &Panel, rounds: &[Round], picked: Option<(usize, usize)>, has_values: bool) {
        let Self { painter, tokens, lang, .. } = self;
        let at = panel.rect.left_top();
        let title = words::panel(panel.form, *lang);
        let strong = tokens.font(Type::NoteStrong);
        ink::text(painter, at, Align2::LEFT_TOP, title, strong, tokens.ink);
        for (idx, round) in rounds.iter().enumerate() {
            if idx < self.step {
                self.links(panel, idx + 1, round, picked, has_values);
            }
        }
        let start = start();
        for step in 0..=panel.rows() {
            for (lane, first) in start.iter().enumerate() {
                let (value, needed) = match step {
                    0 => (*first, true),
                    _ => (rounds[step - 1].values[lane], rounds[step - 1].is_needed[lane]),
                };
                let is_here = picked == Some((step, lane));
                self.cell(panel, (step, lane), value, needed, is_here, has_values);
            }
        }
    }

    /// From each cell to where it is added in the next step.
    fn links(&self, panel: &Panel, step: usize, round: &Round, picked: Option<(usize, usize)>, has_code: bool) {
        let Self { painter, tokens, .. } = self;
        let hue = color(tokens, panel.form);
        let is_now = step == self.step.min(panel.rows());
        for lane in 0..LANES {
            let Some(from) = round.from[lane].filter(|from| *from != lane) else { continue };
            let is_picked = picked == Some((step, lane));
            let share = if round.is_needed[lane] { if is_now { 0.95 } else { 0.6 } } else { 0.18 };
            let (width, color) = if is_picked { (2.0, tokens.accent) } else { (1.0, tokens.tint(hue, share)) };
            let (a, b) = (panel.cell(step - 1, from).center_bottom(), panel.cell(step, lane).center_top());
            painter.line_segment([a, b], tokens.stroke(width, color));
        }
        if panel.form == Form::SharedTree {
            let y = panel.cell(step, 0).bottom() + tokens.px(2.5);
            painter.hline(panel.rect.x_range(), y, tokens.stroke(1.6, tokens.caution));
        }
        if has_code && is_now {
            let y = (panel.cell(step - 1, 0).bottom() + panel.cell(step, 0).top()) / 2.0;
            let code = words::code(panel.form, round.distance);
            let font = tokens.font(Type::MonoSmall);
            if ink::text_width(painter, &code, font.clone()) < panel.rect.width() {
                let at = pos2(panel.rect.right() - tokens.px(2.0), y);
                ink::text_on(painter, at, Align2::RIGHT_CENTER, code, font, tokens.ink, tokens.surface);
            }
        }
    }

    fn cell(
        &self,
        panel: &Panel,
        (step, lane): (usize, usize),
        value: u64,
        needed: bool,
        is_here: bool,
        has_value: bool,
    ) {
        let Self { painter, tokens, .. } = self;
        let rect = panel.cell(step, lane);
        let hue = color(tokens, panel.form);
        let corner = CornerRadius::same(2);
        if step > self.step {
            painter.rect_stroke(rect, corner, tokens.stroke(1.0, tokens.grid), StrokeKind::Inside);
            return;
        }
        let is_sum = step == panel.rows() && needed;
        let share = if is_sum { 0.95 } else { needed_share(tokens) };
        if needed {
            painter.rect_filled(rect, corner, tokens.tint(hue, share));
        } else {
            paint::area(painter, tokens, rect, Area::Wasted);
        }
        if is_here {
            painter.rect_stroke(rect, corner, tokens.stroke(1.6, tokens.accent), StrokeKind::Outside);
        }
        let font = self.digits();
        if has_value && ink::text_width(painter, "496", font.clone()) < rect.width() {
            let text = value.to_string();
            let color = if is_sum {
                tokens.surface
            } else if needed {
                tokens.ink
            } else {
                tokens.muted
            };
            ink::text(painter, rect.center(), Align2::CENTER_CENTER, text, font, color);
        }
    }

    /// Three digits go into a cell of a wide page.
    fn digits(&self) -> FontId {
        let font = self.tokens.font(Type::MonoSmall);
        FontId::new(font.size * 0.86, font.family)
    }

    /// What the warps of a block still have to do together.
    fn across(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        if question.form == Form::SharedTree {
            return;
        }
        let area = geometry.across;
        let said = words::across(*question, question.form, *lang);
        let font = tokens.font(Type::Small);
        let galley = painter.layout(said, font, tokens.muted, area.width());
        let tall = galley.size().y;
        painter.galley(area.left_top() + vec2(0.0, tokens.px(2.0)), galley, tokens.muted);
        let warps = question.warps();
        if warps == 1 {
            return;
        }
        let size = tokens.px(12.0).min(area.width() / 36.0);
        let y = area.top() + tall + tokens.px(7.0);
        for idx in 0..warps {
            let at = pos2(area.left() + idx as f32 * (size + tokens.px(2.0)), y);
            let rect = Rect::from_min_size(at, vec2(size, size));
            painter.rect_filled(rect, 2, tokens.tint(color(tokens, Form::SharedTree), 0.8));
        }
    }

    fn costs(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let first = geometry.rows[0];
        let narrow = first.width() < tokens.px(460.0);
        let name_wide = first.width() * if narrow { 0.31 } else { 0.24 };
        let heads = if narrow { &[0, 2, 4][..] } else { &[0, 1, 2, 3, 4][..] };
        let pitch = (first.width() - name_wide) / heads.len() as f32;
        let right = |nth: usize| first.left() + name_wide + (nth + 1) as f32 * pitch - tokens.px(6.0);
        let small = tokens.font(Type::Small);
        let at = pos2(first.left(), first.top() - tokens.px(22.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, words::COSTS.get(*lang), tokens.font(Type::NoteStrong), tokens.ink);
        for (nth, head) in heads.iter().enumerate() {
            let at = pos2(right(nth), first.top() - tokens.px(3.0));
            ink::text(painter, at, Align2::RIGHT_BOTTOM, words::HEADS[*head].get(*lang), small.clone(), tokens.muted);
        }
        for (row, form) in geometry.rows.iter().zip(Form::ALL) {
            let is_chosen = form == question.form;
            if is_chosen || self.over == Some(form) {
                let fill = if is_chosen { tokens.accent_soft } else { tokens.sunken };
                painter.rect_filled(*row, tokens.control_corner(), fill);
            }
            let font = tokens.font(if is_chosen { Type::NoteStrong } else { Type::Note });
            let at = pos2(row.left() + tokens.px(6.0), row.center().y);
            ink::text(painter, at, Align2::LEFT_CENTER, words::form(form).get(*lang), font, tokens.ink);
            let cost = question.cost(form);
            let all = [cost.steps, cost.shuffles, cost.barriers, cost.shared_requests, cost.shared_bytes];
            for (nth, head) in heads.iter().enumerate() {
                let at = pos2(right(nth), row.center().y);
                let text = grouped(all[*head] as f64);
                ink::text(painter, at, Align2::RIGHT_CENTER, text, tokens.font(Type::Mono), tokens.ink);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_found_where_it_is_drawn() {
        for form in Form::ALL {
            let question = Question { form, threads: 256 };
            for (width, scale) in [(300.0, 1.0), (844.0, 1.0), (1200.0, 1.6)] {
                let geometry = Geometry::new(pos2(3.0, 7.0), width, scale, question);
                for (step, lane) in [(0, 0), (1, 31), (1, 7)] {
                    let at = geometry.main.cell(step, lane).center();
                    assert_eq!(geometry.hit(at), Some((false, step, lane)), "{form:?} {width}");
                    if let Some(tree) = &geometry.tree {
                        assert_eq!(geometry.hit(tree.cell(5, lane).center()), Some((true, 5, lane)), "{form:?}");
                    }
                }
                for (row, form) in geometry.rows.iter().zip(Form::ALL) {
                    assert_eq!(geometry.form_at(row.center()), Some(form));
                    assert!(geometry.rect.contains_rect(*row));
                }
            }
        }
    }
}
