//! Every code against implementations that are not ours: `tests/data/codec/make.py` wrote the vectors with ml_dtypes and gguf.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use vramlab_codec::float::{FORMATS, Format, e8m0, find};
use vramlab_codec::gguf::{self, Kind};
use vramlab_codec::mx;

fn data(name: &str) -> String {
    let path = format!("{}/../../tests/data/codec/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect())
}

fn format(name: &str) -> Format {
    find(if name == "f16" { "fp16" } else { name }).unwrap()
}

fn f32_of(word: &str) -> f32 {
    f32::from_bits(u32::from_str_radix(word, 16).unwrap())
}

fn words(text: &str) -> Vec<f32> {
    (0..text.len() / 8).map(|at| f32_of(&text[8 * at..8 * at + 8])).collect()
}

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap()
}

#[test]
fn every_code_and_every_tie() {
    let text = data("floats");
    let mut n_codes = std::collections::BTreeMap::<&str, u32>::new();
    let mut n_encoded = 0;
    for line in lines(&text) {
        let name = line[1];
        match line[0] {
            "decode" if name == "e8m0" => {
                let value = e8m0(hex(line[2]) as u8);
                let is_nan = line[3] == "nan";
                let expected = if is_nan { 0 } else { u64::from_str_radix(line[3], 16).unwrap() };
                assert!(if is_nan { value.is_nan() } else { value.to_bits() == expected }, "{line:?}");
                *n_codes.entry(name).or_default() += 1;
            }
            "decode" => {
                let value = format(name).decode(hex(line[2]));
                let is_right = if line[3] == "nan" { value.is_nan() } else { (value as f32).to_bits() == hex(line[3]) };
                assert!(is_right, "{line:?}: {value}");
                assert!(value.is_nan() || f64::from(value as f32).to_bits() == value.to_bits());
                *n_codes.entry(name).or_default() += 1;
            }
            _ => {
                let (format, x) = (format(name), f32_of(line[2]));
                let (got, expected) = (format.encode(x.into(), false), hex(line[3]));
                let is_nan = format.decode(expected).is_nan() && format.decode(got).is_nan();
                assert!(got == expected || is_nan, "{line:?}: {got:x} for {x}");
                n_encoded += 1;
            }
        }
    }
    for (name, n) in [("e4m3", 256), ("e5m2", 256), ("e2m1", 16), ("e3m2", 64), ("e2m3", 64), ("e8m0", 256)] {
        assert_eq!(n_codes[name], n, "{name}");
    }
    assert!(n_encoded > 2_000 && FORMATS.len() == 7);
}

#[test]
fn blocks_with_a_scale() {
    let text = data("blocks");
    let mut n = 0;
    for line in lines(&text) {
        n += 1;
        if line[0] == "mx" {
            let values: Vec<f64> = words(line[4]).into_iter().map(f64::from).collect();
            let got = mx::encode(&values, format(line[1])).unwrap();
            assert_eq!((u32::from(got.scale), &got.codes), (hex(line[2]), &bytes(line[3])), "{}", line[1]);
            continue;
        }
        let values: Vec<f64> = words(line[4]).into_iter().map(f64::from).collect();
        let got = mx::nv_encode(&values, f32_of(line[1])).unwrap();
        assert_eq!((u32::from(got.scale), got.codes), (hex(line[2]), bytes(line[3])));
    }
    assert_eq!(n, 72);
}

#[test]
fn blocks_of_gguf() {
    let text = data("gguf");
    let mut n = 0;
    for line in lines(&text) {
        n += 1;
        let (kind, block) = (Kind::find(line[0].trim_start_matches("decode_")).unwrap(), bytes(line[1]));
        assert_eq!(block.len(), kind.size().1);
        if line[2] != "-" {
            assert_eq!(gguf::encode(kind, &words(line[2])).unwrap(), block, "{}", line[0]);
        }
        let got: Vec<u32> = gguf::decode(kind, &block).unwrap().into_iter().map(f32::to_bits).collect();
        let expected: Vec<u32> = words(line[3]).into_iter().map(f32::to_bits).collect();
        assert!(got.iter().zip(&expected).all(|(a, b)| a == b || (a | b) << 1 == 0), "{}", line[0]);
        assert_eq!(got.len(), expected.len());
    }
    assert_eq!(n, 58);
}

#[test]
fn wrong_blocks_are_refused() {
    for kind in Kind::ALL {
        assert_eq!(gguf::decode(kind, &[0; 3]).unwrap_err().field, "bytes");
        let refused = gguf::encode(kind, &[0.0; 5]).unwrap_err().field;
        assert_eq!(refused, if kind.encodes() { "values" } else { "format" });
    }
    assert!(gguf::encode(Kind::Q8_0, &[f32::NAN; 32]).is_err());
}
