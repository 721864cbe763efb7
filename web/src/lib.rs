//! The web page.
