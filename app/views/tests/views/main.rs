//! The suites of the visualizers: `walk` opens all of them everywhere, `behave` uses them as a reader does.

mod behave;
mod samples;
mod stage;
mod walk;
