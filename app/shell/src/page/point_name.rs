//! What a point of an experiment is called: a quantity with its unit, in words, and never the key of a parameter.

use vramlab_gpu::manifest::{Experiment, Sweep};
use vramlab_units::show::{self, THIN};
use vramlab_units::{Bytes, Lang};

/// Two points against each other, saying once what they share: `stride = 1 against 8`, `SoA against AoS (struct size =
/// 12 B)`. Signs and no grammar, so that it reads well whatever the names are.
pub fn pair(experiment: &Experiment, larger: &str, smaller: &str, lang: Lang) -> String {
    use vramlab_gpu::plan::split_reference;
    let sweep = &experiment.sweep;
    let (Some((one, x_one)), Some((other, x_other))) = (split_reference(larger), split_reference(smaller)) else {
        return against(larger, smaller, lang);
    };
    let series = |id: &str| {
        let found = experiment.series.iter().find(|candidate| candidate.id == id);
        found.map_or(id, |series| series.title.get(lang)).to_owned()
    };
    let bracket = |inside: &str| if lang == Lang::Zh { format!("（{inside}）") } else { format!(" ({inside})") };
    match (one == other, x_one == x_other) {
        (true, _) => {
            // Two sizes that would read alike are told in bytes.
            let is_alike = value(sweep, x_one, lang) == value(sweep, x_other, lang);
            let bytes = |x: f64| show::grouped_with_unit(x, "B");
            let places = if is_alike && is_bytes(sweep) {
                let first = format!("{} = {}", title(sweep, lang), bytes(x_one));
                against(&first, &bytes(x_other), lang)
            } else {
                against(&place(sweep, x_one, lang), &value(sweep, x_other, lang), lang)
            };
            if experiment.series.len() < 2 { places } else { places + &bracket(&series(one)) }
        }
        (false, true) if sweep.values.len() < 2 => against(&series(one), &series(other), lang),
        (false, true) => against(&series(one), &series(other), lang) + &bracket(&place(sweep, x_one, lang)),
        (false, false) => {
            let point = |id: &str, x: f64| series(id) + &bracket(&place(sweep, x, lang));
            against(&point(one, x_one), &point(other, x_other), lang)
        }
    }
}

fn against(one: &str, other: &str, lang: Lang) -> String {
    if lang == Lang::Zh { format!("{one} 对 {other}") } else { format!("{one} against {other}") }
}

/// A place on the sweep: `stride = 16`, `footprint = 64 MiB`, `128 threads per SM`, or a category's own name, unless that
/// is a mere number: `seed = 4`.
fn place(sweep: &Sweep, x: f64, lang: Lang) -> String {
    let (number, title) = (value(sweep, x, lang), title(sweep, lang));
    match (label(sweep, x, lang), title.split_once(" per ")) {
        (Some(label), _) if label.parse::<f64>().is_err() => label,
        (None, Some((things, whole))) => {
            format!("{number} {} per {whole}", if x == 1.0 { one(things) } else { things })
        }
        _ => format!("{title} = {number}"),
    }
}

/// The end of the keys of parameters in thousandths; they are told as per cent.
pub const PERMILLE: &str = "_permille";

/// The value alone, with the unit that belongs to it: `64 MiB`, `95 %`, `16`.
pub fn value(sweep: &Sweep, x: f64, lang: Lang) -> String {
    match label(sweep, x, lang) {
        Some(label) => label,
        None if is_bytes(sweep) => show::bytes_binary(Bytes(x as u64)),
        None if sweep.param.ends_with("_us") => show::with_unit(x, "µs"),
        None if sweep.param.ends_with(PERMILLE) => show::with_unit(x / 1000.0, "%"),
        None if raw_title(sweep, lang).contains('%') => format!("{}{THIN}%", show::number(x)),
        None => show::number(x),
    }
}

fn is_bytes(sweep: &Sweep) -> bool {
    sweep.param == "bytes" || sweep.param.ends_with("_bytes")
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

/// One of several things: `accesses` is `access`, `launches` is `launch`, `caches` is `cache`, `FMAs` is `FMA`.
fn one(things: &str) -> &str {
    let is_whole = |stem: &&str| ["ss", "nch", "tch", "sh"].iter().any(|end| stem.ends_with(end));
    things.strip_suffix("es").filter(is_whole).or(things.strip_suffix('s')).unwrap_or(things)
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
        assert_eq!(place(&threads, 128.0, Lang::Zh), "每个 SM 的线程数 = 128");
        let accesses = sweep("per_thread", "每线程访问数", "accesses a thread");
        assert_eq!(place(&accesses, 1.0, Lang::En), "1 access per thread");
        assert_eq!(["launches", "caches", "batches"].map(one), ["launch", "cache", "batch"]);
        let footprint = sweep("footprint_bytes", "占用", "footprint");
        assert_eq!(place(&footprint, 4_294_967_296.0, Lang::En), "footprint = 4\u{2009}GiB");
        let part = sweep("parallel_pct", "能均分的部分（%）", "part that divides (%)");
        assert_eq!(place(&part, 95.0, Lang::Zh), "能均分的部分 = 95\u{2009}%");
    }

    /// Signs and names, whatever the names are: nothing is made into a sentence that no one would say.
    #[test]
    fn two_points_are_told_by_their_axis_with_its_unit() {
        let library = crate::Library::built_in();
        let read = |id: &str, lang: Lang| {
            let (experiment, _) = library.experiment(id).unwrap();
            let effect = &experiment.effect;
            tidy(&pair(experiment, &effect.larger, &effect.smaller, lang)).replace(THIN, " ")
        };
        assert_eq!(read("leak_detector/main", Lang::En), "1 step per leak against 4");
        assert_eq!(read("leak_detector/main", Lang::Zh), "每漏一块的步数 = 1 对 4");
        assert_eq!(read("oom_boundary/main", Lang::En), "share already held = 0 % against 75 %");
        assert_eq!(read("oom_boundary/main", Lang::Zh), "先占住的份额 = 0 % 对 75 %");
        assert_eq!(read("footprint/main", Lang::En), "footprint = 2 MiB against 1 GiB (read)");
        assert_eq!(
            read("aos_soa/main", Lang::En),
            "SoA: one array a field against AoS: records kept whole (struct size = 12 B)"
        );
        assert_eq!(read("alloc_policies/time", Lang::Zh), "cudaMalloc 对 PyTorch");
        assert_eq!(
            read("capped_replay/main", Lang::En),
            "PyTorch, expandable segments against PyTorch, defaults (seed = 4)"
        );
        let odd = read("alloc_granularity/main", Lang::En);
        assert_eq!(odd, "request = 2 097 153 B against 2 097 152 B (one request)");
        let fast = read("alloc_cost/beside_kernel", Lang::En);
        assert_eq!(
            fast,
            "cudaMalloc + cudaFree against cudaMallocAsync that keeps all (length of the kernel = 5000 µs)"
        );
    }

    #[test]
    fn blanks_stay_only_beside_latin() {
        assert_eq!(tidy("步长 16 是 步长 1 的 15.5 倍"), "步长 16 是步长 1 的 15.5 倍");
        assert_eq!(tidy("读（1 MiB） 是 写"), "读（1 MiB）是写");
    }
}
