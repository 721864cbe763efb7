//! A net that is made smaller after training: fewer bits, fewer weights, fewer units, and what each costs in mistakes.
//!
//! `task.rs` are the drawn digits that it learns, `net.rs` the net out of the device's operations, `squeeze.rs` what may
//! happen to a matrix and how many bytes it then has, `way.rs` the recipes that are compared. Training runs on the
//! processor in single precision; the same seed gives the same net.

mod net;
mod squeeze;
mod task;
mod way;

pub use net::Net;
pub use squeeze::{Form, Matrix, factors};
pub use task::{CLASSES, Digits, SIDE};
pub use way::{Outcome, Stop, Stored, Teacher, Way, run};
