//! Several snapshots: two held against each other, or ranks beside each other. As words, and as JSON.

use super::Loaded;
use super::words::{size, thousands};
use crate::cli::fault::Fault;
use crate::cli::layout::{COLUMNS, labelled, plain, table, wrap};
use crate::cli::say::{Ink, Say};
use serde_json::{Value, json};
use vramlab_snapshot::compare::{Amount, Change, Comparison, Fate, Side, Whole, compare, setting_changes};
use vramlab_snapshot::kin::stranger;
use vramlab_snapshot::ranks::{Ranks, Spread, ranks};
use vramlab_units::{Lang, Text, show};

const LABELS: usize = 11;
/// Columns of a place.
const PLACE: usize = 34;
/// Ranks that have a column of their own in the table of places.
const COLUMNS_OF_RANKS: usize = 4;

/// At which moment of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Moment {
    #[default]
    Peak,
    /// At the first OOM; of a file without one, at its peak.
    Oom,
    End,
}

impl Moment {
    pub fn id(self) -> &'static str {
        match self {
            Self::Peak => "peak",
            Self::Oom => "oom",
            Self::End => "end",
        }
    }

    fn side(self, loaded: &Loaded) -> Side<'_> {
        match self {
            Self::Peak => Side::at_peak(&loaded.snapshot, &loaded.analysis),
            Self::End => Side::at_end(&loaded.snapshot, &loaded.analysis),
            Self::Oom => Side { at: loaded.analysis.moment().at, ..Side::at_peak(&loaded.snapshot, &loaded.analysis) },
        }
    }
}

fn signed(change: i64) -> String {
    match change {
        0 => "±0".to_owned(),
        change if change < 0 => format!("−{}", size(change.unsigned_abs())),
        change => format!("+{}", size(change.unsigned_abs())),
    }
}

fn share(share: f64) -> String {
    show::with_unit((share * 1000.0).round() / 1000.0, "%")
}

/// Two snapshots.
pub fn tell_comparison(first: &Loaded, second: &Loaded, at: Moment, top: usize, say: &Say) {
    let found = compare(at.side(first), at.side(second));
    if say.is_json {
        say.json(&comparison(&found, [&first.name, &second.name], at, top));
        return;
    }
    let moment = match at {
        Moment::Peak => Text::new("各自的峰值", "at each one's peak"),
        Moment::End => Text::new("各自的结尾", "at each one's end"),
        Moment::Oom => Text::new("各自的 OOM", "at each one's OOM"),
    };
    let head = format!("{} → {} · {}", first.short(), second.short(), say.text(moment));
    say.data(&say.ink(Ink::Strong, &plain(&wrap(&head, COLUMNS, ""))));
    say.data("");
    for (title, text) in lines(&found, say.lang) {
        say.data(&format!("  {}", labelled(2, say.text(title), LABELS, &text)));
    }
    for (title, changes) in [
        (Text::new("按角色（推测）", "By role (guessed)"), &found.roles),
        (Text::new("按代码位置", "By place in the code"), &found.sites),
    ] {
        say.data(&format!("\n{}", say.ink(Ink::Strong, say.text(title))));
        say.data(&changes_table(changes, top, say.lang));
    }
}

fn lines(found: &Comparison, lang: Lang) -> Vec<(Text, String)> {
    let Comparison { first, second, settings, .. } = found;
    let from_to = |of: fn(&Whole) -> u64| {
        let (a, b) = (of(first), of(second));
        format!("{} → {} ({})", size(a), size(b), signed(b.cast_signed().saturating_sub(a.cast_signed())))
    };
    let same = match (found.same_told(), lang) {
        (None, _) => String::new(),
        (Some(told), Lang::Zh) => format!("：{}", told.get(lang)),
        (Some(told), Lang::En) => format!(": {}", told.get(lang)),
    };
    let mut out = vec![
        (Text::new("已分配", "Allocated"), from_to(|whole| whole.allocated)),
        (Text::new("最多保留", "Reserved"), from_to(|whole| whole.peak_reserved)),
        (
            Text::new("块", "Blocks"),
            format!("{} → {}", thousands(first.n_blocks as u64), thousands(second.n_blocks as u64)),
        ),
        (
            Text::new("申请", "Requests"),
            format!("{} → {}{same}", thousands(first.n_requests), thousands(second.n_requests)),
        ),
    ];
    for change in settings {
        let value = |value: &Option<String>| match value.as_deref() {
            None | Some("") => "–".to_owned(),
            Some(value) => value.to_owned(),
        };
        let text = format!("{}: {} → {}", change.name, value(&change.first), value(&change.second));
        out.push((Text::new("设置", "Setting"), text));
    }
    out
}

fn changes_table(changes: &[Change], top: usize, lang: Lang) -> String {
    let header = match lang {
        Lang::Zh => ["  变化", "第一份", "第二份", "块", "地方"],
        Lang::En => ["  change", "first", "second", "blocks", "place"],
    };
    let row = |change: &Change| {
        let amount = |amount: Amount| plain(&size(amount.bytes));
        let moved = change.moved_to.map_or(String::new(), |line| format!(" → :{line}"));
        let place = super::words::cut(change.label.get(lang), PLACE - moved.chars().count()) + &moved;
        vec![
            format!("  {}", plain(&signed(change.gained()))),
            amount(change.first),
            amount(change.second),
            format!("{} → {}", change.first.n_blocks, change.second.n_blocks),
            place,
        ]
    };
    let mut rows: Vec<Vec<String>> = changes.iter().take(top).map(row).collect();
    let rest: i64 = changes.iter().skip(top).map(Change::gained).sum();
    if changes.len() > top {
        let words = match lang {
            Lang::Zh => format!("其余 {} 处", changes.len() - top),
            Lang::En => format!("{} others", changes.len() - top),
        };
        rows.push(vec![format!("  {}", plain(&signed(rest))), String::new(), String::new(), String::new(), words]);
    }
    table(&header, &rows, &[0, 1, 2, 3])
}

fn comparison(found: &Comparison, names: [&str; 2], at: Moment, top: usize) -> Value {
    let whole = |name: &str, whole: &Whole| {
        json!({
            "file": name,
            "event": whole.at,
            "allocated_bytes": whole.allocated,
            "blocks": whole.n_blocks,
            "reserved_bytes": whole.reserved,
            "peak_allocated_bytes": whole.peak_allocated,
            "peak_reserved_bytes": whole.peak_reserved,
            "requests": whole.n_requests,
            "requested_bytes": whole.requested,
            "num_ooms": whole.n_ooms,
        })
    };
    let fate = |change: &Change| match change.fate() {
        Fate::Grew => "grew",
        Fate::Shrank => "shrank",
        Fate::Appeared => "appeared",
        Fate::Vanished => "vanished",
        Fate::Same => "same",
    };
    let change = |change: &Change| {
        json!({
            "place": change.label.en,
            "moved_to_line": change.moved_to,
            "fate": fate(change),
            "gained_bytes": change.gained(),
            "first_bytes": change.first.bytes,
            "second_bytes": change.second.bytes,
            "first_blocks": change.first.n_blocks,
            "second_blocks": change.second.n_blocks,
        })
    };
    json!({
        "schema": super::data::SCHEMA,
        "compare": { "at": at.id(), "first": whole(names[0], &found.first), "second": whole(names[1], &found.second) },
        "is_same_program": found.is_same_program(),
        "by_site": found.sites.iter().take(top).map(change).collect::<Vec<_>>(),
        "others_gained_bytes": found.sites.iter().skip(top).map(Change::gained).sum::<i64>(),
        "by_role": found.roles.iter().map(change).collect::<Vec<_>>(),
        "settings": found.settings.iter().map(|change| json!({
            "name": change.name, "first": change.first, "second": change.second,
        })).collect::<Vec<_>>(),
    })
}

const STRANGER: Text = Text::new(
    "{first} 和 {second} 不是同一个作业的 rank：{why}",
    "{first} and {second} are not ranks of one job: {why}",
);
const INSTEAD: Text = Text::new("两份文件、不带 --ranks，就是比较", "two files without --ranks are compared");
const UNLIKE: Text = Text::new(
    "各份的分配器设置不同（{}）：差别可能来自设置，而不是分工",
    "the allocator's settings differ ({}): that, and not the division of work, may be what is seen",
);

/// Ranks in the order of their files; other programs are refused.
pub fn tell_ranks(all: &[Loaded], top: usize, say: &Say) -> Result<(), Fault> {
    let sides: Vec<_> = all.iter().map(|loaded| (&loaded.snapshot, &loaded.analysis)).collect();
    if let Some(found) = stranger(&sides) {
        let name = |idx: usize| all[idx].short();
        let words = STRANGER.get(say.lang).replace("{first}", name(found.first));
        let words = words.replace("{second}", name(found.second)).replace("{why}", found.why.get(say.lang));
        return Err(Fault::usage(words).help(INSTEAD.get(say.lang)));
    }
    for other in &sides[1..] {
        let names: Vec<String> = setting_changes(sides[0].0, other.0).into_iter().map(|change| change.name).collect();
        if !names.is_empty() {
            say.warn(&UNLIKE.get(say.lang).replace("{}", &names.join(", ")));
            break;
        }
    }
    let found = ranks(&sides);
    if say.is_json {
        say.json(&ranks_json(&found, all, top));
        return Ok(());
    }
    let head = match say.lang {
        Lang::Zh => format!("{} 个 rank 并排", all.len()),
        Lang::En => format!("{} ranks side by side", all.len()),
    };
    say.data(&say.ink(Ink::Strong, &head));
    say.data("");
    let spread = |spread: &Spread| match say.lang {
        Lang::Zh => format!(
            "最满的是 rank {}（{}），比平均高 {}；与最空的 rank {} 差 {}",
            spread.fullest,
            size(spread.most),
            share(spread.imbalance()),
            spread.emptiest,
            size(spread.gap())
        ),
        Lang::En => format!(
            "fullest is rank {} with {}, {} above the mean; {} more than rank {}",
            spread.fullest,
            size(spread.most),
            share(spread.imbalance()),
            size(spread.gap()),
            spread.emptiest
        ),
    };
    for (title, of) in
        [(Text::new("分配峰值", "Allocated"), &found.allocated), (Text::new("保留峰值", "Reserved"), &found.reserved)]
    {
        say.data(&format!("  {}", labelled(2, say.text(title), LABELS, &spread(of))));
    }
    say.data("");
    say.data(&ranks_table(&found, all, say.lang));
    say.data(&format!(
        "\n{}",
        say.ink(Ink::Strong, say.text(Text::new("差在哪里（各自峰值时）", "Where they differ, at each one's peak")))
    ));
    say.data(&sites_table(&found, all.len(), top, say.lang));
    Ok(())
}

fn ranks_table(found: &Ranks, all: &[Loaded], lang: Lang) -> String {
    let header = match lang {
        Lang::Zh => ["  rank", "分配峰值", "保留峰值", "事件", "OOM", "文件"],
        Lang::En => ["  rank", "peak allocated", "peak reserved", "events", "OOMs", "file"],
    };
    let row = |(idx, (rank, loaded)): (usize, (&vramlab_snapshot::ranks::Rank, &Loaded))| {
        vec![
            format!("  {idx}"),
            plain(&size(rank.peak_allocated)),
            plain(&size(rank.peak_reserved)),
            thousands(rank.n_events as u64),
            rank.n_ooms.to_string(),
            super::words::cut(loaded.short(), 28),
        ]
    };
    let rows: Vec<Vec<String>> = found.all.iter().zip(all).enumerate().map(row).collect();
    table(&header, &rows, &[0, 1, 2, 3, 4])
}

fn sites_table(found: &Ranks, n: usize, top: usize, lang: Lang) -> String {
    let mut header: Vec<String> = vec![Text::new("  相差", "  gap").get(lang).to_owned()];
    // More ranks than fit have their extremes only: the data have them all.
    let has_each = n <= COLUMNS_OF_RANKS;
    match has_each {
        true => header.extend((0..n).map(|rank| format!("rank {rank}"))),
        false => {
            header.extend([Text::new("最多", "most"), Text::new("最少", "least")].map(|text| text.get(lang).to_owned()))
        }
    }
    header.push(Text::new("地方", "place").get(lang).to_owned());
    let rows: Vec<Vec<String>> = found
        .sites
        .iter()
        .take(top)
        .map(|site| {
            let mut row = vec![format!("  {}", plain(&size(site.gap())))];
            let (most, least) = (site.bytes.iter().max(), site.bytes.iter().min());
            match has_each {
                true => row.extend(site.bytes.iter().map(|held| plain(&size(*held)))),
                false => row.extend([most, least].map(|held| plain(&size(held.copied().unwrap_or(0))))),
            }
            row.push(super::words::cut(site.label.get(lang), PLACE));
            row
        })
        .collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let numbers: Vec<usize> = (0..header.len() - 1).collect();
    table(&header, &rows, &numbers)
}

fn ranks_json(found: &Ranks, all: &[Loaded], top: usize) -> Value {
    let spread = |spread: &Spread| {
        json!({
            "fullest_rank": spread.fullest,
            "emptiest_rank": spread.emptiest,
            "most_bytes": spread.most,
            "least_bytes": spread.least,
            "mean_bytes": spread.mean,
            "imbalance": spread.imbalance(),
        })
    };
    let rank = |(idx, (rank, loaded)): (usize, (&vramlab_snapshot::ranks::Rank, &Loaded))| {
        json!({
            "rank": idx,
            "file": loaded.name,
            "device": loaded.analysis.device,
            "events": rank.n_events,
            "peak_allocated_bytes": rank.peak_allocated,
            "peak_reserved_bytes": rank.peak_reserved,
            "final_allocated_bytes": rank.last_allocated,
            "num_ooms": rank.n_ooms,
            "by_role": rank.roles.iter().map(|holder| json!({
                "label": holder.label.en, "bytes": holder.bytes, "blocks": holder.n_blocks,
            })).collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": super::data::SCHEMA,
        "ranks": found.all.iter().zip(all).enumerate().map(rank).collect::<Vec<_>>(),
        "allocated": spread(&found.allocated),
        "reserved": spread(&found.reserved),
        "by_site": found.sites.iter().take(top).map(|site| json!({
            "place": site.label.en, "gap_bytes": site.gap(), "bytes": site.bytes, "blocks": site.blocks,
        })).collect::<Vec<_>>(),
    })
}
