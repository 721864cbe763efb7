//! Protocol values as lines on a byte stream: one JSON object a line, with a cap on its length.

use crate::error::RunError;
use crate::protocol::MAX_LINE;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, Write};

/// How many bytes of something unreadable an error quotes.
const QUOTE: usize = 80;

/// Writes one message and flushes it.
pub fn write<T: Serialize>(out: &mut impl Write, message: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// The next message, or `None` at the end of the stream. Never holds more than [`MAX_LINE`] bytes.
pub fn read<T: DeserializeOwned>(input: &mut impl BufRead) -> Result<Option<T>, RunError> {
    let Some(line) = read_line(input, MAX_LINE)? else { return Ok(None) };
    serde_json::from_slice(&line).map(Some).map_err(|error| {
        // The parser's place within the line helps nobody; its reason does.
        let reason = error.to_string();
        let reason = reason.split(" at line").next().unwrap_or_default();
        RunError::Protocol { what: format!("{} ({reason})", quote(&line)) }
    })
}

/// One line without its newline; a last line that lacks one is an error, because it was cut.
fn read_line(input: &mut impl BufRead, max: usize) -> Result<Option<Vec<u8>>, RunError> {
    let mut line = Vec::new();
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(RunError::Protocol { what: format!("the stream broke: {error}") }),
        };
        if chunk.is_empty() {
            return if line.is_empty() {
                Ok(None)
            } else {
                Err(RunError::Protocol { what: format!("{} (the line was cut)", quote(&line)) })
            };
        }
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let taken = newline.unwrap_or(chunk.len());
        if line.len() + taken > max {
            line.extend_from_slice(&chunk[..taken.min(QUOTE)]);
            let what = format!("{} (a line longer than {max} bytes)", quote(&line));
            return Err(RunError::Protocol { what });
        }
        line.extend_from_slice(&chunk[..taken]);
        input.consume(taken + usize::from(newline.is_some()));
        if newline.is_some() {
            return Ok(Some(line));
        }
    }
}

/// The first bytes of `line` in quotes, with everything unprintable escaped.
pub fn quote(line: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(&line[..line.len().min(QUOTE)]).escape_debug().collect();
    let dots = if line.len() > QUOTE { "…" } else { "" };
    format!("\"{text}{dots}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{FromChild, ToChild, VERSION};

    #[test]
    fn a_message_survives_the_wire() {
        let mut bytes = Vec::new();
        write(&mut bytes, &ToChild::Hello { version: VERSION }).unwrap();
        write(&mut bytes, &ToChild::Cancel { job_id: 7 }).unwrap();
        let mut input = bytes.as_slice();
        assert_eq!(read(&mut input).unwrap(), Some(ToChild::Hello { version: VERSION }));
        assert_eq!(read(&mut input).unwrap(), Some(ToChild::Cancel { job_id: 7 }));
        assert_eq!(read::<ToChild>(&mut input).unwrap(), None);
    }

    #[track_caller]
    fn refused(bytes: &[u8], says: &str) {
        let mut input = io::BufReader::with_capacity(16, bytes);
        let error = read::<FromChild>(&mut input).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    #[test]
    fn r8_garbage_is_quoted_with_its_first_bytes() {
        refused(b"Segfault imminent\x07\n", "\"Segfault imminent\\u{7}\"");
        refused(b"\xff\xfe\n", "\u{fffd}");
        refused(b"{\"say\":\"sing\"}\n", "unknown variant `sing`");
    }

    #[test]
    fn r8_a_cut_line_is_an_error_and_not_a_message() {
        refused(b"{\"say\":\"done\",\"job_id\":1}", "the line was cut");
    }

    #[test]
    fn r8_an_endless_line_stops_at_the_cap_with_bounded_memory() {
        struct Endless(u64);
        impl io::Read for Endless {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                out.fill(b'x');
                self.0 += out.len() as u64;
                Ok(out.len())
            }
        }
        let mut input = io::BufReader::with_capacity(1 << 16, Endless(0));
        let error = read::<FromChild>(&mut input).unwrap_err().to_string();
        assert!(error.contains("longer than 8388608 bytes") && error.contains("\"xxx"), "{error}");
        assert!(input.get_ref().0 <= (MAX_LINE + (1 << 17)) as u64, "read {} bytes", input.get_ref().0);
    }

    /// Cut anywhere, or one bit turned anywhere: an error or another message, never a panic, never a half message.
    #[test]
    fn r8_every_prefix_and_every_flip_is_refused_or_read() {
        let mut whole = Vec::new();
        let error = RunError::OutOfMemory { asked_bytes: 1, free_bytes: 2, total_bytes: 3 };
        write(&mut whole, &FromChild::Failed { job_id: Some(9), error }).unwrap();
        for len in 1..whole.len() {
            assert!(read::<FromChild>(&mut &whole[..len]).is_err(), "{len} bytes");
        }
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut input = bytes.as_slice();
            while let Ok(Some(_)) = read::<FromChild>(&mut input) {}
        }
    }
}
