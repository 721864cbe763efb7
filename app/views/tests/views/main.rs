//! The suites of the visualizers: `walk` opens all of them everywhere, `behave` uses them as a reader does.

#[cfg(test)]
mod behave;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod walk;
