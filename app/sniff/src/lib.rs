//! What a file is, by its content and never by its name: the beginning of it is enough.
//!
//! Read `kind.rs` first: the kinds, their names, and what is told about each. [`sniff`] asks the readers of `magic.rs`
//! (binary starts), `zip.rs` (listings), `pickle.rs` (opcodes, nothing is run), `json.rs`, `tensors.rs` (safetensors and
//! GGUF headers) and `text.rs` in turn. Nothing here unpacks, executes or allocates by a length that a file states.

mod json;
mod kind;
mod magic;
mod pickle;
mod tensors;
mod text;
mod zip;

pub use kind::{Fact, Kind, Sniffed};

/// How much of a file is enough to tell what it is; the desktop reads no more of large ones.
pub const HEAD_BYTES: usize = 4 << 20;

/// The beginning of a file, and how long the whole is.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    pub bytes: &'a [u8],
    pub n_bytes: u64,
}

impl<'a> Head<'a> {
    /// A file that is here whole.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, n_bytes: bytes.len() as u64 }
    }

    pub fn is_whole(&self) -> bool {
        self.bytes.len() as u64 >= self.n_bytes
    }
}

/// Recognises a file.
pub fn sniff(head: Head<'_>) -> Sniffed {
    if head.bytes.is_empty() {
        return Sniffed::plain(Kind::Empty);
    }
    magic::sniff(head)
        .or_else(|| zip::sniff(head))
        .or_else(|| tensors::sniff(head))
        .or_else(|| pickle::sniff(head))
        .or_else(|| text::sniff(head))
        .unwrap_or_else(|| Sniffed::plain(Kind::Binary))
}
