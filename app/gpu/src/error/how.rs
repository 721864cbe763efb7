//! How a runner ended, as a value.

use serde::{Deserialize, Serialize};
use vramlab_units::Lang;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Killed by this signal of a Unix system.
    Signal(i32),
    Exit(i32),
    /// The stream closed, and there is no process to ask.
    Closed,
    Panicked(String),
    /// It was started and never greeted.
    NoGreeting,
    /// It was busy and nothing was heard for so many seconds.
    Silent(f64),
    /// Its pipes closed and the process stayed.
    Stayed,
    /// Anything else, in words.
    Other(String),
}

impl From<&str> for How {
    fn from(words: &str) -> Self {
        Self::Other(words.to_owned())
    }
}

impl std::fmt::Display for How {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.say(Lang::En))
    }
}

impl How {
    /// A clause about the runner, without a full stop.
    pub fn say(&self, lang: Lang) -> String {
        let is_zh = lang == Lang::Zh;
        match self {
            Self::Signal(9) if is_zh => "被强行结束（信号 9，SIGKILL），往往是系统内存不够时结束的".to_owned(),
            Self::Signal(9) => "it was killed (signal 9, SIGKILL), often by the system when memory ran out".to_owned(),
            Self::Signal(signal) => match (signal_meaning(*signal), is_zh) {
                (Some((name, zh, _)), true) => format!("信号 {signal}（{name}）：{zh}"),
                (Some((name, _, en)), false) => format!("signal {signal} ({name}), {en}"),
                (None, true) => format!("信号 {signal}"),
                (None, false) => format!("signal {signal}"),
            },
            Self::Exit(code) if is_zh => format!("退出码 {code}"),
            Self::Exit(code) => format!("exit status {code}"),
            Self::Closed if is_zh => "连接断了".to_owned(),
            Self::Closed => "the connection closed".to_owned(),
            Self::Panicked(message) if is_zh => format!("程序自己出错（panic）：{message}"),
            Self::Panicked(message) => format!("it panicked: {message}"),
            Self::NoGreeting if is_zh => "启动后没有按时应答".to_owned(),
            Self::NoGreeting => "it did not greet in time".to_owned(),
            Self::Silent(secs) if is_zh => format!("{secs:.1} s 没有动静"),
            Self::Silent(secs) => format!("it gave no sign of life for {secs:.1} s"),
            Self::Stayed if is_zh => "关掉了管道却没有退出".to_owned(),
            Self::Stayed => "it closed its pipes and did not leave".to_owned(),
            Self::Other(words) => words.clone(),
        }
    }
}

/// Name and meaning of the signals whose numbers are the same on every system we know.
fn signal_meaning(signal: i32) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match signal {
        4 => ("SIGILL", "用了这颗处理器没有的指令", "an instruction that this processor does not have"),
        6 => ("SIGABRT", "自己放弃了", "it gave up by itself"),
        8 => ("SIGFPE", "算术错误", "an arithmetic error"),
        11 => ("SIGSEGV", "访问了坏地址", "a bad memory access"),
        15 => ("SIGTERM", "收到了结束请求", "it was asked to end"),
        _ => return None,
    })
}
