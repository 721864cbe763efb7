//! The desktop's watcher over a folder that an editor writes to, from the program's own source: the program itself has no
//! library that a suite could use.

#[path = "../../app/desktop/src/watch.rs"]
mod watch;

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use vramlab_shell::Library;
use vramlab_shell::platform::Event;

/// Far longer than the watcher's pause; a bound, not a wait: the test goes on with the event itself.
const LIMIT: Duration = Duration::from_secs(20);

fn files_of(event: Event) -> Vec<(String, Vec<u8>)> {
    match event {
        Event::Lessons { files, .. } => files,
        other => panic!("{other:?}"),
    }
}

/// Half the file, then all of it, then a replacement by name; the cut lies inside a text.
fn save_as_editors_do(path: &Path, text: &str) {
    let half = text.find("\"\"\"").unwrap() + 9;
    std::fs::write(path, &text[..half]).unwrap();
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
    let first = vramlab_lesson::scaffold("40_mine", Some(vramlab_units::Lang::En)).unwrap();
    std::fs::write(&chapter, &first).unwrap();
    let (send, receive) = mpsc::channel();
    let _watch = watch::Watch::start(folder.path(), move |event| drop(send.send(event))).unwrap();
    let mut library = Library::built_in();
    let mut take = |event: Event| {
        // A half file on a slow disk is refused by the reader, who goes on with the last good version.
        let _ = library.open_folder("lessons", files_of(event));
        let chapter = library.chapter("40_mine").expect("the chapter stays");
        (chapter.minutes, chapter.steps.len(), library.problems("40_mine").len())
    };
    let (_, n_steps, _) = take(receive.recv_timeout(LIMIT).unwrap());
    for minutes in [11, 12, 13] {
        save_as_editors_do(&chapter, &first.replace("minutes = 10", &format!("minutes = {minutes}")));
        // A burst is one change or two; the last is what the editor meant.
        loop {
            let shown = take(receive.recv_timeout(LIMIT).expect("the change arrives"));
            assert_eq!(shown.1, n_steps, "half a chapter is shown");
            if shown == (minutes, n_steps, 0) {
                break;
            }
        }
    }
    // Whatever the clock does, half a file never takes the place of a whole one.
    std::fs::write(&chapter, &first[..first.find("\"\"\"").unwrap() + 9]).unwrap();
    let shown = take(receive.recv_timeout(LIMIT).expect("the change arrives"));
    assert_eq!((shown.0, shown.1), (13, n_steps));
    assert!(shown.2 > 0, "the finding stands beside it");
}

/// Reading is no change: a folder at rest is read once.
#[test]
fn a_folder_at_rest_is_not_read_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chapter.toml"), "schema = 1\n").unwrap();
    let (send, receive) = mpsc::channel();
    let _watch = watch::Watch::start(folder.path(), move |event| drop(send.send(event))).unwrap();
    receive.recv_timeout(LIMIT).expect("the files are sent at once");
    std::fs::read(folder.path().join("chapter.toml")).unwrap();
    // As long as the watcher waits at most for the end of a burst, and a little more.
    assert!(receive.recv_timeout(Duration::from_millis(1_200)).is_err(), "nothing has changed");
    std::fs::write(folder.path().join("chapter.toml"), "schema = 1\n# changed\n").unwrap();
    let before = std::time::Instant::now();
    receive.recv_timeout(LIMIT).expect("the change arrives");
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
}
