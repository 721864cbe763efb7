//! A recording that was made here, as the file that PyTorch would have written.

use super::generated::Forge;
use vramlab_snapshot::{Action, BlockState, Event, Snapshot};

/// A snapshot as PyTorch would have written it: segments with their blocks, and the events of device 0.
pub fn pickled(snapshot: &Snapshot) -> Vec<u8> {
    let mut forge = Forge::new();
    forge.op(b"}(");
    forge.text("segments");
    forge.op(b"](");
    for segment in &snapshot.segments {
        forge.op(b"}(");
        pairs(
            &mut forge,
            &[
                ("device", 0),
                ("address", segment.address),
                ("total_size", segment.size),
                ("stream", snapshot.streams[segment.stream as usize]),
            ],
        );
        forge.text("segment_type");
        forge.text(if segment.is_small { "small" } else { "large" });
        forge.text("is_expandable");
        forge.op(if segment.is_expandable { b"\x88" } else { b"\x89" });
        forge.text("blocks");
        forge.op(b"](");
        for block in &segment.blocks {
            forge.op(b"}(");
            pairs(&mut forge, &[("address", block.address), ("size", block.size), ("requested_size", block.requested)]);
            forge.text("state");
            forge.text(match block.state {
                BlockState::Allocated => "active_allocated",
                BlockState::Pending => "active_pending_free",
                BlockState::Inactive => "inactive",
            });
            forge.op(b"u");
        }
        forge.op(b"eu");
    }
    forge.op(b"e");
    forge.text("device_traces");
    forge.op(b"](](");
    for (idx, event) in snapshot.traces[0].iter().enumerate() {
        if idx > 0 && idx % 1000 == 0 {
            forge.op(b"e(");
        }
        event_of(&mut forge, snapshot, event);
    }
    forge.op(b"eeu.");
    forge.bytes
}

fn pairs(forge: &mut Forge, all: &[(&str, u64)]) {
    for (key, value) in all {
        forge.text(key);
        forge.int(*value);
    }
}

fn event_of(forge: &mut Forge, snapshot: &Snapshot, event: &Event) {
    forge.op(b"}(");
    forge.text("action");
    forge.text(match event.action {
        Action::Alloc => "alloc",
        Action::FreeRequested => "free_requested",
        Action::FreeCompleted => "free_completed",
        Action::SegmentAlloc => "segment_alloc",
        Action::SegmentFree => "segment_free",
        Action::SegmentMap => "segment_map",
        Action::SegmentUnmap => "segment_unmap",
        Action::Oom => "oom",
        _ => "snapshot",
    });
    let stream = snapshot.streams[event.stream as usize];
    pairs(
        forge,
        &[
            (if event.action == Action::Oom { "device_free" } else { "addr" }, event.address),
            ("size", event.size),
            ("stream", stream),
            ("time_us", event.time_us),
        ],
    );
    forge.op(b"u");
}
