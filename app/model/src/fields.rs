//! Field descriptions and number formats that several models share.

use crate::access::{self, ACCESS_BYTES, AccessError, LaneAddrs};
use vramlab_units::{Args, Bytes, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// A choice among literal texts or whole numbers.
pub(crate) fn choice(key: &'static str, unit: &'static str, options: &[&'static str], doc: Text) -> FieldSpec {
    let options = options.iter().map(|option| (*option).into()).collect();
    FieldSpec::new(key, unit, FieldKind::Choice { options }, doc)
}

/// A width that a lane can access at once.
pub(crate) fn access_bytes(key: &'static str, doc: Text) -> FieldSpec {
    let options = ACCESS_BYTES.iter().map(|size| size.to_string().into()).collect();
    FieldSpec::new(key, "B", FieldKind::Choice { options }, doc)
}

pub(crate) fn active_mask() -> FieldSpec {
    let doc = Text::new(
        "哪些 lane 参与访问：第 i 位对应 lane i，4294967295 表示全部 32 个",
        "The lanes that take part: bit i is lane i; 4294967295 is all 32",
    );
    FieldSpec::int("active_mask", "1", 0, u32::MAX.into(), doc).default_value(u32::MAX)
}

/// The mask of [`active_mask`].
pub(crate) fn mask(args: &Args) -> u32 {
    u32::try_from(args.int("active_mask")).unwrap_or(u32::MAX)
}

/// The bandwidth that the memory can give.
pub(crate) fn peak() -> FieldSpec {
    let doc = Text::new(
        "显存峰值带宽，或在这张卡上实测到的上限",
        "Peak bandwidth of the memory, or the ceiling measured on the card",
    );
    FieldSpec::num("peak_gb_per_s", "GB/s", 0.1, 1.0e6, doc)
}

/// What DRAM hands over at least.
pub(crate) fn dram_piece() -> FieldSpec {
    let doc = Text::new(
        "DRAM 一次至少搬多少字节；H200 上测得 64",
        "Bytes that DRAM hands over at least; 64 as measured on an H200",
    );
    choice("dram_piece_bytes", "B", &["32", "64", "128"], doc).default_value("64")
}

/// A cache line of a processor.
pub(crate) fn cpu_line() -> FieldSpec {
    let doc = Text::new("处理器缓存行的字节数；x86-64 是 64", "Bytes of a processor cache line; 64 on x86-64");
    choice("line_bytes", "B", &["16", "32", "64", "128", "256"], doc).default_value("64")
}

/// Arrays of structs, or one array a field.
pub(crate) fn layout() -> FieldSpec {
    let doc =
        Text::new("aos：结构体数组；soa：每个字段一个数组", "aos: one array of structs; soa: one array for each field");
    choice("layout", "", &["aos", "soa"], doc)
}

/// The whole number that a choice holds.
pub(crate) fn chosen(args: &Args, key: &str) -> u64 {
    args.text(key).parse().unwrap_or_default()
}

/// A quantity of bytes among the arguments.
pub(crate) fn bytes(args: &Args, key: &str) -> Bytes {
    Bytes(args.uint(key))
}

/// A finite number as JSON: whole numbers without a fraction, so that `32` does not read `32.0`.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 { Value::from(value as i64) } else { Value::from(value) }
}

/// The pairs of an answer as a map, in the order given.
pub(crate) fn answer<const N: usize>(pairs: [(&str, Value); N]) -> Map {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The fields of a question about 32 addresses: a stride with an offset, or the list itself.
pub(crate) struct Pattern {
    pub(crate) stride: &'static str,
    pub(crate) offset: &'static str,
    pub(crate) list: &'static str,
    pub(crate) width: &'static str,
}

impl Pattern {
    /// The byte address of each lane in `mask`; the fields count in pieces of `unit`.
    pub(crate) fn lane_addrs(&self, args: &Args, mask: u32, unit: Bytes) -> Result<LaneAddrs, FieldError> {
        let size = unit.0 as i64;
        let lanes = match (args.has(self.stride), args.has(self.list)) {
            (true, false) => access::strided(args.int(self.stride) * size, args.int(self.offset) * size, mask),
            (false, true) => {
                let list = args.ints(self.list);
                access::by_lane(mask, |lane| list.get(lane as usize).copied().unwrap_or_default() * size)
            }
            (true, true) => {
                let reason = format!("give either {} or {}, not both", self.stride, self.list);
                return Err(FieldError::conflict(self.list, reason));
            }
            (false, false) => {
                let legal = format!("an integer, unless {} lists the 32 addresses", self.list);
                return Err(FieldError::Missing { field: self.stride.to_owned(), legal });
            }
        };
        lanes.map_err(|error| self.blame(args, unit, &error))
    }

    /// The field that an illegal access comes from, with what would be legal.
    pub(crate) fn blame(&self, args: &Args, unit: Bytes, error: &AccessError) -> FieldError {
        let (stride, offset, list, width) = (self.stride, self.offset, self.list, self.width);
        let (field, advice) = match error {
            AccessError::Width { .. } => (width, "choose another width".to_owned()),
            AccessError::LaneCount { .. } => (list, "give one address a lane".to_owned()),
            AccessError::Negative { .. } => {
                let steps = args.int(stride).saturating_neg().saturating_mul(access::WARP_LANES as i64 - 1);
                (offset, format!("with {stride} = {} {offset} must be at least {steps}", args.int(stride)))
            }
            AccessError::Misaligned { .. } if args.has(list) => {
                (list, format!("each address must be a multiple of {width}"))
            }
            AccessError::Misaligned { size, .. } => {
                let is_offset = !(args.uint(offset) * unit.0).is_multiple_of(*size);
                let every = (size / unit.0).max(1);
                let field = if is_offset { offset } else { stride };
                (field, format!("with {width} = {size} {stride} and {offset} must be multiples of {every}"))
            }
        };
        FieldError::conflict(field, format!("{error}; {advice}"))
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use vramlab_units::{Map, Value};

    /// A question from a JSON object.
    pub(crate) fn question(json: &Value) -> Map {
        json.as_object().expect("a question is an object").clone()
    }
}
