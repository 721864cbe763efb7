//! Real samples are recognised whole and by their beginning; hostile bytes cost nothing and never panic.

#![expect(clippy::unwrap_used, reason = "suites may unwrap")]

use proptest::prelude::*;
use std::io::{Cursor, Write as _};
use vramlab_sniff::{Head, Kind, Sniffed, sniff};
use vramlab_units::Lang;

const SNAPSHOT: &[u8] = include_bytes!("../../../tests/data/files/mlp_adam.pickle");
const SUMMARY: &[u8] = include_bytes!("../../../tests/data/files/memory_summary.txt");
const TRACE: &[u8] = include_bytes!("../../../tests/data/traces/v1-sample.vltrace");
const SMI: &[u8] = include_bytes!("../../../lessons/01_bottleneck/terminal/copy.txt");
const PROFILER: &[u8] = include_bytes!("../../../lessons/01_bottleneck/terminal/torch_profiler.txt");
const NCU: &[u8] = include_bytes!("../../../lessons/12_roofline/terminal/ncu.txt");
const CHAPTER: &[u8] = include_bytes!("../../lesson/examples/every_step.toml");

fn whole(bytes: &[u8]) -> Sniffed {
    sniff(Head::whole(bytes))
}

#[track_caller]
fn is(bytes: &[u8], kind: Kind) -> Sniffed {
    let sniffed = whole(bytes);
    assert_eq!(sniffed.kind, kind, "{sniffed:?}");
    sniffed
}

fn facts(sniffed: &Sniffed) -> String {
    sniffed.facts.iter().map(|fact| format!("{} {}; ", fact.name.en, fact.value.get(Lang::En))).collect()
}

fn warning(sniffed: &Sniffed) -> &str {
    sniffed.warning.as_ref().map_or("", |text| text.get(Lang::En))
}

#[test]
fn what_a_gpu_machine_wrote_is_recognised() {
    let snapshot = is(SNAPSHOT, Kind::Snapshot);
    assert!(facts(&snapshot).contains("protocol 4") && snapshot.warning.is_none(), "{snapshot:?}");
    let summary = is(SUMMARY, Kind::MemorySummary);
    assert!(facts(&summary).contains("device ID 0"), "{summary:?}");
    is(TRACE, Kind::Trace);
    assert!(facts(&is(SMI, Kind::NvidiaSmi)).contains("580.159.04"));
    is(PROFILER, Kind::TorchTrace);
    is(NCU, Kind::NcuReport);
    let chapter = is(CHAPTER, Kind::Chapter);
    let n_steps = String::from_utf8_lossy(CHAPTER)
        .matches(
            "
[[step]]",
        )
        .count();
    assert!(n_steps >= 7 && facts(&chapter).contains(&format!("steps {n_steps}")), "{chapter:?}");
}

#[test]
fn the_beginning_of_a_large_file_is_enough() {
    let head = Head { bytes: &SNAPSHOT[..4_096], n_bytes: 900_000_000 };
    assert_eq!(sniff(head).kind, Kind::Snapshot);
    assert_eq!(sniff(head).warning, None, "a head is not a cut file");
    let cut = whole(&SNAPSHOT[..20_000]);
    assert_eq!(cut.kind, Kind::Snapshot);
    assert!(warning(&cut).contains("cut off"), "{cut:?}");
}

/// The four lines as the tools print them; the words are theirs, the numbers are of nobody.
#[test]
fn output_of_tools_is_told_apart() {
    let smi = "| NVIDIA-SMI 580.00   Driver Version: 580.00   CUDA Version: 13.0 |\n";
    is(smi.as_bytes(), Kind::NvidiaSmi);
    is(b"index, memory.used [MiB], power.draw [W]\n0, 1 MiB, 80.0 W\n", Kind::NvidiaSmi);
    is(b"# gpu    pwr  gtemp  mtemp     sm    mem\n# Idx      W      C      C      %      %\n    0     80     30      -      0      0\n", Kind::NvidiaSmi);
    is(b"\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-47\t0\n", Kind::Topology);
    is(b" ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n Time (%)  Total Time (ns)  Instances\n", Kind::NsysStats);
    is(b"  Section: GPU Speed Of Light Throughput\n  Metric Name  Metric Unit  Metric Value\n", Kind::NcuReport);
    is(b"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 1 error\n", Kind::Sanitizer);
    let vllm = "INFO worker.py: # GPU blocks: 1952, # CPU blocks: 2048\nINFO: Maximum concurrency for 20000 tokens per request: 1.56x\n";
    assert!(facts(&is(vllm.as_bytes(), Kind::VllmLog)).contains("1.56x"));
    let oom = "step 3\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has …\n";
    assert!(facts(&is(oom.as_bytes(), Kind::OomMessage)).contains("20.00 MiB"));
    // A console of Windows writes two bytes a letter.
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(smi.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    is(&wide, Kind::NvidiaSmi);
}

#[test]
fn configs_are_read_by_their_fields() {
    let llama = br#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "torch_dtype": "bfloat16"}"#;
    let told = facts(&is(llama, Kind::HfConfig));
    assert!(told.contains("layers 32") && told.contains("KV heads 8") && told.contains("bfloat16"), "{told}");
    let nested = br#"{"model_type": "mllama", "text_config": {"num_hidden_layers": 40, "num_key_value_heads": null}}"#;
    assert!(facts(&is(nested, Kind::HfConfig)).contains("layers 40"));
    is(br#"{"peft_type": "LORA", "r": 16, "base_model_name_or_path": "a/b"}"#, Kind::Adapter);
    is(br#"{"metadata": {"total_size": 16060522496}, "weight_map": {"a": "1.safetensors"}}"#, Kind::SafetensorsIndex);
    is(br#"{"model_type": "bert", "tokenizer_class": "BertTokenizer"}"#, Kind::Json);
    is(br#"{"a": 1}"#, Kind::Json);
    let cut = whole(&llama[..120]);
    assert_eq!(cut.kind, Kind::HfConfig);
    assert!(warning(&cut).contains("breaks at line"), "{cut:?}");
}

fn safetensors(header: &str, len: u64, n_data: usize) -> Vec<u8> {
    [&len.to_le_bytes()[..], header.as_bytes(), &vec![0; n_data]].concat()
}

#[test]
fn headers_of_weights_are_held_against_the_file() {
    let header = r#"{"w": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}"#;
    let good = is(&safetensors(header, header.len() as u64, 12), Kind::Safetensors);
    assert!(facts(&good).contains("tensors 1") && good.warning.is_none(), "{good:?}");
    // H5: a length of 2^64 − 1, a tensor beyond the end, a header that is no JSON.
    assert!(warning(&is(&safetensors(header, u64::MAX, 12), Kind::Safetensors)).contains("the file has not"));
    assert!(warning(&is(&safetensors(header, header.len() as u64, 4), Kind::Safetensors)).contains("beyond the end"));
    assert!(warning(&is(&safetensors("{]", 2, 0), Kind::Safetensors)).contains("no JSON"));
    let gguf = |n: u64| [&b"GGUF"[..], &3_u32.to_le_bytes(), &n.to_le_bytes(), &1_u64.to_le_bytes(), &[0; 64]].concat();
    assert!(facts(&is(&gguf(2), Kind::Gguf)).contains("version 3"));
    assert!(warning(&is(&gguf(1 << 60), Kind::Gguf)).contains("too small"));
    assert!(warning(&is(b"GGUF", Kind::Gguf)).contains("cut off"));
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn archives_are_told_by_what_is_in_them() {
    is(&archive(&[("mine/chapter.toml", CHAPTER)]), Kind::Pack);
    is(&archive(&[("model/data.pkl", b"\x80\x02."), ("model/data/0", b"0")]), Kind::Checkpoint);
    let other = is(&archive(&[("cat.png", b"x")]), Kind::OtherZip);
    assert!(facts(&other).contains("files 1"), "{other:?}");
    // Of what is none of ours it is said what it is: not every zip is a checkpoint.
    for (name, holds) in [
        ("xl/workbook.xml", "an Excel workbook"),
        ("word/document.xml", "a Word document"),
        ("arr_0.npy", "NumPy arrays (.npz)"),
        ("torch-2.11.dist-info/METADATA", "a Python package (wheel)"),
        ("META-INF/MANIFEST.MF", "a Java archive or an EPUB"),
        ("run/snapshot.pickle", "run/snapshot.pickle: unpack it and open that"),
        ("model/model.safetensors", "weights, model/model.safetensors"),
        ("data/byteorder", "files 1"),
    ] {
        let found = is(&archive(&[(name, b"x")]), Kind::OtherZip);
        assert!(facts(&found).contains(holds), "{name}: {}", facts(&found));
    }
    // The beginning alone names the first entry.
    let bytes = archive(&[("mine/chapter.toml", CHAPTER)]);
    assert_eq!(sniff(Head { bytes: &bytes[..200], n_bytes: bytes.len() as u64 }).kind, Kind::Pack);
    assert!(warning(&is(&bytes[..200], Kind::Pack)).contains("cut off"));
}

/// L, P: a bomb is called one by what its listing says; nothing is unpacked.
#[test]
fn a_zip_bomb_is_named_and_not_unpacked() {
    let mut bytes = archive(&[("mine/chapter.toml", CHAPTER)]);
    let at = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[at + 20..at + 24].copy_from_slice(&100_u32.to_le_bytes());
    bytes[at + 24..at + 28].copy_from_slice(&u32::MAX.to_le_bytes());
    let bomb = is(&bytes, Kind::Pack);
    assert!(warning(&bomb).contains("will not be unpacked"), "{bomb:?}");
}

/// S1, S5: code in a pickle is named with its place and never run; weights are told from snapshots.
#[test]
fn pickles_with_code_are_named() {
    let bad = is(b"cposix\nsystem\n(S'true'\ntR.", Kind::Text);
    assert!(bad.facts.is_empty(), "without a protocol mark it is text, and nothing is read from it");
    let bad =
        is(b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94.", Kind::OtherPickle);
    assert!(warning(&bad).contains("posix.system") && warning(&bad).contains("Nothing of it is run"), "{bad:?}");
    let torch = is(b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01.", Kind::Checkpoint);
    assert!(warning(&torch).contains("collections.OrderedDict"));
    // A snapshot's keys beside a reference to code are not taken for a snapshot.
    let mut planted = b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94".to_vec();
    planted.extend(&SNAPSHOT[2..]);
    assert_ne!(whole(&planted).kind, Kind::Snapshot);
}

#[test]
fn what_it_is_not_has_a_name_too() {
    is(b"", Kind::Empty);
    is(b"\x89PNG\r\n\x1a\n", Kind::Picture);
    is(b"<!DOCTYPE html><html><title>login", Kind::Html);
    is(b"version https://git-lfs.github.com/spec/v1\n", Kind::LfsPointer);
    is(b"\x1f\x8b\x08", Kind::Archive);
    is(b"hello", Kind::Text);
    is(&[0, 1, 2, 0xff, 0xfe, 9], Kind::Binary);
    for kind in Kind::ALL {
        assert_eq!(Kind::from_id(kind.id()), Some(kind));
    }
}

/// Every prefix and every flipped byte of a sample: no panic, and it ends.
#[test]
fn every_prefix_and_every_flip_ends() {
    let zip = archive(&[("mine/chapter.toml", &CHAPTER[..500])]);
    let header = r#"{"w": {"dtype": "BF16", "data_offsets": [0, 12]}}"#;
    let weights = safetensors(header, header.len() as u64, 12);
    for sample in [&SNAPSHOT[..1_500], &SUMMARY[..600], &TRACE[..200], &zip, &weights] {
        for n in 0..sample.len() {
            whole(&sample[..n]);
            let mut flipped = sample.to_vec();
            flipped[n] ^= 0xff;
            whole(&flipped);
        }
    }
}

/// A file that claims or nests without end ends soon.
#[test]
fn claims_and_nesting_cost_nothing() {
    let deep = "[".repeat(400_000);
    is(deep.as_bytes(), Kind::Json);
    let started = std::time::Instant::now();
    let long = [&b"\x80\x04"[..], &b"]".repeat(8 << 20)].concat();
    is(&long, Kind::OtherPickle);
    let huge = [&b"\x80\x04\x94\x94\x94\x8d"[..], &u64::MAX.to_le_bytes()].concat();
    whole(&huge);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn anything_is_something(bytes in proptest::collection::vec(any::<u8>(), 0..600), claim in any::<u64>()) {
        sniff(Head { bytes: &bytes, n_bytes: claim.max(bytes.len() as u64) });
    }

    #[test]
    fn anything_behind_a_magic_is_something(idx in 0_usize..7, bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let start = [&b"PK\x03\x04"[..], b"\x80\x04", b"GGUF", b"{\"", b"\x89VLTR\r\n\x1a", b"\x10\0\0\0\0\0\0\0{", b"PK\x05\x06"][idx];
        whole(&[start, &bytes].concat());
    }
}
