//! The runner's faults, without a GPU: cases R1 to R16 of the fault list, played by scripts. Deadlines are short
//! where they must pass and generous where they must not.

mod faults;
mod life;
mod stage;
