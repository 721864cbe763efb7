//! Sessions as they would be typed.

use crate::program::PROGRAM;

#[test]
fn sessions_as_typed() {
    trycmd::TestCases::new()
        .register_bin("vramlab", trycmd::schema::Bin::Path(PROGRAM.into()))
        .env("LANG", "C.UTF-8")
        .env("LC_ALL", "")
        .env("DISPLAY", "")
        .env("WAYLAND_DISPLAY", "")
        .env("NO_COLOR", "1")
        .env("CUDA_VISIBLE_DEVICES", "")
        .case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/*.trycmd"));
}
