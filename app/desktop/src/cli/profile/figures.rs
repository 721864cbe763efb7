//! NVML's figure of a process beside the allocator's own account: the model `reconcile` asked with both.

use super::super::fault::Fault;
use std::path::Path;
use vramlab_model::reconcile::{Figures, Parts, split};
use vramlab_profile::Profile;
use vramlab_profile::words::Line;
use vramlab_shell::profile::reconcile;
use vramlab_units::{Bytes, Lang, Text, show};

/// What a snapshot may unpack to, bytes.
const LIMIT: usize = 4 << 30;

/// Figures that agree, with their parts.
pub struct Reconciled {
    pub figures: Figures,
    pub parts: Parts,
    pub pid: u32,
    /// Segments whose address and size CUPTI saw allocated, of all; nothing without CUPTI.
    pub matched: Option<(usize, usize)>,
}

/// Reads the snapshot and asks the model.
pub fn of(path: &Path, profile: &Profile) -> Result<Reconciled, Fault> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|error| Fault::usage(format!("--snapshot {name}: {error}")))?;
    let snapshot =
        vramlab_snapshot::read(&bytes, LIMIT).map_err(|error| Fault::usage(format!("--snapshot {name}: {error}")))?;
    let both = reconcile::figures(profile, &snapshot)
        .map_err(|why| Fault::usage(format!("--snapshot {name}: {}", why.get(Lang::En))))?;
    let parts = split(&both.figures).map_err(|error| {
        Fault::usage(format!("--snapshot {name} and this run contradict each other: {error}"))
            .help("is the snapshot of this very run?")
    })?;
    Ok(Reconciled { figures: both.figures, parts, pid: both.pid, matched: both.matched })
}

const TITLE: Text = Text::new("对账", "reconciled");
const UNKNOWN: Text = Text::new("未知", "unknown");
const SEGMENTS: Text = Text::new("段", "segments");

impl Reconciled {
    pub fn lines(&self, lang: Lang) -> Vec<Line> {
        let size = |bytes: u64| show::bytes_binary(Bytes(bytes));
        let (figures, parts) = (&self.figures, &self.parts);
        let context = figures.context.map(size);
        let libraries = figures.libraries.map_or_else(|| UNKNOWN.get(lang).to_owned(), size);
        let [nvml, reserved, allocated, requested] =
            [figures.nvml_process, figures.reserved, figures.allocated, figures.requested].map(size);
        let [unknown, cached, rounding] = [parts.unknown_outside, parts.cached, parts.rounding].map(size);
        let text = match lang {
            Lang::Zh => format!(
                "NVML {nvml} = 上下文 {} + 库 {libraries} + 未知 {unknown} + 保留 {reserved}；保留 = 在用 {allocated} + 缓存 {cached}；在用 = 申请 {requested} + 取整 {rounding}",
                context.unwrap_or_else(|| UNKNOWN.get(lang).to_owned())
            ),
            Lang::En => format!(
                "NVML {nvml} = context {} + libraries {libraries} + unknown {unknown} + reserved {reserved}; reserved = in \
                 use {allocated} + cached {cached}; in use = asked for {requested} + rounding {rounding}",
                context.unwrap_or_else(|| UNKNOWN.get(lang).to_owned())
            ),
        };
        let mut out = vec![Line { label: TITLE, text }];
        if let Some((n, all)) = self.matched {
            let text = match lang {
                Lang::Zh => format!("{all} 段里有 {n} 段，CUPTI 看到过同地址、同大小的分配"),
                Lang::En => format!("of {all}, CUPTI saw {n} allocated at the same address with the same size"),
            };
            out.push(Line { label: SEGMENTS, text });
        }
        out
    }
}
