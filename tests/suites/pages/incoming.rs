//! The drop zone: whatever the reader has is recognised by content, opened or led to its chapter, and remembered.

use super::{Desk, settings};
use vramlab_shell::platform::Event;
use vramlab_shell::settings::ThemeChoice;
use vramlab_shell::{App, Still};
use vramlab_tests::root;
use vramlab_units::Lang;

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(root().join("tests/data").join(name)).unwrap()
}

fn arrive(desk: &mut Desk, name: &str, path: Option<&str>, bytes: &[u8]) {
    let n_bytes = bytes.len() as u64;
    desk.send(Event::Arrived { name: name.to_owned(), path: path.map(str::to_owned), bytes: bytes.to_vec(), n_bytes });
}

/// Under any name: a snapshot is a snapshot.
#[test]
fn a_snapshot_is_recognised_and_opened() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "whatever.txt", None, &sample("files/mlp_adam.pickle"));
    assert_eq!(desk.said()["route"], "/snapshot");
    assert_eq!(desk.said()["snapshot"]["name"], "whatever.txt");
    assert_eq!(desk.notes(), "[]");
}

/// A configuration under any name opens the page of a model: its numbers, a verdict, and a lever that can be pulled.
#[test]
fn a_configuration_opens_the_page_of_a_model() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "my-model.json", None, &sample("configs/llama-3.1-70b.json"));
    assert_eq!(desk.said()["route"], "/fit");
    desk.harness.run_ok();
    desk.top_of("my-model.json · llama · 70.55 B parameters · bf16");
    desk.top_of("The cheapest plan that fits");
    assert!(desk.has("it does not fit"));
    desk.click("Take it");
    desk.harness.run_ok();
    assert!(desk.has("it fits"), "the plan is taken over");
    assert!(desk.said()["route"].as_str().unwrap().contains("weights=fp8_b128"), "{}", desk.said()["route"]);
    // The page begins where the command line begins: 16 requests × 4096 tokens × 327,680 bytes.
    assert!(desk.has("KV cache 20\u{2009}GiB"), "the page asks about the default of the command line");
    arrive(
        &mut desk,
        "config.json",
        None,
        b"{\"model_type\": \"llama\", \"num_attention_heads\": 0, \"hidden_size\": 8}",
    );
    assert!(desk.has("num_attention_heads = 0 is not allowed"));
    assert_eq!(desk.notes(), "[]");
}

/// On a page whose figure takes configurations it is read there: a row of its own, in the address; elsewhere nothing changes.
#[test]
fn a_configuration_goes_to_the_figure_of_the_page() {
    // With a parameter: without any, the figure waits for the prediction that it answers.
    let mut desk = Desk::open("/ch/16_attention/step/picker?requests=4");
    desk.harness.run_ok();
    arrive(&mut desk, "my-model.json", None, &sample("configs/qwen3-32b.json"));
    desk.harness.run_ok();
    let route = desk.said()["route"].as_str().unwrap().to_owned();
    assert!(route.starts_with("/ch/16_attention/step/picker") && route.contains("own=L64"), "{route}");
    assert!(desk.notes().contains("the figure has read"), "{}", desk.notes());
    let mut desk = Desk::open("/ch/02_access_patterns");
    desk.harness.run_ok();
    arrive(&mut desk, "my-model.json", None, &sample("configs/qwen3-32b.json"));
    assert_eq!(desk.said()["route"], "/fit");
}

#[test]
fn a_log_leads_to_what_helps_now() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "smi", None, b"| NVIDIA-SMI 580.00   Driver Version: 580.00   CUDA Version: 13.0 |\n");
    desk.top_of("the output of nvidia-smi");
    assert!(desk.has("Driver Version: 580.00"));
    desk.click("Learn to read it");
    assert_eq!(desk.said()["route"], "/ch/01_bottleneck/step/reading");
    arrive(&mut desk, "train.log", None, b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n");
    desk.top_of("a log with a CUDA out-of-memory message");
}

/// A checkpoint is told from a snapshot, with the way to record one.
#[test]
fn s5_a_checkpoint_is_told_from_a_snapshot() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "model.pickle", None, b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01.");
    desk.top_of("a PyTorch checkpoint of weights, not a memory snapshot");
    assert!(desk.has("Nothing of it is run here") && desk.has("_record_memory_history"));
}

#[test]
fn what_is_of_no_use_is_named_and_what_opens_is_offered() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "cat.png", None, b"\x89PNG\r\n\x1a\n");
    assert!(desk.notes().contains("cat.png: a picture: of no use here"), "{}", desk.notes());
    desk.click("What can be opened");
    assert_eq!(desk.said()["route"], "/files");
    for text in ["Opens at once", "a lesson pack", "a GGUF model", "a log of a serving engine", "a picture"] {
        assert!(desk.has(text), "{text}");
    }
}

/// P, L: what is damaged or hostile is refused with the reason, and nothing else changes.
#[test]
fn hostile_files_change_nothing() {
    let mut desk = Desk::open("/");
    let n_before = desk.harness.state().library().chapter_ids().len();
    let deep = [b"[".repeat(200_000), b"\x80\x04".to_vec()].concat();
    for (name, bytes) in [
        ("cut.zip", &b"PK\x03\x04\x14\x00"[..]),
        ("progress.json", br#"{"vramlab_progress": 1, "chapters": "#),
        ("future.json", br#"{"vramlab_progress": 99}"#),
        ("notebook.json", br#"{"schema": 9, "next_n": 1, "entries": []}"#),
        ("deep.json", &deep),
        ("chapter.toml", b"schema = 9\n"),
        ("x.vltrace", b"\x89VLTR\r\n\x1a\x01"),
    ] {
        arrive(&mut desk, name, None, bytes);
        assert!(desk.notes().contains(name) || desk.said()["route"] == "/files", "{name}: {}", desk.notes());
        assert_eq!(desk.harness.state().library().chapter_ids().len(), n_before, "{name}");
    }
    assert!(desk.harness.state().settings().recent.iter().all(|recent| recent.name != "cut.zip"));
}

/// The list of recent files: kept with its path, opened again from there, and honest about what is gone.
#[test]
fn recent_files_open_again_and_missing_ones_say_so() {
    let bytes = sample("files/memory_summary.txt");
    let still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    still.inside.borrow_mut().disk.insert("/logs/summary.txt".to_owned(), bytes.clone());
    let mut desk = Desk::on(still, [1440.0, 4_000.0]);
    arrive(&mut desk, "summary.txt", Some("/logs/summary.txt"), &bytes);
    desk.press_with(egui::Modifiers::ALT, egui::Key::Home);
    assert!(desk.has("summary.txt. the output of memory_summary()"));
    desk.click("summary.txt. the output of memory_summary()");
    assert_eq!(desk.said()["route"], "/snapshot");
    // Another start of the program finds the list, and that the file is gone.
    let kept = desk.inside.borrow().files.clone();
    let again = Still::default();
    again.inside.borrow_mut().files = kept;
    let mut desk = Desk::on(again, [1440.0, 4_000.0]);
    desk.press_with(egui::Modifiers::ALT, egui::Key::Home);
    assert!(desk.has("no longer there"));
    desk.click("summary.txt. the output of memory_summary() · no longer there");
    assert!(desk.notes().contains("no longer where it was"), "{}", desk.notes());
}

/// On the web there is no path: the list asks for the file once more.
#[test]
fn without_a_path_the_list_asks_for_the_file_again() {
    let mut desk = Desk::open("/");
    arrive(&mut desk, "summary.txt", None, &sample("files/memory_summary.txt"));
    desk.press_with(egui::Modifiers::ALT, egui::Key::Home);
    desk.click("summary.txt. the output of memory_summary()");
    assert!(desk.notes().contains("keeps no files"), "{}", desk.notes());
}

/// The overlay says by content what a release will do.
#[test]
fn the_overlay_says_what_will_happen() {
    let still = Still::with_settings(&settings(Lang::En, ThemeChoice::Light));
    still.inside.borrow_mut().disk.insert("/a/b.bin".to_owned(), sample("files/mlp_adam.pickle"));
    let mut app = App::new(Box::new(still));
    let ctx = egui::Context::default();
    let hovered = egui::HoveredFile { path: Some("/a/b.bin".into()), ..Default::default() };
    let input = egui::RawInput { hovered_files: vec![hovered], ..Default::default() };
    ctx.run_ui(input, |ui| app.ui(ui)).textures_delta.clear();
    let files = app.hovered();
    assert_eq!(files.len(), 1);
    let (name, line) = &files[0];
    assert_eq!(name, "b.bin");
    assert!(line.contains("a PyTorch memory snapshot") && line.contains("opens at once"), "{line}");
}
