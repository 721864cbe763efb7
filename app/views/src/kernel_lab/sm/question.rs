//! What the reader sets: a launch, an SM, a grid, and the number that the cliff finder moves; and what the models say of it.

use vramlab_model::kernels::architecture::{self, SMS, Sm};
use vramlab_model::kernels::grid_waves;
use vramlab_model::kernels::occupancy::{self, Launch, Limits, Occupancy};
use vramlab_model::kernels::occupancy_cliff::{self, Axis, Place, Stretch};
use vramlab_model::registry::Model as _;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub const MOST_GRID: u64 = 100_000;
pub const MOST_SMS: u64 = 256;
/// Bytes by which the sliders of shared memory move.
pub const SHARED_STEP: u64 = 128;
pub const MOST_STATIC: u64 = architecture::DEFAULT_SHARED;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    pub sm: Sm,
    pub launch: Launch,
    pub axis: Axis,
    pub grid: u64,
    pub sms: u64,
}

/// What the models say.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub limits: Limits,
    pub blocks: u64,
    pub warps: u64,
    pub occupancy: f64,
    pub stretches: Vec<Stretch>,
    pub place: Option<Place>,
    /// Waves, the share of their places that the grid fills, blocks of the last wave; none if no block fits.
    pub waves: Option<(u64, f64, u64)>,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let mut fields: Vec<FieldSpec> = Occupancy::question();
        for field in &mut fields {
            let start: Option<Value> = match field.key.as_ref() {
                "compute_capability" => Some("9.0".into()),
                "threads_per_block" => Some(256.into()),
                _ => None,
            };
            if let Some(start) = start {
                *field = field.clone().default_value(start);
            }
        }
        let options = Axis::ALL.map(|axis| axis.name().into()).to_vec();
        let axis = Text::new("断崖图里移动哪个数", "The number that the cliff finder moves");
        let int = |key, most: u64, zh, en| FieldSpec::int(key, "1", 1, most as i64, Text::new(zh, en));
        fields.push(FieldSpec::new("axis", "", FieldKind::Choice { options }, axis).default_value("registers"));
        fields.push(int("grid_blocks", MOST_GRID, "网格的 block 数", "Blocks of the grid").default_value(1057));
        fields.push(int("sms", MOST_SMS, "SM 的个数", "SMs").default_value(132));
        fields
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let sm = occupancy::sm(args)?;
        let launch = occupancy::launch(args);
        let most = Axis::Shared.ends(sm).1;
        if launch.dynamic_bytes > most {
            let why = format!("{} is beyond the {most} that are drawn for {}", launch.dynamic_bytes, sm.name());
            return Err(FieldError::conflict("shared_bytes", why));
        }
        let axis = Axis::from_name(args.text("axis")).unwrap_or(Axis::Registers);
        Ok(Self { sm, launch, axis, grid: args.uint("grid_blocks"), sms: args.uint("sms") })
    }

    pub fn params(&self) -> Map {
        let Launch { threads, registers, static_bytes, dynamic_bytes, is_opt_in } = self.launch;
        let values: [(&str, Value); 9] = [
            ("compute_capability", self.sm.name().into()),
            ("threads_per_block", threads.into()),
            ("registers_per_thread", registers.into()),
            ("shared_bytes", dynamic_bytes.into()),
            ("static_bytes", static_bytes.into()),
            ("is_opt_in", is_opt_in.into()),
            ("axis", self.axis.name().into()),
            ("grid_blocks", self.grid.into()),
            ("sms", self.sms.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn answer(&self) -> Answer {
        let limits = self.launch.limits(self.sm);
        let (blocks, warps) = occupancy_cliff::held(self.sm, self.launch);
        let stretches = occupancy_cliff::stretches(self.sm, self.launch, self.axis);
        let place = occupancy_cliff::place(&stretches, self.value());
        let places = blocks * self.sms;
        let waves = (places > 0).then(|| {
            let (n, share) = grid_waves::waves(self.grid, places);
            (n, share, self.grid - (n - 1) * places)
        });
        let occupancy = warps as f64 / self.sm.warps as f64;
        Answer { limits, blocks, warps, occupancy, stretches, place, waves }
    }

    /// The number that the cliff finder moves.
    pub fn value(&self) -> u64 {
        self.axis.value(self.launch)
    }

    pub fn set_value(&mut self, value: u64) {
        let (least, most) = self.axis.ends(self.sm);
        self.launch = self.axis.with(self.launch, value.clamp(least, most));
    }

    /// Another SM; shared memory that it cannot draw goes down to what it can.
    pub fn set_sm(&mut self, sm: Sm) {
        self.sm = sm;
        self.launch.dynamic_bytes = self.launch.dynamic_bytes.min(Axis::Shared.ends(sm).1);
    }

    /// How far one press of an arrow moves.
    pub fn step(&self) -> u64 {
        match self.axis {
            Axis::Registers => 1,
            Axis::Threads => 32,
            Axis::Shared => 1024,
        }
    }

    /// The place on the axis one press away; threads stay at whole warps.
    pub fn moved(&self, is_up: bool) -> u64 {
        let (value, step) = (self.value(), self.step());
        let low = value / step * step;
        let next = if is_up {
            low + step
        } else if low < value {
            low
        } else {
            value.saturating_sub(step)
        };
        next.max(if self.axis == Axis::Threads { 1 } else { 0 })
    }
}

/// Every SM, newest first.
pub fn sms() -> impl Iterator<Item = Sm> {
    SMS.iter().rev().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_keep_to_whole_warps() {
        let given = Map::from_iter([("threads_per_block".to_owned(), Value::from(33))]);
        let args = Args::check(&Question::fields(), &given).unwrap();
        let mut question = Question::from_args(&args).unwrap();
        question.axis = Axis::Threads;
        assert_eq!((question.moved(true), question.moved(false)), (64, 32));
        question.set_value(32);
        assert_eq!(question.moved(false), 1);
        question.set_value(question.moved(false));
        assert_eq!(question.moved(false), 1);
    }

    /// Brief 23: 8 blocks on each of 132 SMs hold 1056; one block more is a second wave.
    #[test]
    fn one_block_too_many() {
        let args = Args::check(&Question::fields(), &Map::new()).unwrap();
        let found = Question::from_args(&args).unwrap().answer();
        let (waves, share, last) = found.waves.unwrap();
        assert_eq!((found.blocks, waves, last), (8, 2, 1));
        assert!((share - 0.500_473).abs() < 1e-6);
    }
}
