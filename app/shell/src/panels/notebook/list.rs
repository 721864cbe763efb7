//! The list of runs. Every row is as high as the others, apart from the open one; rows out of sight are not laid out.

use super::{detail, row};
use crate::action::Action;
use crate::app::App;
use egui::Ui;
use vramlab_kit::tokens::Tokens;
use vramlab_units::Lang;

/// The rows to lay out: `first..end`, and the room that the others take before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
struct InSight {
    first: usize,
    end: usize,
    before: f32,
    after: f32,
}

/// `pitch` is the height of a row with its gap; the row `open.0` is higher by `open.1`. `top` and `bottom` are the ends
/// of what is in sight, counted from the first row's upper edge.
fn in_sight(n_rows: usize, pitch: f32, open: Option<(usize, f32)>, top: f32, bottom: f32) -> InSight {
    let extra = |row: usize| open.filter(|(open, _)| *open < row).map_or(0.0, |(_, height)| height);
    let start_of = |row: usize| row as f32 * pitch + extra(row);
    let mut first = ((top / pitch).floor().max(0.0) as usize).min(n_rows);
    while first > 0 && start_of(first) > top {
        first -= 1;
    }
    let mut end = first;
    while end < n_rows && start_of(end) < bottom {
        end += 1;
    }
    InSight { first, end, before: start_of(first), after: start_of(n_rows) - start_of(end) }
}

/// The rows of `shown`, which are indices into the notebook.
pub fn ui(app: &mut App, ui: &mut Ui, tokens: &Tokens, lang: Lang, shown: &[usize], actions: &mut Vec<Action>) {
    let gap = tokens.space.xs;
    let pitch = row::height(tokens) + gap;
    let open = app.notebook_view.open.and_then(|n| {
        let at = shown.iter().position(|idx| app.notebook.entries[*idx].n == n)?;
        Some((at, app.notebook_view.detail_height))
    });
    let (start, clip) = (ui.cursor().top(), ui.clip_rect());
    let seen = in_sight(shown.len(), pitch, open, clip.top() - start, clip.bottom() - start);
    let spacing = std::mem::replace(&mut ui.spacing_mut().item_spacing.y, 0.0);
    ui.add_space(seen.before);
    for (at, idx) in shown.iter().enumerate().take(seen.end).skip(seen.first) {
        row::ui(app, ui, tokens, lang, *idx);
        if open.is_some_and(|(open, _)| open == at) {
            ui.spacing_mut().item_spacing.y = spacing;
            let top = ui.cursor().top();
            detail::ui(app, ui, tokens, lang, *idx, actions);
            ui.spacing_mut().item_spacing.y = 0.0;
            app.notebook_view.detail_height = ui.cursor().top() - top;
        }
        ui.add_space(gap);
    }
    ui.add_space(seen.after);
    ui.spacing_mut().item_spacing.y = spacing;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_in_sight_are_laid_out_and_the_room_stays_the_same() {
        for open in [None, Some((3, 250.0)), Some((9_999, 250.0))] {
            let extra = open.map_or(0.0, |(_, height): (usize, f32)| height);
            for top in [-500.0, 0.0, 90.0, 500.0, 1e5, 2e6] {
                let seen = in_sight(10_000, 100.0, open, top, top + 800.0);
                assert!(seen.end - seen.first <= 10, "{open:?} {top}: {seen:?}");
                let inside = (seen.end - seen.first) as f32 * 100.0
                    + open.filter(|(row, _)| (seen.first..seen.end).contains(row)).map_or(0.0, |(_, height)| height);
                assert_eq!(seen.before + inside + seen.after, 1_000_000.0 + extra, "{open:?} {top}");
                assert!(seen.before <= top.max(0.0) || seen.first == 10_000);
            }
        }
    }

    #[test]
    fn the_open_row_stays_while_its_end_is_in_sight() {
        // Row 3 goes from 300 to 650.
        let seen = in_sight(10, 100.0, Some((3, 250.0)), 600.0, 700.0);
        assert_eq!((seen.first, seen.end, seen.before), (3, 5, 300.0));
        assert_eq!(in_sight(0, 100.0, None, 0.0, 800.0), InSight { first: 0, end: 0, before: 0.0, after: 0.0 });
    }
}
