//! The machine without NVIDIA's parts, and what the program brings along.

use super::super::Common;
use super::{Line, State};
use std::path::Path;
use vramlab_trace::{Backend, DeviceFacts};
use vramlab_units::{Bytes, Text, show};

pub fn hardware() -> Vec<Line> {
    vec![processor()]
}

/// The processor's facts; none where its back end does not open.
pub fn processor_facts() -> Option<DeviceFacts> {
    vramlab_gpu::backend::open(Backend::Cpu, None).and_then(|mut cpu| cpu.facts()).ok()
}

fn processor() -> Line {
    let title = Text::new("处理器", "processor");
    let Some(facts) = processor_facts() else {
        return Line::new("processor", title, State::Limited, "系统没有报告", "the system does not tell");
    };
    let size = |value: Option<f64>| value.map(|bytes| show::bytes_binary(Bytes(bytes as u64)));
    let n_cores = facts.n_cores.unwrap_or(1.0);
    let (mut zh, mut en) = (
        format!("{}，{n_cores} 核", facts.name),
        format!("{}, {n_cores} core{}", facts.name, if n_cores == 1.0 { "" } else { "s" }),
    );
    if let Some(cache) = size(facts.l3_bytes) {
        zh.push_str(&format!("，末级缓存（L3）{cache}"));
        en.push_str(&format!(", last-level cache (L3) {cache}"));
    }
    if let Some((total, free)) = size(facts.total_bytes).zip(size(facts.free_bytes)) {
        zh.push_str(&format!("，内存 {total}，空闲 {free}"));
        en.push_str(&format!(", memory {total}, {free} free"));
    }
    Line::new("processor", title, State::Works, zh, en)
}

pub fn program(common: &Common) -> Vec<Line> {
    vec![window(), fonts(), data(common), recordings(), web()]
}

/// Whether a window can open. No renderer is started for this: that alone would take longer than the rest together.
pub fn window() -> Line {
    let title = Text::new("窗口", "window");
    if !super::super::has_display() {
        return Line::new(
            "window",
            title,
            State::Missing,
            "没有显示器（DISPLAY 和 WAYLAND_DISPLAY 都没有设）",
            "no display (neither DISPLAY nor WAYLAND_DISPLAY is set)",
        )
        .fix(
            "终端里用 vramlab tour；浏览器里用 vramlab serve",
            "use vramlab tour here, or vramlab serve for a browser",
        );
    }
    match vulkan_drivers() {
        Some(names) if names.is_empty() => Line::new(
            "window",
            title,
            State::Limited,
            "有显示器，没有 Vulkan 驱动，会改用 OpenGL",
            "a display; no Vulkan driver, so OpenGL is tried",
        )
        .fix("装 mesa-vulkan-drivers 或显卡的驱动", "install mesa-vulkan-drivers or the card's driver"),
        Some(names) => {
            let names = names.join(", ");
            Line::new(
                "window",
                title,
                State::Works,
                format!("有显示器，Vulkan：{names}"),
                format!("a display; Vulkan: {names}"),
            )
        }
        None => Line::new("window", title, State::Works, "有显示器", "a display"),
    }
}

/// Vulkan drivers by their manifest; nothing where the system keeps them elsewhere.
fn vulkan_drivers() -> Option<Vec<String>> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let mut names = Vec::new();
    for dir in ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"] {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // intel_icd.x86_64.json → intel
            let short = name.split(['_', '.']).next().unwrap_or(&name).to_owned();
            if name.ends_with(".json") && !names.contains(&short) {
                names.push(short);
            }
        }
    }
    names.sort();
    Some(names)
}

fn fonts() -> Line {
    let title = Text::new("字体", "fonts");
    let missing: Vec<char> =
        "显存扇区 sector →×≥".chars().filter(|c| *c != ' ' && !vramlab_kit::fonts::has_glyph(*c)).collect();
    if missing.is_empty() {
        Line::new("fonts", title, State::Works, "内置，中英文齐全", "embedded, Chinese and Latin")
    } else {
        let text: String = missing.iter().collect();
        Line::new("fonts", title, State::Missing, format!("缺字：{text}"), format!("glyphs are missing: {text}"))
    }
}

fn data(common: &Common) -> Line {
    let title = Text::new("数据目录", "data folder");
    let Some(dir) = crate::store::data_dir(common.data.as_deref()) else {
        return Line::new("data", title, State::Missing, "没有主目录", "there is no home folder")
            .fix("用 --data DIR 或 VRAMLAB_DATA 指定", "name one with --data DIR or VRAMLAB_DATA");
    };
    let shown = dir.display().to_string();
    match writable(&dir) {
        Ok(()) => Line::new("data", title, State::Works, format!("{shown}，可写"), format!("{shown}, writable")),
        Err(error) => {
            Line::new("data", title, State::Missing, format!("{shown}：{error}"), format!("{shown}: {error}")).fix(
                "进度只在内存里；用 --data DIR 或 VRAMLAB_DATA 指定可写的目录",
                "progress stays in memory; name a writable folder with --data DIR or VRAMLAB_DATA",
            )
        }
    }
}

/// Tries the nearest folder that exists; nothing is left behind and nothing is created.
fn writable(dir: &Path) -> std::io::Result<()> {
    let there = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(there).map(|_| ())
}

fn recordings() -> Line {
    let title = Text::new("录制", "recordings");
    let n = vramlab_content::list("assets/traces/").filter(|path| path.ends_with(".vltrace")).count();
    match n {
        0 => Line::new("recordings", title, State::Limited, "程序里没有录制", "none in this program"),
        n => Line::new("recordings", title, State::Works, format!("内置 {n} 份"), format!("{n} come with the program")),
    }
}

fn web() -> Line {
    let title = Text::new("网页", "web page");
    match super::super::serve::find_build(None) {
        Some(dir) => {
            let shown = dir.display().to_string();
            Line::new(
                "web",
                title,
                State::Works,
                format!("{shown}，用 vramlab serve 打开"),
                format!("{shown}; vramlab serve opens it"),
            )
        }
        None => Line::new("web", title, State::Limited, "还没有构建", "not built")
            .fix("在仓库里运行 cargo xtask web", "in the repository: cargo xtask web"),
    }
}
