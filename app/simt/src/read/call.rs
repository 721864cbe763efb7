//! Calls: functions of the source, lambdas, and what CUDA gives by name.

use super::expr::{Operand, cast_of, constant};
use super::{Reader, unknown};
use crate::fault::{Fault, Place, meaning, syntax, unsupported};
use crate::tree::{Builtin, Expr, Lvalue, Node, Where};
use crate::types::{Scalar, Type};

/// How a builtin's arguments and value are typed.
#[derive(Clone, Copy)]
enum Shape {
    /// All of one scalar, and so is the value.
    Of(Scalar, u8),
    /// Float if every argument is, else double.
    Real(u8),
    /// The scalar in which the arguments meet.
    Common(u8),
    /// No arguments that matter, no value.
    Quiet,
    /// A mask, a value of any scalar, perhaps a number of lanes.
    Warp,
    /// A mask and a condition.
    Vote(Scalar),
    /// An address and values of what it points to.
    Atomic(u8),
    /// The argument's bits: from, to.
    Bits(Scalar, Scalar),
}

fn shape(name: &str) -> Option<(Builtin, Shape)> {
    use Builtin as B;
    use Scalar::{F32, I32, U32};
    Some(match name {
        "__syncthreads" => (B::SyncThreads, Shape::Quiet),
        "__syncwarp" => (B::SyncWarp, Shape::Quiet),
        "__threadfence" | "__threadfence_block" => (B::Fence, Shape::Quiet),
        "__shfl_xor_sync" => (B::ShuffleXor, Shape::Warp),
        "__shfl_down_sync" => (B::ShuffleDown, Shape::Warp),
        "__shfl_up_sync" => (B::ShuffleUp, Shape::Warp),
        "__shfl_sync" => (B::Shuffle, Shape::Warp),
        "__reduce_add_sync" => (B::ReduceAdd, Shape::Warp),
        "__reduce_max_sync" => (B::ReduceMax, Shape::Warp),
        "__reduce_min_sync" => (B::ReduceMin, Shape::Warp),
        "__ballot_sync" => (B::Ballot, Shape::Vote(U32)),
        "__any_sync" => (B::Any, Shape::Vote(I32)),
        "__all_sync" => (B::All, Shape::Vote(I32)),
        "__activemask" => (B::ActiveMask, Shape::Of(U32, 0)),
        "__popc" => (B::Popc, Shape::Of(U32, 1)),
        "__ffs" => (B::Ffs, Shape::Of(U32, 1)),
        "__clz" => (B::Clz, Shape::Of(U32, 1)),
        "__byte_perm" => (B::BytePerm, Shape::Of(U32, 3)),
        "min" | "umin" => (B::Min, Shape::Common(2)),
        "max" | "umax" => (B::Max, Shape::Common(2)),
        "abs" => (B::Abs, Shape::Common(1)),
        "fminf" => (B::Min, Shape::Of(F32, 2)),
        "fmaxf" => (B::Max, Shape::Of(F32, 2)),
        "fmin" => (B::Min, Shape::Real(2)),
        "fmax" => (B::Max, Shape::Real(2)),
        "fabsf" => (B::Abs, Shape::Of(F32, 1)),
        "fabs" => (B::Abs, Shape::Real(1)),
        "fmaf" | "__fmaf_rn" => (B::Fma, Shape::Of(F32, 3)),
        "fma" => (B::Fma, Shape::Real(3)),
        "expf" | "__expf" => (B::Exp, Shape::Of(F32, 1)),
        "exp" => (B::Exp, Shape::Real(1)),
        "exp2f" => (B::Exp2, Shape::Of(F32, 1)),
        "exp2" => (B::Exp2, Shape::Real(1)),
        "logf" | "__logf" => (B::Log, Shape::Of(F32, 1)),
        "log" => (B::Log, Shape::Real(1)),
        "log2f" | "__log2f" => (B::Log2, Shape::Of(F32, 1)),
        "log2" => (B::Log2, Shape::Real(1)),
        "sqrtf" | "__fsqrt_rn" => (B::Sqrt, Shape::Of(F32, 1)),
        "sqrt" => (B::Sqrt, Shape::Real(1)),
        "rsqrtf" | "__frsqrt_rn" => (B::Rsqrt, Shape::Of(F32, 1)),
        "rsqrt" => (B::Rsqrt, Shape::Real(1)),
        "tanhf" => (B::Tanh, Shape::Of(F32, 1)),
        "tanh" => (B::Tanh, Shape::Real(1)),
        "sinf" | "__sinf" => (B::Sin, Shape::Of(F32, 1)),
        "cosf" | "__cosf" => (B::Cos, Shape::Of(F32, 1)),
        "powf" | "__powf" => (B::Pow, Shape::Of(F32, 2)),
        "pow" => (B::Pow, Shape::Real(2)),
        "floorf" => (B::Floor, Shape::Of(F32, 1)),
        "floor" => (B::Floor, Shape::Real(1)),
        "ceilf" => (B::Ceil, Shape::Of(F32, 1)),
        "ceil" => (B::Ceil, Shape::Real(1)),
        "rintf" | "nearbyintf" => (B::Round, Shape::Of(F32, 1)),
        "rint" => (B::Round, Shape::Real(1)),
        "__fdividef" | "__fdiv_rn" => (B::Divide, Shape::Of(F32, 2)),
        "__float_as_uint" => (B::SameBits, Shape::Bits(F32, U32)),
        "__float_as_int" => (B::SameBits, Shape::Bits(F32, I32)),
        "__uint_as_float" => (B::SameBits, Shape::Bits(U32, F32)),
        "__int_as_float" => (B::SameBits, Shape::Bits(I32, F32)),
        "atomicAdd" => (B::AtomicAdd, Shape::Atomic(1)),
        "atomicSub" => (B::AtomicSub, Shape::Atomic(1)),
        "atomicMax" => (B::AtomicMax, Shape::Atomic(1)),
        "atomicMin" => (B::AtomicMin, Shape::Atomic(1)),
        "atomicExch" => (B::AtomicExchange, Shape::Atomic(1)),
        "atomicCAS" => (B::AtomicCas, Shape::Atomic(2)),
        "atomicOr" => (B::AtomicOr, Shape::Atomic(1)),
        "atomicAnd" => (B::AtomicAnd, Shape::Atomic(1)),
        _ => return None,
    })
}

impl Reader {
    /// Arguments with their brackets.
    fn arguments(&mut self) -> Result<Vec<Expr>, Fault> {
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.take(")") {
            args.push(self.assignment()?);
            if !self.take(",") && !self.is_sign(")") {
                return syntax(self.at(), "参数之间要有逗号", "a comma is needed between arguments");
            }
        }
        Ok(args)
    }

    pub(super) fn call(&mut self, name: &str, at: Place) -> Result<Operand, Fault> {
        match name {
            "sizeof" => return self.size_of(at).map(Operand::Value),
            "static_cast" | "reinterpret_cast" => {
                self.expect("<")?;
                let ty = self.type_name()?;
                self.expect(">")?;
                self.expect("(")?;
                let value = self.expression()?;
                self.expect(")")?;
                return self.cast(value, &ty).map(Operand::Value);
            }
            "clock64" => return unsupported(at, "clock64()"),
            "__ldg" | "__ldcg" | "__ldcs" | "__ldca" | "__ldlu" | "__ldcv" => {
                let pointer = self.pointer_argument(name, 1, at)?.remove(0);
                let ty = pointee(&pointer);
                return Ok(Operand::Value(Expr::new(
                    Node::Read(Lvalue { place: Where::Memory(Box::new(pointer)), ty: ty.clone(), at }),
                    ty,
                    at,
                )));
            }
            "__stcs" | "__stcg" | "__stwt" | "__stwb" => {
                let mut args = self.pointer_argument(name, 2, at)?;
                let (pointer, value) = (args.remove(0), args.remove(0));
                let ty = pointee(&pointer);
                let value = self.convert(value, &ty)?;
                let place = Lvalue { place: Where::Memory(Box::new(pointer)), ty, at };
                return Ok(Operand::Value(Expr::new(Node::Assign(Box::new(place), Box::new(value)), Type::Void, at)));
            }
            _ => {}
        }
        if let Some(function) = self.by_name.get(name).copied() {
            return self.call_function(function, at).map(Operand::Value);
        }
        if let Some(ty) = name.strip_prefix("make_").and_then(Type::vector_named) {
            return self.make_vector(&ty, at).map(Operand::Value);
        }
        if let Some((to, is_round)) = conversion(name) {
            return self.converted(to, is_round, at).map(Operand::Value);
        }
        match shape(name) {
            Some((builtin, shape)) => self.builtin(name, builtin, shape, at).map(Operand::Value),
            None => unknown(at, name),
        }
    }

    fn size_of(&mut self, at: Place) -> Result<Expr, Fault> {
        self.expect("(")?;
        let bytes = if self.begins_type() { self.type_name()?.bytes() } else { self.expression()?.ty.bytes() };
        self.expect(")")?;
        Ok(constant(Scalar::U64, bytes, at))
    }

    fn count(&mut self, name: &str, args: Vec<Expr>, want: usize, at: Place) -> Result<Vec<Expr>, Fault> {
        let got = args.len();
        if got == want {
            return Ok(args);
        }
        meaning(
            at,
            format!("{name} 要 {want} 个参数，给了 {got} 个"),
            format!("{name} takes {want} arguments, {got} were given"),
        )
    }

    fn pointer_argument(&mut self, name: &str, want: usize, at: Place) -> Result<Vec<Expr>, Fault> {
        let args = self.arguments()?;
        let args = self.count(name, args, want, at)?;
        match &args[0].ty {
            Type::Pointer(to) if **to != Type::Void => Ok(args),
            other => {
                let found = other.name();
                meaning(
                    at,
                    format!("{name} 要一个指针，却是 {found}"),
                    format!("{name} takes a pointer, this is {found}"),
                )
            }
        }
    }

    pub(super) fn call_function(&mut self, function: usize, at: Place) -> Result<Expr, Fault> {
        let args = self.arguments()?;
        let (name, types, returns) = {
            let found = &self.functions[function];
            if let Some(fault) = &found.unplayed {
                return Err(fault.clone());
            }
            let types: Vec<Type> = found.params.iter().map(|(_, ty)| ty.clone()).collect();
            (found.name.clone(), types, found.returns.clone())
        };
        let args = self.count(&name, args, types.len(), at)?;
        let args = args.into_iter().zip(&types).map(|(arg, ty)| self.convert(arg, ty)).collect::<Result<_, _>>()?;
        Ok(Expr::new(Node::Call { function, args }, returns, at))
    }

    pub(super) fn call_lambda(&mut self, lambda: usize, at: Place) -> Result<Expr, Fault> {
        let args = self.arguments()?;
        let types: Vec<Type> =
            self.frame.lambdas[lambda].params.iter().map(|slot| self.frame.slots[*slot].clone()).collect();
        let returns = self.frame.lambdas[lambda].returns.clone();
        let args = self.count("lambda", args, types.len(), at)?;
        let args = args.into_iter().zip(&types).map(|(arg, ty)| self.convert(arg, ty)).collect::<Result<_, _>>()?;
        Ok(Expr::new(Node::Lambda { lambda, args }, returns, at))
    }

    fn make_vector(&mut self, ty: &Type, at: Place) -> Result<Expr, Fault> {
        let (scalar, n) = ty.flat();
        let args = self.arguments()?;
        let args = self.count(&format!("make_{}", ty.name()), args, n, at)?;
        let args = args.into_iter().map(|arg| self.convert(arg, &Type::Scalar(scalar))).collect::<Result<_, _>>()?;
        Ok(Expr::new(Node::Vector(args), ty.clone(), at))
    }

    fn converted(&mut self, to: Scalar, is_round: bool, at: Place) -> Result<Expr, Fault> {
        let args = self.arguments()?;
        let mut value = self.count("conversion", args, 1, at)?.remove(0);
        if is_round {
            value = self.convert(value, &Type::Scalar(Scalar::F32))?;
            value = Expr::new(Node::Builtin(Builtin::Round, vec![value]), Type::Scalar(Scalar::F32), at);
        }
        let from = value.scalar()?;
        Ok(cast_of(from, to, value))
    }

    fn builtin(&mut self, name: &str, builtin: Builtin, shape: Shape, at: Place) -> Result<Expr, Fault> {
        let args = self.arguments()?;
        let scalars = |args: &[Expr]| args.iter().map(Expr::scalar).collect::<Result<Vec<_>, _>>();
        let (args, ty) = match shape {
            Shape::Quiet => (Vec::new(), Type::Void),
            Shape::Of(scalar, n) => (self.all(name, args, n, scalar, at)?, Type::Scalar(scalar)),
            Shape::Real(n) => {
                let is_float = scalars(&args)?.iter().all(|scalar| *scalar == Scalar::F32);
                let scalar = if is_float { Scalar::F32 } else { Scalar::F64 };
                (self.all(name, args, n, scalar, at)?, Type::Scalar(scalar))
            }
            Shape::Common(n) => {
                let scalar = scalars(&args)?.into_iter().map(Scalar::promoted).reduce(Scalar::common);
                let scalar = scalar.unwrap_or(Scalar::I32);
                (self.all(name, args, n, scalar, at)?, Type::Scalar(scalar))
            }
            Shape::Bits(from, to) => (self.all(name, args, 1, from, at)?, Type::Scalar(to)),
            Shape::Vote(scalar) => {
                let mut args = self.count(name, args, 2, at)?;
                let cond = self.truth(args.remove(1))?;
                let mask = self.convert(args.remove(0), &Type::UINT)?;
                (vec![mask, cond], Type::Scalar(scalar))
            }
            Shape::Warp => self.warp(name, args, builtin, at)?,
            Shape::Atomic(n) => self.atomic(name, args, n, at)?,
        };
        Ok(Expr::new(Node::Builtin(builtin, args), ty, at))
    }

    fn all(&mut self, name: &str, args: Vec<Expr>, n: u8, scalar: Scalar, at: Place) -> Result<Vec<Expr>, Fault> {
        let args = self.count(name, args, usize::from(n), at)?;
        args.into_iter().map(|arg| self.convert(arg, &Type::Scalar(scalar))).collect()
    }

    fn warp(&mut self, name: &str, args: Vec<Expr>, builtin: Builtin, at: Place) -> Result<(Vec<Expr>, Type), Fault> {
        let is_reduce = matches!(builtin, Builtin::ReduceAdd | Builtin::ReduceMax | Builtin::ReduceMin);
        if args.len() == 4 {
            return unsupported(at, "a shuffle with a width");
        }
        let args = self.count(name, args, if is_reduce { 2 } else { 3 }, at)?;
        let mut args = args.into_iter();
        let (Some(mask), Some(value)) = (args.next(), args.next()) else { return unknown(at, name) };
        let scalar = value.scalar()?.promoted();
        if is_reduce && (scalar.is_float() || scalar.bytes() != 4) {
            return meaning(at, format!("{name} 只接受 32 位整数"), format!("{name} takes 32-bit integers only"));
        }
        let ty = Type::Scalar(scalar);
        let mut out = vec![self.convert(mask, &Type::UINT)?, self.convert(value, &ty)?];
        if let Some(lane) = args.next() {
            out.push(self.convert(lane, &Type::UINT)?);
        }
        Ok((out, ty))
    }

    fn atomic(&mut self, name: &str, args: Vec<Expr>, n: u8, at: Place) -> Result<(Vec<Expr>, Type), Fault> {
        let args = self.count(name, args, 1 + usize::from(n), at)?;
        let to = pointee(&args[0]);
        let Type::Scalar(scalar) = to else {
            return meaning(at, format!("{name} 要一个指向数的指针"), format!("{name} takes a pointer to a number"));
        };
        if scalar.bytes() < 4 {
            return meaning(at, format!("{name} 至少要 32 位"), format!("{name} needs at least 32 bits"));
        }
        let mut out = Vec::new();
        for (index, arg) in args.into_iter().enumerate() {
            out.push(if index == 0 { arg } else { self.convert(arg, &Type::Scalar(scalar))? });
        }
        Ok((out, Type::Scalar(scalar)))
    }
}

/// What a pointer points to; void if it is none.
fn pointee(pointer: &Expr) -> Type {
    if let Type::Pointer(to) = &pointer.ty { (**to).clone() } else { Type::Void }
}

/// A conversion by name: the type it makes, and whether it rounds to the nearest.
fn conversion(name: &str) -> Option<(Scalar, bool)> {
    Some(match name {
        "__float2int_rn" => (Scalar::I32, true),
        "__float2uint_rn" => (Scalar::U32, true),
        "__float2int_rz" => (Scalar::I32, false),
        "__float2uint_rz" => (Scalar::U32, false),
        "__int2float_rn" | "__uint2float_rn" => (Scalar::F32, false),
        _ => return None,
    })
}
