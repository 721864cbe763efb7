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

/// The plain bytes, if `bytes` are compressed.
pub fn unpack(bytes: &[u8], limit: usize) -> Result<Option<Vec<u8>>, UnpackError> {
    if bytes.starts_with(GZIP) {
        return take(flate2::read::MultiGzDecoder::new(bytes), limit, "gzip").map(Some);
    }
    if bytes.starts_with(ZSTD) {
        let damaged = |why: String| UnpackError::Damaged { kind: "zstd", n_bytes: 0, why };
        let reader = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| damaged(error.to_string()))?;
        return take(reader, limit, "zstd").map(Some);
    }
    Ok(None)
}

fn take(reader: impl std::io::Read, limit: usize, kind: &'static str) -> Result<Vec<u8>, UnpackError> {
    let mut out = Vec::new();
    let read = reader.take(limit as u64 + 1).read_to_end(&mut out);
    if out.len() > limit {
        return Err(UnpackError::TooLarge { limit });
    }
    match read {
        Ok(_) => Ok(out),
        Err(error) => Err(UnpackError::Damaged { kind, n_bytes: out.len(), why: error.to_string() }),
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
