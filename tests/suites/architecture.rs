//! The map of ARCHITECTURE.md, held: the arrows between crates, what pure crates may not see, where colours come from.

use std::collections::{BTreeMap, BTreeSet};
use vramlab_tests::{code_of, files, read, without_tests};

/// Normal dependencies among our crates, exactly: what a crate may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("content", &[]),
    // Tools for contributors, never shipped. `bindgen` makes the page's files: the text version and the list of what is fetched.
    ("xtask", &[]),
    ("bindgen", &["units", "model", "lesson", "content"]),
    ("model", &["units", "alloc", "ledger", "modelfile", "train", "serve", "codec"]),
    ("trace", &["units"]),
    ("lesson", &["units"]),
    ("sniff", &["units", "trace"]),
    ("alloc", &["units"]),
    ("ledger", &["units", "alloc"]),
    ("modelfile", &["units"]),
    ("fit", &["units", "modelfile", "ledger"]),
    ("snapshot", &["units", "alloc"]),
    ("serve", &["units"]),
    ("codec", &["units"]),
    ("simt", &["units", "model"]),
    ("profile", &["units"]),
    // The library that the watched program loads; it is built beside ours because desktop names it.
    ("inject", &["profile"]),
    ("train", &["units"]),
    ("gpu", &["units", "alloc", "codec", "model", "trace", "train", "serve", "simt"]),
    ("kit", &["units"]),
    (
        "views",
        &[
            "units",
            "model",
            "trace",
            "lesson",
            "alloc",
            "ledger",
            "modelfile",
            "serve",
            "simt",
            "snapshot",
            "profile",
            "gpu",
            "kit",
        ],
    ),
    (
        "shell",
        &[
            "units",
            "model",
            "trace",
            "lesson",
            "sniff",
            "alloc",
            "ledger",
            "modelfile",
            "fit",
            "serve",
            "snapshot",
            "profile",
            "train",
            "gpu",
            "content",
            "kit",
            "views",
        ],
    ),
    (
        "desktop",
        &[
            "units",
            "model",
            "trace",
            "lesson",
            "sniff",
            "alloc",
            "ledger",
            "modelfile",
            "fit",
            "snapshot",
            "profile",
            "inject",
            "train",
            "gpu",
            "content",
            "kit",
            "views",
            "shell",
        ],
    ),
    ("web", &["units", "trace", "lesson", "gpu", "content", "shell"]),
];

/// Arrows that only tests take, each with its reason.
const TEST_ARROWS: &[(&str, &str, &str)] = &[
    ("views", "kit", "the fonts, embedded, for pictures in tests"),
    ("shell", "kit", "the fonts, embedded, for pictures in tests"),
    ("kit", "content", "fonts for pictures in tests"),
];

/// Crates that must stay free of the interface.
const BELOW_KIT: &[&str] = &[
    "units",
    "model",
    "trace",
    "lesson",
    "sniff",
    "alloc",
    "ledger",
    "modelfile",
    "fit",
    "profile",
    "train",
    "serve",
    "codec",
    "gpu",
    "content",
];
const INTERFACE: &[&str] = &["egui", "eframe", "egui_extras", "egui_plot", "egui_commonmark", "rfd", "winit", "wgpu"];

/// What pure code may not see. `gpu` may behind its features: `backend`, `child`, `client`, `sys`, `wire`.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::thread",
    "std::process",
    "std::env",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::time::{",
    "Instant::now",
    "SystemTime::now",
    "web_time",
    "println!",
];
const PURE_TREES: &[&str] = &[
    "app/units/src",
    "app/model/src",
    "app/trace/src",
    "app/lesson/src",
    "app/sniff/src",
    "app/alloc/src",
    "app/ledger/src",
    "app/modelfile/src",
    "app/fit/src",
    "app/serve/src",
    "app/codec/src",
    "app/simt/src",
    "app/train/src",
    "app/profile/src",
    "app/content/src",
    "app/kit/src",
    "app/views/src",
    "app/gpu/src",
];
const GPU_FEATURES: &[&str] = &["backend/", "child/", "client/", "sys/", "wire.rs"];

struct Manifest {
    name: String,
    normal: BTreeSet<String>,
    test: BTreeSet<String>,
    value: toml::Table,
}

fn manifests() -> BTreeMap<String, Manifest> {
    let mut all = BTreeMap::new();
    for path in files("app", "/Cargo.toml").into_iter().chain(["web/Cargo.toml".to_owned()]) {
        let folder = path.split('/').rev().nth(1).unwrap().to_owned();
        let value: toml::Table = read(&path).parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut normal = BTreeSet::new();
        let mut test = BTreeSet::new();
        let mut take = |table: &toml::Table| {
            for (kind, out) in [
                ("dependencies", &mut normal),
                ("build-dependencies", &mut BTreeSet::new()),
                ("dev-dependencies", &mut test),
            ] {
                let names = table.get(kind).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
                out.extend(names.cloned());
            }
        };
        take(&value);
        for target in value.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values) {
            take(target.as_table().unwrap());
        }
        let name = value["package"]["name"].as_str().unwrap().to_owned();
        all.insert(folder, Manifest { name, normal, test, value });
    }
    all
}

fn ours(names: &BTreeSet<String>) -> BTreeSet<&str> {
    names.iter().filter_map(|name| name.strip_prefix("vramlab-")).collect()
}

#[test]
fn crates_depend_only_along_the_arrows() {
    let manifests = manifests();
    for (folder, manifest) in &manifests {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| name == folder) else {
            panic!("app/{folder} is a crate that ARROWS in this file and ARCHITECTURE.md do not know");
        };
        for dependency in ours(&manifest.normal) {
            assert!(allowed.contains(&dependency), "{folder} → {dependency} is no arrow of ARCHITECTURE.md");
        }
        for dependency in ours(&manifest.test).difference(&ours(&manifest.normal)) {
            let is_listed = TEST_ARROWS.iter().any(|(from, to, _)| from == folder && to == dependency);
            assert!(allowed.contains(dependency) || is_listed, "{folder} → {dependency} in tests has no reason");
        }
    }
    for (name, _) in ARROWS.iter().filter(|(name, _)| *name != "web") {
        assert!(manifests.contains_key(*name), "there is no crate app/{name}");
    }
}

#[test]
fn every_crate_is_named_by_its_folder_and_inherits() {
    for (folder, manifest) in manifests() {
        assert_eq!(manifest.name, format!("vramlab-{folder}"));
        let package = manifest.value["package"].as_table().unwrap();
        for key in ["version", "edition", "rust-version", "license", "authors", "publish"] {
            let is_inherited = package.get(key).is_some_and(|value| value.get("workspace").is_some());
            assert!(is_inherited, "{folder}: package.{key} is not inherited from the workspace");
        }
        assert!(manifest.value.contains_key("lints"), "{folder} does not take the workspace's lints");
        let tables = ["dependencies", "dev-dependencies"];
        for (name, value) in tables.iter().filter_map(|key| manifest.value.get(*key)?.as_table()).flatten() {
            let is_shared = value.get("workspace").is_some() || folder == "web" || folder == "bindgen";
            assert!(is_shared, "{folder}: the version of {name} stands outside [workspace.dependencies]");
        }
    }
}

#[test]
fn below_kit_nothing_sees_the_interface() {
    let manifests = manifests();
    for folder in BELOW_KIT {
        let manifest = &manifests[*folder];
        for name in manifest.normal.union(&manifest.test) {
            assert!(!INTERFACE.contains(&name.as_str()), "{folder} depends on {name}");
        }
    }
    for folder in ["kit", "views", "shell"] {
        for name in &manifests[folder].normal {
            assert!(!["eframe", "rfd", "winit"].contains(&name.as_str()), "{folder} depends on {name}, a window");
        }
    }
}

#[test]
fn the_runner_s_features_are_on_in_programs_and_suites_only() {
    for (folder, manifest) in manifests() {
        let Some(gpu) = manifest.value.get("dependencies").and_then(|all| all.get("vramlab-gpu")) else { continue };
        let has_features = gpu.get("features").is_some();
        assert!(!has_features || folder == "desktop", "{folder} turns features of gpu on");
    }
}

fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "tests.rs" || name.ends_with("_test.rs") || name.ends_with("_tests.rs") || path.contains("/testing/")
}

#[test]
fn pure_crates_see_no_file_clock_thread_or_network() {
    let mut found = Vec::new();
    for path in PURE_TREES.iter().flat_map(|tree| files(tree, ".rs")).filter(|path| !is_test_file(path)) {
        let inner = path.strip_prefix("app/gpu/src/");
        if inner.is_some_and(|inner| GPU_FEATURES.iter().any(|part| inner.starts_with(part))) {
            continue;
        }
        let text = read(&path);
        let code = code_of(without_tests(&text));
        found.extend(IMPURE.iter().filter(|word| code.contains(**word)).map(|word| format!("{path}: {word}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    // The scan itself sees what it looks for, where it is allowed.
    let impure = ["app/gpu/src/client/supervisor.rs", "app/desktop/src/store.rs"].map(|path| code_of(&read(path)));
    assert!(impure.iter().all(|code| IMPURE.iter().any(|word| code.contains(word))));
}

#[test]
fn the_target_is_asked_in_the_two_platforms_only() {
    // `gpu/src/sys` is the operating system's border of the runner; `content/build.rs` decides what the web carries.
    // `shell/src/lib.rs` leaves the platform without a machine out of the web page.
    let allowed =
        ["app/desktop/", "web/", "app/gpu/src/", "app/content/build.rs", "app/xtask/", "app/shell/src/lib.rs"];
    let mut found = Vec::new();
    for path in files("app", ".rs").into_iter().chain(files("web", ".rs")) {
        let code = code_of(&read(&path));
        if code.contains("target_arch") && !allowed.iter().any(|prefix| path.starts_with(prefix)) {
            found.push(path);
        }
    }
    assert!(found.is_empty(), "cfg(target_arch) in {}", found.join(", "));
}

#[test]
fn raw_colours_are_made_in_the_tokens_only() {
    // The palette is the one table of ramps; the rasteriser and its tests work on pixels; SVG and mathematics test with
    // colours of their own behind `#[cfg(test)]`.
    let allowed = ["app/kit/src/tokens.rs", "app/kit/src/palette.rs", "app/kit/src/raster/"];
    let made = ["Color32::from_", "Rgba::from_", "Color32::WHITE", "Color32::BLACK", "Color32::RED", "Color32::GRAY"];
    let mut found = Vec::new();
    for path in files("app", ".rs").into_iter().filter(|path| path.contains("/src/") && !is_test_file(path)) {
        let text = read(&path);
        let code = code_of(without_tests(&text));
        let is_allowed = allowed.iter().any(|prefix| path.starts_with(prefix));
        found.extend(
            made.iter().filter(|word| !is_allowed && code.contains(**word)).map(|word| format!("{path}: {word}")),
        );
    }
    assert!(found.is_empty(), "colours come from kit's tokens:\n{}", found.join("\n"));
}

#[test]
fn lints_are_silenced_with_a_reason_only() {
    let mut found = Vec::new();
    for path in files("app", ".rs").into_iter().chain(files("web", ".rs")).chain(files("tests", ".rs")) {
        for (idx, line) in code_of(&read(&path)).lines().enumerate() {
            if line.contains("#[allow(") || line.contains("#![allow(") {
                found.push(format!("{path}:{}: `allow`; say `expect` with a reason", idx + 1));
            }
        }
        let text = read(&path);
        for at in text.match_indices("#[expect(").chain(text.match_indices("#![expect(")).map(|(at, _)| at) {
            let attribute: &str = text[at..].split(")]").next().unwrap_or_default();
            let is_code = !text[..at].rsplit('\n').next().unwrap_or_default().contains(['"', '/']);
            if is_code && !attribute.contains("reason") {
                found.push(format!("{path}: `expect` without a reason"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_map_names_every_crate_and_every_top_folder() {
    let map = read("ARCHITECTURE.md");
    for folder in manifests().keys() {
        assert!(map.contains(&format!("{folder}/")), "ARCHITECTURE.md does not name {folder}/");
    }
    let tree: Vec<&str> = map.split("```").nth(1).unwrap_or_default().lines().collect();
    for line in tree.iter().filter(|line| (line.starts_with("  ") || line.starts_with("web/")) && line.contains('→'))
    {
        let name = line.trim_start().split('/').next().unwrap();
        let drawn = line.split('→').nth(1).unwrap();
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else { continue };
        for to in allowed.iter().filter(|_| !drawn.contains("all above")) {
            assert!(drawn.contains(to), "ARCHITECTURE.md draws {name} → {}, the test allows {to}", drawn.trim());
        }
    }
}

#[test]
fn every_module_says_what_lives_there() {
    let mut found = Vec::new();
    for path in files("app", ".rs").into_iter().chain(files("web", ".rs")).chain(files("tests", ".rs")) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_exempt = is_test_file(&path) || name == "build.rs" || path.ends_with("content/src/rule.rs");
        if !is_exempt && !read(&path).starts_with("//!") {
            found.push(path);
        }
    }
    assert!(found.is_empty(), "files without `//!`: {}", found.join(", "));
}

#[test]
fn content_holds_no_rust_and_code_names_no_machine() {
    for tree in ["lessons", "kernels", "assets"] {
        assert_eq!(files(tree, ".rs"), Vec::<String>::new());
    }
    let mut found = Vec::new();
    for suffix in [".rs", ".toml", ".md", ".cu", ".py", ".html", ".js", ".mjs"] {
        for tree in ["app", "lessons", "kernels", "assets", "web", "tests"] {
            for path in files(tree, suffix) {
                let text = read(&path);
                let home = ["/", "root/"].concat();
                let work = ["/", "work/"].concat();
                found.extend(
                    [home, work]
                        .iter()
                        .filter(|word| text.contains(word.as_str()))
                        .map(|word| format!("{path}: {word}")),
                );
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
