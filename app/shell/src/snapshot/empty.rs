//! Nothing is open: how a snapshot is recorded, and an example to look at meanwhile.

use crate::action::Action;
use crate::guide::parts;
use crate::snapshot::desk;
use crate::widgets;
use egui::Ui;
use vramlab_kit::tokens::Tokens;
use vramlab_units::{Lang, Text};

const HOW: Text = Text::new("录一份自己的", "Record one of your own");
const STEPS: [Text; 3] = [
    Text::new(
        "在要看的那段代码之前打开记录。最多留 10 万个事件，够几步训练。",
        "Start recording before the code you want to see. The 100,000 events kept here are enough for a few training steps.",
    ),
    Text::new(
        "跑几步就够：第一步会分配优化器状态，第三步起每步都一样。",
        "A few steps are enough: the first allocates the optimizer's state, and from the third on they are alike.",
    ),
    Text::new(
        "写成文件，再停止记录。想在显存不够时也留下它，就放进 except。",
        "Write the file, then stop. To have it after an out-of-memory error too, do this in the except branch.",
    ),
];
const CODE: [&str; 3] = [
    "torch.cuda.memory._record_memory_history(max_entries=100_000)",
    "for step in range(3):\n    train_step()",
    "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")\ntorch.cuda.memory._record_memory_history(enabled=None)",
];
const COPY: Text = Text::new("复制", "Copy");
const DROP: Text = Text::new(
    "然后把 snapshot.pickle 拖进这个窗口（.gz、.zst 也行）。文件只在本机读取，不会上传，里面的代码引用一律不执行。",
    "Then drop snapshot.pickle on this window (.gz and .zst work too). It is read here and uploaded nowhere, and no code that it refers to is ever run.",
);
const CHOOSE: Text = Text::new("选择文件…", "Choose a file…");
const NO_FILE: Text = Text::new("手边没有？先看示例", "None at hand? Look at an example");
const RECORDED: Text = Text::new("都在一张 H200 上用 PyTorch 2.11 录下。", "Recorded on an H200 with PyTorch 2.11.");
/// The examples with what runs in them; another file of the folder goes by its name.
const EXAMPLES: [(&str, Text); 8] = [
    ("mlp_adam", Text::new("训练：四层 MLP，Adam，三步", "training: four linear layers, Adam, three steps")),
    (
        "training_loop",
        Text::new("训练：小 GPT，混合精度，AdamW，12 步", "training: a small GPT, mixed precision, AdamW, 12 steps"),
    ),
    ("oom", Text::new("训练：batch 翻倍，直到显存不足", "training: the batch doubles until memory runs out")),
    ("leak", Text::new("训练：每步漏掉一个张量", "training: a tensor is kept each step")),
    (
        "kv_cat",
        Text::new("推理：KV cache 每步 torch.cat，300 步", "inference: a KV cache grown by torch.cat, 300 steps"),
    ),
    (
        "kv_growth",
        Text::new(
            "推理：六层 KV cache，每个 token 拼接一次",
            "inference: six layers of KV cache, concatenated with every token",
        ),
    ),
    ("graph_pool", Text::new("推理：两个 CUDA graph 的私有池", "inference: the private pool of two CUDA graphs")),
    ("fragmentation", Text::new("碎片：空闲的够，单块都不够", "fragmentation: enough is free, in pieces too small")),
];

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, HOW.get(lang));
        for (text, code) in STEPS.iter().zip(CODE) {
            parts::note(ui, tokens, text.get(lang), tokens.ink);
            parts::code(ui, tokens, code, COPY.get(lang), actions);
            ui.add_space(tokens.space.s);
        }
        parts::note(ui, tokens, DROP.get(lang), tokens.muted);
        ui.add_space(tokens.space.s);
        ui.horizontal_wrapped(|ui| {
            if widgets::primary(ui, tokens, CHOOSE.get(lang)).clicked() {
                actions.push(Action::OpenFile);
            }
        });
    });
    let examples: Vec<&str> = desk::examples().collect();
    if examples.is_empty() {
        return;
    }
    ui.add_space(tokens.space.m);
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, NO_FILE.get(lang));
        parts::note(ui, tokens, RECORDED.get(lang), tokens.muted);
        ui.add_space(tokens.space.xs);
        ui.horizontal_wrapped(|ui| {
            for path in in_order(&examples) {
                let name = desk::stem(path);
                let words = words_of(name).map_or(name, |text| text.get(lang));
                if widgets::secondary(ui, tokens, words).clicked() {
                    actions.push(Action::OpenExample((*path).to_owned()));
                }
            }
        });
    });
}

/// What runs in an example.
pub fn words_of(stem: &str) -> Option<Text> {
    EXAMPLES.iter().find(|(known, _)| *known == stem).map(|(_, text)| *text)
}

/// As the list above has them, others last.
fn in_order<'a>(examples: &[&'a str]) -> Vec<&'a str> {
    let mut all = examples.to_vec();
    all.sort_by_key(|path| EXAMPLES.iter().position(|(known, _)| *known == desk::stem(path)).unwrap_or(EXAMPLES.len()));
    all
}
