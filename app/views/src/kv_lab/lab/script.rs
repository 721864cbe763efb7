//! The words that forks and prefixes are told in: `a:6` or `a:0-14` starts a, `b=a` forks, `a+3` goes on, `-a` ends.

use vramlab_serve::Problem;

/// Most tokens of one word.
const MAX_TOKENS: usize = 65_536;
const MAX_WORDS: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Start { salt: u64, tokens: Vec<u32> },
    Fork { parent: String },
    Append { tokens: Vec<u32> },
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub name: String,
    pub deed: Deed,
}

/// A count of tokens (`6`) for tables, ranges of tokens (`0-9,100-103`) for prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Counts,
    Ranges,
}

impl Form {
    fn tokens(self, text: &str) -> Option<Vec<u32>> {
        match self {
            Self::Counts => {
                let n: u32 = text.parse().ok().filter(|n| *n as usize <= MAX_TOKENS)?;
                Some((0..n).collect())
            }
            Self::Ranges => ranges(text),
        }
    }

    fn legal(self) -> &'static str {
        match self {
            Self::Counts => "NAME:TOKENS, NAME+TOKENS, NAME=OTHER, -NAME",
            Self::Ranges => "NAME:0-14, NAME@SALT:0-14, NAME+15-17, -NAME",
        }
    }
}

fn ranges(text: &str) -> Option<Vec<u32>> {
    let mut out = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
        if to < from || (to - from) as usize >= MAX_TOKENS - out.len() {
            return None;
        }
        out.extend(from..=to);
    }
    Some(out)
}

/// Reads a script. A name is used once, and only one that was used is spoken of.
pub fn read(script: &str, form: Form) -> Result<Vec<Word>, Problem> {
    let mut words: Vec<Word> = Vec::new();
    for text in script.split_whitespace() {
        let cut: String = text.chars().take(20).collect();
        let bad = |zh: String, en: String| Problem::new("requests", zh, en);
        if words.len() == MAX_WORDS {
            return Err(bad(format!("最多 {MAX_WORDS} 个词"), format!("a script has at most {MAX_WORDS} words")));
        }
        let legal = form.legal();
        let word = word(text, form)
            .ok_or_else(|| bad(format!("“{cut}”不是 {legal} 里的一种"), format!("\"{cut}\" is none of {legal}")))?;
        let knows = |name: &str| {
            let is_birth = |word: &&Word| matches!(word.deed, Deed::Start { .. } | Deed::Fork { .. });
            words.iter().filter(is_birth).any(|word| word.name == name)
        };
        let (is_new, wanted) = match &word.deed {
            Deed::Start { .. } => (true, None),
            Deed::Fork { parent } => (true, Some(parent.as_str())),
            Deed::Append { .. } | Deed::End => (false, Some(word.name.as_str())),
        };
        if is_new && knows(&word.name) {
            return Err(bad(format!("“{cut}”：名字用过了"), format!("\"{cut}\": the name is taken")));
        }
        if wanted.is_some_and(|name| !knows(name)) {
            return Err(bad(format!("“{cut}”：没有这个序列"), format!("\"{cut}\": there is no such sequence")));
        }
        words.push(word);
    }
    if words.is_empty() {
        return Err(Problem::new("requests", "一个词也没有", "the script has no word"));
    }
    Ok(words)
}

fn word(text: &str, form: Form) -> Option<Word> {
    let (name, deed) = if let Some(name) = text.strip_prefix('-') {
        (name, Deed::End)
    } else if let Some((name, tokens)) = text.split_once(':') {
        let (name, salt) = name.split_once('@').unwrap_or((name, "0"));
        let is_legal = form == Form::Ranges || !text.contains('@');
        let tokens = form.tokens(tokens).filter(|tokens| is_legal && !tokens.is_empty())?;
        (name, Deed::Start { salt: salt.parse().ok()?, tokens })
    } else if let Some((name, parent)) = text.split_once('=').filter(|_| form == Form::Counts) {
        (name, Deed::Fork { parent: parent.to_owned() })
    } else {
        let (name, tokens) = text.split_once('+')?;
        (name, Deed::Append { tokens: form.tokens(tokens)? })
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && name.len() <= 24;
    is_name.then(|| Word { text: text.to_owned(), name: name.to_owned(), deed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_slips_are_named() {
        let words = read("a:6 b=a b+1 -a", Form::Counts).unwrap();
        assert_eq!(words.iter().map(|word| word.name.as_str()).collect::<Vec<_>>(), ["a", "b", "b", "a"]);
        assert_eq!(words[1].deed, Deed::Fork { parent: "a".to_owned() });
        let words = read("a@7:0-2,9", Form::Ranges).unwrap();
        assert_eq!(words[0].deed, Deed::Start { salt: 7, tokens: vec![0, 1, 2, 9] });
        for (script, form) in [
            ("", Form::Counts),
            ("a", Form::Counts),
            ("a:x", Form::Counts),
            ("a:99999999", Form::Counts),
            ("a:1 a:1", Form::Counts),
            ("b=a", Form::Counts),
            ("-a", Form::Counts),
            ("a@1:3", Form::Counts),
            ("a:5-2", Form::Ranges),
            ("a:0-9 b=a", Form::Ranges),
            ("a:0-999999", Form::Ranges),
        ] {
            assert_eq!(read(script, form).unwrap_err().field, "requests", "{script}");
        }
    }
}
