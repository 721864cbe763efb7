//! Helpers shared by the suites beside this file.
