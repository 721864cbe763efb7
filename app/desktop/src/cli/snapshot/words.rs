//! The answers in words: five lines, then who held the peak.

use super::Answer;
use super::together::Moment;
use crate::cli::layout::{COLUMNS, labelled, plain, right, table, wrap};
use crate::cli::say::{Ink, Say};
use vramlab_snapshot::advice;
use vramlab_snapshot::findings::{Finding, nothing};
use vramlab_snapshot::peak::Holder;
use vramlab_snapshot::roles::Role;
use vramlab_snapshot::steps::Phase;
use vramlab_units::{Bytes, Lang, Text, show};

const LABELS: usize = 11;
/// Columns of a place.
const PLACE: usize = 38;
const PEAK: Text = Text::new("峰值", "Peak");
const HELD: Text = Text::new("谁占着", "Held by");
const CACHE: Text = Text::new("缓存", "Cache");
const FINDING: Text = Text::new("结论", "Finding");
const SETTINGS: Text = Text::new("换个设置", "Settings");
const AS_RECORDED: Text = Text::new("录制时的设置", "as recorded");

pub fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

fn share(share: f64) -> String {
    show::with_unit((share * 1000.0).round() / 1000.0, "%")
}

/// Prints everything.
pub fn tell(answer: &Answer, name: &str, top: usize, say: &Say) {
    say.data(&say.ink(Ink::Strong, &plain(&wrap(&head(answer, name, say.lang), COLUMNS, ""))));
    say.data("");
    for (title, text, ink) in five(answer, say.lang) {
        let line = labelled(2, say.text(title), LABELS, &text);
        say.data(&format!("  {}", ink.map_or(line.clone(), |ink| say.ink(ink, &line))));
    }
    say.data(&format!("\n{}", say.ink(Ink::Strong, &table_title(answer, say.lang))));
    say.data(&holders_table(answer, top, say.lang));
    if !answer.what_if.is_empty() {
        say.data(&format!("\n{}", say.ink(Ink::Strong, &plain(&wrap(&what_if_title(answer, say.lang), COLUMNS, "")))));
        say.data(&what_if_table(answer, say));
    }
    if let Some(first) = advice::first(&answer.snapshot, &answer.analysis, &answer.what_if) {
        let line = plain(&wrap(first.get(say.lang), COLUMNS, ""));
        say.data(&format!("\n{}", say.ink(Ink::Strong, &line)));
    }
}

fn head(answer: &Answer, name: &str, lang: Lang) -> String {
    let analysis = &answer.analysis;
    let n = analysis.timeline.n_events();
    let time = seconds(analysis.seconds(&answer.snapshot, n));
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (count, device) = (thousands(n as u64), analysis.device);
    match lang {
        Lang::Zh => format!("{file} · 设备 {device} · {time} 里 {count} 个事件"),
        Lang::En => {
            format!("{file} · device {device} · {count} {} in {time}", if n == 1 { "event" } else { "events" })
        }
    }
}

fn table_title(answer: &Answer, lang: Lang) -> String {
    let moment = match answer.moment {
        Moment::Peak => Text::new("峰值那一刻谁占着显存", "Who held the memory at the peak"),
        Moment::Oom => Text::new("OOM 那一刻谁占着显存", "Who held the memory at the OOM"),
        Moment::End => Text::new("结尾谁占着显存", "Who held the memory at the end"),
    };
    match lang {
        Lang::Zh => format!("{}（事件 {}）", moment.zh, thousands(answer.at as u64)),
        Lang::En => format!("{} (event {})", moment.en, thousands(answer.at as u64)),
    }
}

/// The five answers, shortest form first.
pub fn five(answer: &Answer, lang: Lang) -> Vec<(Text, String, Option<Ink>)> {
    let has_findings = !answer.findings.is_empty();
    vec![
        (PEAK, peak(answer, lang), None),
        (HELD, held(answer, lang), None),
        (CACHE, cache(answer, lang), None),
        (FINDING, finding(answer, lang), Some(if has_findings { Ink::Caution } else { Ink::Good })),
        (SETTINGS, settings(answer, lang), None),
    ]
}

pub fn peak(answer: &Answer, lang: Lang) -> String {
    let timeline = &answer.analysis.timeline;
    let (most, reserved) = (size(timeline.allocated.value(answer.peak)), size(answer.reserved()));
    let (at, n) = (thousands(answer.peak as u64), thousands(timeline.n_events() as u64));
    let time = seconds(answer.analysis.seconds(&answer.snapshot, answer.peak));
    let during = phase(answer).map(|name| match lang {
        Lang::Zh => format!("，{name} 之中"),
        Lang::En => format!(", during {name}"),
    });
    let during = during.unwrap_or_default();
    match lang {
        Lang::Zh => format!("已分配 {most}，在第 {at} / {n} 个事件（{time}）{during}；最多向设备要了 {reserved}"),
        Lang::En => format!("{most} allocated, at event {at} of {n} ({time}){during}; {reserved} reserved at most"),
    }
}

/// The innermost annotated stretch that the peak lies in: `Adam.step`.
fn phase(answer: &Answer) -> Option<&str> {
    let around = |phase: &&Phase| phase.from < answer.peak && answer.peak <= phase.until;
    let found = answer.analysis.steps.phases.iter().filter(around).min_by_key(|phase| phase.until - phase.from)?;
    found.name.rsplit('#').next()
}

/// The largest role and the largest place.
pub fn held(answer: &Answer, lang: Lang) -> String {
    let roles: Vec<String> = answer
        .roles
        .iter()
        .take(3)
        .filter(|holder| holder.share >= 0.01)
        .map(|holder| format!("{} {}", holder.label.get(lang), share(holder.share)))
        .collect();
    let when = match answer.moment {
        Moment::Peak => Text::new("", ""),
        Moment::Oom => Text::new("OOM 时：", "at the OOM: "),
        Moment::End => Text::new("结尾：", "at the end: "),
    };
    let when = when.get(lang);
    let Some(site) = named_site(answer) else {
        return format!("{when}{}", roles.join(" · "));
    };
    let (place, part) = (site.label.get(lang), share(site.share));
    match lang {
        Lang::Zh => format!("{when}{}；占得最多的地方是 {place}（{part}）", roles.join("、")),
        Lang::En => format!("{when}{}; most from {place} ({part})", roles.join(", ")),
    }
}

/// The largest place that has a name.
fn named_site(answer: &Answer) -> Option<&Holder> {
    answer.sites.iter().find(|holder| holder.key.0 != 0)
}

pub fn cache(answer: &Answer, lang: Lang) -> String {
    vramlab_snapshot::advice::cache(&answer.analysis, &answer.cache).get(lang).to_owned()
}

pub fn finding(answer: &Answer, lang: Lang) -> String {
    let say = |finding: &Finding| match lang {
        Lang::Zh => format!("{}。{}。", finding.what.get(lang), finding.why.get(lang)),
        Lang::En => format!("{}. {}.", finding.what.get(lang), finding.why.get(lang)),
    };
    match answer.findings.first() {
        Some(first) => say(first),
        None => nothing(&answer.analysis).get(lang).to_owned(),
    }
}

/// The setting that would have served best.
pub fn settings(answer: &Answer, lang: Lang) -> String {
    advice::settings(&answer.analysis, &answer.what_if, answer.reserved()).get(lang).to_owned()
}

fn holders_table(answer: &Answer, top: usize, lang: Lang) -> String {
    let header = match lang {
        Lang::Zh => ["  占比", "字节", "块", "角色（推测）", "地方"],
        Lang::En => ["  share", "bytes", "blocks", "role (guessed)", "place"],
    };
    let row = |holder: &Holder| -> Vec<String> {
        let columns = [share(holder.share), size(holder.bytes), thousands(holder.n_blocks as u64)];
        let columns = columns.into_iter().map(|text| plain(&text));
        columns.chain([roles_of(answer, holder, lang), place(holder.label.get(lang))]).collect()
    };
    let mut rows: Vec<Vec<String>> = answer.stacks.iter().take(top).map(row).collect();
    let rest: Vec<&Holder> = answer.stacks.iter().skip(top).collect();
    if !rest.is_empty() {
        let sum = |of: fn(&Holder) -> u64| rest.iter().map(|holder| of(holder)).sum::<u64>();
        let others = match lang {
            Lang::Zh => format!("其余 {} 处", rest.len()),
            Lang::En if rest.len() == 1 => "1 other".to_owned(),
            Lang::En => format!("{} others", rest.len()),
        };
        rows.push(vec![
            plain(&share(rest.iter().map(|holder| holder.share).sum())),
            plain(&size(sum(|holder| holder.bytes))),
            thousands(sum(|holder| holder.n_blocks as u64)),
            String::new(),
            others,
        ]);
    }
    rows.iter_mut().for_each(|row| row[0] = format!("  {}", right(&row[0], 6)));
    let note = match rows.iter().any(|row| row[3].ends_with(" …")) {
        true => Text::new("\n  … 其中也有别的角色", "\n  … other roles are among them").get(lang),
        false => "",
    };
    format!("{}{note}", table(&header, &rows, &[0, 1, 2]).trim_end())
}

/// The role that most of a stack's bytes have; a dot where there are others.
fn roles_of(answer: &Answer, holder: &Holder, lang: Lang) -> String {
    let mut bytes = [0_u64; Role::ALL.len()];
    let analysis = &answer.analysis;
    for (life, role) in analysis.lives.iter().zip(&analysis.roles) {
        if life.stack.0 == holder.key.0 && life.is_allocated(answer.at) {
            bytes[*role as usize] += life.size;
        }
    }
    let mut roles: Vec<Role> = Role::ALL.into_iter().filter(|role| bytes[*role as usize] > 0).collect();
    roles.sort_by_key(|role| std::cmp::Reverse(bytes[*role as usize]));
    let first = roles.first().map_or("", |role| role.title().get(lang));
    format!("{first}{}", if roles.len() > 1 { " …" } else { "" })
}

fn what_if_title(answer: &Answer, lang: Lang) -> String {
    let title = Text::new("同样的申请，换设置重放", "The same requests under other settings").get(lang);
    match (advice::limit(&answer.analysis), lang) {
        (None, _) => title.to_owned(),
        (Some(limit), Lang::Zh) => format!("{title}（{}）", limit.get(lang)),
        (Some(limit), Lang::En) => format!("{title} ({})", limit.get(lang)),
    }
}

fn what_if_table(answer: &Answer, say: &Say) -> String {
    let header = match say.lang {
        Lang::Zh => ["  设置", "最多保留", "比录制时", "重试", "OOM"],
        Lang::En => ["  settings", "reserved at most", "against recorded", "retries", "OOMs"],
    };
    let recorded = answer.reserved();
    let stats = &answer.analysis.replay.stats;
    let mut rows = vec![vec![
        format!("  {}", say.text(AS_RECORDED)),
        plain(&size(recorded)),
        String::new(),
        stats.n_retries.to_string(),
        answer.analysis.ooms.len().to_string(),
    ]];
    rows.extend(answer.what_if.iter().map(|(text, got)| {
        vec![
            format!("  {}", advice::name(text, say.lang)),
            plain(&size(got.peak_reserved)),
            plain(&advice::change(got, recorded)),
            got.n_retries.to_string(),
            got.n_ooms.to_string(),
        ]
    }));
    table(&header, &rows, &[1, 2, 3, 4])
}

/// Three lines for the bare run: the peak, who held it, the cause.
pub fn three(answer: &Answer, say: &Say) -> Vec<String> {
    let lines = five(answer, say.lang).into_iter();
    let wanted = lines.filter(|(title, ..)| [PEAK, HELD, FINDING].contains(title));
    wanted.map(|(title, text, _)| format!("  {}", labelled(2, say.text(title), LABELS, &text))).collect()
}

pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn seconds(secs: f64) -> String {
    if secs < 1.0 { show::with_unit(secs * 1e3, "ms") } else { show::with_unit(secs, "s") }
}

/// A place without the function's name of the reader's own frame.
fn place(text: &str) -> String {
    let short = match text.split_once(" ← ") {
        Some((inner, own)) => format!("{inner} ← {}", own.split(' ').next().unwrap_or(own)),
        None => text.to_owned(),
    };
    cut(&short, PLACE)
}

/// The end of a long place says more than its beginning.
pub fn cut(text: &str, most: usize) -> String {
    let n = text.chars().count();
    if n <= most {
        return text.to_owned();
    }
    // Folders go first.
    if let Some((_, rest)) = text.split_once('/') {
        return cut(rest, most);
    }
    let tail: String = text.chars().skip(n + 1 - most).collect();
    format!("…{tail}")
}
