//! Icons, drawn as strokes in a square: no icon font to download, sharp at any size.

use crate::tokens::Tokens;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Icon {
    Play,
    Pause,
    StepBack,
    StepForward,
    Reset,
    Menu,
    Check,
    Close,
    Warning,
    Info,
    Search,
    ChevronRight,
    ChevronDown,
    Copy,
    Save,
    Settings,
    Notebook,
    Diamond,
}

impl Icon {
    pub const ALL: [Self; 18] = [
        Self::Play,
        Self::Pause,
        Self::StepBack,
        Self::StepForward,
        Self::Reset,
        Self::Menu,
        Self::Check,
        Self::Close,
        Self::Warning,
        Self::Info,
        Self::Search,
        Self::ChevronRight,
        Self::ChevronDown,
        Self::Copy,
        Self::Save,
        Self::Settings,
        Self::Notebook,
        Self::Diamond,
    ];

    /// Paints the icon into the middle of `rect`; its square has the side `16 × tokens.scale`.
    pub fn paint(self, painter: &Painter, tokens: &Tokens, rect: Rect, color: Color32) {
        let square = Rect::from_center_size(rect.center(), egui::Vec2::splat(tokens.px(16.0)));
        let pen = Pen { painter, square, stroke: tokens.stroke(1.5, color) };
        match self {
            Self::Play => pen.fill(&[(5.0, 3.5), (13.0, 8.0), (5.0, 12.5)]),
            Self::Pause => pen.lines(&[&[(5.5, 4.0), (5.5, 12.0)], &[(10.5, 4.0), (10.5, 12.0)]]),
            Self::StepForward => {
                pen.fill(&[(4.0, 4.0), (10.0, 8.0), (4.0, 12.0)]);
                pen.lines(&[&[(12.0, 4.0), (12.0, 12.0)]]);
            }
            Self::StepBack => {
                pen.fill(&[(12.0, 4.0), (12.0, 12.0), (6.0, 8.0)]);
                pen.lines(&[&[(4.0, 4.0), (4.0, 12.0)]]);
            }
            Self::Reset => {
                pen.arc((8.0, 8.5), 5.0, -0.6, 4.2);
                pen.lines(&[&[(12.6, 2.6), (12.2, 5.8), (9.0, 5.4)]]);
            }
            Self::Menu => [3.5, 8.0, 12.5].into_iter().for_each(|x| pen.dot((x, 8.0), 1.4)),
            Self::Check => pen.lines(&[&[(3.0, 8.5), (6.5, 12.0), (13.0, 4.5)]]),
            Self::Close => pen.lines(&[&[(4.0, 4.0), (12.0, 12.0)], &[(12.0, 4.0), (4.0, 12.0)]]),
            Self::Warning => {
                pen.closed(&[(8.0, 2.5), (14.5, 13.5), (1.5, 13.5)]);
                pen.lines(&[&[(8.0, 6.5), (8.0, 9.5)]]);
                pen.dot((8.0, 11.6), 0.9);
            }
            Self::Info => {
                pen.circle((8.0, 8.0), 6.2);
                pen.lines(&[&[(8.0, 7.4), (8.0, 11.4)]]);
                pen.dot((8.0, 5.0), 0.9);
            }
            Self::Search => {
                pen.circle((7.0, 7.0), 4.2);
                pen.lines(&[&[(10.2, 10.2), (13.5, 13.5)]]);
            }
            Self::ChevronRight => pen.lines(&[&[(6.0, 4.0), (10.0, 8.0), (6.0, 12.0)]]),
            Self::ChevronDown => pen.lines(&[&[(4.0, 6.0), (8.0, 10.0), (12.0, 6.0)]]),
            Self::Copy => {
                pen.rect((5.5, 5.5), (13.5, 13.5));
                pen.lines(&[&[(3.0, 10.5), (2.5, 10.5), (2.5, 2.5), (10.5, 2.5), (10.5, 3.0)]]);
            }
            Self::Save => pen.lines(&[
                &[(8.0, 2.5), (8.0, 10.0)],
                &[(5.0, 7.0), (8.0, 10.0), (11.0, 7.0)],
                &[(2.5, 11.0), (2.5, 13.5), (13.5, 13.5), (13.5, 11.0)],
            ]),
            Self::Settings => {
                pen.lines(&[&[(2.5, 5.0), (8.0, 5.0)], &[(12.2, 5.0), (13.5, 5.0)]]);
                pen.lines(&[&[(2.5, 11.0), (3.8, 11.0)], &[(8.0, 11.0), (13.5, 11.0)]]);
                pen.circle((10.1, 5.0), 2.0);
                pen.circle((5.9, 11.0), 2.0);
            }
            Self::Notebook => {
                pen.rect((3.5, 2.5), (13.0, 13.5));
                pen.lines(&[&[(6.0, 2.5), (6.0, 13.5)], &[(8.5, 6.0), (10.5, 6.0)]]);
            }
            Self::Diamond => pen.closed(&[(8.0, 2.5), (13.5, 8.0), (8.0, 13.5), (2.5, 8.0)]),
        }
    }
}

/// Coordinates are 0 to 16, right and down.
struct Pen<'a> {
    painter: &'a Painter,
    square: Rect,
    stroke: Stroke,
}

impl Pen<'_> {
    fn at(&self, (x, y): (f32, f32)) -> Pos2 {
        let scale = self.square.width() / 16.0;
        pos2(self.square.left() + x * scale, self.square.top() + y * scale)
    }

    fn path(&self, points: &[(f32, f32)]) -> Vec<Pos2> {
        points.iter().map(|at| self.at(*at)).collect()
    }

    fn length(&self, points: f32) -> f32 {
        points * self.square.width() / 16.0
    }

    fn lines(&self, lines: &[&[(f32, f32)]]) {
        for line in lines {
            self.painter.add(Shape::line(self.path(line), self.stroke));
        }
    }

    fn closed(&self, points: &[(f32, f32)]) {
        self.painter.add(Shape::closed_line(self.path(points), self.stroke));
    }

    fn fill(&self, points: &[(f32, f32)]) {
        self.painter.add(Shape::convex_polygon(self.path(points), self.stroke.color, Stroke::NONE));
    }

    fn dot(&self, centre: (f32, f32), radius: f32) {
        self.painter.circle_filled(self.at(centre), self.length(radius), self.stroke.color);
    }

    fn circle(&self, centre: (f32, f32), radius: f32) {
        self.painter.circle_stroke(self.at(centre), self.length(radius), self.stroke);
    }

    fn rect(&self, min: (f32, f32), max: (f32, f32)) {
        let rect = Rect::from_min_max(self.at(min), self.at(max));
        self.painter.rect_stroke(rect, self.length(1.5), self.stroke, StrokeKind::Middle);
    }

    /// From `from` on for `sweep`, in radians, clockwise from the right.
    fn arc(&self, (x, y): (f32, f32), radius: f32, from: f32, sweep: f32) {
        let point = |step: u8| {
            let turn = from + sweep * f32::from(step) / 24.0;
            self.at((x + radius * turn.cos(), y + radius * turn.sin()))
        };
        self.painter.add(Shape::line((0..=24).map(point).collect(), self.stroke));
    }
}
