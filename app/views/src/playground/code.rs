//! The editor: text with numbered lines, words of the language told apart, and a mark beside the lines that a check is about.

use super::desk::{Desk, MOST_TEXT, Mark};
use super::find::{Find, Found};
use super::{typing, words};
use egui::text::{CCursor, CCursorRange, LayoutJob, TextFormat};
use egui::text_edit::TextEditState;
use egui::{Color32, Event, FontId, Id, Key, Modifiers, Rect, Role, TextBuffer, TextEdit, Ui, WidgetInfo, pos2};
use std::collections::BTreeMap;
use std::ops::Range;
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;

const KEYWORDS: &[&str] = &[
    "__global__",
    "__device__",
    "__shared__",
    "__restrict__",
    "__forceinline__",
    "__launch_bounds__",
    "asm",
    "volatile",
    "typedef",
    "struct",
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

/// Shows the editor of the desk's text; true if Escape was pressed and the keyboard goes on to what stands behind it.
pub fn editor_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, marks: &BTreeMap<u32, Mark>) -> bool {
    let id = ui.make_persistent_id(("code", &desk.slug));
    let before = desk.source.clone();
    if ui.memory(|memory| memory.has_focus(id)) {
        keys(ui, id, desk);
    }
    let mut selection = find_ui(ui, tokens, lang, desk);
    let jump = desk.jump.take();
    if let Some(line) = jump {
        selection = Some(typing::line_range(&desk.source, line));
    }
    if let Some(range) = &selection {
        select(ui, id, range.clone());
        if jump.is_some() {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }
    let frame =
        egui::Frame::new().fill(tokens.sunken).corner_radius(tokens.control_corner()).inner_margin(tokens.space.s);
    let output = frame.show(ui, |ui| text_ui(ui, tokens, lang, id, desk, marks, selection)).inner;
    if desk.source.len() > MOST_TEXT {
        desk.refuse(desk.source.len());
        desk.source.clone_from(&before);
    }
    if desk.source != before {
        desk.typed();
    }
    output.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape))
}

/// The numbered text; gives the response of the field.
fn text_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    id: Id,
    desk: &mut Desk,
    marks: &BTreeMap<u32, Mark>,
    selection: Option<Range<usize>>,
) -> egui::Response {
    let font = tokens.font(Type::Mono);
    let scroll =
        egui::ScrollArea::vertical().min_scrolled_height(tokens.px(420.0)).max_height(tokens.px(420.0)).id_salt("code");
    scroll
        .show(ui, |ui| {
            let gutter = tokens.px(GUTTER);
            let corner = ui.cursor().min;
            let mut layouter = |ui: &Ui, text: &dyn TextBuffer, wrap: f32| {
                let mut job = coloured(text.as_str(), &font, tokens);
                job.wrap.max_width = wrap;
                ui.fonts_mut(|fonts| fonts.layout_job(job))
            };
            let mut field = |ui: &mut Ui, text: &mut dyn TextBuffer| {
                ui.add_space(gutter);
                TextEdit::multiline(text)
                    .id(id)
                    .code_editor()
                    .font(font.clone())
                    .frame(egui::Frame::NONE)
                    .desired_rows(ROWS)
                    .desired_width(ui.available_width())
                    .layouter(&mut layouter)
                    .show(ui)
            };
            let is_fixed = desk.host().is_some();
            let output = ui.horizontal(|ui| match is_fixed {
                // What cannot be changed can still be selected and copied.
                true => field(ui, &mut desk.source.as_str()),
                false => field(ui, &mut desk.source),
            });
            let output = output.inner;
            let response = output.response.response.clone();
            response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, words::CODE.get(lang)));
            if let Some(range) = selection {
                let at = output.galley.pos_from_cursor(CCursor::new(range.start));
                ui.scroll_to_rect(at.translate(output.galley_pos.to_vec2()), Some(egui::Align::Center));
            }
            let (mut line, mut starts_line) = (1, true);
            for row in &output.galley.rows {
                if starts_line {
                    let y = output.galley_pos.y + row.pos.y;
                    let rect = Rect::from_min_max(pos2(corner.x, y), pos2(corner.x + gutter, y + row.height()));
                    number_ui(ui, tokens, &font, rect, line, marks.get(&line).copied());
                    line += 1;
                }
                starts_line = row.ends_with_newline;
            }
            response
        })
        .inner
}

/// The row of the search, if it is open; gives the characters to show.
fn find_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk) -> Option<Range<usize>> {
    let found = desk.find.as_mut()?.ui(ui, tokens, lang, &desk.source);
    ui.add_space(tokens.space.xxs);
    match found {
        Found::Here(range) => Some(range),
        Found::Close => {
            desk.find = None;
            None
        }
        Found::Nothing => None,
    }
}

fn selected(ui: &Ui, id: Id) -> Range<usize> {
    let range = TextEditState::load(ui.ctx(), id).and_then(|state| state.cursor.char_range());
    range.map_or(0..0, |range| {
        let range = range.as_sorted_char_range();
        range.start.0..range.end.0
    })
}

fn select(ui: &Ui, id: Id, range: Range<usize>) {
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    state.cursor.set_char_range(Some(CCursorRange::two(CCursor::new(range.start), CCursor::new(range.end))));
    state.store(ui.ctx(), id);
}

/// Keys that mean more in code than in a letter, and pastes that are too long: taken before the field sees them.
fn keys(ui: &Ui, id: Id, desk: &mut Desk) {
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::COMMAND, Key::F) {
        desk.find = Some(Find::open());
    }
    if desk.host().is_some() {
        return;
    }
    let room = MOST_TEXT.saturating_sub(desk.source.len());
    let selection = selected(ui, id);
    let too_long = ui.input_mut(|input| {
        let is_too_long = |event: &Event| matches!(event, Event::Paste(text) if text.len() > room + selection.len());
        let bytes = input.events.iter().find(|event| is_too_long(event)).map(|event| match event {
            Event::Paste(text) => text.len(),
            _ => 0,
        });
        input.events.retain(|event| !is_too_long(event));
        bytes
    });
    if let Some(bytes) = too_long {
        desk.refuse(bytes);
    }
    let text = &mut desk.source;
    let moved = if pressed(Modifiers::SHIFT, Key::Tab) {
        Some(typing::outdent(text, selection))
    } else if pressed(Modifiers::NONE, Key::Tab) {
        Some(typing::indent(text, selection))
    } else if pressed(Modifiers::NONE, Key::Enter) {
        let at = typing::new_line(text, selection);
        Some(at..at)
    } else if ui.input(|input| input.events.contains(&Event::Text("}".to_owned()))) {
        typing::closing_brace(text, selection).map(|at| {
            ui.input_mut(|input| input.events.retain(|event| *event != Event::Text("}".to_owned())));
            at..at
        })
    } else {
        None
    };
    if let Some(range) = moved {
        desk.typed();
        select(ui, id, range);
    }
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
    for (piece, kind) in joined(text) {
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

/// The pieces with neighbours of one kind together: fewer for the layout to look at.
fn joined(text: &str) -> Vec<(&str, Kind)> {
    let mut out: Vec<(&str, Kind)> = Vec::new();
    let mut end = 0;
    for (piece, kind) in pieces(text) {
        let start = end;
        end += piece.len();
        match out.last_mut() {
            Some((last, known)) if *known == kind => *last = &text[start - last.len()..end],
            _ => out.push((&text[start..end], kind)),
        }
    }
    out
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
    use super::{joined, pieces};

    /// Whatever is typed comes out again, piece by piece.
    #[test]
    fn nothing_is_left_out() {
        for text in
            ["", "a", "int x = 0x1Fu; // 注释\n/* open", "#define X 1.5f\n é", "/**/", "\"no string\" '", "_", "9"]
        {
            assert_eq!(pieces(text).iter().map(|(piece, _)| *piece).collect::<String>(), text);
            assert_eq!(joined(text).iter().map(|(piece, _)| *piece).collect::<String>(), text);
        }
    }
}
