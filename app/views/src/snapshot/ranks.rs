//! Ranks below each other, all to one scale: what each held over time by role, what it reserved, its peak. The fullest is
//! marked, since a job stops at it. Below, the places in the program whose bytes differ from rank to rank.

use super::scene::Scene;
use super::timeline::unit_of;
use egui::{Align2, Mesh, Rect, ScrollArea, Sense, Shape, Ui, WidgetInfo, pos2, vec2};
use std::sync::Arc;
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::ranks::{Ranks as Found, SiteSpread};
use vramlab_snapshot::sites::short_text;
use vramlab_units::{Bytes, Lang, Text, show};

const LANE: Text = Text::new(
    "{name}：峰值 {peak}，保留 {reserved}；点一下看这一份",
    "{name}: peak {peak}, {reserved} reserved; press to look at it",
);
const PEAK: Text = Text::new("峰值 {}", "peak {}");
const RESERVED: Text = Text::new("保留 {}", "reserved {}");
const GAP: Text = Text::new("{name}：各 rank 之间最多差 {gap}", "{name}: up to {gap} between ranks");

const LANE_HEIGHT: f32 = 74.0;
const ROWS: f32 = 10.0;

/// One rank to be drawn.
pub struct Lane<'a> {
    pub name: &'a str,
    pub scene: &'a Scene,
    pub is_chosen: bool,
}

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Ranks {
    meshes: Vec<Arc<Mesh>>,
    made_for: Option<(Vec<usize>, [i32; 4], bool)>,
}

fn bytes(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// The upper end of all lanes: what is reserved has its line unless it would press everything else flat.
fn top(found: &Found) -> u64 {
    let (allocated, reserved) = (found.allocated.most, found.reserved.most);
    if reserved <= allocated.saturating_mul(2) {
        reserved.max(allocated).max(1)
    } else {
        (allocated + allocated / 8).max(1)
    }
}

impl Ranks {
    /// The lanes; which of them was pressed.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, lanes: &[Lane<'_>], found: &Found) -> Option<usize> {
        let height = tokens.px(LANE_HEIGHT);
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height * lanes.len() as f32), Sense::hover());
        let is_narrow = rect.width() < tokens.px(560.0);
        let left = tokens.px(if is_narrow { 96.0 } else { 190.0 });
        let most = top(found);
        let plots: Vec<Rect> = (0..lanes.len())
            .map(|idx| {
                let top = rect.top() + height * idx as f32;
                Rect::from_min_max(pos2(rect.left() + left, top + 6.0), pos2(rect.right() - 4.0, top + height - 8.0))
            })
            .collect();
        self.refresh(tokens, lanes, &plots, most);
        let mut pressed = None;
        for (idx, (lane, plot)) in lanes.iter().zip(&plots).enumerate() {
            let whole = Rect::from_x_y_ranges(rect.x_range(), plot.y_range().expand(5.0));
            let response = ui.interact(whole, ui.scope_id().with(("lane", idx)), Sense::click());
            let rank = &found.all[idx];
            let words = LANE.get(lang).replace("{name}", lane.name).replace("{peak}", &bytes(rank.peak_allocated));
            let words = words.replace("{reserved}", &bytes(rank.peak_reserved));
            response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, lane.is_chosen, &words));
            if response.hovered() || response.has_focus() {
                ui.painter().rect_filled(whole, 4.0, tokens.accent_soft);
            }
            self.lane(ui, tokens, lang, (idx, lane, rank), *plot, rect.left(), found);
            if response.clicked() {
                pressed = Some(idx);
            }
            response.on_hover_text(words);
        }
        pressed
    }

    #[expect(clippy::too_many_arguments, reason = "one lane with its place")]
    fn lane(
        &self,
        ui: &Ui,
        tokens: &Tokens,
        lang: Lang,
        (idx, lane, rank): (usize, &Lane<'_>, &vramlab_snapshot::ranks::Rank),
        plot: Rect,
        left: f32,
        found: &Found,
    ) {
        let painter = ui.painter();
        let is_fullest = idx == found.allocated.fullest && found.allocated.gap() > 0;
        let width = plot.left() - left - tokens.px(10.0);
        let name = paint::elided(ui, tokens, Type::NoteStrong, tokens.ink, lane.name, width);
        painter.galley(pos2(left + tokens.px(4.0), plot.top()), name, tokens.ink);
        let tone = if is_fullest { tokens.caution } else { tokens.ink };
        let peak = format!("{}{}", if is_fullest { "▲ " } else { "" }, bytes(rank.peak_allocated));
        let peak = PEAK.get(lang).replace("{}", &peak);
        let y = plot.top() + tokens.px(21.0);
        painter.galley(pos2(left + tokens.px(4.0), y), paint::elided(ui, tokens, Type::Small, tone, peak, width), tone);
        let reserved = RESERVED.get(lang).replace("{}", &bytes(rank.peak_reserved));
        let reserved = paint::elided(ui, tokens, Type::Small, tokens.muted, reserved, width);
        painter.galley(pos2(left + tokens.px(4.0), y + tokens.px(17.0)), reserved, tokens.muted);
        painter.rect_filled(plot, 2.0, tokens.sunken);
        if let Some(mesh) = self.meshes.get(idx) {
            painter.add(Shape::mesh(Arc::clone(mesh)));
        }
        let most = top(found);
        let y = |value: u64| plot.bottom() - plot.height() * (value as f64 / most as f64) as f32;
        // The peak of the fullest crosses every lane: what is below it could be given away.
        let line = [pos2(plot.left(), y(found.allocated.most)), pos2(plot.right(), y(found.allocated.most))];
        painter.extend(Shape::dashed_line(&line, tokens.stroke(1.0, tokens.caution), 5.0, 4.0));
        if rank.peak_reserved <= most {
            painter.hline(plot.x_range(), y(rank.peak_reserved), tokens.stroke(1.0, tokens.ink));
        }
        if idx == 0 {
            let unit = unit_of(most);
            let label =
                format!("{}{}{}", show::number((most as f64 / unit.0 * 10.0).round() / 10.0), show::THIN, unit.1);
            let at = pos2(plot.right() - 4.0, plot.top() + 2.0);
            painter.text(at, Align2::RIGHT_TOP, label, tokens.font(Type::Small), tokens.muted);
        }
        if lane.is_chosen {
            painter.rect_stroke(plot, 2.0, tokens.stroke(1.5, tokens.accent), egui::StrokeKind::Outside);
        }
    }

    fn refresh(&mut self, tokens: &Tokens, lanes: &[Lane<'_>], plots: &[Rect], most: u64) {
        let of = lanes.iter().map(|lane| Arc::as_ptr(&lane.scene.bands) as usize).collect();
        let first = plots.first().copied().unwrap_or(Rect::ZERO);
        let place = [first.left(), first.top(), first.right(), first.bottom()].map(|at| at.round() as i32);
        let key = (of, place, tokens.is_dark());
        if self.made_for.as_ref() == Some(&key) {
            return;
        }
        self.made_for = Some(key);
        let span = span(lanes);
        self.meshes =
            lanes.iter().zip(plots).map(|(lane, plot)| Arc::new(mesh(tokens, lane.scene, *plot, most, span))).collect();
    }
}

/// The first and last time of all ranks, where each of them was recorded with times: then they share one clock.
fn span(lanes: &[Lane<'_>]) -> Option<(u64, u64)> {
    let mut out: Option<(u64, u64)> = None;
    for lane in lanes {
        let events = lane.scene.events();
        let (first, last) = (events.first()?.time_us, events.last()?.time_us);
        if first == 0 || last < first {
            return None;
        }
        out = Some(out.map_or((first, last), |(a, b)| (a.min(first), b.max(last))));
    }
    // Recordings that hardly overlap were not made side by side: each has its own clock then.
    let longest = lanes.iter().filter_map(|lane| {
        let events = lane.scene.events();
        Some(events.last()?.time_us - events.first()?.time_us)
    });
    let longest = longest.max().unwrap_or(0);
    out.filter(|(first, last)| last > first && last - first <= longest + longest / 2)
}

fn mesh(tokens: &Tokens, scene: &Scene, plot: Rect, most: u64, span: Option<(u64, u64)>) -> Mesh {
    let n_columns = plot.width().max(1.0) as usize;
    let allocated = scene.analysis.timeline.allocated.values();
    let colors: Vec<_> = (0..scene.bands.all.len()).map(|band| scene.color(tokens, band)).collect();
    let y = |value: u64| plot.bottom() - plot.height() * (value as f64 / most as f64) as f32;
    let mut mesh = Mesh::default();
    for column in 0..n_columns {
        let Some(moment) = moment(scene, column, n_columns, allocated, span) else { continue };
        let left = plot.left() + plot.width() * column as f32 / n_columns as f32;
        let right = left + plot.width() / n_columns as f32;
        let mut below = 0;
        for (band, color) in scene.bands.all.iter().zip(&colors) {
            let value = band.value(moment);
            if value > 0 {
                let quad = Rect::from_min_max(pos2(left, y(below + value)), pos2(right, y(below)));
                mesh.add_colored_rect(quad, *color);
                below += value;
            }
        }
    }
    mesh
}

/// The fullest moment of a column; the last one before it where nothing happens in it.
fn moment(scene: &Scene, column: usize, n: usize, allocated: &[u64], span: Option<(u64, u64)>) -> Option<usize> {
    let events = scene.events();
    let edge = |column: usize| match span {
        Some((first, last)) => {
            let time = first + ((last - first) as u128 * column as u128 / n as u128) as u64;
            events.partition_point(|event| event.time_us < time)
        }
        None => events.len() * column / n,
    };
    let (from, until) = (edge(column), edge(column + 1).max(edge(column)));
    if until == from && (from == 0 || from == events.len()) && span.is_some() {
        // Before it began, or after it ended.
        return None;
    }
    (from..=until.min(allocated.len().saturating_sub(1))).max_by_key(|at| allocated.get(*at).copied().unwrap_or(0))
}

/// Places by how much they differ: a bar a rank.
pub fn sites_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, sites: &[SiteSpread]) {
    let most = sites.iter().flat_map(|site| site.bytes.iter().copied()).max().unwrap_or(1).max(1);
    let n_ranks = sites.first().map_or(1, |site| site.bytes.len()).max(1);
    let is_narrow = ui.available_width() < tokens.px(560.0);
    let bar = tokens.px(if n_ranks > 8 { 4.0 } else { 7.0 });
    let row = (bar + 1.0) * n_ranks as f32 + tokens.px(if is_narrow { 26.0 } else { 10.0 });
    let row = row.max(tokens.px(26.0));
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let height = (row * ROWS.min(sites.len() as f32)).min(tokens.px(360.0));
        let area = ScrollArea::vertical()
            .id_salt("rank sites")
            .min_scrolled_height(height)
            .max_height(height)
            .auto_shrink([false, true]);
        area.show_rows(ui, row, sites.len(), |ui, rows| {
            for idx in rows {
                site_ui(ui, tokens, lang, &sites[idx], (row, bar, is_narrow), most);
            }
        });
    });
}

fn site_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    site: &SiteSpread,
    (row, bar, is_narrow): (f32, f32, bool),
    most: u64,
) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row), Sense::hover());
    let each: Vec<String> =
        site.bytes.iter().enumerate().map(|(rank, held)| format!("{rank}: {}", bytes(*held))).collect();
    let words = GAP.get(lang).replace("{name}", site.label.get(lang)).replace("{gap}", &bytes(site.gap()));
    let words = format!("{words}\n{}", each.join("\n"));
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &words));
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let width = if is_narrow { rect.width() - tokens.px(96.0) } else { rect.width() * 0.42 };
    let label = paint::elided(ui, tokens, Type::Note, tokens.ink, short_text(site.label.get(lang)), width);
    let line = if is_narrow { rect.top() + tokens.px(12.0) } else { rect.center().y };
    painter.galley(pos2(rect.left() + 4.0, line - label.size().y / 2.0), label, tokens.ink);
    let gap = format!("Δ {}", bytes(site.gap()));
    painter.text(pos2(rect.right() - 6.0, line), Align2::RIGHT_CENTER, gap, tokens.font(Type::MonoSmall), tokens.ink);
    let (left, right, top) = match is_narrow {
        true => (rect.left() + 4.0, rect.right() - 6.0, rect.top() + tokens.px(24.0)),
        false => (rect.left() + width + tokens.px(12.0), rect.right() - tokens.px(112.0), rect.top() + tokens.px(5.0)),
    };
    let fullest = site.bytes.iter().max().copied().unwrap_or(0);
    for (rank, held) in site.bytes.iter().enumerate() {
        let y = top + (bar + 1.0) * rank as f32;
        let length = (right - left) * (*held as f64 / most as f64) as f32;
        let cell = Rect::from_min_size(pos2(left, y), vec2(length.max(1.0), bar));
        let share = if *held == fullest { 0.7 } else { 0.3 };
        painter.rect_filled(cell, 1.0, tokens.tint(tokens.ink, share));
    }
    response.on_hover_text(words);
}
