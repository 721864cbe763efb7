//! The playground's words.

use super::desk::{Desk, MOST_TEXT};
use vramlab_gpu::exercise::{Goal, Judged};
use vramlab_gpu::play::PlayError;
use vramlab_simt::{Act, Space};
use vramlab_trace::OracleOutcome;
use vramlab_units::show::{bytes_binary, grouped, number};
use vramlab_units::{Bytes, Lang, Map, Text};

pub const CHECK: Text = Text::new("检查", "Check");
pub const RESET: Text = Text::new("恢复原样", "Reset");
pub const HINT: Text = Text::new("提示", "Hint");
pub const SOLUTION: Text = Text::new("看解答", "Show the solution");
pub const BACK: Text = Text::new("回到我的", "Back to mine");
pub const TAKE_BACK: Text = Text::new("拿回上一份", "Take the last text back");
pub const FIND: Text = Text::new("查找", "Find");
pub const NEXT: Text = Text::new("下一处", "Next");
pub const PREVIOUS: Text = Text::new("上一处", "Previous");
pub const CLOSE: Text = Text::new("关掉", "Close");
pub const COMPILE: Text = Text::new("编译", "Compile");
pub const RUN: Text = Text::new("在 GPU 上运行", "Run on the GPU");
pub const STOP: Text = Text::new("停下", "Stop");
pub const OPENING: Text = Text::new("正在打开 GPU……", "Opening the GPU …");
pub const RUNNING: Text = Text::new("{} 正在编译、运行……", "{} compiles and runs …");
pub const ABSENT: Text = Text::new(
    "这里没有 GPU（{}）：目标照样判，靠处理器逐个算地址；寄存器、计数器和时间要有 GPU 才知道。",
    "There is no GPU here ({}). Goals are judged all the same, by addresses worked out on the processor; registers, counters and \
     times need a GPU.",
);
pub const NO_RUN: Text = Text::new(
    "这里没有 GPU（{}）：目标照样判，靠处理器逐个算地址；编译器在的话，编译照样行；运行、计数器和时间要有 GPU。",
    "There is no GPU here ({}). Goals are judged all the same, by addresses worked out on the processor, and the code compiles where \
     the compiler is installed; to run it, and for counters and times, it takes a GPU.",
);
pub const COMPILING: Text = Text::new("正在编译……", "Compiling …");
pub const COMPILED: Text = Text::new(
    "编译器怎么说（为 {} 编译，没有运行；占用率由模型算）",
    "By the compiler, for {}; it did not run, and occupancy is the model's",
);
pub const COMPILER: Text = Text::new("编译器怎么说", "By the compiler");
pub const ON_DEVICE: Text = Text::new("{} 上", "On the {}");
pub const ON_GPU: Text = Text::new("GPU 上", "On the GPU");
pub const DEVICE_STALE: Text =
    Text::new("代码改过了，下面说的还是原来那份。", "The code has changed; what follows is about the text before.");
pub const TIME: Text =
    Text::new("一次 {} µs（L2 是热的；时间不算目标）", "{} µs a launch, with a warm L2; time is no goal");
pub const NO_COUNTERS: Text = Text::new(
    "没有读到硬件计数器：{}。目标仍按地址判。",
    "No hardware counters: {}. The goals stay judged by addresses.",
);
pub const PTX: Text = Text::new("看 PTX", "Show the PTX");
pub const COPY_PTX: Text = Text::new("复制 PTX", "Copy the PTX");
pub const CHECKING: Text = Text::new("正在检查……", "Checking …");
pub const CODE: Text = Text::new("kernel 的代码", "The kernel's code");
pub const LOADING: Text = Text::new("正在取题目……", "Fetching the exercise …");
pub const STALE: Text = Text::new("代码改过了，再检查一次。", "The code has changed: check it again.");
pub const UNTRIED: Text = Text::new(
    "还没有检查。检查时在处理器上逐个 warp 演算，数的是地址，不是时间。",
    "Not checked yet. A check plays the kernel on the processor, warp by warp: it counts addresses, not time.",
);
/// A kernel that a routine on the host launches; `{}` is its name.
pub const HOSTED: Text = Text::new(
    "只能看：这份代码由主机上的一段程序（{}）分配内存、启动、计时，单独改它、跑它没有意义。",
    "Read only: a routine on the host ({}) allocates for this code, launches it and times it; alone it measures nothing.",
);
pub const NO_SOURCE: Text = Text::new(
    "没有代码可看：这里量的是主机上的一段程序（{}），它分配、释放，不启动自己的 kernel。",
    "No code to show: what is measured is a routine on the host ({}), which allocates and frees and launches no kernel of its own.",
);
pub const TOO_LARGE: Text = Text::new(
    "参数取到最小，处理器也算不完：它要在 GPU 上运行。代码可以看，可以改，可以编译。",
    "Even its smallest size is too much for the processor: it runs on a GPU. The code can be read, changed and compiled.",
);
pub const RIGHT: Text = Text::new("结果", "results");
pub const ACCESSES: Text = Text::new("每一行怎样碰内存", "What each line does to memory");
pub const HEADER: [Text; 5] = [
    Text::new("行", "line"),
    Text::new("做什么", "what"),
    Text::new("请求", "requests"),
    Text::new("每次搬", "moved each"),
    Text::new("最少", "least"),
];

pub fn act(space: Space, act: Act) -> Text {
    match (space, act) {
        (Space::Shared, Act::Load) => Text::new("读共享内存", "load, shared"),
        (Space::Shared, Act::Store) => Text::new("写共享内存", "store, shared"),
        (Space::Shared, Act::Atomic) => Text::new("原子，共享内存", "atomic, shared"),
        (_, Act::Load) => Text::new("读显存", "load, global"),
        (_, Act::Store) => Text::new("写显存", "store, global"),
        (_, Act::Atomic) => Text::new("原子，显存", "atomic, global"),
    }
}

/// What `moved` counts in a memory.
pub fn unit(space: Space) -> Text {
    if space == Space::Shared { Text::new("wavefront", "wavefronts") } else { Text::new("扇区", "sectors") }
}

/// What keeps further blocks out, as the model `occupancy` names it.
pub fn limiter(limiter: &str, lang: Lang) -> String {
    let name = |part: &str| {
        let text = match part {
            "warps" => Text::new("warp 数", "warps"),
            "registers" => Text::new("寄存器", "registers"),
            "shared" => Text::new("共享内存", "shared memory"),
            "blocks" => Text::new("block 数", "blocks"),
            _ => return "–".to_owned(),
        };
        text.get(lang).to_owned()
    };
    let comma = if lang == Lang::Zh { "、" } else { ", " };
    limiter.split('+').map(name).collect::<Vec<_>>().join(comma)
}

pub fn line(line: u32, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("第 {line} 行"),
        Lang::En => format!("line {line}"),
    }
}

pub fn go_to(number: u32, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("去第 {number} 行"),
        Lang::En => format!("Go to line {number}"),
    }
}

/// A text that was too long.
pub fn refused(bytes: usize, lang: Lang) -> String {
    let [bytes, most] = [bytes, MOST_TEXT].map(|bytes| bytes_binary(Bytes(bytes as u64)));
    match lang {
        Lang::Zh => format!("有 {bytes}，编辑器最多收 {most}。没有粘贴，原来的代码没有动。"),
        Lang::En => {
            format!("That is {bytes}; the editor takes {most} at most. Nothing was pasted, and the code is as it was.")
        }
    }
}

/// What the device's counters say of a goal.
pub fn counted(judged: &Judged, lang: Lang) -> String {
    let shown = number(judged.found);
    match lang {
        Lang::Zh => format!("计数器说 {shown}"),
        Lang::En => format!("{shown} by the counters"),
    }
}

/// The sizes at which a kernel was played.
pub fn played_with(params: &Map, lang: Lang) -> String {
    let comma = if lang == Lang::Zh { "，" } else { ", " };
    let value = |value: &vramlab_units::Value| value.as_f64().map_or_else(|| value.to_string(), grouped_or_short);
    let all: Vec<String> = params.iter().map(|(key, held)| format!("{key} = {}", value(held))).collect();
    Text::new("这次演算的参数：", "Played with ").get(lang).to_owned() + &all.join(comma)
}

fn grouped_or_short(value: f64) -> String {
    if value.fract() == 0.0 { grouped(value) } else { number(value) }
}

/// A goal as it is asked for.
pub fn goal(goal: &Goal, lang: Lang) -> String {
    let name = goal.metric.name().get(lang);
    // A Latin word keeps off what stands before and after it.
    let latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let before = if latin(name.chars().next()) { " " } else { "" };
    let after = if latin(name.chars().last()) { " " } else { "" };
    let shown = grouped_or_short;
    match (goal.at_most, goal.at_least, lang) {
        (Some(0.0), None, Lang::Zh) => format!("没有{before}{name}"),
        (Some(0.0), None, Lang::En) => format!("no {name}"),
        (Some(most), _, Lang::Zh) => format!("{name}{after}至多 {}", shown(most)),
        (Some(most), _, Lang::En) => format!("at most {} {name}", shown(most)),
        (_, Some(least), Lang::Zh) => format!("{name}{after}至少 {}", shown(least)),
        (_, Some(least), Lang::En) => format!("at least {} {name}", shown(least)),
        (None, None, _) => name.to_owned(),
    }
}

pub fn found(judged: &Judged, lang: Lang) -> String {
    let shown = grouped_or_short(judged.found);
    match lang {
        Lang::Zh => format!("现在是 {shown}"),
        Lang::En => format!("now {shown}"),
    }
}

/// Whether the results are right.
pub fn oracle(outcome: &OracleOutcome, lang: Lang) -> String {
    match (outcome, lang) {
        (OracleOutcome::Passed { n_checked, .. }, Lang::Zh) => format!("{} 个都对", grouped(*n_checked as f64)),
        (OracleOutcome::Passed { n_checked, .. }, Lang::En) => format!("all {} are right", grouped(*n_checked as f64)),
        (OracleOutcome::Failed { first_wrong_idx, expected, found, n_wrong }, Lang::Zh) => format!(
            "{} 个不对；第一个是第 {first_wrong_idx} 个，应是 {}，却是 {}",
            grouped(*n_wrong as f64),
            number(*expected),
            number(*found)
        ),
        (OracleOutcome::Failed { first_wrong_idx, expected, found, n_wrong }, Lang::En) => format!(
            "{} are wrong; the first is number {first_wrong_idx}, which should be {} and is {}",
            grouped(*n_wrong as f64),
            number(*expected),
            number(*found)
        ),
    }
}

/// Two lines that race, in words.
pub fn race(first: u32, second: u32, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("第 {first} 行和第 {second} 行碰同一个字，中间没有 barrier"),
        Lang::En => format!("lines {first} and {second} touch the same word, with no barrier between"),
    }
}

pub fn unwritten(line: u32, lang: Lang) -> String {
    match lang {
        Lang::Zh => format!("第 {line} 行读了还没有人写过的共享内存"),
        Lang::En => format!("line {line} reads shared memory that nobody has written"),
    }
}

/// The state in one sentence.
pub fn finding(desk: &Desk, lang: Lang) -> String {
    if let Some(host) = desk.host() {
        let said = if desk.source.is_empty() { NO_SOURCE } else { HOSTED };
        return said.get(lang).replace("{}", &host.routine);
    }
    match &desk.outcome {
        _ if desk.is_checking || desk.wants_check => CHECKING.get(lang).to_owned(),
        None => UNTRIED.get(lang).to_owned(),
        Some(_) if desk.is_stale() => STALE.get(lang).to_owned(),
        Some(Err(PlayError::Source(fault))) => match lang {
            Lang::Zh => format!("第 {} 行：{}", fault.at.line, fault.said.get(lang)),
            Lang::En => {
                let said = fault.said.get(lang);
                let stop = if said.ends_with('?') { "" } else { "." };
                format!("Line {}: {said}{stop}", fault.at.line)
            }
        },
        Some(Err(PlayError::TooLarge)) => TOO_LARGE.get(lang).to_owned(),
        Some(Err(error)) => error.to_string(),
        Some(Ok(tried)) if desk.exercise.is_none() && tried.is_right() => {
            let said = "The results are right. The table says what each line does to memory.";
            Text::new("结果对。表里是每一行怎样碰内存。", said).get(lang).to_owned()
        }
        Some(Ok(tried)) if tried.is_solved() => {
            Text::new("结果对，目标都达到了。", "The results are right and every goal is met.").get(lang).to_owned()
        }
        Some(Ok(tried)) if !tried.is_right() => {
            Text::new("结果不对，或者顺序没有保证。", "The results are wrong, or their order is not certain.")
                .get(lang)
                .to_owned()
        }
        Some(Ok(tried)) => {
            let left = tried.goals.iter().filter(|goal| !goal.is_met).count();
            match lang {
                Lang::Zh => format!("结果对，还有 {left} 个目标没达到。"),
                Lang::En if left == 1 => "The results are right; one goal is not met.".to_owned(),
                Lang::En => format!("The results are right; {left} goals are not met."),
            }
        }
    }
}
