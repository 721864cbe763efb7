//! Traces to start from: the cases of the chapter, each with the card and the settings that make its point.

use super::question::{Engine, Settings};
use vramlab_alloc::generate::Pattern;
use vramlab_units::Text;

/// A trace, a card, allocators and settings.
#[derive(Debug)]
pub struct Preset {
    /// Id in parameters.
    pub id: &'static str,
    pub label: Text,
    words: &'static str,
    pub engines: &'static [Engine],
    pub capacity_mib: u64,
    pub set: fn(&mut Settings),
    /// Where the figure opens, in events done; 0 for the end.
    pub opens_at: usize,
}

impl PartialEq for Preset {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Preset {
    /// The words of the trace.
    pub fn trace(&self) -> String {
        if self.id == "training" {
            let pattern = Pattern::TrainingStep { n_layers: 4, n_steps: 2 };
            return pattern.trace(7).map(|trace| shortened(&trace.to_text())).unwrap_or_default();
        }
        self.words.to_owned()
    }
}

/// A free on the stream of its request need not name it.
fn shortened(text: &str) -> String {
    text.split(' ')
        .map(|word| if word.starts_with('-') { word.trim_end_matches("@0") } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

pub fn find(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}

const fn preset(
    id: &'static str,
    label: Text,
    words: &'static str,
    engines: &'static [Engine],
    capacity_mib: u64,
) -> Preset {
    Preset { id, label, words, engines, capacity_mib, set: |_| {}, opens_at: 0 }
}

const BOTH: &[Engine] = &[Engine::Native, Engine::Expandable];
const NATIVE: &[Engine] = &[Engine::Native];

pub const PRESETS: &[Preset] = &[
    preset(
        "holes",
        Text::new("放了 27 MiB，要 24 MiB", "27 MiB freed, 24 MiB wanted"),
        "a:9M b:9M c:9M d:9M e:9M f:9M -a -b -c g:24M",
        BOTH,
        60,
    ),
    preset(
        "alternating",
        Text::new("隔一个放一个", "Every other one freed"),
        "a:9M b:9M c:9M d:9M e:9M f:9M -a -c -e g:20M",
        BOTH,
        60,
    ),
    preset("nine_mib", Text::new("三个 9 MiB", "9 MiB, three times"), "a:9M b:9M c:9M -a -b empty", NATIVE, 60),
    preset("flush", Text::new("先清缓存再要", "Flushed, then served"), "a:20M b:20M c:20M -a -c d:40M", NATIVE, 60),
    preset(
        "growing_batch",
        Text::new("每步大一点", "A batch that grows"),
        "a:32M b:16M -a -b c:33M d:16.5M -c -d e:34M f:17M -e -f g:35M h:17.5M -g -h",
        BOTH,
        160,
    ),
    Preset {
        set: |settings| settings.max_split_mib = 32,
        ..preset(
            "max_split",
            Text::new("max_split：大块不切", "max_split: large blocks stay whole"),
            "a:64M -a b:40M",
            NATIVE,
            160,
        )
    },
    preset("small", Text::new("小申请", "Small requests"), "a:1 b:513 c:0 d:1M e:1048577", NATIVE, 40),
    preset("unsplit", Text::new("11 MiB 多一字节", "11 MiB and one byte"), "a:11534337", NATIVE, 20),
    Preset {
        set: |settings| settings.divisions = 4,
        ..preset(
            "rounding",
            Text::new("分 4 档取整", "Rounding in 4 divisions"),
            "a:1200 b:2049 c:9000 d:3145729",
            NATIVE,
            40,
        )
    },
    Preset {
        set: |settings| {
            settings.gc_threshold = 0.4;
            settings.memory_fraction = 1.0;
        },
        ..preset("gc", Text::new("回收旧块", "Old blocks returned"), "a:30M b:20M -a -b c:40M", NATIVE, 100)
    },
    preset(
        "record_stream",
        Text::new("第二个流还在用", "A second stream still uses it"),
        "a:6M a>1 -a b:6M sync c:1.5M",
        NATIVE,
        40,
    ),
    preset(
        "grow_tail",
        Text::new("空洞优先于尾巴", "A hole before the tail"),
        "a:9M b:9M c:5M d:8.5M -a e:8M",
        BOTH,
        60,
    ),
    preset(
        "remap",
        Text::new("取消映射，再映射", "Unmapped, mapped again"),
        "a:50M b:5M -a empty c:30M",
        &[Engine::Expandable],
        80,
    ),
    preset(
        "private_pool",
        Text::new("CUDA 图的私有池", "A CUDA graph's private pool"),
        "a:4M -a capture:1@0 b:4M -b end@0 empty destroy:1 empty",
        NATIVE,
        60,
    ),
    preset(
        "stream_pool",
        Text::new("池、流与同步", "Pool, streams, sync"),
        "a:100M -a sync b:32M -b c:32M@1 1<0 d:32M@1 sync",
        &[Engine::StreamPool, Engine::Native],
        256,
    ),
    preset(
        "bins",
        Text::new("BFC 的区域翻倍", "BFC's regions double"),
        "a:700 b:1M c:1048577 d:10M e:19.5M -b -d",
        &[Engine::Bfc, Engine::Native],
        100,
    ),
    preset("training", Text::new("两步训练", "Two training steps"), "", BOTH, 1024),
];
