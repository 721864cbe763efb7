//! Types as they are written: words in any order, then stars.

use super::token::Tok;
use super::{Reader, Symbol, refuse};
use crate::fault::{Fault, meaning, syntax};
use crate::types::{Scalar, Type};

/// Words that say nothing about what a kernel does.
const QUIET: &[&str] = &[
    "const",
    "volatile",
    "constexpr",
    "static",
    "inline",
    "extern",
    "register",
    "__device__",
    "__global__",
    "__host__",
    "__forceinline__",
    "__noinline__",
    "__restrict__",
    "__restrict",
    "restrict",
    "typename",
    "signed",
];

/// What stands before a declared name.
#[derive(Clone, Debug, Default)]
pub(super) struct Specifiers {
    pub ty: Option<Type>,
    pub is_const: bool,
    pub is_shared: bool,
    pub is_extern: bool,
    pub is_kernel: bool,
    pub is_auto: bool,
}

fn fixed(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" => Scalar::Bool,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        "uint8_t" => Scalar::U8,
        "int8_t" => Scalar::I8,
        "uint16_t" => Scalar::U16,
        "int16_t" => Scalar::I16,
        "uint32_t" | "uint" => Scalar::U32,
        "int32_t" => Scalar::I32,
        "uint64_t" | "size_t" => Scalar::U64,
        "int64_t" | "ptrdiff_t" => Scalar::I64,
        _ => return None,
    })
}

impl Reader {
    /// Whether a declaration or a type begins here.
    pub(super) fn begins_type(&self) -> bool {
        match self.peek() {
            Some(Tok::Name(name)) => {
                QUIET.contains(&name.as_str())
                    || matches!(
                        name.as_str(),
                        "unsigned" | "long" | "short" | "int" | "char" | "void" | "auto" | "__shared__"
                    )
                    || matches!(name.as_str(), "__align__" | "alignas")
                    || fixed(name).is_some()
                    || Type::vector_named(name).is_some()
                    || matches!(self.lookup(name), Some(Symbol::TypeName(_)))
            }
            _ => false,
        }
    }

    /// All words before a declared name.
    pub(super) fn specifiers(&mut self) -> Result<Specifiers, Fault> {
        let at = self.at();
        let mut out = Specifiers::default();
        let (mut n_long, mut is_short, mut is_unsigned, mut word) = (0, false, false, None);
        while let Some(Tok::Name(name)) = self.peek().cloned() {
            match name.as_str() {
                "__shared__" => out.is_shared = true,
                "auto" => out.is_auto = true,
                "unsigned" => is_unsigned = true,
                "long" => n_long += 1,
                "short" => is_short = true,
                "int" | "char" | "void" => word = Some(name.clone()),
                "__align__" | "alignas" | "__launch_bounds__" => {
                    self.pos += 1;
                    self.skip_brackets()?;
                    continue;
                }
                quiet if QUIET.contains(&quiet) => {
                    out.is_const |= matches!(quiet, "const" | "constexpr");
                    out.is_extern |= quiet == "extern";
                    out.is_kernel |= quiet == "__global__";
                    // `extern "C"` is the name as it is written.
                    if quiet == "extern" && matches!(self.peek_at(1), Some(Tok::Text(_))) {
                        self.pos += 1;
                        out.is_extern = false;
                    }
                }
                named
                    if out.ty.is_none()
                        && word.is_none()
                        && n_long == 0
                        && !is_short
                        && !is_unsigned
                        && !out.is_auto =>
                {
                    let found = match (fixed(named), Type::vector_named(named), self.lookup(named)) {
                        (Some(scalar), ..) => Type::Scalar(scalar),
                        (_, Some(vector), _) => vector,
                        (_, _, Some(Symbol::TypeName(ty))) => ty.clone(),
                        _ => break,
                    };
                    out.ty = Some(found);
                }
                _ => break,
            }
            self.pos += 1;
        }
        if out.ty.is_none() {
            out.ty = match (word.as_deref(), n_long, is_short, is_unsigned) {
                (Some("void"), ..) => Some(Type::Void),
                (Some("char"), .., true) => Some(Type::Scalar(Scalar::U8)),
                (Some("char"), ..) => Some(Type::Scalar(Scalar::I8)),
                (_, 1.., _, true) => Some(Type::Scalar(Scalar::U64)),
                (_, 1.., _, false) => Some(Type::Scalar(Scalar::I64)),
                (_, _, true, true) => Some(Type::Scalar(Scalar::U16)),
                (_, _, true, false) => Some(Type::Scalar(Scalar::I16)),
                (_, _, _, true) => Some(Type::UINT),
                (Some(_), ..) => Some(Type::INT),
                _ => None,
            };
        }
        if out.ty.is_none() && !out.is_auto {
            if let Some(Tok::Name(name)) = self.peek().cloned() {
                refuse(&name, self.at())?;
            }
            let found = self.found();
            return syntax(at, format!("这里要有类型，却是 {found}"), format!("expected a type, found {found}"));
        }
        Ok(out)
    }

    /// The stars after a type, with the words that may stand among them.
    pub(super) fn stars(&mut self, mut ty: Type) -> Type {
        loop {
            if self.take("*") {
                ty = ty.pointer_to();
            } else if !["const", "__restrict__", "__restrict", "restrict", "volatile"]
                .iter()
                .any(|word| self.take_name(word))
            {
                return ty;
            }
        }
    }

    /// A type as it stands in a cast.
    pub(super) fn type_name(&mut self) -> Result<Type, Fault> {
        let at = self.at();
        match self.specifiers()?.ty {
            Some(ty) => Ok(self.stars(ty)),
            None => meaning(at, "auto 不能用在这里", "auto cannot stand here"),
        }
    }

    /// Brackets with all that is in them.
    pub(super) fn skip_brackets(&mut self) -> Result<(), Fault> {
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                Some(Tok::Sign("(")) => depth += 1,
                Some(Tok::Sign(")")) => depth -= 1,
                None => return syntax(self.at(), "没有结束的 )", "there is no closing )"),
                _ => {}
            }
            self.pos += 1;
        }
        Ok(())
    }
}
