//! What a file stores: tensors counted by number format.

use crate::dtype::Dtype;

/// The sum over a file's tensors.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Tensors {
    pub n_tensors: u64,
    /// Absent where packed formats hide how many parameters there are.
    pub n_params: Option<u128>,
    /// Bytes of all data, where each size is known.
    pub n_bytes: u128,
    pub by_dtype: Vec<ByDtype>,
    /// Tensors whose format is not known: their size is that of the gap they lie in, or unknown.
    pub n_unknown: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ByDtype {
    pub name: String,
    pub n_tensors: u64,
    pub n_values: u128,
    pub n_bytes: u128,
}

impl Tensors {
    pub(crate) fn add(&mut self, name: &str, values: u128, bytes: u128) {
        self.n_tensors += 1;
        self.n_bytes = self.n_bytes.saturating_add(bytes);
        let row = match self.by_dtype.iter().position(|row| row.name == name) {
            Some(idx) => &mut self.by_dtype[idx],
            None => {
                self.by_dtype.push(ByDtype { name: name.to_owned(), n_tensors: 0, n_values: 0, n_bytes: 0 });
                let last = self.by_dtype.len() - 1;
                &mut self.by_dtype[last]
            }
        };
        row.n_tensors += 1;
        row.n_values = row.n_values.saturating_add(values);
        row.n_bytes = row.n_bytes.saturating_add(bytes);
    }

    /// Largest first; the count of values is the count of parameters where nothing is packed.
    pub(crate) fn finish(&mut self, packed: bool) {
        self.by_dtype.sort_by(|a, b| b.n_bytes.cmp(&a.n_bytes).then_with(|| a.name.cmp(&b.name)));
        let sum = self.by_dtype.iter().map(|row| row.n_values).fold(0, u128::saturating_add);
        self.n_params = (!packed && self.n_unknown == 0).then_some(sum);
    }

    /// The format that holds most bytes.
    pub fn main_dtype(&self) -> Option<Dtype> {
        self.by_dtype.first().and_then(|row| Dtype::from_name(&row.name))
    }
}
