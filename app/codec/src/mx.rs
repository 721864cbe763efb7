//! Blocks that share a scale: MX (OCP Microscaling 1.0) and NVFP4.
//!
//! MX: 32 elements, one power of two (E8M0) with exponent ⌊log₂ of the largest⌋ − the element's largest exponent; elements
//! beyond their range saturate. NVFP4: 16 E2M1 elements, an E4M3 scale = largest ÷ 6 ÷ tensor scale, and one float32 scale of
//! the tensor = its largest ÷ (6 · 448). Source: OCP MX 1.0, section 6.3; NVFP4 as Intel Neural Compressor and NVIDIA's cuTile
//! describe it (blocks of 16, E4M3 scales, a float32 for the tensor).

use crate::Problem;
use crate::float::{E2M1, E4M3, Format, e8m0};
use crate::problem::finite;

pub const BLOCK: usize = 32;
pub const NV_BLOCK: usize = 16;

/// One block of MX.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub element: Format,
    /// E8M0.
    pub scale: u8,
    pub codes: Vec<u8>,
}

impl Block {
    pub fn scale_value(&self) -> f64 {
        e8m0(self.scale)
    }

    pub fn decode(&self) -> Vec<f64> {
        let scale = self.scale_value();
        self.codes.iter().map(|code| scale * self.element.decode((*code).into())).collect()
    }
}

/// ⌊log₂ x⌋ of a positive number.
fn exponent(x: f64) -> i32 {
    let raw = (x.to_bits() >> 52) as i32;
    // f64's own subnormals lie below E8M0's range.
    if raw == 0 { -1023 } else { raw - 1023 }
}

/// Encodes 32 values.
pub fn encode(values: &[f64], element: Format) -> Result<Block, Problem> {
    if values.len() != BLOCK {
        let n = values.len();
        let en = format!("MX block must hold {BLOCK} values, got {n}");
        return Err(Problem::new("values", format!("MX 块要 {BLOCK} 个值，这里有 {n} 个"), en));
    }
    finite(values)?;
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return Ok(Block { element, scale: 0, codes: vec![0; BLOCK] });
    }
    let scale = (exponent(largest) - element.max_exponent()).clamp(-127, 127);
    let by = 2.0_f64.powi(scale);
    let codes = values.iter().map(|value| element.encode(value / by, true) as u8).collect();
    Ok(Block { element, scale: (scale + 127) as u8, codes })
}

/// One block of NVFP4, beside the tensor's scale.
#[derive(Clone, Debug, PartialEq)]
pub struct NvBlock {
    /// E4M3.
    pub scale: u8,
    pub codes: Vec<u8>,
}

impl NvBlock {
    pub fn decode(&self, tensor_scale: f32) -> Vec<f64> {
        let by = E4M3.decode(self.scale.into()) * f64::from(tensor_scale);
        self.codes.iter().map(|code| by * E2M1.decode((*code).into())).collect()
    }
}

/// The scale of a whole tensor, from its largest magnitude.
pub fn nv_tensor_scale(largest: f32) -> f32 {
    largest / (6.0 * 448.0)
}

/// Encodes 16 values under a tensor's scale.
pub fn nv_encode(values: &[f64], tensor_scale: f32) -> Result<NvBlock, Problem> {
    if values.len() != NV_BLOCK {
        let n = values.len();
        let en = format!("NVFP4 block must hold {NV_BLOCK} values, got {n}");
        return Err(Problem::new("values", format!("NVFP4 块要 {NV_BLOCK} 个值，这里有 {n} 个"), en));
    }
    finite(values)?;
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let wanted = largest / 6.0 / f64::from(tensor_scale);
    let scale = if wanted.is_finite() { E4M3.encode(f64::from(wanted as f32), true) as u8 } else { 0 };
    let by = E4M3.decode(scale.into()) * f64::from(tensor_scale);
    let code = |value: &f64| if by > 0.0 { E2M1.encode(value / by, true) as u8 } else { 0 };
    Ok(NvBlock { scale, codes: values.iter().map(code).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(values: &[f64]) -> (i32, Vec<f64>) {
        let block = encode(values, E2M1).unwrap();
        (i32::from(block.scale) - 127, block.decode())
    }

    /// Brief 25, third vector.
    #[test]
    fn the_vectors_of_the_brief() {
        let ramp: Vec<f64> = (0..32).map(|i| 0.1 * f64::from(i)).collect();
        let (scale, got) = decoded(&ramp);
        let mut expected = vec![0.0, 0.0, 0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0, 1.0, 1.0];
        expected.extend([1.5; 5].into_iter().chain([2.0; 8]).chain([3.0; 6]));
        assert_eq!((scale, &got), (-1, &expected));
        let error: f64 = ramp.iter().zip(&got).map(|(x, y)| (x - y).powi(2)).sum::<f64>() / 32.0;
        assert!((error - 0.034_687_5).abs() < 1e-9, "{error}");
        let outlier = |rest: f64| decoded(&[&[rest; 31][..], &[7.0]].concat());
        assert_eq!(outlier(1.0), (0, [&[1.0; 31][..], &[6.0]].concat()));
        assert_eq!(outlier(0.01).1, [&[0.0; 31][..], &[6.0]].concat());
        assert_eq!(decoded(&[0.0; 32]), (-127, vec![0.0; 32]));
        assert_eq!(encode(&[1.0; 31], E2M1).unwrap_err().to_string(), "MX block must hold 32 values, got 31");
        let with = |bad: f64| encode(&[&[1.0; 31][..], &[bad]].concat(), E2M1).unwrap_err().to_string();
        assert!(with(f64::INFINITY).starts_with("block holds a non-finite value") && with(f64::NAN).contains("31"));
        // Check question 2: the largest of a block with scale 2³ is 48.
        assert_eq!(decoded(&[&[0.0; 31][..], &[48.0]].concat()), (3, [&[0.0; 31][..], &[48.0]].concat()));
    }

    #[test]
    fn scales_stay_in_their_range() {
        assert_eq!(encode(&[1e300; 32], E4M3).unwrap().scale, 254);
        let tiny = encode(&[1e-300; 32], E4M3).unwrap();
        assert_eq!((tiny.scale, tiny.decode()), (0, vec![0.0; 32]));
        assert_eq!(nv_encode(&[0.0; 16], 0.0).unwrap().decode(0.0), vec![0.0; 16]);
        assert!(nv_encode(&[0.0; 32], 1.0).is_err());
        let scale = nv_tensor_scale(6.0 * 448.0);
        let block = nv_encode(&[2688.0; 16], scale).unwrap();
        assert_eq!((scale, block.decode(scale)), (1.0, vec![2688.0; 16]), "the largest of a tensor is exact");
    }
}
