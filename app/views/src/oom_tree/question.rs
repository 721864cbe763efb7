//! The question of the decision tree: the numbers of a message, of the statistics and of the device.

use vramlab_alloc::MIB;
use vramlab_alloc::refusal::Evidence;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

const GIB: u64 = 1 << 30;
const MOST: i64 = 1 << 50;
/// The largest hole of `oom.pickle.gz` at its refusal; a test reads it again.
const LARGEST_OF_RECORDED: u64 = 16_384_000;

/// Numbers to start from. Two are messages that people have reported in public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    Holes,
    Flush,
    Outside,
    Full,
    Leak,
    /// Recorded by us: the snapshots `fragmentation` and `oom`, each under a limit of the process.
    Recorded640,
    Recorded3072,
    Message80,
    Message4,
    /// The reader's own.
    Custom,
}

impl Preset {
    pub const ALL: [Self; 10] = [
        Self::Holes,
        Self::Flush,
        Self::Outside,
        Self::Full,
        Self::Leak,
        Self::Recorded640,
        Self::Recorded3072,
        Self::Message80,
        Self::Message4,
        Self::Custom,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Holes => "holes",
            Self::Flush => "flush",
            Self::Outside => "outside",
            Self::Full => "full",
            Self::Leak => "leak",
            Self::Message80 => "message_80",
            Self::Recorded640 => "recorded_640",
            Self::Recorded3072 => "recorded_3072",
            Self::Message4 => "message_4",
            Self::Custom => "custom",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.id() == id)
    }

    pub fn label(self) -> Text {
        match self {
            Self::Holes => Text::new("隔一个放一个", "every other freed"),
            Self::Flush => Text::new("两段全空", "two free segments"),
            Self::Outside => Text::new("账上少了 30 GB", "30 GB unaccounted"),
            Self::Full => Text::new("几乎全在用", "nearly all in use"),
            Self::Leak => Text::new("每步都涨", "up every step"),
            Self::Message80 => Text::new("报错 · 80 GB 卡", "message · 80 GB card"),
            Self::Recorded640 => Text::new("录制 · 640 MiB", "recorded · 640 MiB"),
            Self::Recorded3072 => Text::new("录制 · 3 GiB", "recorded · 3 GiB"),
            Self::Message4 => Text::new("报错 · 4 GB 卡", "message · 4 GB card"),
            Self::Custom => Text::new("自定", "custom"),
        }
    }

    /// Where a message was published, with its date.
    pub fn source(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Message80 => Some(("GitHub, Tianhao-Qi/Mask2DiT #4", "2026-03-11")),
            Self::Message4 => Some(("GitHub, jhc13/taggui #188", "2024-06-10")),
            _ => None,
        }
    }

    /// Whether we recorded it.
    pub fn is_recorded(self) -> bool {
        matches!(self, Self::Recorded640 | Self::Recorded3072)
    }

    fn given(self) -> Given {
        let none = Given::default();
        let part = |gib: f64| (gib * GIB as f64).round() as u64;
        let mib = |mib: f64| (mib * MIB as f64).round() as u64;
        let card =
            Given { capacity: 80 * GIB, reserved: part(78.5), allocated: part(78.25), context: part(0.5), ..none };
        match self {
            Self::Holes | Self::Custom => Given {
                request: 20 * MIB,
                capacity: 60 * MIB,
                reserved: 62_914_560,
                allocated: 28_311_552,
                largest_hole: 9_437_184,
                ..none
            },
            Self::Flush => Given {
                request: 40 * MIB,
                capacity: 40 * MIB,
                reserved: 40 * MIB,
                largest_hole: 20 * MIB,
                releasable: 40 * MIB,
                ..none
            },
            Self::Outside => Given {
                request: 30_000_000_000,
                capacity: 150_109_880_320,
                free: 20_000_000_000,
                reserved: 100_000_000_000,
                allocated: 100_000_000_000,
                context: 552_402_944,
                ..none
            },
            Self::Full => Given { request: 2 * GIB, free: GIB, largest_hole: 64 * MIB, ..card },
            Self::Leak => Given { request: 2 * GIB, free: GIB, largest_hole: 64 * MIB, is_growing: true, ..card },
            // In use by the process: 53.16 GiB, of which PyTorch reserved 11.97 + 40.69.
            Self::Message80 => Given {
                request: part(35.6),
                capacity: part(79.33),
                free: part(26.16),
                reserved: part(11.97 + 40.69),
                allocated: part(11.97),
                context: part(0.5),
                ..none
            },
            // The card has 139.80 GiB; what counts is the limit of the process.
            Self::Recorded640 => Given {
                request: 64 * MIB,
                capacity: 640 * MIB,
                free: 40 * MIB,
                reserved: 600 * MIB,
                allocated: 180 * MIB,
                largest_hole: 8 * MIB,
                ..none
            },
            Self::Recorded3072 => Given {
                request: 500 * MIB,
                capacity: 3072 * MIB,
                free: 3072 * MIB - 2_780_823_552,
                reserved: 2_780_823_552,
                allocated: 2_670_144_512,
                largest_hole: LARGEST_OF_RECORDED,
                ..none
            },
            Self::Message4 => Given {
                request: mib(20.0),
                capacity: part(4.0),
                free: part(2.35),
                reserved: mib(825.15 + 24.85),
                allocated: mib(825.15),
                ..none
            },
        }
    }
}

/// The numbers, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    pub request: u64,
    pub capacity: u64,
    pub free: u64,
    pub reserved: u64,
    pub allocated: u64,
    /// 0 with free bytes in the cache: nobody told.
    pub largest_hole: u64,
    pub releasable: u64,
    pub context: u64,
    pub is_growing: bool,
}

/// A number that the reader can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Request,
    Capacity,
    Free,
    Reserved,
    Allocated,
    LargestHole,
    Releasable,
    Context,
}

impl Field {
    pub const ALL: [Self; 8] = [
        Self::Request,
        Self::Capacity,
        Self::Free,
        Self::Reserved,
        Self::Allocated,
        Self::LargestHole,
        Self::Releasable,
        Self::Context,
    ];

    fn key(self) -> &'static str {
        match self {
            Self::Request => "request_bytes",
            Self::Capacity => "capacity_bytes",
            Self::Free => "free_bytes",
            Self::Reserved => "reserved_bytes",
            Self::Allocated => "allocated_bytes",
            Self::LargestHole => "largest_hole_bytes",
            Self::Releasable => "releasable_bytes",
            Self::Context => "context_bytes",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Request => Text::new("申请", "request"),
            Self::Capacity => Text::new("整卡", "card"),
            Self::Free => Text::new("设备空闲", "device free"),
            Self::Reserved => Text::new("保留", "reserved"),
            Self::Allocated => Text::new("已分配", "allocated"),
            Self::LargestHole => Text::new("最大空洞", "largest hole"),
            Self::Releasable => Text::new("可归还", "releasable"),
            Self::Context => Text::new("上下文", "context"),
        }
    }
}

impl Given {
    pub fn get(&self, field: Field) -> u64 {
        match field {
            Field::Request => self.request,
            Field::Capacity => self.capacity,
            Field::Free => self.free,
            Field::Reserved => self.reserved,
            Field::Allocated => self.allocated,
            Field::LargestHole => self.largest_hole,
            Field::Releasable => self.releasable,
            Field::Context => self.context,
        }
    }

    fn slot(&mut self, field: Field) -> &mut u64 {
        match field {
            Field::Request => &mut self.request,
            Field::Capacity => &mut self.capacity,
            Field::Free => &mut self.free,
            Field::Reserved => &mut self.reserved,
            Field::Allocated => &mut self.allocated,
            Field::LargestHole => &mut self.largest_hole,
            Field::Releasable => &mut self.releasable,
            Field::Context => &mut self.context,
        }
    }

    /// Free in the cache.
    pub fn inactive(&self) -> u64 {
        self.reserved - self.allocated
    }

    /// Moves one number; the others give way in plain sight, as they would on a card: what is reserved is no longer free,
    /// what is in use is part of what is reserved, a hole is part of what is cached.
    pub fn set(&mut self, field: Field, value: u64) {
        *self.slot(field) = value;
        if field == Field::Allocated {
            self.reserved = self.reserved.max(self.allocated);
        }
        self.context = self.context.min(self.capacity);
        let room = self.capacity - self.context;
        if field == Field::Free {
            self.free = self.free.min(room);
            self.reserved = self.reserved.min(room - self.free);
        } else {
            self.reserved = self.reserved.min(room);
            self.free = self.free.min(room - self.reserved);
        }
        self.allocated = self.allocated.min(self.reserved);
        self.largest_hole = self.largest_hole.min(self.inactive());
        self.releasable = self.releasable.min(self.inactive());
    }

    pub fn evidence(&self) -> Evidence {
        Evidence {
            request: self.request,
            device_free: self.free,
            reserved: self.reserved,
            inactive: self.inactive(),
            largest_hole: self.largest_hole,
            releasable: self.releasable,
            capacity: Some(self.capacity),
            context: self.context,
            is_leak_suspect: self.is_growing,
        }
    }

    /// Whether anybody said how large the holes are.
    pub fn knows_holes(&self) -> bool {
        self.largest_hole > 0 || self.inactive() == 0
    }

    /// The first number that does not fit into its whole.
    fn check(&self) -> Result<(), FieldError> {
        let within = |field: Field, whole: &str, limit: Option<u64>| match limit {
            Some(limit) if self.get(field) <= limit => Ok(()),
            limit => {
                let reason = format!("{} is more than {whole} = {}", self.get(field), limit.unwrap_or(0));
                Err(FieldError::conflict(field.key(), reason))
            }
        };
        within(Field::Allocated, "reserved_bytes", Some(self.reserved))?;
        within(Field::LargestHole, "reserved less allocated", Some(self.inactive()))?;
        within(Field::Releasable, "reserved less allocated", Some(self.inactive()))?;
        within(Field::Free, "capacity_bytes", Some(self.capacity))?;
        let rest = self.capacity - self.free;
        within(Field::Reserved, "capacity less free", Some(rest))?;
        within(Field::Context, "what is used and not reserved", rest.checked_sub(self.reserved))
    }
}

/// What the reader has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub preset: Preset,
    pub given: Given,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let presets = Preset::ALL.iter().map(|preset| preset.id().into()).collect();
        let start = Text::new("从哪一例开始", "Which case to start from");
        let growing = Text::new("步末的已分配在不在涨", "Whether allocated grows from step end to step end");
        let mut out =
            vec![FieldSpec::new("preset", "", FieldKind::Choice { options: presets }, start).default_value("holes")];
        out.extend(Field::ALL.map(|field| FieldSpec::int(field.key(), "B", 0, MOST, field.label()).optional()));
        out.push(FieldSpec::new("is_growing", "", FieldKind::Bool, growing).optional());
        out
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let preset = Preset::from_id(args.text("preset"));
        let preset = preset.ok_or_else(|| FieldError::conflict("preset", "is not among its options"))?;
        let mut given = preset.given();
        for field in Field::ALL {
            if args.has(field.key()) {
                *given.slot(field) = args.uint(field.key());
            }
        }
        if args.has("is_growing") {
            given.is_growing = args.flag("is_growing");
        }
        given.check().map_err(|error| blame(args, error))?;
        let preset = if given == preset.given() { preset } else { Preset::Custom };
        Ok(Self { preset, given })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("preset".into(), self.preset.id().into());
        for field in Field::ALL {
            map.insert(field.key().into(), self.given.get(field).into());
        }
        map.insert("is_growing".into(), self.given.is_growing.into());
        map
    }

    pub fn set_preset(&mut self, preset: Preset) {
        if preset != Preset::Custom {
            self.given = preset.given();
        }
        self.preset = preset;
    }
}

/// An error about a number that a case brought names the given one that does not go with it.
fn blame(args: &Args, error: FieldError) -> FieldError {
    let is_given = |field: &&Field| args.has(field.key());
    match Field::ALL.iter().find(is_given) {
        Some(given) if !args.has(error.field()) => FieldError::conflict(given.key(), error.to_string()),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_alloc::refusal::{Cause, classify};

    fn open(map: &Map) -> Result<Question, FieldError> {
        Question::from_args(&Args::check(&Question::fields(), map).unwrap())
    }

    /// Brief 18, vectors 2 to 4; the published messages: one with enough cached, one whose card had more than a
    /// hundred times the request free.
    #[test]
    fn each_case_has_its_cause() {
        for (preset, cause) in [
            (Preset::Holes, Cause::Fragmentation),
            (Preset::Flush, Cause::FitsNow),
            (Preset::Outside, Cause::Outside),
            (Preset::Full, Cause::Capacity),
            (Preset::Leak, Cause::Leak),
            (Preset::Message80, Cause::Fragmentation),
            (Preset::Recorded640, Cause::Fragmentation),
            (Preset::Recorded3072, Cause::Fragmentation),
            (Preset::Message4, Cause::FitsNow),
        ] {
            let given = preset.given();
            assert_eq!(given.check(), Ok(()), "{preset:?}");
            assert_eq!(classify(&given.evidence()), cause, "{preset:?}");
        }
    }

    /// What the recordings themselves say at their refusal.
    #[test]
    fn recorded_cases_are_those_of_the_recordings() {
        use vramlab_snapshot::analysis::{Analysis, Options};
        for (name, preset) in [("fragmentation", Preset::Recorded640), ("oom", Preset::Recorded3072)] {
            let bytes = std::fs::read(format!("../../assets/snapshots/{name}.pickle.gz")).unwrap();
            let snapshot = vramlab_snapshot::read(&bytes, 256 << 20).unwrap();
            let found = Analysis::of(&snapshot, 0, &Options::default()).ooms.pop().unwrap().evidence;
            let given = preset.given();
            let told = (found.request, found.reserved, found.inactive, found.largest_hole, found.releasable);
            let typed = (given.request, given.reserved, given.inactive(), given.largest_hole, given.releasable);
            assert_eq!(told, typed, "{name}");
        }
    }

    #[test]
    fn what_is_moved_stays_and_the_rest_adds_up() {
        for preset in Preset::ALL {
            for field in Field::ALL {
                for value in [0, 512 * MIB, 40 * GIB, 300 * GIB] {
                    let mut given = preset.given();
                    given.set(field, value);
                    assert_eq!(given.check(), Ok(()), "{preset:?} {field:?} {value}");
                }
            }
        }
        let mut given = Preset::Full.given();
        given.set(Field::Reserved, 79 * GIB);
        assert_eq!((given.reserved, given.free), (79 * GIB, 80 * GIB - 79 * GIB - GIB / 2));
    }

    #[test]
    fn numbers_of_ones_own_are_a_case_of_ones_own() {
        let own = Map::from_iter([("request_bytes".to_owned(), (30 * MIB).into())]);
        let question = open(&own).unwrap();
        assert_eq!((question.preset, question.given.request), (Preset::Custom, 30 * MIB));
        assert_eq!(open(&question.params()).unwrap(), question);
        let wrong = Map::from_iter([("allocated_bytes".to_owned(), (61 * MIB).into())]);
        assert_eq!(open(&wrong).unwrap_err().field(), "allocated_bytes");
    }
}
