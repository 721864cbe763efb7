//! What the reader sets: which file, which moment, what is shown below the timeline.

use crate::snapshot::Colour;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// The snapshots that come with the program, by the names of their files.
const FILES: [&str; 8] =
    ["mlp_adam", "kv_cat", "training_loop", "kv_growth", "fragmentation", "leak", "graph_pool", "oom"];

pub const COLOURS: [(Colour, Text); 2] =
    [(Colour::Role, Text::new("按角色", "by role")), (Colour::Site, Text::new("按代码位置", "by place in the code"))];

/// What stands below the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// Nothing more.
    Timeline,
    Map,
    Stacks,
    Log,
    Sizes,
}

impl Focus {
    pub const ALL: [Self; 5] = [Self::Timeline, Self::Map, Self::Stacks, Self::Log, Self::Sizes];

    fn id(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Map => "map",
            Self::Stacks => "stacks",
            Self::Log => "log",
            Self::Sizes => "sizes",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::Timeline => Text::new("无", "nothing"),
            Self::Map => Text::new("显存段", "segments"),
            Self::Stacks => Text::new("调用栈", "stacks"),
            Self::Log => Text::new("日志", "log"),
            Self::Sizes => Text::new("大小", "sizes"),
        }
    }
}

/// The moment at which it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Peak,
    Oom,
    End,
}

impl At {
    const ALL: [Self; 3] = [Self::Peak, Self::Oom, Self::End];

    fn id(self) -> &'static str {
        match self {
            Self::Peak => "peak",
            Self::Oom => "oom",
            Self::End => "end",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub file: &'static str,
    pub focus: Focus,
    pub colour: Colour,
    pub at: At,
    /// Events done, where the reader put the cursor.
    pub cursor: Option<usize>,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        fn choice(key: &'static str, ids: &[&'static str], doc: Text) -> FieldSpec {
            let options = ids.iter().map(|id| (*id).into()).collect();
            FieldSpec::new(key, "", FieldKind::Choice { options }, doc)
        }
        let cursor = Text::new("光标前有几个事件", "Events before the cursor");
        vec![
            choice("file", &FILES, Text::new("哪一份快照", "Which snapshot")).default_value("leak"),
            choice(
                "focus",
                &Focus::ALL.map(Focus::id),
                Text::new("时间线下面看什么", "What stands below the timeline"),
            )
            .default_value("timeline"),
            choice(
                "colour",
                &COLOURS.map(|(colour, _)| colour.id()),
                Text::new("按什么上色", "What colours tell apart"),
            )
            .default_value("role"),
            choice("at", &At::ALL.map(At::id), Text::new("打开在哪一刻", "The moment at which it opens"))
                .default_value("peak"),
            FieldSpec::int("cursor", "1", 0, 1 << 32, cursor).optional(),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let unknown = |key| FieldError::conflict(key, "is not among its options");
        let file = FILES.into_iter().find(|file| *file == args.text("file"));
        let focus = Focus::ALL.into_iter().find(|focus| focus.id() == args.text("focus"));
        let at = At::ALL.into_iter().find(|at| at.id() == args.text("at"));
        Ok(Self {
            file: file.ok_or_else(|| unknown("file"))?,
            focus: focus.ok_or_else(|| unknown("focus"))?,
            colour: Colour::from_id(args.text("colour")).ok_or_else(|| unknown("colour"))?,
            at: at.ok_or_else(|| unknown("at"))?,
            cursor: args.has("cursor").then(|| args.uint("cursor") as usize),
        })
    }

    pub fn params(&self) -> Map {
        let mut map = Map::new();
        map.insert("file".into(), self.file.into());
        map.insert("focus".into(), self.focus.id().into());
        map.insert("colour".into(), self.colour.id().into());
        map.insert("at".into(), self.at.id().into());
        if let Some(cursor) = self.cursor {
            map.insert("cursor".into(), cursor.into());
        }
        map
    }

    /// Where the file lies among the assets.
    pub fn path(&self) -> String {
        format!("assets/snapshots/{}.pickle.gz", self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_can_be_named_is_there() {
        for file in FILES {
            let question = Question { file, focus: Focus::Map, colour: Colour::Role, at: At::Peak, cursor: None };
            let path = format!("../../{}", question.path());
            assert!(std::path::Path::new(&path).exists(), "{path}");
        }
    }
}
