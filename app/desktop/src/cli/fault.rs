//! A failure of a command: its exit code, what happened, what to do.

use super::Exit;
use vramlab_gpu::RunError;
use vramlab_gpu::plan::PlanError;
use vramlab_units::{FieldError, Lang};

#[derive(Clone, Debug, thiserror::Error)]
#[error("{what}")]
pub struct Fault {
    pub exit: Exit,
    pub what: String,
    pub help: Option<String>,
    /// Nothing went wrong: the experiment does not fit the device at hand, and `what` says why.
    pub is_unfit: bool,
}

impl Fault {
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), help: None, is_unfit: false }
    }

    /// Wrong usage or wrong input.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// The planner's reason why the device cannot run this experiment, or cannot show its effect.
    pub fn of_plan(error: &PlanError, lang: Lang) -> Self {
        match error {
            PlanError::Unfit { why } => {
                let help = "`--backend trace` replays the recording";
                Self { is_unfit: true, ..Self::new(Exit::Findings, why.get(lang)).help(help) }
            }
            PlanError::Setting(error) => Self::usage(error.to_string()),
            PlanError::Content { what } => Self::new(Exit::Findings, what).help("`vramlab check` names the place"),
        }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Something that the reader named and that does not exist, with the nearest that does.
    pub fn unknown<'a>(noun: &str, id: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let hint = vramlab_units::field::did_you_mean(id, known.clone());
        let help = match hint {
            Some(hint) => format!("did you mean \"{hint}\"?"),
            None => format!("there are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
        };
        Self::usage(format!("no {noun} is called \"{id}\"")).help(help)
    }
}

impl From<FieldError> for Fault {
    fn from(error: FieldError) -> Self {
        Self::usage(error.to_string())
    }
}

/// The system's error in the reader's language, where it is one of the usual ones, and without the path of a file of ours.
pub fn of_system(error: &std::io::Error, lang: Lang) -> String {
    use std::io::ErrorKind;
    let zh = match error.kind() {
        ErrorKind::NotFound => "没有这个文件或文件夹",
        ErrorKind::PermissionDenied => "没有权限",
        ErrorKind::IsADirectory => "这是一个文件夹",
        ErrorKind::NotADirectory => "路径中间的一段不是文件夹",
        ErrorKind::AlreadyExists => "已经存在",
        ErrorKind::StorageFull => "磁盘满了",
        ErrorKind::ReadOnlyFilesystem => "文件系统是只读的",
        _ => "",
    };
    if lang == Lang::Zh && !zh.is_empty() {
        return zh.to_owned();
    }
    let text = error.to_string();
    text.split(" at path ").next().unwrap_or(&text).to_owned()
}

/// The exit code of a run that failed. A device that is missing is 3 wherever one was demanded.
pub fn exit_of(error: &RunError) -> Exit {
    match error {
        RunError::Unavailable { .. } => Exit::NoGpu,
        RunError::Deadline { .. } => Exit::Deadline,
        RunError::Cancelled => Exit::Interrupted,
        RunError::OverBudget { .. } => Exit::Usage,
        RunError::Content { .. } => Exit::Findings,
        RunError::Compile { .. }
        | RunError::Device { .. }
        | RunError::OutOfMemory { .. }
        | RunError::Died { .. }
        | RunError::Protocol { .. }
        | RunError::Version { .. }
        | RunError::CrashLoop { .. } => Exit::Runner,
    }
}

impl Fault {
    /// A failed run, in the reader's language.
    pub fn of_run(error: &RunError, lang: Lang) -> Self {
        let said = error.say(lang);
        let log = match error {
            RunError::Compile { log, .. } => format!("\n{log}"),
            RunError::Died { last_words: Some(words), .. } => format!("\n{words}"),
            _ => String::new(),
        };
        let help = Some(said.advice).filter(|advice| !advice.is_empty());
        Self { exit: exit_of(error), what: format!("{}{log}", said.what), help, is_unfit: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_fail_has_its_exit_code() {
        let unavailable = RunError::unavailable(("没有驱动", "no driver"), ("装驱动", "install it"));
        assert_eq!(exit_of(&unavailable) as u8, 3);
        assert_eq!(exit_of(&RunError::Died { how: "signal 9".into(), last_words: None }) as u8, 4);
        assert_eq!(exit_of(&RunError::Deadline { secs: 1.0 }) as u8, 5);
        assert_eq!(exit_of(&RunError::Cancelled) as u8, 130);
        assert_eq!(Fault::of_run(&unavailable, Lang::En).help.as_deref(), Some("install it"));
    }

    #[test]
    fn the_unknown_gets_a_hint_or_the_list() {
        let known = ["coalescing", "bank_conflicts"];
        assert_eq!(Fault::unknown("model", "coalesing", known).help.as_deref(), Some("did you mean \"coalescing\"?"));
        assert!(Fault::unknown("model", "zzz", known).help.is_some_and(|help| help.contains("bank_conflicts")));
    }
}
