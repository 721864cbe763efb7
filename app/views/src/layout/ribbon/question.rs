//! What the reader sets: a struct, which of its fields are read, and how an array of it lies in memory.

use std::borrow::Cow;
use vramlab_model::kernels::struct_fields::{self, Field, LANES, Order, SECTOR, Touched};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub const MOST_FIELDS: usize = 6;
pub const MOST_BYTES: u64 = 64;
pub const SIZES: [u64; 6] = [1, 2, 4, 8, 12, 16];
pub const ALIGNS: [u64; 5] = [1, 2, 4, 8, 16];
pub const WIDTHS: [u64; 4] = [2, 4, 8, 16];
const NAMES: [&str; 8] = ["x", "y", "z", "m", "q", "r", "s", "t"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Aos,
    Soa,
    Aosoa,
}

impl Layout {
    pub const ALL: [Self; 3] = [Self::Aos, Self::Soa, Self::Aosoa];

    pub fn name(self) -> &'static str {
        match self {
            Self::Aos => "aos",
            Self::Soa => "soa",
            Self::Aosoa => "aosoa",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub fields: Vec<Field>,
    pub is_read: Vec<bool>,
    pub layout: Layout,
    pub width: u64,
    pub base: u64,
    /// Every field's access fetches its sectors anew.
    pub is_worst: bool,
}

/// The answer of the models for the state shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub offsets: Vec<u64>,
    pub struct_bytes: u64,
    pub padding: u64,
    /// Indices of the fields that are read.
    pub read: Vec<usize>,
    pub touched: Vec<Touched>,
    pub once: u64,
    pub worst: u64,
    pub useful: u64,
    /// Bytes of memory that the picture shows, whole sectors.
    pub shown: u64,
}

impl Answer {
    pub fn fetched(&self, is_worst: bool) -> u64 {
        if is_worst { self.worst } else { self.once }
    }

    pub fn efficiency(&self, is_worst: bool) -> f64 {
        self.useful as f64 / (self.fetched(is_worst).max(1) * SECTOR) as f64
    }
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let text =
            |key, doc, start: &str| FieldSpec::new(key, "", FieldKind::Text { max_len: 128 }, doc).default_value(start);
        let choice = |key, unit, options: Vec<Cow<'static, str>>, doc| {
            FieldSpec::new(key, unit, FieldKind::Choice { options }, doc)
        };
        let layouts = Layout::ALL.map(|layout| layout.name().into()).to_vec();
        let widths = WIDTHS.map(|width| width.to_string().into()).to_vec();
        vec![
            text(
                "fields",
                Text::new(
                    "字段：名字:字节，要另外对齐就再加 :对齐",
                    "Fields as name:bytes, with :align where it is another",
                ),
                "x:4 y:4 z:4",
            ),
            text("read", Text::new("读哪些字段，空格隔开", "The fields that are read, with blanks between"), "x"),
            choice("layout", "", layouts, Text::new("排法", "Layout")).default_value("aos"),
            choice("width", "1", widths, Text::new("aosoa 一块几个元素", "Elements of a block of aosoa"))
                .default_value("8"),
            FieldSpec::int(
                "base_bytes",
                "B",
                0,
                28,
                Text::new("数组从扇区里的第几字节开始", "Where in a sector the array begins"),
            )
            .default_value(0),
            FieldSpec::new(
                "is_worst",
                "",
                FieldKind::Bool,
                Text::new("每个字段的访问各取各的", "Every field's access fetches anew"),
            )
            .default_value(false),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let fields = struct_fields::parse(args.text("fields"))?;
        let size = struct_fields::lay_out(&fields).1;
        if fields.len() > MOST_FIELDS || size > MOST_BYTES {
            let said = format!(
                "{} fields of {size} B; this figure shows {MOST_FIELDS} fields and {MOST_BYTES} B",
                fields.len()
            );
            return Err(FieldError::conflict("fields", said));
        }
        let mut is_read = vec![false; fields.len()];
        for word in args.text("read").split([' ', ',']).filter(|word| !word.is_empty()) {
            let at = fields.iter().position(|field| field.name == word);
            let at = at.ok_or_else(|| FieldError::conflict("read", format!("no field is named {word}")))?;
            is_read[at] = true;
        }
        let layout = Layout::ALL.into_iter().find(|layout| layout.name() == args.text("layout")).unwrap_or(Layout::Aos);
        let width = args.text("width").parse().unwrap_or(8);
        Ok(Self { fields, is_read, layout, width, base: args.uint("base_bytes"), is_worst: args.flag("is_worst") })
    }

    pub fn params(&self) -> Map {
        let field = |field: &Field| match field.align == struct_fields::natural_align(field.bytes) {
            true => format!("{}:{}", field.name, field.bytes),
            false => format!("{}:{}:{}", field.name, field.bytes, field.align),
        };
        let fields: Vec<String> = self.fields.iter().map(field).collect();
        let read: Vec<&str> = self.read().into_iter().map(|at| self.fields[at].name.as_str()).collect();
        let values: [(&str, Value); 6] = [
            ("fields", fields.join(" ").into()),
            ("read", read.join(" ").into()),
            ("layout", self.layout.name().into()),
            ("width", self.width.to_string().into()),
            ("base_bytes", self.base.into()),
            ("is_worst", self.is_worst.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn read(&self) -> Vec<usize> {
        (0..self.fields.len()).filter(|at| self.is_read[*at]).collect()
    }

    pub fn order(&self) -> Order {
        match self.layout {
            Layout::Aos => Order::Aos,
            Layout::Soa => Order::Soa,
            Layout::Aosoa => Order::Blocks(self.width),
        }
    }

    /// The first byte of a field of a lane.
    pub fn place(&self, field: usize, lane: u64) -> u64 {
        self.order().place(&self.fields, field, lane, self.base)
    }

    pub fn answer(&self) -> Answer {
        let (offsets, struct_bytes) = struct_fields::lay_out(&self.fields);
        let used: u64 = self.fields.iter().map(|field| field.bytes).sum();
        let read = self.read();
        let touched = struct_fields::touched(&self.fields, &read, self.order(), self.base);
        let (worst, once) = struct_fields::sectors(&self.fields, &read, self.order(), self.base);
        let useful = touched.iter().map(Touched::useful).sum();
        let each = if self.layout == Layout::Aos { struct_bytes } else { used };
        let shown = (self.base + each * LANES).next_multiple_of(SECTOR);
        Answer { offsets, struct_bytes, padding: struct_bytes - used, read, touched, once, worst, useful, shown }
    }

    /// The struct after `change`, if it still is one that the figure can show.
    pub fn edited(&self, change: impl FnOnce(&mut Self)) -> Option<Self> {
        let mut next = self.clone();
        change(&mut next);
        let size = struct_fields::lay_out(&next.fields).1;
        let is_legal = !next.fields.is_empty() && next.fields.len() <= MOST_FIELDS && size <= MOST_BYTES;
        is_legal.then_some(next)
    }

    pub fn resize(&self, at: usize, bytes: u64) -> Option<Self> {
        self.edited(|next| {
            next.fields[at].bytes = bytes;
            next.fields[at].align = struct_fields::natural_align(bytes);
        })
    }

    pub fn swap(&self, at: usize, other: usize) -> Option<Self> {
        let is_inside = at < self.fields.len() && other < self.fields.len();
        is_inside.then(|| {
            let mut next = self.clone();
            next.fields.swap(at, other);
            next.is_read.swap(at, other);
            next
        })
    }

    pub fn added(&self) -> Option<Self> {
        let is_free = |name: &&&str| self.fields.iter().all(|field| field.name != **name);
        let name = NAMES.iter().find(is_free)?;
        self.edited(|next| {
            next.fields.push(Field { name: (*name).to_owned(), bytes: 4, align: 4 });
            next.is_read.push(false);
        })
    }

    pub fn removed(&self, at: usize) -> Option<Self> {
        self.edited(|next| {
            next.fields.remove(at);
            next.is_read.remove(at);
        })
    }
}
