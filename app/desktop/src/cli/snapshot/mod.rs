//! `snapshot`: what a PyTorch memory snapshot answers. Five lines first, then who held the peak; the same as JSON. Two files
//! are compared, more are ranks side by side. Tables of `memory_summary()` and counters of `memory_stats()` are explained
//! row by row.

mod data;
mod explain;
pub mod message;
mod together;
mod words;

use super::Exit;
use super::fault::{Fault, of_system};
use super::say::Say;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use vramlab_alloc::caching::Config;
use vramlab_snapshot::analysis::{Cache, cache};
use vramlab_snapshot::findings::{Finding, findings};
use vramlab_snapshot::peak::{By, Holder, holders};
use vramlab_snapshot::rules::Rule;
use vramlab_snapshot::what_if::{USUAL, WhatIf, replay_under};
use vramlab_snapshot::{Analysis, Options, Snapshot, read};
use vramlab_sniff::{Head, sniff};
use vramlab_units::{Lang, Text};
pub use words::three;

/// What a compressed file may unpack to, bytes.
const LIMIT: usize = 4 << 30;
/// Rows of each table in the data of the bare run.
const BARE_ROWS: usize = 5;

#[derive(clap::Args)]
pub struct Args {
    /// A pickle of `torch.cuda.memory._snapshot()`, plain, .gz or .zst; also `memory_summary()` text, `memory_stats()` JSON.
    /// Two are compared, more are the ranks of a job; a folder stands for the pickles in it, - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Rows of the table.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = rows)]
    top: usize,
    /// Replays under these settings instead of the usual ones: `expandable_segments:True` (may be repeated).
    #[arg(long, value_name = "SETTINGS")]
    replay: Vec<String>,
    /// The device, where there are several [default: the first with events].
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// The files are ranks of one job: side by side, with their imbalance.
    #[arg(long)]
    ranks: bool,
    /// Who held the memory then [default: at the first OOM, without one at the peak]; the moment of each at which two are
    /// compared [default: peak].
    #[arg(long, value_enum, value_name = "MOMENT")]
    at: Option<together::Moment>,
    /// What the process was allowed, which no snapshot says: `3GiB` (the OOM's message has it as "allowed").
    #[arg(long, value_name = "SIZE")]
    limit: Option<String>,
    /// Your own roles: a text with `train.py:79 = kv_cache` or `/regex/ = activation` a line.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
}

/// A file with its answers still to be asked.
pub struct Loaded {
    pub name: String,
    pub snapshot: Snapshot,
    pub analysis: Analysis,
}

impl Loaded {
    /// The name without its folder.
    pub fn short(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name)
    }
}

/// `3GiB`, bytes.
fn limit(text: &str, say: &Say) -> Result<u64, Fault> {
    vramlab_snapshot::message::amount(text)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| Fault::usage(say.text(NO_LIMIT).replace("{}", text)).help(say.text(A_LIMIT)))
}

/// At least one row.
fn rows(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "a whole number from 1".to_owned())
}

/// Everything that is said about a snapshot.
pub struct Answer {
    pub snapshot: Snapshot,
    pub analysis: Analysis,
    pub peak: usize,
    /// The moment of the tables of holders, events done.
    pub at: usize,
    pub moment: together::Moment,
    pub sites: Vec<Holder>,
    pub roles: Vec<Holder>,
    pub stacks: Vec<Holder>,
    pub cache: Cache,
    pub findings: Vec<Finding>,
    /// Settings as they were written, with what they would have held.
    pub what_if: Vec<(String, WhatIf)>,
}

impl Answer {
    /// Answers for a device; the usual settings are tried where none are given.
    pub fn of(snapshot: Snapshot, device: usize, settings: &[(String, Config)]) -> Self {
        Self::with(snapshot, device, settings, &Options::default(), None)
    }

    /// The same by the reader's own rules, limit and moment.
    pub fn with(
        snapshot: Snapshot,
        device: usize,
        settings: &[(String, Config)],
        options: &Options,
        moment: Option<together::Moment>,
    ) -> Self {
        let analysis = Analysis::of(&snapshot, device, options);
        let peak = analysis.timeline.peak();
        let own = analysis.moment();
        let moment =
            moment.filter(|moment| *moment != together::Moment::Oom || own.is_oom).unwrap_or(match own.is_oom {
                true => together::Moment::Oom,
                false => together::Moment::Peak,
            });
        let at = match moment {
            together::Moment::Oom => own.at,
            together::Moment::Peak => peak,
            together::Moment::End => analysis.timeline.n_events(),
        };
        let by = |by| holders(&snapshot, &analysis, at, by);
        let tried = settings.iter().filter(|(_, config)| *config != analysis.config);
        Self {
            peak,
            at,
            moment,
            sites: by(By::Site),
            roles: by(By::Role),
            stacks: by(By::Stack),
            cache: cache(&snapshot, &analysis),
            findings: findings(&snapshot, &analysis),
            what_if: tried.map(|(text, config)| (text.clone(), replay_under(&snapshot, &analysis, config))).collect(),
            analysis,
            snapshot,
        }
    }

    /// Most that was reserved.
    pub fn reserved(&self) -> u64 {
        self.analysis.timeline.reserved.range(0, usize::MAX).map_or(0, |range| range.1)
    }
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let rules = args.rules.as_deref().map(|path| rules(path, say)).transpose()?.unwrap_or_default();
    let limit = args.limit.as_deref().map(|text| limit(text, say)).transpose()?;
    let options = Options { rules, limit, ..Options::default() };
    let files = with_folders(&args.files, say.lang)?;
    let [path] = files.as_slice() else { return several(args, &files, &options, say) };
    let settings = settings(&args.replay, say.lang)?;
    let (name, bytes) = bytes_of(path, say.lang)?;
    if let Some(table) = explain::table(&bytes) {
        explain::tell(&table, &name, say);
        return Ok(Exit::Fine);
    }
    if let Some(message) = message::of(&bytes) {
        message::tell(&message, &name, say);
        return Ok(Exit::Findings);
    }
    let snapshot = read(&bytes, LIMIT).map_err(|error| unreadable(path, &bytes, &error, say))?;
    drop(bytes);
    let device = device(&snapshot, args.device, say.lang)?;
    let answer = Answer::with(snapshot, device, &settings, &options, args.at);
    if say.is_json {
        say.json(&data::json(&answer, &name, args.top));
    } else {
        words::tell(&answer, &name, args.top, say);
    }
    for warning in &answer.snapshot.warnings {
        say.warn(warning.get(say.lang));
    }
    Ok(if answer.findings.is_empty() { Exit::Fine } else { Exit::Findings })
}

/// Two are compared, more are ranks.
fn several(args: &Args, files: &[PathBuf], options: &Options, say: &Say) -> anyhow::Result<Exit> {
    let load = |path: &PathBuf| -> anyhow::Result<Loaded> {
        let (name, bytes) = bytes_of(path, say.lang)?;
        if explain::table(&bytes).is_some() || message::of(&bytes).is_some() {
            let what = say.text(ALONE).replace("{}", &name);
            return Err(Fault::usage(what).help(say.text(OPENS).replace("{}", &name)).into());
        }
        let snapshot = read(&bytes, LIMIT).map_err(|error| unreadable(path, &bytes, &error, say))?;
        let device = device(&snapshot, args.device, say.lang)?;
        let analysis = Analysis::of(&snapshot, device, options);
        Ok(Loaded { name, snapshot, analysis })
    };
    let all = files.iter().map(load).collect::<anyhow::Result<Vec<Loaded>>>()?;
    match all.as_slice() {
        [first, second] if !args.ranks => {
            together::tell_comparison(first, second, args.at.unwrap_or_default(), args.top, say)
        }
        all => together::tell_ranks(all, args.top, say)?,
    }
    for loaded in &all {
        loaded
            .snapshot
            .warnings
            .iter()
            .for_each(|warning| say.warn(&format!("{}: {}", loaded.short(), warning.get(say.lang))));
    }
    Ok(Exit::Fine)
}

/// A folder stands for the pickles in it, by name.
fn with_folders(given: &[PathBuf], lang: Lang) -> Result<Vec<PathBuf>, Fault> {
    let mut out = Vec::new();
    for path in given {
        if !path.is_dir() {
            out.push(path.clone());
            continue;
        }
        let inside = std::fs::read_dir(path)
            .map_err(|error| Fault::usage(format!("{}: {}", path.display(), of_system(&error, lang))))?;
        let mut inside: Vec<PathBuf> = inside.flatten().map(|entry| entry.path()).collect();
        inside.retain(|path| path.is_file() && path.to_string_lossy().contains(".pickle"));
        if inside.is_empty() {
            return Err(Fault::usage(NO_PICKLE.get(lang).replace("{}", &path.display().to_string())));
        }
        inside.sort();
        out.append(&mut inside);
    }
    Ok(out)
}

/// A file's name and bytes; `-` is standard input, where a message can be pasted.
fn bytes_of(path: &Path, lang: Lang) -> Result<(String, Vec<u8>), Fault> {
    let name = path.display().to_string();
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    let fault = |error: std::io::Error| Fault::usage(format!("{name}{colon}{}", of_system(&error, lang)));
    if name == "-" {
        let mut bytes = Vec::new();
        let most = LIMIT as u64;
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(fault)?;
        return Ok((Text::new("标准输入", "standard input").get(lang).to_owned(), bytes));
    }
    let bytes = std::fs::read(path).map_err(fault)?;
    Ok((name, bytes))
}

/// The reader's rules; every slip with its place.
fn rules(path: &Path, say: &Say) -> Result<Vec<Rule>, Fault> {
    let (name, bytes) = bytes_of(path, say.lang)?;
    let text = String::from_utf8_lossy(&bytes);
    vramlab_snapshot::rules::parse(&text).map_err(|errors| {
        let lines: Vec<String> = errors.iter().take(8).map(|error| error.text(say.lang)).collect();
        Fault::usage(format!("--rules {name}: {}", lines.join("; "))).help(A_RULE.get(say.lang))
    })
}

/// Settings to try, checked before a large file is read.
fn settings(given: &[String], lang: Lang) -> Result<Vec<(String, Config)>, Fault> {
    let usual: Vec<String> = USUAL.iter().map(|text| (*text).to_owned()).collect();
    let texts = if given.is_empty() { &usual } else { given };
    let parse = |text: &String| match Config::parse(text) {
        Ok(config) => Ok((text.clone(), config)),
        Err(error) => {
            Err(Fault::usage(format!("--replay {text}: {}", error.told().get(lang))).help(AS_WRITTEN.get(lang)))
        }
    };
    texts.iter().map(parse).collect()
}

/// The answers as data, for the bare run.
pub fn json(answer: &Answer, name: &str) -> serde_json::Value {
    data::json(answer, name, BARE_ROWS)
}

/// The usual settings.
pub fn usual() -> Vec<(String, Config)> {
    settings(&[], Lang::En).unwrap_or_default()
}

fn device(snapshot: &Snapshot, asked: Option<usize>, lang: Lang) -> Result<usize, Fault> {
    let held = snapshot.segments.iter().map(|segment| segment.device as usize + 1).max().unwrap_or(0);
    let n = snapshot.traces.len().max(held).max(1);
    match asked {
        Some(device) if device < n => Ok(device),
        Some(device) => {
            let text = if n == 1 { ONE_DEVICE } else { NO_DEVICE };
            Err(Fault::usage(
                text.get(lang).replace("{n}", &device.to_string()).replace("{most}", &(n - 1).to_string()),
            ))
        }
        None => {
            let traced = snapshot.traces.iter().position(|events| !events.is_empty());
            Ok(traced.or_else(|| snapshot.segments.first().map(|segment| segment.device as usize)).unwrap_or(0))
        }
    }
}

const NO_LIMIT: Text = Text::new("--limit {} 不是一个上限", "--limit {} is no limit");
const A_LIMIT: Text =
    Text::new("大于 0 的大小，带单位：3GiB 或 640MiB", "a size with its unit, above 0: 3GiB or 640MiB");
const ALONE: Text = Text::new(
    "{}：是 PyTorch 打印的文字，不是显存快照；并排比较的要都是快照",
    "{}: text that PyTorch printed, not a memory snapshot; only snapshots stand side by side",
);
const OPENS: Text = Text::new("单独打开：vramlab snapshot {}", "open it alone: vramlab snapshot {}");
const NO_DEVICE: Text = Text::new(
    "--device {n}：这份快照里没有这个设备，要在 0 到 {most} 之间",
    "--device {n} is not in this snapshot; it must be from 0 to {most}",
);
const ONE_DEVICE: Text =
    Text::new("--device {n}：这份快照里只有设备 0", "--device {n} is not in this snapshot; it has device 0 only");
const NO_PICKLE: Text = Text::new("{}：这个文件夹里没有 .pickle 文件", "{}: there is no .pickle in this folder");
const AS_WRITTEN: Text = Text::new(
    "写法同 PYTORCH_ALLOC_CONF：expandable_segments:True,max_split_size_mb:128",
    "as PYTORCH_ALLOC_CONF writes them: expandable_segments:True,max_split_size_mb:128",
);
const A_RULE: Text = Text::new(
    "一行一条，先模式后角色：train.py:79 = kv_cache，或 /正则/ = activation",
    "a pattern and a role a line: train.py:79 = kv_cache, or /regex/ = activation",
);
const CUT_OFF: Text = Text::new(
    "压缩文件不完整或已损坏：重新复制或下载一次",
    "the compressed file is cut off or damaged: copy or download it again",
);
const RECORD: Text = Text::new(
    "torch.cuda.memory._dump_snapshot(\"a.pickle\") 写的文件才是",
    "torch.cuda.memory._dump_snapshot(\"a.pickle\") writes one",
);

/// A file that is something else is named.
fn unreadable(path: &Path, bytes: &[u8], error: &vramlab_snapshot::ReadError, say: &Say) -> Fault {
    use vramlab_sniff::Kind;
    let sniffed = sniff(Head { bytes, n_bytes: bytes.len() as u64 });
    let name = path.display();
    let fault = Fault::usage(format!("{name}: {}", error.told().get(say.lang)));
    let kind = sniffed.kind.name().get(say.lang);
    let is_not = Text::new("不是显存快照", "not a memory snapshot").get(say.lang);
    match sniffed.kind {
        Kind::Snapshot => fault,
        _ if matches!(error, vramlab_snapshot::ReadError::Checkpoint) => fault,
        _ if matches!(error, vramlab_snapshot::ReadError::Unpack(_)) => fault.help(CUT_OFF.get(say.lang)),
        Kind::HfConfig | Kind::Safetensors | Kind::SafetensorsIndex | Kind::Gguf => {
            Fault::usage(format!("{name}: {kind}: {is_not}")).help(format!("vramlab fit {name}"))
        }
        // A pickle of protocol 0 is a text too; what it asks for is named.
        Kind::Text
            if matches!(error, vramlab_snapshot::ReadError::Pickle(vramlab_snapshot::PickleError::Class { .. })) =>
        {
            fault
        }
        Kind::Text | Kind::Json | Kind::Html | Kind::Picture | Kind::Empty => {
            Fault::usage(format!("{name}: {kind}: {is_not}")).help(RECORD.get(say.lang))
        }
        Kind::OtherZip => {
            let holds = sniffed.facts.iter().find(|fact| fact.name.en == "holds");
            let holds = holds.map(|fact| {
                let colon = if say.lang == Lang::Zh { "：" } else { ": " };
                format!("{}{colon}{}", fact.name.get(say.lang), fact.value.get(say.lang))
            });
            fault.help(holds.unwrap_or_else(|| vramlab_shell::intake::in_a_line(&sniffed, say.lang)))
        }
        _ => {
            let why = error.told();
            let (open, close) = if say.lang == Lang::Zh { ("（", "）") } else { (" (", ")") };
            Fault::usage(format!("{name}: {is_not}{open}{}{close}", why.get(say.lang)))
                .help(vramlab_shell::intake::in_a_line(&sniffed, say.lang))
        }
    }
}
