//! The tape beside PyTorch 2.11 on an H200: allocator events one by one, and the figures of every kept configuration.

mod bands;
mod configs;
mod events;
mod given;
mod kept;
mod pictures;
