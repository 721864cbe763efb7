//! The question of the memory package: which memory, how wide, how fast. Plain data and its fields.

use super::cards::{self, CARDS, Card};
use vramlab_model::peak_bandwidth::{self, GDDR_CHIP_BITS, HBM_STACK_BITS};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, GbPerSec, Map, Text};

/// How the memory is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Stacks beside the processor, in one package.
    Hbm,
    /// Chips around the package, on the board.
    Gddr,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Hbm, Self::Gddr];

    /// Id in parameters.
    pub fn id(self) -> &'static str {
        match self {
            Self::Hbm => "hbm",
            Self::Gddr => "gddr",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// Data pins of one stack or chip.
    pub fn part_bits(self) -> u64 {
        match self {
            Self::Hbm => HBM_STACK_BITS,
            Self::Gddr => GDDR_CHIP_BITS,
        }
    }

    /// Widest bus of this figure: eight stacks, or sixteen chips.
    pub fn most_bits(self) -> u64 {
        match self {
            Self::Hbm => 8192,
            Self::Gddr => 512,
        }
    }

    /// Rates of a pin in this figure, in Gb/s.
    pub fn pin_range(self) -> (f64, f64) {
        match self {
            Self::Hbm => (1.0, 12.0),
            Self::Gddr => (4.0, 36.0),
        }
    }

    /// A bus to start from when the reader changes the kind.
    pub fn usual(self) -> (u64, f64) {
        match self {
            Self::Hbm => (6144, 6.4),
            Self::Gddr => (384, 21.0),
        }
    }
}

/// The most that this figure can draw: 8192 bit at 12 Gb/s. The scale of the pipe is the same for every card.
pub const MOST_GB_PER_S: f64 = 12_288.0;
pub const CUSTOM: &str = "custom";

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Index into [`CARDS`]; none once the reader has changed a number.
    pub card: Option<usize>,
    pub kind: Kind,
    pub bus_bits: u64,
    pub gbit_per_pin: f64,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let choice = |key, options: Vec<String>, doc| {
            let options = options.into_iter().map(Into::into).collect();
            FieldSpec::new(key, "", FieldKind::Choice { options }, doc)
        };
        let mut ids: Vec<String> = CARDS.iter().map(|card| card.id.clone()).collect();
        ids.push(CUSTOM.to_owned());
        let kinds = Kind::ALL.iter().map(|kind| kind.id().to_owned()).collect();
        let bus = Text::new("总线位宽；不给就用这张卡的", "Width of the bus; the card's if left out");
        let pin = Text::new("每根数据线的速率；不给就用这张卡的", "Rate of one data pin; the card's if left out");
        vec![
            choice("card", ids, Text::new("哪张卡；custom 是自己定", "Which card; custom sets its own"))
                .default_value("h200"),
            choice(
                "kind",
                kinds,
                Text::new("堆叠在封装里，还是芯片在板上", "Stacks in the package or chips on the board"),
            )
            .optional(),
            FieldSpec::int("bus_bits", "bit", 32, 8192, bus).optional(),
            FieldSpec::num("gbit_per_pin", "Gb/s", 1.0, 36.0, pin).optional(),
        ]
    }

    pub fn of_card(idx: usize) -> Option<Self> {
        let card = CARDS.get(idx)?;
        Some(Self { card: Some(idx), kind: card.kind, bus_bits: card.bus_bits, gbit_per_pin: card.gbit_per_pin })
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let mut this = match cards::find(args.text("card")).and_then(Self::of_card) {
            Some(question) => question,
            None => Self::usual(Kind::from_id(args.text("kind")).unwrap_or(Kind::Hbm)),
        };
        let before = this.clone();
        if let Some(kind) = Kind::from_id(args.text("kind")).filter(|kind| *kind != this.kind) {
            this = Self::usual(kind);
        }
        if args.has("bus_bits") {
            this.bus_bits = args.uint("bus_bits");
        }
        if args.has("gbit_per_pin") {
            this.gbit_per_pin = args.num("gbit_per_pin");
        }
        if this != before {
            this.card = None;
        }
        this.check()?;
        Ok(this)
    }

    fn usual(kind: Kind) -> Self {
        let (bus_bits, gbit_per_pin) = kind.usual();
        Self { card: None, kind, bus_bits, gbit_per_pin }
    }

    fn check(&self) -> Result<(), FieldError> {
        let (kind, most, (slow, fast)) = (self.kind.id(), self.kind.most_bits(), self.kind.pin_range());
        if self.bus_bits > most {
            let reason = format!("{} is too wide to draw as {kind}; it must be 32 to {most}", self.bus_bits);
            return Err(FieldError::conflict("bus_bits", reason));
        }
        if !(slow..=fast).contains(&self.gbit_per_pin) {
            let reason = format!("{} is no pin of {kind} here; it must be {slow} to {fast}", self.gbit_per_pin);
            return Err(FieldError::conflict("gbit_per_pin", reason));
        }
        Ok(())
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("card".into(), self.card().map_or(CUSTOM, |card| card.id.as_str()).into());
        map.insert("kind".into(), self.kind.id().into());
        map.insert("bus_bits".into(), self.bus_bits.into());
        map.insert("gbit_per_pin".into(), self.gbit_per_pin.into());
        map
    }

    pub fn card(&self) -> Option<&'static Card> {
        CARDS.get(self.card?)
    }

    /// The reader chose the other kind of memory.
    pub fn set_kind(&mut self, kind: Kind) {
        if kind != self.kind {
            *self = Self::usual(kind);
        }
    }

    /// The reader pulled the pipe: as many pins, as fast as it takes, within what this kind of memory has.
    pub fn set_peak(&mut self, gb_per_s: f64) {
        let (slow, fast) = self.kind.pin_range();
        let gbit_per_pin = peak_bandwidth::gbit_per_pin_for(self.bus_bits, GbPerSec(gb_per_s));
        self.gbit_per_pin = gbit_per_pin.clamp(slow, fast);
        self.card = None;
    }

    pub fn peak(&self) -> GbPerSec {
        peak_bandwidth::run(self.bus_bits, self.gbit_per_pin)
    }

    /// The pins of each stack or chip.
    pub fn parts(&self) -> Vec<u64> {
        peak_bandwidth::parts(self.bus_bits, self.kind.part_bits())
    }

    /// What one of [`Self::parts`] gives.
    pub fn part_rate(&self, bits: u64) -> GbPerSec {
        peak_bandwidth::run(bits, self.gbit_per_pin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::Value;

    fn open(given: &[(&str, Value)]) -> Result<Question, FieldError> {
        let given = given.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Question::from_args(&Args::check(&Question::fields(), &given)?)
    }

    #[test]
    fn a_card_brings_its_numbers_and_a_change_makes_it_custom() {
        let h200 = open(&[]).unwrap();
        assert_eq!((h200.bus_bits, h200.card().unwrap().id.as_str()), (6016, "h200"));
        assert!((h200.peak().0 - 4814.304).abs() < 1e-6);
        let wider = open(&[("bus_bits", 6144.into())]).unwrap();
        assert_eq!((wider.card, wider.parts().len()), (None, 6));
        let chips = open(&[("kind", "gddr".into())]).unwrap();
        assert_eq!((chips.card, chips.parts().len()), (None, 12));
        assert_eq!(open(&[("bus_bits", 6016.into())]).unwrap(), h200, "the same numbers are the same card");
    }

    #[test]
    fn a_pulled_pipe_makes_faster_pins() {
        let mut question = open(&[("card", "rtx4090".into())]).unwrap();
        question.set_peak(864.0); // 384 bit at 18 Gb/s, as brief 01 has it for an L40S
        assert!((question.gbit_per_pin - 18.0).abs() < 1e-9 && question.card.is_none());
        question.set_peak(1.0e6);
        assert_eq!(question.gbit_per_pin, 36.0, "no faster than the figure's range");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_by_name() {
        let wide = open(&[("card", "rtx4090".into()), ("bus_bits", 1024.into())]).unwrap_err();
        assert_eq!(wide.to_string(), "bus_bits: 1024 is too wide to draw as gddr; it must be 32 to 512");
        assert_eq!(open(&[("gbit_per_pin", 28.into())]).unwrap_err().field(), "gbit_per_pin");
    }
}
