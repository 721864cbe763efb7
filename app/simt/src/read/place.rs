//! Places and values: elements, fields, what is behind a pointer, and how a value takes another type.

use super::Reader;
use super::expr::{Operand, cast_of, constant};
use crate::fault::{Fault, Place, meaning};
use crate::ops;
use crate::tree::{Expr, Lvalue, Node, Op, Where};
use crate::types::{Scalar, Type};

impl Reader {
    pub(super) fn element(&mut self, base: Operand, index: Expr, at: Place) -> Result<Lvalue, Fault> {
        if let Operand::Place(Lvalue {
            place: Where::Local { slot, offset, index: before },
            ty: Type::Array(of, n),
            ..
        }) = base
        {
            let each = of.flat().1;
            if let Some((scalar, bits)) = index.constant() {
                let index = ops::int(scalar, bits);
                if index < 0 || index >= i64::from(n) {
                    return meaning(
                        at,
                        format!("下标 {index} 超出 0…{}", n - 1),
                        format!("index {index} is outside 0…{}", n - 1),
                    );
                }
                let offset = offset + index as usize * each;
                return Ok(Lvalue { place: Where::Local { slot, offset, index: before }, ty: *of, at });
            }
            let index = self.convert(index, &Type::Scalar(Scalar::I64))?;
            let mut index = self.binary_of(Op::Mul, index, constant(Scalar::I64, each as u64, at), at)?;
            if let Some(before) = before {
                index = self.binary_of(Op::Add, *before, index, at)?;
            }
            return Ok(Lvalue { place: Where::Local { slot, offset, index: Some(Box::new(index)) }, ty: *of, at });
        }
        let pointer = self.value(base);
        let Type::Pointer(to) = pointer.ty.clone() else {
            let name = pointer.ty.name();
            return meaning(at, format!("{name} 没有下标"), format!("{name} has no elements"));
        };
        let place = self.offset(pointer, index, false, to.bytes(), at)?;
        Ok(Lvalue { place: Where::Memory(Box::new(place)), ty: *to, at })
    }

    pub(super) fn field(&mut self, base: Operand, field: &str, at: Place) -> Result<Operand, Fault> {
        let ty = match &base {
            Operand::Place(place) => place.ty.clone(),
            Operand::Value(value) => value.ty.clone(),
        };
        let which = ["x", "y", "z", "w"].iter().position(|name| *name == field);
        let (scalar, which) = match (ty, which) {
            (Type::Vector(scalar, n), Some(which)) if which < usize::from(n) => (scalar, which),
            (ty, _) => {
                let name = ty.name();
                return meaning(at, format!("{name} 没有 .{field}"), format!("{name} has no .{field}"));
            }
        };
        let ty = Type::Scalar(scalar);
        Ok(match base {
            Operand::Place(Lvalue { place: Where::Local { slot, offset, index }, .. }) => {
                Operand::Place(Lvalue { place: Where::Local { slot, offset: offset + which, index }, ty, at })
            }
            Operand::Place(Lvalue { place: Where::Memory(pointer), .. }) => {
                let count = constant(Scalar::I64, which as u64, at);
                let pointer = Expr::new(pointer.node, ty.clone().pointer_to(), at);
                let moved = self.offset(pointer, count, false, scalar.bytes(), at)?;
                Operand::Place(Lvalue { place: Where::Memory(Box::new(moved)), ty, at })
            }
            Operand::Value(value) => Operand::Value(Expr::new(Node::Component(Box::new(value), which as u8), ty, at)),
        })
    }

    /// What a pointer points to.
    pub(super) fn behind(&mut self, pointer: Expr, at: Place) -> Result<Lvalue, Fault> {
        match pointer.ty.clone() {
            Type::Pointer(to) if *to != Type::Void => {
                Ok(Lvalue { place: Where::Memory(Box::new(pointer)), ty: *to, at })
            }
            other => {
                let name = other.name();
                meaning(at, format!("{name} 不是指针"), format!("{name} is no pointer that can be followed"))
            }
        }
    }

    /// A value out of an operand; an array becomes the address of its first element.
    pub(super) fn value(&mut self, operand: Operand) -> Expr {
        match operand {
            Operand::Value(value) => value,
            Operand::Place(Lvalue { place, ty: Type::Array(of, n), at }) => {
                let mut pointer = address_of(Lvalue { place, ty: Type::Array(of.clone(), n), at }, at);
                pointer.ty = of.pointer_to();
                pointer
            }
            Operand::Place(place) => {
                let (ty, at) = (place.ty.clone(), place.at);
                Expr::new(Node::Read(place), ty, at)
            }
        }
    }

    /// The value as a condition.
    pub(super) fn truth(&mut self, value: Expr) -> Result<Expr, Fault> {
        if let Type::Pointer(_) = value.ty {
            let at = value.at;
            let null = Expr::new(Node::Const(0), value.ty.clone(), at);
            return self.binary_of(Op::Ne, value, null, at);
        }
        self.convert(value, &Type::Scalar(Scalar::Bool))
    }

    /// The value under another type, as an assignment converts it.
    pub(super) fn convert(&mut self, value: Expr, to: &Type) -> Result<Expr, Fault> {
        if value.ty == *to {
            return Ok(value);
        }
        let at = value.at;
        match (&value.ty, to) {
            (Type::Scalar(from), Type::Scalar(scalar)) => Ok(cast_of(*from, *scalar, value)),
            (Type::Pointer(from), Type::Pointer(into)) if **from == Type::Void || **into == Type::Void => {
                Ok(Expr { ty: to.clone(), ..value })
            }
            (from, to) => {
                let (from, to) = (from.name(), to.name());
                meaning(
                    at,
                    format!("{from} 不能当作 {to}，要写出转换"),
                    format!("{from} is not {to}: a cast is needed"),
                )
            }
        }
    }

    /// The value under another type, as a cast converts it.
    pub(super) fn cast(&mut self, value: Expr, to: &Type) -> Result<Expr, Fault> {
        match (&value.ty, to) {
            (Type::Pointer(_), Type::Pointer(_)) => Ok(Expr { ty: to.clone(), ..value }),
            (Type::Pointer(_), Type::Scalar(Scalar::U64 | Scalar::I64)) => Ok(Expr { ty: to.clone(), ..value }),
            (_, Type::Void) => Ok(value),
            _ => self.convert(value, to),
        }
    }
}

pub(super) fn address_of(place: Lvalue, at: Place) -> Expr {
    let ty = place.ty.clone().pointer_to();
    match place.place {
        Where::Memory(pointer) => Expr::new(pointer.node, ty, at),
        Where::Local { .. } => Expr::new(Node::AddressOf(place), ty, at),
    }
}
