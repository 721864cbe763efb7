//! The case: what was told, what the reader has asked for and guessed. What must be is asked of the model `told_numbers`.

use std::fmt::Write as _;
use vramlab_units::{Args, FieldKind, FieldSpec, Map, Text, Value};

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    Smi,
    Summary,
    Lengths,
    Config,
}

impl Evidence {
    pub const ALL: [Self; 4] = [Self::Smi, Self::Summary, Self::Lengths, Self::Config];

    pub fn id(self) -> &'static str {
        match self {
            Self::Smi => "smi",
            Self::Summary => "summary",
            Self::Lengths => "lengths",
            Self::Config => "config",
        }
    }
}

/// A change that is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    None,
    Int8,
    Kv8,
    Both,
    FourCards,
    FewerHeads,
}

impl Fix {
    pub const ALL: [Self; 6] = [Self::None, Self::Int8, Self::Kv8, Self::Both, Self::FourCards, Self::FewerHeads];

    pub fn id(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Int8 => "int8",
            Self::Kv8 => "kv8",
            Self::Both => "both",
            Self::FourCards => "four_cards",
            Self::FewerHeads => "fewer_heads",
        }
    }

    /// What it changes of the deployment.
    fn changes(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::None => &[],
            Self::Int8 => &[("weight_bits", 8)],
            Self::Kv8 => &[("kv_bytes", 1)],
            Self::Both => &[("weight_bits", 8), ("kv_bytes", 1)],
            Self::FourCards => &[("cards_used", 4)],
            Self::FewerHeads => &[("kv_heads", 8)],
        }
    }
}

/// What the reader says before it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Guess {
    #[default]
    None,
    Number(u64),
    /// Asked to see it without a guess.
    Skipped,
}

/// The deployment as it was told. GB.
pub const TOLD: [(&str, f64); 5] = [
    ("told_weights_gb", 26.0),
    ("told_activations_gb", 8.0),
    ("told_kv_gb", 4.0),
    ("told_other_gb", 6.0),
    ("told_used_gb", 38.0),
];
pub const CARD_GB: f64 = 40.0;
const DEPLOYMENT: [(&str, u64); 8] = [
    ("params_b", 13),
    ("layers", 40),
    ("kv_heads", 40),
    ("head_dim", 128),
    ("tokens", 1024),
    ("requests", 3),
    ("card_gb", 40),
    ("cards_used", 1),
];
/// The most that a guess can be.
pub const MOST_GUESS: u64 = 300;

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub asked: [bool; 4],
    pub fix: usize,
    pub guesses: [Guess; 6],
}

/// What the model says of a deployment. GB.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    pub weights: f64,
    pub kv_request: f64,
    pub kv: f64,
    pub told_sum: f64,
    pub told_gap: f64,
    pub told_kv_requests: f64,
    pub room: f64,
    pub fits: u64,
    pub cards: f64,
}

impl Found {
    pub fn of(fix: Fix) -> Self {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
        DEPLOYMENT.iter().chain(fix.changes()).for_each(|(key, value)| put(key, (*value).into()));
        TOLD.iter().for_each(|(key, value)| put(key, (*value).into()));
        let cards = map.get("cards_used").and_then(Value::as_f64).unwrap_or(1.0);
        let Ok(got) = vramlab_model::eval("told_numbers", &map) else { return Self::default() };
        let of = |key: &str| got.get(key).and_then(Value::as_f64).unwrap_or_default();
        Self {
            weights: of("weights_gb"),
            kv_request: of("kv_request_gb"),
            kv: of("kv_gb"),
            told_sum: of("told_sum_gb"),
            told_gap: of("told_gap_gb"),
            told_kv_requests: of("told_kv_requests"),
            room: of("room_gb"),
            fits: of("fits_requests") as u64,
            cards,
        }
    }
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let text =
            |key, zh, en| FieldSpec::new(key, "", FieldKind::Text { max_len: 64 }, Text::new(zh, en)).default_value("");
        let fixes = Fix::ALL.iter().map(|fix| fix.id().into()).collect();
        let fix = Text::new("在看哪个改法", "The change that is looked at");
        vec![
            text(
                "asked",
                "要过的证据：smi、summary、lengths、config，逗号隔开",
                "Evidence that was asked for: smi, summary, lengths, config, apart by commas",
            ),
            FieldSpec::new("fix", "", FieldKind::Choice { options: fixes }, fix).default_value("none"),
            text(
                "guesses",
                "各个改法的猜测，逗号隔开，? 是直接看",
                "A guess for each change, apart by commas; ? for seen without one",
            ),
        ]
    }

    /// None where a text is not what it should be.
    pub fn from_args(args: &Args) -> Result<Self, (&'static str, String)> {
        let mut asked = [false; 4];
        for word in args.text("asked").split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let Some(at) = Evidence::ALL.iter().position(|one| one.id() == word) else {
                return Err(("asked", format!("\"{word}\" is none of smi, summary, lengths, config")));
            };
            asked[at] = true;
        }
        let mut guesses = [Guess::None; 6];
        for (idx, word) in args.text("guesses").split(',').map(str::trim).enumerate() {
            let guess = match word {
                "" => Some(Guess::None),
                "?" => Some(Guess::Skipped),
                number => number.parse().ok().filter(|n| *n <= MOST_GUESS).map(Guess::Number),
            };
            match (guesses.get_mut(idx), guess) {
                (Some(place), Some(guess)) => *place = guess,
                _ => {
                    return Err((
                        "guesses",
                        format!("\"{word}\" must be a number from 0 to {MOST_GUESS}, ? or nothing, six in all"),
                    ));
                }
            }
        }
        let fix = Fix::ALL.iter().position(|fix| fix.id() == args.text("fix")).unwrap_or(0);
        Ok(Self { asked, fix, guesses })
    }

    pub fn params(&self) -> Map {
        let asked: Vec<&str> = Evidence::ALL.iter().filter(|one| self.has(**one)).map(|one| one.id()).collect();
        let mut guesses = String::new();
        for (idx, guess) in self.guesses.iter().enumerate() {
            let comma = if idx > 0 { "," } else { "" };
            let written = match guess {
                Guess::None => write!(guesses, "{comma}"),
                Guess::Skipped => write!(guesses, "{comma}?"),
                Guess::Number(n) => write!(guesses, "{comma}{n}"),
            };
            debug_assert!(written.is_ok());
        }
        let values: [(&str, Value); 3] = [
            ("asked", asked.join(",").into()),
            ("fix", Fix::ALL[self.fix].id().into()),
            ("guesses", guesses.trim_end_matches(',').into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn has(&self, evidence: Evidence) -> bool {
        self.asked[evidence as usize]
    }

    pub fn is_revealed(&self, fix: usize) -> bool {
        self.guesses[fix] != Guess::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Audits of briefs 16 and 21: 44 told, 38 shown; three requests take 2.52 GB; 4 GB would hold 4.8.
    #[test]
    fn the_told_numbers_do_not_add_up() {
        let found = Found::of(Fix::None);
        assert_eq!((found.weights, found.told_sum, found.told_gap), (26.0, 44.0, 6.0));
        assert!((found.kv - 2.516_582_4).abs() < 1e-9 && (found.told_kv_requests - 4.77).abs() < 0.01);
        assert!((found.kv_request - 0.838_860_8).abs() < 1e-9);
    }

    /// 36 GB of a card: 10 beside 26 hold 11 requests of 0.839; 23 beside 13 hold 27; four cards 118 beside 26.
    #[test]
    fn what_each_change_gives() {
        let fits = Fix::ALL.map(|fix| Found::of(fix).fits);
        assert_eq!(fits, [11, 27, 23, 54, 140, 59]);
    }

    #[test]
    fn a_state_is_its_params() {
        let question = Question {
            asked: [true, false, true, false],
            fix: 4,
            guesses: [Guess::Number(8), Guess::None, Guess::Skipped, Guess::None, Guess::Number(44), Guess::None],
        };
        let params = question.params();
        assert_eq!((params["asked"].as_str(), params["guesses"].as_str()), (Some("smi,lengths"), Some("8,,?,,44")));
        let args = Args::check(&Question::fields(), &params).unwrap();
        assert_eq!(Question::from_args(&args).unwrap(), question);
        for (key, bad) in [("asked", "smi,nothing"), ("guesses", "999"), ("guesses", "1,2,3,4,5,6,7")] {
            let mut params = params.clone();
            params.insert(key.to_owned(), bad.into());
            let args = Args::check(&Question::fields(), &params).unwrap();
            assert_eq!(Question::from_args(&args).unwrap_err().0, key);
        }
    }
}
