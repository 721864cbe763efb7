//! One recorded training beside its answer: what the bare run shows. The figures lie in `assets/fit/recorded.json`; a test
//! holds them against the recording they come from.

use super::words::size;
use crate::cli::layout::{COLUMNS, plain, table, wrap};
use crate::cli::say::{Ink, Say};
use serde_json::{Value, json};
use vramlab_fit::{Answer, Ask, Optimizer, Owner, Precision, Scenario, Train, Work};
use vramlab_modelfile::Model;
use vramlab_units::{Lang, Text, show};

const ASSET: &str = "assets/fit/recorded.json";
const HEADER_ZH: [&str; 5] = ["", "预测", "实测", "误差", ""];
const HEADER_EN: [&str; 5] = ["", "predicted", "measured", "error", ""];
const PEAK: Text = Text::new("  已分配的峰值", "  peak allocated");
const RESERVED: Text = Text::new("  向设备要的", "  reserved");

pub struct Recorded {
    pub model: Model,
    pub answer: Answer,
    peak: u64,
    reserved: u64,
    device: String,
    software: String,
    date: String,
}

/// The bundled recording, answered for the card that it ran on.
pub fn recorded(say: &Say) -> Option<Recorded> {
    let file: Value = serde_json::from_slice(vramlab_content::get(ASSET)?.here()?).ok()?;
    let number = |part: &str, key: &str| file[part][key].as_u64();
    let word = |part: &str, key: &str| file[part][key].as_str();
    let train = Train {
        batch: number("train", "batch")?,
        seq_len: number("train", "seq_len")?,
        precision: Precision::ALL.into_iter().find(|one| word("train", "precision") == Some(one.id()))?,
        optimizer: Optimizer::ALL.into_iter().find(|one| word("train", "optimizer") == Some(one.id()))?,
        ..Train::default()
    };
    let card = super::card::find("h200", say).ok()?;
    let ask = Ask { card, n_cards: 1, budget: None, scenario: Scenario::Batch, work: Work::Train(train) };
    let (model, answer) = super::asked(file["config"].to_string().as_bytes(), &ask)?;
    let text = |key: &str| file[key].as_str().map(str::to_owned);
    Some(Recorded {
        peak: number("measured", "peak_bytes")?,
        reserved: number("measured", "reserved_bytes")?,
        device: text("device")?,
        software: text("software")?,
        date: text("date")?,
        model,
        answer,
    })
}

impl Recorded {
    /// What the answer says is allocated at the peak, and what the allocator holds then.
    fn predicted(&self) -> (u64, u64) {
        let sums = &self.answer.sums;
        let reserved = sums.total() - sums.of(Owner::Context);
        (reserved - sums.of(Owner::Reserve), reserved)
    }

    fn error(predicted: u64, measured: u64) -> f64 {
        predicted as f64 / measured as f64 - 1.0
    }

    pub fn text(&self, say: &Say) -> Vec<String> {
        let evidence = match say.lang {
            Lang::Zh => format!("在 {} 上录制，{}，{}", self.device, self.software, self.date),
            Lang::En => format!("recorded on an {}, {}, {}", self.device, self.software, self.date),
        };
        let mut out = super::words::three(&self.model, &self.answer, say);
        let (peak, reserved) = self.predicted();
        let row = |name: Text, predicted: u64, measured: u64| {
            let error = show::with_unit((Self::error(predicted, measured) * 10_000.0).round() / 10_000.0, "%");
            vec![say.text(name).to_owned(), size(predicted), size(measured), plain(&error), String::new()]
        };
        let rows = [row(PEAK, peak, self.peak), row(RESERVED, reserved, self.reserved)];
        let header = if say.lang == Lang::Zh { HEADER_ZH } else { HEADER_EN };
        out.push(String::new());
        out.extend(table(&header, &rows, &[1, 2, 3]).lines().map(|line| line.trim_end().to_owned()));
        out.push(say.ink(Ink::Muted, &wrap(&evidence, COLUMNS, "  ")));
        out
    }

    pub fn json(&self) -> Value {
        let (peak, reserved) = self.predicted();
        let pair = |predicted: u64, measured: u64| json!({ "predicted_bytes": predicted, "measured_bytes": measured, "error": Self::error(predicted, measured) });
        json!({
            "answer": super::data::json(&self.model, &self.answer, ASSET),
            "peak": pair(peak, self.peak),
            "reserved": pair(reserved, self.reserved),
            "device": self.device,
            "software": self.software,
            "date": self.date,
        })
    }
}
