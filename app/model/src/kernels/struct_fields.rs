//! A struct of fields laid out in memory, and the sectors that a warp touches when it reads some of them.
//!
//! Question: fields as `name:bytes`, with `:align` where the alignment is another; which are read; the layout. Answer: size with its
//! padding, padding, sectors of a warp with every field's access counted alone (worst) and with each sector counted once (cached),
//! and the same for one array a field, or for blocks of `width` elements a field.
//! Assumption: lane i reads element i of 32, the array begins at `base_bytes`, fields are in the order given, each as C would align it.
//! Source: arithmetic over 32-byte sectors; the C ABI's rule of natural alignment. Errors: a field that is not there, an alignment
//! that is no power of two, more than 4,096 bytes.

use crate::fields::{answer, choice, number};
use crate::inference::{list, text};
use crate::registry::Model;
use std::collections::BTreeMap;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub const SECTOR: u64 = 32;
pub const LANES: u64 = 32;
const MOST_BYTES: u64 = 4096;
const MOST_FIELDS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub bytes: u64,
    pub align: u64,
}

/// Byte offsets of the fields, and the size of the struct with its padding.
pub fn lay_out(fields: &[Field]) -> (Vec<u64>, u64) {
    let mut at = 0_u64;
    let offsets = fields
        .iter()
        .map(|field| {
            let start = at.next_multiple_of(field.align);
            at = start + field.bytes;
            start
        })
        .collect();
    let align = fields.iter().map(|field| field.align).max().unwrap_or(1);
    (offsets, at.next_multiple_of(align).max(1))
}

/// Where lane `lane` finds a field: arrays of structs, one array a field, or blocks of `width` elements a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Aos,
    Soa,
    Blocks(u64),
}

impl Order {
    /// The first byte of a field of lane `lane`, in an array that begins at `base`. One array a field is a block of all 32 elements.
    pub fn place(self, fields: &[Field], index: usize, lane: u64, base: u64) -> u64 {
        let bytes = fields[index].bytes;
        let width = match self {
            Self::Aos => {
                let (offsets, size) = lay_out(fields);
                return base + lane * size + offsets[index];
            }
            Self::Soa => LANES,
            Self::Blocks(width) => width.max(1),
        };
        let before: u64 = fields[..index].iter().map(|field| field.bytes * width).sum();
        let block: u64 = fields.iter().map(|field| field.bytes * width).sum();
        base + lane / width * block + before + lane % width * bytes
    }
}

/// A sector that a warp touches, with the bytes that each of the fields at `read` uses of it, 0 where it has none there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    pub sector: u64,
    pub by_field: Vec<u64>,
}

impl Touched {
    pub fn useful(&self) -> u64 {
        self.by_field.iter().sum()
    }

    /// How often it is fetched when every field's access fetches it anew.
    pub fn fetches(&self) -> u64 {
        self.by_field.iter().filter(|bytes| **bytes > 0).count() as u64
    }
}

/// The sectors that a warp touches when it reads the fields at `read`, in order of their address.
pub fn touched(fields: &[Field], read: &[usize], order: Order, base: u64) -> Vec<Touched> {
    let mut all: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (at, index) in read.iter().enumerate() {
        for lane in 0..LANES {
            let start = order.place(fields, *index, lane, base);
            let end = start + fields[*index].bytes;
            for sector in start / SECTOR..=(end - 1) / SECTOR {
                let used = end.min((sector + 1) * SECTOR) - start.max(sector * SECTOR);
                all.entry(sector).or_insert_with(|| vec![0; read.len()])[at] += used;
            }
        }
    }
    all.into_iter().map(|(sector, by_field)| Touched { sector, by_field }).collect()
}

/// Sectors of a warp's accesses to the fields at `read`: the sum over fields, and distinct ones.
pub fn sectors(fields: &[Field], read: &[usize], order: Order, base: u64) -> (u64, u64) {
    let all = touched(fields, read, order, base);
    (all.iter().map(Touched::fetches).sum(), all.len() as u64)
}

/// What a field aligns to of itself: up to 16 bytes, for no load is wider.
pub fn natural_align(bytes: u64) -> u64 {
    1_u64 << bytes.trailing_zeros().min(4)
}

/// Fields from `name:bytes` or `name:bytes:align`, with blanks between.
pub fn parse(source: &str) -> Result<Vec<Field>, FieldError> {
    let bad = |what: String| FieldError::conflict("fields", what);
    let mut fields: Vec<Field> = Vec::new();
    for word in source.split([' ', ',']).filter(|word| !word.is_empty()) {
        let parts: Vec<&str> = word.split(':').collect();
        let number = |at: usize| parts.get(at).and_then(|part| part.parse::<u64>().ok());
        let bytes = number(1).filter(|bytes| (1..=MOST_BYTES).contains(bytes));
        let bytes =
            bytes.ok_or_else(|| bad(format!("{word} is not read; a field is name:bytes or name:bytes:align")))?;
        let natural = natural_align(bytes);
        let align = if parts.len() > 2 { number(2).unwrap_or(0) } else { natural };
        if !align.is_power_of_two() || align > 256 {
            return Err(bad(format!("{word}: the alignment must be a power of two up to 256")));
        }
        if fields.iter().any(|field| field.name == parts[0]) {
            return Err(bad(format!("two fields are named {}", parts[0])));
        }
        fields.push(Field { name: parts[0].to_owned(), bytes, align });
    }
    let size = lay_out(&fields).1;
    if fields.is_empty() || fields.len() > MOST_FIELDS || size > MOST_BYTES {
        let n = fields.len();
        return Err(bad(format!(
            "{n} fields of {size} B; a struct has 1 to {MOST_FIELDS} fields and at most {MOST_BYTES} B"
        )));
    }
    Ok(fields)
}

pub struct StructFields;

impl Model for StructFields {
    const ID: &'static str = "struct_fields";
    const TITLE: Text =
        Text::new("结构体的字段怎样排，一个 warp 读几个扇区", "Fields of a struct, and the sectors of a warp");
    const ASSUMES: Text = Text::new(
        "lane i 读第 i 个元素；数组从给出的地址开始；字段按给出的顺序，按 C 的规则对齐。",
        "Lane i reads element i; the array begins at the address given; fields stand in the order given, aligned as C aligns them.",
    );
    const SOURCE: &'static str = "arithmetic over 32-byte sectors; natural alignment of the C ABI";
    const EXAMPLE: &'static str = r#"{"fields": "x:4 y:4 z:4", "read": "x", "layout": "aos"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            text(
                "fields",
                "字段：名字:字节，要另外对齐就再加 :对齐",
                "Fields as name:bytes, with :align where the alignment is another",
            ),
            text("read", "读哪些字段，空格隔开", "The fields that are read, with blanks between"),
            choice("layout", "", &["aos", "soa", "aosoa"], Text::new("排法", "Layout")),
            FieldSpec::int("width", "1", 1, 1024, Text::new("aosoa 一块几个元素", "Elements of a block of aosoa"))
                .default_value(8),
            FieldSpec::int("base_bytes", "B", 0, 4096, Text::new("数组的起始地址", "Where the array begins"))
                .default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 20, Text::new(zh, en));
        vec![
            FieldSpec::int(
                "struct_bytes",
                "B",
                1,
                4096,
                Text::new("结构体的字节，含填充", "Bytes of the struct with padding"),
            ),
            FieldSpec::int("padding_bytes", "B", 0, 4096, Text::new("其中的填充", "Padding among them")),
            list("offsets", "B", "各字段的位置", "Offsets of the fields"),
            count("sectors_worst", "每次访问各算各的扇区", "Sectors, every field's access alone"),
            count("sectors", "扇区只算一次", "Sectors, each counted once"),
            FieldSpec::num(
                "efficiency",
                "1",
                0.0,
                1.0,
                Text::new("有用的份额，扇区只算一次", "Useful share, sectors counted once"),
            ),
            FieldSpec::num(
                "worst_efficiency",
                "1",
                0.0,
                1.0,
                Text::new("有用的份额，各算各的", "Useful share, every access alone"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let fields = parse(args.text("fields"))?;
        let named = |name: &str| {
            let at = fields.iter().position(|field| field.name == name);
            at.ok_or_else(|| FieldError::conflict("read", format!("no field is named {name}")))
        };
        let mut read: Vec<usize> =
            args.text("read").split([' ', ',']).filter(|word| !word.is_empty()).map(named).collect::<Result<_, _>>()?;
        read.sort_unstable();
        read.dedup();
        if read.is_empty() {
            return Err(FieldError::conflict("read", "no field is read"));
        }
        let order = match args.text("layout") {
            "soa" => Order::Soa,
            "aosoa" => Order::Blocks(args.uint("width")),
            _ => Order::Aos,
        };
        let (offsets, size) = lay_out(&fields);
        let (worst, once) = sectors(&fields, &read, order, args.uint("base_bytes"));
        let useful: u64 = read.iter().map(|index| fields[*index].bytes * LANES).sum();
        let used: u64 = fields.iter().map(|field| field.bytes).sum();
        Ok(answer([
            ("struct_bytes", size.into()),
            ("padding_bytes", (size - used).into()),
            ("offsets", offsets.iter().map(|at| Value::from(*at)).collect::<Vec<_>>().into()),
            ("sectors_worst", worst.into()),
            ("sectors", once.into()),
            ("efficiency", number(useful as f64 / (once * SECTOR) as f64)),
            ("worst_efficiency", number((useful as f64 / (worst * SECTOR) as f64).min(1.0))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    fn ask(fields: &str, read: &str, layout: &str, width: u64) -> Result<Map, FieldError> {
        eval("struct_fields", &question(&json!({"fields": fields, "read": read, "layout": layout, "width": width})))
    }

    /// Brief 13, vector 3: one float of a struct of S bytes.
    #[test]
    fn one_float_of_a_struct() {
        for (size, sectors, efficiency) in [
            (4_u64, 4, 1.0),
            (8, 8, 0.5),
            (12, 12, 1.0 / 3.0),
            (16, 16, 0.25),
            (24, 24, 1.0 / 6.0),
            (32, 32, 0.125),
            (48, 32, 0.125),
            (64, 32, 0.125),
        ] {
            let fields = if size > 4 { format!("x:4 rest:{}:4", size - 4) } else { "x:4".to_owned() };
            let found = ask(&fields, "x", "aos", 1).unwrap();
            assert_eq!(
                (found["struct_bytes"].as_u64(), found["sectors"].as_u64()),
                (Some(size), Some(sectors)),
                "{size}"
            );
            assert!((found["efficiency"].as_f64().unwrap() - efficiency).abs() < 1e-12, "{size}");
        }
        assert_eq!(ask("v:16", "v", "aos", 1).unwrap()["sectors"].as_u64(), Some(16));
    }

    /// Brief 13, vector 3: an array that begins one word late, and float4.
    #[test]
    fn a_late_start_takes_one_sector_more() {
        let given = json!({"fields": "x:4", "read": "x", "layout": "aos", "base_bytes": 4});
        assert_eq!(eval("struct_fields", &question(&given)).unwrap()["sectors"].as_u64(), Some(5));
        let fields = parse("a:16 b:16").unwrap();
        let all = touched(&fields, &[0], Order::Soa, 0);
        assert!(all.len() == 16 && all.iter().all(|sector| sector.useful() == 32 && sector.fetches() == 1));
    }

    /// Each sector of an array of { x, y, z } is fetched once for each of the three fields that lies in it.
    #[test]
    fn the_bytes_of_sectors_add_up() {
        let fields = parse("x:4 y:4 z:4").unwrap();
        for order in [Order::Aos, Order::Soa, Order::Blocks(4), Order::Blocks(8)] {
            let all = touched(&fields, &[0, 2], order, 0);
            assert_eq!(all.iter().map(Touched::useful).sum::<u64>(), 2 * 32 * 4, "{order:?}");
        }
        assert_eq!(Order::Aos.place(&fields, 1, 2, 0), 28);
        assert_eq!(Order::Soa.place(&fields, 1, 2, 0), 136);
        assert_eq!(Order::Blocks(8).place(&fields, 1, 9, 0), 96 + 32 + 4);
    }

    /// Brief 13, vector 4, and check question 2.
    #[test]
    fn all_fields_and_blocks() {
        let all = ask("x:4 y:4 z:4", "x y z", "aos", 1).unwrap();
        assert_eq!((all["sectors_worst"].as_u64(), all["sectors"].as_u64()), (Some(36), Some(12)));
        for (width, efficiency) in [(8, 0.5), (16, 1.0), (32, 1.0)] {
            let found = ask("a:2 b:2 c:2", "a", "aosoa", width).unwrap();
            assert!((found["efficiency"].as_f64().unwrap() - efficiency).abs() < 1e-12, "{width}: {found:?}");
        }
        assert_eq!(ask("x:4 y:4 z:4", "x", "soa", 1).unwrap()["sectors"].as_u64(), Some(4));
    }

    /// What a C compiler says of struct { char c; double d; short s; } and of the order d, s, c.
    #[test]
    fn padding_is_that_of_c() {
        let bad = ask("c:1 d:8 s:2", "d", "aos", 1).unwrap();
        assert_eq!((bad["struct_bytes"].as_u64(), bad["offsets"].clone()), (Some(24), json!([0, 8, 16])));
        let good = ask("d:8 s:2 c:1", "d", "aos", 1).unwrap();
        assert_eq!((good["struct_bytes"].as_u64(), good["padding_bytes"].as_u64()), (Some(16), Some(5)));
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (fields, read, field, said) in [
            ("x:4:3", "x", "fields", "power of two"),
            ("x:0", "x", "fields", "name:bytes"),
            ("x", "x", "fields", "name:bytes"),
            ("x:4 x:4", "x", "fields", "two fields are named x"),
            ("", "x", "fields", "1 to 64 fields"),
            ("x:4", "y", "read", "no field is named y"),
            ("x:4", "", "read", "no field is read"),
        ] {
            let error = ask(fields, read, "aos", 1).unwrap_err();
            assert!(error.field() == field && error.to_string().contains(said), "{fields} {read}: {error}");
        }
    }
}
