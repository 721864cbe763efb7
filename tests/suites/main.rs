//! Suites that cross crates. Tests of one crate stand beside its code.
//!
//! `architecture` holds the map, `ceilings` the measured roofs, `content` every lesson, kernel and trace, `docs` what the
//! guides promise, `faults` the list of cases with the test that covers each, `fuzz` every reader
//! against seeded damage, `pages` the interface without a window,
//! `quoted` the numbers that lessons quote from recordings, `stated` what recordings may miss, `watching` a lesson folder on disk.

#![expect(clippy::unwrap_used, reason = "a suite that cannot go on says so by failing")]

mod architecture;
mod ceilings;
mod content;
mod docs;
mod faults;
mod fuzz;
mod pages;
mod quoted;
mod stated;
mod watching;
