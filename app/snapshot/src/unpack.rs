//! Compressed files, by their magic: gzip and Zstandard, bounded.

use std::io::Read as _;

/// A file that does not unpack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    #[error("the {kind} stream is damaged after {n_bytes} bytes: {why}")]
    Damaged { kind: &'static str, n_bytes: usize, why: String },
    #[error("the file unpacks to more than {limit} bytes")]
    TooLarge { limit: usize },
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// No gzip stream unpacks to more than this times its size. A size that the file tells is believed up to here.
const MOST_RATIO: usize = 1032;

/// The plain bytes, if `bytes` are compressed.
pub fn unpack(bytes: &[u8], limit: usize) -> Result<Option<Vec<u8>>, UnpackError> {
    if bytes.starts_with(GZIP) {
        // The last four bytes say how long the last member is, which is the whole of most files.
        let said = bytes.last_chunk::<4>().map_or(0, |said| u32::from_le_bytes(*said) as usize);
        let hint = said.min(bytes.len().saturating_mul(MOST_RATIO));
        return take(flate2::read::MultiGzDecoder::new(bytes), limit, "gzip", hint).map(Some);
    }
    if bytes.starts_with(ZSTD) {
        let damaged = |why: String| UnpackError::Damaged { kind: "zstd", n_bytes: 0, why };
        let reader = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| damaged(error.to_string()))?;
        let said = usize::try_from(reader.decoder.content_size()).unwrap_or(0);
        return take(reader, limit, "zstd", said.min(bytes.len().saturating_mul(MOST_RATIO))).map(Some);
    }
    Ok(None)
}

fn take(mut reader: impl std::io::Read, limit: usize, kind: &'static str, hint: usize) -> Result<Vec<u8>, UnpackError> {
    let mut out = Vec::with_capacity(hint.min(limit) + 1);
    loop {
        // By halves, and never beyond the limit: a table that doubles is copied at its largest.
        if out.len() == out.capacity() {
            let more = (out.len() / 2).max(1 << 20).min(limit + 1 - out.len());
            out.reserve_exact(more);
        }
        let room = (out.capacity() - out.len()) as u64;
        let read = reader.by_ref().take(room).read_to_end(&mut out);
        if out.len() > limit {
            return Err(UnpackError::TooLarge { limit });
        }
        match read {
            Ok(0) => return Ok(out),
            Ok(_) => {}
            Err(error) => return Err(UnpackError::Damaged { kind, n_bytes: out.len(), why: error.to_string() }),
        }
    }
}

/// The first `n` bytes that a compressed file unpacks to, for telling what it is; `None` if it is not compressed.
pub fn unpacked_head(bytes: &[u8], n: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    // A stream that is cut or damaged still has a beginning.
    let _cut = if bytes.starts_with(GZIP) {
        flate2::read::MultiGzDecoder::new(bytes).take(n as u64).read_to_end(&mut out).is_err()
    } else if bytes.starts_with(ZSTD) {
        ruzstd::decoding::StreamingDecoder::new(bytes).ok()?.take(n as u64).read_to_end(&mut out).is_err()
    } else {
        return None;
    };
    Some(out)
}
