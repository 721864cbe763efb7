//! The runner's faults, without a GPU: cases R1 to R16 of the fault list, played by scripts. Deadlines are short
//! where they must pass and generous where they must not.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

mod edited;
mod faults;
mod life;
mod stage;
