//! Completions, the manual page, help: made from one description.

use crate::program::vramlab;

const COMMANDS: [&str; 14] = [
    "tour",
    "doctor",
    "list",
    "eval",
    "run",
    "record",
    "check",
    "new",
    "serve",
    "picture",
    "snapshot",
    "migrate",
    "completions",
    "man",
];

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let answer = vramlab(&["completions", shell]);
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        for command in COMMANDS {
            assert!(answer.out.contains(command), "{shell} does not complete {command}");
        }
        for hidden in ["__table", "__selftest", "__runner"] {
            assert!(!answer.out.contains(hidden), "{shell} completes the hidden {hidden}");
        }
    }
}

#[test]
fn the_manual_and_the_help_name_every_command() {
    let (man, help) = (vramlab(&["man"]), vramlab(&["--help"]));
    assert!(man.out.contains(".TH vramlab 1"), "{}", man.out);
    for command in COMMANDS {
        assert!(man.out.contains(command) && help.out.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(help.err.is_empty() && help.out.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn one_manual_page_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("man");
    let answer = vramlab(&["man", "--out", out.to_str().unwrap()]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    for command in COMMANDS {
        assert!(out.join(format!("vramlab-{command}.1")).is_file(), "{command}");
    }
}

#[test]
fn every_command_explains_itself() {
    for command in COMMANDS {
        let answer = vramlab(&[command, "--help"]);
        assert_eq!(answer.code, Some(0));
        assert!(answer.out.contains("Usage:") && answer.out.contains("--json"), "{command}: {}", answer.out);
    }
}
