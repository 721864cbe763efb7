//! `tour`: a chapter in the terminal, step by step; experiments live where this machine can, replayed where not.

use super::drive::{Ask, Driver};
use super::fault::Fault;
use super::layout::{COLUMNS, plain, width};
use super::report::Report;
use super::say::{Ink, Say};
use super::{Exit, interrupt, prose};
use serde_json::{Value, json};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::rc::Rc;
use vramlab_lesson::answer::{Values, evaluate, is_close, value_of};
use vramlab_lesson::{Chapter, Equation, ExperimentStep, Form, Question, Registry as _, Step, StepBody};
use vramlab_shell::Library;
use vramlab_units::{Lang, Map, Text, show, typed};

#[derive(clap::Args)]
pub struct Args {
    /// The chapter; without it, chapter 02. `vramlab list chapters` prints them.
    chapter: Option<String>,
    /// Asks nothing and does not pause, even on a terminal.
    #[arg(long)]
    no_input: bool,
}

const NEXT: Text = Text::new("回车：下一步；q：结束", "Enter for the next step, q to leave");
const YOUR_GUESS: Text = Text::new("你猜：", "your guess: ");
const MODEL_SAYS: Text = Text::new("模型的答案：", "the model says ");
const GAP: Text = Text::new("你猜的是它的 {} 倍", "your guess is {} times that");
const HIT: Text = Text::new("猜对了", "that is right");
const RANGE: Text = Text::new("填一个数，{} 到 {} {}", "a number from {} to {} {}");
const MODEL: Text = Text::new("模型", "model");
const RIGHT: Text = Text::new("对", "right");
const DRAWN: Text = Text::new(
    "窗口里在空白的图上画出曲线；这里直接看下面的实验",
    "the window lets you draw the curve on the empty plot; here the experiment below shows it",
);
const ORDER: Text = Text::new("顺序：", "in this order: ");
const MORE: Text = Text::new(
    "窗口里还有 {a} 条待审的说法和 {r} 道复习题：vramlab --at '#/ch/{id}'",
    "the window adds {a} claims to audit and {r} review questions: vramlab --at '#/ch/{id}'",
);
const ASK_MODEL: Text = Text::new(
    "图在窗口和网页里可以拖动；在终端里，问它的模型：",
    "the figure moves in the window and on the web page; here, ask its model:",
);
const PLANNED: Text = Text::new("还没写的章：{}", "not written yet: chapters {}");
const NO_NUMBERS: Text = Text::new("这里没有数字可看：{}", "no numbers here: {}");

/// The chapter at hand and who walks it.
struct Tour<'a> {
    say: &'a Say,
    chapter: Rc<Chapter>,
    driver: Driver<'a>,
    asks: bool,
}

pub fn run(args: &Args, say: &Say) -> anyhow::Result<Exit> {
    let library = Library::built_in();
    let chapter = find(&library, args.chapter.as_deref().unwrap_or("02"))?;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let driver = Driver::new(&library, say);
    let mut tour = Tour { say, chapter, driver, asks: is_terminal && !args.no_input && !say.is_json };
    if say.is_json {
        say.json(&tour.json());
        return Ok(Exit::Fine);
    }
    tour.walk()
}

/// A chapter by id, by its number, or by the words after it.
fn find(library: &Library, asked: &str) -> Result<Rc<Chapter>, Fault> {
    let ids = library.chapter_ids();
    let is_meant =
        |id: &&&str| **id == asked || id.split_once('_').is_some_and(|(n, rest)| n == asked || rest == asked);
    let padded = format!("{asked:0>2}");
    let by_number = |id: &&&str| id.split_once('_').is_some_and(|(n, _)| n == padded);
    let found = ids.iter().find(is_meant).or_else(|| ids.iter().find(by_number));
    if let Some(chapter) = found.and_then(|id| library.chapter(id)) {
        return Ok(chapter);
    }
    if let Some(row) = library.search("").iter().find(|row| row.id == asked || row.number == padded) {
        let what = format!("chapter \"{}\" is planned and not yet written", row.id);
        return Err(Fault::usage(what).help(format!("written are: {}", ids.join(", "))));
    }
    Err(Fault::unknown("chapter", asked, ids))
}

impl Tour<'_> {
    fn walk(&mut self) -> anyhow::Result<Exit> {
        let (say, lang) = (self.say, self.say.lang);
        let chapter = Rc::clone(&self.chapter);
        say.data(&say.ink(Ink::Strong, chapter.title.get(lang)));
        say.data(&prose::text(chapter.subtitle.get(lang), COLUMNS, ""));
        let n = chapter.steps.len();
        for (idx, step) in chapter.steps.iter().enumerate() {
            say.data(&format!("\n{}\n", self.rule(idx + 1, n, step)));
            self.step(step)?;
            if interrupt::is_raised() {
                return Ok(Exit::Interrupted);
            }
            if self.asks && idx + 1 < n && self.ask(say.text(NEXT)).is_none_or(|line| line.trim() == "q") {
                return Ok(Exit::Fine);
            }
        }
        let more = say.text(MORE).replace("{a}", &chapter.audits.len().to_string());
        let more = more.replace("{r}", &chapter.reviews.len().to_string()).replace("{id}", &chapter.id);
        say.data(&format!("\n{}", say.ink(Ink::Muted, &more)));
        let planned = planned(&chapter, self.driver.library);
        if !planned.is_empty() {
            say.data(&say.ink(Ink::Muted, &say.text(PLANNED).replace("{}", &planned.join(", "))));
        }
        Ok(Exit::Fine)
    }

    fn rule(&self, at: usize, n: usize, step: &Step) -> String {
        let head = format!("── {at}/{n} · {} ", plain(step.title.get(self.say.lang)));
        let rest = "─".repeat(COLUMNS.saturating_sub(width(&head)));
        self.say.ink(Ink::Accent, &format!("{head}{rest}"))
    }

    fn step(&mut self, step: &Step) -> Result<(), Fault> {
        let (say, lang) = (self.say, self.say.lang);
        let text = |markdown: &str| prose::text(markdown, COLUMNS, "");
        match &step.body {
            StepBody::Prose { text: body } => say.data(&text(body.get(lang))),
            StepBody::Equation(equation) => {
                self.equation(equation);
                say.data(&format!("\n{}", text(equation.text.get(lang))));
            }
            StepBody::Visualizer(body) => {
                say.data(&text(body.text.get(lang)));
                say.data(&format!("\n{}", say.ink(Ink::Muted, &text(&figure(body, lang)))));
                if let Some(command) = command_of(&body.show) {
                    say.data(&format!("\n{}\n  {command}", say.text(ASK_MODEL)));
                }
            }
            StepBody::Figure(figure) => {
                say.data(&text(figure.text.get(lang)));
                let library = self.driver.library;
                let picture = vramlab_lesson::figure::picture(figure, &Values::new(), &|id, set| library.eval(id, set));
                let words = picture.map_or_else(|error| error.to_string(), |it| it.caption.get(lang).to_owned());
                say.data(&format!("\n{}", say.ink(Ink::Muted, &text(figure.alt.get(lang)))));
                say.data(&format!("\n{}", text(&words)));
            }
            StepBody::Predict(predict) => self.question(&predict.question, true),
            StepBody::Check(question) => self.question(question, false),
            StepBody::Experiment(body) => {
                for (idx, run) in body.all().enumerate() {
                    say.data(&format!("{}{}", if idx > 0 { "\n" } else { "" }, text(run.text.get(lang))));
                    say.data("");
                    self.experiment(&run.run, &run.set)?;
                    say.data(&format!("\n{}", text(run.explain.get(lang))));
                }
            }
            StepBody::Broken { problem } => say.data(&vramlab_lesson::render(problem)),
        }
        Ok(())
    }

    fn experiment(&mut self, id: &str, set: &Map) -> Result<(), Fault> {
        let say = self.say;
        match numbers(&mut self.driver, id, set) {
            Ok(got) => {
                let known = self.driver.known(id)?;
                say.data(&got.report(known).text(say));
                Ok(())
            }
            Err(fault) if fault.exit == Exit::Interrupted => Err(fault),
            Err(fault) => {
                say.data(&say.ink(Ink::Caution, &say.text(NO_NUMBERS).replace("{}", &fault.what)));
                Ok(())
            }
        }
    }

    fn equation(&self, equation: &Equation) {
        let say = self.say;
        let library = self.driver.library;
        match evaluate(equation, &Values::new(), &|id, set| library.eval(id, set)) {
            Ok(evaluated) => {
                let result = plain(&show::with_unit(evaluated.result, &equation.result_unit));
                say.data(&say.ink(Ink::Strong, &format!("  {} = {} = {result}", equation.result, equation.value)));
                for (symbol, (_, value)) in equation.symbols.iter().zip(&evaluated.symbols) {
                    let value = plain(&show::with_unit(*value, &symbol.unit));
                    say.data(&format!("    {} = {value}   {}", symbol.name, symbol.means.get(say.lang)));
                }
            }
            Err(error) => say.data(&say.ink(Ink::Bad, &error.to_string())),
        }
    }

    fn question(&self, question: &Question, is_prediction: bool) {
        let (say, lang) = (self.say, self.say.lang);
        say.data(&prose::text(question.ask.get(lang), COLUMNS, ""));
        say.data("");
        match &question.form {
            Form::Number { unit, tolerance, min, max, .. } => {
                self.number(question, unit, *tolerance, [*min, *max], is_prediction);
            }
            Form::Choice { options } | Form::Multi { options } => {
                for (idx, option) in options.iter().enumerate() {
                    let letter = char::from(b'a' + (idx % 26) as u8);
                    say.data(&prose::text(&format!("{letter}) {}", option.text.get(lang)), COLUMNS, "  "));
                }
                if self.asks {
                    self.ask(say.text(YOUR_GUESS));
                }
                for (idx, option) in options.iter().enumerate().filter(|(_, option)| option.is_right) {
                    let letter = char::from(b'a' + (idx % 26) as u8);
                    say.data(&say.ink(Ink::Good, &format!("\n  {letter}: {}", say.text(RIGHT))));
                    say.data(&prose::text(option.why.get(lang), COLUMNS, "  "));
                }
            }
            Form::Sketch(_) => say.data(&prose::text(say.text(DRAWN), COLUMNS, "  ")),
            Form::Order { items } => {
                if self.asks {
                    self.ask(say.text(YOUR_GUESS));
                }
                let names: Vec<&str> = items.iter().map(|item| item.get(lang)).collect();
                say.data(&prose::text(&format!("{}{}", say.text(ORDER), names.join(" → ")), COLUMNS, "  "));
            }
        }
        let explain = prose::text(question.explain.get(lang), COLUMNS, "");
        if !explain.is_empty() {
            say.data(&format!("\n{explain}"));
        }
    }

    fn number(&self, question: &Question, unit: &str, tolerance: f64, range: [f64; 2], is_prediction: bool) {
        let say = self.say;
        let Form::Number { answer, .. } = &question.form else { return };
        let library = self.driver.library;
        let values = vramlab_lesson::answer::draw(question, 0);
        let truth = value_of(answer, &values, &|id, set| library.eval(id, set));
        let guess = if self.asks {
            let [min, max] = range.map(show::number);
            let prompt = say.text(RANGE).replacen("{}", &min, 1).replacen("{}", &max, 1).replacen("{}", unit, 1);
            self.ask(&format!("{prompt}\n{}", say.text(YOUR_GUESS))).and_then(|line| typed::read(&line, unit).ok())
        } else {
            None
        };
        match truth {
            Ok(truth) => {
                let shown = plain(&show::with_unit(truth, unit));
                say.data(&say.ink(Ink::Good, &format!("  {}{shown}", say.text(MODEL_SAYS))));
                if let Some(guess) = guess.filter(|guess| guess.is_finite()) {
                    let is_hit = is_close(guess, truth, if is_prediction { tolerance.max(0.05) } else { tolerance });
                    let gap = say.text(GAP).replace("{}", &show::number(guess / truth));
                    say.data(&format!("  {}", if is_hit { say.text(HIT).to_owned() } else { gap }));
                }
            }
            Err(error) => say.data(&say.ink(Ink::Bad, &error.to_string())),
        }
    }

    /// A line from the reader; nothing at the end of input or after an interrupt.
    fn ask(&self, prompt: &str) -> Option<String> {
        let _ = write!(std::io::stderr(), "\n{prompt} ");
        let _ = std::io::stderr().flush();
        let mut line = String::new();
        let n = interrupt::while_idle(|| std::io::stdin().lock().read_line(&mut line)).ok()?;
        (n > 0 && !interrupt::is_raised()).then_some(line)
    }

    fn json(&mut self) -> Value {
        let chapter = Rc::clone(&self.chapter);
        let steps: Vec<Value> = chapter.steps.iter().map(|step| self.step_json(step)).collect();
        json!({ "schema": 1, "chapter": chapter.id, "title": chapter.title, "steps": steps })
    }

    fn run_json(&mut self, body: &ExperimentStep) -> Value {
        let got = numbers(&mut self.driver, &body.run, &body.set);
        match (got, self.driver.library.experiment(&body.run)) {
            (Ok(got), Some(known)) => got.report(known).json(),
            (Err(fault), _) => json!({ "experiment": body.run, "error": fault.what }),
            (Ok(_), None) => Value::Null,
        }
    }

    fn step_json(&mut self, step: &Step) -> Value {
        let mut out = json!({ "id": step.id, "title": step.title });
        let library = self.driver.library;
        match &step.body {
            StepBody::Prose { .. } => out["kind"] = "prose".into(),
            StepBody::Equation(equation) => {
                out["kind"] = "equation".into();
                let evaluated = evaluate(equation, &Values::new(), &|id, set| library.eval(id, set));
                out["value"] = json!(evaluated.ok().map(|evaluated| evaluated.result));
            }
            StepBody::Visualizer(body) => {
                out["kind"] = "visualizer".into();
                out["show"] = json!(body.show);
            }
            StepBody::Figure(figure) => {
                out["kind"] = "figure".into();
                let picture = vramlab_lesson::figure::picture(figure, &Values::new(), &|id, set| library.eval(id, set));
                out["values"] = json!(picture.ok().map(|picture| picture.values));
            }
            StepBody::Predict(predict) => question_json(&mut out, "predict", &predict.question, library),
            StepBody::Check(question) => question_json(&mut out, "check", question, library),
            StepBody::Experiment(body) => {
                out["kind"] = "experiment".into();
                out["run"] = self.run_json(body);
                if !body.also.is_empty() {
                    out["also"] = body.also.iter().map(|run| self.run_json(run)).collect();
                }
            }
            StepBody::Broken { problem } => {
                out["kind"] = "broken".into();
                out["problem"] = json!(problem.what);
            }
        }
        out
    }
}

fn question_json(out: &mut Value, kind: &str, question: &Question, library: &Library) {
    out["kind"] = kind.into();
    out["ask"] = json!(question.ask);
    if let Form::Number { answer, unit, .. } = &question.form {
        let values = vramlab_lesson::answer::draw(question, 0);
        out["answer"] = json!(value_of(answer, &values, &|id, set| library.eval(id, set)).ok());
        out["unit"] = json!(unit);
    }
}

/// The model behind a figure as a command to start from.
fn command_of(figure: &str) -> Option<String> {
    let model = match figure {
        "thread_stepper" => "thread_index",
        "util_meter" => "utilisation",
        "memory_package" => "peak_bandwidth",
        "littles_law_conveyor" => "littles_law",
        "bottleneck_panel" => "bottleneck",
        "sector_map" => "coalescing",
        "bank_grid" => "bank_conflicts",
        "transpose_player" => "transpose",
        own => own,
    };
    let entry = vramlab_model::registry::find(model)?;
    Some(format!("vramlab eval {model} '{}'", entry.example))
}

/// Numbers of chapters that the text of `chapter` names and that are not written yet.
fn planned(chapter: &Chapter, library: &Library) -> Vec<String> {
    let written = library.chapter_ids();
    let texts = chapter.steps.iter().filter_map(|step| match &step.body {
        StepBody::Prose { text } => Some(text.get(Lang::Zh)),
        StepBody::Check(question) => Some(question.explain.get(Lang::Zh)),
        _ => None,
    });
    let named = texts.flat_map(|text| text.split("第 ").skip(1)).filter_map(|rest| rest.split_once(" 章"));
    let numbers = named.map(|(n, _)| n).filter(|n| n.len() == 2 && n.bytes().all(|byte| byte.is_ascii_digit()));
    let is_written = |n: &&str| written.iter().any(|id| id.starts_with(&format!("{n}_")));
    let found: std::collections::BTreeSet<&str> = numbers.filter(|n| !is_written(n)).collect();
    found.into_iter().map(str::to_owned).collect()
}

/// What the figure shows at its first look, in words: its own finding, else the author's.
fn figure(body: &vramlab_lesson::VisualizerStep, lang: Lang) -> String {
    let opened =
        vramlab_views::VISUALIZERS.iter().find(|entry| entry.id == body.show).and_then(|e| e.open(&body.params).ok());
    let Some(mut view) = opened else { return body.alt.get(lang).to_owned() };
    if let Some(path) = view.wants() {
        let bytes = vramlab_content::get(&path).and_then(vramlab_content::Content::here);
        view.take(bytes.ok_or_else(|| path.clone()));
    }
    let finding = view.finding(lang);
    let source = match (view.recorded(lang), view.cited(lang)) {
        (Some(recorded), _) => recorded.join(" · "),
        (None, Some((source, date))) => format!("{source} · {date}"),
        (None, None) => MODEL.get(lang).to_owned(),
    };
    if finding.is_empty() { body.alt.get(lang).to_owned() } else { format!("{source} · {finding}") }
}

/// Numbers for a step: the processor's experiments live, the others replayed if their device is not here.
pub enum Numbers {
    Live(Box<vramlab_trace::Run>),
    Recorded(Box<vramlab_shell::experiments::Recorded>),
}

impl Numbers {
    pub fn report<'a>(
        &'a self,
        known: (&'a vramlab_gpu::manifest::Experiment, &'a vramlab_gpu::manifest::Kernel),
    ) -> Report<'a> {
        match self {
            Self::Live(run) => Report::live(run, known),
            Self::Recorded(recorded) => Report::recorded(recorded, known),
        }
    }
}

pub fn numbers(driver: &mut Driver<'_>, id: &str, set: &Map) -> Result<Numbers, Fault> {
    let (experiment, _) = driver.known(id)?;
    let ask = Ask { settings: set.clone(), ..Ask::quick(id) };
    match driver.live(&ask, experiment.backend) {
        Ok(run) => Ok(Numbers::Live(Box::new(run))),
        Err(fault) if fault.exit == Exit::Interrupted => Err(fault),
        Err(fault) => match driver.recording(id) {
            Some(Ok(recorded)) => Ok(Numbers::Recorded(Box::new(recorded))),
            _ => Err(fault),
        },
    }
}
