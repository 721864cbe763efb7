//! Bytes that must come back as they were: LZ4 blocks, and the split that lets a codec see what repeats.
//!
//! LZ4 has no entropy stage: it finds repeats of four bytes and more, and nothing else. Splitting numbers into streams of
//! their first bytes, their second bytes and so on puts the bytes that repeat next to each other.
//! Source: LZ4 block format description (lz4.org); byte shuffle as Blosc and HDF5 have it. The encoder is the crate lz4_flex.

use crate::Problem;

/// Most bytes that are taken or given.
pub const MAX_BYTES: usize = 1 << 30;

/// An LZ4 block; its plain size is not in it.
pub fn lz4_encode(bytes: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress(bytes)
}

/// The `n_bytes` that a block holds.
pub fn lz4_decode(block: &[u8], n_bytes: usize) -> Result<Vec<u8>, Problem> {
    // A block cannot grow by more than 255 a byte: sizes that lie are refused before memory is taken for them.
    let most = block.len().saturating_mul(255).min(MAX_BYTES);
    if n_bytes > most {
        let en = format!("a block of {} bytes cannot hold {n_bytes}", block.len());
        return Err(Problem::new("bytes", format!("{} 字节的块里不可能有 {n_bytes} 字节", block.len()), en));
    }
    let damaged =
        |why: String| Problem::new("bytes", format!("LZ4 块坏了：{why}"), format!("the LZ4 block is damaged: {why}"));
    let out = lz4_flex::block::decompress(block, n_bytes).map_err(|error| damaged(error.to_string()))?;
    if out.len() == n_bytes { Ok(out) } else { Err(damaged(format!("{} bytes and not {n_bytes}", out.len()))) }
}

/// First bytes of all numbers, then their second bytes, and so on; a rest shorter than a number stays at the end.
pub fn shuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    let width = width.max(1);
    let whole = bytes.len() / width * width;
    let lanes = (0..width).flat_map(|lane| bytes[..whole].iter().skip(lane).step_by(width));
    lanes.chain(&bytes[whole..]).copied().collect()
}

/// The way back.
pub fn unshuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    let width = width.max(1);
    let n = bytes.len() / width;
    let values = (0..n).flat_map(|idx| (0..width).map(move |lane| bytes[lane * n + idx]));
    values.chain(bytes[n * width..].iter().copied()).collect()
}

/// Plain over packed size; none of nothing.
pub fn ratio(plain: usize, packed: usize) -> Option<f64> {
    (plain > 0 && packed > 0).then(|| plain as f64 / packed as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::float::BF16;

    #[test]
    fn bytes_come_back() {
        let mut random = Random::new(2);
        for n in [0, 1, 2, 3, 7, 64, 1000, 65_537] {
            for is_random in [true, false] {
                let bytes: Vec<u8> =
                    (0..n).map(|at| if is_random { random.word() as u8 } else { (at / 9) as u8 }).collect();
                for width in [1, 2, 4, 8] {
                    assert_eq!(unshuffle(&shuffle(&bytes, width), width), bytes, "{n} {width}");
                }
                assert_eq!(lz4_decode(&lz4_encode(&bytes), n).unwrap(), bytes, "{n}");
            }
        }
        assert_eq!(shuffle(&[1, 2, 3, 4, 5, 6, 7], 2), [1, 3, 5, 2, 4, 6, 7]);
    }

    /// A block by hand from the format's description: token 0x14 (one literal, a match of eight), offset 1, then the last literals.
    #[test]
    fn a_block_by_hand() {
        let block = [0x14, b'a', 1, 0, 0x50, b'b', b'c', b'd', b'e', b'f'];
        assert_eq!(lz4_decode(&block, 14).unwrap(), b"aaaaaaaaabcdef");
    }

    #[test]
    fn damaged_blocks_are_refused() {
        let block = lz4_encode(&[7; 4096]);
        assert!(lz4_decode(&block, 4095).is_err() && lz4_decode(&block, 5000).is_err());
        assert!(lz4_decode(&block, 1 << 40).is_err() && lz4_decode(&[], 1).is_err());
        let mut random = Random::new(4);
        for _ in 0..2_000 {
            let mut bad = block.clone();
            bad.truncate(1 + random.word() as usize % bad.len());
            let at = random.word() as usize % bad.len();
            bad[at] = random.word() as u8;
            // It may decode to other bytes, but it ends.
            let _: Result<_, _> = lz4_decode(&bad, 4096);
        }
    }

    /// Brief 25: normal bf16 values grow by a hair in LZ4, and shrink once their high bytes lie together (0.996 and 1.188 there).
    #[test]
    fn splitting_lets_lz4_see() {
        let mut random = Random::new(6);
        let values = (0..1 << 20).map(|_| BF16.encode(0.02 * random.normal(), false) as u16);
        let bytes: Vec<u8> = values.flat_map(u16::to_le_bytes).collect();
        let of = |bytes: &[u8]| ratio(bytes.len(), lz4_encode(bytes).len()).unwrap();
        let (plain, split) = (of(&bytes), of(&shuffle(&bytes, 2)));
        assert!((0.994..1.0).contains(&plain), "{plain}");
        assert!((1.12..1.25).contains(&split), "{split}");
    }
}
