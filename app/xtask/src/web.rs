//! The web page: built with whichever wasm toolchain the machine offers, bound, measured, walked in Chromium.

use crate::stage::{Outcome, Report};

pub fn build(_is_debug: bool) -> Outcome {
    Outcome::skip("the web page is not built yet")
}

pub fn build_and_walk(report: &mut Report) {
    report.stage("web build", || build(false));
}
