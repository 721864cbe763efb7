//! Pickles made here: large ones for speed, hostile ones for the reader.

/// Writes opcodes of protocol 4.
pub struct Forge {
    pub bytes: Vec<u8>,
    n_memo: u32,
}

impl Forge {
    pub fn new() -> Self {
        Self { bytes: vec![0x80, 4], n_memo: 0 }
    }

    fn memoize(&mut self) -> u32 {
        self.bytes.push(0x94);
        self.n_memo += 1;
        self.n_memo - 1
    }

    pub fn text(&mut self, text: &str) -> u32 {
        self.bytes.push(0x8c);
        self.bytes.push(text.len() as u8);
        self.bytes.extend_from_slice(text.as_bytes());
        self.memoize()
    }

    pub fn get(&mut self, memo: u32) {
        match u8::try_from(memo) {
            Ok(memo) => self.bytes.extend([b'h', memo]),
            Err(_) => {
                self.bytes.push(b'j');
                self.bytes.extend(memo.to_le_bytes());
            }
        }
    }

    pub fn int(&mut self, value: u64) {
        if let Ok(small) = u8::try_from(value) {
            self.bytes.extend([b'K', small]);
        } else if let Ok(int) = i32::try_from(value) {
            self.bytes.push(b'J');
            self.bytes.extend(int.to_le_bytes());
        } else {
            let raw = value.to_le_bytes();
            let n = 8 - value.leading_zeros() as usize / 8;
            // A set highest bit needs one more byte: the number is signed.
            let n = if raw[n - 1] & 0x80 != 0 { n + 1 } else { n };
            self.bytes.extend([0x8a, n as u8]);
            self.bytes.extend((0..n).map(|idx| raw.get(idx).copied().unwrap_or(0)));
        }
    }

    pub fn op(&mut self, ops: &[u8]) {
        self.bytes.extend_from_slice(ops);
    }
}

/// A snapshot of `n_events` plain allocs and frees over a ring of 64 blocks, with stacks of eight frames.
pub fn many_events(n_events: usize) -> Vec<u8> {
    let mut forge = Forge::new();
    forge.op(b"}(");
    let keys: Vec<u32> = [
        "action",
        "addr",
        "size",
        "stream",
        "time_us",
        "frames",
        "name",
        "filename",
        "line",
        "alloc",
        "free_requested",
        "free_completed",
        "segments",
        "device_traces",
    ]
    .iter()
    .map(|word| {
        let memo = forge.text(word);
        forge.op(b"0");
        memo
    })
    .collect();
    let file = forge.text("train.py");
    forge.op(b"0");
    let frames: Vec<u32> = (0..40)
        .map(|line| {
            forge.op(b"}");
            let frame = forge.memoize();
            forge.op(b"(");
            forge.get(keys[6]);
            forge.text(&format!("function_{line}"));
            forge.get(keys[7]);
            forge.get(file);
            forge.get(keys[8]);
            forge.int(line * 7);
            forge.op(b"u0");
            frame
        })
        .collect();
    forge.get(keys[12]);
    forge.op(b"]");
    forge.get(keys[13]);
    forge.op(b"](](");
    for idx in 0..n_events {
        if idx > 0 && idx % 1000 == 0 {
            forge.op(b"e(");
        }
        event(&mut forge, &keys, &frames, idx);
    }
    forge.op(b"eeu.");
    forge.bytes
}

/// Thirds: an alloc, the request to free it, its completion.
fn event(forge: &mut Forge, keys: &[u32], frames: &[u32], idx: usize) {
    let round = (idx / 3) as u64;
    forge.op(b"}");
    forge.memoize();
    forge.op(b"(");
    forge.get(keys[0]);
    forge.get(keys[9 + idx % 3]);
    forge.get(keys[1]);
    forge.int(0x7f00_0000_0000 + round % 64 * 0x10_0000);
    forge.get(keys[2]);
    forge.int(4096 + round % 100 * 512);
    forge.get(keys[3]);
    forge.int(0);
    forge.get(keys[4]);
    forge.int(1_796_017_713_474_490 + idx as u64);
    forge.get(keys[5]);
    forge.op(b"]");
    forge.memoize();
    forge.op(b"(");
    for depth in 0..8 {
        forge.get(frames[(idx * 3 + depth * depth) % frames.len()]);
    }
    forge.op(b"eu");
}
