//! A kernel small enough to be played: its parameters lowered one by one, whichever helps most, until its buffers and its threads are
//! few. What a parameter does to them, the manifest's own formulas tell.

use crate::launch::Launch;
use crate::manifest::{Kernel, Param};
use crate::vars::{PointVars, json_number};
use std::collections::BTreeMap;
use vramlab_units::Map;

/// Bytes of all buffers and threads of all launches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub bytes: f64,
    pub threads: f64,
}

/// What is aimed at: a check then takes a fraction of a second.
pub const AIM: Size = Size { bytes: 1_048_576.0, threads: 65_536.0 };
/// What is taken where no parameter leads further down.
pub const MOST: Size = Size { bytes: 8_388_608.0, threads: 524_288.0 };

impl Size {
    fn fits(self, room: Self) -> bool {
        self.bytes <= room.bytes && self.threads <= room.threads
    }

    /// How many times each is too large for the aim, together: 2 is small enough. Both count, so that a parameter is lowered that
    /// helps only one of them, or only once another is lower.
    fn over(self) -> f64 {
        (self.bytes / AIM.bytes).max(1.0) + (self.threads / AIM.threads).max(1.0)
    }

    /// Of `kernel` with `params`; none if no launch comes of them.
    fn of(kernel: &Kernel, params: &Map) -> Option<Self> {
        let point = PointVars::of(kernel, params, &crate::play::machine());
        let launches = Launch::all(kernel.cuda.as_ref()?, &point.vars).ok()?;
        let threads = launches.iter().map(|launch| {
            let sizes = launch.grid.iter().chain(&launch.block);
            sizes.map(|size| f64::from(*size)).product::<f64>()
        });
        Some(Self { bytes: point.buffer_bytes(kernel)? as f64, threads: threads.sum() })
    }
}

/// Lower values of a parameter, the nearest first.
fn lower(param: &Param, value: f64) -> Vec<f64> {
    if !param.options.is_empty() {
        let mut below: Vec<f64> = param.options.iter().copied().filter(|option| *option < value).collect();
        below.sort_by(|a, b| b.total_cmp(a));
        return below;
    }
    let halves = std::iter::successors(Some(value), |value| Some((value / 2.0).floor()));
    halves.skip(1).take_while(|half| *half >= param.min && *half > 0.0).take(50).chain([param.min]).collect()
}

/// Parameters with which `kernel` is small enough to be played; those that change nothing about its size keep their defaults. None if
/// no choice is, or if no launch comes of it.
pub fn small_params(kernel: &Kernel) -> Option<Map> {
    let mut params: BTreeMap<String, f64> =
        kernel.params.iter().map(|param| (param.key.clone(), param.default)).collect();
    let map = |params: &BTreeMap<String, f64>| -> Map {
        params.iter().map(|(key, value)| (key.clone(), json_number(*value))).collect()
    };
    let mut over = Size::of(kernel, &map(&params)).map_or(f64::INFINITY, Size::over);
    while over > 2.0 {
        let mut best: Option<(f64, &str, f64)> = None;
        for param in &kernel.params {
            let from = params[&param.key];
            for value in lower(param, from) {
                params.insert(param.key.clone(), value);
                let found = Size::of(kernel, &map(&params)).map(Size::over);
                if let Some(found) = found
                    && found < best.map_or(over, |(best, ..)| best)
                {
                    best = Some((found, &param.key, value));
                }
                if found == Some(2.0) {
                    break;
                }
            }
            params.insert(param.key.clone(), from);
        }
        let Some((found, key, value)) = best else { break };
        over = found;
        params.insert(key.to_owned(), value);
    }
    let params = map(&params);
    Size::of(kernel, &params)?.fits(MOST).then_some(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Library;

    fn kernel(lines: &str) -> Kernel {
        let head = "schema = 1\n[title]\nzh = \"a\"\nen = \"a\"\n[about]\nzh = \"a\"\nen = \"a\"\n[safety]\nzh = \"a\"\nen = \"a\"\n";
        let param = |key: &str, min: u64, default: u64| {
            format!(
                "[[param]]\nkey = \"{key}\"\nunit = \"B\"\nmin = {min}\nmax = 4294967296\ndefault = {default}\nmeans.zh = \"a\"\nmeans.en = \"a\"\n"
            )
        };
        let params = [param("n", 262_144, 1 << 28), param("least", 0, 1 << 29), param("form", 1, 3)].concat();
        let text = format!(
            "{head}{params}[derive]\npasses = \"max(8, floor(least / n))\"\n[work]\nbytes_moved = \"n\"\n[[buffer]]\nname = \"input\"\nbytes = \"n\"\nfill = \"random\"\n[[buffer]]\nname = \"out\"\nbytes = \"4\"\nfill = \"poison\"\n{lines}"
        );
        let library = Library::from_files([("a/kernel.toml", text.as_str())]);
        library.kernels.get("a").cloned().unwrap_or_else(|| panic!("{:?}", library.problems))
    }

    const REST: &str = "block = \"256\"\nargs = [\"ptr:input\", \"ptr:out\"]\n[oracle]\nid = \"gather_sum\"\nwith = { most = \"9\", input = \"input\", out = \"out\", n = \"1\", loads = \"1\", width = \"1\", word = \"0\" }\n";

    /// A size and a number of passes that grows as the size falls: neither alone leads to few threads.
    #[test]
    fn what_counts_passes_by_its_size_becomes_small_too() {
        let grid = "[cuda]\nsource = \"a.cu\"\nentry = \"a\"\ngrid = \"passes * floor(n / 16384)\"\n";
        let kernel = kernel(&format!("{grid}{REST}"));
        let params = small_params(&kernel).unwrap();
        let size = Size::of(&kernel, &params).unwrap();
        assert!(size.fits(AIM), "{size:?} {params:?}");
        assert_eq!(params["form"], 3, "what changes nothing stays as it is");
    }

    #[test]
    fn what_no_parameter_makes_small_is_none() {
        let grid = "[cuda]\nsource = \"a.cu\"\nentry = \"a\"\ngrid = \"1000000\"\n";
        assert_eq!(small_params(&kernel(&format!("{grid}{REST}"))), None);
    }
}
