//! The editor: text with numbered lines, words of the language told apart, and a mark beside the lines that a check is about.

use super::desk::{MOST_TEXT, Mark};
use super::words;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Rect, Role, TextEdit, Ui, WidgetInfo, pos2};
use std::collections::BTreeMap;
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;

const KEYWORDS: &[&str] = &[
    "__global__",
    "__device__",
    "__shared__",
    "__restrict__",
    "__forceinline__",
    "extern",
    "template",
    "typename",
    "const",
    "constexpr",
    "static",
    "unsigned",
    "int",
    "float",
    "double",
    "char",
    "short",
    "long",
    "bool",
    "void",
    "auto",
    "if",
    "else",
    "for",
    "while",
    "do",
    "break",
    "continue",
    "return",
    "true",
    "false",
    "uint4",
    "uint2",
    "float4",
    "float2",
    "int4",
    "int2",
];
const ROWS: usize = 12;
/// Columns of the numbers and of the marks beside them, in points.
const GUTTER: f32 = 44.0;

/// Pieces of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Keyword,
    Number,
    Comment,
}

/// Shows the editor; true if the text has changed.
pub fn editor_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, source: &mut String, marks: &BTreeMap<u32, Mark>) -> bool {
    let font = tokens.font(Type::Mono);
    let before = source.clone();
    let frame =
        egui::Frame::new().fill(tokens.sunken).corner_radius(tokens.control_corner()).inner_margin(tokens.space.s);
    frame.show(ui, |ui| {
        egui::ScrollArea::vertical().max_height(tokens.px(420.0)).id_salt("code").show(ui, |ui| {
            let gutter = tokens.px(GUTTER);
            let corner = ui.cursor().min;
            let mut layouter = |ui: &Ui, text: &dyn egui::TextBuffer, wrap: f32| {
                let mut job = coloured(text.as_str(), &font, tokens);
                job.wrap.max_width = wrap;
                ui.fonts_mut(|fonts| fonts.layout_job(job))
            };
            let output = ui
                .horizontal(|ui| {
                    ui.add_space(gutter);
                    TextEdit::multiline(source)
                        .code_editor()
                        .font(font.clone())
                        .frame(egui::Frame::NONE)
                        .desired_rows(ROWS)
                        .desired_width(ui.available_width())
                        .char_limit(MOST_TEXT)
                        .layouter(&mut layouter)
                        .show(ui)
                })
                .inner;
            output.response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, words::CODE.get(lang)));
            let mut line = 1;
            let mut starts_line = true;
            for row in &output.galley.rows {
                if starts_line {
                    let y = output.galley_pos.y + row.pos.y;
                    let rect = Rect::from_min_max(pos2(corner.x, y), pos2(corner.x + gutter, y + row.height()));
                    number_ui(ui, tokens, &font, rect, line, marks.get(&line).copied());
                    line += 1;
                }
                starts_line = row.ends_with_newline;
            }
        });
    });
    *source != before
}

fn number_ui(ui: &Ui, tokens: &Tokens, font: &FontId, rect: Rect, line: u32, mark: Option<Mark>) {
    let color = match mark {
        Some(Mark::Fault) => tokens.bad,
        Some(Mark::Waste) => tokens.caution,
        Some(Mark::Clean) => tokens.good,
        None => tokens.muted,
    };
    let at = pos2(rect.right() - tokens.px(14.0), rect.center().y);
    ui.painter().text(at, egui::Align2::RIGHT_CENTER, line.to_string(), font.clone(), color);
    if mark.is_some() {
        let bar = Rect::from_min_size(
            pos2(rect.right() - tokens.px(9.0), rect.top()),
            egui::vec2(tokens.px(3.0), rect.height()),
        );
        ui.painter().rect_filled(bar, 0.0, color);
    }
}

/// The text with its kinds in colours.
fn coloured(text: &str, font: &FontId, tokens: &Tokens) -> LayoutJob {
    let mut job = LayoutJob::default();
    for (piece, kind) in pieces(text) {
        let color: Color32 = match kind {
            Kind::Plain => tokens.ink,
            Kind::Keyword => tokens.accent,
            Kind::Number => tokens.category(1),
            Kind::Comment => tokens.muted,
        };
        job.append(piece, 0.0, TextFormat { font_id: font.clone(), color, ..TextFormat::default() });
    }
    job
}

/// The text cut into pieces of one kind, nothing left out.
fn pieces(text: &str) -> Vec<(&str, Kind)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (n, kind) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), Kind::Comment)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), Kind::Comment)
        } else if first.is_ascii_alphabetic() || first == '_' || first == '#' {
            let n = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(rest.len(), |n| n + 1);
            let is_keyword = KEYWORDS.contains(&&rest[..n]) || first == '#';
            (n, if is_keyword { Kind::Keyword } else { Kind::Plain })
        } else if first.is_ascii_digit() {
            let n = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
            (n, Kind::Number)
        } else {
            (first.len_utf8(), Kind::Plain)
        };
        out.push((&rest[..n], kind));
        rest = &rest[n..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pieces;

    /// Whatever is typed comes out again, piece by piece.
    #[test]
    fn nothing_is_left_out() {
        for text in
            ["", "a", "int x = 0x1Fu; // 注释\n/* open", "#define X 1.5f\n é", "/**/", "\"no string\" '", "_", "9"]
        {
            assert_eq!(pieces(text).iter().map(|(piece, _)| *piece).collect::<String>(), text);
        }
    }
}
