//! The question of the conveyor: how many bytes are under way, how long they take, what the memory can give.

use vramlab_model::access::ACCESS_BYTES;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub sm_count: u64,
    pub threads_per_sm: u64,
    pub bytes_per_load: u64,
    pub loads_per_thread: u64,
    pub latency_ns: f64,
    pub peak_gb_per_s: f64,
}

/// The longest latency that the belt has room for.
pub const MOST_LATENCY_NS: f64 = 800.0;
pub const LEAST_LATENCY_NS: f64 = 100.0;

/// The model's answer, as far as the figure shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    pub bytes_in_flight: f64,
    pub bytes_needed: f64,
    pub gb_per_s: f64,
    pub share: f64,
    pub latency_loaded_ns: f64,
    pub bytes_needed_per_thread: f64,
    pub is_full: bool,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let int = |key, min, max, zh, en| FieldSpec::int(key, "1", min, max, Text::new(zh, en));
        let widths = ACCESS_BYTES.iter().map(|size| size.to_string().into()).collect();
        let latency = Text::new("一次读取的延迟", "Latency of one load");
        let peak = Text::new("显存峰值带宽", "Peak bandwidth of the memory");
        vec![
            int("sm_count", 1, 512, "SM 的个数", "Number of SMs").default_value(132),
            int("threads_per_sm", 32, 2048, "每个 SM 驻留的线程", "Threads resident on each SM").default_value(2048),
            FieldSpec::new(
                "bytes_per_load",
                "B",
                FieldKind::Choice { options: widths },
                Text::new("一次读取的字节数", "Bytes of one load"),
            )
            .default_value("4"),
            int("loads_per_thread", 1, 16, "每个线程同时在途的读取", "Loads that each thread keeps in flight")
                .default_value(1),
            FieldSpec::num("latency_ns", "ns", LEAST_LATENCY_NS, MOST_LATENCY_NS, latency).default_value(600),
            FieldSpec::num("peak_gb_per_s", "GB/s", 100.0, 10_000.0, peak).default_value(4800),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let bytes_per_load = args.text("bytes_per_load").parse();
        Ok(Self {
            sm_count: args.uint("sm_count"),
            threads_per_sm: args.uint("threads_per_sm"),
            bytes_per_load: bytes_per_load.map_err(|_| FieldError::conflict("bytes_per_load", "is no width"))?,
            loads_per_thread: args.uint("loads_per_thread"),
            latency_ns: args.num("latency_ns"),
            peak_gb_per_s: args.num("peak_gb_per_s"),
        })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("sm_count".into(), self.sm_count.into());
        map.insert("threads_per_sm".into(), self.threads_per_sm.into());
        map.insert("bytes_per_load".into(), self.bytes_per_load.to_string().into());
        map.insert("loads_per_thread".into(), self.loads_per_thread.into());
        map.insert("latency_ns".into(), self.latency_ns.into());
        map.insert("peak_gb_per_s".into(), self.peak_gb_per_s.into());
        map
    }

    /// Asks the registry's model.
    pub fn answer(&self) -> Result<Answer, FieldError> {
        let question = [
            ("n_threads", Value::from(self.sm_count * self.threads_per_sm)),
            ("bytes_per_load", self.bytes_per_load.into()),
            ("loads_per_thread", self.loads_per_thread.into()),
            ("latency_ns", self.latency_ns.into()),
            ("peak_gb_per_s", self.peak_gb_per_s.into()),
        ];
        let question = question.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let answer = vramlab_model::eval("bytes_in_flight", &question)?;
        let num = |key: &str| answer.get(key).and_then(Value::as_f64).unwrap_or_default();
        Ok(Answer {
            bytes_in_flight: num("bytes_in_flight"),
            bytes_needed: num("bytes_needed"),
            gb_per_s: num("gb_per_s"),
            share: num("share"),
            latency_loaded_ns: num("latency_loaded_ns"),
            bytes_needed_per_thread: num("bytes_needed_per_thread"),
            is_full: answer.get("bound").and_then(Value::as_str) == Some("peak"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 01, vector 4.
    #[test]
    fn the_conveyor_asks_what_the_brief_asks() {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        assert!((question.answer().unwrap().gb_per_s - 1802.24).abs() < 1e-9);
        question.bytes_per_load = 16;
        let full = question.answer().unwrap();
        assert_eq!((full.gb_per_s, full.is_full), (4800.0, true));
        let again = Question::from_args(&Args::check(&Question::fields(), &question.params()).unwrap()).unwrap();
        assert_eq!(again, question);
    }
}
