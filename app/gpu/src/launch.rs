//! The launch of one CUDA kernel at one point: every formula of [`CudaLaunch`] turned into a number and held against
//! the limits that all devices share. The planner calls it so that a bad shape never reaches a device.

use crate::manifest::{CudaLaunch, Then};
use crate::vars::{Vars, eval, eval_whole};

const MAX_GRID_X: u64 = (1 << 31) - 1;
const MAX_GRID_Y: u64 = 65_535;
const MAX_THREADS: u64 = 1_024;

/// A launch with everything resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The `extern "C"` name.
    pub entry: String,
    pub grid: [u32; 2],
    pub block: [u32; 2],
    pub shared_bytes: u32,
    /// `#define NAME VALUE` for the compiler, in alphabetical order.
    pub define: Vec<(String, String)>,
    pub args: Vec<Arg>,
}

/// One kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// The device address of the buffer of this name.
    Ptr(String),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    TensorMap(TensorMap),
}

/// A matrix of bf16 in a buffer, row after row, as the copy engine of a Hopper takes boxes from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    pub buffer: String,
    pub rows: u64,
    pub columns: u64,
    pub box_rows: u32,
    pub box_columns: u32,
}

/// Most rows or columns of a box, by the driver's rules.
const MAX_BOX: u64 = 256;

impl TensorMap {
    /// Reads `NAME; ROWS; COLUMNS; BOX_ROWS; BOX_COLUMNS`.
    fn of(text: &str, vars: &Vars) -> Result<Self, String> {
        let Some((buffer, [rows, columns, box_rows, box_columns])) = Self::split(text) else {
            return Err(format!("args: tensor_map:{text} needs BUFFER; ROWS; COLUMNS; BOX_ROWS; BOX_COLUMNS"));
        };
        let whole = |formula: &str, max: u64| {
            eval_whole(formula, vars, max).map_err(|why| format!("args, tensor_map:{buffer}: {why}"))
        };
        Ok(Self {
            buffer: buffer.to_owned(),
            rows: whole(rows, 1 << 32)?,
            columns: whole(columns, 1 << 32)?,
            box_rows: whole(box_rows, MAX_BOX)? as u32,
            box_columns: whole(box_columns, MAX_BOX)? as u32,
        })
    }

    /// The buffer and the four formulas.
    pub fn split(text: &str) -> Option<(&str, [&str; 4])> {
        let parts: Vec<&str> = text.split(';').map(str::trim).collect();
        let (buffer, formulas) = parts.split_first()?;
        Some((buffer, formulas.try_into().ok()?))
    }
}

impl Launch {
    /// The launch of `cuda` and those that follow it at this point.
    pub fn all(cuda: &CudaLaunch, vars: &Vars) -> Result<Vec<Self>, String> {
        let mut out = vec![Self::of(cuda, vars)?];
        for then in &cuda.then {
            let is_due = match &then.when {
                Some(formula) => eval(formula, vars).map_err(|why| format!("then.when: {why}"))? != 0.0,
                None => true,
            };
            if is_due {
                out.push(Self::of(&following(cuda, then), vars)?);
            }
        }
        Ok(out)
    }

    /// Resolves `cuda` over the variables of a point. The error names the field and the formula.
    pub fn of(cuda: &CudaLaunch, vars: &Vars) -> Result<Self, String> {
        let at_least_one = |field: &str, formula: &str, max: u64| match eval_whole(formula, vars, max) {
            Ok(0) => Err(format!("{field}: `{formula}` is 0; a launch needs at least 1")),
            Ok(value) => Ok(value as u32),
            Err(why) => Err(format!("{field}: {why}")),
        };
        let or_one = |formula: &Option<String>| formula.clone().unwrap_or_else(|| "1".to_owned());
        let grid =
            [at_least_one("grid", &cuda.grid, MAX_GRID_X)?, at_least_one("grid_y", &or_one(&cuda.grid_y), MAX_GRID_Y)?];
        let block = [
            at_least_one("block", &cuda.block, MAX_THREADS)?,
            at_least_one("block_y", &or_one(&cuda.block_y), MAX_THREADS)?,
        ];
        let n_threads = u64::from(block[0]) * u64::from(block[1]);
        if n_threads > MAX_THREADS {
            return Err(format!("block × block_y is {n_threads}; a block has at most {MAX_THREADS} threads"));
        }
        let shared = cuda.shared.as_deref().unwrap_or("0");
        let define = cuda.define.iter().map(|(name, formula)| {
            let value = eval(formula, vars).map_err(|why| format!("define.{name}: {why}"))?;
            Ok((name.clone(), value.to_string()))
        });
        Ok(Self {
            entry: entry_name(&cuda.entry, vars)?,
            grid,
            block,
            shared_bytes: eval_whole(shared, vars, u64::from(u32::MAX)).map_err(|why| format!("shared: {why}"))? as u32,
            define: define.collect::<Result<_, String>>()?,
            args: cuda.args.iter().map(|arg| Arg::of(arg, vars)).collect::<Result<_, _>>()?,
        })
    }
}

/// A launch that follows `cuda`, with its source and definitions.
fn following(cuda: &CudaLaunch, then: &Then) -> CudaLaunch {
    CudaLaunch {
        source: cuda.source.clone(),
        arch: cuda.arch.clone(),
        entry: then.entry.clone(),
        grid: then.grid.clone(),
        grid_y: None,
        block: then.block.clone(),
        block_y: None,
        shared: then.shared.clone(),
        define: cuda.define.clone(),
        args: then.args.clone(),
        cycles: Vec::new(),
        then: Vec::new(),
    }
}

impl Arg {
    /// Reads `ptr:NAME`, `u32:FORMULA`, `u64:FORMULA`, `f32:FORMULA`, `f64:FORMULA` or `tensor_map:…`.
    pub fn of(text: &str, vars: &Vars) -> Result<Self, String> {
        let (kind, rest) = Self::split(text)?;
        let whole = |max: u64| eval_whole(rest, vars, max).map_err(|why| format!("args, {text}: {why}"));
        let float = || eval(rest, vars).map_err(|why| format!("args, {text}: {why}"));
        Ok(match kind {
            "ptr" => Self::Ptr(rest.to_owned()),
            "u32" => Self::U32(whole(u64::from(u32::MAX))? as u32),
            "u64" => Self::U64(whole(1 << 53)?),
            "f32" => Self::F32(float()? as f32),
            "tensor_map" => Self::TensorMap(TensorMap::of(rest, vars)?),
            _ => Self::F64(float()?),
        })
    }

    /// The kind of an argument and what follows the colon.
    pub fn split(text: &str) -> Result<(&str, &str), String> {
        match text.split_once(':') {
            Some((kind @ ("ptr" | "u32" | "u64" | "f32" | "f64" | "tensor_map"), rest)) => Ok((kind, rest.trim())),
            _ => Err(format!(
                "args: \"{text}\" is not an argument; write ptr:BUFFER, u32:FORMULA, u64:FORMULA, f32:FORMULA or f64:FORMULA"
            )),
        }
    }
}

/// Names in `{…}` of an entry, in order.
pub fn entry_params(entry: &str) -> Vec<&str> {
    entry.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name)).collect()
}

fn entry_name(entry: &str, vars: &Vars) -> Result<String, String> {
    let mut out = entry.to_owned();
    for name in entry_params(entry) {
        let value = eval_whole(name, vars, u64::from(u32::MAX)).map_err(|why| format!("entry: {why}"))?;
        out = out.replace(&format!("{{{name}}}"), &value.to_string());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn cuda() -> CudaLaunch {
        CudaLaunch {
            source: "k.cu".into(),
            arch: None,
            entry: "read_w{width}".into(),
            grid: "ceil_div(n, 256)".into(),
            grid_y: None,
            block: "256".into(),
            block_y: None,
            shared: Some("4 * 32 * (32 + pad)".into()),
            define: BTreeMap::from([("PAD".into(), "pad".into())]),
            args: vec!["ptr:input".into(), "u64:n".into(), "f32:0.5".into()],
            cycles: vec![],
            then: vec![],
        }
    }

    fn vars() -> Vars {
        Vars::from([("n".into(), 1000.0), ("width".into(), 4.0), ("pad".into(), 1.0)])
    }

    #[test]
    fn formulas_become_numbers() {
        let launch = Launch::of(&cuda(), &vars()).unwrap();
        assert_eq!(launch.entry, "read_w4");
        assert_eq!((launch.grid, launch.block, launch.shared_bytes), ([4, 1], [256, 1], 4224));
        assert_eq!(launch.define, [("PAD".to_owned(), "1".to_owned())]);
        assert_eq!(launch.args, [Arg::Ptr("input".into()), Arg::U64(1000), Arg::F32(0.5)]);
    }

    #[test]
    fn a_tensor_map_names_a_buffer_and_four_numbers() {
        let map = |text: &str| Arg::of(text, &vars());
        let expected = TensorMap { buffer: "x".into(), rows: 1000, columns: 500, box_rows: 128, box_columns: 64 };
        assert_eq!(map("tensor_map:x; n; n / 2; 128; 64"), Ok(Arg::TensorMap(expected)));
        assert!(map("tensor_map:x; n; n").unwrap_err().contains("BOX_ROWS"));
        assert!(map("tensor_map:x; n; n; 512; 64").unwrap_err().contains("from 0 to 256"));
    }

    #[test]
    fn what_follows_is_launched_when_it_is_due() {
        let then = |entry: &str, when: Option<&str>| Then {
            entry: entry.into(),
            when: when.map(Into::into),
            grid: "n / 10".into(),
            block: "64".into(),
            shared: None,
            args: vec!["ptr:out".into()],
        };
        let cuda = CudaLaunch { then: vec![then("wide", Some("width == 8")), then("last_{pad}", None)], ..cuda() };
        let all = Launch::all(&cuda, &vars()).unwrap();
        assert_eq!(all.iter().map(|launch| launch.entry.as_str()).collect::<Vec<_>>(), ["read_w4", "last_1"]);
        assert_eq!((all[1].grid, all[1].block, all[1].shared_bytes), ([100, 1], [64, 1], 0));
        assert_eq!((&all[1].define, &all[1].args), (&all[0].define, &vec![Arg::Ptr("out".into())]));
    }

    #[test]
    fn impossible_shapes_are_refused_by_name() {
        let refuse = |change: fn(&mut CudaLaunch), field: &str| {
            let mut cuda = cuda();
            change(&mut cuda);
            let why = Launch::of(&cuda, &vars()).unwrap_err();
            assert!(why.starts_with(field), "{why}");
        };
        refuse(|cuda| cuda.block = "2048".into(), "block");
        refuse(|cuda| cuda.block_y = Some("8".into()), "block × block_y");
        refuse(|cuda| cuda.grid = "n - 1000".into(), "grid");
        refuse(|cuda| cuda.grid = "n / 3".into(), "grid");
        refuse(|cuda| cuda.args = vec!["int:n".into()], "args");
        refuse(|cuda| cuda.entry = "read_{depth}".into(), "entry");
    }
}
