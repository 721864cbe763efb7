//! The TOML of an author's figure, as field tables: one for the parser, the JSON Schema and the guide.

use super::ROLES;
use crate::fields::{ALT, Field, Holds, MODEL_REF, may, must};
use vramlab_units::Text;

/// The drawings, by the value of `draw`, each with the fields that are its own.
pub const DRAWINGS: &[(&str, &[&str])] = &[
    ("line", &["x", "y", "series"]),
    ("bar", &["y", "limit", "bar"]),
    ("bytes", &["square", "part"]),
    ("gantt", &["row"]),
    ("graph", &["node", "edge"]),
    ("table", &["column", "row", "rows"]),
];
const DRAW: &[&str] = &["line", "bar", "bytes", "gantt", "graph", "table"];
const SCALES: &[&str] = &["linear", "log2", "log10"];
const STYLES: &[&str] = &["solid", "dashed", "ceiling"];

const fn label(doc: Text) -> Field {
    may("label", Holds::Localized, doc)
}

const ROLE: Field = may(
    "role",
    Holds::Choice(ROLES),
    Text::new("它代表什么，颜色随之而定；不写就按次序", "What it stands for, which gives its colour; else by order"),
);
const VALUE_OF: Field =
    must("value", Holds::Plain, Text::new("名字，或由名字组成的公式", "A name, or a formula over names"));
const MAYBE_VALUE: Field =
    may("value", Holds::Plain, Text::new("名字，或由名字组成的公式", "A name, or a formula over names"));

const SLIDER: &[Field] = &[
    must("name", Holds::Plain, Text::new("公式里的名字", "Name in formulas")),
    must("means", Holds::Localized, Text::new("它代表什么", "What it stands for")),
    must(
        "unit",
        Holds::Plain,
        Text::new("单位；无量纲写 \"1\"，比值写 \"%\"", "Unit; \"1\" if dimensionless, \"%\" for a ratio"),
    ),
    must("min", Holds::Number, Text::new("最小值", "Least value")),
    must("max", Holds::Number, Text::new("最大值", "Greatest value")),
    must("step", Holds::Number, Text::new("步长", "Distance of two values")),
    must("start", Holds::Number, Text::new("初值", "Value at the start")),
    may("log", Holds::Flag, Text::new("true：按比例走", "true: equal ratios are equally long")),
];

/// Exactly one of `constant`, `formula` and `from`.
const VALUE: &[Field] = &[
    must("name", Holds::Plain, Text::new("公式里的名字", "Name in formulas")),
    must("means", Holds::Localized, Text::new("它代表什么", "What it stands for")),
    must(
        "unit",
        Holds::Plain,
        Text::new("单位；公式的单位必须与它相同", "Unit, which must be the one that the formula has"),
    ),
    may("formula", Holds::Plain, Text::new("用前面的名字写的公式", "A formula over the names before it")),
    may("from", Holds::Table(MODEL_REF), Text::new("由模型算出", "Computed by a model")),
    may("constant", Holds::Number, Text::new("常数", "A constant")),
];

const CASE: &[Field] = &[
    must("when", Holds::Plain, Text::new("条件：公式不为 0", "Condition: a formula that is not 0")),
    must("caption", Holds::Localized, Text::new("这时的结论", "The finding then")),
];

const X: &[Field] = &[
    must("sweep", Holds::Plain, Text::new("沿横轴走的滑块", "The slider that runs along x")),
    may("scale", Holds::Choice(SCALES), Text::new("刻度", "Scale")),
    may("min", Holds::Number, Text::new("左端；不写就是滑块的", "Left end; else the slider's")),
    may("max", Holds::Number, Text::new("右端；不写就是滑块的", "Right end; else the slider's")),
];

const Y: &[Field] = &[
    label(Text::new("纵轴的名字", "Name of the axis")),
    may("scale", Holds::Choice(SCALES), Text::new("刻度", "Scale")),
    may("min", Holds::Number, Text::new("下端", "Lower end")),
    may("max", Holds::Number, Text::new("上端", "Upper end")),
];

const SERIES: &[Field] = &[
    VALUE_OF,
    label(Text::new("线的名字；不写就是值的含义", "Name of the line; else what the value stands for")),
    ROLE,
    may(
        "style",
        Holds::Choice(STYLES),
        Text::new("实线、虚线，或天花板", "Solid, dashed, or a ceiling that nothing passes"),
    ),
];

const PART: &[Field] =
    &[VALUE_OF, label(Text::new("名字；不写就是值的含义", "Name; else what the value stands for")), ROLE];

const BAR: &[Field] = &[
    must("label", Holds::Localized, Text::new("柱下的名字", "Name under the bar")),
    MAYBE_VALUE,
    ROLE,
    may("parts", Holds::Tables(PART), Text::new("叠起来的各段，自下而上", "Parts stacked from the bottom up")),
];

const SPAN: &[Field] = &[
    must("start", Holds::Plain, Text::new("开始的时刻（公式）", "When it begins, a formula")),
    must("length", Holds::Plain, Text::new("多长（公式）", "How long it is, a formula")),
    label(Text::new("写在条上", "Written on the bar")),
    ROLE,
    may("times", Holds::Plain, Text::new("重复几次（公式）", "How often it comes, a formula")),
    may("every", Holds::Plain, Text::new("从一次开始到下一次开始（公式）", "From start to start, a formula")),
];

const ROW: &[Field] = &[
    must("label", Holds::Localized, Text::new("行名", "Name of the row")),
    may("spans", Holds::Tables(SPAN), Text::new("Gantt：这一行的区间", "Gantt: the intervals of the row")),
    may("cells", Holds::PlainList, Text::new("表：每列一个公式", "Table: a formula for each column")),
];

const NODE: &[Field] = &[
    must("id", Holds::Id, Text::new("边用它指称", "What edges call it")),
    must("label", Holds::Localized, Text::new("名字", "Name")),
    MAYBE_VALUE,
    ROLE,
    may("at", Holds::Numbers, Text::new("[列, 行]；不写就按边排", "[column, row]; else by the edges")),
];

const EDGE: &[Field] = &[
    must("from", Holds::Id, Text::new("从哪个节点", "From which node")),
    must("to", Holds::Id, Text::new("到哪个节点", "To which node")),
    label(Text::new("写在边上", "Written on the edge")),
    MAYBE_VALUE,
];

const COLUMN: &[Field] = &[must("label", Holds::Localized, Text::new("列名", "Name of the column")), MAYBE_VALUE];

const ROWS: &[Field] = &[
    must("sweep", Holds::Plain, Text::new("取遍下列值的滑块", "The slider that takes these values")),
    must("values", Holds::Numbers, Text::new("每行一个值", "One value a row")),
];

/// The fields of a step of kind `figure`.
pub const FIGURE: &[Field] = &[
    must("draw", Holds::Choice(DRAW), Text::new("画成什么", "What it is drawn as")),
    must("text", Holds::Localized, Text::new("一句话：试什么，看什么", "One sentence: what to try, what to look for")),
    ALT,
    must(
        "caption",
        Holds::Localized,
        Text::new("结论；$name 换成当前的值", "The finding; $name becomes the live value"),
    ),
    may("case", Holds::Tables(CASE), Text::new("某些状态下的结论", "Findings for particular states")),
    may("key", Holds::PlainList, Text::new("图下的关键数字", "Values shown as key numbers")),
    may("slider", Holds::Tables(SLIDER), Text::new("读者拖动的值", "What the reader sets")),
    may("value", Holds::Tables(VALUE), Text::new("由公式或模型算出的值", "What formulas and models compute")),
    may("x", Holds::Table(X), Text::new("line：横轴", "line: the x axis")),
    may("y", Holds::Table(Y), Text::new("line、bar：纵轴", "line, bar: the y axis")),
    may("series", Holds::Tables(SERIES), Text::new("line：每条线", "line: the lines")),
    may(
        "limit",
        Holds::Table(PART),
        Text::new("bar：一条横线，柱不该高过它", "bar: a line across that bars should not pass"),
    ),
    may("bar", Holds::Tables(BAR), Text::new("bar：每根柱", "bar: the bars")),
    may("square", Holds::Plain, Text::new("bytes：一格多少字节，如 \"64 MiB\"", "bytes: one square, as \"64 MiB\"")),
    may("part", Holds::Tables(PART), Text::new("bytes：每一段", "bytes: the parts")),
    may("row", Holds::Tables(ROW), Text::new("gantt、table：每一行", "gantt, table: the rows")),
    may("node", Holds::Tables(NODE), Text::new("graph：节点", "graph: the nodes")),
    may("edge", Holds::Tables(EDGE), Text::new("graph：边", "graph: the edges")),
    may("column", Holds::Tables(COLUMN), Text::new("table：每一列", "table: the columns")),
    may("rows", Holds::Table(ROWS), Text::new("table：让滑块取遍一列值", "table: a slider takes a list of values")),
];
