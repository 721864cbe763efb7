//! Every sentence that a failed run can show, in both languages, in one file to be read over like code.
//! `VRAMLAB_BLESS=1` writes it anew.

use std::fmt::Write as _;
use vramlab_gpu::RunError;
use vramlab_gpu::error::How;
use vramlab_units::Lang;

fn all() -> Vec<RunError> {
    let device = |code, name: &str, meaning: &str, is_fatal| RunError::Device {
        code,
        name: name.to_owned(),
        meaning: meaning.to_owned(),
        kernel: "strided_read".to_owned(),
        is_fatal,
    };
    let died = |how| RunError::Died { how, last_words: None };
    vec![
        RunError::unavailable(
            ("没有找到 NVIDIA 驱动", "no NVIDIA driver was found"),
            ("重放录制", "replay a recorded trace"),
        ),
        RunError::Compile { arch: "sm_90".into(), options: vec!["-arch=sm_90".into()], log: "a.cu(3): error".into() },
        device(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal address was accessed", true),
        device(46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "another program has the device", false),
        RunError::OutOfMemory { asked_bytes: 6 << 30, free_bytes: 3 << 29, total_bytes: 8 << 30 },
        RunError::OverBudget { asked_bytes: 6 << 30, budget_bytes: 4 << 30 },
        RunError::Deadline { secs: 20.0 },
        died(How::Signal(9)),
        died(How::Signal(11)),
        died(How::Exit(139)),
        died(How::Closed),
        died(How::Panicked("index out of bounds".into())),
        died(How::NoGreeting),
        died(How::Silent(5.02)),
        died(How::Stayed),
        RunError::Protocol { what: "\"NVRM: …\"".into() },
        RunError::Version { ours: 2, theirs: 1 },
        RunError::CrashLoop { times: 3, secs: 120.0 },
        RunError::Cancelled,
        RunError::Content { what: "cpu_stride: there is no routine \"stride\"".into() },
    ]
}

#[test]
fn every_message_reads_as_reviewed() {
    let mut text = String::new();
    for error in all() {
        for lang in Lang::ALL {
            let said = error.say(lang);
            writeln!(text, "{}: {}", lang.code(), said.what).unwrap();
            if !said.advice.is_empty() {
                writeln!(text, "    {}", said.advice).unwrap();
            }
        }
        text.push('\n');
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/messages.txt");
    if std::env::var_os("VRAMLAB_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default());
}

#[test]
fn the_two_languages_differ_where_the_words_are_ours() {
    for error in all() {
        let (zh, en) = (error.say(Lang::Zh), error.say(Lang::En));
        assert!(!zh.what.is_empty() && !en.what.is_empty());
        assert!(zh != en, "{zh:?}");
        assert_eq!(zh.advice.is_empty(), en.advice.is_empty());
        assert!(!en.what.ends_with('.') && !zh.what.ends_with('。') && !zh.advice.ends_with('。'));
    }
}

#[test]
fn errors_survive_the_wire() {
    for error in all() {
        let text = serde_json::to_string(&error).unwrap();
        assert_eq!(serde_json::from_str::<RunError>(&text).unwrap(), error, "{text}");
    }
}
