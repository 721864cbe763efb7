//! Bytes by owner at every event of a step.
