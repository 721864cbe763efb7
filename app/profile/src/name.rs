//! Kernel names for reading. A full demangler is a crate of its own; the nested name at the beginning of a mangled one says
//! which kernel it is.

/// `_ZN2at6native3addIfEEvv` → `at::native::add`; what is not mangled stays, and everything is cut at `most` characters.
pub fn short(name: &str, most: usize) -> String {
    let text = nested(name).unwrap_or_else(|| name.to_owned());
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The last part of the name: `at::native::add` → `add`.
pub fn last(name: &str) -> String {
    let text = short(name, 400);
    text.rsplit("::").next().unwrap_or(&text).to_owned()
}

fn nested(name: &str) -> Option<String> {
    let rest = name.strip_prefix("_Z")?;
    let (mut rest, is_nested) = match rest.strip_prefix('N') {
        Some(inner) => (inner, true),
        None => (rest, false),
    };
    let mut parts: Vec<&str> = Vec::new();
    loop {
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest.get(..n_digits)?.parse().ok()?;
        let end = n_digits.checked_add(length)?;
        parts.push(rest.get(n_digits..end)?);
        rest = rest.get(end..)?;
        if !is_nested || !rest.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
    }
    let is_named = |part: &&&str| !part.starts_with("_GLOBAL__N");
    Some(parts.iter().filter(is_named).copied().collect::<Vec<_>>().join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nested_name_is_read_and_the_rest_stays() {
        let mangled =
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_";
        assert_eq!(short(mangled, 80), "at::native::vectorized_elementwise_kernel");
        assert_eq!(last(mangled), "vectorized_elementwise_kernel");
        assert_eq!(short("_Z4copyPKfPf", 80), "copy");
        assert_eq!(short("nvjet_tst_128x256_64x4", 10), "nvjet_tst_…");
        assert_eq!(short("_ZN12_GLOBAL__N_14axpyEv", 80), "axpy");
    }

    #[test]
    fn broken_names_stay_as_they_are() {
        for name in ["", "_Z", "_ZN", "_ZN99x", "_ZN18446744073709551615a", "_ZN3éé"] {
            assert_eq!(short(name, 80), name);
        }
    }
}
