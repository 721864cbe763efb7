//! The memory of a training step: what occupies it, when, and whose it is. PyTorch's eager mode as a pure machine, in
//! which tensors have sizes and owners but no values.
//!
//! Read `sim/tensor.rs` first: a tensor's bytes live as long as somebody holds it, and every request and every free goes on the
//! `tape.rs`. `sim/graph.rs` is autograd: a forward operation says what it saves and how its gradient is made, and
//! backward follows from it. `ops/` holds one small function for each operation, `nets/` the models built of them, `optim.rs` the
//! optimizers. `plan.rs` describes a run, `run.rs` plays its steps, `replay.rs` sends the tape through the caching
//! allocator, `timeline.rs` adds up the owners at every event.

pub mod nets;
mod ops;
mod optim;
mod plan;
mod replay;
mod run;
mod sim;
mod tape;
mod timeline;

pub use nets::picture::{Attend, Config as PictureConfig, PicturePart, Shot, Tile, shoot, train_picture};
pub use plan::{Attention, Extras, Net, Norm, Optimizer, Plan, PlanError, Precision, Update};
pub use replay::{Figures, Place, Start, figures, rounded};
pub use run::{Run, record};
pub use tape::{Event, Item, Mark, Owner, Tape};
pub use timeline::{Band, Holder, Part, Peak, Phase, Timeline, live_at, live_on};
