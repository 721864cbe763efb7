//! Several snapshots at once: their tabs, and the card that holds two against each other or all beside each other.

use super::desk::Opened;
use super::shelf::Shelf;
use crate::guide::parts;
use crate::widgets;
use egui::Ui;
use std::sync::Arc;
use vramlab_kit::tokens::{Tokens, Verdict};
use vramlab_kit::widgets::{key_number, segmented};
use vramlab_snapshot::compare::{Comparison, Fate, Side, Whole, compare, setting_changes};
use vramlab_snapshot::kin::{Stranger, stranger};
use vramlab_snapshot::ranks::{Ranks as Found, ranks};
use vramlab_units::{Bytes, Lang, Text, show};
use vramlab_views::snapshot::{Lane, Ranks, changes_ui, gained, sites_ui};

const TAB: Text = Text::new("{name} · 峰值 {peak}", "{name} · peak {peak}");
const READING: Text = Text::new("正在读 {}…", "Reading {} …");
const FAILED: Text = Text::new("读不出来 · {name}：{why}", "cannot be read · {name}: {why}");
const HOW: Text = Text::new("怎么放在一起", "Together");
const WAYS: [(Mode, Text); 2] = [
    (Mode::Compare, Text::new("比较两份", "Compare two")),
    (Mode::Ranks, Text::new("各 rank 并排", "Ranks side by side")),
];
const MOMENT: Text = Text::new("比哪一刻", "At");
const MOMENTS: [(Moment, Text); 2] = [
    (Moment::Peak, Text::new("各自的峰值", "each one's peak")),
    (Moment::End, Text::new("各自的结尾", "each one's end")),
];
const SWAP: Text = Text::new("对调", "Swap");
const AGAINST: Text = Text::new("{first} → {second}", "{first} → {second}");
const ALLOCATED: Text = Text::new("已分配", "allocated");
const RESERVED: Text = Text::new("保留峰值", "peak reserved");
const REQUESTS: Text = Text::new("申请次数", "requests");
const BLOCKS: Text = Text::new("块", "blocks");
const FROM_TO: Text = Text::new("{a} → {b}", "{a} → {b}");
const SITES: Text = Text::new("按代码位置", "By place in the code");
const ROLES: Text = Text::new("按角色", "By role");
const SETTINGS: Text = Text::new("设置不同", "Settings that differ");
const ABSENT: Text = Text::new("（空）", "(empty)");
const SAME_PROGRAM: Text = Text::new(
    "两份的申请完全一样（{n} 次，共 {sum}）：差别不在程序里，在分配器的设置里。",
    "Both ask for exactly the same ({n} requests, {sum} in all): what differs is not the program but the allocator's settings.",
);
const OTHER_PROGRAM: Text = Text::new(
    "{what}，主要在 {site}（{gained}）；{grew} 处变多或新出现，{shrank} 处变少或消失。",
    "{what}, most of it at {site} ({gained}); {grew} places grew or are new, {shrank} shrank or are gone.",
);
const MORE: Text = Text::new("第二份多 {}", "The second holds {} more");
const LESS: Text = Text::new("第二份少 {}", "The second holds {} less");
const AS_MUCH: Text = Text::new("两份一样多", "Both hold as much");
const FULLEST: Text = Text::new("最满的", "the fullest");
const MEAN: Text = Text::new("平均", "mean");
const IMBALANCE: Text = Text::new("不均衡", "imbalance");
const GAP: Text = Text::new("最满与最空之差", "fullest less emptiest");
const RANKS_WORDS: Text = Text::new(
    "整个作业受最满的那份限制：{name} 比平均高 {share}。最空的一份还有 {gap} 没用上，但帮不了它。",
    "The job is held to its fullest rank: {name} is {share} above the mean. The emptiest has {gap} to spare, which is of no use to it.",
);
const BALANCED: Text = Text::new("各份的峰值相差不到 1%：是均衡的。", "The peaks are within 1%: this is balanced.");
const STRANGER: Text = Text::new(
    "不能并排 · {first} 和 {second} 不是同一个作业的 rank：{why}。",
    "not put side by side · {first} and {second} are not ranks of one job: {why}.",
);
const INSTEAD: Text = Text::new(
    "不同程序的平均和不均衡没有意义。要看两份差在哪里，用“比较两份”。",
    "A mean and an imbalance of different programs say nothing. To see where two differ, use \"Compare two\".",
);
const UNLIKE: Text = Text::new(
    "各份的分配器设置不同（{}）：差别可能来自设置，而不是分工",
    "the allocator's settings differ ({}): that, and not the division of work, may be what is seen",
);
const SITE_WORDS: Text =
    Text::new("差在哪里：每处在各份峰值时占多少", "Where they differ: what each place holds at each rank's peak");

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Compare,
    Ranks,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Moment {
    #[default]
    Peak,
    End,
}

/// The card's own memory between frames.
#[derive(Default)]
pub struct Together {
    /// What the reader chose; by the names otherwise.
    mode: Option<Mode>,
    moment: Moment,
    is_swapped: bool,
    comparison: Option<Comparison>,
    found: Option<Found>,
    /// Why they are not put side by side.
    stranger: Option<Stranger>,
    /// Allocator settings in which the ranks differ.
    settings: std::collections::BTreeSet<String>,
    made_for: Option<(Vec<usize>, Option<Moment>, bool)>,
    figure: Ranks,
}

impl Together {
    /// By the name in an address.
    pub fn choose(&mut self, name: &str) {
        self.mode = match name {
            "ranks" => Some(Mode::Ranks),
            "compare" => Some(Mode::Compare),
            _ => self.mode,
        };
    }

    /// The name for the address, if the reader chose.
    pub fn chosen(&self) -> Option<&'static str> {
        self.mode.map(|mode| match mode {
            Mode::Ranks => "ranks",
            Mode::Compare => "compare",
        })
    }

    pub fn spoken(&self) -> serde_json::Value {
        match (&self.comparison, &self.found) {
            (Some(found), _) => serde_json::json!({
                "first": found.first.allocated, "second": found.second.allocated,
                "gained": found.sites.iter().map(vramlab_snapshot::compare::Change::gained).sum::<i64>(),
            }),
            (_, Some(found)) => serde_json::json!({
                "peaks": found.all.iter().map(|rank| rank.peak_allocated).collect::<Vec<_>>(),
                "imbalance": found.allocated.imbalance(),
            }),
            _ => match &self.stranger {
                Some(stranger) => serde_json::json!({ "refused": stranger.why.en }),
                None => serde_json::Value::Null,
            },
        }
    }
}

/// Names that differ by their digits alone are ranks of one job: `rank0`, `rank1`.
fn are_ranks(names: &[&str]) -> bool {
    let bare = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    names.len() > 2 || names.windows(2).all(|pair| pair[0] != pair[1] && bare(pair[0]) == bare(pair[1]))
}

fn bytes(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// Tabs of what is open, with what is being read; the one that was pressed, by its place on the shelf.
pub fn tabs_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &Opened, shelf: &Shelf) -> Option<usize> {
    let mut pressed = None;
    if !shelf.others.is_empty() {
        let mut all: Vec<(usize, Option<usize>, &Opened)> =
            shelf.others.iter().enumerate().map(|(idx, other)| (other.number, Some(idx), other)).collect();
        all.push((opened.number, None, opened));
        all.sort_by_key(|(number, ..)| *number);
        ui.horizontal_wrapped(|ui| {
            for (_, place, one) in all {
                let peak = bytes(one.scene.analysis.timeline.allocated.value(one.peak));
                let words = TAB.get(lang).replace("{name}", &one.name).replace("{peak}", &peak);
                if widgets::pill(ui, tokens, place.is_none(), &words).clicked() {
                    pressed = place;
                }
            }
        });
    }
    if let Some(name) = shelf.reading() {
        parts::note(ui, tokens, &READING.get(lang).replace("{}", name), tokens.muted);
    }
    for (name, why) in &shelf.failed {
        let words = FAILED.get(lang).replace("{name}", name).replace("{why}", why.get(lang));
        widgets::verdict(ui, tokens, Verdict::Bad, &words);
    }
    pressed
}

/// The card; the place on the shelf of a rank that was pressed.
pub fn ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    opened: &Opened,
    shelf: &Shelf,
    together: &mut Together,
) -> Option<usize> {
    if shelf.others.is_empty() {
        together.comparison = None;
        together.found = None;
        together.stranger = None;
        together.made_for = None;
        return None;
    }
    let mut all: Vec<(Option<usize>, &Opened)> =
        shelf.others.iter().enumerate().map(|(idx, other)| (Some(idx), other)).collect();
    all.push((None, opened));
    all.sort_by_key(|(_, one)| one.number);
    let mut pressed = None;
    widgets::card(ui, tokens, |ui| {
        let names: Vec<&str> = all.iter().map(|(_, one)| one.name.as_str()).collect();
        let mut mode = together.mode.unwrap_or(if are_ranks(&names) { Mode::Ranks } else { Mode::Compare });
        let options = WAYS.map(|(mode, text)| (mode, text.get(lang)));
        if segmented(ui, tokens, HOW.get(lang), &mut mode, &options) {
            together.mode = Some(mode);
        }
        ui.add_space(tokens.space.s);
        match mode {
            Mode::Compare => compare_ui(ui, tokens, lang, &all, together),
            Mode::Ranks => pressed = ranks_ui(ui, tokens, lang, &all, together),
        }
    });
    ui.add_space(tokens.space.m);
    pressed
}

fn compare_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, all: &[(Option<usize>, &Opened)], together: &mut Together) {
    // The one that is looked at against the first of the others; two keep their order.
    let looked_at = all.iter().position(|(place, _)| place.is_none()).unwrap_or(0);
    let other = usize::from(looked_at == 0);
    let (mut first, mut second) = (looked_at.min(other), looked_at.max(other));
    if together.is_swapped {
        (first, second) = (second, first);
    }
    let (first, second) = (all[first].1, all[second].1);
    ui.horizontal_wrapped(|ui| {
        let options = MOMENTS.map(|(moment, text)| (moment, text.get(lang)));
        segmented(ui, tokens, MOMENT.get(lang), &mut together.moment, &options);
        if widgets::link(ui, tokens, SWAP.get(lang)).clicked() {
            together.is_swapped = !together.is_swapped;
        }
    });
    refresh_comparison(together, first, second);
    let Some(found) = &together.comparison else { return };
    ui.add_space(tokens.space.xs);
    let names = AGAINST.get(lang).replace("{first}", &first.name).replace("{second}", &second.name);
    parts::heading(ui, tokens, &names);
    numbers_ui(ui, tokens, lang, found);
    ui.add_space(tokens.space.s);
    parts::body(ui, tokens, &sentence(found, lang), tokens.ink);
    ui.add_space(tokens.space.s);
    parts::label(ui, tokens, ROLES.get(lang));
    changes_ui(ui, tokens, lang, "roles", &found.roles);
    ui.add_space(tokens.space.s);
    parts::label(ui, tokens, SITES.get(lang));
    changes_ui(ui, tokens, lang, "sites", &found.sites);
    if !found.settings.is_empty() {
        ui.add_space(tokens.space.s);
        parts::label(ui, tokens, SETTINGS.get(lang));
        for change in &found.settings {
            let value = |value: &Option<String>| {
                value.clone().filter(|value| !value.is_empty()).unwrap_or_else(|| ABSENT.get(lang).to_owned())
            };
            let words = format!("{}: {} → {}", change.name, value(&change.first), value(&change.second));
            parts::note(ui, tokens, &words, tokens.ink);
        }
    }
}

fn refresh_comparison(together: &mut Together, first: &Opened, second: &Opened) {
    let address = |one: &Opened| Arc::as_ptr(&one.scene.analysis) as usize;
    let key = (vec![address(first), address(second)], Some(together.moment), true);
    if together.made_for.as_ref() == Some(&key) {
        return;
    }
    together.made_for = Some(key);
    together.found = None;
    together.stranger = None;
    let side = match together.moment {
        Moment::Peak => Side::at_peak,
        Moment::End => Side::at_end,
    };
    together.comparison = Some(compare(
        side(&first.scene.snapshot, &first.scene.analysis),
        side(&second.scene.snapshot, &second.scene.analysis),
    ));
}

fn numbers_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, found: &Comparison) {
    let from_to = |a: String, b: String| FROM_TO.get(lang).replace("{a}", &a).replace("{b}", &b);
    let sizes = |of: fn(&Whole) -> u64| from_to(bytes(of(&found.first)), bytes(of(&found.second)));
    let counts = |a: u64, b: u64| from_to(a.to_string(), b.to_string());
    let change = |of: fn(&Whole) -> u64| gained(of(&found.second).cast_signed() - of(&found.first).cast_signed());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(tokens.space.xl, tokens.space.s);
        for (label, value, hover) in [
            (ALLOCATED, sizes(|whole| whole.allocated), Some(change(|whole| whole.allocated))),
            (RESERVED, sizes(|whole| whole.peak_reserved), Some(change(|whole| whole.peak_reserved))),
            (BLOCKS, counts(found.first.n_blocks as u64, found.second.n_blocks as u64), None),
            (REQUESTS, counts(found.first.n_requests, found.second.n_requests), None),
        ] {
            key_number(ui, tokens, label.get(lang), &value, hover.as_deref(), Verdict::Neutral);
        }
    });
}

/// What it comes to, in words.
fn sentence(found: &Comparison, lang: Lang) -> String {
    let change = found.second.allocated.cast_signed() - found.first.allocated.cast_signed();
    let what = match change {
        0 => AS_MUCH.get(lang).to_owned(),
        change if change > 0 => MORE.get(lang).replace("{}", &bytes(change.unsigned_abs())),
        change => LESS.get(lang).replace("{}", &bytes(change.unsigned_abs())),
    };
    if let Some(told) = found.same_told().filter(|_| found.first.before != found.second.before) {
        let (comma, end) = if lang == Lang::Zh { ("；", "。") } else { ("; ", ".") };
        return format!("{what}{comma}{}{end}", told.get(lang));
    }
    if found.is_same_program() && !found.settings.is_empty() {
        let words = SAME_PROGRAM.get(lang).replace("{n}", &found.first.n_requests.to_string());
        return words.replace("{sum}", &bytes(found.first.requested));
    }
    let Some(largest) = found.sites.first() else { return what };
    let count = |fates: [Fate; 2]| found.sites.iter().filter(|site| fates.contains(&site.fate())).count().to_string();
    OTHER_PROGRAM
        .get(lang)
        .replace("{what}", &what)
        .replace("{site}", largest.label.get(lang))
        .replace("{gained}", &gained(largest.gained()))
        .replace("{grew}", &count([Fate::Grew, Fate::Appeared]))
        .replace("{shrank}", &count([Fate::Shrank, Fate::Vanished]))
}

fn ranks_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    all: &[(Option<usize>, &Opened)],
    together: &mut Together,
) -> Option<usize> {
    let key = (all.iter().map(|(_, one)| Arc::as_ptr(&one.scene.analysis) as usize).collect(), None, false);
    if together.made_for.as_ref() != Some(&key) {
        together.made_for = Some(key);
        together.comparison = None;
        let sides: Vec<_> =
            all.iter().map(|(_, one)| (one.scene.snapshot.as_ref(), one.scene.analysis.as_ref())).collect();
        together.stranger = stranger(&sides);
        together.found = together.stranger.is_none().then(|| ranks(&sides));
        let settings = sides.iter().skip(1).flat_map(|(other, _)| setting_changes(sides[0].0, other));
        together.settings = settings.map(|change| change.name).collect();
    }
    if let Some(found) = &together.stranger {
        let name = |idx: usize| all[idx].1.name.as_str();
        let words = STRANGER.get(lang).replace("{first}", name(found.first)).replace("{second}", name(found.second));
        widgets::verdict(ui, tokens, Verdict::Bad, &words.replace("{why}", found.why.get(lang)));
        parts::note(ui, tokens, INSTEAD.get(lang), tokens.ink);
        return None;
    }
    let found = together.found.as_ref()?;
    if !together.settings.is_empty() {
        let names = together.settings.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        widgets::verdict(ui, tokens, Verdict::Caution, &UNLIKE.get(lang).replace("{}", &names));
    }
    let fullest = &all[found.allocated.fullest].1.name;
    spread_ui(ui, tokens, lang, found, fullest);
    let lanes: Vec<Lane<'_>> = all
        .iter()
        .map(|(place, one)| Lane { name: &one.name, scene: &one.scene, is_chosen: place.is_none() })
        .collect();
    let pressed = together.figure.ui(ui, tokens, lang, &lanes, found);
    ui.add_space(tokens.space.s);
    parts::label(ui, tokens, SITE_WORDS.get(lang));
    sites_ui(ui, tokens, lang, &found.sites);
    pressed.and_then(|idx| all[idx].0)
}

/// How unevenly the peaks are spread, in numbers and in words.
fn spread_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, found: &Found, fullest: &str) {
    let share = |share: f64| show::with_unit((share * 1000.0).round() / 1000.0, "%");
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(tokens.space.xl, tokens.space.s);
        let mean = bytes(found.allocated.mean.round() as u64);
        for (label, value, exact) in [
            (FULLEST, bytes(found.allocated.most), Some(found.allocated.most)),
            (MEAN, mean, None),
            (IMBALANCE, format!("+{}", share(found.allocated.imbalance())), None),
            (GAP, bytes(found.allocated.gap()), Some(found.allocated.gap())),
        ] {
            let exact = exact.map(|exact| format!("{exact}\u{2009}B"));
            key_number(ui, tokens, label.get(lang), &value, exact.as_deref(), Verdict::Neutral);
        }
    });
    ui.add_space(tokens.space.s);
    let words = match found.allocated.imbalance() < 0.01 {
        true => BALANCED.get(lang).to_owned(),
        false => RANKS_WORDS
            .get(lang)
            .replace("{name}", fullest)
            .replace("{share}", &share(found.allocated.imbalance()))
            .replace("{gap}", &bytes(found.allocated.gap())),
    };
    parts::body(ui, tokens, &words, tokens.ink);
    ui.add_space(tokens.space.xs);
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_that_differ_by_a_number_are_ranks() {
        assert!(super::are_ranks(&["rank0.pickle", "rank1.pickle"]));
        assert!(!super::are_ranks(&["kv_cat.pickle.gz", "kv_cat_expandable.pickle.gz"]));
        assert!(!super::are_ranks(&["a.pickle", "a.pickle"]));
    }
}
