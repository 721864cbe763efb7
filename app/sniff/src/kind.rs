//! The kinds of file that the program knows, and what is said about one.

use vramlab_units::{Bytes, Localized, Text, show};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    // Ours.
    Trace,
    Pack,
    Chapter,
    Progress,
    Notebook,
    Profile,
    Project,
    // What the reader has.
    Snapshot,
    MemorySummary,
    OomMessage,
    HfConfig,
    Adapter,
    Safetensors,
    SafetensorsIndex,
    Gguf,
    Checkpoint,
    NvidiaSmi,
    Topology,
    NsysStats,
    NsysReport,
    NcuReport,
    Sanitizer,
    TorchTrace,
    VllmLog,
    // What it is not.
    OtherPickle,
    OtherZip,
    Empty,
    Html,
    LfsPointer,
    Picture,
    Archive,
    Json,
    Text,
    Binary,
}

impl Kind {
    pub const ALL: [Self; 34] = [
        Self::Trace,
        Self::Pack,
        Self::Chapter,
        Self::Progress,
        Self::Notebook,
        Self::Profile,
        Self::Project,
        Self::Snapshot,
        Self::MemorySummary,
        Self::OomMessage,
        Self::HfConfig,
        Self::Adapter,
        Self::Safetensors,
        Self::SafetensorsIndex,
        Self::Gguf,
        Self::Checkpoint,
        Self::NvidiaSmi,
        Self::Topology,
        Self::NsysStats,
        Self::NsysReport,
        Self::NcuReport,
        Self::Sanitizer,
        Self::TorchTrace,
        Self::VllmLog,
        Self::OtherPickle,
        Self::OtherZip,
        Self::Empty,
        Self::Html,
        Self::LfsPointer,
        Self::Picture,
        Self::Archive,
        Self::Json,
        Self::Text,
        Self::Binary,
    ];

    /// The id under which it is kept in the list of recent files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Pack => "pack",
            Self::Chapter => "chapter",
            Self::Progress => "progress",
            Self::Notebook => "notebook",
            Self::Profile => "profile",
            Self::Project => "project",
            Self::Snapshot => "snapshot",
            Self::MemorySummary => "memory_summary",
            Self::OomMessage => "oom_message",
            Self::HfConfig => "hf_config",
            Self::Adapter => "adapter",
            Self::Safetensors => "safetensors",
            Self::SafetensorsIndex => "safetensors_index",
            Self::Gguf => "gguf",
            Self::Checkpoint => "checkpoint",
            Self::NvidiaSmi => "nvidia_smi",
            Self::Topology => "topology",
            Self::NsysStats => "nsys_stats",
            Self::NsysReport => "nsys_report",
            Self::NcuReport => "ncu_report",
            Self::Sanitizer => "sanitizer",
            Self::TorchTrace => "torch_trace",
            Self::VllmLog => "vllm_log",
            Self::OtherPickle => "other_pickle",
            Self::OtherZip => "other_zip",
            Self::Empty => "empty",
            Self::Html => "html",
            Self::LfsPointer => "lfs_pointer",
            Self::Picture => "picture",
            Self::Archive => "archive",
            Self::Json => "json",
            Self::Text => "text",
            Self::Binary => "binary",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// "This is …".
    pub fn name(self) -> Text {
        match self {
            Self::Trace => Text::new("实验台的录制", "a VRAM Lab recording"),
            Self::Pack => Text::new("课程包", "a lesson pack"),
            Self::Chapter => Text::new("单章课程", "a single chapter"),
            Self::Progress => Text::new("学习进度", "a progress file"),
            Self::Notebook => Text::new("笔记本导出", "an exported notebook"),
            Self::Profile => Text::new("vramlab profile 录下的一次运行", "a run recorded by vramlab profile"),
            Self::Project => Text::new("vramlab project 的项目文件", "a file of vramlab project"),
            Self::Snapshot => Text::new("PyTorch 显存快照", "a PyTorch memory snapshot"),
            Self::MemorySummary => Text::new("memory_summary() 的输出", "the output of memory_summary()"),
            Self::OomMessage => Text::new("含 CUDA 显存不足报错的日志", "a log with a CUDA out-of-memory message"),
            Self::HfConfig => Text::new("Hugging Face 模型的 config.json", "the config.json of a Hugging Face model"),
            Self::Adapter => Text::new("LoRA 适配器的配置", "the config of a LoRA adapter"),
            Self::Safetensors => Text::new("safetensors 权重", "safetensors weights"),
            Self::SafetensorsIndex => Text::new("分片权重的索引", "the index of sharded weights"),
            Self::Gguf => Text::new("GGUF 模型", "a GGUF model"),
            Self::Checkpoint => Text::new(
                "PyTorch 检查点（权重），不是显存快照",
                "a PyTorch checkpoint of weights, not a memory snapshot",
            ),
            Self::NvidiaSmi => Text::new("nvidia-smi 的输出", "the output of nvidia-smi"),
            Self::Topology => Text::new("nvidia-smi topo 的拓扑表", "the topology table of nvidia-smi"),
            Self::NsysStats => Text::new("nsys stats 的统计表", "statistics of nsys stats"),
            Self::NsysReport => {
                Text::new("SQLite 数据库，也许是 nsys 导出", "an SQLite database, perhaps exported by nsys")
            }
            Self::NcuReport => Text::new("Nsight Compute 的文本报告", "a text report of Nsight Compute"),
            Self::Sanitizer => Text::new("compute-sanitizer 的报告", "a report of compute-sanitizer"),
            Self::TorchTrace => Text::new("PyTorch profiler 的输出", "the output of the PyTorch profiler"),
            Self::VllmLog => Text::new("推理引擎的日志", "a log of a serving engine"),
            Self::OtherPickle => Text::new("Python pickle，但不是显存快照", "a Python pickle, but no memory snapshot"),
            Self::OtherZip => Text::new("zip 压缩包，里面没有章节", "a zip archive without chapters"),
            Self::Empty => Text::new("空文件", "an empty file"),
            Self::Html => Text::new("网页，可能是登录页或错误页", "a web page, perhaps a login or error page"),
            Self::LfsPointer => Text::new("Git LFS 指针，不是文件本身", "a Git LFS pointer and not the file itself"),
            Self::Picture => Text::new("图片", "a picture"),
            Self::Archive => {
                Text::new("压缩文件；先解压，再打开里面的文件", "a compressed file; unpack it and open what is inside")
            }
            Self::Json => Text::new("JSON，但没有认识的字段", "JSON without fields that are known here"),
            Self::Text => Text::new("普通文本", "plain text"),
            Self::Binary => Text::new("不认识的二进制文件", "an unknown binary file"),
        }
    }
}

/// One thing that the beginning of the file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub name: Text,
    pub value: Localized,
}

/// What was recognised.
#[derive(Clone, Debug, PartialEq)]
pub struct Sniffed {
    pub kind: Kind,
    pub facts: Vec<Fact>,
    /// Something in it is not as it should be: cut off, refused, suspicious.
    pub warning: Option<Localized>,
}

impl Sniffed {
    pub fn plain(kind: Kind) -> Self {
        Self { kind, facts: Vec::new(), warning: None }
    }

    pub(crate) fn fact(mut self, zh: &'static str, en: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        self.facts.push(Fact { name: Text::new(zh, en), value: Localized::both(value.clone(), value) });
        self
    }

    pub(crate) fn warn(mut self, zh: impl Into<String>, en: impl Into<String>) -> Self {
        self.warning = Some(Localized::both(zh.into(), en.into()));
        self
    }
}

/// Text of a file as it may be shown: short, without controls, one space between words.
pub(crate) fn shown(text: &str) -> String {
    let is_seen = |c: &char| {
        !c.is_control() && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out: String = text.chars().filter(is_seen).take(80).collect();
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}

/// Bytes as sizes of files are told: decimal.
pub(crate) fn size(bytes: u64) -> String {
    show::bytes_decimal(Bytes(bytes))
}
