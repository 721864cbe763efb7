//! One trace of allocations for every engine: requests, frees, and what orders them.
//!
//! As text, one event a word (spaces, commas, semicolons or new lines between them):
//!
//! | word | event |
//! | --- | --- |
//! | `a:9M`, `a:9M@1` | a request of 9 MiB called `a`, on stream 0, on stream 1; K, M, G are powers of 1024, no letter is bytes |
//! | `-a`, `-a@1` | `a` is freed, on its own stream, on stream 1 |
//! | `a>1` | stream 1 uses `a` too (`record_stream`) |
//! | `1<0` | stream 1 waits for the work of stream 0 |
//! | `sync` | the host waits for all streams |
//! | `empty` | `empty_cache` |
//! | `capture:1@0`, `end@0`, `destroy:1` | a graph with private pool 1 is captured on stream 0; the capture ends; the graph is destroyed |
//!
//! [`Builder`] is the only way to a [`Trace`], so that one which exists is valid: every freed name was requested and not
//! freed before, no name is requested twice, sizes are below 2^60. `generate.rs` makes seeded traces.

use std::collections::HashMap;

/// Requests must stay below this.
pub const MOST_BYTES: u64 = 1 << 60;
/// Streams and private pools are numbered below this.
pub const MOST_STREAMS: u32 = 1024;
const MOST_EVENTS: usize = 4_000_000;

/// One event. `id` is the number of the request: 0 for the first of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Malloc {
        id: u32,
        bytes: u64,
        stream: u32,
    },
    /// `stream` is where the free stands in a stream's order; engines without stream order ignore it.
    Free {
        id: u32,
        stream: u32,
    },
    /// Another stream uses the block too.
    Use {
        id: u32,
        stream: u32,
    },
    /// `stream` waits for what `on` was given so far.
    Wait {
        stream: u32,
        on: u32,
    },
    /// The host waits for every stream.
    Sync,
    EmptyCache,
    BeginCapture {
        stream: u32,
        pool: u32,
    },
    EndCapture {
        stream: u32,
    },
    DestroyGraph {
        pool: u32,
    },
}

/// What is wrong with an event, and which one, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {event} ({word}): {reason}")]
pub struct TraceError {
    pub event: usize,
    pub word: String,
    pub reason: String,
}

/// A valid trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    events: Vec<Event>,
    names: Vec<String>,
}

impl Trace {
    /// Reads the words described above.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut builder = Builder::default();
        for word in text.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|word| !word.is_empty()) {
            builder.word(word)?;
        }
        Ok(builder.finish())
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn n_requests(&self) -> usize {
        self.names.len()
    }

    /// The name of a request.
    pub fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", String::as_str)
    }

    /// The words that [`Self::parse`] reads.
    pub fn to_text(&self) -> String {
        let words: Vec<String> = self.events.iter().map(|event| self.word(event)).collect();
        words.join(" ")
    }

    fn word(&self, event: &Event) -> String {
        let on = |stream: u32| if stream == 0 { String::new() } else { format!("@{stream}") };
        match *event {
            Event::Malloc { id, bytes, stream } => format!("{}:{bytes}{}", self.name(id), on(stream)),
            Event::Free { id, stream } => format!("-{}@{stream}", self.name(id)),
            Event::Use { id, stream } => format!("{}>{stream}", self.name(id)),
            Event::Wait { stream, on } => format!("{stream}<{on}"),
            Event::Sync => "sync".to_owned(),
            Event::EmptyCache => "empty".to_owned(),
            Event::BeginCapture { stream, pool } => format!("capture:{pool}@{stream}"),
            Event::EndCapture { stream } => format!("end@{stream}"),
            Event::DestroyGraph { pool } => format!("destroy:{pool}"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Request {
    stream: u32,
    is_live: bool,
}

/// Takes events one by one and refuses what cannot be.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    trace: Trace,
    ids: HashMap<String, u32>,
    requests: Vec<Request>,
    /// Captured streams with their private pools.
    captures: Vec<(u32, u32)>,
    destroyed: Vec<u32>,
}

impl Builder {
    /// A request called `name`. Signed, so that a negative size is refused by its value.
    pub fn malloc(&mut self, name: &str, bytes: i128, stream: u32) -> Result<u32, TraceError> {
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word || ["capture", "destroy"].contains(&name) {
            return Err(self.bad(name, "a name is of letters, digits and _, and neither capture nor destroy"));
        }
        let size = u64::try_from(bytes).ok().filter(|bytes| *bytes < MOST_BYTES);
        let Some(size) = size else {
            return Err(self.bad(name, &format!("bytes = {bytes} is not allowed; it must be from 0 to 2^60 - 1")));
        };
        self.check_stream(name, stream)?;
        if self.ids.contains_key(name) {
            return Err(self.bad(name, "reused name: it was requested before; give every request a name of its own"));
        }
        let id = self.requests.len() as u32;
        self.push(name, Event::Malloc { id, bytes: size, stream })?;
        self.ids.insert(name.to_owned(), id);
        self.trace.names.push(name.to_owned());
        self.requests.push(Request { stream, is_live: true });
        Ok(id)
    }

    /// Frees `name`; on the stream of the request where none is given.
    pub fn free(&mut self, name: &str, stream: Option<u32>) -> Result<(), TraceError> {
        let id = self.live(name)?;
        let stream = stream.unwrap_or(self.requests[id as usize].stream);
        self.check_stream(name, stream)?;
        self.push(name, Event::Free { id, stream })?;
        self.requests[id as usize].is_live = false;
        Ok(())
    }

    /// Another stream uses `name` too.
    pub fn used_by(&mut self, name: &str, stream: u32) -> Result<(), TraceError> {
        let id = self.live(name)?;
        self.check_stream(name, stream)?;
        self.push(name, Event::Use { id, stream })
    }

    /// An event about no request: order between streams, the cache, captures.
    pub fn other(&mut self, event: Event) -> Result<(), TraceError> {
        let word = self.trace.word(&event);
        match event {
            Event::Malloc { .. } | Event::Free { .. } | Event::Use { .. } => {
                return Err(self.bad(&word, "events of a request are added by name"));
            }
            Event::Wait { stream, on } => {
                self.check_stream(&word, stream)?;
                self.check_stream(&word, on)?;
            }
            Event::BeginCapture { stream, pool } => self.begin_capture(&word, stream, pool)?,
            Event::EndCapture { stream } => {
                let n_before = self.captures.len();
                self.captures.retain(|(captured, _)| *captured != stream);
                if self.captures.len() == n_before {
                    return Err(self.bad(&word, "no graph is being captured on this stream"));
                }
            }
            Event::DestroyGraph { pool } => {
                self.check_pool(&word, pool)?;
                if self.captures.iter().any(|(_, captured)| *captured == pool) {
                    return Err(self.bad(&word, "this graph is still being captured"));
                }
                self.destroyed.push(pool);
            }
            Event::Sync | Event::EmptyCache if !self.captures.is_empty() => {
                return Err(self.bad(&word, "not while a graph is being captured"));
            }
            Event::Sync | Event::EmptyCache => {}
        }
        self.push(&word, event)
    }

    pub fn finish(self) -> Trace {
        self.trace
    }

    fn begin_capture(&mut self, word: &str, stream: u32, pool: u32) -> Result<(), TraceError> {
        self.check_stream(word, stream)?;
        self.check_pool(word, pool)?;
        if self.captures.iter().any(|(captured, _)| *captured == stream) {
            return Err(self.bad(word, "a graph is already being captured on this stream"));
        }
        if self.destroyed.contains(&pool) {
            return Err(self.bad(word, "this graph was destroyed before; give the next one another pool"));
        }
        self.captures.push((stream, pool));
        Ok(())
    }

    fn check_stream(&self, word: &str, stream: u32) -> Result<(), TraceError> {
        let reason = format!("stream = {stream} is not allowed; it must be from 0 to {}", MOST_STREAMS - 1);
        (stream < MOST_STREAMS).then_some(()).ok_or_else(|| self.bad(word, &reason))
    }

    fn check_pool(&self, word: &str, pool: u32) -> Result<(), TraceError> {
        let reason = format!("pool = {pool} is not allowed; private pools are 1 to {}", MOST_STREAMS - 1);
        (1..MOST_STREAMS).contains(&pool).then_some(()).ok_or_else(|| self.bad(word, &reason))
    }

    fn live(&self, name: &str) -> Result<u32, TraceError> {
        let Some(id) = self.ids.get(name) else {
            return Err(self.bad(name, "unknown name: it was never requested"));
        };
        if self.requests[*id as usize].is_live {
            Ok(*id)
        } else {
            Err(self.bad(name, "double free: it was freed before"))
        }
    }

    fn push(&mut self, word: &str, event: Event) -> Result<(), TraceError> {
        if self.trace.events.len() >= MOST_EVENTS {
            return Err(self.bad(word, &format!("a trace has at most {MOST_EVENTS} events")));
        }
        self.trace.events.push(event);
        Ok(())
    }

    fn bad(&self, word: &str, reason: &str) -> TraceError {
        TraceError { event: self.trace.events.len(), word: word.to_owned(), reason: reason.to_owned() }
    }

    /// One word of the text.
    fn word(&mut self, word: &str) -> Result<(), TraceError> {
        let (head, stream) = match word.split_once('@') {
            Some((head, stream)) => (head, Some(self.number(word, stream, "a stream, as in a:9M@1")?)),
            None => (word, None),
        };
        if let Some(name) = head.strip_prefix('-') {
            return self.free(name, stream);
        }
        if let Some((name, size)) = head.split_once(':') {
            return self.sized(word, name, size, stream.unwrap_or(0));
        }
        if let Some((name, user)) = head.split_once('>') {
            let user = self.number(word, user, "a stream, as in a>1")?;
            return self.used_by(name, user);
        }
        if let Some((waits, on)) = head.split_once('<') {
            let stream = self.number(word, waits, "a stream, as in 1<0")?;
            let on = self.number(word, on, "a stream, as in 1<0")?;
            return self.other(Event::Wait { stream, on });
        }
        match head {
            "sync" => self.other(Event::Sync),
            "empty" => self.other(Event::EmptyCache),
            "end" => self.other(Event::EndCapture { stream: stream.unwrap_or(0) }),
            _ => {
                Err(self.bad(word, "it must be NAME:SIZE, -NAME, NAME>STREAM, STREAM<STREAM, sync, empty or a capture"))
            }
        }
    }

    /// A word with a colon: a request, or a graph by its pool.
    fn sized(&mut self, word: &str, name: &str, size: &str, stream: u32) -> Result<(), TraceError> {
        match name {
            "capture" => {
                let pool = self.number(word, size, "a private pool, as in capture:1@0")?;
                self.other(Event::BeginCapture { stream, pool })
            }
            "destroy" => {
                let pool = self.number(word, size, "a private pool, as in destroy:1")?;
                self.other(Event::DestroyGraph { pool })
            }
            _ => {
                let reason = || format!("{size} is no size; write 512, 9M or 1.5G");
                let bytes = size_of(size).ok_or_else(|| self.bad(word, &reason()))?;
                self.malloc(name, bytes, stream).map(|_| ())
            }
        }
    }

    fn number(&self, word: &str, text: &str, legal: &str) -> Result<u32, TraceError> {
        text.parse().map_err(|_| self.bad(word, &format!("{text} is no number; {legal}")))
    }
}

/// Bytes of `512`, `9M`, `1.5G`, `-1`; nothing if that is no whole number of bytes.
pub fn size_of(text: &str) -> Option<i128> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'K' | 'k') => (&text[..at], 1 << 10),
        (at, 'M' | 'm') => (&text[..at], 1 << 20),
        (at, 'G' | 'g') => (&text[..at], 1 << 30),
        _ => (text, 1_i128),
    };
    let Some((whole, fraction)) = digits.split_once('.') else {
        return digits.parse::<i64>().ok().map(|n| i128::from(n) * unit).or_else(|| huge(digits));
    };
    let is_digits = |part: &str| !part.is_empty() && part.len() <= 9 && part.bytes().all(|c| c.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let power = 10_i128.pow(fraction.len() as u32);
    let scaled = (whole.parse::<i128>().ok()? * power + fraction.parse::<i128>().ok()?) * unit;
    (scaled % power == 0).then_some(scaled / power)
}

/// A number too long for 64 bits is still refused by its range and not by its spelling.
fn huge(digits: &str) -> Option<i128> {
    let is_digits = digits.bytes().all(|c| c.is_ascii_digit());
    (is_digits && !digits.is_empty()).then_some(i128::from(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> TraceError {
        Trace::parse(text).unwrap_err()
    }

    #[test]
    fn every_word_is_read_and_written_back() {
        let text = "a:9M, b:1.5M@1; a>1 1<0 -a@0 sync empty\n capture:1@0 c:0 end@0 destroy:1 -b@1 -c@0";
        let trace = Trace::parse(text).unwrap();
        assert_eq!(trace.events()[0], Event::Malloc { id: 0, bytes: 9 << 20, stream: 0 });
        assert_eq!(trace.events()[1], Event::Malloc { id: 1, bytes: 3 << 19, stream: 1 });
        assert_eq!(trace.events()[2], Event::Use { id: 0, stream: 1 });
        assert_eq!(trace.events()[3], Event::Wait { stream: 1, on: 0 });
        assert_eq!(trace.events().len(), 13);
        assert_eq!(Trace::parse(&trace.to_text()).unwrap(), trace);
    }

    #[test]
    fn a_free_stands_on_the_stream_of_its_request() {
        assert_eq!(Trace::parse("a:1@3 -a").unwrap().events()[1], Event::Free { id: 0, stream: 3 });
    }

    /// What both chapters call invalid.
    #[test]
    fn what_cannot_be_is_refused_with_its_event() {
        for (text, event, says) in [
            ("a:1 -b", 1, "unknown name"),
            ("a:1 -a -a", 2, "double free"),
            ("a:1 -a a:1", 2, "reused name"),
            ("a:-1", 0, "bytes = -1 is not allowed"),
            ("a:1152921504606846976", 0, "it must be from 0 to 2^60 - 1"),
            ("a:1073741824G", 0, "2^60 - 1"),
            ("a:99999999999999999999999", 0, "2^60 - 1"),
            ("a:1 a>5000", 1, "stream = 5000 is not allowed"),
            ("a:1 -a a>1", 2, "double free"),
            ("a:1.3", 0, "no size"),
            ("a:M", 0, "no size"),
            ("a:9é", 0, "no size"),
            ("end", 0, "no graph is being captured"),
            ("capture:1 sync", 1, "not while a graph"),
            ("capture:1 capture:2", 1, "already"),
            ("capture:0", 0, "private pools are 1 to"),
            ("capture:1 destroy:1", 1, "still being captured"),
            ("destroy:1 capture:1", 1, "destroyed before"),
            ("hello", 0, "it must be NAME:SIZE"),
            ("a b:1", 0, "it must be NAME:SIZE"),
            (":5", 0, "a name is of letters"),
        ] {
            let error = refused(text);
            assert_eq!(error.event, event, "{text}: {error}");
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
        assert_eq!(Trace::parse("a:1152921504606846975").unwrap().n_requests(), 1);
    }

    /// Whatever is typed is read or refused, and what is read can be written and read again.
    #[test]
    fn any_text_is_read_or_refused() {
        let pieces =
            ["a", "b", "1", "0", ":", "@", "-", "<", ">", "M", "G", ".", " ", ",", "é", "sync", "capture", "9"];
        let mut random = crate::generate::Random::new(4);
        let mut n_read = 0;
        for _ in 0..30_000 {
            let n = 1 + random.below(12);
            let text: String = (0..n).map(|_| pieces[random.below(pieces.len() as u64) as usize]).collect();
            if let Ok(trace) = Trace::parse(&text) {
                assert_eq!(Trace::parse(&trace.to_text()).unwrap(), trace, "{text}");
                n_read += 1;
            }
        }
        assert!(n_read > 100, "{n_read}");
    }
}
