//! The author's guide, followed to the letter: every file it says to write is written, every command it says to type is
//! run in an empty folder, and what it says is printed is printed.

use crate::program::{Answer, PROGRAM, command, repository};
use std::fs;
use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use vramlab_lesson::StepBody;

const GUIDES: [&str; 2] = ["lessons/AUTHORING.en.md", "lessons/AUTHORING.zh.md"];
/// A bound, not a wait.
const LIMIT: Duration = Duration::from_secs(30);

/// A fenced block: the line above it that is not empty, its language, its lines.
struct Block {
    above: String,
    lang: String,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut above = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(lang) = line.strip_prefix("```") {
            let inside = lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect();
            out.push(Block { above: above.clone(), lang: lang.to_owned(), lines: inside });
        } else if !line.trim().is_empty() {
            line.clone_into(&mut above);
        }
    }
    out
}

/// The commands of a console block, without their comments, each with the lines it prints.
fn commands(block: &Block) -> Vec<(String, Vec<String>)> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    for line in &block.lines {
        match line.strip_prefix("$ ") {
            Some(command) => out.push((command.split(" #").next().unwrap().trim().to_owned(), Vec::new())),
            None => out.last_mut().unwrap().1.push(line.clone()),
        }
    }
    out
}

fn run(dir: &Path, line: &str) -> Answer {
    let args: Vec<&str> = line.strip_prefix("vramlab ").unwrap().split_whitespace().collect();
    command(&dir.join("data")).args(args).current_dir(dir).output().unwrap().into()
}

struct Watching {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Watching {
    fn start(dir: &Path, line: &str) -> Self {
        let args: Vec<&str> = line.strip_prefix("vramlab ").unwrap().split_whitespace().collect();
        let mut command = command(&dir.join("data"));
        let piped = command.args(args).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap_or_else(|error| panic!("{PROGRAM}: {error}"));
        let (send, lines) = mpsc::channel();
        let out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines }
    }

    fn until(&self, wanted: &str) {
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("never said: {wanted}"));
            if line == wanted {
                return;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_author_with_the_guide_alone_makes_a_chapter() {
    for guide in GUIDES {
        let text = fs::read_to_string(repository(guide)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let chapter = dir.path().join("40_first/chapter.toml");
        let mut written = String::new();
        let mut watching = None;
        let mut n_run = 0;
        for block in blocks(&text) {
            let path = block.above.trim_start_matches('`').split('`').next().unwrap_or_default();
            match block.lang.as_str() {
                "toml" if path == "40_first/chapter.toml" => {
                    written.push_str(&block.lines.join("\n"));
                    written.push_str("\n\n");
                    fs::write(&chapter, &written).unwrap();
                }
                "console" => {
                    for (line, prints) in commands(&block) {
                        n_run += 1;
                        follow(guide, dir.path(), &line, &prints, &mut watching);
                    }
                }
                "text" if block.lines[0].contains("unlike units") => {
                    mistake(guide, dir.path(), &text, &written, &block, watching.as_ref().unwrap());
                }
                _ => {}
            }
        }
        assert!(n_run >= 5, "{guide}: {n_run} commands");
        let made = vramlab_lesson::parse("40_first", guide, written.as_bytes()).chapter.unwrap();
        assert_eq!(made.steps.len(), 2, "{guide}: two steps");
        assert!(made.lang.is_none() && made.title.zh.is_some() && made.title.en.is_some(), "{guide}: two languages");
        let is = |wanted: fn(&StepBody) -> bool| made.steps.iter().any(|step| wanted(&step.body));
        assert!(is(|body| matches!(body, StepBody::Figure(_))), "{guide}: a figure of the author's own");
        assert!(is(|body| matches!(body, StepBody::Experiment(_))), "{guide}: an experiment");
    }
}

fn follow(guide: &str, dir: &Path, line: &str, prints: &[String], watching: &mut Option<Watching>) {
    if line.contains("--watch") {
        let started = Watching::start(dir, line);
        prints.iter().for_each(|line| started.until(line));
        *watching = Some(started);
        return;
    }
    // A window cannot open here; that the folder shows without a finding, `check` and `picture` tell.
    if line.starts_with("vramlab --lessons") {
        return;
    }
    let answer = run(dir, line);
    assert_eq!(answer.code, Some(0), "{guide}: {line}\n{}{}", answer.out, answer.err);
    let printed: Vec<&str> = answer.out.lines().collect();
    for wanted in prints {
        assert!(printed.contains(&wanted.as_str()), "{guide}: `{line}` prints\n{}", answer.out);
    }
    if line.contains("picture") {
        let png = fs::read(dir.join(line.rsplit(' ').next().unwrap())).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000, "{guide}: {} bytes", png.len());
    }
}

/// The mistake that the guide asks for, and what the checker says of it: once more, and in the terminal that watches.
fn mistake(guide: &str, dir: &Path, text: &str, written: &str, block: &Block, watching: &Watching) {
    let (right, wrong) = ("\"wanted / moved\"", "\"wanted / moved + wanted\"");
    assert!(text.contains(&wrong.replace('"', "`")), "{guide} names the mistake");
    fs::write(dir.join("40_first/chapter.toml"), written.replace(right, wrong)).unwrap();
    let answer = run(dir, "vramlab check 40_first");
    assert_eq!(answer.code, Some(1), "{guide}: {}", answer.out);
    for wanted in &block.lines {
        assert!(answer.out.lines().any(|line| line == wanted), "{guide} promises\n{wanted}\nbut\n{}", answer.out);
    }
    watching.until(&block.lines[0]);
    fs::write(dir.join("40_first/chapter.toml"), written).unwrap();
    watching.until("no problems in 1 chapter");
}
