//! What a point of an experiment is called: a quantity with its unit, in words, and never the key of a parameter.

use vramlab_gpu::manifest::{Experiment, Sweep};
use vramlab_units::show::{self, THIN};
use vramlab_units::{Bytes, Lang};

/// `read@8` as the reader knows it: the series, and where on the sweep.
pub fn of(experiment: &Experiment, reference: &str, lang: Lang) -> String {
    let Some((series, x)) = vramlab_gpu::plan::split_reference(reference) else { return reference.to_owned() };
    let x = place(&experiment.sweep, x, lang);
    if experiment.series.len() < 2 {
        return x;
    }
    let title = experiment.series.iter().find(|candidate| candidate.id == series);
    let title = title.map_or(series, |series| series.title.get(lang));
    if lang == Lang::Zh { format!("{title}（{x}）") } else { format!("{title} ({x})") }
}

/// A place on the sweep: `stride 16`, `footprint 64 MiB`, `128 threads per SM`, or a category's own name.
pub fn place(sweep: &Sweep, x: f64, lang: Lang) -> String {
    if let Some(label) = label(sweep, x, lang) {
        return label;
    }
    let number = value(sweep, x, lang);
    let title = title(sweep, lang);
    match title.split_once(" per ") {
        Some((things, whole)) => format!("{number} {} per {whole}", if x == 1.0 { one(things) } else { things }),
        None => format!("{title} {number}"),
    }
}

/// The value alone, with the unit that belongs to it: `64 MiB`, `95 %`, `16`.
pub fn value(sweep: &Sweep, x: f64, lang: Lang) -> String {
    match label(sweep, x, lang) {
        Some(label) => label,
        None if sweep.param.ends_with("_bytes") => show::bytes_binary(Bytes(x as u64)),
        None if raw_title(sweep, lang).contains('%') => format!("{}{THIN}%", show::number(x)),
        None => show::number(x),
    }
}

/// What is swept, in words: `threads per SM`, `stride`.
pub fn title(sweep: &Sweep, lang: Lang) -> String {
    let title = raw_title(sweep, lang).trim_end_matches("(%)").trim_end_matches("（%）").trim_end();
    match lang {
        Lang::En => title.replacen(" an ", " per ", 1).replacen(" a ", " per ", 1),
        // 「每个 SM 的线程」 counts threads.
        Lang::Zh if title.starts_with('每') && !title.ends_with('数') => format!("{title}数"),
        Lang::Zh => title.to_owned(),
    }
}

fn raw_title(sweep: &Sweep, lang: Lang) -> &str {
    match sweep.title.get(lang) {
        "" => &sweep.param,
        title => title,
    }
}

fn label(sweep: &Sweep, x: f64, lang: Lang) -> Option<String> {
    let at = sweep.values.iter().position(|value| *value == x)?;
    sweep.labels.get(at).map(|label| label.get(lang).to_owned())
}

/// One of several things: `accesses` is `access`, `FMAs` is `FMA`.
fn one(things: &str) -> &str {
    things.strip_suffix("es").filter(|stem| stem.ends_with("ss")).or(things.strip_suffix('s')).unwrap_or(things)
}

/// Without a blank between two Chinese characters; names that end in a number leave one behind.
pub fn tidy(text: &str) -> String {
    let is_wide = |c: Option<&char>| c.is_some_and(|c| ('\u{2e80}'..='\u{ffef}').contains(c));
    let chars: Vec<char> = text.chars().collect();
    let is_stray = |at: usize| chars[at] == ' ' && at > 0 && is_wide(chars.get(at - 1)) && is_wide(chars.get(at + 1));
    chars.iter().enumerate().filter(|(at, _)| !is_stray(*at)).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::Localized;

    fn sweep(param: &str, zh: &str, en: &str) -> Sweep {
        Sweep {
            param: param.to_owned(),
            title: Localized::both(zh, en),
            values: vec![1.0, 128.0],
            quick: Vec::new(),
            scale: "log2".to_owned(),
            labels: Vec::new(),
        }
    }

    #[test]
    fn places_are_quantities_with_units() {
        let threads = sweep("threads", "每个 SM 的线程", "threads a SM");
        assert_eq!(place(&threads, 128.0, Lang::En), "128 threads per SM");
        assert_eq!(place(&threads, 128.0, Lang::Zh), "每个 SM 的线程数 128");
        let accesses = sweep("per_thread", "每线程访问数", "accesses a thread");
        assert_eq!(place(&accesses, 1.0, Lang::En), "1 access per thread");
        let footprint = sweep("footprint_bytes", "占用", "footprint");
        assert_eq!(place(&footprint, 4_294_967_296.0, Lang::En), "footprint 4\u{2009}GiB");
        let part = sweep("parallel_pct", "能均分的部分（%）", "part that divides (%)");
        assert_eq!(place(&part, 95.0, Lang::Zh), "能均分的部分 95\u{2009}%");
    }

    #[test]
    fn blanks_stay_only_beside_latin() {
        assert_eq!(tidy("步长 16 是 步长 1 的 15.5 倍"), "步长 16 是步长 1 的 15.5 倍");
        assert_eq!(tidy("读（1 MiB） 是 写"), "读（1 MiB）是写");
    }
}
