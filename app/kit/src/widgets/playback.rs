//! The buttons and the scrubber of a [`Playhead`].

use crate::icons::Icon;
use crate::playhead::{Command, Playhead};
use crate::tokens::{Tokens, Type};
use crate::widgets::{Button, Slider};
use egui::{RichText, Ui};
use std::time::Duration;
use vramlab_units::{Lang, Text};

const PLAY: Text = Text::new("播放", "Play");
const PAUSE: Text = Text::new("暂停", "Pause");
const BACK: Text = Text::new("上一步", "Step back");
const FORWARD: Text = Text::new("下一步", "Step forward");
const STEP: Text = Text::new("步", "Step");

/// Shows the controls, moves the playhead on with the clock, and asks for the next frame while it plays.
/// True when the step changed.
pub fn playback(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    head: &mut Playhead,
    time_secs: f64,
    has_motion: bool,
) -> bool {
    let before = head.now();
    head.tick(time_secs);
    let mut command = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.px(2.0);
        let (icon, name) = if head.is_playing() { (Icon::Pause, PAUSE) } else { (Icon::Play, PLAY) };
        for (icon, name, wanted) in [
            (Icon::StepBack, BACK, Command::StepBack),
            (icon, name, Command::Toggle),
            (Icon::StepForward, FORWARD, Command::StepForward),
        ] {
            if Button::icon_only(icon, name.get(lang)).show(ui, tokens).clicked() {
                command = Some(wanted);
            }
        }
        ui.add_space(tokens.space.xs);
        if head.n_steps() > 1 {
            let (mut step, n_steps) = (head.now() as f64 + 1.0, head.n_steps());
            let slider = Slider::new(STEP.get(lang), &mut step, 1.0..=n_steps as f64).step(1.0);
            let room = ui.available_width() / tokens.scale - 110.0; // what the name and the numbers leave
            let slider = slider.width(room.clamp(48.0, 120.0));
            if slider.shown(move |step| format!("{step:.0} / {n_steps}")).show(ui, tokens).changed() {
                command = Some(Command::Seek(step as usize - 1));
            }
        } else {
            ui.label(RichText::new("1 / 1").font(tokens.font(Type::Mono)).color(tokens.muted));
        }
    });
    if let Some(command) = command {
        head.apply(command, has_motion);
        head.tick(time_secs);
    }
    if let Some(secs) = head.secs_to_next_step(time_secs) {
        ui.ctx().request_repaint_after(Duration::from_secs_f64(secs));
    }
    head.now() != before
}
