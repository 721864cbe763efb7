//! Walks the bytes of a GGUF header. Nothing is allocated by a length that the file states before the bytes are there.

use crate::Head;
use crate::problem::Problem;

/// Keys and names longer than this are no names.
const MAX_NAME: u64 = 65_536;
/// Arrays in arrays.
const MAX_DEPTH: u32 = 4;
/// Items of an array of numbers that are kept: one a layer.
const MAX_KEPT: usize = 4_096;

/// A value of the metadata, as far as it is of use.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Number(f64),
    Bool(bool),
    Text(String),
    /// A short array of numbers: one value a layer.
    Numbers(Vec<f64>),
    /// Any other array: its length.
    Items(u64),
}

impl Found {
    pub fn shown(&self) -> String {
        match self {
            Self::Number(value) => value.to_string(),
            Self::Bool(flag) => flag.to_string(),
            Self::Text(text) => format!("\"{}\"", text.chars().take(40).collect::<String>()),
            Self::Numbers(values) => format!("[… {}]", values.len()),
            Self::Items(n) => format!("[… {n}]"),
        }
    }
}

pub struct Reader<'a> {
    bytes: &'a [u8],
    n_bytes: u64,
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(head: Head<'a>, at: usize) -> Self {
        Self { bytes: head.bytes, n_bytes: head.n_bytes, at }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    /// The next `n` bytes. Beyond the file they are an error; beyond what was read of it, a request for more.
    fn take(&mut self, n: u64) -> Result<&'a [u8], Problem> {
        let end = (self.at as u64).checked_add(n).filter(|end| *end <= self.n_bytes);
        let Some(end) = end else {
            let (at, left) = (self.at, self.n_bytes.saturating_sub(self.at as u64));
            return Err(Problem::new(
                format!("GGUF 文件头在第 {at} 字节要 {n} 字节，文件只剩 {left}"),
                format!("the GGUF header wants {n} bytes at byte {at}, and the file has {left} left"),
            ));
        };
        let slice = usize::try_from(end).ok().and_then(|end| self.bytes.get(self.at..end));
        let slice = slice.ok_or_else(|| Problem::needs(end))?;
        self.at += slice.len();
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64)?);
        Ok(out)
    }

    pub fn u32(&mut self) -> Result<u32, Problem> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, Problem> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A key or the name of a tensor.
    pub fn string(&mut self) -> Result<String, Problem> {
        let at = self.at;
        let n = self.u64()?;
        if n > MAX_NAME {
            return Err(Problem::new(
                format!("第 {at} 字节处的名字自称有 {n} 字节；上限是 {MAX_NAME}"),
                format!("the name at byte {at} claims {n} bytes; the limit is {MAX_NAME}"),
            ));
        }
        Ok(String::from_utf8_lossy(self.take(n)?).into_owned())
    }

    pub fn pair(&mut self) -> Result<(String, Found), Problem> {
        let key = self.string()?;
        let kind = self.u32()?;
        let found = self
            .value(kind, 0)
            .map_err(|problem| if problem.field.is_none() { problem.field(&key) } else { problem })?;
        Ok((key, found))
    }

    fn value(&mut self, kind: u32, depth: u32) -> Result<Found, Problem> {
        Ok(match kind {
            7 => Found::Bool(self.array::<1>()?[0] != 0),
            8 => {
                let n = self.u64()?;
                // A long text, as a chat template, is walked over and kept short.
                let bytes = self.take(n)?;
                Found::Text(String::from_utf8_lossy(&bytes[..bytes.len().min(256)]).into_owned())
            }
            9 => self.items(depth)?,
            kind => Found::Number(self.number(kind)?),
        })
    }

    fn number(&mut self, kind: u32) -> Result<f64, Problem> {
        Ok(match kind {
            0 => f64::from(self.array::<1>()?[0]),
            1 => f64::from(i8::from_le_bytes(self.array()?)),
            2 => f64::from(u16::from_le_bytes(self.array()?)),
            3 => f64::from(i16::from_le_bytes(self.array()?)),
            4 => f64::from(self.u32()?),
            5 => f64::from(i32::from_le_bytes(self.array()?)),
            6 => f64::from(f32::from_le_bytes(self.array()?)),
            10 => self.u64()? as f64,
            11 => i64::from_le_bytes(self.array()?) as f64,
            12 => f64::from_le_bytes(self.array()?),
            kind => {
                let at = self.at;
                return Err(Problem::new(
                    format!("第 {at} 字节处的值是第 {kind} 种类型；GGUF 只有 0 到 12"),
                    format!("the value at byte {at} is of type {kind}; GGUF has 0 to 12"),
                ));
            }
        })
    }

    fn items(&mut self, depth: u32) -> Result<Found, Problem> {
        let (kind, n) = (self.u32()?, self.u64()?);
        let width = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 | 8 => 8,
            _ => 12,
        };
        let left = self.n_bytes.saturating_sub(self.at as u64);
        if n > left / width || depth >= MAX_DEPTH {
            return Err(Problem::new(
                format!("数组自称有 {n} 项，文件只剩 {left} 字节"),
                format!("an array claims {n} items, and the file has {left} bytes left"),
            ));
        }
        if kind == 8 || kind == 9 {
            for _ in 0..n {
                if kind == 8 {
                    let len = self.u64()?;
                    self.take(len)?;
                } else {
                    self.items(depth + 1)?;
                }
            }
            return Ok(Found::Items(n));
        }
        if kind == 7 || n > MAX_KEPT as u64 {
            self.take(n * width)?;
            return Ok(Found::Items(n));
        }
        let values = (0..n).map(|_| self.number(kind)).collect::<Result<Vec<_>, _>>()?;
        Ok(Found::Numbers(values))
    }
}
