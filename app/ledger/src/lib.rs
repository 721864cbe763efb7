//! The memory of a training step: what occupies it, when, and whose it is.
