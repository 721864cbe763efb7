//! `picture` with lessons from outside, and what `list experiments` tells an author.

use crate::program::{repository, vramlab};
use std::fs;
use std::path::Path;

const FOLDER: &str = "tests/data/figures";

/// A zip with one file that is not compressed.
fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let crc = !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    });
    let (len, name_len) = (bytes.len() as u32, name.len() as u16);
    // Version, flags, method, time, date; then sum, sizes and the name's length, which both headers share.
    let shared = [&[20, 0, 0, 0, 0, 0, 0, 0, 33, 0][..], &crc.to_le_bytes(), &len.to_le_bytes(), &len.to_le_bytes()];
    let shared = [&shared.concat()[..], &name_len.to_le_bytes(), &[0, 0]].concat();
    let local = [b"PK\x03\x04", &shared[..], name.as_bytes(), bytes].concat();
    let central = [b"PK\x01\x02\x14\0", &shared[..], &[0; 14], name.as_bytes()].concat();
    let (n_central, at) = (central.len() as u32, local.len() as u32);
    let end = [b"PK\x05\x06\0\0\0\0\x01\0\x01\0", &n_central.to_le_bytes()[..], &at.to_le_bytes(), &[0, 0]].concat();
    [local, central, end].concat()
}

fn picture(page: &str, lessons: &str, out: &Path) -> crate::program::Answer {
    vramlab(&["picture", page, "--lessons", lessons, "--out", out.to_str().unwrap()])
}

#[test]
fn a_step_of_a_pack_becomes_a_picture() {
    let dir = tempfile::tempdir().unwrap();
    let (pack, out) = (dir.path().join("pack.zip"), dir.path().join("a.png"));
    let chapter = fs::read(repository(FOLDER).join("90_six_figures/chapter.toml")).unwrap();
    fs::write(&pack, zip("90_six_figures/chapter.toml", &chapter)).unwrap();
    let answer = picture("90_six_figures/amdahl", pack.to_str().unwrap(), &out);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let by_zip = fs::read(&out).unwrap();
    let answer = picture("90_six_figures/amdahl", repository(FOLDER).to_str().unwrap(), &out);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    assert!(by_zip.starts_with(b"\x89PNG") && by_zip.len() > fs::read(&out).unwrap().len() / 2);
    fs::write(&pack, b"PK\x03\x04 and no more").unwrap();
    let answer = picture("90_six_figures/amdahl", pack.to_str().unwrap(), &out);
    assert_eq!(answer.code, Some(2), "{}", answer.err);
    assert!(answer.err.contains("pack.zip is damaged"), "{}", answer.err);
}

#[test]
fn a_page_that_does_not_exist_is_wrong_usage_with_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a.png");
    for (page, words) in [
        ("90_six_figures/amdal", "no step is called \"amdal\""),
        ("90_six_figures/amdal", "did you mean \"amdahl\"?"),
        ("02_acess_patterns", "did you mean \"02_access_patterns\"?"),
        ("/nowhere", "there is no page \"/nowhere\""),
    ] {
        let answer = picture(page, repository(FOLDER).to_str().unwrap(), &out);
        assert_eq!(answer.code, Some(2), "{page}: {}", answer.err);
        assert!(answer.err.contains(words), "{page}: {}", answer.err);
        assert!(answer.out.is_empty() && !out.exists(), "{page}");
    }
}

/// The axes are those of kernels/strided_read/stride.experiment.toml.
#[test]
fn a_list_of_experiments_says_what_an_author_has_to_know() {
    let text = vramlab(&["--lang", "en", "list", "experiments"]).out;
    let at = text.find("strided_read/stride ·").unwrap();
    let block = text[at..].split("\n\n").next().unwrap();
    for label in ["\n  x ", "\n  y ", "(GB/s)", "\n  series ", "\n  set "] {
        assert!(block.contains(label), "{label}: {block}");
    }
    let json = vramlab(&["--json", "list", "experiments"]).json();
    let items = json["items"].as_array().unwrap();
    let one = items.iter().find(|item| item["id"] == "strided_read/stride").unwrap();
    assert_eq!((&one["x"]["id"], &one["y"]["unit"]), (&"stride".into(), &"GB/s".into()), "{one:#}");
    assert!(items.iter().all(|item| !item["series"].as_array().unwrap().is_empty()));
}
