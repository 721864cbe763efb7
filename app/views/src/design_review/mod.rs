//! A design review: ten things that a defended decision shows, each with its level of evidence, to be handed out.
//!
//! `items.rs` has the things, what the levels mean and the words.

mod items;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::ink;
use crate::view::{DataTable, View, ViewAction, ViewCx, Visualizer};
use egui::{Align2, CornerRadius, EventFilter, Key, Painter, Pos2, Rect, Response, Sense, StrokeKind, Ui, pos2, vec2};
use items::{ITEMS, LEVELS, Levels, N};
use vramlab_kit::{Tokens, Type, Verdict};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const CASE: Text = Text::new("哪一份", "Which one");
const OWN: Text = Text::new("自己的", "your own");
const EXPORT: Text = Text::new("导出 Markdown", "Export as Markdown");
const HINT: Text = Text::new(
    "按格子定证据级别，再按一次取消；上下左右键也行。",
    "Press a cell to set the level, again to clear it; arrow keys work too.",
);
const ROW: f32 = 34.0;
const HEAD: f32 = 24.0;
/// Reviews to start from.
const PRESETS: [(&str, Text); 3] = [
    ("----------", Text::new("空白", "blank")),
    ("0-0----0--", Text::new("一篇“快了 42 %”的文章", "an article that says 42 % faster")),
    ("22222222-2", Text::new("综合实验，跑一遍之后", "the capstone after one run")),
];

/// See the module's docs.
pub struct DesignReview {
    levels: Levels,
    cursor: usize,
}

struct Grid {
    rect: Rect,
    cells_left: f32,
    cell: f32,
    row: f32,
    head: f32,
}

impl Grid {
    fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let cell = (width * 0.11).clamp(32.0 * scale, 64.0 * scale);
        let (row, head) = (ROW * scale, HEAD * scale);
        let rect = Rect::from_min_size(origin, vec2(width, head + row * N as f32));
        Self { rect, cells_left: rect.right() - cell * LEVELS.len() as f32, cell, row, head }
    }

    fn line(&self, item: usize) -> Rect {
        let top = self.rect.top() + self.head + self.row * item as f32;
        Rect::from_min_size(pos2(self.rect.left(), top), vec2(self.rect.width(), self.row))
    }

    fn cell(&self, item: usize, level: usize) -> Rect {
        let left = self.cells_left + self.cell * level as f32;
        Rect::from_min_size(pos2(left, self.line(item).top()), vec2(self.cell, self.row))
    }

    fn hit(&self, at: Pos2) -> Option<(usize, Option<usize>)> {
        let item = (0..N).find(|item| self.line(*item).contains(at))?;
        Some((item, (0..LEVELS.len()).find(|level| self.cell(item, *level).contains(at))))
    }
}

impl DesignReview {
    fn controls_ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        controls::row(ui, tokens, |flow| {
            let now = items::text(&self.levels);
            let known = PRESETS.iter().position(|(marks, _)| *marks == now);
            let mut options: Vec<(Option<usize>, String)> =
                PRESETS.iter().enumerate().map(|(idx, (_, name))| (Some(idx), name.get(lang).to_owned())).collect();
            if known.is_none() {
                options.push((None, OWN.get(lang).to_owned()));
            }
            let mut chosen = known;
            if controls::choice(flow, tokens, CASE.get(lang), &mut chosen, &options)
                && let Some(levels) = chosen.and_then(|idx| items::parse(PRESETS[idx].0).ok())
            {
                self.levels = levels;
            }
            if controls::button(flow, tokens, EXPORT.get(lang)) {
                let (name, text) = ("design-review.md".to_owned(), items::markdown(&self.levels, lang));
                cx.actions.push(ViewAction::SaveText { name, text });
            }
        });
    }

    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let grid = Grid::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(grid.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.cursor, N);
        let hovered = response.hover_pos().and_then(|at| grid.hit(at));
        if response.clicked()
            && let Some((item, level)) = hovered
        {
            self.cursor = item;
            if let Some(level) = level.and_then(|level| u8::try_from(level).ok()) {
                let slot = &mut self.levels[item];
                *slot = if *slot == Some(level) { None } else { Some(level) };
            }
        }
        self.steer(ui, &response);
        let painter = ui.painter_at(rect.expand(tokens.px(6.0)));
        for (level, _) in LEVELS.iter().enumerate() {
            let at = pos2(grid.cell(0, level).center().x, rect.top() + grid.head / 2.0);
            ink::text(&painter, at, Align2::CENTER_CENTER, format!("E{level}"), tokens.font(Type::Small), tokens.muted);
        }
        let picked = hovered.map(|(item, _)| item).or_else(|| response.has_focus().then_some(self.cursor));
        for item in 0..N {
            self.line(&painter, tokens, lang, &grid, item, picked == Some(item));
        }
        figure::focus_ring(ui, tokens, &response);
        let said = picked.map(|item| self.told(item, hovered.and_then(|(_, level)| level), lang));
        figure::speak(&response, &self.finding(lang), said.as_deref().filter(|_| response.has_focus()));
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(HINT.get(lang)));
    }

    /// What an item asks, and what a level means.
    fn told(&self, item: usize, level: Option<usize>, lang: Lang) -> String {
        let asks = ITEMS[item].asks.get(lang);
        let level = level.or(self.levels[item].map(usize::from));
        match (level, lang) {
            (Some(level), Lang::Zh) => format!("{asks}。E{level}：{}。", LEVELS[level].get(lang)),
            (Some(level), Lang::En) => format!("{asks}. E{level}: {}.", LEVELS[level].get(lang)),
            (None, Lang::Zh) => format!("{asks}。"),
            (None, Lang::En) => format!("{asks}."),
        }
    }

    fn line(&self, painter: &Painter, tokens: &Tokens, lang: Lang, grid: &Grid, item: usize, is_picked: bool) {
        let rect = grid.line(item);
        if is_picked {
            painter.rect_filled(rect, tokens.control_corner(), tokens.sunken);
        }
        painter.hline(rect.x_range(), rect.bottom(), tokens.stroke(1.0, tokens.grid));
        let is_weakest = items::weakest(&self.levels) == item && items::overall(&self.levels) != Some(3);
        let (font, color) = if is_weakest {
            (tokens.font(Type::NoteStrong), tokens.caution)
        } else {
            (tokens.font(Type::Note), tokens.ink)
        };
        let sign = if is_weakest { "! " } else { "" };
        let name = format!("{sign}{}", ITEMS[item].name.get(lang));
        ink::text(painter, pos2(rect.left() + tokens.px(6.0), rect.center().y), Align2::LEFT_CENTER, name, font, color);
        for level in 0..LEVELS.len() {
            let cell = grid.cell(item, level).shrink(tokens.px(5.0));
            let is_reached = self.levels[item].is_some_and(|found| usize::from(found) >= level);
            let is_level = self.levels[item].is_some_and(|found| usize::from(found) == level);
            let corner = CornerRadius::same(4);
            if is_reached {
                let fill = if is_level { tokens.ink } else { tokens.tint(tokens.ink, 0.35) };
                painter.rect_filled(cell, corner, fill);
            } else {
                painter.rect_stroke(cell, corner, tokens.hairline(), StrokeKind::Inside);
            }
        }
    }

    fn steer(&mut self, ui: &Ui, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let slot = &mut self.levels[self.cursor];
        ui.input(|input| {
            if input.key_pressed(Key::ArrowRight) {
                *slot = Some(slot.map_or(0, |level| (level + 1).min(3)));
            }
            if input.key_pressed(Key::ArrowLeft) {
                *slot = slot.and_then(|level| level.checked_sub(1));
            }
        });
    }
}

impl View for DesignReview {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, cx);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        let overall = items::overall(&self.levels);
        let n = self.levels.iter().flatten().count();
        let verdict = if overall.is_some_and(|level| level >= 2) { Verdict::Good } else { Verdict::Caution };
        let level = overall.map_or_else(|| "–".to_owned(), |level| format!("E{level}"));
        let numbers = [
            KeyNumber::new(Text::new("整个结论", "the decision"), level).judged(verdict),
            KeyNumber::new(Text::new("有证据的项", "items with evidence"), format!("{n} / {N}")),
        ];
        controls::key_numbers(ui, tokens, lang, &numbers);
    }

    fn finding(&self, lang: Lang) -> String {
        items::finding(&self.levels, lang)
    }

    fn params(&self) -> Map {
        Map::from_iter([("levels".to_owned(), items::text(&self.levels).into())])
    }

    fn data(&self) -> DataTable {
        let header = ["item", "level"].map(str::to_owned).to_vec();
        let row = |(item, level): (&items::Item, &Option<u8>)| {
            vec![item.id.to_owned(), level.map_or_else(String::new, |level| format!("E{level}"))]
        };
        DataTable { header, rows: ITEMS.iter().zip(&self.levels).map(row).collect() }
    }
}

impl Visualizer for DesignReview {
    const ID: &'static str = "design_review";
    const TITLE: Text = Text::new("设计评审（design review）", "Design review");

    fn fields() -> Vec<FieldSpec> {
        let doc = Text::new("每一项的证据级别：0 到 3，没有就是 -", "The level of each item: 0 to 3, or - for none");
        vec![FieldSpec::new("levels", "", FieldKind::Text { max_len: 16 }, doc).default_value(PRESETS[0].0)]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let levels = items::parse(args.text("levels")).map_err(|why| FieldError::conflict("levels", why))?;
        Ok(Self { levels, cursor: 0 })
    }
}
