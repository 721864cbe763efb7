//! What the reader sees of an error, in both languages: what happened, and what was kept and can be done.

use super::RunError;
use vramlab_units::{Bytes, Lang, show};

/// A failed run in two sentences, without full stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub what: String,
    /// What was kept, and what to do. Empty where there is nothing to do.
    pub advice: String,
}

impl Said {
    fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }
}

impl RunError {
    /// The error for the reader. Words of a driver or a compiler stay as they came.
    pub fn say(&self, lang: Lang) -> Said {
        match lang {
            Lang::Zh => self.say_zh(),
            Lang::En => self.say_en(),
        }
    }

    fn say_en(&self) -> Said {
        let size = |bytes: &u64| show::bytes_binary(Bytes(*bytes));
        match self {
            Self::Unavailable { what, fix } => Said::new(what.get(Lang::En), fix.get(Lang::En)),
            Self::Compile { arch, options, .. } => Said::new(
                format!("the kernel does not compile for {arch} ({})", options.join(" ")),
                "the compiler's log names the line; your text is kept",
            ),
            Self::Device { code, name, meaning, kernel, is_fatal } => Said::new(
                format!("{kernel}: {meaning} ({name}, {code})"),
                if *is_fatal {
                    "the device's context is lost and the runner was replaced; this run is kept as failed, the next one starts afresh"
                } else {
                    "the runner goes on; try again, or with smaller parameters"
                },
            ),
            Self::OutOfMemory { asked_bytes, free_bytes, total_bytes } => Said::new(
                format!(
                    "not enough memory: {} asked for, {} of {} free",
                    size(asked_bytes),
                    size(free_bytes),
                    size(total_bytes)
                ),
                "close what else uses the device, or choose a smaller size; fragmentation can refuse a block although the sum is free",
            ),
            Self::OverBudget { asked_bytes, budget_bytes } => Said::new(
                format!("the experiment needs {}, its budget is {}", size(asked_bytes), size(budget_bytes)),
                "nothing was allocated; choose a smaller size, or raise the budget with --budget",
            ),
            Self::Deadline { secs } => Said::new(
                format!("the run was ended after {} s, its deadline", show::number(*secs)),
                "an endless kernel can only be ended with its process; the device may take seconds to give its memory back. A card that drives a display has a limit of its own, about 2 s",
            ),
            Self::Died { how, .. } => {
                Said::new(format!("the runner ended: {how}"), "the window and earlier runs are untouched; run it again")
            }
            Self::Protocol { what } => Said::new(
                format!("the runner said something that nobody understands: {what}"),
                "it was ended and will be started anew; a library may have printed into its output",
            ),
            Self::Version { ours, theirs } => Said::new(
                format!("the runner speaks version {theirs} of the protocol, this window {ours}"),
                "the program was updated while it was open: restart it",
            ),
            Self::CrashLoop { times, secs } => Said::new(
                format!("the runner failed {times} times within {} s and stays off", show::number(*secs)),
                "turn it on again to try once more; recorded runs work without it",
            ),
            Self::Cancelled => Said::new("cancelled", ""),
            Self::Content { what } => Said::new(
                what,
                "this is a mistake in the kernel's or the experiment's file: `vramlab check` names the place",
            ),
        }
    }

    fn say_zh(&self) -> Said {
        let size = |bytes: &u64| show::bytes_binary(Bytes(*bytes));
        match self {
            Self::Unavailable { what, fix } => Said::new(what.get(Lang::Zh), fix.get(Lang::Zh)),
            Self::Compile { arch, options, .. } => Said::new(
                format!("内核无法为 {arch} 编译（{}）", options.join(" ")),
                "编译器的日志里有行号；你写的内容还在",
            ),
            Self::Device { code, name, meaning, kernel, is_fatal } => Said::new(
                format!("{kernel}：{}（{name}，{code}）", device_meaning_zh(*code).unwrap_or(meaning)),
                if *is_fatal {
                    "设备的上下文已经作废，运行进程换了新的；这次运行记为失败，下一次从头开始"
                } else {
                    "运行进程还在；可以再试一次，或者把参数调小"
                },
            ),
            Self::OutOfMemory { asked_bytes, free_bytes, total_bytes } => Said::new(
                format!("内存不够：要 {}，空闲 {}，共 {}", size(asked_bytes), size(free_bytes), size(total_bytes)),
                "关掉也在用这个设备的程序，或者选小一点的规模；空闲总量够而碎片太多时也会失败",
            ),
            Self::OverBudget { asked_bytes, budget_bytes } => Said::new(
                format!("实验要 {}，预算是 {}", size(asked_bytes), size(budget_bytes)),
                "什么都没有分配；选小一点的规模，或者用 --budget 提高预算",
            ),
            Self::Deadline { secs } => Said::new(
                format!("运行到 {} s 的期限还没结束，已经中止", show::number(*secs)),
                "不会结束的内核只能连同进程一起中止；设备可能要几秒才还清内存。负责显示的显卡另有约 2 s 的系统限制",
            ),
            Self::Died { how, .. } => Said::new(
                format!("运行进程结束了：{}", how.say(Lang::Zh)),
                "窗口和以前的运行都不受影响；再运行一次就行",
            ),
            Self::Protocol { what } => Said::new(
                format!("运行进程说了听不懂的话：{what}"),
                "它已经中止，下次会重新启动；可能是某个库往它的输出里打印了东西",
            ),
            Self::Version { ours, theirs } => Said::new(
                format!("运行进程用的是第 {theirs} 版协议，窗口用的是第 {ours} 版"),
                "程序开着的时候更新过：请重新启动",
            ),
            Self::CrashLoop { times, secs } => Said::new(
                format!("运行进程在 {} s 内失败了 {times} 次，先停下来", show::number(*secs)),
                "重新启用后可以再试；录好的运行照样能看",
            ),
            Self::Cancelled => Said::new("已取消", ""),
            Self::Content { what } => Said::new(what, "这是内核或实验文件里的错误：`vramlab check` 会指出位置"),
        }
    }
}

/// The driver's codes that a reader's own kernel or machine can bring about.
fn device_meaning_zh(code: i32) -> Option<&'static str> {
    Some(match code {
        2 => "显存不够",
        46 => "设备在独占模式下，被另一个程序占着",
        214 => "显存出现无法纠正的 ECC 错误",
        220 => "NVLink 出错",
        226 => "硬件错误，已隔离，进程必须重启",
        700 => "内核访问了非法地址",
        701 => "一次启动要的寄存器或共享内存超过了设备的上限",
        702 => "内核运行太久，系统中止了它（负责显示的显卡有时间限制）",
        710 => "内核里的断言失败",
        714 => "硬件栈出错",
        715 => "非法指令",
        716 => "内核的访问没有按大小对齐",
        717 => "访问了不属于这个地址空间的地址",
        718 => "程序计数器无效",
        719 => "内核执行失败",
        721 => "张量内存泄漏",
        _ => return None,
    })
}
