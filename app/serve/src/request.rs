//! A request, and streams of them from text.
//!
//! One request a line: arrival, prompt tokens, output tokens and, if wanted, a priority (lower goes first), separated by
//! commas, colons or blanks; `#` begins a comment. A header names the columns in any order; the columns of the public Azure
//! inference traces (`TIMESTAMP,ContextTokens,GeneratedTokens`) are known, their clock times count from the first line.

use crate::Problem;

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
}

impl Request {
    pub fn new(arrival: f64, prompt: u32, output: u32) -> Self {
        Self { arrival, prompt, output, priority: 0 }
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
            "contexttokens" | "prompt" | "prompttokens" | "inputtokens" | "requesttokens" | "promptlen" => Self::Prompt,
            "generatedtokens" | "output" | "outputtokens" | "responsetokens" | "outputlen" => Self::Output,
            "priority" => Self::Priority,
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
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let cells = cells(line);
        if std::mem::take(&mut is_first) && cells.first().is_some_and(|cell| cell.starts_with(char::is_alphabetic)) {
            columns = header(&cells).map_err(|problem| problem.at(idx + 1))?;
            continue;
        }
        if requests.len() == MAX_REQUESTS {
            let en = format!("more than {MAX_REQUESTS} requests");
            return Err(Problem::new("requests", format!("请求超过 {MAX_REQUESTS} 个"), en).at(idx + 1));
        }
        let request = request(&cells, &columns, &mut start).map_err(|problem| problem.at(idx + 1))?;
        requests.push(request);
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

fn request(cells: &[&str], columns: &[Column], start: &mut Option<f64>) -> Result<Request, Problem> {
    let cell = |column: Column| {
        columns
            .iter()
            .position(|known| *known == column)
            .and_then(|at| cells.get(at))
            .copied()
            .filter(|c| !c.is_empty())
    };
    if cells.len() > columns.len() {
        let (n, most) = (cells.len(), columns.len());
        let en = format!("{n} values, but only {most} columns");
        return Err(Problem::new("requests", format!("有 {n} 个值，却只有 {most} 列"), en));
    }
    let arrival = arrival(cell(Column::Arrival).unwrap_or_default(), start)?;
    let tokens = |column, name| whole(cell(column).unwrap_or_default(), name, 1, MAX_TOKENS.into());
    let priority = match cell(Column::Priority) {
        Some(text) => whole(text, "priority", i32::MIN.into(), i32::MAX.into())? as i32,
        None => 0,
    };
    let (prompt, output) = (tokens(Column::Prompt, "prompt")?, tokens(Column::Output, "output")?);
    Ok(Request { arrival, prompt: prompt as u32, output: output as u32, priority })
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
