//! The suites of the visualizers: `walk` opens all of them everywhere, `behave` uses them as a reader does, `author` is
//! the same for author's figures.

#[cfg(test)]
mod allocator;
#[cfg(test)]
mod author;
#[cfg(test)]
mod behave;
#[cfg(test)]
mod bottleneck;
#[cfg(test)]
mod capstone;
#[cfg(test)]
mod compression;
#[cfg(test)]
mod frameworks;
#[cfg(test)]
mod fusion;
#[cfg(test)]
mod kernel_lab;
#[cfg(test)]
mod kv_lab;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod primer;
#[cfg(test)]
mod roofline;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod sketch;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod walk;
