//! Words that several figures use.

use super::scene::Scene;
use vramlab_snapshot::sites::frame_text;
use vramlab_snapshot::{Action, StackId};
use vramlab_units::{Lang, Text, show};

const NO_STACK: Text = Text::new("没有调用栈", "no stack");
const MORE: Text = Text::new("… 还有 {} 层", "… {} more");
const START: Text = Text::new("录制开始前", "before the first event");
const AFTER: Text = Text::new("第 {n} 个事件之后", "after event {n}");
const LATER: Text = Text::new("，{t} ms", ", {t} ms");

/// The frames of a stack, innermost first, at most `most` lines.
pub fn stack_lines(scene: &Scene, stack: StackId, most: usize, lang: Lang) -> Vec<String> {
    let n = scene.snapshot.stack(stack).count();
    if n == 0 {
        return vec![NO_STACK.get(lang).to_owned()];
    }
    let frames = scene.snapshot.stack(stack).take(most);
    let mut lines: Vec<String> = frames.map(|frame| frame_text(&scene.snapshot, &frame)).collect();
    if n > most {
        lines.push(MORE.get(lang).replace("{}", &(n - most).to_string()));
    }
    lines
}

/// When a moment is: how many events are done, and how long after the first.
pub fn moment(scene: &Scene, at: usize, lang: Lang) -> String {
    if at == 0 {
        return START.get(lang).to_owned();
    }
    let words = AFTER.get(lang).replace("{n}", &at.to_string());
    match scene.ms_at(at) {
        Some(ms) => words + &LATER.get(lang).replace("{t}", &show::number(ms)),
        None => words,
    }
}

/// PyTorch's own name of an action.
pub fn action(scene: &Scene, action: Action) -> &str {
    match action {
        Action::Alloc => "alloc",
        Action::FreeRequested => "free_requested",
        Action::FreeCompleted => "free_completed",
        Action::SegmentAlloc => "segment_alloc",
        Action::SegmentFree => "segment_free",
        Action::SegmentMap => "segment_map",
        Action::SegmentUnmap => "segment_unmap",
        Action::Oom => "oom",
        Action::Snapshot => "snapshot",
        Action::UserDefined => "user_defined",
        Action::Other(name) => scene.snapshot.text(name),
    }
}
