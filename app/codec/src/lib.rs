//! Number formats of few bits, and what is lost or saved by them.
