//! A start-up log of a serving engine, read line by line: what each number is, whether the sums agree, where the card went.
//!
//! `reading.rs` is the log and its parts, `paint.rs` geometry and picture, `words.rs` the sentences. A log may be pasted, or
//! dropped on the window while the figure is in view.

mod paint;
mod reading;
mod words;

use crate::controls::{self, KeyNumber};
use crate::figure;
use crate::view::{DataTable, View, ViewCx, Visualizer};
use egui::{Label, PointerButton, RichText, Role, Sense, TextEdit, Ui, WidgetInfo};
use paint::{Geometry, Scene};
use reading::{EXAMPLES, MOST_TEXT, Reading};
use vramlab_kit::{Button, Tokens, Type, Verdict, legend};
use vramlab_serve::log::Key;
use vramlab_serve::log::excerpt;
use vramlab_units::show::{grouped, number};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Lang, Localized, Map, Text, Value};

const EXAMPLE: Text = Text::new("公开的日志", "Published logs");
const OWN: Text = Text::new("自己的", "your own");
const PASTE: Text = Text::new("粘贴日志", "Paste a log");
const LOG: Text = Text::new("日志", "The log");
const FORMS: Text = Text::new(
    "vLLM、SGLang、TensorRT-LLM 启动时打印的几行就够；留在本机，不上传。",
    "The lines that vLLM, SGLang or TensorRT-LLM print when they start are enough. They stay on this machine.",
);

/// See the module's docs.
pub struct EngineLog {
    example: usize,
    /// The reader's own log; empty for the example's.
    own: String,
    reading: Reading,
    draft: String,
    wrong: Option<String>,
    /// The line that is explained.
    line: usize,
    is_editing: bool,
}

impl EngineLog {
    fn new(example: usize, own: String, line: usize) -> Result<Self, FieldError> {
        let text = if own.is_empty() { EXAMPLES[example].text } else { own.as_str() };
        let reading = Reading::new(text).map_err(|wrong| FieldError::conflict("log", wrong.to_string()))?;
        let line = line.min(reading.lines.len().saturating_sub(1));
        Ok(Self { example, draft: own.clone(), own, reading, wrong: None, line, is_editing: false })
    }

    fn take_text(&mut self, text: &str, lang: Lang) {
        if text.len() > MOST_TEXT {
            let (n, most) = (text.len(), MOST_TEXT);
            self.wrong = Some(words::pick(
                lang,
                format!("日志有 {n} 字节，这张图最多读 {most}；留下启动那几行"),
                format!("the log has {n} bytes, the figure reads {most}; keep the lines of the start"),
            ));
            return;
        }
        match Reading::new(text) {
            Ok(reading) => {
                (self.reading, self.own, self.wrong, self.line) = (reading, text.to_owned(), None, 0);
            }
            Err(wrong) => self.wrong = Some(wrong.get(lang)),
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        controls::row(ui, tokens, |flow| {
            let mut options: Vec<(usize, String)> =
                EXAMPLES.iter().enumerate().map(|(idx, example)| (idx, example.label.get(lang).to_owned())).collect();
            let mut at = if self.own.is_empty() { self.example } else { EXAMPLES.len() };
            if !self.own.is_empty() {
                options.push((EXAMPLES.len(), OWN.get(lang).to_owned()));
            }
            let before = at;
            controls::choice(flow, tokens, EXAMPLE.get(lang), &mut at, &options);
            if at != before
                && let Ok(next) = Self::new(at.min(EXAMPLES.len() - 1), String::new(), 0)
            {
                *self = Self { is_editing: self.is_editing, draft: std::mem::take(&mut self.draft), ..next };
            }
            let button = Button::quiet(PASTE.get(lang)).selected(self.is_editing);
            if flow.item(|ui| button.show(ui, tokens)).clicked() {
                self.is_editing = !self.is_editing;
            }
        });
        if self.is_editing {
            self.editor_ui(ui, tokens, lang);
        }
        if let Some(wrong) = &self.wrong {
            figure::problem_ui(ui, tokens, wrong);
        }
    }

    fn editor_ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let edit = TextEdit::multiline(&mut self.draft)
            .font(tokens.font(Type::Mono))
            .desired_rows(4)
            .desired_width(f32::INFINITY)
            .char_limit(2 * MOST_TEXT);
        let response = egui::ScrollArea::vertical()
            .min_scrolled_height(tokens.px(150.0))
            .max_height(tokens.px(150.0))
            .show(ui, |ui| ui.add(edit))
            .inner;
        response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, LOG.get(lang)));
        if response.changed() {
            if self.draft.trim().is_empty() {
                if let Ok(next) = Self::new(self.example, String::new(), 0) {
                    *self = Self { is_editing: true, ..next };
                }
            } else {
                let text = self.draft.clone();
                self.take_text(&text, lang);
            }
        }
        let forms = RichText::new(FORMS.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted);
        ui.add(Label::new(forms).wrap());
    }

    fn figure_ui(&mut self, ui: &mut Ui, cx: &ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        let width = ui.available_width().max(figure::LEAST_WIDTH);
        let geometry = Geometry::new(ui.cursor().min, width, tokens.scale, &self.reading);
        let (rect, response) = ui.allocate_exact_size(geometry.rect.size(), Sense::click());
        figure::list_keys(ui, &response, &mut self.line, self.reading.lines.len());
        let over = response.hover_pos().and_then(|at| geometry.row_at(at));
        if let (true, Some(line)) = (response.clicked_by(PointerButton::Primary), over) {
            self.line = line;
        }
        let part = response.hover_pos().and_then(|at| geometry.part_at(at, &self.reading));
        Scene {
            painter: &ui.painter_at(rect.expand(tokens.px(6.0))),
            tokens,
            lang,
            geometry: &geometry,
            reading: &self.reading,
            picked: Some(self.line),
            hovered: over,
        }
        .paint();
        figure::focus_ring(ui, tokens, &response);
        let shown = self.reading.lines.get(over.unwrap_or(self.line)).map(|line| words::line(line, lang));
        figure::speak(&response, &self.finding(lang), shown.as_deref().filter(|_| response.has_focus()));
        if !self.reading.parts.is_empty() {
            let marks: Vec<_> = self
                .reading
                .parts
                .iter()
                .map(|(part, _)| (paint::mark(tokens, *part), words::part(*part).get(lang)))
                .collect();
            legend(ui, tokens, &marks);
        }
        let said = part.map(|idx| {
            let (part, bytes) = self.reading.parts[idx];
            format!("{} · {}", words::part(part).get(lang), words::bytes(bytes))
        });
        let said = said.or(shown);
        figure::readout_ui(ui, tokens, said.as_deref().unwrap_or(words::HINT.get(lang)));
        // The rows cut a long line; the picked one stands here as it was printed.
        if let Some(line) = self.reading.lines.get(self.line) {
            let whole = RichText::new(words::told(&line.text)).font(tokens.font(Type::MonoSmall)).color(tokens.ink);
            ui.add(Label::new(whole).wrap());
        }
    }

    fn checks_ui(&self, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
        let text = |text: &str, role, color| RichText::new(text).font(tokens.font(role)).color(color);
        ui.add(Label::new(text(words::CHECKS.get(lang), Type::NoteStrong, tokens.ink)));
        if self.reading.checks.is_empty() {
            ui.add(Label::new(text(words::NO_CHECK.get(lang), Type::Note, tokens.muted)).wrap());
        }
        for check in &self.reading.checks {
            let color = if check.agrees() { tokens.good } else { tokens.bad };
            ui.add(Label::new(text(&words::check(check, lang), Type::MonoSmall, color)).wrap());
        }
    }

    fn key_numbers(&self) -> Vec<KeyNumber> {
        let log = &self.reading.log;
        let mut out = Vec::new();
        if let Some(pool) = log.value(Key::Pool) {
            out.push(KeyNumber::new(Text::new("KV 池", "KV pool"), words::bytes(pool)).exact(grouped(pool) + " B"));
        }
        if let Some(tokens) = log.value(Key::Tokens) {
            out.push(KeyNumber::new(Text::new("池里的 token", "tokens of the pool"), grouped(tokens)));
        } else if let Some(blocks) = log.value(Key::GpuBlocks) {
            out.push(KeyNumber::new(Text::new("卡上的块", "blocks"), grouped(blocks)));
        }
        if let Some(each) = log.bytes_per_token() {
            let kib = format!("{}\u{2009}KiB", number(each / 1024.0));
            out.push(KeyNumber::new(Text::new("一个 token", "a token"), kib).exact(format!("{each} B")));
        }
        if let Some(times) = log.value(Key::Concurrency) {
            let label = Text::new("最长的同时放", "longest at once");
            let verdict = if times < 1.0 { Verdict::Bad } else { Verdict::Neutral };
            out.push(KeyNumber::new(label, format!("{times}×")).judged(verdict));
        }
        let (n, wrong) = (self.reading.checks.len(), self.reading.n_wrong());
        let verdict = if wrong > 0 { Verdict::Bad } else { Verdict::Good };
        if n > 0 {
            out.push(KeyNumber::new(Text::new("对得上", "sums agree"), format!("{} / {n}", n - wrong)).judged(verdict));
        }
        out
    }
}

impl View for EngineLog {
    fn ui(&mut self, ui: &mut Ui, cx: &mut ViewCx<'_>) {
        let (tokens, lang) = (cx.tokens, cx.lang);
        self.controls_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        self.figure_ui(ui, cx);
        ui.add_space(tokens.space.s);
        self.checks_ui(ui, tokens, lang);
        ui.add_space(tokens.space.s);
        controls::key_numbers(ui, tokens, lang, &self.key_numbers());
    }

    fn finding(&self, lang: Lang) -> String {
        words::finding(&self.reading, lang)
    }

    fn params(&self) -> Map {
        let values: [(&str, Value); 3] = [
            ("example", EXAMPLES[self.example].id.into()),
            ("log", self.own.as_str().into()),
            ("line", (self.line + 1).into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn data(&self) -> DataTable {
        let header = ["line", "number", "printed", "value (bytes or count)", "engine"].map(str::to_owned).to_vec();
        let rows = self.reading.log.found.iter().map(|found| {
            let name = found.key.name().to_owned();
            vec![
                found.line.to_string(),
                name,
                found.printed.clone(),
                found.value.to_string(),
                found.engine.name().to_owned(),
            ]
        });
        DataTable { header, rows: rows.collect() }
    }

    fn offer(&mut self, text: &str) -> Option<Result<(), Localized>> {
        let short = excerpt(text, MOST_TEXT);
        // What is no log at all is somebody else's.
        let reading = Reading::new(&short).ok()?;
        (self.reading, self.wrong, self.line) = (reading, None, 0);
        self.own = short;
        self.draft.clone_from(&self.own);
        Some(Ok(()))
    }

    fn cited(&self, _lang: Lang) -> Option<(String, String)> {
        let example = &EXAMPLES[self.example];
        self.own.is_empty().then(|| (example.source.to_owned(), example.date.to_owned()))
    }
}

impl Visualizer for EngineLog {
    const ID: &'static str = "engine_log";
    const TITLE: Text = Text::new("一行一行读启动日志", "A start-up log, line by line");

    fn fields() -> Vec<FieldSpec> {
        let ids = EXAMPLES.iter().map(|example| example.id.into()).collect();
        let log = Text::new("自己的日志；空着用公开的", "A log of one's own; empty for the published one");
        let line = Text::new("讲解第几行", "The line that is explained");
        vec![
            FieldSpec::new("example", "", FieldKind::Choice { options: ids }, EXAMPLE).default_value("vllm_v1"),
            FieldSpec::new("log", "", FieldKind::Text { max_len: MOST_TEXT }, log).default_value(""),
            FieldSpec::int("line", "1", 1, reading::MOST_LINES as i64, line).default_value(1),
        ]
    }

    fn open(args: &Args) -> Result<Self, FieldError> {
        let example = EXAMPLES.iter().position(|example| example.id == args.text("example")).unwrap_or(0);
        let own = if args.text("log").trim().is_empty() { String::new() } else { args.text("log").to_owned() };
        Self::new(example, own, args.uint("line") as usize - 1)
    }
}
