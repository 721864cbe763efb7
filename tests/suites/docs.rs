//! What the guides promise: snippets parse and check, commands exist, links lead somewhere, lists agree.

use std::collections::BTreeSet;
use vramlab_gpu::read::Library as Kernels;
use vramlab_lesson::fields::{self, Field, Holds};
use vramlab_lesson::render;
use vramlab_shell::Library;
use vramlab_tests::{files, read, root};
use vramlab_units::Lang;

const GUIDES: [&str; 2] = ["lessons/AUTHORING.en.md", "lessons/AUTHORING.zh.md"];
const PAGES: &[&str] = &["README.md", "README.zh.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"];

/// The contents of fenced blocks of a language, each with the line above its fence that is not empty.
fn blocks(text: &str, lang: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut above = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == format!("```{lang}") {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
            out.push((above.clone(), inside.join("\n")));
        } else if !line.trim().is_empty() {
            line.clone_into(&mut above);
        }
    }
    out
}

#[test]
fn the_snippets_of_the_author_s_guide_are_a_chapter_without_a_finding() {
    let library = Library::built_in();
    for guide in GUIDES {
        // The blocks under a path are another chapter: the command line's suite makes that one.
        let own = blocks(&read(guide), "toml").into_iter().filter(|(above, _)| !above.starts_with("`40_first/"));
        let text: Vec<String> = own.map(|(_, block)| block).collect();
        assert!(text.len() >= 10, "{guide}: {} snippets", text.len());
        let text = text.join("\n\n");
        let parsed = vramlab_lesson::parse("40_mine", guide, text.as_bytes());
        let found = vramlab_lesson::check(&parsed, &library);
        assert!(found.is_empty(), "{guide}: {}", found.iter().map(render).collect::<String>());
        let chapter = parsed.chapter.unwrap();
        assert!(chapter.steps.len() >= 7 && chapter.audits.len() == 1 && chapter.reviews.len() == 1);
    }
}

#[test]
fn the_author_s_guide_names_every_field_and_kind() {
    fn names(fields: &[Field], out: &mut BTreeSet<&'static str>) {
        for field in fields {
            out.insert(field.key);
            if let Holds::Table(inner) | Holds::Tables(inner) = field.holds {
                names(inner, out);
            }
        }
    }
    let mut all = BTreeSet::new();
    for table in [fields::CHAPTER, fields::STEP, fields::AUDIT, fields::QUESTION, fields::ANSWER, fields::SYMBOL] {
        names(table, &mut all);
    }
    for kind in fields::KINDS {
        kind.fields.iter().for_each(|table| names(table, &mut all));
        all.insert(kind.id);
    }
    for guide in GUIDES {
        let text = read(guide);
        let is_said = |name: &str| {
            let in_words = text.contains(&format!("`{name}`")) || text.contains(&format!("`{name} ="));
            in_words
                || text.lines().any(|line| line.trim_start().starts_with(&format!("{name} =")))
                || text.contains(&format!("{{ {name} ="))
                || text.contains(&format!(", {name} ="))
                || text.contains(&format!("kind = \"{name}\""))
                || text.contains(&format!("[[{name}]]"))
                || text.contains(&format!("[[step.{name}]]"))
        };
        let missing: Vec<&&str> = all.iter().filter(|name| !is_said(name)).collect();
        assert!(missing.is_empty(), "{guide} does not name {missing:?}");
    }
}

#[test]
fn the_guide_lists_the_functions_of_formulas() {
    for guide in GUIDES {
        let text = read(guide);
        let line = text.lines().find(|line| line.contains("min max")).unwrap_or_default();
        for (name, _) in vramlab_units::formula::FUNCTIONS {
            assert!(line.split(['`', ' ']).any(|word| word == *name), "{guide} does not name the function {name}");
        }
    }
}

/// Snippets of CONTRIBUTING.md that stand under a path are files: a kernel and its experiments read without a problem.
#[test]
fn the_kernels_of_the_contributor_s_guide_read() {
    let text = read("CONTRIBUTING.md");
    let mut found = Vec::new();
    for lang in ["toml", "cuda"] {
        for (above, block) in blocks(&text, lang) {
            let path = above.trim().trim_matches(['`', ':']).to_owned();
            if path.starts_with("kernels/") {
                found.push((path, block));
            }
        }
    }
    assert!(found.len() >= 4, "{} files of kernels", found.len());
    let library = Kernels::from_files(found.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let problems: Vec<String> = library.problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(library.kernels.len() == 2 && library.experiments.len() == 2);
}

/// What a new chapter holds as comments works once the comment signs are gone.
#[test]
fn the_steps_that_a_new_chapter_only_shows_check_too() {
    let library = Library::built_in();
    for lang in [None, Some(Lang::Zh), Some(Lang::En)] {
        let text = vramlab_lesson::scaffold("40_mine", lang).unwrap();
        let is_toml = |line: &str| {
            line.starts_with("[[step]]") || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '))
        };
        let bare = |line: &str| match line.strip_prefix("# ") {
            Some(rest) if is_toml(rest) => rest.to_owned(),
            _ => line.to_owned(),
        };
        let text = text.lines().map(bare).collect::<Vec<_>>().join("\n");
        let parsed = vramlab_lesson::parse("40_mine", "chapter.toml", text.as_bytes());
        let found = vramlab_lesson::check(&parsed, &library);
        assert!(found.is_empty(), "{lang:?}: {}", found.iter().map(render).collect::<String>());
        let steps = parsed.chapter.unwrap().steps;
        assert!(steps.iter().any(|step| matches!(step.body, vramlab_lesson::StepBody::Figure(_))), "{lang:?}");
        assert!(steps.iter().any(|step| matches!(step.body, vramlab_lesson::StepBody::Experiment(_))), "{lang:?}");
    }
}

/// Subcommands as the program declares them.
fn subcommands() -> BTreeSet<String> {
    let text = read("app/desktop/src/cli/mod.rs");
    let body = text.split("enum Command {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("the subcommands");
    let variants = body.lines().map(str::trim).filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    variants.map(|line| line.split(['(', ',', ' ']).next().unwrap_or_default().to_ascii_lowercase()).collect()
}

#[test]
fn commands_in_the_guides_exist() {
    let known = subcommands();
    assert!(known.contains("tour") && known.contains("doctor"), "{known:?}");
    let tasks = read("app/xtask/src/main.rs");
    for page in PAGES.iter().chain(&GUIDES) {
        let text = read(page);
        for (at, _) in text.match_indices("vramlab ") {
            let is_code = text[..at].ends_with(['`', '$', ' ', '\n', '/']);
            let word: String = text[at + 8..].chars().take_while(|c| c.is_ascii_lowercase()).collect();
            let line = text[..at].rsplit('\n').next().unwrap_or_default();
            let is_command = is_code && (line.trim().starts_with('$') || text[..at].ends_with('`')) && !word.is_empty();
            assert!(!is_command || known.contains(&word), "{page}: there is no `vramlab {word}`");
        }
        for (at, _) in text.match_indices("cargo xtask ") {
            let word: String = text[at + 12..].chars().take_while(|c| c.is_ascii_lowercase()).collect();
            assert!(tasks.contains(&format!("Some(\"{word}\")")), "{page}: there is no `cargo xtask {word}`");
        }
    }
}

#[test]
fn every_subcommand_stands_in_the_readme() {
    let text = read("README.md");
    for name in subcommands().into_iter().filter(|name| name != "table" && name != "selftest") {
        assert!(text.contains(&format!("`{name}")), "README.md does not name `{name}`");
    }
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    for page in PAGES.iter().chain(&GUIDES) {
        let text = read(page);
        let here = root().join(page).parent().unwrap().to_path_buf();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', '#']).next().unwrap_or_default();
            let is_inside = !target.is_empty() && !target.contains(':') && target != "figure.png";
            assert!(!is_inside || here.join(target).exists(), "{page}: {target} is not there");
        }
    }
}

#[test]
fn the_readme_has_a_picture_that_is_small_enough() {
    let text = read("README.md");
    let (_, path) = text.split_once("](web/pictures/").expect("a picture");
    let path = format!("web/pictures/{}", path.split(')').next().unwrap());
    let bytes = std::fs::read(root().join(&path)).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() <= 300_000, "{path}: {} bytes", bytes.len());
}

#[test]
fn the_two_lists_of_licences_agree() {
    let deny: toml::Table = read("deny.toml").parse().unwrap();
    let ours: BTreeSet<&str> =
        deny["licenses"]["allow"].as_array().unwrap().iter().filter_map(|v| v.as_str()).collect();
    let text = read("app/xtask/src/house.rs");
    let list = text.split("const ALLOWED: &[&str] = &[").nth(1).unwrap().split("];").next().unwrap();
    let theirs: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    assert_eq!(ours, theirs);
    for path in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(read(path).contains("The VRAM Lab authors"), "{path}");
    }
}

#[test]
fn pages_exist_and_say_nothing_of_todo() {
    for page in PAGES.iter().chain(&GUIDES) {
        let text = read(page);
        assert!(text.len() > 500, "{page} is empty");
        assert!(!text.contains("TODO") && !text.contains("TBD"), "{page}");
    }
    assert!(files("lessons", ".md").len() >= 2);
}
