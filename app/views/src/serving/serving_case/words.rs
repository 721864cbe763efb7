//! The case in words: what was told, what it contradicts, what each change is.

use super::question::{CARD_GB, Evidence, Fix, Found, Guess, Question};
use vramlab_units::show::number;
use vramlab_units::{Lang, Text};

pub const ASK: Text = Text::new("要证据", "Ask for evidence");
pub const TOLD: Text = Text::new("讲的账", "the ledger as told");
pub const MUST: Text = Text::new("算出来的账", "the ledger as it must be");
pub const READING: Text = Text::new("nvidia-smi 读数 38", "nvidia-smi shows 38");
pub const CARD: Text = Text::new("卡 40", "card 40");
pub const NOTHING: Text = Text::new("还没有证据", "no evidence yet");
pub const FIX: Text = Text::new("改法", "Change");
pub const GUESS: Text = Text::new("猜：1024 长的放得下几个", "Your guess: requests of 1024 that fit");
pub const COMMIT: Text = Text::new("就猜这个，算", "That is my guess: compute");
pub const SKIP: Text = Text::new("不猜，直接算", "Compute without a guess");
pub const HINT: Text = Text::new("把指针放到账的一段上。", "Rest the pointer on a part of a ledger.");
pub const HIDDEN: Text = Text::new("先猜，再算", "guess first");
pub const LIMITS: Text = Text::new(
    "一成显存不动；激活和上下文没有另扣，所以是上限。用到几张卡，就几张均分。",
    "A tenth of each card is left alone; activations and context are not taken off beside it, so this is an upper bound. The cards that are used share the weights.",
);
pub const PARTS: [Text; 5] = [
    Text::new("权重", "weights"),
    Text::new("激活", "activations"),
    Text::new("KV 缓存", "KV cache"),
    Text::new("碎片", "fragmentation"),
    Text::new("没人认领", "nobody's"),
];

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn evidence(evidence: Evidence) -> Text {
    match evidence {
        Evidence::Smi => Text::new("nvidia-smi", "nvidia-smi"),
        Evidence::Summary => Text::new("memory_summary()", "memory_summary()"),
        Evidence::Lengths => Text::new("请求的长度", "lengths of requests"),
        Evidence::Config => Text::new("模型的 config", "the model's config"),
    }
}

/// What they answer.
pub fn answer(evidence: Evidence) -> Text {
    match evidence {
        Evidence::Smi => Text::new(
            "“0 号卡约 38 GB，共 40 GB；机器上有四张。”另外三张的读数没人记。",
            "\"Card 0 at about 38 of 40 GB; the machine has four.\" Nobody noted the other three.",
        ),
        Evidence::Summary => Text::new(
            "没跑过。有人写下了一本账：权重 26，激活 8，KV 4，碎片 6，“分配器给每个请求留 2 GB”。",
            "It was never run. Somebody wrote a ledger: weights 26, activations 8, KV 4, fragmentation 6, \"the allocator keeps 2 GB for each request\".",
        ),
        Evidence::Lengths => Text::new("三个请求，各 1024 个 token。", "Three requests of 1024 tokens each."),
        Evidence::Config => Text::new(
            "130 亿参数，fp16；40 层，40 个 KV 头，头维度 128。装载用的是普通写法，没有切分。",
            "13 billion parameters in fp16; 40 layers, 40 KV heads of 128. Loaded the plain way, without sharding.",
        ),
    }
}

pub fn fix(fix: Fix) -> Text {
    match fix {
        Fix::None => Text::new("不改", "no change"),
        Fix::Int8 => Text::new("权重 8 位", "8-bit weights"),
        Fix::Kv8 => Text::new("KV 8 位", "8-bit KV"),
        Fix::Both => Text::new("都 8 位", "both 8-bit"),
        Fix::FourCards => Text::new("四张卡切分", "sharded over 4 cards"),
        Fix::FewerHeads => Text::new("换 8 个 KV 头的模型", "a model with 8 KV heads"),
    }
}

pub fn gb(value: f64) -> String {
    format!("{}\u{2009}GB", number(value))
}

/// How far a finding carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Contradiction,
    Question,
}

/// What the evidence so far exposes, in the order in which it is seen.
pub fn exposed(question: &Question, found: &Found, lang: Lang) -> Vec<(Weight, String)> {
    let has = |all: &[Evidence]| all.iter().all(|one| question.has(*one));
    let mut out = Vec::new();
    let sum = gb(found.told_sum);
    let mut say = |weight, zh: String, en: String| out.push((weight, pick(lang, zh, en)));
    if has(&[Evidence::Summary, Evidence::Smi]) {
        say(
            Weight::Contradiction,
            format!("26 + 8 + 4 + 6 = {sum}，读数只有 38：多出 {}，也比卡大。", gb(found.told_gap)),
            format!(
                "26 + 8 + 4 + 6 = {sum}, and 38 were shown: {} too many, and more than the card has.",
                gb(found.told_gap)
            ),
        );
    }
    if has(&[Evidence::Summary, Evidence::Lengths, Evidence::Config]) {
        let (kv, n) = (gb(found.kv), number(found.told_kv_requests));
        say(
            Weight::Contradiction,
            format!("三个请求的 KV 是 3 × {} = {kv}，不是 4 GB；4 GB 够 {n} 个。", gb(found.kv_request)),
            format!("Three requests take 3 × {} = {kv} of KV, not 4 GB, which would hold {n}.", gb(found.kv_request)),
        );
    }
    if has(&[Evidence::Summary]) {
        say(
            Weight::Contradiction,
            "分配器不知道什么是请求：它按 512 B 取整，按 2 MiB、20 MiB 起的段向卡要（第 24 章）。".into(),
            "The allocator knows no requests: it rounds to 512 B and takes segments of 2 or 20 MiB and more (chapter 24).".into(),
        );
    }
    if has(&[Evidence::Smi, Evidence::Config]) {
        say(
            Weight::Question,
            "四张卡只有一张有读数，装载又没切分：另外 120 GB 多半空着。".into(),
            "One of four cards has a reading and nothing was sharded: the other 120 GB most likely lie idle.".into(),
        );
    }
    if has(&[Evidence::Smi, Evidence::Lengths, Evidence::Config]) {
        let open = gb(38.0 - found.weights - found.kv);
        say(
            Weight::Question,
            format!(
                "38 − {} − {} = {open} 没人认领：上下文、激活、分配器的缓存各占多少，要 memory_summary() 的原表。",
                number(found.weights),
                number(found.kv)
            ),
            format!(
                "38 − {} − {} = {open} are nobody's: context, activations or cached memory. Only the table of memory_summary() can say.",
                number(found.weights),
                number(found.kv)
            ),
        );
    }
    out
}

/// Guess beside answer.
pub fn verdict(guess: Guess, found: &Found, lang: Lang) -> String {
    let fits = found.fits;
    let why = pick(
        lang,
        format!(
            "({} × 0.9 − {}) ÷ {} = {fits} 个",
            number(CARD_GB * found.cards),
            number(found.weights),
            number(found.kv_request)
        ),
        format!(
            "({} × 0.9 − {}) ÷ {} = {fits}",
            number(CARD_GB * found.cards),
            number(found.weights),
            number(found.kv_request)
        ),
    );
    match guess {
        Guess::Number(n) => pick(lang, format!("你猜 {n}；{why}。"), format!("You said {n}; {why}.")),
        _ => pick(lang, format!("{why}。"), format!("{why}.")),
    }
}

pub fn finding(question: &Question, found: &Found, lang: Lang) -> String {
    let n_asked = question.asked.iter().filter(|asked| **asked).count();
    let n_wrong = exposed(question, found, lang).iter().filter(|(weight, _)| *weight == Weight::Contradiction).count();
    let mut said = match (n_asked, n_wrong) {
        (0, _) => pick(
            lang,
            "13B 的服务，四张 40 GB 的卡，三个请求就 OOM。先要证据，再下结论。".into(),
            "A 13B service on four cards of 40 GB dies with three requests. Ask for evidence before you conclude."
                .into(),
        ),
        (n, 0) => pick(
            lang,
            format!("要了 {n} 样证据，还看不出矛盾。"),
            format!("{n} of 4 pieces of evidence, and no contradiction yet."),
        ),
        (n, k) => pick(
            lang,
            format!("要了 {n} 样证据，讲的账里有 {k} 处不成立。"),
            format!("{n} of 4 pieces of evidence; {k} of the told numbers cannot be."),
        ),
    };
    if question.is_revealed(question.fix) {
        let fix = Fix::ALL[question.fix];
        let answer = Found::of(fix);
        said += &pick(
            lang,
            format!("{}：1024 长的放得下 {} 个。", self::fix(fix).get(lang), answer.fits),
            format!(" {} requests of 1024 fit ({}).", answer.fits, self::fix(fix).get(lang)),
        );
    }
    said
}
