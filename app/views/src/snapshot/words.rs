//! Words that several figures use.

use super::scene::Scene;
use vramlab_snapshot::sites::frame_text;
use vramlab_snapshot::{Action, StackId};
use vramlab_units::{Lang, Text, show};

const NO_STACK: Text = Text::new("没有调用栈", "no stack");
const MORE: Text = Text::new("… 还有 {} 层", "… {} more");
const LEFT_OUT: Text = Text::new("略去 {} 层只转手调用的帧", "{} frames that only pass the call on are left out");
const START: Text = Text::new("录制开始前", "before the first event");
const AFTER: Text = Text::new("第 {n} 个事件之后", "after event {n}");
const LATER: Text = Text::new("，{t} ms", ", {t} ms");

/// The frames of a stack that tell something, innermost first, at most `most` lines.
pub fn stack_lines(scene: &Scene, stack: StackId, most: usize, lang: Lang) -> Vec<String> {
    let frames = scene.analysis.sites.telling(&scene.snapshot, stack);
    if frames.is_empty() {
        return vec![NO_STACK.get(lang).to_owned()];
    }
    let known = frames.iter().take(most).filter_map(|frame| scene.snapshot.frames.get(*frame as usize));
    let mut lines: Vec<String> = known.map(|frame| frame_text(&scene.snapshot, frame)).collect();
    if frames.len() > most {
        lines.push(MORE.get(lang).replace("{}", &(frames.len() - most).to_string()));
    }
    let n_left_out = scene.snapshot.stack_indices(stack).len() - frames.len();
    if n_left_out > 0 {
        lines.push(LEFT_OUT.get(lang).replace("{}", &n_left_out.to_string()));
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
