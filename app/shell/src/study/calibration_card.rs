//! The reader's numbers over the chapters: one diamond a prediction, at the factor by which it was off. With few
//! predictions the card counts and draws; it speaks of a habit only when there are enough.

use super::{calibration, chapter_name};
use crate::app::App;
use crate::widgets;
use egui::{Align2, EventFilter, Key, Painter, Pos2, Rect, Response, RichText, Role, Sense, Shape, Ui, WidgetInfo};
use egui::{Stroke, pos2, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::calibration::{Calibration, FEW, Guess, share_interval};
use vramlab_lesson::{Form, StepBody};
use vramlab_units::{Lang, Text, show};

const TITLE: Text = Text::new("你的预测准不准", "How your predictions hold");
const TERM: Text = Text::new("校准", "calibration");
const HIGH: Text = Text::new("猜高了 ↑", "too high ↑");
const LOW: Text = Text::new("猜低了 ↓", "too low ↓");
const WITHIN: Text = Text::new("2 倍以内", "within ×2");
const MEDIAN: Text = Text::new("中位 {f}", "median {f}");
const SO_FAR: Text = Text::new(
    "到现在 {n} 个数，{k} 个在 2 倍以内。满 {few} 个再说习惯。",
    "Numbers so far: {n}, of which {k} within a factor of two. From {few} on one can speak of a habit.",
);
const HABIT: Text = Text::new(
    "{n} 个数里 {k} 个在 2 倍以内。只凭这 {n} 个样本，真正的比例在 {low} 到 {high} 之间（95 % 置信）。{median}",
    "{k} of {n} numbers lie within a factor of two; {n} samples put the true share between {low} and {high} (95 % confidence). {median}",
);
const MEDIAN_HIGH: Text = Text::new(
    "按中位数，猜的是实际的 {f} 倍：偏高。",
    "The middle guess is {f} times the truth: you tend to guess high.",
);
const MEDIAN_LOW: Text =
    Text::new("按中位数，实际是猜的 {f} 倍：偏低。", "The truth is {f} times the middle guess: you tend to guess low.");
const MEDIAN_EVEN: Text = Text::new("高低各半，没有偏向。", "High and low balance out.");
const LEFT_OUT: Text = Text::new(
    "另有 {n} 个含 0 或负数，不能用倍数比，没有画。",
    "{n} more hold a zero or a negative number; no factor compares those, and they are not drawn.",
);
const LATE: Text = Text::new(
    "另有 {n} 个是看过实测之后才填的，不算。",
    "{n} more were entered after the measurement had been shown, and do not count.",
);
const POINT: Text = Text::new("你猜 {given}，模型 {truth}", "you {given}, model {truth}");

/// One wild guess must not squeeze all others together: beyond this it stands at the edge, with an arrow.
const MOST_DECADES: f64 = 2.0;
/// A median within this factor of the truth leans to neither side.
const EVEN: f64 = 1.1;

/// The card; nothing before the first number has been revealed.
pub fn calibration_ui(app: &App, ui: &mut Ui, tokens: &Tokens) {
    let calibration = calibration(app);
    if calibration.guesses.is_empty() {
        return;
    }
    let lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, TITLE.get(lang), TERM.get(lang), |_| {});
        plot_ui(app, ui, tokens, lang, &calibration);
        widgets::finding(ui, tokens, &words(&calibration, lang));
        for (n, text) in [(calibration.n_left_out, LEFT_OUT), (calibration.n_late, LATE)] {
            if n > 0 {
                let text = text.get(lang).replace("{n}", &n.to_string());
                ui.label(RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted));
            }
        }
    });
}

/// What the dots say, no more than they can.
pub fn words(calibration: &Calibration, lang: Lang) -> String {
    let (n, k) = (calibration.guesses.len(), calibration.n_within(2.0));
    let fill = |text: Text| text.get(lang).replace("{n}", &n.to_string()).replace("{k}", &k.to_string());
    let (Some(factor), Some((low, high))) = (calibration.median_factor(), share_interval(k, n)) else {
        return String::new();
    };
    if !calibration.is_enough() {
        return fill(SO_FAR).replace("{few}", &FEW.to_string());
    }
    let median = match factor {
        factor if factor > EVEN => MEDIAN_HIGH.get(lang).replace("{f}", &show::number(factor)),
        factor if factor < 1.0 / EVEN => MEDIAN_LOW.get(lang).replace("{f}", &show::number(1.0 / factor)),
        _ => MEDIAN_EVEN.get(lang).to_owned(),
    };
    let percent = |share: f64| show::with_unit((share * 100.0).round() / 100.0, "%");
    fill(HABIT).replace("{low}", &percent(low)).replace("{high}", &percent(high)).replace("{median}", &median)
}

/// Where things lie on the plot: chapters to the right, factors upwards.
struct Layout {
    plot: Rect,
    /// Decades above and below the truth.
    decades: f64,
    /// The chapters that have guesses, in order.
    chapters: Vec<String>,
}

impl Layout {
    fn new(plot: Rect, calibration: &Calibration) -> Self {
        let most = calibration.guesses.iter().map(|guess| guess.log10_factor.abs()).fold(0.0, f64::max);
        let mut chapters: Vec<String> = calibration.guesses.iter().map(|guess| guess.chapter.clone()).collect();
        chapters.dedup();
        Self { plot, decades: most.ceil().clamp(1.0, MOST_DECADES), chapters }
    }

    fn y(&self, log10: f64) -> f32 {
        let share = (log10 / self.decades).clamp(-1.0, 1.0) as f32;
        self.plot.center().y - share * self.plot.height() / 2.0
    }

    fn column(&self, idx: usize) -> f32 {
        self.plot.left() + self.plot.width() * (idx as f32 + 0.5) / self.chapters.len().max(1) as f32
    }

    /// The guesses of a chapter stand side by side in its column, in their order.
    fn pos(&self, calibration: &Calibration, idx: usize, gap: f32) -> Pos2 {
        let guess = &calibration.guesses[idx];
        let mine = |other: &&Guess| other.chapter == guess.chapter;
        let n = calibration.guesses.iter().filter(mine).count();
        let at = calibration.guesses[..idx].iter().filter(mine).count();
        let column = self.chapters.iter().position(|chapter| *chapter == guess.chapter).unwrap_or_default();
        let room = self.plot.width() / self.chapters.len().max(1) as f32 / n as f32;
        let offset = (at as f32 - (n as f32 - 1.0) / 2.0) * gap.min(room);
        pos2(self.column(column) + offset, self.y(guess.log10_factor))
    }
}

fn plot_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang, calibration: &Calibration) {
    let size = vec2(ui.available_width(), tokens.px(210.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let plot = Rect::from_min_max(
        pos2(rect.left() + tokens.px(46.0), rect.top() + tokens.px(22.0)),
        pos2(rect.right() - tokens.px(10.0), rect.bottom() - tokens.px(26.0)),
    );
    let layout = Layout::new(plot, calibration);
    let places: Vec<Pos2> =
        (0..calibration.guesses.len()).map(|idx| layout.pos(calibration, idx, tokens.px(16.0))).collect();
    let picked = pick(ui, tokens, &response, &places);
    let painter = ui.painter_at(rect.expand(2.0));
    paint_grid(app, &painter, tokens, lang, &layout);
    paint_median(&painter, tokens, lang, &layout, calibration);
    for (place, guess) in places.iter().zip(&calibration.guesses) {
        diamond(&painter, *place, tokens);
        if guess.log10_factor.abs() > layout.decades {
            arrow(&painter, *place, guess.log10_factor > 0.0, tokens);
        }
    }
    let said = picked.and_then(|idx| Some((idx, point_words(app, calibration.guesses.get(idx)?, lang))));
    if let Some((idx, lines)) = &said {
        painter.circle_stroke(places[*idx], tokens.px(10.0), tokens.stroke(2.0, tokens.accent));
        info(&painter, tokens, plot, places[*idx], lines);
    }
    if response.has_focus() {
        let stroke = tokens.stroke(1.5, tokens.accent);
        painter.rect_stroke(rect, tokens.control_corner(), stroke, egui::StrokeKind::Inside);
    }
    let mut spoken = words(calibration, lang);
    if let Some((_, lines)) = said {
        spoken = format!("{spoken} {}", lines.join(", "));
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Figure, true, &spoken));
}

/// The point under the pointer, or the one that the arrow keys have come to.
fn pick(ui: &Ui, tokens: &Tokens, response: &Response, places: &[Pos2]) -> Option<usize> {
    if response.clicked() {
        response.request_focus();
    }
    let distance = |idx: &usize, pos: Pos2| places[*idx].distance(pos);
    let hovered = response.hover_pos().and_then(|pos| {
        let near = (0..places.len()).filter(|idx| distance(idx, pos) < tokens.px(18.0));
        near.min_by(|a, b| distance(a, pos).total_cmp(&distance(b, pos)))
    });
    if !response.has_focus() || places.is_empty() {
        return hovered;
    }
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let presses = |key| ui.input(|input| input.num_presses(key)) as i64;
    let by = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
    let at: Option<usize> = ui.data(|data| data.get_temp(response.id));
    let next = match at {
        None if by == 0 => return hovered,
        None => 0,
        Some(at) => (at as i64 + by).clamp(0, places.len() as i64 - 1) as usize,
    };
    ui.data_mut(|data| data.insert_temp(response.id, next));
    hovered.or(Some(next))
}

fn paint_grid(app: &App, painter: &Painter, tokens: &Tokens, lang: Lang, layout: &Layout) {
    let plot = layout.plot;
    let small = tokens.font(Type::Small);
    let mono = tokens.font(Type::MonoSmall);
    let band = Rect::from_x_y_ranges(plot.x_range(), layout.y(2_f64.log10())..=layout.y(-(2_f64.log10())));
    painter.rect_filled(band, 2, tokens.sunken);
    let place = pos2(plot.right() - tokens.space.xxs, band.top());
    painter.text(place, Align2::RIGHT_BOTTOM, WITHIN.get(lang), small.clone(), tokens.muted);
    let decades = layout.decades as i32;
    for decade in -decades..=decades {
        let y = painter.round_to_pixel_center(layout.y(f64::from(decade)));
        let color = if decade == 0 { tokens.muted } else { tokens.grid };
        painter.hline(plot.x_range(), y, Stroke::new(1.0, color));
        let label = match decade {
            0 => "= 1".to_owned(),
            n if n > 0 => format!("×{}", 10_i64.pow(n.unsigned_abs())),
            n => format!("÷{}", 10_i64.pow(n.unsigned_abs())),
        };
        painter.text(pos2(plot.left() - tokens.space.xs, y), Align2::RIGHT_CENTER, label, mono.clone(), tokens.muted);
    }
    let top = pos2(plot.left(), plot.top() - tokens.px(4.0));
    painter.text(top, Align2::LEFT_BOTTOM, HIGH.get(lang), small.clone(), tokens.muted);
    let bottom = pos2(plot.left(), plot.bottom() - tokens.px(2.0));
    painter.text(bottom, Align2::LEFT_BOTTOM, LOW.get(lang), small.clone(), tokens.muted);
    for (idx, chapter) in layout.chapters.iter().enumerate() {
        let number = app.library.chapter(chapter).and_then(|chapter| chapter.number);
        let label = number.map_or_else(|| chapter.clone(), |n| format!("{n:02}"));
        let place = pos2(layout.column(idx), plot.bottom() + tokens.px(6.0));
        painter.text(place, Align2::CENTER_TOP, label, mono.clone(), tokens.muted);
    }
}

/// The middle of all guesses, once there are enough of them.
fn paint_median(painter: &Painter, tokens: &Tokens, lang: Lang, layout: &Layout, calibration: &Calibration) {
    let Some(factor) = calibration.median_factor().filter(|_| calibration.is_enough()) else { return };
    let y = layout.y(factor.log10());
    let ends = [pos2(layout.plot.left(), y), pos2(layout.plot.right(), y)];
    let stroke = tokens.stroke(1.3, tokens.ink);
    painter.extend(Shape::dashed_line(&ends, stroke, tokens.px(6.0), tokens.px(4.0)));
    let shown =
        if factor >= 1.0 { format!("×{}", show::number(factor)) } else { format!("÷{}", show::number(1.0 / factor)) };
    let text = MEDIAN.get(lang).replace("{f}", &shown);
    let (align, gap) = if factor >= 1.0 { (Align2::RIGHT_BOTTOM, -2.0) } else { (Align2::RIGHT_TOP, 2.0) };
    // Clear of the name of the band, which stands on its upper edge at the right.
    let place = pos2(layout.plot.right() - tokens.px(80.0), y + gap);
    painter.text(place, align, text, tokens.font(Type::Small), tokens.ink);
}

fn point_words(app: &App, guess: &Guess, lang: Lang) -> Vec<String> {
    let chapter = app.library.chapter(&guess.chapter);
    let step = chapter.as_ref().and_then(|chapter| chapter.steps.iter().find(|step| step.id == guess.step));
    let unit = step.map_or("1", |step| match &step.body {
        StepBody::Predict(predict) => match &predict.question.form {
            Form::Number { unit, .. } => unit.as_str(),
            _ => "1",
        },
        _ => "1",
    });
    let title = step.map_or(guess.step.as_str(), |step| step.title.get(lang));
    let numbers = POINT
        .get(lang)
        .replace("{given}", &show::with_unit(guess.given, unit))
        .replace("{truth}", &show::with_unit(guess.truth, unit));
    vec![title.to_owned(), numbers, chapter_name(app, &guess.chapter, lang)]
}

fn info(painter: &Painter, tokens: &Tokens, bounds: Rect, anchor: Pos2, lines: &[String]) {
    let font = |idx: usize| tokens.font(if idx == 0 { Type::NoteStrong } else { Type::Small });
    let limit = bounds.width().min(tokens.px(300.0));
    let lay = |(idx, line): (usize, &String)| painter.layout(line.clone(), font(idx), tokens.ink, limit);
    let galleys: Vec<_> = lines.iter().enumerate().map(lay).collect();
    let width = galleys.iter().map(|galley| galley.size().x).fold(0.0, f32::max);
    let height: f32 = galleys.iter().map(|galley| galley.size().y).sum();
    let size = vec2(width, height) + vec2(tokens.space.s, tokens.space.xs) * 2.0;
    let step = tokens.px(14.0);
    let x = if anchor.x + step + size.x <= bounds.right() { anchor.x + step } else { anchor.x - step - size.x };
    let x = x.clamp(bounds.left(), (bounds.right() - size.x).max(bounds.left()));
    let y = (anchor.y - size.y / 2.0).clamp(bounds.top(), (bounds.bottom() - size.y).max(bounds.top()));
    let rect = Rect::from_min_size(pos2(x, y), size);
    painter.rect(rect, tokens.control_corner(), tokens.surface, tokens.hairline(), egui::StrokeKind::Inside);
    let mut y = rect.top() + tokens.space.xs;
    for galley in galleys {
        let height = galley.size().y;
        painter.galley(pos2(rect.left() + tokens.space.s, y), galley, tokens.ink);
        y += height;
    }
}

/// Farther out than the plot reaches.
fn arrow(painter: &Painter, at: Pos2, is_up: bool, tokens: &Tokens) {
    let side = if is_up { -1.0 } else { 1.0 };
    let tip = at + vec2(0.0, side * tokens.px(14.0));
    let wing = |x: f32| tip + vec2(x, -side * tokens.px(4.0));
    for end in [wing(-tokens.px(4.0)), wing(tokens.px(4.0))] {
        painter.line_segment([tip, end], tokens.stroke(1.5, tokens.ink));
    }
}

/// The reader's own prediction.
fn diamond(painter: &Painter, center: Pos2, tokens: &Tokens) {
    let radius = tokens.px(6.5);
    let corners = [vec2(0.0, -radius), vec2(radius, 0.0), vec2(0.0, radius), vec2(-radius, 0.0)];
    let points = corners.map(|corner| center + corner).to_vec();
    painter.add(Shape::convex_polygon(points, tokens.ink, tokens.stroke(1.5, tokens.surface)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(factors: &[f64]) -> Calibration {
        let guess = |factor: &f64| Guess {
            chapter: "02".to_owned(),
            step: "s".to_owned(),
            given: *factor,
            truth: 1.0,
            log10_factor: factor.log10(),
        };
        Calibration { guesses: factors.iter().map(guess).collect(), ..Calibration::default() }
    }

    #[test]
    fn few_samples_make_no_habit() {
        let few = words(&of(&[3.0, 1.0]), Lang::En);
        assert_eq!(few, "Numbers so far: 2, of which 1 within a factor of two. From 5 on one can speak of a habit.");
        assert!(!few.contains("tend"));
    }

    /// Wilson for 4 of 6: 30 % to 90 %.
    #[test]
    fn enough_samples_say_the_share_with_its_range_and_the_lean() {
        let many = words(&of(&[3.0, 4.0, 1.5, 1.5, 1.4, 1.0]), Lang::En);
        assert!(many.starts_with("4 of 6 numbers lie within a factor of two;"), "{many}");
        assert!(many.contains("between 30\u{2009}% and 90\u{2009}%"), "{many}");
        assert!(many.ends_with("The middle guess is 1.5 times the truth: you tend to guess high."), "{many}");
        let low = words(&of(&[0.5, 0.5, 0.5, 0.5, 2.0]), Lang::Zh);
        assert!(low.ends_with("按中位数，实际是猜的 2 倍：偏低。"), "{low}");
        assert!(words(&of(&[1.0, 2.0, 0.5, 1.0, 1.05]), Lang::En).ends_with("High and low balance out."));
    }

    #[test]
    fn dots_lie_in_their_chapters_and_a_wild_guess_stays_on_the_plot() {
        let mut calibration = of(&[1.0, 1e9, 1.0]);
        calibration.guesses[2].chapter = "12".to_owned();
        let plot = Rect::from_min_size(pos2(0.0, 0.0), vec2(200.0, 100.0));
        let layout = Layout::new(plot, &calibration);
        let places: Vec<Pos2> = (0..3).map(|idx| layout.pos(&calibration, idx, 16.0)).collect();
        assert!(places.iter().all(|place| plot.contains(*place)), "{places:?}");
        assert!(places[0].x < 100.0 && places[1].x < 100.0 && places[2].x > 100.0 && places[0].x < places[1].x);
        assert_eq!((places[0].y, places[1].y), (50.0, 0.0));
        assert_eq!(layout.decades, MOST_DECADES);
    }
}
