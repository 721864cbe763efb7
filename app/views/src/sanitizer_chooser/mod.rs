//! Faults against tools: what the four tools of the Compute Sanitizer see, as predicted and as measured on kernels of ours.
//!
//! `measured.rs` reads the measured runs, `words.rs` has the sentences; the prediction is `model::sanitizer_matrix`.

mod measured;
mod words;

use crate::figure;
use crate::ink;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Align2, EventFilter, Key, Painter, Pos2, Rect, Response, RichText, Sense, StrokeKind, Ui, pos2, vec2};
use measured::Measured;
use vramlab_kit::{Tokens, Type};
use vramlab_model::sanitizer_matrix::{Fault, Says, Tool, says, tool_for};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Map, Text};

const PREDICTED: Text = Text::new("空框：预测会报。", "Hollow: predicted to report.");
const MEASURED: Text = Text::new(
    "数字：实测报了几处，0 是跑了、什么也没报，∞ 是停不下来。",
    "Numbers: errors reported when it was run; 0 is a run that said nothing, ∞ one that never ended.",
);
const PLAIN: Text = Text::new("不用工具：{}", "Without a tool: {}");
const NONE: Text = Text::new("没有工具可用", "no tool for it");
const ROW: f32 = 30.0;

/// See the module's docs.
pub struct SanitizerChooser {
    fault: Fault,
    measured: Measured,
}

/// Rows and columns of the matrix.
struct Grid {
    rect: Rect,
    names: f32,
    row: f32,
    is_narrow: bool,
}

impl Grid {
    fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let is_narrow = width < 520.0 * scale;
        let names = if is_narrow { 122.0 } else { 190.0 } * scale;
        let row = ROW * scale;
        let height = row * (Fault::ALL.len() + 1) as f32;
        Self { rect: Rect::from_min_size(origin, vec2(width, height)), names, row, is_narrow }
    }

    fn line(&self, fault_idx: usize) -> Rect {
        let top = self.rect.top() + self.row * (fault_idx + 1) as f32;
        Rect::from_min_size(pos2(self.rect.left(), top), vec2(self.rect.width(), self.row))
    }

    /// The middle of a tool's column.
    fn column(&self, tool_idx: usize) -> f32 {
        let each = (self.rect.width() - self.names) / Tool::ALL.len() as f32;
        self.rect.left() + self.names + each * (tool_idx as f32 + 0.5)
    }

    fn hit(&self, at: Pos2) -> Option<usize> {
        (0..Fault::ALL.len()).find(|idx| self.line(*idx).contains(at))
    }
}

impl SanitizerChooser {
    fn figure_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let grid = Grid::new(ui.cursor().min, width, tokens.scale);
        let (rect, response) = ui.allocate_exact_size(grid.rect.size(), Sense::click());
        let hovered = response.hover_pos().and_then(|at| grid.hit(at));
        self.steer(ui, &response, hovered);
        let painter = ui.painter_at(rect.expand(tokens.px(4.0)));
        for (idx, tool) in Tool::ALL.into_iter().enumerate() {
            let is_right = tool_for(self.fault).is_some_and(|(right, _)| right == tool);
            let font = tokens.font(if is_right { Type::NoteStrong } else { Type::Small });
            let color = if is_right { tokens.ink } else { tokens.muted };
            let at = pos2(grid.column(idx), rect.top() + grid.row / 2.0);
            // The four names end alike.
            let name = if grid.is_narrow { tool.id().trim_end_matches("check") } else { tool.id() };
            ink::text(&painter, at, Align2::CENTER_CENTER, name, font, color);
        }
        painter.hline(rect.x_range(), rect.top() + grid.row, tokens.hairline());
        for (idx, fault) in Fault::ALL.into_iter().enumerate() {
            self.line(&painter, tokens, lang, &grid, idx, fault, hovered == Some(idx));
        }
        figure::focus_ring(ui, tokens, &response);
        let why = words::why(self.fault);
        figure::speak(&response, &self.finding(lang), Some(why.get(lang)).filter(|_| response.has_focus()));
    }

    #[expect(clippy::too_many_arguments, reason = "a row of a painted table: place, what it is, how it looks")]
    fn line(
        &self,
        painter: &Painter,
        tokens: &Tokens,
        lang: Lang,
        grid: &Grid,
        idx: usize,
        fault: Fault,
        is_hovered: bool,
    ) {
        let rect = grid.line(idx);
        let is_chosen = fault == self.fault;
        if is_chosen || is_hovered {
            painter.rect_filled(rect, 4.0, if is_chosen { tokens.accent_soft } else { tokens.sunken });
        }
        let font = tokens.font(match (is_chosen, grid.is_narrow) {
            (true, false) => Type::NoteStrong,
            (false, false) => Type::Note,
            (_, true) => Type::Small,
        });
        let at = pos2(rect.left() + tokens.px(if grid.is_narrow { 4.0 } else { 8.0 }), rect.center().y);
        ink::text(painter, at, Align2::LEFT_CENTER, words::name(fault).get(lang), font, tokens.ink);
        for (column, tool) in Tool::ALL.into_iter().enumerate() {
            self.cell(painter, tokens, pos2(grid.column(column), rect.center().y), fault, tool);
        }
        painter.hline(rect.x_range(), rect.bottom(), tokens.stroke(1.0, tokens.grid));
    }

    /// A hollow box where a report is predicted; inside it, or alone, the number that was measured.
    fn cell(&self, painter: &Painter, tokens: &Tokens, at: Pos2, fault: Fault, tool: Tool) {
        let is_predicted = says(fault, tool) != Says::Nothing;
        let run = self.measured.get(fault, tool);
        let text = run.map(|run| if run.hangs { "∞".to_owned() } else { run.n_errors.to_string() });
        let mono = tokens.font(Type::MonoSmall);
        let width = text.as_ref().map_or(0.0, |text| ink::text_width(painter, text, mono.clone()));
        let size = vec2((width + tokens.px(14.0)).max(tokens.px(26.0)), tokens.px(20.0));
        let rect = Rect::from_center_size(at, size);
        let has_report = run.is_some_and(|run| run.n_errors > 0);
        if has_report {
            painter.rect_filled(rect, 4.0, tokens.ink);
        }
        if is_predicted {
            let outline = rect.expand(if has_report { 2.5 } else { 0.0 });
            painter.rect_stroke(outline, 5.0, tokens.stroke(1.5, tokens.ink), StrokeKind::Inside);
        }
        match text {
            Some(text) => {
                let color = if has_report { tokens.surface } else { tokens.muted };
                ink::text(painter, at, Align2::CENTER_CENTER, text, mono, color);
            }
            None if !is_predicted => {
                painter.circle_filled(at, tokens.px(1.5), tokens.line);
            }
            None => {}
        }
    }

    fn steer(&mut self, ui: &Ui, response: &Response, hovered: Option<usize>) {
        if response.clicked_by(egui::PointerButton::Primary) {
            response.request_focus();
            self.fault = hovered.map_or(self.fault, |idx| Fault::ALL[idx]);
        }
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let now = Fault::ALL.iter().position(|fault| *fault == self.fault).unwrap_or(0);
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let next = if pressed(Key::ArrowDown) {
            now + 1
        } else if pressed(Key::ArrowUp) {
            now.saturating_sub(1)
        } else {
            now
        };
        self.fault = Fault::ALL[next.min(Fault::ALL.len() - 1)];
    }

    /// The chosen fault: its line of code, the command, the tool's own words, why.
    fn chosen_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let label = |ui: &mut Ui, text: &str, role: Type, color| {
            ui.add(egui::Label::new(RichText::new(text).font(tokens.font(role)).color(color)).wrap());
        };
        label(ui, words::name(self.fault).get(lang), Type::NoteStrong, tokens.ink);
        label(ui, words::code(self.fault), Type::MonoSmall, tokens.muted);
        let command = words::command(self.fault).unwrap_or_else(|| NONE.get(lang).to_owned());
        label(ui, &command, Type::MonoSmall, tokens.ink);
        if let Some(run) = tool_for(self.fault).and_then(|(tool, _)| self.measured.get(self.fault, tool))
            && !run.line.is_empty()
        {
            label(ui, &run.line, Type::MonoSmall, tokens.caution);
        }
        label(ui, words::why(self.fault).get(lang), Type::Note, tokens.ink);
        if let Some(plain) = self.measured.plain(self.fault) {
            label(ui, &PLAIN.get(lang).replace("{}", plain.get(lang)), Type::Note, tokens.muted);
        }
    }
}

impl View for SanitizerChooser {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.figure_ui(ui, tokens, lang);
        ui.add_space(tokens.space.xs);
        let measured = if self.measured.runs.is_empty() { "" } else { MEASURED.get(lang) };
        let gap = if lang == Lang::Zh { "" } else { " " };
        let key = [PREDICTED.get(lang), measured].join(gap);
        ui.add(
            egui::Label::new(RichText::new(key.trim_end()).font(tokens.font(Type::Small)).color(tokens.muted)).wrap(),
        );
        ui.add_space(tokens.space.s);
        self.chosen_ui(ui, tokens, lang);
    }

    fn finding(&self, lang: Lang) -> String {
        let run = tool_for(self.fault).and_then(|(tool, _)| self.measured.get(self.fault, tool));
        words::finding(self.fault, run, lang)
    }

    fn params(&self) -> Map {
        Map::from_iter([("fault".to_owned(), self.fault.id().into())])
    }

    fn data(&self) -> DataTable {
        let header = ["fault", "tool", "predicted", "measured errors"].map(str::to_owned).to_vec();
        let cells = Fault::ALL.iter().flat_map(|fault| Tool::ALL.map(|tool| (*fault, tool)));
        let row = |(fault, tool): (Fault, Tool)| {
            let measured = self.measured.get(fault, tool).map_or(String::new(), |run| run.n_errors.to_string());
            let predicted = (says(fault, tool) != Says::Nothing).to_string();
            vec![fault.id().to_owned(), tool.id().to_owned(), predicted, measured]
        };
        DataTable { header, rows: cells.map(row).collect() }
    }

    fn recorded(&self, _lang: Lang) -> Option<[String; 3]> {
        let Measured { device, version, date, runs, .. } = &self.measured;
        (!runs.is_empty()).then(|| [device.clone(), version.clone(), date.clone()])
    }
}

impl Visualizer for SanitizerChooser {
    const ID: &'static str = "sanitizer_chooser";
    const TITLE: Text = Text::new("选哪个检查工具", "Which sanitizer");

    fn fields() -> Vec<FieldSpec> {
        let options = Fault::ALL.iter().map(|fault| fault.id().into()).collect();
        let doc = Text::new("选中哪种错误", "The fault that is chosen");
        vec![FieldSpec::new("fault", "", FieldKind::Choice { options }, doc).default_value("out_of_bounds")]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let fault = Fault::ALL.into_iter().find(|fault| fault.id() == args.text("fault"));
        let fault = fault.ok_or_else(|| FieldError::conflict("fault", "is not among its options"))?;
        Ok(Self { fault, measured: measured::read() })
    }
}
