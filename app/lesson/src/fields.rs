//! The format as data: every table of a chapter, its fields, what they hold. The parser validates by these tables, the
//! JSON Schema is made from them, and the author's guide prints them. There is no second list.

use vramlab_units::Text;

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// Text that is the same in both languages: ids, units, formulas, sources.
    Plain,
    /// Lower-case letters, digits, `_` and `-`.
    Id,
    /// Text for the reader: `{ zh = "…", en = "…" }`, or a plain string in a chapter with `lang`.
    Localized,
    LocalizedList,
    /// A list of ids, names or addresses: texts that are the same in both languages.
    PlainList,
    Number,
    /// A list of numbers.
    Numbers,
    /// [`crate::SCHEMA`].
    Version,
    /// An integer from 1 to 600.
    Minutes,
    Flag,
    Choice(&'static [&'static str]),
    /// Parameters of a visualizer, model or experiment.
    Params,
    /// Lists of numbers by name.
    Redraw,
    Table(&'static [Field]),
    /// `[[step.option]]`
    Tables(&'static [Field]),
}

/// What happens without a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The table cannot be used: a broken step.
    Must,
    /// An error, but the rest of the table is shown.
    Should,
    May,
}

/// One field of a table.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub key: &'static str,
    pub holds: Holds,
    pub need: Need,
    pub doc: Text,
}

/// One kind of step.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub id: &'static str,
    pub fields: &'static [&'static [Field]],
    pub doc: Text,
}

pub(crate) const fn must(key: &'static str, holds: Holds, doc: Text) -> Field {
    Field { key, holds, need: Need::Must, doc }
}

const fn should(key: &'static str, holds: Holds, doc: Text) -> Field {
    Field { key, holds, need: Need::Should, doc }
}

pub(crate) const fn may(key: &'static str, holds: Holds, doc: Text) -> Field {
    Field { key, holds, need: Need::May, doc }
}

pub const LAYERS: &[&str] = &["analyse", "model", "system", "deployment", "synthesis"];
pub const LANGS: &[&str] = &["zh", "en"];
pub const FORMS: &[&str] = &["number", "choice", "multi", "order", "sketch"];
pub const VERDICTS: &[&str] = &["true", "assumptions", "unsupported", "false"];

/// The top of the file.
pub const CHAPTER: &[Field] = &[
    must("schema", Holds::Version, Text::new("格式版本，写在第一行：1", "Format version, on the first line: 1")),
    should("title", Holds::Localized, Text::new("章名", "Name of the chapter")),
    may("subtitle", Holds::Localized, Text::new("一句话的谜题", "The puzzle in one line")),
    may("outcome", Holds::Localized, Text::new("读完能做什么", "What the reader can do afterwards")),
    may("layer", Holds::Choice(LAYERS), Text::new("目录里的分组", "Group in the curriculum")),
    may("minutes", Holds::Minutes, Text::new("大约需要几分钟", "About how long it takes, in minutes")),
    may(
        "lang",
        Holds::Choice(LANGS),
        Text::new(
            "单语章节的语言；写了它，文字就可以直接写字符串",
            "Language of a one-language chapter: texts may then be plain strings",
        ),
    ),
];

/// Fields of every step.
pub const STEP: &[Field] = &[
    must(
        "id",
        Holds::Id,
        Text::new("本章内唯一且不再改动的名字", "Unique in the chapter, and kept for good: progress hangs on it"),
    ),
    must("kind", Holds::Plain, Text::new("步骤的种类", "Kind of step")),
    should("title", Holds::Localized, Text::new("步骤标题", "Title of the step")),
];

const PROSE: &[Field] = &[must(
    "text",
    Holds::Localized,
    Text::new("Markdown 正文，每步不超过约 300 个汉字", "Markdown, at most about 180 words a step"),
)];

/// A question to a model.
pub const MODEL_REF: &[Field] = &[
    must("model", Holds::Plain, Text::new("模型的 id", "Id of the model")),
    may(
        "set",
        Holds::Params,
        Text::new(
            "模型的参数；\"$name\" 取符号或抽取的值",
            "The model's parameters; \"$name\" takes a symbol or a redrawn value",
        ),
    ),
    must("take", Holds::Plain, Text::new("取答案中的哪一项", "Which field of the answer")),
];

const SLIDER: &[Field] = &[
    must("min", Holds::Number, Text::new("最小值", "Least value")),
    must("max", Holds::Number, Text::new("最大值", "Greatest value")),
    must("step", Holds::Number, Text::new("步长", "Distance of two values")),
    must("start", Holds::Number, Text::new("初值", "Value at the start")),
];

/// One symbol of an equation: exactly one of `constant`, `slider` and `from`.
pub const SYMBOL: &[Field] = &[
    must("name", Holds::Plain, Text::new("公式里的名字", "Name in the formula")),
    may("shown", Holds::Plain, Text::new("显示成什么", "How it is printed")),
    must("unit", Holds::Plain, Text::new("单位；无量纲写 \"1\"", "Unit; \"1\" if dimensionless")),
    must("means", Holds::Localized, Text::new("它代表什么", "What it stands for")),
    may("constant", Holds::Number, Text::new("常数", "A constant")),
    may("slider", Holds::Table(SLIDER), Text::new("读者可拖动的值", "A value that the reader sets")),
    may("from", Holds::Table(MODEL_REF), Text::new("由模型算出", "Computed by a model")),
];

const EQUATION: &[Field] = &[
    must("result", Holds::Plain, Text::new("等号左边的名字", "Name of the left side")),
    must("unit", Holds::Plain, Text::new("结果的单位；无量纲写 \"1\"", "Unit of the result; \"1\" if dimensionless")),
    must("value", Holds::Plain, Text::new("公式", "The formula")),
    must("symbol", Holds::Tables(SYMBOL), Text::new("公式里的每个符号", "Every symbol of the formula")),
    must("text", Holds::Localized, Text::new("公式下的说明", "What to see in it")),
];

pub(crate) const ALT: Field = should(
    "alt",
    Holds::Localized,
    Text::new("给读屏软件和文字版的描述", "The figure in words, for screen readers and the text version"),
);

const VISUALIZER: &[Field] = &[
    must("show", Holds::Plain, Text::new("可视化的 id", "Id of the visualizer")),
    may("params", Holds::Params, Text::new("它的参数", "Its parameters")),
    must("text", Holds::Localized, Text::new("一句话：试什么，看什么", "One sentence: what to try, what to look for")),
    ALT,
];

const RUN: &[Field] = &[
    must("run", Holds::Plain, Text::new("实验：内核目录/名字", "The experiment: KERNEL/NAME")),
    may(
        "name",
        Holds::Localized,
        Text::new("同一张卡片里有几个实验时，它叫什么", "What it is called where a card holds several"),
    ),
    may("set", Holds::Params, Text::new("本章固定的参数", "Parameters that the chapter sets")),
    must("text", Holds::Localized, Text::new("运行前的说明", "What is about to be measured")),
    should(
        "explain",
        Holds::Localized,
        Text::new("预测与实测一致时说什么", "What it means when prediction and measurement agree"),
    ),
    ALT,
];

const EXPERIMENT: &[Field] =
    &[may("also", Holds::Tables(RUN), Text::new("同一张卡片里的其他实验", "Further experiments in the same card"))];

/// One option of a choice.
pub const OPTION: &[Field] = &[
    must("text", Holds::Localized, Text::new("选项", "The option")),
    may("right", Holds::Flag, Text::new("正确的写 true", "true for a right one")),
    should(
        "why",
        Holds::Localized,
        Text::new(
            "错项为何诱人、什么观察能驳倒它；对项为何成立",
            "Why it tempts and what refutes it; for a right one, why it holds",
        ),
    ),
];

/// `{ model, set, take }`, or `{ value, source }` where no model can compute it. Both: they must agree.
pub const ANSWER: &[Field] = &[
    may("model", Holds::Plain, Text::new("模型的 id", "Id of the model")),
    may("set", Holds::Params, Text::new("模型的参数", "The model's parameters")),
    may("take", Holds::Plain, Text::new("取答案中的哪一项", "Which field of the answer")),
    may(
        "value",
        Holds::Number,
        Text::new("直接写的值，只在没有模型能算时用", "A typed value, only where no model computes it"),
    ),
    may("source", Holds::Plain, Text::new("这个值的出处", "Where the typed value comes from")),
];

/// The fields of a question; which are needed depends on `form`.
pub const QUESTION: &[Field] = &[
    must("ask", Holds::Localized, Text::new("问题", "The question")),
    may(
        "form",
        Holds::Choice(FORMS),
        Text::new(
            "题型；不写则由 answer、option 或 items 推出；sketch 只用于 predict",
            "Form of the answer; else inferred from `answer`, `option` or `items`; `sketch` in predict steps only",
        ),
    ),
    may("answer", Holds::Table(ANSWER), Text::new("数值答案，由模型计算", "The number, computed by a model")),
    may(
        "unit",
        Holds::Plain,
        Text::new(
            "数值的单位；无量纲写 \"1\"；写 \"%\" 时值仍是比值",
            "Unit of the number; \"1\" if dimensionless; with \"%\" values stay ratios",
        ),
    ),
    may(
        "tolerance",
        Holds::Number,
        Text::new("相对容差，0 表示必须精确", "Relative tolerance; 0 asks for the exact value"),
    ),
    may(
        "min",
        Holds::Number,
        Text::new("标尺左端；画曲线时是纵轴下端", "Left end of the ruler; lower end of a sketch's y axis"),
    ),
    may(
        "max",
        Holds::Number,
        Text::new("标尺右端；画曲线时是纵轴上端", "Right end of the ruler; upper end of a sketch's y axis"),
    ),
    may("option", Holds::Tables(OPTION), Text::new("选项", "The options")),
    may("items", Holds::LocalizedList, Text::new("按正确顺序写的条目", "Items in the right order")),
    should("explain", Holds::Localized, Text::new("作答后显示的解释", "Shown after answering, with the working")),
    may(
        "hints",
        Holds::LocalizedList,
        Text::new("三级提示：反问、事实、第一步", "Three hints: a question back, the fact, the first line"),
    ),
    may("redraw", Holds::Redraw, Text::new("复习时重抽的参数", "Parameters drawn anew at each review")),
];

const PREDICT: &[Field] = &[
    may("revealed_by", Holds::Id, Text::new("揭晓答案的步骤", "Id of the step that reveals the truth")),
    may(
        "at",
        Holds::Number,
        Text::new("预测画在图上的横坐标", "Where on the x axis of that step's chart the prediction is drawn"),
    ),
    may(
        "run",
        Holds::Plain,
        Text::new(
            "画曲线：揭晓卡片里的哪个实验；不写取第一个",
            "For a sketch: which experiment of the revealing card; else its first",
        ),
    ),
    may(
        "series",
        Holds::Plain,
        Text::new(
            "画曲线：那个实验的哪条曲线；不写取第一条",
            "For a sketch: which series of that experiment; else its first",
        ),
    ),
];

/// The kinds of steps.
pub const KINDS: &[Kind] = &[
    Kind { id: "prose", fields: &[STEP, PROSE], doc: Text::new("正文", "Markdown text") },
    Kind {
        id: "equation",
        fields: &[STEP, EQUATION],
        doc: Text::new("带实时数值的公式", "A formula with live values"),
    },
    Kind { id: "visualizer", fields: &[STEP, VISUALIZER], doc: Text::new("可交互的图", "An interactive figure") },
    Kind {
        id: "predict",
        fields: &[STEP, QUESTION, PREDICT],
        doc: Text::new("揭晓前的预测，不计分", "A question before anything is revealed; not graded"),
    },
    Kind {
        id: "experiment",
        fields: &[STEP, RUN, EXPERIMENT],
        doc: Text::new("实验", "An experiment, live or replayed"),
    },
    Kind {
        id: "figure",
        fields: &[STEP, crate::figure::fields::FIGURE],
        doc: Text::new("作者自己的图", "A figure of the author's own"),
    },
    Kind { id: "check", fields: &[STEP, QUESTION], doc: Text::new("检查题", "A check question") },
];

/// `[[audit]]`: a published claim to judge.
pub const AUDIT: &[Field] = &[
    must("id", Holds::Id, Text::new("本章内唯一的名字", "Unique in the chapter")),
    must("claim", Holds::Localized, Text::new("用自己的话复述的说法", "The claim, restated in our words")),
    must("source", Holds::Localized, Text::new("哪一类来源这样说", "What kind of source made it")),
    must("verdict", Holds::Choice(VERDICTS), Text::new("判断", "What it is")),
    should("why", Holds::Localized, Text::new("理由", "Why")),
    may("test", Holds::Id, Text::new("可以检验它的步骤", "The step where it can be tested")),
];

/// `[[review]]`: a question for the review deck.
pub const REVIEW: &[&[Field]] =
    &[&[must("id", Holds::Id, Text::new("本章内唯一的名字", "Unique in the chapter"))], QUESTION];
