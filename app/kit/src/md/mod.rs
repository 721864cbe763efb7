//! Markdown of the lessons, in our type: the weight of our own bold, 1.6 lines, tables with hairlines, code that scrolls.
//!
//! Ours and not egui_commonmark's, because that marks bold by colour alone, has no line height, installs loaders that
//! fetch pictures, and draws a copy sign that our fonts do not have. Pictures come from the caller or not at all.

mod parse;
mod table;

use crate::tokens::{Tokens, Type};
use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Color32, Frame, Label, Layout, Margin, Role, Sense, Stroke, Ui, WidgetInfo, vec2};
use parse::{Block, Span};

/// Draws `text`. Gives the address of each link that was clicked.
pub fn markdown(ui: &mut Ui, tokens: &Tokens, text: &str) -> Vec<String> {
    markdown_with_images(ui, tokens, text, &mut |_, _, _| false)
}

/// As [`markdown`]; `image` is called with path and description of each picture and says whether it drew it. If not, the
/// description is shown in its place.
pub fn markdown_with_images(
    ui: &mut Ui,
    tokens: &Tokens,
    text: &str,
    image: &mut dyn FnMut(&mut Ui, &str, &str) -> bool,
) -> Vec<String> {
    let blocks = parse::parse(text);
    let mut page = Page { tokens, image, clicked: Vec::new(), depth: 0 };
    ui.scope(|ui| {
        ui.set_max_width(ui.available_width().min(tokens.prose_width()));
        ui.spacing_mut().item_spacing.y = tokens.space.xs;
        page.blocks_ui(ui, &blocks);
    });
    page.clicked
}

struct Page<'a> {
    tokens: &'a Tokens,
    image: &'a mut dyn FnMut(&mut Ui, &str, &str) -> bool,
    clicked: Vec<String>,
    depth: usize,
}

impl Page<'_> {
    fn blocks_ui(&mut self, ui: &mut Ui, blocks: &[Block]) {
        for block in blocks {
            self.block_ui(ui, block);
        }
    }

    fn block_ui(&mut self, ui: &mut Ui, block: &Block) {
        let tokens = self.tokens;
        match block {
            Block::Heading(level, spans) => self.heading_ui(ui, *level, spans),
            Block::Paragraph(spans) => self.spans_ui(ui, spans, tokens.ink, Type::Body),
            Block::Item { marker, blocks, .. } => self.item_ui(ui, marker, blocks),
            Block::Quote(blocks) => self.quote_ui(ui, blocks),
            Block::Code { text, .. } => code_ui(ui, tokens, text),
            Block::Table { aligned, rows } => table::table_ui(self, ui, aligned, rows),
            Block::Image { path, alt } => self.image_ui(ui, path, alt),
            Block::Rule => {
                let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.space.m), Sense::hover());
                ui.painter().hline(rect.x_range(), rect.center().y, tokens.hairline());
            }
        }
    }

    fn heading_ui(&mut self, ui: &mut Ui, level: u8, spans: &[Span]) {
        ui.add_space(self.tokens.space.xs);
        let mut format =
            span_format(self.tokens, &Span { is_strong: true, ..Span::default() }, self.tokens.ink, Type::Body);
        format.font_id.size *= [1.3, 1.15, 1.0][usize::from(level.clamp(1, 3)) - 1];
        format.line_height = Some((format.font_id.size * 1.5).round());
        let text: String = spans.iter().map(|span| span.text.as_str()).collect();
        let response = ui.add(Label::new(LayoutJob::single_section(text, format)).wrap());
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(Role::Heading));
    }

    /// A paragraph. Without a link it is one label, so that it breaks well and can be selected as a whole; links are
    /// widgets of their own, which the keyboard reaches.
    fn spans_ui(&mut self, ui: &mut Ui, spans: &[Span], color: Color32, role: Type) {
        if spans.iter().all(|span| span.link.is_none()) {
            ui.add(Label::new(job(self.tokens, spans, color, role)).wrap());
            return;
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::Vec2::ZERO;
            let runs: Vec<&[Span]> = spans.chunk_by(|a, b| a.link == b.link).collect();
            let mut n_taken = 0; // bytes of this run that went along with the link before it
            for (run_idx, run) in runs.iter().enumerate() {
                let mut run = run.to_vec();
                run[0].text.drain(..std::mem::take(&mut n_taken));
                if run[0].link.is_some() {
                    let next = runs.get(run_idx + 1).map_or("", |next| next[0].text.as_str());
                    n_taken = closing_punctuation(next);
                    self.link_ui(ui, &run, &next[..n_taken], (color, role));
                } else {
                    ui.add(Label::new(job(self.tokens, &run, color, role)).wrap());
                }
            }
        });
    }

    /// A link, and the punctuation that may not begin the line after it.
    fn link_ui(&mut self, ui: &mut Ui, run: &[Span], after: &str, (color, role): (Color32, Type)) {
        let (tokens, url) = (self.tokens, run[0].link.as_deref().unwrap_or_default());
        let mut job = job(tokens, run, tokens.accent, role);
        for section in &mut job.sections {
            section.format.underline = Stroke::new(1.0, tokens.tint(tokens.accent, 0.45));
        }
        let name = job.text.clone();
        if !after.is_empty() {
            job.append(after, 0.0, span_format(tokens, &Span::default(), color, role));
        }
        let response = ui.add(Label::new(job).wrap().sense(Sense::click()).selectable(false));
        response.widget_info(|| WidgetInfo::labeled(Role::Link, true, &name));
        crate::paint::focus_ring(ui, tokens, &response, response.rect, 2.0);
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand).on_hover_text(url);
        if response.clicked() {
            self.clicked.push(url.to_owned());
        }
    }

    fn item_ui(&mut self, ui: &mut Ui, marker: &str, blocks: &[Block]) {
        let tokens = self.tokens;
        if self.depth >= parse::MAX_NESTING {
            return self.blocks_ui(ui, blocks);
        }
        self.depth += 1;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = tokens.space.xs;
            let size = vec2(tokens.px(20.0), tokens.body_line());
            ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
                ui.set_min_size(size);
                let span = Span { text: marker.to_owned(), ..Span::default() };
                ui.add(Label::new(job(tokens, &[span], tokens.muted, Type::Body)).extend());
            });
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = tokens.space.xxs;
                self.blocks_ui(ui, blocks);
            });
        });
        self.depth -= 1;
    }

    fn quote_ui(&mut self, ui: &mut Ui, blocks: &[Block]) {
        if self.depth >= parse::MAX_NESTING {
            return self.blocks_ui(ui, blocks);
        }
        self.depth += 1;
        let margin = Margin { left: self.tokens.space.m as i8, ..Margin::ZERO };
        let response = Frame::new().inner_margin(margin).show(ui, |ui| self.blocks_ui(ui, blocks)).response;
        let bar = response.rect.with_max_x(response.rect.left() + self.tokens.px(3.0));
        ui.painter().rect_filled(bar, 1.0, self.tokens.line);
        self.depth -= 1;
    }

    fn image_ui(&mut self, ui: &mut Ui, path: &str, alt: &str) {
        if !(self.image)(ui, path, alt) {
            let frame = Frame::new().fill(self.tokens.sunken).corner_radius(self.tokens.control_corner());
            frame.inner_margin(Margin::same(self.tokens.space.s as i8)).show(ui, |ui| {
                let span = Span { text: alt.to_owned(), ..Span::default() };
                ui.add(Label::new(job(self.tokens, &[span], self.tokens.muted, Type::Note)).wrap());
            });
        }
    }
}

/// A block of code: monospaced, one line stays one line and the block scrolls sideways.
fn code_ui(ui: &mut Ui, tokens: &Tokens, text: &str) {
    let frame = Frame::new().fill(tokens.sunken).corner_radius(tokens.control_corner());
    frame.inner_margin(Margin::same(tokens.space.s as i8)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.push_id(text, |ui| {
            crate::paint::show_scroll_bar(ui);
            egui::ScrollArea::horizontal().show(ui, |ui| {
                let format = TextFormat {
                    line_height: Some(tokens.px(20.0)),
                    ..TextFormat::simple(tokens.font(Type::Mono), tokens.ink)
                };
                ui.add(Label::new(LayoutJob::single_section(text.to_owned(), format)).extend());
            });
        });
    });
}

/// How many bytes at the start of `text` are punctuation that stays with the word before it.
fn closing_punctuation(text: &str) -> usize {
    text.find(|c: char| !"，。、；：！？）」』》”’,.;:!?)".contains(c)).unwrap_or(text.len())
}

fn job(tokens: &Tokens, spans: &[Span], color: Color32, role: Type) -> LayoutJob {
    let mut job = LayoutJob::default();
    for span in spans {
        job.append(&span.text, 0.0, span_format(tokens, span, color, role));
    }
    job
}

fn span_format(tokens: &Tokens, span: &Span, color: Color32, role: Type) -> TextFormat {
    // 汉字 have no italics; emphasis there is the heavier weight.
    let is_wide = span.text.chars().any(parse::is_wide);
    let is_strong = span.is_strong || (span.is_emphasis && is_wide);
    let mut font = tokens.font(match (role, is_strong) {
        (Type::Body, true) => Type::BodyStrong,
        (Type::Note, true) => Type::NoteStrong,
        (role, _) => role,
    });
    if span.is_code {
        font = egui::FontId::monospace(font.size * 0.92);
    }
    let line = (tokens.font(role).size * 1.6).round();
    TextFormat {
        line_height: Some(if span.is_code || span.link.is_some() { line - tokens.px(5.0) } else { line }),
        valign: Align::Center,
        italics: span.is_emphasis && !is_wide,
        background: if span.is_code { tokens.sunken } else { Color32::TRANSPARENT },
        expand_bg: 2.0,
        strikethrough: if span.is_struck { Stroke::new(1.0, color) } else { Stroke::NONE },
        ..TextFormat::simple(font, color)
    }
}
