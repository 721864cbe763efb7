//! What can be wrong with a trace file, in words for the reader, both languages. Every text says what happened, what was
//! kept, and what to do where something can be done.

use super::looks::Looks;
use vramlab_units::Lang;

/// Nothing could be read.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceError {
    NotATrace {
        looks: Looks,
    },
    Future {
        version: u16,
        ours: u16,
    },
    TooLarge {
        n_bytes: usize,
        max: usize,
    },
    /// No copy of the run's description is whole: without device and parameters, points mean nothing.
    NoDescription {
        problems: Vec<TraceProblem>,
    },
}

/// Something was wrong, and the rest was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceProblem {
    /// The file stops in the middle, or before its last block.
    EndsEarly {
        n_read: usize,
        /// Points that the recording has, if its description was read.
        n_points: Option<usize>,
    },
    /// The first twelve bytes are not as they were written.
    DamagedStart,
    /// One block is lost.
    BadBlock { number: usize, why: Damage },
    /// Durations that are not positive numbers were left out.
    OddSamples { series: String, point: usize, n_left_out: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The checksum of its head or its content is wrong.
    Checksum,
    /// It cannot be unpacked, or is larger than any block may be.
    Packing,
    /// It is whole, but not what this version writes.
    Content,
}

impl TraceError {
    pub fn sentence(&self, lang: Lang) -> String {
        let zh = lang == Lang::Zh;
        match self {
            Self::NotATrace { looks } if zh => format!("这不是录制文件，看起来像{}", looks.text().zh),
            Self::NotATrace { looks } => format!("this is not a trace; it looks like {}", looks.text().en),
            Self::Future { version, ours } if zh => {
                format!("这个录制文件是第 {version} 版格式，本程序只认到第 {ours} 版；请更新程序")
            }
            Self::Future { version, ours } => {
                format!("this trace has format version {version}, this program reads up to {ours}; update the program")
            }
            Self::TooLarge { n_bytes, max } if zh => format!("文件有 {n_bytes} 字节，录制文件最多 {max} 字节"),
            Self::TooLarge { n_bytes, max } => format!("the file has {n_bytes} bytes; a trace has at most {max}"),
            Self::NoDescription { .. } if zh => "录制的说明部分已损坏或缺失，无法显示；请重新下载或重新录制".to_owned(),
            Self::NoDescription { .. } => {
                "the description of the run is damaged or missing, so nothing can be shown; fetch or record it again"
                    .to_owned()
            }
        }
    }
}

impl TraceProblem {
    pub fn sentence(&self, lang: Lang) -> String {
        let zh = lang == Lang::Zh;
        match self {
            Self::EndsEarly { n_read, n_points } => ends_early(*n_read, *n_points, zh),
            Self::DamagedStart if zh => "文件开头几个字节已损坏，其余照常读取".to_owned(),
            Self::DamagedStart => "the first bytes of the file are damaged; the rest was read".to_owned(),
            Self::BadBlock { number, why } if zh => {
                let why = match why {
                    Damage::Checksum => "校验和不符",
                    Damage::Packing => "无法解压",
                    Damage::Content => "内容不合格式",
                };
                format!("第 {number} 块{why}，已跳过，其余照常显示")
            }
            Self::BadBlock { number, why } => {
                let why = match why {
                    Damage::Checksum => "has a wrong checksum",
                    Damage::Packing => "cannot be unpacked",
                    Damage::Content => "is not what this format holds",
                };
                format!("block {number} {why} and was left out; the others are shown")
            }
            Self::OddSamples { series, point, n_left_out } if zh => {
                format!("{series} 的第 {point} 点有 {n_left_out} 个样本不是正数，已略去")
            }
            Self::OddSamples { series, point, n_left_out } => {
                format!("{n_left_out} samples of point {point} ({series}) are not positive numbers and were left out")
            }
        }
    }
}

fn ends_early(n_read: usize, n_points: Option<usize>, zh: bool) -> String {
    match (n_points, zh) {
        (Some(n), true) => format!("录制提前结束：{n} 个点里只有 {n_read} 个完整"),
        (Some(n), false) => format!("recording ends early at point {n_read} of {n}"),
        (None, true) => format!("录制提前结束：只有 {n_read} 个点完整"),
        (None, false) => format!("recording ends early at point {n_read}"),
    }
}

impl std::fmt::Display for TraceError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.sentence(Lang::En))
    }
}

impl std::error::Error for TraceError {}

impl std::fmt::Display for TraceProblem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.sentence(Lang::En))
    }
}
