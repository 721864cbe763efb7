//! The changes of a plan in words: `fuse bytes*0.5 launches*0.25 peak-1G; graph launches=1; overlap peak+4G`.

use vramlab_alloc::trace::size_of;
use vramlab_units::FieldError;

/// The order in which a plan applies its changes, whatever order they are written in.
pub const CANONICAL: [&str; 8] =
    ["fuse", "tile", "precision", "graph", "overlap", "checkpoint", "accumulate", "offload"];
pub const MOST_TOGGLES: usize = CANONICAL.len();
const LEGAL: &str = "one of bytes*0.5, flop*1.3, launches*0.25, launches=1, tflop=1979, peak+2G, peak-2G";

/// What one change does.
#[derive(Clone, Debug, PartialEq)]
pub struct Toggle {
    pub id: String,
    pub bytes: f64,
    pub flop: f64,
    pub launches: f64,
    pub launches_to: Option<f64>,
    pub tflop_to: Option<f64>,
    /// The copy runs beside the work.
    pub overlaps: bool,
    /// Bytes that the peak grows by.
    pub peak: i64,
}

fn bad(what: String) -> FieldError {
    FieldError::conflict("toggles", what)
}

/// The changes in canonical order.
pub fn parse(text: &str) -> Result<Vec<Toggle>, FieldError> {
    let mut out: Vec<Toggle> = Vec::new();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let mut words = part.split_whitespace();
        let id = words.next().unwrap_or_default();
        if !CANONICAL.contains(&id) {
            return Err(bad(format!("{id} is not a change that is known; they are {}", CANONICAL.join(", "))));
        }
        if out.iter().any(|toggle| toggle.id == id) {
            return Err(bad(format!("{id} stands twice; a change is made once")));
        }
        let mut toggle = Toggle {
            id: id.to_owned(),
            bytes: 1.0,
            flop: 1.0,
            launches: 1.0,
            launches_to: None,
            tflop_to: None,
            overlaps: id == "overlap",
            peak: 0,
        };
        words.try_for_each(|word| effect(&mut toggle, word))?;
        out.push(toggle);
    }
    let place = |toggle: &Toggle| CANONICAL.iter().position(|id| *id == toggle.id);
    out.sort_by_key(place);
    Ok(out)
}

fn effect(toggle: &mut Toggle, word: &str) -> Result<(), FieldError> {
    let illegal = || bad(format!("{}: {word} is not read; an effect is {LEGAL}", toggle.id));
    let at = word.find(['*', '=', '+', '-']).ok_or_else(illegal)?;
    let (name, value) = (&word[..at], &word[at + 1..]);
    let sign = word.as_bytes()[at];
    let positive = || value.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0 && *number < 1.0e9);
    match (name, sign) {
        ("bytes", b'*') => toggle.bytes = positive().ok_or_else(illegal)?,
        ("flop", b'*') => toggle.flop = positive().ok_or_else(illegal)?,
        ("launches", b'*') => toggle.launches = positive().ok_or_else(illegal)?,
        ("launches", b'=') => toggle.launches_to = Some(positive().ok_or_else(illegal)?),
        ("tflop", b'=') => toggle.tflop_to = Some(positive().ok_or_else(illegal)?),
        ("peak", b'+' | b'-') => {
            let size = size_of(value).and_then(|size| i64::try_from(size).ok()).filter(|size| *size >= 0);
            let size = size.ok_or_else(illegal)?;
            toggle.peak = if sign == b'+' { size } else { -size };
        }
        _ => return Err(illegal()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_in_canonical_order() {
        let found = parse("checkpoint flop*1.3333 peak-20G; fuse bytes*0.5; overlap peak+512M").unwrap();
        let ids: Vec<&str> = found.iter().map(|toggle| toggle.id.as_str()).collect();
        assert_eq!(ids, ["fuse", "overlap", "checkpoint"]);
        assert_eq!((found[1].overlaps, found[1].peak, found[2].peak), (true, 512 << 20, -(20 << 30)));
        assert!(!found[0].overlaps && (found[0].bytes - 0.5).abs() < 1e-12);
    }

    #[track_caller]
    fn refused(text: &str, said: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.field() == "toggles" && error.to_string().contains(said), "{text}: {error}");
    }

    #[test]
    fn what_is_not_read_is_named() {
        refused("magic bytes*0.5", "magic is not a change that is known");
        refused("fuse; fuse", "stands twice");
        refused("fuse bytes*0", "bytes*0 is not read");
        refused("fuse bytes+3", "bytes+3 is not read");
        refused("fuse peak+lots", "peak+lots is not read");
        refused("fuse quickly", "quickly is not read");
    }
}
