//! The answer in words: the verdict, what fills the card, what to change first, the plan, and where the numbers come from.

use crate::cli::layout::{COLUMNS, labelled, left, plain, right, width, wrap};
use crate::cli::say::{Ink, Say};
use vramlab_fit::{Answer, Fits, Item, Plan, SLOW_PERCENT, Tried, Work};
use vramlab_modelfile::parts;
use vramlab_modelfile::{Fact, Model, Origin};
use vramlab_units::{Bytes, Lang, Localized, Text, show};

const FILLS: Text = Text::new("每张卡上装着什么", "What fills each card");
const LEVERS: Text = Text::new("先改什么（省得多的在前）", "What to change first, largest saving on top");
const ROOM: Text = Text::new("还能腾出多少（省得多的在前）", "What would free more, largest saving on top");
const PLAN: Text = Text::new("最省事的方案", "The cheapest plan that fits");
const SLOW_PLAN: Text =
    Text::new("只靠手上的卡也放得下的方案，很慢", "A plan that fits on the cards at hand, and is slow");
const NO_PLAN: Text = Text::new("没有现成的方案", "No plan fits as it stands");
const NUMBERS: Text = Text::new("这些数字不是直接读到的", "Numbers that were not simply read");
const UNKNOWN: Text = Text::new("文件没有说的", "What the file does not say");
const INSTEAD: Text = Text::new("换一种训练", "Another kind of training");
/// Levers that are shown; the JSON has all of them.
const SHOWN: usize = 6;
/// Columns of the bar.
const BAR: usize = 24;
/// A gap between columns.
const GAP: &str = "  ";

pub fn size(bytes: u64) -> String {
    plain(&show::bytes_binary(Bytes(bytes)))
}

pub fn tell(model: &Model, answer: &Answer, name: &str, say: &Say) {
    say.data(&say.ink(Ink::Strong, &wrap(&head(model, name, say.lang), COLUMNS, "")));
    say.data(&wrap(&asked(answer, say.lang), COLUMNS, ""));
    let (ink, verdict) = verdict(answer, say.lang);
    say.data(&format!("\n{}", say.ink(ink, &wrap(&verdict, COLUMNS, "  "))));
    for warning in &answer.sums.warnings {
        say.data(&say.ink(Ink::Caution, &wrap(warning.get(say.lang), COLUMNS, "  ")));
    }
    if let Some(limit) = answer.limit_words() {
        say.data(&wrap(limit.get(say.lang), COLUMNS, "  "));
    }
    say.data(&format!("\n{}", say.ink(Ink::Strong, &fills(answer, say))));
    for line in items(answer, say) {
        say.data(&line);
    }
    notes(answer, say);
    if !answer.levers.is_empty() && answer.fits != Fits::Unknown {
        let title = if answer.fits == Fits::No { LEVERS } else { ROOM };
        say.data(&format!("\n{}", say.ink(Ink::Strong, say.text(title))));
        for tried in answer.levers.iter().take(SHOWN) {
            lever(tried, answer.fits == Fits::No, say);
        }
    }
    if answer.fits == Fits::No {
        let is_slow = answer.plan.as_ref().is_some_and(|plan| plan.percent > SLOW_PERCENT);
        let title = match answer.plan {
            Some(_) if is_slow => SLOW_PLAN,
            Some(_) => PLAN,
            None => NO_PLAN,
        };
        // More cards come before a plan that takes several times as long.
        if is_slow {
            cards(answer, say);
        }
        say.data(&format!("\n{}", say.ink(Ink::Strong, say.text(title))));
        plans(answer, say);
    }
    origins(model, answer, say);
}

/// `config.json · llama · 8.03 B parameters · bf16`.
fn head(model: &Model, name: &str, lang: Lang) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let mut pieces = vec![file.to_owned()];
    if !model.arch.model_type.is_empty() {
        pieces.push(model.arch.model_type.clone());
    }
    if let Some(n) = n_params(model) {
        let active =
            parts::parts(&model.arch).ok().map(|list| parts::n_active(&list, &model.arch)).filter(|active| *active < n);
        pieces.push(match (lang, active) {
            (Lang::Zh, None) => format!("{} 个参数", billions(n)),
            (Lang::En, None) => format!("{} parameters", billions(n)),
            (Lang::Zh, Some(active)) => format!("{} 个参数，每 token 用 {}", billions(n), billions(active)),
            (Lang::En, Some(active)) => format!("{} parameters, {} of them a token", billions(n), billions(active)),
        });
    }
    pieces.extend(model.arch.stored_as().map(|format| format.id()));
    pieces.join(" · ")
}

pub fn n_params(model: &Model) -> Option<u128> {
    let counted = parts::parts(&model.arch).ok().map(|list| parts::n_params(&list));
    counted.or_else(|| model.arch.get(vramlab_modelfile::Field::Params).map(u128::from))
}

fn billions(n: u128) -> String {
    let n = n as f64;
    if n >= 1e9 { format!("{:.2} B", n / 1e9) } else { format!("{:.0} M", n / 1e6) }
}

fn asked(answer: &Answer, lang: Lang) -> String {
    let ask = &answer.ask;
    let card = match ask.n_cards {
        1 => ask.card.name.clone(),
        n => format!("{n} × {}", ask.card.name),
    };
    let scenario = ask.scenario.name().get(lang);
    let there = size(ask.card.total_bytes);
    // A card that is only a size is not told twice.
    let is_size = plain(&ask.card.name) == there;
    let card =
        if is_size { format!("{card}{}", if lang == Lang::Zh { " 的卡" } else { " of memory" }) } else { card };
    let there = if is_size { String::new() } else { there };
    let budget = ask.budget.map(|budget| match lang {
        Lang::Zh => format!("，预算 {}", size(budget)),
        Lang::En => format!(", of which {} may be used", size(budget)),
    });
    let budget = budget.unwrap_or_default();
    let there = match (is_size, lang) {
        (true, _) => budget,
        (false, Lang::Zh) => format!("（{there}{budget}）"),
        (false, Lang::En) => format!(" ({there}{budget})"),
    };
    match (&ask.work, lang) {
        (Work::Serve(work), Lang::Zh) => {
            let (requests, context) = (work.requests, work.context);
            format!("推理，{requests} 个请求 × {context} token，在 {card} 上{there}；{scenario}")
        }
        (Work::Serve(work), Lang::En) => {
            let (requests, context) = (work.requests, work.context);
            let s = if requests == 1 { "" } else { "s" };
            format!("Serving {requests} request{s} × {context} tokens on {card}{there}; {scenario}")
        }
        (Work::Train(work), Lang::Zh) => {
            let (batch, len) = (work.batch, work.seq_len);
            let (precision, optimizer) = (work.precision.id(), work.optimizer.id());
            format!("训练，每卡 {batch} × {len} token，{precision}，{optimizer}，在 {card} 上{there}")
        }
        (Work::Train(work), Lang::En) => {
            let (batch, len) = (work.batch, work.seq_len);
            let (precision, optimizer) = (work.precision.id(), work.optimizer.id());
            format!("Training, {batch} × {len} tokens a card, {precision}, {optimizer}, on {card}{there}")
        }
    }
}

fn verdict(answer: &Answer, lang: Lang) -> (Ink, String) {
    let (total, there) = (size(answer.total()), size(answer.capacity));
    let gap = size(answer.free().unsigned_abs());
    let good = if answer.sums.warnings.is_empty() { Ink::Good } else { Ink::Caution };
    match (answer.fits, lang) {
        (Fits::Yes, Lang::Zh) => (good, format!("装得下：要 {total}，有 {there}，剩 {gap}")),
        (Fits::Yes, Lang::En) => (good, format!("It fits: {total} wanted, {there} there, {gap} left")),
        (Fits::No, Lang::Zh) => (Ink::Bad, format!("装不下：要 {total}，只有 {there}，差 {gap}")),
        (Fits::No, Lang::En) => (Ink::Bad, format!("It does not fit: {total} wanted, {there} there, {gap} too much")),
        (Fits::Unknown, Lang::Zh) => (Ink::Caution, format!("说不准：已知的要 {total}，有 {there}；还缺下面这些数")),
        (Fits::Unknown, Lang::En) => (
            Ink::Caution,
            format!("Cannot be told: what is known wants {total} of {there}; the numbers below are missing"),
        ),
    }
}

fn fills(answer: &Answer, say: &Say) -> String {
    match &answer.sums.moment {
        None => say.text(FILLS).to_owned(),
        Some(moment) => match say.lang {
            Lang::Zh => format!("{}，在最满的时刻：{}", say.text(FILLS), moment.get(Lang::Zh)),
            Lang::En => format!("{} at its fullest moment: {}", say.text(FILLS), moment.get(Lang::En)),
        },
    }
}

/// One line an item: owner, bytes, bar, how sure; below it how it was found.
fn items(answer: &Answer, say: &Say) -> Vec<String> {
    let names = answer.sums.items.iter().map(|item| say.text(item.name()));
    let unknown = answer.sums.unknown.iter().map(|(owner, _)| say.text(owner.name()));
    let columns = names.chain(unknown).map(width).max().unwrap_or_default();
    let most = answer.sums.items.iter().map(|item| item.bytes).max().unwrap_or(1).max(1);
    let mut out = Vec::new();
    for item in &answer.sums.items {
        out.push(item_line(item, columns, most, say));
        let how = wrap(item.how.get(say.lang), COLUMNS, &" ".repeat(columns + 4));
        out.push(say.ink(Ink::Muted, &how));
    }
    for (owner, why) in &answer.sums.unknown {
        let name = left(say.text(owner.name()), columns);
        let text = labelled(2, &name, columns + 2, why.get(say.lang));
        out.push(format!("  {}", say.ink(Ink::Caution, &text)));
    }
    out
}

fn item_line(item: &Item, columns: usize, most: u64, say: &Say) -> String {
    let name = left(say.text(item.name()), columns);
    let blocks = (item.bytes as f64 / most as f64 * BAR as f64).round() as usize;
    let bar = say.ink(Ink::Accent, &left(&"█".repeat(blocks.max(1)), BAR));
    let sure = say.ink(Ink::Muted, say.text(item.certainty.name()));
    format!("  {name}{GAP}{}{GAP}{bar}{GAP}{sure}", right(&size(item.bytes), 9))
}

fn notes(answer: &Answer, say: &Say) {
    for note in &answer.sums.notes {
        say.data(&say.ink(Ink::Muted, &wrap(note.get(say.lang), COLUMNS, "  ")));
    }
}

fn lever(tried: &Tried, is_needed: bool, say: &Say) {
    let mark = match (tried.fits, say.lang) {
        _ if !is_needed => "",
        (Fits::Yes, Lang::Zh) => "就装得下",
        (Fits::Yes, Lang::En) => "then it fits",
        (_, Lang::Zh) => "还不够",
        (_, Lang::En) => "not enough alone",
    };
    let ink = if tried.fits == Fits::Yes { Ink::Good } else { Ink::Muted };
    let title = say.text(tried.lever.title);
    say.data(&format!("  −{}{GAP}{title}{GAP}{}", right(&size(tried.saves), 9), say.ink(ink, mark)));
    say.data(&say.ink(Ink::Muted, &wrap(tried.cost.get(say.lang), COLUMNS, &" ".repeat(14))));
}

fn plan(found: &Plan, answer: &Answer, say: &Say) {
    for step in &found.steps {
        let times = if step.times > 1 { format!(" ×{}", step.times) } else { String::new() };
        say.data(&format!("  · {}{times}", say.text(step.lever.title)));
        say.data(&say.ink(Ink::Muted, &wrap(step.cost.get(say.lang), COLUMNS, "    ")));
    }
    let left = size(answer.capacity.saturating_sub(found.total));
    let (total, checks, time) = (size(found.total), found.n_checks, found.time_words());
    let time = time.get(say.lang);
    let text = match say.lang {
        Lang::Zh => format!("合计 {total}，剩 {left}；{time}；要复核质量的改动：{checks} 处"),
        Lang::En => format!("{total} in all, {left} left; {time}; quality checks due: {checks}"),
    };
    say.data(&say.ink(Ink::Good, &wrap(&text, COLUMNS, "  ")));
}

/// The plan; where there is none, or only a slow one, why, and what else would do.
fn plans(answer: &Answer, say: &Say) {
    if let Some(found) = &answer.plan {
        plan(found, answer, say);
    }
    let caution = |text: &Localized| {
        say.data(&say.ink(Ink::Caution, &wrap(&plain(text.get(say.lang)), COLUMNS, "  ")));
    };
    if let Some(why) = answer.plan_words() {
        caution(&why);
    }
    if let Some(other) = &answer.instead {
        say.data(&format!("\n{}", say.ink(Ink::Strong, say.text(INSTEAD))));
        plan(other, answer, say);
    }
    if answer.plan.as_ref().is_none_or(|plan| plan.percent <= SLOW_PERCENT) {
        cards(answer, say);
    }
}

/// How many cards would do.
fn cards(answer: &Answer, say: &Say) {
    if let Some(cards) = answer.cards_words() {
        say.data(&say.ink(Ink::Caution, &wrap(&plain(cards.get(say.lang)), COLUMNS, "  ")));
    }
}

/// Everything that was not read under its own name: derived, default, given, counted; and what is unknown.
fn origins(model: &Model, answer: &Answer, say: &Say) {
    // A "no" that nobody would have asked about is left out.
    let is_told =
        |fact: &&Fact| !(matches!(fact.origin, Origin::Read { .. }) || fact.field.is_flag() && fact.value == 0);
    let derived = model.arch.facts.iter().filter(is_told);
    let lines: Vec<String> = derived
        .map(|fact| {
            let words = fact.origin.words();
            let (name, why) = (say.text(fact.field.name()), words.get(say.lang));
            match (fact.field.is_flag(), say.lang) {
                (true, Lang::Zh) => format!("{name}：{why}"),
                (true, Lang::En) => format!("{name}: {why}"),
                (false, Lang::Zh) => format!("{name} {}：{why}", fact.value),
                (false, Lang::En) => format!("{name} {}: {why}", fact.value),
            }
        })
        .chain(model.arch.notes.iter().map(|note| note.get(say.lang).to_owned()))
        .collect();
    list(NUMBERS, &lines, Ink::Muted, say);
    // What stands among the items already need not be said twice.
    let is_said = |why: &Localized| answer.sums.unknown.iter().any(|(_, said)| said == why);
    let unknown = model.arch.unknown.iter().filter(|unknown| !is_said(&unknown.why));
    let lines: Vec<String> = unknown.map(|unknown| unknown.why.get(say.lang).to_owned()).collect();
    list(UNKNOWN, &lines, Ink::Caution, say);
}

fn list(title: Text, lines: &[String], ink: Ink, say: &Say) {
    if lines.is_empty() {
        return;
    }
    say.data(&format!("\n{}", say.ink(Ink::Strong, say.text(title))));
    for line in lines {
        say.data(&say.ink(ink, &format!("  {}", labelled(2, "·", 2, line))));
    }
}

/// The answer in three lines, for the bare run.
pub fn three(model: &Model, answer: &Answer, say: &Say) -> Vec<String> {
    let (ink, verdict) = verdict(answer, say.lang);
    let largest: Vec<String> = {
        let mut items: Vec<&Item> = answer.sums.items.iter().collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.bytes));
        items.iter().take(4).map(|item| format!("{} {}", say.text(item.name()), size(item.bytes))).collect()
    };
    vec![
        wrap(&head(model, "config.json", say.lang), COLUMNS, "  "),
        say.ink(ink, &wrap(&verdict, COLUMNS, "  ")),
        wrap(&largest.join(" · "), COLUMNS, "  "),
    ]
}
