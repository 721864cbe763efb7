//! The desktop's watcher over a folder that an editor writes to, from the program's own source: the program itself has no
//! library that a suite could use.

#[path = "../../app/desktop/src/watch.rs"]
mod watch;

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use vramlab_shell::platform::Event;

/// Far longer than the watcher's pause; a bound, not a wait: the test goes on with the event itself.
const LIMIT: Duration = Duration::from_secs(20);

fn text_of(event: Event) -> String {
    match event {
        Event::Lessons { files, .. } => {
            let file = files.into_iter().find(|(path, _)| path == "40_mine/chapter.toml");
            String::from_utf8(file.expect("the chapter is in the folder").1).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

fn save_as_editors_do(path: &Path, text: &str) {
    let half = &text[..text.len() / 2];
    std::fs::write(path, half).unwrap();
    std::fs::write(path, text).unwrap();
    let beside = path.with_extension("toml~");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, path).unwrap();
}

#[test]
fn l10_a_file_replaced_while_it_is_read_is_never_half_a_chapter() {
    let folder = tempfile::tempdir().unwrap();
    let chapter = folder.path().join("40_mine/chapter.toml");
    std::fs::create_dir(chapter.parent().unwrap()).unwrap();
    let first = vramlab_lesson::scaffold("40_mine", None).unwrap();
    std::fs::write(&chapter, &first).unwrap();
    let (send, receive) = mpsc::channel();
    let _watch = watch::Watch::start(folder.path(), move |event| drop(send.send(event))).unwrap();
    assert_eq!(text_of(receive.recv_timeout(LIMIT).unwrap()), first);
    for round in 0..3 {
        let next = first.replace("minutes = 30", &format!("minutes = {}", 31 + round));
        save_as_editors_do(&chapter, &next);
        // A burst is one change or two; each that arrives is whole, and the last is what the editor meant.
        loop {
            let seen = text_of(receive.recv_timeout(LIMIT).expect("the change arrives"));
            let parsed = vramlab_lesson::parse("40_mine", "chapter.toml", seen.as_bytes());
            assert!(parsed.problems.is_empty(), "half a chapter: {:?}", parsed.problems);
            if seen == next {
                break;
            }
        }
    }
}
