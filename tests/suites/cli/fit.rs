//! `vramlab fit`: verdicts and exit codes, errors of model files, both languages, JSON beside its description.

use crate::program::{Answer, repository, vramlab};
use serde_json::Value;
use std::fs;

fn config(name: &str) -> String {
    repository(&format!("tests/data/configs/{name}.json")).to_str().unwrap().to_owned()
}

fn fit(args: &[&str]) -> Answer {
    let mut all = vec!["fit"];
    all.extend(args);
    vramlab(&all)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Llama 3.1 8B: 16,060,522,496 bytes of weights, 131,072 a token. An H200 has room, a 24 GiB card for fewer requests.
#[test]
fn the_exit_code_is_the_verdict() {
    let llama = config("llama-3.1-8b");
    let yes = fit(&[&llama, "--lang", "en"]);
    assert_eq!(yes.code, Some(0), "{}", yes.err);
    assert!(words(&yes.out).contains("It fits:") && yes.out.contains("131072 B a token"), "{}", yes.out);
    let no = fit(&[&llama, "--gpu", "rtx4090", "--requests", "64", "--lang", "en"]);
    assert_eq!(no.code, Some(1), "{}", no.err);
    assert!(
        no.out.contains("It does not fit:") && no.out.contains("A plan that fits on the cards at hand, and is slow"),
        "{}",
        no.out
    );
    let unknown = fit(&[&config("command-r-35b"), "--lang", "en"]);
    assert_eq!(unknown.code, Some(1));
    assert!(
        unknown.out.contains("Cannot be told") && words(&unknown.out).contains("--set n_params="),
        "{}",
        unknown.out
    );
    let given = fit(&[&config("command-r-35b"), "--set", "n_params=34980831232", "--requests", "4", "--lang", "en"]);
    assert_eq!(given.code, Some(0), "{}{}", given.out, given.err);
}

#[test]
fn every_line_fits_a_terminal_in_both_languages() {
    for (args, lang) in [
        (vec!["--gpu", "l4"], "zh"),
        (vec!["--gpu", "l4"], "en"),
        (vec!["--train", "--budget", "60GiB"], "zh"),
        (vec!["--train", "--budget", "60GiB"], "en"),
    ] {
        for name in ["llama-3.1-8b", "gemma-3-12b", "deepseek-v3", "mixtral-8x7b"] {
            let path = config(name);
            let mut all = vec![path.as_str(), "--lang", lang];
            all.extend(&args);
            let answer = fit(&all);
            assert!(answer.err.is_empty(), "{name}: {}", answer.err);
            for line in answer.out.lines() {
                let columns: usize = line.chars().map(|c| if (c as u32) > 0x2e80 { 2 } else { 1 }).sum();
                assert!(columns <= 88, "{name}, {lang}: {line}");
            }
            let is_chinese = answer.out.contains("每张卡上装着什么");
            assert_eq!(is_chinese, lang == "zh", "{}", answer.out);
        }
    }
}

#[test]
fn wrong_words_and_files_are_2_and_name_what_is_right() {
    let llama = config("llama-3-8b");
    let says = |args: &[&str], word: &str| {
        let answer = fit(&[args, &["--lang", "en"]].concat());
        assert_eq!(answer.code, Some(2), "{args:?}: {}{}", answer.out, answer.err);
        assert!(answer.err.contains(word), "{args:?}: {}", answer.err);
    };
    says(&["nowhere.json"], "nowhere.json");
    says(&[&llama, "--gpu", "h2000"], "did you mean \"h200\"");
    says(&[&llama, "--gpu", "4090"], "did you mean \"rtx4090\"? the cards are ");
    says(&[&llama, "--gpus", "3"], "32 attention heads cannot be shared by 3 cards");
    says(&[&llama, "--weights", "int3"], "there is no weight format");
    says(&[&llama, "--scenario", "onlin"], "did you mean \"online\"");
    says(&[&llama, "--set", "num_layer=3"], "did you mean \"num_layers\"");
    says(&[&llama, "--set", "layers=0"], "1 to 4096");
    says(&[&llama, "--context", "0"], "context = 0 is not allowed");
    says(&[&llama, "--budget", "8 gigs"], "is not a unit of size");
    says(&[&llama, "--train", "--serve"], "cannot be used with");
    says(&[&llama, "--gpu", "4GiB", "--budget", "8GB"], "a budget of 7.45 GiB is more than the card's 4 GiB");
    says(&[&llama, "--lora", "8"], "add --train");
    says(&[&llama, "--lora", "8", "--nf4"], "add --train");
    says(&[&llama, "--seq-len", "512"], "for serving there is --context");
    says(&[&llama, "--train", "--context", "512"], "for training there is --seq-len");
    let snapshot = repository("assets/snapshots/oom.pickle.gz");
    says(&[snapshot.to_str().unwrap()], "a PyTorch memory snapshot");
    says(&[snapshot.to_str().unwrap()], "`vramlab snapshot ");
    let dir = tempfile::tempdir().unwrap();
    for (name, text, word) in [
        ("page.json", "<!doctype html><title>Sign in</title>", "web page"),
        ("lfs.json", "version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        ("cut.json", "{\"model_type\": \"llama\",\n  \"hidden", "line 2"),
        ("zero.json", "{\"model_type\": \"llama\", \"num_attention_heads\": 0}", "num_attention_heads = 0"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        says(&[path.to_str().unwrap()], word);
    }
}

/// Llama 3.1 8B on 24 GiB: what changes the training is told apart from what does not, with the sum of its own question.
#[test]
fn what_changes_the_training_is_offered_as_such() {
    let llama = config("llama-3.1-8b");
    let answer = fit(&[&llama, "--train", "--gpu", "24GiB", "--lang", "en"]);
    let text = words(&answer.out);
    assert_eq!(answer.code, Some(1), "{}", answer.err);
    assert!(text.contains("Without changing what is trained, no mix"), "{text}");
    assert!(text.contains("Another kind of training · frozen weights in 4 bits (QLoRA)"), "{text}");
    assert!(text.contains("recompute each layer") && text.contains("such cards, in shards"), "{text}");
    assert!(text.contains("on 24 GiB of memory") && !text.contains("24 GiB (24 GiB"), "{text}");
    assert!(text.contains("1 more card;") && !text.contains("1 more cards"), "{text}");
    let same = fit(&[&llama, "--train", "--gpu", "24GiB", "--lora", "16", "--nf4", "--recompute", "--json"]);
    assert_eq!(same.code, Some(0));
    let json = fit(&[&llama, "--train", "--gpu", "24GiB", "--json"]).json();
    assert_eq!(json["instead"]["total_bytes"], same.json()["total_bytes"]);
}

/// What does not fit says how many cards do; what a file does not say of positions is not promised.
#[test]
fn how_many_cards_and_how_many_positions_are_said_or_unknown() {
    let large = fit(&[&config("llama-3.1-70b"), "--gpu", "rtx4090", "--lang", "en"]);
    assert_eq!(large.code, Some(1), "{}", large.err);
    assert!(words(&large.out).contains("such cards"), "{}", large.out);
    let gemma = fit(&[&config("gemma-3-12b"), "--requests", "1", "--lang", "en"]);
    let text = words(&gemma.out);
    assert!(text.contains("how many positions the model has, its file does not say"), "{text}");
    assert!(text.contains("Serving 1 request ×"), "{text}");
    let ddp = fit(&[&config("llama-3.2-1b"), "--train", "--gpus", "8", "--zero", "0", "--lang", "en"]);
    for once in ["\n  activations  ", "\n  temporaries  ", "\n  logits  ", "\n  communication  "] {
        assert_eq!(ddp.out.matches(once).count(), 1, "{once}: {}", ddp.out);
    }
}

/// GPT-2 has 1024 positions; a longer context is warned of, and no longer one is promised.
#[test]
fn more_tokens_than_positions_are_warned_of() {
    let answer = fit(&[&config("gpt2"), "--context", "4096", "--lang", "en"]);
    let text = words(&answer.out);
    assert!(text.contains("4096 tokens are more than the model's 1024 positions"), "{text}");
    assert!(
        text.contains("a single one may have 1024 tokens (the model has 1024 positions; memory would do for"),
        "{text}"
    );
}

/// A folder is opened by its config.json.
#[test]
fn a_folder_is_opened_by_its_config() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(config("qwen3-8b"), dir.path().join("config.json")).unwrap();
    let answer = fit(&[dir.path().to_str().unwrap(), "--json"]);
    assert_eq!(answer.json()["model"]["n_params"], 8_190_735_360_u64);
}

/// Every key that the answer has is described, and the sums are sums.
#[test]
fn the_json_is_what_its_schema_says() {
    let schema = fit(&["--schema"]).json();
    let keys: Vec<&str> = schema["keys"].as_array().unwrap().iter().filter_map(|key| key["key"].as_str()).collect();
    for args in [vec![], vec!["--train", "--budget", "64GiB"]] {
        let path = config("mixtral-8x7b");
        let mut all = vec![path.as_str(), "--json"];
        all.extend(args);
        let answer = fit(&all).json();
        for key in answer.as_object().unwrap().keys() {
            assert!(keys.iter().any(|known| known.trim_end_matches("[]").split('.').next() == Some(key)), "{key}");
        }
        let sum: u64 = answer["items"].as_array().unwrap().iter().filter_map(|item| item["bytes"].as_u64()).sum();
        assert_eq!(answer["total_bytes"], sum);
        let free = answer["capacity_bytes"].as_i64().unwrap() - sum as i64;
        assert_eq!(answer["free_bytes"], free);
        let saves: Vec<u64> =
            answer["levers"].as_array().unwrap().iter().filter_map(|lever| lever["saves_bytes"].as_u64()).collect();
        assert!(!saves.is_empty() && saves.is_sorted_by(|a, b| a >= b), "{saves:?}");
    }
}

/// The bundled recording is the one of the recorded files, digit for digit.
#[test]
fn the_recorded_step_is_that_of_the_recording() {
    let read = |path: &str| -> Value { serde_json::from_slice(&fs::read(repository(path)).unwrap()).unwrap() };
    let (own, all) = (read("assets/fit/recorded.json"), read("tests/data/train_peaks/gpt.json"));
    let is_same = |run: &&Value| {
        let pairs = [("L", "n_layer"), ("h", "n_embd"), ("a", "n_head"), ("T", "n_positions"), ("V", "vocab_size")];
        pairs.iter().all(|(key, own_key)| run[*key] == own["config"][*own_key])
            && run["b"] == own["train"]["batch"]
            && run["dtype"] == own["train"]["precision"]
            && run["ckpt"] == false
    };
    let run = all["records"].as_array().unwrap().iter().find(is_same).unwrap();
    assert_eq!(run["steps"][1]["peak_step"], own["measured"]["peak_bytes"]);
    assert_eq!(run["steps"][1]["reserved"], own["measured"]["reserved_bytes"]);
    assert_eq!(all["about"]["device"], own["device"]);
}

/// The table of estimators is that of the measured configurations; with a training of one's own it says what each makes of that.
#[test]
fn estimators_stand_beside_each_other() {
    let kept: Value = serde_json::from_slice(&fs::read(repository("assets/fit/estimators.json")).unwrap()).unwrap();
    for lang in ["en", "zh"] {
        let answer = fit(&["--compare", "--lang", lang]);
        assert_eq!(answer.code, Some(0), "{}", answer.err);
        assert!(answer.out.contains("144") && answer.out.contains("MemTracker"), "{}", answer.out);
        for line in answer.out.lines() {
            let columns: usize = line.chars().map(|c| if (c as u32) > 0x2e80 { 2 } else { 1 }).sum();
            assert!(columns <= 88, "{lang}: {line}");
        }
    }
    assert_eq!(fit(&["--compare", "--json"]).json()["recorded"], kept);
    let llama = config("llama-3.2-1b");
    let own = fit(&[&llama, "--train", "--compare", "--json"]).json()["own"].clone();
    let of =
        |id: &str| own.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()["peak_bytes"].as_u64().unwrap();
    // accelerate: four times the weights in float32; DeepSpeed: 18 bytes a parameter on one card.
    assert_eq!(of("accelerate"), 16 * 1_235_814_400);
    assert_eq!(of("deepspeed"), 18 * 1_235_814_400 + 4, "and the largest layer, of which it knows nothing");
    assert!(of("allocator") > of("accelerate"), "activations are on top");
    let alone = fit(&[&llama, "--compare", "--lang", "en"]);
    assert_eq!(alone.code, Some(2));
    assert!(alone.err.contains("--train"), "{}", alone.err);
}

#[test]
fn stages_are_from_0_to_3() {
    let answer = fit(&[&config("llama-3.2-1b"), "--train", "--gpus", "8", "--zero", "4", "--lang", "en"]);
    assert_eq!(answer.code, Some(2));
    assert!(
        words(&answer.err).contains("zero = 4 is not allowed; it must be an integer from 0 to 3"),
        "{}",
        answer.err
    );
    let of = |zero: &str| -> u64 {
        let answer = fit(&[&config("llama-3.2-1b"), "--train", "--gpus", "8", "--zero", zero, "--json"]).json();
        answer["total_bytes"].as_u64().unwrap()
    };
    let totals = ["0", "1", "2", "3"].map(of);
    // Between 1 and 2 nothing changes where the peak is the loss: no gradients are there then.
    assert!(totals[0] > totals[1] && totals[1] >= totals[2] && totals[2] > totals[3], "{totals:?}");
}

/// A bare size has no link: what an offload costs is not told.
#[test]
fn a_bare_size_tells_no_time() {
    let path = config("llama-3.2-1b");
    let answer = fit(&[&path, "--gpu", "24GiB", "--train", "--budget", "8GiB", "--json"]).json();
    let plan = &answer["plan"];
    let ids: Vec<&str> = plan["steps"].as_array().unwrap().iter().filter_map(|step| step["id"].as_str()).collect();
    assert_eq!(plan["extra_time_percent"].is_null(), ids.contains(&"offload_optimizer"), "{plan}");
    let lever = answer["levers"].as_array().unwrap().iter().find(|lever| lever["id"] == "offload_optimizer").unwrap();
    assert!(lever["cost"]["en"].as_str().unwrap().contains("not known"), "{lever}");
}
