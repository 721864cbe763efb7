//! A question played: one of the three machines of `vramlab-serve`, and its steps.

use super::fork::Forks;
use super::frame::{Frame, Moment};
use super::prefix::Prefixes;
use super::presets::Machine;
use super::question::Question;
use super::script::{self, Form};
use super::serve::Serve;
use vramlab_serve::schedule::Settings;
use vramlab_serve::{Problem, Request, request};

const MOST_REQUESTS: usize = 4_096;
/// Prompt and output tokens of all requests: what a figure may replay while it is opened.
const MOST_TOKENS: u64 = 500_000;

enum Kind {
    Serve(Box<Serve>),
    Forks(Forks),
    Prefixes(Prefixes),
}

/// See the module's docs.
pub struct Run {
    kind: Kind,
    pub history: Vec<Moment>,
    /// Tables that are seen at once, at most.
    pub most_tables: usize,
}

/// The requests of a text, checked for what a figure can replay.
pub fn requests(text: &str) -> Result<Vec<Request>, Problem> {
    // Words on one line are requests too, as in the models.
    let lines = if text.contains('\n') || !text.contains(':') { text.to_owned() } else { text.replace(' ', "\n") };
    let requests = request::read(&lines)?;
    let tokens: u64 = requests.iter().map(|one| u64::from(one.prompt) + u64::from(one.output)).sum();
    if requests.len() > MOST_REQUESTS || tokens > MOST_TOKENS {
        let n = requests.len();
        let zh = format!("{n} 个请求、共 {tokens} 个 token；这张图最多放 {MOST_REQUESTS} 个、{MOST_TOKENS} 个 token");
        let en = format!("{n} requests of {tokens} tokens; the figure takes {MOST_REQUESTS} and {MOST_TOKENS} tokens");
        return Err(Problem::new("requests", zh, en));
    }
    Ok(requests)
}

impl Run {
    pub fn new(question: &Question) -> Result<Self, Problem> {
        let Question { max_seqs, token_budget, block_tokens, pool_blocks, .. } = *question;
        let (kind, history) = match question.preset.machine {
            Machine::Serve => {
                let settings = Settings::new(max_seqs, token_budget, block_tokens, pool_blocks);
                let serve = Serve::new(&requests(&question.text)?, settings)?;
                let history = serve.history();
                (Kind::Serve(Box::new(serve)), history)
            }
            Machine::Script(Form::Counts) => {
                let forks = Forks::new(script::read(&question.text, Form::Counts)?, block_tokens, pool_blocks)?;
                let history = forks.history();
                (Kind::Forks(forks), history)
            }
            Machine::Script(Form::Ranges) => {
                let prefixes = Prefixes::new(script::read(&question.text, Form::Ranges)?, block_tokens, pool_blocks)?;
                let history = prefixes.history();
                (Kind::Prefixes(prefixes), history)
            }
        };
        let most_tables = history.iter().map(|moment| moment.running + moment.waiting).max().unwrap_or(0) as usize;
        Ok(Self { kind, history, most_tables })
    }

    pub fn n_steps(&self) -> usize {
        match &self.kind {
            Kind::Serve(serve) => serve.n_steps(),
            Kind::Forks(forks) => forks.n_steps(),
            Kind::Prefixes(prefixes) => prefixes.n_steps(),
        }
    }

    /// The state when `step` steps are over.
    pub fn frame(&self, step: usize) -> Frame {
        match &self.kind {
            Kind::Serve(serve) => serve.frame(step),
            Kind::Forks(forks) => forks.frame(step),
            Kind::Prefixes(prefixes) => prefixes.frame(step),
        }
    }

    /// The word of a script that is done in this step.
    pub fn word(&self, step: usize) -> Option<&str> {
        match &self.kind {
            Kind::Serve(_) => None,
            Kind::Forks(forks) => forks.word(step),
            Kind::Prefixes(prefixes) => prefixes.word(step),
        }
    }

    pub fn is_serve(&self) -> bool {
        matches!(self.kind, Kind::Serve(_))
    }

    #[cfg(test)]
    pub fn serve(&self) -> Option<&Serve> {
        if let Kind::Serve(serve) = &self.kind { Some(serve) } else { None }
    }
}

#[cfg(test)]
mod tests;
