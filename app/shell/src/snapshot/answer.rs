//! The answer on top: the peak and who held it, what the cache could not be used for, what was found, and what other
//! settings would have reserved.

use crate::guide::parts;
use crate::platform::Platform;
use crate::snapshot::desk::Opened;
use crate::snapshot::limit;
use crate::widgets;
use egui::{Rect, RichText, Sense, Ui, WidgetInfo, pos2, vec2};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use vramlab_alloc::caching::{Class, Config, Metric};
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_kit::widgets::key_number;
use vramlab_snapshot::Snapshot;
use vramlab_snapshot::advice;
use vramlab_snapshot::analysis::{Analysis, Cache, cache};
use vramlab_snapshot::findings::{Finding, Kind, findings, nothing};
use vramlab_snapshot::peak::{By, Holder, holders};
use vramlab_snapshot::what_if::{USUAL, WhatIf, replay_under};
use vramlab_units::{Bytes, Lang, Text, show};

const PEAK: Text = Text::new("分配峰值", "peak allocated");
const RESERVED: Text = Text::new("保留峰值", "peak reserved");
const UNUSED: Text = Text::new("缓存却用不上", "cached, of no use");
const EVENTS: Text = Text::new("事件", "events");
const SENTENCE: Text = Text::new(
    "最多同时用了 {peak}：{roles}。占得最多的一处是 {site}：{size}（{share}）。",
    "At most {peak} was in use at once: {roles}. Most came from {site}: {size} ({share}).",
);
const AT_OOM: Text = Text::new(
    "OOM 时（事件 {at}）用着 {peak}：{roles}。占得最多的一处是 {site}：{size}（{share}）。",
    "At the OOM (event {at}) {peak} was in use: {roles}. Most came from {site}: {size} ({share}).",
);
const ROLE: Text = Text::new("{name} {size}", "{name} {size}");
const AND: Text = Text::new("，", ", ");
const OOM: Text = Text::new("显存不足 · ", "out of memory · ");
const OVER: Text = Text::new("放不下 · ", "does not fit · ");
const LEAKS: Text = Text::new("疑似泄漏 · ", "suspected leak · ");
const GROWS: Text = Text::new("逐步增长 · ", "it grows · ");
const WHAT_IF: Text = Text::new("换个设置会保留多少", "What other settings would have reserved");
const RECORDED: Text = Text::new("录制时的设置", "as recorded");
const REFUSED: Text = Text::new("{size}，{n} 次放不下", "{size}, {n} refused");
const CURES: Text = Text::new("{size}，都放得下", "{size}, all fit");
const REPLAYING: Text = Text::new("正在重放…", "Replaying …");
const REPLAYED: Text = Text::new(
    "每一行都是把录下的同一串申请在该设置下重放一遍；重放与录制逐个地址核对：{right}/{all} 相同。",
    "Each row replays the recorded requests under that setting. The replay under the recorded one was checked address by address: {right} of {all} agree.",
);

const AFRESH: Text = Text::new(
    "录制前就在的块按地址顺序重新申请，所以起点可能差几段。",
    " Blocks from before the recording are asked for afresh, by address, so the start may differ by a few segments.",
);

/// What is said about one device.
pub struct Answers {
    roles: Vec<Holder>,
    sites: Vec<Holder>,
    cache: Cache,
    pub findings: Vec<Finding>,
    /// Blocks from before the recording, and their bytes.
    pub before: (usize, u64),
    what_if: Option<Vec<(String, WhatIf)>>,
    replays: Replays,
}

/// The replays under other settings, some at a time: in the browser a frame waits for them.
#[derive(Default)]
struct Replays {
    n_frames: u32,
    /// How many of the usual settings were begun.
    n_begun: usize,
    done: Vec<(String, WhatIf)>,
    waits_for: Option<Receiver<Vec<(String, WhatIf)>>>,
}

/// The page is painted first.
const FRAMES_BEFORE: u32 = 2;
/// Events that are replayed at once, a few tenths of a second in the browser.
const EVENTS_AT_ONCE: usize = 200_000;

impl Answers {
    pub fn of(snapshot: &Snapshot, analysis: &Analysis) -> Self {
        let at = analysis.moment().at;
        Self {
            roles: holders(snapshot, analysis, at, By::Role),
            sites: holders(snapshot, analysis, at, By::Site),
            cache: cache(snapshot, analysis),
            findings: findings(snapshot, analysis),
            before: analysis
                .lives
                .iter()
                .filter(|life| life.from.is_none())
                .fold((0, 0), |(n, sum), life| (n + 1, sum.saturating_add(life.size))),
            what_if: None,
            replays: Replays::default(),
        }
    }

    /// The roles were judged anew.
    pub fn judge_roles(&mut self, snapshot: &Snapshot, analysis: &Analysis) {
        self.roles = holders(snapshot, analysis, analysis.moment().at, By::Role);
    }

    /// What each setting would have reserved at most, bytes; nothing before the replays are done.
    pub fn spoken(&self) -> serde_json::Value {
        let rows = self.what_if.iter().flatten().map(|(settings, row)| (settings.clone(), row.peak_reserved.into()));
        serde_json::Value::Object(rows.collect())
    }

    /// The replays under other settings run aside, once the page stands.
    pub fn advance(&mut self, platform: &mut dyn Platform, snapshot: &Arc<Snapshot>, analysis: &Arc<Analysis>) -> bool {
        if self.what_if.is_some() {
            return false;
        }
        let replays = &mut self.replays;
        replays.n_frames += 1;
        if replays.n_frames <= FRAMES_BEFORE {
            return true;
        }
        if let Some(from) = &replays.waits_for {
            match from.try_recv() {
                Ok(rows) => replays.done.extend(rows),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => {}
            }
            replays.waits_for = None;
        }
        if replays.n_begun >= USUAL.len() {
            self.what_if = Some(std::mem::take(&mut replays.done));
            return true;
        }
        let n_at_once = (EVENTS_AT_ONCE / analysis.timeline.n_events().max(1)).max(1);
        let next = &USUAL[replays.n_begun..USUAL.len().min(replays.n_begun + n_at_once)];
        replays.n_begun += next.len();
        let (tell, from) = channel();
        let (snapshot, analysis) = (Arc::clone(snapshot), Arc::clone(analysis));
        replays.waits_for = Some(from);
        platform.aside(Box::new(move || {
            let of = |settings: &str| {
                let config = Config::parse(settings).ok().filter(|config| *config != analysis.config)?;
                Some((settings.to_owned(), replay_under(&snapshot, &analysis, &config)))
            };
            // Nobody waits any more if another file was opened meanwhile.
            let _gone = tell.send(next.iter().filter_map(|settings| of(settings)).collect()).is_err();
        }));
        true
    }
}

fn bytes(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// The card.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    let (snapshot, analysis) = (Arc::clone(&opened.scene.snapshot), Arc::clone(&opened.scene.analysis));
    let (snapshot, analysis, answers) = (&*snapshot, &*analysis, &opened.answers);
    let stats = &analysis.replay.stats;
    let peak = stats.get(Metric::AllocatedBytes, Class::All).peak;
    let reserved = stats.get(Metric::ReservedBytes, Class::All).peak;
    let unused = answers.cache.miss.map_or(0, |miss| miss.too_small);
    widgets::card(ui, tokens, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(tokens.space.xl, tokens.space.s);
            let n_events = snapshot.traces.get(analysis.device).map_or(0, Vec::len);
            for (label, value, exact) in [
                (PEAK, bytes(peak), Some(peak)),
                (RESERVED, bytes(reserved), Some(reserved)),
                (UNUSED, bytes(unused), Some(unused)),
                (EVENTS, advice::thousands(n_events as u64), None),
            ] {
                let exact = exact.map(|exact| format!("{exact}\u{2009}B"));
                key_number(ui, tokens, label.get(lang), &value, exact.as_deref(), Verdict::Neutral);
            }
        });
        ui.add_space(tokens.space.s);
        parts::body(ui, tokens, &held_sentence(lang, analysis, answers), tokens.ink);
        ui.add_space(tokens.space.xs);
        parts::body(ui, tokens, &cache_sentence(lang, analysis, answers), tokens.ink);
        ui.add_space(tokens.space.s);
        findings_ui(ui, tokens, lang, (snapshot, analysis), answers);
    });
    ui.add_space(tokens.space.m);
    what_if_ui(ui, tokens, lang, analysis, opened, reserved);
}

/// Who held what was in use at the refusal, or at the peak.
fn held_sentence(lang: Lang, analysis: &Analysis, answers: &Answers) -> String {
    let moment = analysis.moment();
    let sentence = if moment.is_oom { AT_OOM } else { SENTENCE };
    let role = |holder: &Holder| {
        ROLE.get(lang).replace("{name}", holder.label.get(lang)).replace("{size}", &bytes(holder.bytes))
    };
    let roles: Vec<String> = answers.roles.iter().take(4).map(role).collect();
    // What has no stack has no place to go and look.
    let named = answers.sites.iter().find(|holder| holder.key.0 != 0);
    let Some(site) = named.or(answers.sites.first()) else { return String::new() };
    sentence
        .get(lang)
        .replace("{at}", &advice::thousands(moment.at as u64))
        .replace("{peak}", &bytes(analysis.timeline.allocated.value(moment.at)))
        .replace("{roles}", &roles.join(AND.get(lang)))
        .replace("{site}", site.label.get(lang))
        .replace("{size}", &bytes(site.bytes))
        .replace("{share}", &show::with_unit(site.share, "%"))
}

fn cache_sentence(lang: Lang, analysis: &Analysis, answers: &Answers) -> String {
    let words = advice::cache(analysis, &answers.cache);
    format!("{}{}", begun(words.get(lang)), if lang == Lang::Zh { "。" } else { "." })
}

/// Words that begin a sentence.
fn begun(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

fn findings_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    (snapshot, analysis): (&Snapshot, &Analysis),
    answers: &Answers,
) {
    if answers.findings.is_empty() {
        widgets::verdict(ui, tokens, Verdict::Good, nothing(analysis).get(lang));
    }
    for finding in answers.findings.iter().take(4) {
        let (tone, word) = match finding.kind {
            Kind::Oom => (Verdict::Bad, OOM),
            Kind::OverLimit => (Verdict::Bad, OVER),
            Kind::LeakSuspect => (Verdict::Caution, LEAKS),
            Kind::Growth => (Verdict::Caution, GROWS),
        };
        let end = if lang == Lang::Zh { "。" } else { ". " };
        let (what, why) = (finding.what.get(lang), finding.why.get(lang));
        let words = format!("{}{what}{end}{why}{}", word.get(lang), end.trim_end());
        widgets::verdict(ui, tokens, tone, &words);
    }
    if let Some(first) = advice::first(snapshot, analysis, answers.what_if.as_deref().unwrap_or_default()) {
        ui.add_space(tokens.space.xs);
        parts::body(ui, tokens, first.get(lang), tokens.ink);
    }
}

fn what_if_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, analysis: &Analysis, opened: &mut Opened, reserved: u64) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, WHAT_IF.get(lang));
        limit::ui(ui, tokens, lang, opened);
        match &opened.answers.what_if {
            Some(rows) => rows_ui(ui, tokens, lang, analysis, &opened.answers, (rows, reserved)),
            None => parts::note(ui, tokens, REPLAYING.get(lang), tokens.muted),
        }
    });
}

/// What each setting would have reserved.
fn rows_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    analysis: &Analysis,
    answers: &Answers,
    (rows, reserved): (&[(String, WhatIf)], u64),
) {
    let most = rows.iter().map(|(_, row)| row.peak_reserved).fold(reserved, u64::max).max(1);
    let share = |bytes: u64| (bytes as f64 / most as f64) as f32;
    parts::body(ui, tokens, &settings_sentence(lang, analysis, rows, reserved), tokens.ink);
    ui.add_space(tokens.space.xs);
    let n_refused = analysis.ooms.len() as u64;
    let value = |size: u64, n_ooms: u64| {
        let words = match (n_ooms, n_refused) {
            (0, 0) => return bytes(size),
            (0, _) => CURES,
            _ => REFUSED,
        };
        words.get(lang).replace("{size}", &bytes(size)).replace("{n}", &n_ooms.to_string())
    };
    let mut lines = vec![(RECORDED.get(lang), share(reserved), value(reserved, n_refused))];
    for (settings, row) in rows {
        lines.push((advice::name(settings, lang), share(row.peak_reserved), value(row.peak_reserved, row.n_ooms)));
    }
    // The bars begin and end at one place, so that their lengths compare.
    let width = |text: &str| paint::text(ui, tokens, Type::Mono, tokens.ink, text).size().x;
    let widest = lines.iter().map(|(.., value)| width(value)).fold(0.0, f32::max);
    for (idx, (name, share, value)) in lines.iter().enumerate() {
        row_ui(ui, tokens, (name, value), *share, widest, idx == 0);
    }
    ui.add_space(tokens.space.xs);
    let (right, all) = (analysis.replay.n_right, analysis.replay.n_allocs);
    let words = REPLAYED.get(lang).replace("{right}", &right.to_string()).replace("{all}", &all.to_string());
    let afresh = if answers.before.0 > 0 { AFRESH.get(lang) } else { "" };
    let words = RichText::new(words + afresh).font(tokens.font(Type::Small)).color(tokens.muted);
    ui.add(egui::Label::new(words).wrap());
}

/// Which setting serves best, and under what limit they were tried.
fn settings_sentence(lang: Lang, analysis: &Analysis, rows: &[(String, WhatIf)], reserved: u64) -> String {
    let said = advice::settings(analysis, rows, reserved);
    // The name of a setting stays as it is written.
    let is_name = rows.iter().any(|(settings, _)| !settings.is_empty() && said.get(lang).starts_with(settings));
    let said = if is_name { said.get(lang).to_owned() } else { begun(said.get(lang)) };
    let limit = advice::limit(analysis);
    match (limit, lang) {
        (Some(limit), Lang::Zh) => format!("{said}（{}）。", limit.get(lang)),
        (Some(limit), Lang::En) => format!("{said} ({}).", limit.get(lang)),
        (None, Lang::Zh) => format!("{said}。"),
        (None, Lang::En) => format!("{said}."),
    }
}

/// A setting, a bar as long as what it reserves, and the number. In a narrow card the bar goes under its name.
fn row_ui(ui: &mut Ui, tokens: &Tokens, (name, value): (&str, &str), share: f32, value_width: f32, is_own: bool) {
    let is_narrow = ui.available_width() < tokens.px(560.0);
    let height = tokens.px(if is_narrow { 42.0 } else { 26.0 });
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, format!("{name}: {value}")));
    let number = paint::text(ui, tokens, Type::Mono, tokens.ink, value);
    let room = rect.width() - value_width - tokens.space.m;
    // In a narrow card the number stands on the bar's line, so that the name has its own.
    let number_line = if is_narrow { rect.top() + tokens.px(32.0) } else { rect.center().y };
    let line = if is_narrow { rect.top() + tokens.px(12.0) } else { rect.center().y };
    let width = if is_narrow { rect.width() } else { tokens.px(250.0) };
    let label = paint::elided(ui, tokens, Type::Note, tokens.ink, name, width);
    ui.painter().galley(pos2(rect.left(), line - label.size().y / 2.0), label, tokens.ink);
    ui.painter().galley(pos2(rect.right() - number.size().x, number_line - number.size().y / 2.0), number, tokens.ink);
    let bar = match is_narrow {
        true => Rect::from_min_max(
            pos2(rect.left(), rect.top() + tokens.px(26.0)),
            pos2(rect.left() + room, rect.bottom() - tokens.px(4.0)),
        ),
        false => Rect::from_min_max(
            pos2(rect.left() + width + tokens.space.s, rect.top() + tokens.px(6.0)),
            pos2(rect.left() + room, rect.bottom() - tokens.px(6.0)),
        ),
    };
    ui.painter().rect_filled(bar, 2.0, tokens.sunken);
    let filled = Rect::from_min_size(bar.min, vec2(bar.width() * share.clamp(0.0, 1.0), bar.height()));
    ui.painter().rect_filled(filled, 2.0, tokens.tint(tokens.ink, if is_own { 0.75 } else { 0.4 }));
}
