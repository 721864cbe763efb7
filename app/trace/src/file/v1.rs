//! Version 1 of the format: blocks, both ways. Frozen once recordings exist; a change is a `v2.rs`.
//!
//! A block's content is JSON; a block of points appends their samples as 64-bit floats, byte plane by byte plane, so
//! that they come back bit for bit and still pack well. Packed blocks are zstd frames.

use super::problem::{Damage, TraceProblem};
use super::{ReadTrace, TraceError};
use crate::{Point, Run};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read as _;
use vramlab_units::{Map, Value};

const MARK: [u8; 4] = *b"VLBK";
const HEAD_BYTES: usize = 24;
const KIND_RUN: u8 = 1;
const KIND_POINTS: u8 = 2;
const KIND_END: u8 = 3;
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// A block of points is closed at this many points or bytes of JSON.
const POINTS_PER_BLOCK: usize = 16;
const JSON_PER_BLOCK: usize = 16 << 10;
/// Largest content of a block once unpacked, and of all blocks together.
const MAX_BLOCK: usize = 8 << 20;
const MAX_TOTAL: usize = 64 << 20;
const MAX_WINDOW: u64 = 8 << 20;

/// A point without its samples, which stand behind the JSON of the block.
#[derive(Serialize, Deserialize)]
struct Slim {
    n_samples: usize,
    /// Values a reading, in the order of the names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    n_readings: BTreeMap<String, usize>,
    point: Point,
}

#[derive(Serialize, Deserialize)]
struct PointsBlock {
    /// Index of the first point.
    first: usize,
    points: Vec<Slim>,
}

pub fn begins_with_mark(bytes: &[u8]) -> bool {
    bytes.starts_with(&MARK)
}

pub fn write(run: &Run, out: &mut Vec<u8>) {
    let description = describe(run);
    let mut number: u16 = 0;
    let mut put = |kind: u8, content: &[u8]| {
        put_block(out, kind, number, content);
        number = number.saturating_add(1);
    };
    put(KIND_RUN, &description);
    let mut first = 0;
    while first < run.points.len() {
        let (content, n_points) = pack_points(&run.points, first);
        put(KIND_POINTS, &content);
        first += n_points;
    }
    put(KIND_END, &description);
}

/// Everything of the run but its points.
fn describe(run: &Run) -> Vec<u8> {
    let bare = Run { points: Vec::new(), ..run.clone() };
    let mut value = serde_json::to_value(bare).unwrap_or_default();
    if let Value::Object(map) = &mut value {
        map.insert("n_points".to_owned(), run.points.len().into());
    }
    value.to_string().into_bytes()
}

fn pack_points(points: &[Point], first: usize) -> (Vec<u8>, usize) {
    let mut block = PointsBlock { first, points: Vec::new() };
    let mut samples: Vec<f64> = Vec::new();
    let mut n_json = 0;
    for point in points[first..].iter().take(POINTS_PER_BLOCK) {
        let slim = slim(point);
        n_json += serde_json::to_string(&slim).map_or(0, |text| text.len());
        if n_json > JSON_PER_BLOCK && !block.points.is_empty() {
            break;
        }
        samples.extend(&point.samples_ns);
        samples.extend(point.readings.values().flatten());
        block.points.push(slim);
    }
    let json = serde_json::to_vec(&block).unwrap_or_default();
    let mut content = (json.len() as u32).to_le_bytes().to_vec();
    content.extend(json);
    for plane in 0..8 {
        content.extend(samples.iter().map(|sample| sample.to_le_bytes()[plane]));
    }
    (content, block.points.len())
}

fn slim(point: &Point) -> Slim {
    Slim {
        n_samples: point.samples_ns.len(),
        n_readings: point.readings.iter().map(|(name, values)| (name.clone(), values.len())).collect(),
        point: Point {
            samples_ns: Vec::new(),
            readings: BTreeMap::new(),
            // JSON has no NaN; a counter without a value was not read.
            counters: point
                .counters
                .iter()
                .filter(|(_, value)| value.is_finite())
                .map(|(k, v)| (k.clone(), *v))
                .collect(),
            ..point.clone()
        },
    }
}

fn put_block(out: &mut Vec<u8>, kind: u8, number: u16, content: &[u8]) {
    let packed = compress_to_vec(content, CompressionLevel::Fastest);
    let (codec, stored) = if packed.len() < content.len() { (ZSTD, packed.as_slice()) } else { (PLAIN, content) };
    let start = out.len();
    out.extend(MARK);
    out.extend([kind, codec]);
    out.extend(number.to_le_bytes());
    out.extend((stored.len() as u32).to_le_bytes());
    out.extend((content.len() as u32).to_le_bytes());
    out.extend(crc32fast::hash(stored).to_le_bytes());
    let head_crc = crc32fast::hash(&out[start..]);
    out.extend(head_crc.to_le_bytes());
    out.extend(stored);
}

/// The head of a block.
struct Head {
    kind: u8,
    codec: u8,
    number: usize,
    n_stored: usize,
    n_plain: usize,
    crc: u32,
}

impl Head {
    /// Nothing if the bytes are not a whole head with its checksum.
    fn at(bytes: &[u8]) -> Option<Self> {
        let head = bytes.get(..HEAD_BYTES)?;
        let u32_at = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let is_sound = begins_with_mark(head) && u32_at(20) == crc32fast::hash(&head[..20]);
        is_sound.then(|| Self {
            kind: head[4],
            codec: head[5],
            number: usize::from(u16::from_le_bytes([head[6], head[7]])),
            n_stored: u32_at(8) as usize,
            n_plain: u32_at(12) as usize,
            crc: u32_at(16),
        })
    }
}

pub fn read(bytes: &[u8], problems: Vec<TraceProblem>) -> Result<ReadTrace, TraceError> {
    let mut reader = Reader { problems, ..Reader::default() };
    reader.blocks(bytes);
    reader.finish()
}

#[derive(Default)]
struct Reader {
    problems: Vec<TraceProblem>,
    run: Option<Run>,
    n_points: Option<usize>,
    points: BTreeMap<usize, Point>,
    /// Number of the block that should come next.
    next_number: usize,
    n_unpacked: usize,
    has_end: bool,
}

impl Reader {
    fn blocks(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() && !self.has_end {
            let Some(head) = Head::at(&bytes[at..]) else {
                let Some(next) = next_head(bytes, at + 1) else { break };
                at = next;
                continue;
            };
            let start = at + HEAD_BYTES;
            let Some(stored) = bytes.get(start..start.saturating_add(head.n_stored)) else { break };
            self.missed_until(head.number);
            self.next_number = head.number + 1;
            self.has_end |= head.kind == KIND_END;
            if let Err(why) = self.block(&head, stored) {
                self.problems.push(TraceProblem::BadBlock { number: head.number, why });
            }
            at = start + head.n_stored;
        }
    }

    /// Blocks whose head was damaged show as a gap in the numbers.
    fn missed_until(&mut self, number: usize) {
        // A crafted number must not fill the list.
        for number in self.next_number..number.min(self.next_number + 8) {
            self.problems.push(TraceProblem::BadBlock { number, why: Damage::Checksum });
        }
    }

    fn block(&mut self, head: &Head, stored: &[u8]) -> Result<(), Damage> {
        if crc32fast::hash(stored) != head.crc {
            return Err(Damage::Checksum);
        }
        let content = self.unpack(head, stored)?;
        match head.kind {
            KIND_RUN | KIND_END => self.description(&content),
            KIND_POINTS => self.points(&content),
            _ => Err(Damage::Content),
        }
    }

    fn unpack(&mut self, head: &Head, stored: &[u8]) -> Result<Vec<u8>, Damage> {
        if head.n_plain > MAX_BLOCK || self.n_unpacked + head.n_plain > MAX_TOTAL {
            return Err(Damage::Packing);
        }
        self.n_unpacked += head.n_plain;
        let content = match head.codec {
            PLAIN => stored.to_vec(),
            ZSTD => unzstd(stored, head.n_plain).ok_or(Damage::Packing)?,
            _ => return Err(Damage::Content),
        };
        if content.len() == head.n_plain { Ok(content) } else { Err(Damage::Packing) }
    }

    fn description(&mut self, content: &[u8]) -> Result<(), Damage> {
        let mut map: Map = serde_json::from_slice(content).map_err(|_| Damage::Content)?;
        let n_points = map.shift_remove("n_points").and_then(|n| n.as_u64()).ok_or(Damage::Content)?;
        map.insert("points".to_owned(), Value::Array(Vec::new()));
        let run: Run = serde_json::from_value(Value::Object(map)).map_err(|_| Damage::Content)?;
        self.n_points = self.n_points.or(Some(n_points as usize));
        self.run.get_or_insert(run);
        Ok(())
    }

    fn points(&mut self, content: &[u8]) -> Result<(), Damage> {
        let (length, rest) = content.split_first_chunk::<4>().ok_or(Damage::Content)?;
        let (json, planes) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(Damage::Content)?;
        let block: PointsBlock = serde_json::from_slice(json).map_err(|_| Damage::Content)?;
        let mut samples = unshuffle(planes).into_iter();
        let mut take = |n: usize| -> Result<Vec<f64>, Damage> {
            let taken: Vec<f64> = samples.by_ref().take(n).collect();
            if taken.len() == n { Ok(taken) } else { Err(Damage::Content) }
        };
        for (at, slim) in block.points.into_iter().enumerate() {
            let mut point = slim.point;
            point.samples_ns = take(slim.n_samples)?;
            for (name, n) in slim.n_readings {
                point.readings.insert(name, take(n)?);
            }
            let idx = block.first.saturating_add(at);
            self.leave_out_odd(idx, &mut point);
            self.points.insert(idx, point);
        }
        Ok(())
    }

    /// Durations that are zero, negative or no number are counted and left out.
    fn leave_out_odd(&mut self, idx: usize, point: &mut Point) {
        let n_before = point.samples_ns.len();
        point.samples_ns.retain(|sample| sample.is_finite() && *sample > 0.0);
        let n_left_out = n_before - point.samples_ns.len();
        if n_left_out > 0 {
            self.problems.push(TraceProblem::OddSamples { series: point.series.clone(), point: idx, n_left_out });
        }
    }

    fn finish(mut self) -> Result<ReadTrace, TraceError> {
        let n_read = self.points.len();
        if !self.has_end {
            self.problems.push(TraceProblem::EndsEarly { n_read, n_points: self.n_points });
        }
        let (Some(mut run), Some(n_points)) = (self.run, self.n_points) else {
            return Err(TraceError::NoDescription { problems: self.problems });
        };
        run.points = self.points.into_values().collect();
        Ok(ReadTrace { run, version: 1, n_points, problems: self.problems })
    }
}

fn next_head(bytes: &[u8], from: usize) -> Option<usize> {
    let is_mark = |at: &usize| bytes[*at..].starts_with(&MARK) && Head::at(&bytes[*at..]).is_some();
    (from..bytes.len()).find(is_mark)
}

/// Unpacks one frame that says it holds `n_plain` bytes; nothing if it holds more, or wants a window over the cap.
fn unzstd(stored: &[u8], n_plain: usize) -> Option<Vec<u8>> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(MAX_WINDOW);
    let mut out = Vec::new();
    let stream = StreamingDecoder::new_with_decoder(stored, decoder).ok()?;
    stream.take(n_plain as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() <= n_plain).then_some(out)
}

fn unshuffle(planes: &[u8]) -> Vec<f64> {
    let n = planes.len() / 8;
    (0..n).map(|i| f64::from_le_bytes(std::array::from_fn(|plane| planes[plane * n + i]))).collect()
}
