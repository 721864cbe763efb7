//! The pools in words.

use super::layout::Side;
use vramlab_model::kv_paging::{Pool, Running};
use vramlab_model::kv_waste::waste;
use vramlab_units::show::with_unit;
use vramlab_units::{Lang, Text};

pub const CURVE: Text = Text::new("同时在跑的请求", "requests running at once");
pub const FILLED: Text = Text::new("有 token", "holds a token");
pub const EMPTY: Text = Text::new("占着，空", "kept, empty");
pub const FREE: Text = Text::new("没人占", "nobody's");

pub fn pick(lang: Lang, zh: String, en: String) -> String {
    match lang {
        Lang::Zh => zh,
        Lang::En => en,
    }
}

pub fn side(side: Side) -> Text {
    match side {
        Side::Reserved => Text::new("按最长预留", "reserved"),
        Side::Paged => Text::new("分页", "paged"),
    }
}

fn share(pool: &Pool) -> String {
    with_unit(waste(pool.used(), pool.kept()), "%")
}

/// What stands over a pool, long and short.
pub fn tally(pool: &Pool, lang: Lang) -> (String, String) {
    let (n, empty) = (pool.running.len(), share(pool));
    let long = pick(
        lang,
        format!("在跑 {n} 个 · 占着的有 {empty} 空着"),
        format!("{n} run · {empty} of what is kept is empty"),
    );
    let short = pick(lang, format!("{n} 个 · 空 {empty}"), format!("{n} run · {empty} empty"));
    (long, short)
}

pub fn table(id: usize, request: Option<&Running>, lang: Lang) -> String {
    let name = id + 1;
    match request {
        Some(request) => {
            let (tokens, pages) = (request.tokens, request.pages.len());
            pick(
                lang,
                format!("请求 {name} 的页表：{tokens} 个 token，{pages} 页"),
                format!("Request {name}: {tokens} tokens, {pages} pages"),
            )
        }
        None => pick(
            lang,
            format!("请求 {name} 此刻没有页：还在排队，或者跑完了"),
            format!("Request {name}: no page, waiting or done"),
        ),
    }
}

pub fn table_rows(lang: Lang) -> [&'static str; 2] {
    match lang {
        Lang::Zh => ["第几页", "在池里"],
        Lang::En => ["page", "in the pool"],
    }
}

pub fn steps(n: u64, lang: Lang) -> String {
    pick(lang, format!("第 {n} 步"), format!("step {n}"))
}

pub const HINT: Text = Text::new(
    "把指针放到一格上，看它是谁的；按一下，看它的页表。",
    "Rest the pointer on a place to see whose it is; press it for its table.",
);

/// What lies at a slot.
pub fn slot(side_of: Side, found: Option<(&Running, usize, u64)>, place: u64, lang: Lang) -> String {
    let name = side(side_of).get(lang);
    let Some((request, page, used)) = found else {
        return pick(lang, format!("{name}：这一格没人占。"), format!("{name}: nobody's."));
    };
    let id = request.id + 1;
    match side_of {
        Side::Reserved => pick(
            lang,
            format!("{name}：请求 {id} 占 {place} 个位置，用了 {used} 个。"),
            format!("{name}: request {id} keeps {place} slots and uses {used}."),
        ),
        Side::Paged => pick(
            lang,
            format!("{name}：请求 {id} 的第 {page} 页，{place} 个位置用了 {used} 个。"),
            format!("{name}: page {page} of request {id}, {used} of {place} slots used."),
        ),
    }
}

/// The finding for the state shown. Every number is the model's.
pub fn finding(step: u64, reserved: &Pool, paged: &Pool, lang: Lang) -> String {
    let (a, b) = (reserved.running.len(), paged.running.len());
    let (empty_a, empty_b) = (share(reserved), share(paged));
    let head = pick(
        lang,
        format!(
            "第 {step} 步，同样 4096 个位置：按最长预留跑 {a} 个请求，占着的有 {empty_a} 空着；分页跑 {b} 个，空着 {empty_b}。"
        ),
        format!(
            "At step {step}, with the same 4096 slots: reserved, {a} requests run and {empty_a} of what they keep is \
             empty; paged, {b} run and {empty_b} is empty. "
        ),
    );
    let gave = paged.preempted;
    let tail = match (gave, b.cmp(&a)) {
        (0, std::cmp::Ordering::Greater) => pick(lang, String::new(), String::new()),
        (0, _) => pick(
            lang,
            "请求都快到最长时，分页也多跑不了几个。".into(),
            "Where requests come near the longest, pages hardly hold more of them.".into(),
        ),
        (n, _) => pick(
            lang,
            format!("分页按眼下的长度放人进来，池满过：已有 {n} 次让出重算。"),
            format!("Pages admit by the length of the moment, and the pool has been full: {n} times one gave way."),
        ),
    };
    (head + &tail).trim_end().to_owned()
}
