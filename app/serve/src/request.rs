//! A request, and streams of them from text.
//!
//! One request a line: arrival, prompt tokens, output tokens and, if wanted, a priority (lower goes first), separated by
//! commas, colons or blanks; `#` begins a comment. Behind them `name=value` may stand: `shared=64`, `group=2`. A header names
//! the columns in any order; the columns of the public Azure inference traces (`TIMESTAMP,ContextTokens,GeneratedTokens`) are
//! known, their clock times count from the first line. Lines of JSON (`{"arrival": 0, "prompt": 64, "output": 8}`) use the
//! same names.

use crate::Problem;
use serde_json::{Map, Value};

/// Longest stream that is read.
pub const MAX_REQUESTS: usize = 1_000_000;
/// Most tokens of a prompt or an output.
pub const MAX_TOKENS: u32 = 1 << 24;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// In the clock of the run: steps or seconds.
    pub arrival: f64,
    pub prompt: u32,
    pub output: u32,
    /// Lower goes first where the policy asks for it.
    pub priority: i32,
    /// Whose beginning it shares; 0 is nobody's.
    pub group: u32,
    /// Tokens at the start of the prompt that are those of its group.
    pub shared: u32,
}

impl Request {
    pub fn new(arrival: f64, prompt: u32, output: u32) -> Self {
        Self { arrival, prompt, output, priority: 0, group: 0, shared: 0 }
    }

    /// Tokens whose keys and values are kept at the end: the last token is never read again.
    pub fn kv_tokens(&self) -> u32 {
        self.prompt + self.output - 1
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Arrival,
    Prompt,
    Output,
    Priority,
    Group,
    Shared,
    Other,
}

const PLAIN: [Column; 4] = [Column::Arrival, Column::Prompt, Column::Output, Column::Priority];

impl Column {
    fn named(name: &str) -> Self {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        match name.as_str() {
            "timestamp" | "arrival" | "arrivals" | "arrivaltime" | "arrivalstep" | "time" | "timestamps" => {
                Self::Arrival
            }
            "contexttokens" | "prompt" | "prompttokens" | "inputtokens" | "requesttokens" | "promptlen"
            | "inputlength" => Self::Prompt,
            "generatedtokens" | "output" | "outputtokens" | "responsetokens" | "outputlen" | "outputlength" => {
                Self::Output
            }
            "priority" => Self::Priority,
            "group" | "session" | "tenant" => Self::Group,
            "shared" | "prefix" | "sharedtokens" | "prefixlen" => Self::Shared,
            _ => Self::Other,
        }
    }
}

/// Reads a stream. Every problem names its line.
pub fn read(text: &str) -> Result<Vec<Request>, Problem> {
    let mut columns: Vec<Column> = PLAIN.to_vec();
    let (mut is_first, mut start) = (true, None);
    let mut requests = Vec::new();
    for (idx, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let is_json = line.trim_start().starts_with(['{', '[']);
        let line = if is_json { line.trim() } else { line.split('#').next().unwrap_or_default().trim() };
        if line.is_empty() {
            continue;
        }
        if requests.len() == MAX_REQUESTS {
            let en = format!("more than {MAX_REQUESTS} requests");
            return Err(Problem::new("requests", format!("请求超过 {MAX_REQUESTS} 个"), en).at(idx + 1));
        }
        if is_json {
            let read = object(line).and_then(|row| request(&row, &mut start));
            requests.push(read.map_err(|problem| problem.at(idx + 1))?);
            is_first = false;
            continue;
        }
        let cells = cells(line);
        if std::mem::take(&mut is_first) && cells.first().is_some_and(|cell| cell.starts_with(char::is_alphabetic)) {
            columns = header(&cells).map_err(|problem| problem.at(idx + 1))?;
            continue;
        }
        let read = row(&cells, &columns).and_then(|row| request(&row, &mut start));
        requests.push(read.map_err(|problem| problem.at(idx + 1))?);
    }
    if requests.is_empty() {
        return Err(Problem::new("requests", "一个请求也没有", "there is no request"));
    }
    Ok(requests)
}

/// Commas separate where there are any, so that a clock time keeps its blank.
fn cells(line: &str) -> Vec<&str> {
    if line.contains(',') {
        return line.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
    }
    line.split(|c: char| c == ':' || c.is_whitespace()).filter(|cell| !cell.is_empty()).collect()
}

fn header(cells: &[&str]) -> Result<Vec<Column>, Problem> {
    let columns: Vec<Column> = cells.iter().map(|name| Column::named(name)).collect();
    for (column, name) in [(Column::Arrival, "arrival"), (Column::Prompt, "prompt"), (Column::Output, "output")] {
        if columns.iter().filter(|known| **known == column).count() != 1 {
            let en = format!("the header needs one column \"{name}\"; it has {}", shown(&cells.join(", ")));
            let zh = format!("表头要有一列 “{name}”，这里是 {}", shown(&cells.join(", ")));
            return Err(Problem::new("requests", zh, en));
        }
    }
    Ok(columns)
}

/// What a line says: a value for each column that it has.
type Line = Vec<(Column, String)>;

/// Cells in the order of the columns, then `name=value`.
fn row(cells: &[&str], columns: &[Column]) -> Result<Line, Problem> {
    let n_plain = cells.iter().position(|cell| cell.contains('=')).unwrap_or(cells.len());
    if n_plain > columns.len() {
        let most = columns.len();
        let en = format!("{n_plain} values, but only {most} columns");
        return Err(Problem::new("requests", format!("有 {n_plain} 个值，却只有 {most} 列"), en));
    }
    let plain = columns.iter().copied().zip(cells[..n_plain].iter().map(|cell| (*cell).to_owned()));
    let mut line: Line = plain.filter(|(_, cell)| !cell.is_empty()).collect();
    for cell in &cells[n_plain..] {
        let (name, value) = cell.split_once('=').unwrap_or((cell, ""));
        let column = Column::named(name);
        if column == Column::Other || line.iter().any(|(known, _)| *known == column) {
            let seen = shown(cell);
            let en = format!("{seen}: expected priority=, group= or shared=, once each");
            return Err(Problem::new("requests", format!("{seen}：应是 priority=、group= 或 shared=，各一次"), en));
        }
        line.push((column, value.trim().to_owned()));
    }
    Ok(line)
}

/// A line of JSON.
fn object(line: &str) -> Result<Line, Problem> {
    let object = serde_json::from_str::<Map<String, Value>>(line).map_err(|error| {
        let en = format!("is no JSON object on one line: {error}");
        Problem::new("requests", format!("不是写在一行里的 JSON 对象：{error}"), en)
    })?;
    let mut line: Line = Vec::new();
    for (name, value) in &object {
        let column = Column::named(name);
        let is_known = column != Column::Other && line.iter().all(|(known, _)| *known != column);
        if is_known && !value.is_null() {
            line.push((column, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        }
    }
    Ok(line)
}

fn request(line: &Line, start: &mut Option<f64>) -> Result<Request, Problem> {
    let cell = |column| line.iter().find(|(known, _)| *known == column).map(|(_, cell)| cell.as_str());
    let arrival = arrival(cell(Column::Arrival).unwrap_or_default(), start)?;
    let tokens = |column, name| whole(cell(column).unwrap_or_default(), name, 1, MAX_TOKENS.into());
    let or = |column, name, least: i64, most: i64, default: i64| {
        cell(column).map_or(Ok(default), |text| whole(text, name, least, most))
    };
    let (prompt, output) = (tokens(Column::Prompt, "prompt")? as u32, tokens(Column::Output, "output")? as u32);
    let priority = or(Column::Priority, "priority", i32::MIN.into(), i32::MAX.into(), 0)? as i32;
    let group = or(Column::Group, "group", 0, i32::MAX.into(), 0)? as u32;
    // A group alone means that the whole prompt is the same; shared tokens alone mean one group for all.
    let shared = or(Column::Shared, "shared", 0, prompt.into(), if group > 0 { prompt.into() } else { 0 })? as u32;
    Ok(Request { arrival, prompt, output, priority, group: if shared > 0 { group.max(1) } else { 0 }, shared })
}

/// A whole number in its range.
fn whole(text: &str, name: &str, least: i64, most: i64) -> Result<i64, Problem> {
    let number = text.parse::<i64>().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| {
        let seen = shown(text);
        let en = format!("{name} = {seen} must be an integer from {least} to {most}");
        Problem::new("requests", format!("{name} = {seen}，应是 {least} 到 {most} 的整数"), en)
    })
}

/// A number, or a clock time in seconds since the first line's.
fn arrival(text: &str, start: &mut Option<f64>) -> Result<f64, Problem> {
    let since = |at: f64| at - *start.get_or_insert(at);
    let time = text.parse::<f64>().ok().or_else(|| clock(text).map(since));
    time.filter(|time| (0.0..=1e9).contains(time)).ok_or_else(|| {
        let seen = shown(text);
        let example = "2023-11-16 18:17:03.9";
        let en = format!("arrival = {seen} must be a number from 0 to 1e9 or a time such as {example}");
        Problem::new("requests", format!("arrival = {seen}，应是 0 到 1e9 的数，或 {example} 这样的时刻"), en)
    })
}

/// Seconds of `2023-11-16 18:17:03.9799600` since the year 0, in the calendar of today.
fn clock(text: &str) -> Option<f64> {
    let (date, time) = text.split_once([' ', 'T'])?;
    let time = time.trim_end_matches('Z').split('+').next()?;
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) || parts.next().is_some() {
        return None;
    }
    let mut parts = time.split(':').map(|part| part.parse::<f64>().ok().filter(|x| (0.0..=60.0).contains(x)));
    let seconds = parts.next()?? * 3600.0 + parts.next()?? * 60.0 + parts.next()??;
    // Days of the civil calendar, the year beginning in March so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    parts.next().is_none().then_some(days as f64 * 86_400.0 + seconds)
}

/// A piece of the reader's text, cut to what a message can hold.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(40).flat_map(char::escape_default).collect();
    if text.is_empty() { "(nothing)".to_owned() } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_as_people_write_them() {
        let expected = [Request::new(0.0, 100, 2), Request { priority: -1, ..Request::new(2.5, 4, 4) }];
        for text in [
            "0 100 2\n2.5 4 4 -1\n",
            "# a stream\n0:100:2  # the first\n\n2.5:4:4:-1",
            "\u{feff}arrival,prompt,output,priority\r\n0,100,2,\r\n2.5,4,4,-1\r\n",
            "priority, output_tokens, model, input_tokens, timestamp\n0,2,x,100,0\n-1,4,y,4,2.5",
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
    }

    /// Shared beginnings behind a line, in columns and in JSON; names of the public traces of Mooncake.
    #[test]
    fn shared_beginnings_and_json() {
        let one = Request { group: 2, shared: 64, ..Request::new(0.5, 100, 8) };
        for text in [
            "0.5 100 8 group=2 shared=64",
            "0.5:100:8:0:shared=64:group=2",
            "arrival,prompt,output,session,prefix\n0.5,100,8,2,64",
            "{\"arrival\": 0.5, \"prompt\": 100, \"output\": 8, \"group\": 2, \"shared\": 64, \"model\": \"a#b\"}\n",
            "{\"timestamp\": 0.5, \"input_length\": 100, \"output_length\": 8, \"session\": \"2\", \"prefix\": 64}",
        ] {
            assert_eq!(read(text).unwrap(), [one], "{text}");
        }
        let group = |text: &str| read(text).map(|all| (all[0].group, all[0].shared)).unwrap();
        assert_eq!(
            (group("0 9 1 group=3"), group("0 9 1 shared=4"), group("0 9 1 shared=0")),
            ((3, 9), (1, 4), (0, 0))
        );
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(message("0 9 1\n0 9 1 shared=10"), "line 2: shared = 10 must be an integer from 0 to 9");
        assert_eq!(
            message("{\"arrival\": 0, \"prompt\": 4}"),
            "line 1: output = (nothing) must be an integer from 1 to 16777216"
        );
        assert_eq!(
            message("{\"arrival\":0,\"prompt\":4.5,\"output\":1}"),
            "line 1: prompt = 4.5 must be an integer from 1 to 16777216"
        );
        assert!(message("0 9 1 shred=4").starts_with("line 1: shred=4: expected priority="));
        assert!(message("[{\"arrival\": 0}]").starts_with("line 1: is no JSON object on one line"));
        assert!(message("{\"arrival\": 0,\n").starts_with("line 1: is no JSON object"));
    }

    /// The columns of the public Azure traces, over midnight and a leap day.
    #[test]
    fn clock_times_count_from_the_first() {
        let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-29 23:59:59.5000000,4808,10\n2024-03-01 00:00:01.25,3180,8\n";
        let read = read(text).unwrap();
        assert_eq!(read, [Request::new(0.0, 4808, 10), Request::new(1.75, 3180, 8)]);
    }

    /// Soup of what streams are made of: read or refused, never a panic.
    #[test]
    fn anything_is_read_or_refused() {
        let words = [
            ":",
            ",",
            "#",
            "\n",
            " ",
            "0",
            "1",
            "-1",
            "9e9",
            "nan",
            "inf",
            "time",
            "prompt",
            "output",
            "2024-02-29",
            "24:61:61",
            "T",
            "Z",
            "\"",
            "\u{feff}",
            "\r",
            "４",
            "汉",
            "-",
            "2023-11-16 18:17:03",
            "00-00-00 0:0:0",
            "{",
            "}",
            "\"prompt\":",
            "shared=",
        ];
        let mut random = crate::Random::new(1);
        let mut n_read = 0;
        for _ in 0..20_000 {
            let n = random.word() % 12;
            let text: String = (0..n).map(|_| words[(random.word() % words.len() as u64) as usize]).collect();
            n_read += usize::from(read(&text).is_ok());
        }
        assert!(n_read > 10);
        for text in [":", ",", ",,,", "\"", ": :\n:"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(message("0 1 1\n0 0 1"), "line 2: prompt = 0 must be an integer from 1 to 16777216");
        assert_eq!(message("0 1 x"), "line 1: output = x must be an integer from 1 to 16777216");
        assert!(message("-1 1 1").starts_with("line 1: arrival = -1 must be a number from 0"));
        assert!(message("nan 1 1").contains("line 1") && message("1e99 1 1").contains("arrival"));
        assert!(message("time,prompt\n0,1").contains("needs one column \"output\""));
        assert!(message("0 1 1 0 9").contains("5 values, but only 4 columns"));
        assert_eq!(message(" \n# nothing"), "there is no request");
        assert!(message("2024-02-29 23:59:59,1,1\n2024-02-28 23:59:59,1,1").contains("line 2: arrival"));
        assert!(message(&format!("0 1 {}", "9".repeat(5000))).len() < 120);
    }
}
