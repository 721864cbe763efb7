//! The pasted text of an out-of-memory error: its cause, its numbers, what to do first.

use crate::cli::layout::{COLUMNS, labelled, plain, wrap};
use crate::cli::say::{Ink, Say};
use serde_json::json;
use vramlab_snapshot::message::{Message, read};

/// Columns of a label.
const LABELS: usize = 11;

/// The error in a file, if it is a text that holds one with its numbers.
pub fn of(bytes: &[u8]) -> Option<Message> {
    std::str::from_utf8(bytes).ok().and_then(read)
}

pub fn tell(message: &Message, name: &str, say: &Say) {
    if say.is_json {
        let evidence = message.evidence();
        say.json(&json!({
            "schema": super::data::SCHEMA,
            "file": name,
            "cause": message.cause().id(),
            "is_close": message.is_close(),
            "limit_of_process": message.is_capped(),
            "request_bytes": evidence.request,
            "device_free_bytes": message.device_free.bytes,
            "left_bytes": evidence.device_free,
            "allocated_bytes": message.allocated.bytes,
            "reserved_bytes": evidence.reserved,
            "inactive_bytes": evidence.inactive,
            "told": message.told().into_iter().map(|(_, text)| text).collect::<Vec<_>>(),
        }));
        return;
    }
    say.data(&say.ink(Ink::Strong, &plain(&wrap(name, COLUMNS, ""))));
    say.data("");
    lines(message, say);
}

/// Cause, numbers, what to do first.
pub fn lines(message: &Message, say: &Say) {
    for (title, text) in message.told() {
        say.data(&format!("  {}", labelled(2, say.text(title), LABELS, text.get(say.lang))));
    }
}
