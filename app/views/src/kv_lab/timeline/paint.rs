//! Painting both panels. It sees runs, geometry and tokens, decides nothing.

use super::layout::{Geometry, Panel};
use super::run::{Act, Run, Side};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Mesh, Painter, Rect, Shape, pos2, vec2};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_serve::schedule::record::Row;
use vramlab_units::Lang;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub run: &'a Run,
    pub max_seqs: u32,
    pub pool_blocks: u32,
    /// The step under the cursor.
    pub step: Option<usize>,
    pub request: Option<usize>,
}

pub fn color(tokens: &Tokens, act: Act) -> Color32 {
    match act {
        Act::Waiting => tokens.tint(tokens.muted, 0.35),
        Act::Prefill => tokens.category(1),
        Act::Decode => tokens.category(0),
        Act::Preempted => tokens.bad,
        Act::Idle => tokens.tint(tokens.category(0), 0.28),
    }
}

impl Scene<'_> {
    pub fn paint(&self) {
        let end = self.run.end();
        for (idx, side) in [&self.run.flowing, &self.run.still].into_iter().enumerate() {
            self.panel(&self.geometry.panels[idx], side, idx, end);
        }
    }

    fn panel(&self, panel: &Panel, side: &Side, idx: usize, end: f64) {
        let Self { painter, tokens, lang, .. } = self;
        let y = panel.rows.top() - tokens.px(7.0);
        let strong = tokens.font(Type::NoteStrong);
        let small = tokens.font(Type::Small);
        let title = words::NAMES[idx].get(*lang);
        let title = ink::text(painter, pos2(panel.whole.left(), y), Align2::LEFT_BOTTOM, title, strong, tokens.ink);
        let note = words::ends(side, *lang);
        if ink::text_width(painter, &note, small.clone()) < panel.whole.right() - title.right() - tokens.space.s {
            ink::text(painter, pos2(panel.whole.right(), y), Align2::RIGHT_BOTTOM, note, small, tokens.muted);
        }
        painter.rect_filled(panel.rows, 0.0, tokens.tint(tokens.muted, 0.06));
        self.rows(panel, side, end);
        let rows = &side.outcome.record.rows;
        let kv = tokens.role(Role::KvCache);
        self.strip(panel, panel.seats, words::SEATS.get(*lang), self.max_seqs, rows, end, tokens.category(0), |row| {
            row.running
        });
        self.strip(panel, panel.blocks, words::BLOCKS.get(*lang), self.pool_blocks, rows, end, kv, |row| {
            row.used_blocks
        });
        self.axis(panel, end);
    }

    fn rows(&self, panel: &Panel, side: &Side, end: f64) {
        let Self { painter, tokens, .. } = self;
        let mut mesh = Mesh::default();
        let gap = if panel.row >= tokens.px(6.0) { tokens.px(1.5) } else { 0.0 };
        for span in &side.spans {
            let y = panel.rows.top() + span.request as f32 * panel.row;
            let (from, to) = (panel.x(span.from, end), panel.x(span.to, end));
            // Who waits is a thin line in the middle of the row.
            let thin = if span.act == Act::Waiting { (panel.row * 0.36).min(panel.row - gap) / 1.0 } else { gap };
            let rect = Rect::from_min_max(pos2(from, y + thin), pos2(to.max(from + 0.7), y + panel.row - thin));
            mesh.add_colored_rect(rect, color(tokens, span.act));
        }
        painter.add(Shape::mesh(mesh));
        let font = tokens.font(Type::MonoSmall);
        let every = (tokens.px(14.0) / panel.row).ceil().max(1.0) as usize;
        if self.run.is_summary {
            let n = self.run.requests.len();
            let text = super::words::pick(
                self.lang,
                format!("{n} 个请求，不逐行画"),
                format!("{n} requests, not drawn one by one"),
            );
            let font = tokens.font(Type::Small);
            ink::text(painter, panel.rows.center(), Align2::CENTER_CENTER, text, font, tokens.muted);
        }
        for idx in (0..self.run.n_rows()).step_by(every) {
            let at = pos2(panel.rows.left() - tokens.px(4.0), panel.rows.top() + (idx as f32 + 0.5) * panel.row);
            let is_over = self.request == Some(idx);
            let color = if is_over { tokens.accent } else { tokens.muted };
            ink::text(painter, at, Align2::RIGHT_CENTER, format!("R{}", idx + 1), font.clone(), color);
        }
    }

    /// A share of `whole`, step by step.
    #[expect(clippy::too_many_arguments, reason = "two calls, each names all of them")]
    fn strip(
        &self,
        panel: &Panel,
        rect: Rect,
        name: &str,
        whole: u32,
        rows: &[Row],
        end: f64,
        fill: Color32,
        of: fn(&Row) -> u32,
    ) {
        let Self { painter, tokens, .. } = self;
        let font = tokens.font(Type::Small);
        let at = pos2(panel.whole.left(), rect.top() - tokens.px(3.0));
        let most = rows.iter().map(of).max().unwrap_or(0);
        ink::text(painter, at, Align2::LEFT_BOTTOM, format!("{name} · {most} / {whole}"), font.clone(), tokens.muted);
        painter.rect_filled(rect, 0.0, tokens.tint(tokens.muted, 0.06));
        let mut mesh = Mesh::default();
        let mut put = |from: f32, to: f32, most: u32| {
            let share = (most as f32 / whole.max(1) as f32).min(1.0);
            let top = rect.bottom() - rect.height() * share;
            mesh.add_colored_rect(Rect::from_min_max(pos2(from, top), pos2(to, rect.bottom())), fill);
        };
        // Steps narrower than half a pixel go together, as high as the highest of them.
        let mut open: Option<(f32, f32, u32)> = None;
        for row in rows {
            let (from, to, n) = (panel.x(row.start, end), panel.x(row.end, end), of(row));
            open = match open {
                Some((first, last, most)) if to - first < 0.5 && from - last < 0.5 => Some((first, to, most.max(n))),
                Some((first, last, most)) => {
                    put(first, last, most);
                    Some((from, to, n))
                }
                None => Some((from, to, n)),
            };
        }
        if let Some((first, last, most)) = open {
            put(first, last, most);
        }
        painter.add(Shape::mesh(mesh));
        painter.hline(rect.x_range(), rect.top(), tokens.stroke(1.0, tokens.line));
    }

    fn axis(&self, panel: &Panel, end: f64) {
        let Self { painter, tokens, .. } = self;
        let font = tokens.font(Type::Small);
        let low = panel.blocks.bottom() + tokens.px(3.0);
        let put =
            |x: f32, anchor, text: String, color| ink::text(painter, pos2(x, low), anchor, text, font.clone(), color);
        let left = put(panel.rows.left(), Align2::LEFT_TOP, "0".to_owned(), tokens.muted);
        let right = put(panel.rows.right(), Align2::RIGHT_TOP, format!("{end:.0}"), tokens.muted);
        let Some(step) = self.step else { return };
        let (from, to) = (panel.x(step as f64 - 1.0, end), panel.x(step as f64, end));
        let band = Rect::from_min_max(pos2(from, panel.rows.top()), pos2(to.max(from + 1.0), panel.blocks.bottom()));
        painter.rect_stroke(band, 0.0, tokens.stroke(1.5, tokens.accent), egui::StrokeKind::Outside);
        let half = vec2(tokens.px(18.0), 0.0).x;
        let x = (from + to) / 2.0;
        if x - half > left.right() && x + half < right.left() {
            put(x, Align2::CENTER_TOP, step.to_string(), tokens.ink);
        }
    }
}
