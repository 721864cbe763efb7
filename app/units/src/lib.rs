//! Quantities, bilingual text, described fields and formulas: the words every other crate speaks.
//!
//! Read `quantity.rs` first. `field.rs` describes the flat JSON objects that models, kernels, visualizers and
//! experiments take as parameters; `formula.rs` is the bounded expression language of the content files, `unit.rs` checks its units.
//! Nothing here knows about memory hardware (that is `model`), pixels (`kit`) or files.

pub mod field;
pub mod formula;
pub mod quantity;
pub mod random;
pub mod show;
pub mod text;
pub mod typed;
pub mod unit;

pub use field::{Args, FieldError, FieldKind, FieldSpec, Map, Value};
pub use formula::{Formula, FormulaError};
pub use quantity::{ByteAddr, Bytes, GbPerSec, Nanos, Ratio};
pub use random::Random;
pub use text::{Lang, Localized, Text};
pub use unit::Unit;
