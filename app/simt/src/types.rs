//! The types of the language: scalars, short vectors, pointers, arrays.

/// A number as the hardware holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    Scalar(Scalar),
    /// `float4` and its kin: 2 to 4 of one scalar.
    Vector(Scalar, u8),
    Pointer(Box<Type>),
    Array(Box<Type>, u32),
}

impl Scalar {
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// What arithmetic makes of it: nothing is computed in less than 32 bits.
    pub fn promoted(self) -> Self {
        match self {
            Self::Bool | Self::I8 | Self::U8 | Self::I16 | Self::U16 => Self::I32,
            other => other,
        }
    }

    /// The type in which two operands meet.
    pub fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        let rank = |scalar: Self| match scalar {
            Self::F64 => 5,
            Self::F32 => 4,
            Self::U64 => 3,
            Self::I64 => 2,
            Self::U32 => 1,
            _ => 0,
        };
        if rank(a) >= rank(b) { a } else { b }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "char",
            Self::U8 => "unsigned char",
            Self::I16 => "short",
            Self::U16 => "unsigned short",
            Self::I32 => "int",
            Self::U32 => "unsigned",
            Self::I64 => "long long",
            Self::U64 => "unsigned long long",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }
}

impl Type {
    pub const INT: Self = Self::Scalar(Scalar::I32);
    pub const UINT: Self = Self::Scalar(Scalar::U32);

    pub fn pointer_to(self) -> Self {
        Self::Pointer(Box::new(self))
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Void => 1,
            Self::Scalar(scalar) => scalar.bytes(),
            Self::Vector(scalar, n) => scalar.bytes() * u64::from(*n),
            Self::Pointer(_) => 8,
            Self::Array(of, n) => of.bytes() * u64::from(*n),
        }
    }

    /// What an address of it must be a multiple of. Vectors of 3 align as their scalar.
    pub fn align(&self) -> u64 {
        match self {
            Self::Vector(scalar, 3) => scalar.bytes(),
            Self::Vector(..) => self.bytes().min(16),
            Self::Array(of, _) => of.align(),
            _ => self.bytes(),
        }
    }

    /// The scalar that it is made of, and how many.
    pub fn flat(&self) -> (Scalar, usize) {
        match self {
            Self::Void => (Scalar::U8, 0),
            Self::Scalar(scalar) => (*scalar, 1),
            Self::Vector(scalar, n) => (*scalar, usize::from(*n)),
            Self::Pointer(_) => (Scalar::U64, 1),
            Self::Array(of, n) => {
                let (scalar, each) = of.flat();
                (scalar, each * *n as usize)
            }
        }
    }

    pub fn scalar(&self) -> Option<Scalar> {
        if let Self::Scalar(scalar) = self { Some(*scalar) } else { None }
    }

    pub fn name(&self) -> String {
        match self {
            Self::Void => "void".to_owned(),
            Self::Scalar(scalar) => scalar.name().to_owned(),
            Self::Vector(scalar, n) => {
                let base = match scalar {
                    Scalar::F32 => "float",
                    Scalar::F64 => "double",
                    Scalar::U32 => "uint",
                    Scalar::U8 => "uchar",
                    Scalar::I8 => "char",
                    Scalar::U16 => "ushort",
                    Scalar::I16 => "short",
                    Scalar::U64 => "ulonglong",
                    Scalar::I64 => "longlong",
                    _ => "int",
                };
                format!("{base}{n}")
            }
            Self::Pointer(to) => format!("{}*", to.name()),
            Self::Array(of, n) => format!("{}[{n}]", of.name()),
        }
    }

    /// `float4` and the like by name.
    pub fn vector_named(name: &str) -> Option<Self> {
        let (base, n) = name.split_at_checked(name.len().checked_sub(1)?)?;
        let n: u8 = n.parse().ok().filter(|n| (1..=4).contains(n))?;
        let scalar = match base {
            "float" => Scalar::F32,
            "double" => Scalar::F64,
            "int" => Scalar::I32,
            "uint" => Scalar::U32,
            "char" => Scalar::I8,
            "uchar" => Scalar::U8,
            "short" => Scalar::I16,
            "ushort" => Scalar::U16,
            "longlong" => Scalar::I64,
            "ulonglong" => Scalar::U64,
            _ => return None,
        };
        Some(Self::Vector(scalar, n))
    }
}
