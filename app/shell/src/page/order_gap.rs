//! An order against the right one: both in columns, a line for each item. Two lines that cross are a pair that stands
//! the wrong way round.

use crate::panels::elided;
use crate::widgets;
use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::gap;
use vramlab_units::{Lang, Localized, Text};

const YOURS: Text = Text::new("你的顺序", "yours");
const RIGHT: Text = Text::new("正确顺序", "the right order");
const ALL_RIGHT: Text = Text::new("顺序全对", "every pair stands the right way round");
const SWAPPED: Text =
    Text::new("{all} 对里有 {n} 对放反了：{pairs}", "{n} of {all} pairs stand the wrong way round: {pairs}");
const PAIR: Text = Text::new("{first}应在{second}之前", "{first} comes before {second}");
/// Pairs that are named; the lines show the rest.
const MOST_PAIRS: usize = 3;

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, items: &[Localized], order: &[usize]) {
    let swapped = gap::swapped(order);
    let words = words(items, order, lang);
    let row = tokens.px(28.0);
    let size = vec2(ui.available_width(), row * (items.len() as f32 + 1.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Figure, true, &words));
    let width = |item: &Localized| {
        let galley = ui.painter().layout_no_wrap(item.get(lang).to_owned(), tokens.font(Type::Note), tokens.ink);
        galley.size().x
    };
    let widest = items.iter().map(width).fold(tokens.px(80.0), f32::max) + tokens.space.m;
    let column = widest.min(rect.width() * 0.38);
    let left = Rect::from_min_size(rect.min, vec2(column, rect.height()));
    let between = (rect.width() - 2.0 * column).min(tokens.px(180.0));
    let right_x = left.right() + between;
    let y = |at: usize| rect.top() + row * (at as f32 + 1.5);
    let head = tokens.font(Type::Small);
    let middle = rect.top() + row / 2.0;
    ui.painter().text(pos2(left.left(), middle), Align2::LEFT_CENTER, YOURS.get(lang), head.clone(), tokens.muted);
    ui.painter().text(pos2(right_x, middle), Align2::LEFT_CENTER, RIGHT.get(lang), head, tokens.muted);
    for (at, idx) in order.iter().enumerate() {
        let Some(item) = items.get(*idx) else { continue };
        let is_swapped = swapped.iter().any(|(a, b)| a == idx || b == idx);
        let color = if is_swapped { tokens.caution } else { tokens.muted };
        let name = |x: f32, y: f32| {
            let galley = elided(ui, item.get(lang), tokens.font(Type::Note), tokens.ink, column - tokens.space.xs);
            ui.painter().galley(pos2(x, y - galley.size().y / 2.0), galley, tokens.ink);
        };
        name(left.left(), y(at));
        name(right_x, y(*idx));
        let ends = [pos2(left.right() + tokens.space.xxs, y(at)), pos2(right_x - tokens.space.xs, y(*idx))];
        ui.painter().line_segment(ends, tokens.stroke(1.5, color));
        for end in ends {
            ui.painter().circle_filled(end, tokens.px(3.0), color);
        }
    }
    widgets::finding(ui, tokens, &words);
}

/// How many pairs are swapped, and which.
pub fn words(items: &[Localized], order: &[usize], lang: Lang) -> String {
    let swapped = gap::swapped(order);
    if swapped.is_empty() {
        return ALL_RIGHT.get(lang).to_owned();
    }
    let name = |idx: usize| spaced(items.get(idx).map_or("", |item| item.get(lang)), lang);
    let pair = |(first, second): &(usize, usize)| {
        PAIR.get(lang).replace("{first}", &name(*second)).replace("{second}", &name(*first))
    };
    let mut pairs: Vec<String> = swapped.iter().take(MOST_PAIRS).map(pair).map(|pair| pair.trim().to_owned()).collect();
    if swapped.len() > MOST_PAIRS {
        pairs.push("…".to_owned());
    }
    let n = items.len();
    SWAPPED
        .get(lang)
        .replace("{n}", &swapped.len().to_string())
        .replace("{all}", &(n * n.saturating_sub(1) / 2).to_string())
        .replace("{pairs}", &pairs.join(if lang == Lang::Zh { "，" } else { ", " }))
}

/// A name inside a Chinese sentence: a space between 汉字 and Latin letters or digits, none between 汉字.
pub(super) fn spaced(name: &str, lang: Lang) -> String {
    let side = |c: Option<char>| if c.is_some_and(|c| c.is_ascii_alphanumeric()) { " " } else { "" };
    match lang {
        Lang::Zh => format!("{}{name}{}", side(name.chars().next()), side(name.chars().last())),
        Lang::En => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_swapped_pairs_are_named() {
        let items = [("寄存器", "registers"), ("L1", "L1"), ("L2", "L2"), ("显存", "DRAM")]
            .map(|(zh, en)| Localized::both(zh, en));
        assert_eq!(
            words(&items, &[0, 2, 1, 3], Lang::En),
            "1 of 6 pairs stand the wrong way round: L1 comes before L2"
        );
        assert_eq!(words(&items, &[0, 2, 1, 3], Lang::Zh), "6 对里有 1 对放反了：L1 应在 L2 之前");
        assert_eq!(words(&items, &[0, 1, 2, 3], Lang::En), "every pair stands the right way round");
        let reversed = words(&items, &[3, 2, 1, 0], Lang::Zh);
        assert!(
            reversed.starts_with("6 对里有 6 对放反了：寄存器应在 L1 之前，L1 应在 L2 之前，")
                && reversed.ends_with("…")
        );
    }
}
