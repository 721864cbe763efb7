//! The text of PyTorch's out-of-memory error: its numbers, and the cause that they tell. The rule is
//! `vramlab_alloc::refusal`, the one that recordings are judged by.
//!
//! Two wordings are read: that of torch 2.1 and later ("of which 11.25 MiB is free"), and the older one in brackets
//! ("79.15 GiB total capacity; …"). Numbers are rounded to two decimals; where that could change the cause it is said.

use crate::oom::{Cause, Evidence, classify};
use vramlab_units::{Bytes, Localized, Text, show};

/// A number of the text, bytes, and half of its last digit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub bytes: u64,
    pub slack: u64,
}

/// What the text says, each where it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub request: Amount,
    pub capacity: Option<Amount>,
    pub device_free: Amount,
    /// Of this process, with what is not PyTorch's. The wording before torch 2.1 does not say it.
    pub in_use: Option<Amount>,
    /// The process's own limit.
    pub allowed: Option<Amount>,
    pub allocated: Amount,
    /// Of the allocated, what lies in private pools (CUDA graphs).
    pub private: Option<Amount>,
    /// Reserved and not allocated.
    pub inactive: Amount,
}

/// Private pools hold much from this share of what is allocated on.
const MUCH: f64 = 0.05;

const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("bytes", 1),
    ("B", 1),
];

/// `3GiB`, `500.00 MiB`: bytes.
pub fn amount(text: &str) -> Option<u64> {
    parsed(text).map(|amount| amount.bytes)
}

fn parsed(text: &str) -> Option<Amount> {
    let text = text.trim();
    let (digits, unit) = UNITS.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?.trim_end(), *bytes)))?;
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)?;
    let n_decimals = digits.split_once('.').map_or(0, |(_, rest)| rest.len());
    let bytes = value * unit as f64;
    let slack = if unit == 1 || n_decimals == 0 { 0.0 } else { 0.5 * 10_f64.powi(-(n_decimals as i32)) * unit as f64 };
    (bytes < (1_u64 << 50) as f64).then_some(Amount { bytes: bytes.round() as u64, slack: slack.ceil() as u64 })
}

/// The amount that stands right before the words.
fn before(text: &str, words: &str) -> Option<Amount> {
    let head = text[..text.find(words)?].trim_end();
    let unit = head.rfind(char::is_whitespace)?;
    let start = head[..unit].trim_end().rfind(|c: char| !(c.is_ascii_digit() || c == '.')).map_or(0, |at| at + 1);
    parsed(head.get(start..)?)
}

/// The amount that stands right behind the words.
fn after(text: &str, words: &str) -> Option<Amount> {
    let mut rest = text[text.find(words)? + words.len()..].split_whitespace();
    let (value, unit) = (rest.next()?, rest.next()?);
    parsed(&format!("{value} {}", unit.trim_end_matches(['.', ',', ';', ')'])))
}

/// Where NVML tells processes apart, torch lists them by number; one that holds at least what this allocator reserves, and
/// no second one that does, is this process.
fn of_process(text: &str) -> Option<Amount> {
    let allocated = before(text, "is allocated by PyTorch")?;
    let inactive = before(text, "is reserved by PyTorch but unallocated")?;
    let (least, slack) = (allocated.bytes.saturating_add(inactive.bytes), allocated.slack + inactive.slack);
    let each = text.split("Process ").skip(1).filter_map(|part| {
        let (number, rest) = part.split_once(" has ")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| after(rest, "")).flatten()
    });
    let mut own = each.filter(|amount| amount.bytes + amount.slack + slack >= least);
    own.next().filter(|_| own.next().is_none())
}

/// Reads the last such error of a text; nothing if there is none with its numbers.
pub fn read(text: &str) -> Option<Message> {
    let text = &text[text.rfind("Tried to allocate ")?..];
    let request = after(text, "Tried to allocate ")?;
    if let Some(reserved) = before(text, "reserved in total") {
        let allocated = before(text, "already allocated")?;
        let inactive = reserved.bytes.saturating_sub(allocated.bytes);
        return Some(Message {
            request,
            capacity: before(text, "total capacity"),
            device_free: before(text, "free;")?,
            allocated,
            inactive: Amount { bytes: inactive, slack: reserved.slack + allocated.slack },
            ..Message::default()
        });
    }
    Some(Message {
        request,
        // "capacty" stood in torch 2.1.
        capacity: after(text, "total capacity of ").or_else(|| after(text, "total capacty of ")),
        device_free: before(text, "is free")?,
        in_use: after(text, "this process has ").or_else(|| of_process(text)),
        allowed: before(text, "allowed;"),
        private: before(text, "allocated in private pools"),
        allocated: before(text, "is allocated by PyTorch").or_else(|| after(text, "the allocated memory "))?,
        inactive: before(text, "is reserved by PyTorch but unallocated")?,
    })
}

impl Message {
    pub fn reserved(&self) -> u64 {
        self.allocated.bytes.saturating_add(self.inactive.bytes)
    }

    /// What the process's own limit left.
    pub fn left(&self) -> Option<u64> {
        Some(self.allowed?.bytes.saturating_sub(self.reserved()))
    }

    /// Whether it was that limit that refused: the device had room.
    pub fn is_capped(&self) -> bool {
        self.left().is_some_and(|left| left < self.device_free.bytes)
    }

    pub fn evidence(&self) -> Evidence {
        let is_capped = self.is_capped();
        let capacity = if is_capped { self.allowed } else { self.capacity };
        let others = self.in_use.map_or(0, |in_use| in_use.bytes.saturating_sub(self.reserved()));
        Evidence {
            request: self.request.bytes,
            device_free: self.left().filter(|_| is_capped).unwrap_or(self.device_free.bytes),
            reserved: self.reserved(),
            inactive: self.inactive.bytes,
            capacity: capacity.map(|capacity| capacity.bytes),
            context: if is_capped { 0 } else { others },
            ..Evidence::default()
        }
    }

    pub fn cause(&self) -> Cause {
        classify(&self.evidence())
    }

    /// Whether the digits that the text leaves out could make another cause of it.
    pub fn is_close(&self) -> bool {
        let evidence = self.evidence();
        let free = match self.allowed.filter(|_| self.is_capped()) {
            Some(allowed) => allowed.slack + self.allocated.slack,
            None => self.device_free.slack,
        };
        let slack = free + self.inactive.slack + self.request.slack;
        let less = Evidence { device_free: evidence.device_free.saturating_sub(slack), ..evidence };
        let more = Evidence { device_free: evidence.device_free.saturating_add(slack), ..evidence };
        classify(&less) != classify(&more)
    }

    /// Every number that the text gives, in its order.
    pub fn figures(&self) -> Vec<(Text, u64)> {
        let all = [
            (Text::new("这次申请", "this request"), Some(self.request)),
            (Text::new("整张卡", "the whole card"), self.capacity),
            (Text::new("设备空闲", "free on the device"), Some(self.device_free)),
            (Text::new("本进程占用", "held by this process"), self.in_use),
            (Text::new("本进程上限", "allowed to this process"), self.allowed),
            (Text::new("PyTorch 已分配", "allocated by PyTorch"), Some(self.allocated)),
            (Text::new("其中在私有池", "of it in private pools"), self.private),
            (Text::new("保留而空闲", "reserved and free"), Some(self.inactive)),
        ];
        all.into_iter().filter_map(|(name, amount)| Some((name, amount?.bytes))).collect()
    }

    /// Cause, numbers and what to do first, each with its label.
    pub fn told(&self) -> Vec<(Text, Localized)> {
        vec![
            (Text::new("原因", "Cause"), self.cause_told()),
            (Text::new("数字", "Numbers"), self.numbers()),
            (Text::new("先做", "Do first"), self.first()),
        ]
    }

    fn cause_told(&self) -> Localized {
        let title = self.cause().title();
        let (zh, en) = match self.is_close() {
            true => (
                "（四舍五入的数字刚好在界上，也可能是另一种）",
                " (the rounded numbers lie on the edge: it may be the next cause)",
            ),
            false => ("", ""),
        };
        Localized::both(format!("{}{zh}", title.zh), format!("{}{en}", title.en))
    }

    fn numbers(&self) -> Localized {
        let (request, inactive, reserved) =
            (size(self.request.bytes), size(self.inactive.bytes), size(self.reserved()));
        let free = size(self.device_free.bytes);
        let (zh, en) = match (self.left().map(size), self.allowed) {
            (Some(left), Some(allowed)) => (
                format!("设备空闲 {free}，但本进程只许用 {}，还剩 {left}", size(allowed.bytes)),
                format!(
                    "the device had {free} free, but this process is allowed {}, which left {left}",
                    size(allowed.bytes)
                ),
            ),
            _ => (format!("设备空闲 {free}"), format!("the device had {free} free")),
        };
        let (zh_out, en_out) = self.beside();
        Localized::both(
            format!("申请 {request}；{zh}；分配器保留 {reserved}，其中空闲 {inactive}{zh_out}"),
            format!("{request} was wanted; {en}; {reserved} reserved, of it {inactive} free{en_out}"),
        )
    }

    /// What lies on the card beside the allocator: this process's own part, that of others, and what cannot be told.
    fn beside(&self) -> (String, String) {
        let (mut zh, mut en) = (String::new(), String::new());
        let reserved = self.reserved();
        if let Some(own) = self.in_use.map(|in_use| in_use.bytes.saturating_sub(reserved)).filter(|own| *own > 0) {
            zh += &format!("；本进程在分配器之外占 {}（上下文、别的库）", size(own));
            en += &format!("; this process holds {} outside the allocator (context, other libraries)", size(own));
        }
        let slack = |amount: Option<Amount>| amount.map_or(0, |amount| amount.slack);
        let outside = self.evidence().outside().filter(|_| !self.is_capped());
        match (outside, self.in_use) {
            // The digits that the text leaves out are no other process.
            (Some(bytes), Some(_)) if bytes > slack(self.capacity) + slack(self.in_use) + self.device_free.slack => {
                zh += &format!("；别的进程占着 {}", size(bytes));
                en += &format!("; other processes held {}", size(bytes));
            }
            (Some(bytes), None) if bytes > 0 => {
                zh += &format!("；分配器之外还有 {}：本进程的上下文和别的进程各占多少，这段文字没有说", size(bytes));
                en += &format!(
                    "; {} lie outside the allocator: how much of it is this process's context and how much other \
                     processes', this text does not say",
                    size(bytes)
                );
            }
            _ => {}
        }
        if let Some(private) = self.private.filter(|_| self.holds_private()) {
            zh += &format!(
                "；已分配的里面 {} 在私有池里（CUDA Graphs），那些池空着的部分别处用不上",
                size(private.bytes)
            );
            en += &format!(
                "; of the allocated, {} lie in private pools (CUDA graphs): what those pools have free serves nobody else",
                size(private.bytes)
            );
        }
        if let Some(allowed) = self.too_little() {
            zh += &format!(
                "；只许用 {}，却已保留 {}：上限是后来才调低的，或这段文字拼错了",
                size(allowed),
                size(reserved)
            );
            en += &format!(
                "; {} allowed, and yet {} reserved: the limit was lowered afterwards, or the text is put together wrongly",
                size(allowed),
                size(reserved)
            );
        }
        (zh, en)
    }

    /// Private pools hold a good part of what is in use: their free bytes are nobody else's.
    pub fn holds_private(&self) -> bool {
        self.private.is_some_and(|private| private.bytes as f64 >= MUCH * self.allocated.bytes.max(1) as f64)
    }

    /// The process's limit, where more is reserved than it allows.
    pub fn too_little(&self) -> Option<u64> {
        let allowed = self.allowed?;
        let slack = allowed.slack + self.allocated.slack + self.inactive.slack;
        (self.reserved() > allowed.bytes + slack).then_some(allowed.bytes)
    }

    fn first(&self) -> Localized {
        let (zh, en) = match self.cause() {
            Cause::Fragmentation => (
                "试试 PYTORCH_ALLOC_CONF=expandable_segments:True：空闲的够，只是散着",
                "try PYTORCH_ALLOC_CONF=expandable_segments:True, for enough is free, in pieces",
            ),
            Cause::TooBig => {
                ("把这次申请改小：整张卡也给不了", "make this request smaller: the whole card could not give it")
            }
            Cause::Outside => (
                "用 nvidia-smi 看卡上还有谁，先停掉或挪走它",
                "see with nvidia-smi who else is on the card, and stop or move it",
            ),
            Cause::FitsNow => ("原样再跑一次：出错时已经放得下", "run it again as it is: it would fit by now"),
            Cause::Leak | Cause::Capacity => (
                "录一份快照（torch.cuda.memory._dump_snapshot()），看谁占着，再减小它",
                "record a snapshot (torch.cuda.memory._dump_snapshot()), see who holds it, and make that smaller",
            ),
        };
        let is_pooled = self.holds_private() && matches!(self.cause(), Cause::Fragmentation | Cause::FitsNow);
        let (zh, en) = match is_pooled {
            true => (
                format!("{zh}。先看私有池：空闲的若在它们里面，别的申请用不上，减少 CUDA Graphs 或让它们共用一个池"),
                format!(
                    "{en}. Look at the private pools first: what is free in them serves no other request; capture fewer \
                     CUDA graphs, or let them share a pool"
                ),
            ),
            false => (zh.to_owned(), en.to_owned()),
        };
        if self.is_capped() {
            return Localized::both(
                format!("调高或去掉本进程的上限（set_per_process_memory_fraction）；上限不能动，就{zh}"),
                format!(
                    "raise or remove this process's limit (set_per_process_memory_fraction); if it must stay, {en}"
                ),
            );
        }
        Localized::both(zh, en)
    }
}

fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_unit() {
        assert_eq!(amount("3GiB"), Some(3 << 30));
        assert_eq!(amount("105.55 MiB"), Some(110_677_197));
        assert_eq!(amount("3 GB"), Some(3_000_000_000));
        for wrong in ["3", "GiB", "-3GiB", "infGiB", "9e99GiB", "three GiB"] {
            assert_eq!(amount(wrong), None, "{wrong}");
        }
    }

    fn english(text: &str) -> Vec<String> {
        let told = read(text).unwrap().told();
        told.into_iter().map(|(_, text)| text.en.unwrap().replace(['\u{202f}', '\u{a0}', '\u{2009}'], " ")).collect()
    }

    /// 22.52 GiB in use less 22.05 GiB reserved is this process's own; 23.65 − 1.12 − 22.52 = 0.01 GiB is what three
    /// rounded numbers leave out.
    #[test]
    fn what_lies_beside_the_allocator_is_told_apart() {
        let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
                    23.65 GiB of which 1.12 GiB is free. Process 1234 has 22.52 GiB memory in use. Of the allocated memory \
                    18.10 GiB is allocated by PyTorch, and 3.95 GiB is reserved by PyTorch but unallocated.";
        let told = english(text);
        assert!(told[1].contains("this process holds 481 MiB outside the allocator"), "{told:?}");
        assert!(!told[1].contains("other processes"), "{told:?}");
        // A second process that is too small to be this one.
        let two = text.replace("memory in use. Of", "memory in use. Process 99 has 3.00 GiB memory in use. Of");
        let two = two.replace("23.65 GiB of", "26.65 GiB of");
        let told = english(&two);
        assert!(told[1].contains("holds 481 MiB") && told[1].contains("other processes held 3.01 GiB"), "{told:?}");
        // Two that could be: nobody knows which.
        let told = english(&two.replace("3.00 GiB memory", "22.60 GiB memory"));
        assert!(told[1].contains("this text does not say"), "{told:?}");
    }

    #[test]
    fn private_pools_and_a_limit_below_what_is_reserved_are_told() {
        let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of \
                    79.15 GiB of which 8.00 MiB is free. Including non-PyTorch memory, this process has 79.14 GiB memory in \
                    use. 12.00 GiB allowed; Of the allocated memory 5.10 GiB is allocated by PyTorch, with 300.00 MiB \
                    allocated in private pools (e.g., CUDA Graphs), and 70.95 GiB is reserved by PyTorch but unallocated.";
        let (message, told) = (read(text).unwrap(), english(text));
        assert_eq!(message.private.unwrap().bytes, 300 << 20);
        assert_eq!(message.too_little(), Some(12 << 30));
        assert!(told[1].contains("12 GiB allowed, and yet 76 GiB reserved"), "{told:?}");
        assert!(told[1].contains("300 MiB lie in private pools") && told[2].contains("private pools"), "{told:?}");
    }

    /// The wording before torch 2.1.
    #[test]
    fn the_older_wording_is_read_too() {
        let text = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.90 GiB total capacity; 11.00 GiB \
                    already allocated; 1.00 GiB free; 14.00 GiB reserved in total by PyTorch) If reserved memory is >> \
                    allocated memory try setting max_split_size_mb to avoid fragmentation.";
        let message = read(text).unwrap();
        assert_eq!((message.request.bytes, message.device_free.bytes), (2 << 30, 1 << 30));
        assert_eq!((message.reserved(), message.inactive.bytes), (14 << 30, 3 << 30));
        assert_eq!(message.cause(), Cause::Fragmentation);
        // 15.90 − 1.00 − 14.00: of whom is not in the text.
        assert!(
            english(text)[1].contains("0.9 GiB lie outside the allocator")
                || english(text)[1].contains("922 MiB lie outside the allocator"),
            "{:?}",
            english(text)
        );
        assert!(english(text)[1].contains("this text does not say"));
        assert_eq!(read("CUDA out of memory."), None);
        assert_eq!(read("Tried to allocate  "), None);
    }
}
