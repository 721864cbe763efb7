//! The table of `memory_summary()`, row by row: which counter it is, what it counts, and what it says together with the
//! others. One focus stop; a row is chosen by the pointer or by the arrows, and shows its two pools.

use crate::figure;
use crate::ink;
use egui::{Align2, EventFilter, Key, Painter, Rect, Response, RichText, Sense, Ui, pos2, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::summary::{METRICS, OOMS, Pool, RETRIES, Row, Summary, printed};
use vramlab_units::{Bytes, Lang, Text, show};

const HEAD: [Text; 5] = [
    Text::new("行", "row"),
    Text::new("当前", "current"),
    Text::new("峰值", "peak"),
    Text::new("累计申请", "allocated in all"),
    Text::new("累计释放", "freed in all"),
];
const LARGE: Text = Text::new("大池", "large pool");
const SMALL: Text = Text::new("小池", "small pool");
const KEY: Text = Text::new("memory_stats() 里的键：{}.all.current", "in memory_stats(): {}.all.current");
const COUNTS: Text =
    Text::new("OOM {ooms} 次 · cudaMalloc 重试 {retries} 次", "{ooms} OOMs · {retries} retries of cudaMalloc");
const SENTENCE: Text = Text::new(
    "保留 {reserved}，在用 {allocated}；空闲的 {cached} 里，{holes} 在切开的段里还不掉，{rest} 清空缓存就能还。",
    "{reserved} reserved, {allocated} in use; of the {cached} that are free, {holes} lie in split segments and cannot be returned, and a flush returns {rest}.",
);

const ROW: f32 = 25.0;
const SUB_ROW: f32 = 20.0;
const NARROW: f32 = 560.0;

/// The table's own memory between frames.
#[derive(Default)]
pub struct SummaryTable {
    /// Index into [`METRICS`].
    pub chosen: usize,
}

/// A line of the table.
struct Line {
    metric: usize,
    pool: Pool,
    rect: Rect,
}

impl SummaryTable {
    /// The table, and below it what the chosen row means. The figure's name for screen readers is [`Self::words`].
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, summary: &Summary) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let lines = self.lines(summary, ui.cursor().min, width, tokens.scale);
        let bottom = lines.last().map_or(ui.cursor().min.y, |line| line.rect.bottom());
        let (rect, response) = ui.allocate_exact_size(vec2(width, bottom - ui.cursor().min.y), Sense::click());
        let hovered = response.hover_pos().and_then(|at| lines.iter().find(|line| line.rect.contains(at)));
        let hovered = hovered.map(|line| line.metric);
        self.steer(ui, &response, summary, hovered);
        let painter = ui.painter_at(rect);
        self.head(&painter, tokens, lang, rect);
        for line in &lines {
            self.line(&painter, tokens, lang, summary, line, hovered);
        }
        figure::focus_ring(ui, tokens, &response);
        let shown = hovered.unwrap_or(self.chosen);
        let meaning = METRICS.get(shown).map(|metric| metric.means.get(lang));
        figure::speak(&response, &self.words(summary, lang), meaning.filter(|_| response.has_focus()));
        ui.add_space(tokens.space.s);
        meaning_ui(ui, tokens, lang, summary, shown);
    }

    /// What the table says as a whole.
    pub fn words(&self, summary: &Summary, lang: Lang) -> String {
        let now = |key: &str| summary.row(key, Pool::All).and_then(|row| row.current);
        let size = |bytes: Option<u64>| bytes.map_or("–".to_owned(), |bytes| show::bytes_binary(Bytes(bytes)));
        SENTENCE
            .get(lang)
            .replace("{reserved}", &size(now("reserved_bytes")))
            .replace("{allocated}", &size(now("allocated_bytes")))
            .replace("{cached}", &size(summary.cached()))
            .replace("{holes}", &size(now("inactive_split_bytes")))
            .replace("{rest}", &size(summary.releasable()))
    }

    fn lines(&self, summary: &Summary, origin: egui::Pos2, width: f32, scale: f32) -> Vec<Line> {
        let mut y = origin.y + ROW * scale;
        let mut out = Vec::new();
        let mut add = |metric, pool, height: f32| {
            let rect = Rect::from_min_size(pos2(origin.x, y), vec2(width, height * scale));
            y = rect.bottom();
            out.push(Line { metric, pool, rect });
        };
        for (metric, known) in METRICS.iter().enumerate() {
            if summary.row(known.key, Pool::All).is_none() {
                continue;
            }
            add(metric, Pool::All, ROW);
            for pool in [Pool::Large, Pool::Small] {
                if metric == self.chosen && summary.row(known.key, pool).is_some() {
                    add(metric, pool, SUB_ROW);
                }
            }
        }
        out
    }

    fn steer(&mut self, ui: &Ui, response: &Response, summary: &Summary, hovered: Option<usize>) {
        if response.clicked_by(egui::PointerButton::Primary) {
            response.request_focus();
            self.chosen = hovered.unwrap_or(self.chosen);
        }
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let known = |metric: &usize| summary.row(METRICS[*metric].key, Pool::All).is_some();
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let next = if pressed(Key::ArrowDown) {
            (self.chosen + 1..METRICS.len()).find(known)
        } else if pressed(Key::ArrowUp) {
            (0..self.chosen).rev().find(known)
        } else {
            None
        };
        self.chosen = next.unwrap_or(self.chosen);
    }

    /// The right ends of the columns; a narrow table leaves the totals out.
    fn columns(tokens: &Tokens, width: f32) -> Vec<f32> {
        let (n, each) = if width < tokens.px(NARROW) { (2, 84.0) } else { (4, 118.0) };
        (0..n).map(|idx| width - tokens.px(each) * (n - 1 - idx) as f32 - tokens.px(6.0)).collect()
    }

    fn head(&self, painter: &Painter, tokens: &Tokens, lang: Lang, rect: Rect) {
        let y = rect.top() + tokens.px(ROW / 2.0);
        let font = tokens.font(Type::Small);
        let at = pos2(rect.left() + tokens.px(6.0), y);
        ink::text(painter, at, Align2::LEFT_CENTER, HEAD[0].get(lang), font.clone(), tokens.muted);
        for (x, head) in Self::columns(tokens, rect.width()).into_iter().zip(&HEAD[1..]) {
            let at = pos2(rect.left() + x, y);
            ink::text(painter, at, Align2::RIGHT_CENTER, head.get(lang), font.clone(), tokens.muted);
        }
        painter.hline(rect.x_range(), rect.top() + tokens.px(ROW), tokens.hairline());
    }

    fn line(
        &self,
        painter: &Painter,
        tokens: &Tokens,
        lang: Lang,
        summary: &Summary,
        line: &Line,
        hovered: Option<usize>,
    ) {
        let metric = &METRICS[line.metric];
        let (Some(row), Some(all)) = (summary.row(metric.key, line.pool), summary.row(metric.key, Pool::All)) else {
            return;
        };
        let is_chosen = line.metric == self.chosen;
        if is_chosen {
            painter.rect_filled(line.rect, 0.0, tokens.accent_soft);
        } else if hovered == Some(line.metric) {
            painter.rect_filled(line.rect, 0.0, tokens.sunken);
        }
        let is_sub = line.pool != Pool::All;
        let name = match line.pool {
            Pool::All => metric.name,
            Pool::Large => LARGE.get(lang),
            Pool::Small => SMALL.get(lang),
        };
        let y = line.rect.center().y;
        let indent = tokens.px(if is_sub { 22.0 } else { 6.0 });
        let font = tokens.font(if is_chosen && !is_sub { Type::NoteStrong } else { Type::Note });
        let color = if is_sub { tokens.muted } else { tokens.ink };
        ink::text(painter, pos2(line.rect.left() + indent, y), Align2::LEFT_CENTER, name, font, color);
        let cells = |row: &Row| [row.current, row.peak, row.allocated, row.freed];
        for ((x, value), scale) in Self::columns(tokens, line.rect.width()).into_iter().zip(cells(row)).zip(cells(all))
        {
            let text = value.map_or("–".to_owned(), |value| printed(value, scale.unwrap_or(value), metric.is_bytes));
            let at = pos2(line.rect.left() + x, y);
            ink::text(painter, at, Align2::RIGHT_CENTER, text, tokens.font(Type::MonoSmall), color);
        }
    }
}

/// The chosen row in words, and what the table's head counts.
fn meaning_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, summary: &Summary, metric: usize) {
    let Some(known) = METRICS.get(metric) else { return };
    let label = |ui: &mut Ui, text: &str, role: Type, color| {
        ui.add(egui::Label::new(RichText::new(text).font(tokens.font(role)).color(color)).wrap());
    };
    label(ui, known.name, Type::NoteStrong, tokens.ink);
    let reading = summary.reading(metric).map(|reading| reading.get(lang).to_owned()).unwrap_or_default();
    let gap = if lang == Lang::Zh { "" } else { " " };
    let means = [known.means.get(lang), &reading].join(gap);
    label(ui, means.trim_end(), Type::Note, tokens.ink);
    label(ui, &KEY.get(lang).replace("{}", known.key), Type::Small, tokens.muted);
    if let (Some(ooms), Some(retries)) = (summary.n_ooms, summary.n_retries) {
        let counts = COUNTS.get(lang).replace("{ooms}", &ooms.to_string()).replace("{retries}", &retries.to_string());
        let response = ui.label(RichText::new(counts).font(tokens.font(Type::Small)).color(tokens.muted));
        response.on_hover_text(format!("{}\n{}", OOMS.get(lang), RETRIES.get(lang)));
    }
}
