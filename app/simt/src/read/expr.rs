//! Expressions: precedence, places and values, conversions. What is known before the kernel runs is computed here.

use super::place::address_of;
use super::token::Tok;
use super::{MOST_CHAIN, Reader, Symbol, unknown};
use crate::fault::{Fault, Place, meaning, syntax, unsupported};
use crate::ops;
use crate::tree::{Expr, Lvalue, Node, Op, Special, Unary, Where};
use crate::types::{Scalar, Type};

/// A place, which can be written, or a value.
pub(super) enum Operand {
    Place(Lvalue),
    Value(Expr),
}

const BINARY: &[(&str, u8, Op)] = &[
    ("|", 3, Op::Or),
    ("^", 4, Op::Xor),
    ("&", 5, Op::And),
    ("==", 6, Op::Eq),
    ("!=", 6, Op::Ne),
    ("<", 7, Op::Lt),
    (">", 7, Op::Gt),
    ("<=", 7, Op::Le),
    (">=", 7, Op::Ge),
    ("<<", 8, Op::Shl),
    (">>", 8, Op::Shr),
    ("+", 9, Op::Add),
    ("-", 9, Op::Sub),
    ("*", 10, Op::Mul),
    ("/", 10, Op::Div),
    ("%", 10, Op::Rem),
];
const OR: u8 = 1;
const AND: u8 = 2;
/// The level of shifts: a template's arguments are read from here, so that `>` ends them.
const SHIFT: u8 = 8;

impl Reader {
    /// Several expressions, the last of which is the value.
    pub(super) fn expression(&mut self) -> Result<Expr, Fault> {
        let at = self.at();
        let first = self.assignment()?;
        if !self.is_sign(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take(",") {
            all.push(self.assignment()?);
        }
        let ty = all.last().map_or(Type::Void, |last| last.ty.clone());
        Ok(Expr::new(Node::Comma(all), ty, at))
    }

    pub(super) fn assignment(&mut self) -> Result<Expr, Fault> {
        self.deeper(|this| this.assignment_inner())
    }

    fn assignment_inner(&mut self) -> Result<Expr, Fault> {
        let left = self.ternary()?;
        let at = self.at();
        let Some(Tok::Sign(sign)) = self.peek().cloned() else { return Ok(self.value(left)) };
        let op =
            sign.strip_suffix('=').and_then(|op| BINARY.iter().find(|(found, ..)| *found == op)).map(|(_, _, op)| *op);
        let is_update = sign.len() >= 2 && op.is_some_and(|op| !is_comparison(op));
        if sign != "=" && !is_update {
            return Ok(self.value(left));
        }
        let Operand::Place(place) = left else {
            return meaning(at, "左边不能被赋值", "the left side cannot be assigned to");
        };
        self.pos += 1;
        let right = self.assignment()?;
        let ty = place.ty.clone();
        match op.filter(|_| is_update) {
            None => {
                if matches!(ty, Type::Array(..)) {
                    return meaning(at, "数组不能整个赋值", "an array cannot be assigned as a whole");
                }
                let right = self.convert(right, &ty)?;
                Ok(Expr::new(Node::Assign(Box::new(place), Box::new(right)), ty, at))
            }
            Some(op) => self.update(place, op, right, false, at),
        }
    }

    /// `place op= value`, also for pointers.
    fn update(&mut self, place: Lvalue, op: Op, value: Expr, is_after: bool, at: Place) -> Result<Expr, Fault> {
        let ty = place.ty.clone();
        let (value, in_type) = match &ty {
            Type::Pointer(to) if matches!(op, Op::Add | Op::Sub) => {
                let bytes = to.bytes();
                let count = self.convert(value, &Type::Scalar(Scalar::I64))?;
                let size = constant(Scalar::I64, bytes, at);
                (self.binary_of(Op::Mul, count, size, at)?, Scalar::U64)
            }
            Type::Scalar(scalar) => {
                let is_shift = matches!(op, Op::Shl | Op::Shr);
                let in_type = if is_shift { scalar.promoted() } else { scalar.common(value.scalar()?) };
                (self.convert(value, &Type::Scalar(in_type))?, in_type)
            }
            other => {
                let name = other.name();
                return meaning(at, format!("{name} 不能这样算"), format!("this cannot be done to {name}"));
            }
        };
        Ok(Expr::new(Node::Update { place: Box::new(place), op, value: Box::new(value), in_type, is_after }, ty, at))
    }

    fn ternary(&mut self) -> Result<Operand, Fault> {
        let left = self.binary(OR)?;
        let at = self.at();
        if !self.take("?") {
            return Ok(left);
        }
        let cond = self.value(left);
        let cond = self.truth(cond)?;
        let then = self.assignment()?;
        self.expect(":")?;
        let other = self.assignment()?;
        let ty = match (then.ty.scalar(), other.ty.scalar()) {
            (Some(a), Some(b)) if a == b => Type::Scalar(a),
            (Some(a), Some(b)) => Type::Scalar(a.common(b)),
            _ => then.ty.clone(),
        };
        let (then, other) = (self.convert(then, &ty)?, self.convert(other, &ty)?);
        if let Some((scalar, bits)) = cond.constant() {
            return Ok(Operand::Value(if ops::is_true(scalar, bits) { then } else { other }));
        }
        let node = Node::Choose { cond: Box::new(cond), then: Box::new(then), other: Box::new(other) };
        Ok(Operand::Value(Expr::new(node, ty, at)))
    }

    fn binary(&mut self, least: u8) -> Result<Operand, Fault> {
        let mut left = self.unary()?;
        let mut n = 0;
        while let Some(Tok::Sign(sign)) = self.peek().cloned() {
            let at = self.at();
            n += 1;
            if n > MOST_CHAIN {
                return syntax(at, "一个式子里的运算太多", "an expression has too many operators");
            }
            let logic = match sign {
                "||" => Some(OR),
                "&&" => Some(AND),
                _ => None,
            };
            if let Some(level) = logic.filter(|level| *level >= least) {
                self.pos += 1;
                let right = self.binary(level + 1)?;
                let (left_value, right) = (self.value(left), self.value(right));
                let (a, b) = (self.truth(left_value)?, self.truth(right)?);
                left = Operand::Value(logic_of(level == AND, a, b, at));
                continue;
            }
            let Some((_, level, op)) = BINARY.iter().find(|(found, level, _)| *found == sign && *level >= least) else {
                break;
            };
            self.pos += 1;
            let right = self.binary(level + 1)?;
            let (a, b) = (self.value(left), self.value(right));
            left = Operand::Value(self.binary_of(*op, a, b, at)?);
        }
        Ok(left)
    }

    pub(super) fn binary_of(&mut self, op: Op, a: Expr, b: Expr, at: Place) -> Result<Expr, Fault> {
        match (&a.ty, &b.ty, op) {
            (Type::Pointer(to), Type::Scalar(_), Op::Add | Op::Sub) => {
                let bytes = to.bytes();
                return self.offset(a, b, op == Op::Sub, bytes, at);
            }
            (Type::Scalar(_), Type::Pointer(to), Op::Add) => {
                let bytes = to.bytes();
                return self.offset(b, a, false, bytes, at);
            }
            (Type::Pointer(to), Type::Pointer(_), Op::Sub) => {
                let node = Node::Distance { bytes: to.bytes().max(1), from: Box::new(b), to: Box::new(a) };
                return Ok(Expr::new(node, Type::Scalar(Scalar::I64), at));
            }
            (Type::Pointer(_), Type::Pointer(_), op) if is_comparison(op) => {
                let node = Node::Binary(op, Box::new(a), Box::new(b));
                return Ok(Expr::new(node, Type::Scalar(Scalar::Bool), at));
            }
            _ => {}
        }
        let is_shift = matches!(op, Op::Shl | Op::Shr);
        let scalar = if is_shift { a.scalar()?.promoted() } else { a.scalar()?.common(b.scalar()?) };
        if scalar.is_float() && matches!(op, Op::Shl | Op::Shr | Op::And | Op::Or | Op::Xor | Op::Rem) {
            let name = scalar.name();
            return meaning(at, format!("{name} 没有这种运算"), format!("{name} has no such operation"));
        }
        let (a, b) = (self.convert(a, &Type::Scalar(scalar))?, self.convert(b, &Type::Scalar(scalar))?);
        let ty = Type::Scalar(if is_comparison(op) { Scalar::Bool } else { scalar });
        if let (Some((_, a)), Some((_, b))) = (a.constant(), b.constant()) {
            return match ops::binary(op, scalar, a, b) {
                Some(bits) => Ok(Expr::new(Node::Const(bits), ty, at)),
                None => meaning(at, "除以零", "a division by zero"),
            };
        }
        Ok(Expr::new(Node::Binary(op, Box::new(a), Box::new(b)), ty, at))
    }

    pub(super) fn offset(
        &mut self,
        pointer: Expr,
        count: Expr,
        is_minus: bool,
        bytes: u64,
        at: Place,
    ) -> Result<Expr, Fault> {
        let from = count.scalar()?;
        // An unsigned 32-bit count is not negative; minus makes it so in 64 bits.
        let mut count =
            self.convert(count, &Type::Scalar(if from == Scalar::U64 { Scalar::U64 } else { Scalar::I64 }))?;
        if is_minus {
            count = unary_of(Unary::Neg, Scalar::I64, count, at);
        }
        let ty = pointer.ty.clone();
        Ok(Expr::new(Node::Offset { pointer: Box::new(pointer), count: Box::new(count), bytes }, ty, at))
    }

    fn unary(&mut self) -> Result<Operand, Fault> {
        let at = self.at();
        let Some(Tok::Sign(sign)) = self.peek().cloned() else { return self.postfix() };
        match sign {
            "-" | "!" | "~" | "+" => {
                self.pos += 1;
                let inner = self.deeper(|this| this.unary())?;
                let inner = self.value(inner);
                self.signed(sign, inner, at).map(Operand::Value)
            }
            "*" => {
                self.pos += 1;
                let inner = self.deeper(|this| this.unary())?;
                let pointer = self.value(inner);
                self.behind(pointer, at).map(Operand::Place)
            }
            "&" => {
                self.pos += 1;
                match self.deeper(|this| this.unary())? {
                    Operand::Place(place) => Ok(Operand::Value(address_of(place, at))),
                    Operand::Value(_) => meaning(at, "只有变量才有地址", "only a variable has an address"),
                }
            }
            "++" | "--" => {
                self.pos += 1;
                let op = if sign == "++" { Op::Add } else { Op::Sub };
                match self.deeper(|this| this.unary())? {
                    Operand::Place(place) => {
                        self.update(place, op, constant(Scalar::I32, 1, at), false, at).map(Operand::Value)
                    }
                    Operand::Value(_) => meaning(at, "只有变量能加一", "only a variable can be counted up"),
                }
            }
            "(" if self.is_cast() => {
                self.pos += 1;
                let ty = self.type_name()?;
                self.expect(")")?;
                let inner = self.deeper(|this| this.unary())?;
                let value = self.value(inner);
                self.cast(value, &ty).map(Operand::Value)
            }
            _ => self.postfix(),
        }
    }

    fn is_cast(&mut self) -> bool {
        self.pos += 1;
        let is_type = self.begins_type();
        self.pos -= 1;
        is_type
    }

    fn signed(&mut self, sign: &str, inner: Expr, at: Place) -> Result<Expr, Fault> {
        if sign == "!" {
            let inner = self.truth(inner)?;
            return Ok(unary_of(Unary::Not, Scalar::Bool, inner, at));
        }
        let scalar = inner.scalar()?.promoted();
        let inner = self.convert(inner, &Type::Scalar(scalar))?;
        match sign {
            "-" => Ok(unary_of(Unary::Neg, scalar, inner, at)),
            "~" if scalar.is_float() => meaning(at, "实数没有 ~", "a real number has no ~"),
            "~" => Ok(unary_of(Unary::BitNot, scalar, inner, at)),
            _ => Ok(inner),
        }
    }

    fn postfix(&mut self) -> Result<Operand, Fault> {
        let mut operand = self.primary()?;
        loop {
            let at = self.at();
            if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                operand = Operand::Place(self.element(operand, index, at)?);
            } else if self.take(".") {
                let field = self.name()?;
                operand = self.field(operand, &field, at)?;
            } else if self.take("->") {
                let field = self.name()?;
                let pointer = self.value(operand);
                let place = self.behind(pointer, at)?;
                operand = self.field(Operand::Place(place), &field, at)?;
            } else if self.is_sign("++") || self.is_sign("--") {
                let op = if self.is_sign("++") { Op::Add } else { Op::Sub };
                self.pos += 1;
                let Operand::Place(place) = operand else {
                    return meaning(at, "只有变量能加一", "only a variable can be counted up");
                };
                operand = Operand::Value(self.update(place, op, constant(Scalar::I32, 1, at), true, at)?);
            } else {
                return Ok(operand);
            }
        }
    }

    fn primary(&mut self) -> Result<Operand, Fault> {
        let at = self.at();
        match self.peek().cloned() {
            Some(Tok::Int { value, is_unsigned, is_long }) => {
                self.pos += 1;
                let scalar = match (is_unsigned, is_long) {
                    (true, false) if value <= u64::from(u32::MAX) => Scalar::U32,
                    (false, false) if value <= i32::MAX as u64 => Scalar::I32,
                    (false, false) if value <= u64::from(u32::MAX) => Scalar::U32,
                    (false, _) if value <= i64::MAX as u64 => Scalar::I64,
                    _ => Scalar::U64,
                };
                Ok(Operand::Value(constant(scalar, value, at)))
            }
            Some(Tok::Real { value, is_float }) => {
                self.pos += 1;
                let scalar = if is_float { Scalar::F32 } else { Scalar::F64 };
                Ok(Operand::Value(constant(scalar, ops::of_real(scalar, value), at)))
            }
            Some(Tok::Sign("(")) => {
                self.pos += 1;
                let inner = self.brackets()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Tok::Name(_)) => self.named(at),
            _ => {
                let found = self.found();
                syntax(at, format!("这里要有一个值，却是 {found}"), format!("expected a value, found {found}"))
            }
        }
    }

    /// What is in brackets stays a place if it is one: `(*p).x`.
    fn brackets(&mut self) -> Result<Operand, Fault> {
        let start = self.pos;
        let first = self.deeper(|this| this.ternary())?;
        if self.is_sign(")") {
            return Ok(first);
        }
        self.pos = start;
        self.expression().map(Operand::Value)
    }

    fn named(&mut self, at: Place) -> Result<Operand, Fault> {
        if self.begins_type() {
            let ty = self.type_name()?;
            self.expect("(")?;
            let value = self.assignment()?;
            self.expect(")")?;
            return self.cast(value, &ty).map(Operand::Value);
        }
        let name = self.name()?;
        if let Some(special) = self.special(&name, at)? {
            return Ok(Operand::Value(special));
        }
        match self.lookup(&name).cloned() {
            Some(Symbol::Variable(slot, ty)) => {
                Ok(Operand::Place(Lvalue { place: Where::Local { slot, offset: 0, index: None }, ty, at }))
            }
            Some(Symbol::Constant(mut value)) => {
                value.at = at;
                Ok(Operand::Value(value))
            }
            Some(Symbol::Shared(address, ty)) => {
                let pointer = Expr::new(Node::Const(crate::run::memory::shared(address)), ty.clone().pointer_to(), at);
                Ok(Operand::Place(Lvalue { place: Where::Memory(Box::new(pointer)), ty, at }))
            }
            Some(Symbol::Lambda(lambda)) => self.call_lambda(lambda, at).map(Operand::Value),
            Some(Symbol::TypeName(_)) | None if self.templates.contains_key(&name) => self.call_template(&name, at),
            _ if self.is_sign("(") || matches!(name.as_str(), "sizeof" | "static_cast" | "reinterpret_cast") => {
                self.call(&name, at)
            }
            _ => unknown(at, &name),
        }
    }

    fn call_template(&mut self, name: &str, at: Place) -> Result<Operand, Fault> {
        if !self.take("<") {
            return unsupported(at, "a template whose arguments are not written out");
        }
        let mut args = Vec::new();
        while !self.take(">") {
            args.push(if self.begins_type() {
                Symbol::TypeName(self.type_name()?)
            } else {
                let value = self.binary(SHIFT + 1)?;
                let value = self.value(value);
                if value.constant().is_none() {
                    return meaning(at, "模板参数编译时还不知道", "a template's argument is not known when compiling");
                }
                Symbol::Constant(value)
            });
            if !self.take(",") && !self.is_sign(">") {
                return syntax(self.at(), "模板参数之间要有逗号", "a comma is needed between template arguments");
            }
        }
        let function = self.instance(name, args, at)?;
        self.call_function(function, at).map(Operand::Value)
    }

    fn special(&mut self, name: &str, at: Place) -> Result<Option<Expr>, Fault> {
        let which = match name {
            "threadIdx" => Special::ThreadIdx,
            "blockIdx" => Special::BlockIdx,
            "blockDim" => Special::BlockDim,
            "gridDim" => Special::GridDim,
            "warpSize" => return Ok(Some(constant(Scalar::I32, 32, at))),
            "true" | "false" => return Ok(Some(constant(Scalar::Bool, u64::from(name == "true"), at))),
            "nullptr" => return Ok(Some(Expr::new(Node::Const(0), Type::Void.pointer_to(), at))),
            "INFINITY" => return Ok(Some(constant(Scalar::F32, ops::of_f32(f32::INFINITY), at))),
            "NAN" => return Ok(Some(constant(Scalar::F32, ops::of_f32(f32::NAN), at))),
            "FLT_MAX" => return Ok(Some(constant(Scalar::F32, ops::of_f32(f32::MAX), at))),
            _ => return Ok(None),
        };
        self.expect(".")?;
        let axis = self.name()?;
        let Some(axis) = ["x", "y", "z"].iter().position(|found| *found == axis) else {
            return meaning(at, format!("{name} 只有 .x .y .z"), format!("{name} has only .x .y .z"));
        };
        Ok(Some(Expr::new(Node::Special(which, axis as u8), Type::UINT, at)))
    }
}

pub(super) fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne)
}

pub(super) fn constant(scalar: Scalar, bits: u64, at: Place) -> Expr {
    Expr::new(Node::Const(bits), Type::Scalar(scalar), at)
}

pub(super) fn cast_of(from: Scalar, to: Scalar, value: Expr) -> Expr {
    let at = value.at;
    match value.node {
        Node::Const(bits) => constant(to, ops::cast(from, to, bits), at),
        _ => Expr::new(Node::Cast { from, to, value: Box::new(value) }, Type::Scalar(to), at),
    }
}

fn unary_of(op: Unary, scalar: Scalar, value: Expr, at: Place) -> Expr {
    match value.node {
        Node::Const(bits) => constant(scalar, ops::unary(op, scalar, bits), at),
        _ => Expr::new(Node::Unary(op, Box::new(value)), Type::Scalar(scalar), at),
    }
}

fn logic_of(is_and: bool, left: Expr, right: Expr, at: Place) -> Expr {
    match left.constant() {
        Some((_, bits)) if (bits != 0) == is_and => right,
        Some(_) => constant(Scalar::Bool, u64::from(!is_and), at),
        None => Expr::new(
            Node::Logic { is_and, left: Box::new(left), right: Box::new(right) },
            Type::Scalar(Scalar::Bool),
            at,
        ),
    }
}
