//! Statements and declarations.

use super::token::Tok;
use super::{Reader, Symbol, refuse};
use crate::fault::{Fault, Place, meaning, syntax, unsupported};
use crate::tree::{Expr, Lambda, Slot, Stmt};
use crate::types::Type;
use std::collections::BTreeMap;

const MOST_ELEMENTS: u64 = 1 << 16;

impl Reader {
    /// Statements up to the `}` of their block, which is taken.
    pub(super) fn statements(&mut self) -> Result<Vec<Stmt>, Fault> {
        self.scopes.push(BTreeMap::new());
        let mut out = Vec::new();
        while !self.take("}") {
            if self.peek().is_none() {
                return syntax(self.at(), "没有结束的 }", "there is no closing }");
            }
            self.deeper(|this| this.statement(&mut out))?;
        }
        self.scopes.pop();
        Ok(out)
    }

    /// One statement with a scope of its own, as the body of an `if` or a loop.
    fn body(&mut self) -> Result<Vec<Stmt>, Fault> {
        self.scopes.push(BTreeMap::new());
        let mut out = Vec::new();
        self.deeper(|this| this.statement(&mut out))?;
        self.scopes.pop();
        Ok(out)
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) -> Result<(), Fault> {
        let at = self.at();
        if self.take(";") {
            return Ok(());
        }
        if self.take("{") {
            let inner = self.statements()?;
            out.push(Stmt::Block(inner));
            return Ok(());
        }
        let word = match self.peek() {
            Some(Tok::Name(name)) => name.clone(),
            _ => String::new(),
        };
        match word.as_str() {
            "if" => self.if_statement(out)?,
            "for" => self.for_statement(out)?,
            "while" => {
                self.pos += 1;
                let cond = self.condition()?;
                let body = self.body()?;
                out.push(Stmt::Loop { cond: Some(cond), step: None, body, is_late: false, at });
            }
            "do" => {
                self.pos += 1;
                let body = self.body()?;
                if !self.take_name("while") {
                    return syntax(self.at(), "do 后面要有 while", "a do needs its while");
                }
                let cond = self.condition()?;
                self.expect(";")?;
                out.push(Stmt::Loop { cond: Some(cond), step: None, body, is_late: true, at });
            }
            "break" | "continue" => {
                self.pos += 1;
                self.expect(";")?;
                out.push(if word == "break" { Stmt::Break } else { Stmt::Continue });
            }
            "return" => self.return_statement(out)?,
            "using" => self.using()?,
            "static_assert" => {
                self.pos += 1;
                self.skip_brackets()?;
                self.expect(";")?;
            }
            _ if self.begins_type() && !self.begins_cast_call() => self.declaration(out)?,
            _ => {
                refuse(&word, at)?;
                let value = self.expression()?;
                self.expect(";")?;
                out.push(Stmt::Expr(value));
            }
        }
        Ok(())
    }

    /// `float(x);` and the like, which begin with a type and declare nothing.
    fn begins_cast_call(&self) -> bool {
        self.peek_at(1) == Some(&Tok::Sign("("))
            && !matches!(self.peek(), Some(Tok::Name(name)) if matches!(name.as_str(), "alignas" | "__align__"))
    }

    fn condition(&mut self) -> Result<Expr, Fault> {
        self.expect("(")?;
        let cond = self.expression()?;
        self.expect(")")?;
        self.truth(cond)
    }

    fn if_statement(&mut self, out: &mut Vec<Stmt>) -> Result<(), Fault> {
        self.pos += 1;
        self.take_name("constexpr");
        let cond = self.condition()?;
        let then = self.body()?;
        let other = if self.take_name("else") { self.body()? } else { Vec::new() };
        match cond.constant() {
            Some((scalar, bits)) => out.push(Stmt::Block(if crate::ops::is_true(scalar, bits) { then } else { other })),
            None => out.push(Stmt::If { cond, then, other }),
        }
        Ok(())
    }

    fn for_statement(&mut self, out: &mut Vec<Stmt>) -> Result<(), Fault> {
        let at = self.at();
        self.pos += 1;
        self.scopes.push(BTreeMap::new());
        self.expect("(")?;
        let mut whole = Vec::new();
        if !self.take(";") {
            if self.begins_type() {
                self.declaration(&mut whole)?;
            } else {
                let first = self.expression()?;
                self.expect(";")?;
                whole.push(Stmt::Expr(first));
            }
        }
        let cond = if self.is_sign(";") { None } else { Some(self.expression()?) };
        let cond = cond.map(|cond| self.truth(cond)).transpose()?;
        self.expect(";")?;
        let step = if self.is_sign(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = self.body()?;
        whole.push(Stmt::Loop { cond, step, body, is_late: false, at });
        self.scopes.pop();
        out.push(Stmt::Block(whole));
        Ok(())
    }

    fn return_statement(&mut self, out: &mut Vec<Stmt>) -> Result<(), Fault> {
        let at = self.at();
        self.pos += 1;
        if self.take(";") {
            out.push(Stmt::Return(None, at));
            return Ok(());
        }
        let value = self.expression()?;
        self.expect(";")?;
        let value = match self.frame.returns.clone() {
            Some(Type::Void) => return meaning(at, "这个函数不返回值", "this function returns nothing"),
            Some(ty) => self.convert(value, &ty)?,
            // A lambda returns what it first says.
            None => {
                self.frame.returns = Some(value.ty.clone());
                value
            }
        };
        out.push(Stmt::Return(Some(value), at));
        Ok(())
    }

    fn declaration(&mut self, out: &mut Vec<Stmt>) -> Result<(), Fault> {
        let at = self.at();
        let spec = self.specifiers()?;
        loop {
            if spec.is_auto {
                self.auto(spec.is_const, out)?;
            } else {
                let base = spec.ty.clone().unwrap_or(Type::INT);
                let ty = self.stars(base);
                if self.is_sign("&") || self.is_sign("(") {
                    return unsupported(self.at(), "a reference");
                }
                let name = self.name()?;
                if spec.is_shared && spec.is_extern {
                    return self.dynamic_shared(&spec, ty, name, at);
                }
                let ty = self.dimensions(ty)?;
                if spec.is_shared {
                    self.static_shared(ty, name, at)?;
                } else {
                    self.variable(ty, name, spec.is_const, at, out)?;
                }
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")
    }

    /// `[4][8]` after a name.
    fn dimensions(&mut self, ty: Type) -> Result<Type, Fault> {
        if !self.take("[") {
            return Ok(ty);
        }
        let at = self.at();
        let size = self.assignment()?;
        self.expect("]")?;
        let inner = self.dimensions(ty)?;
        let n = match size.constant() {
            Some((scalar, bits)) => crate::ops::int(scalar, bits),
            None => return meaning(at, "数组的长度编译时还不知道", "the array's length is not known when compiling"),
        };
        if n < 1 || n as u64 * inner.bytes() > MOST_ELEMENTS * 8 {
            return meaning(at, format!("数组的长度 {n} 不行"), format!("an array cannot have {n} elements"));
        }
        Ok(Type::Array(Box::new(inner), n as u32))
    }

    fn static_shared(&mut self, ty: Type, name: String, at: Place) -> Result<(), Fault> {
        if self.is_sign("=") {
            return meaning(at, "__shared__ 变量不能初始化", "a __shared__ variable cannot be initialised");
        }
        let start = self.shared_bytes.next_multiple_of(ty.align().max(4));
        self.shared_bytes = start + ty.bytes();
        self.bind(name, Symbol::Shared(start, ty));
        Ok(())
    }

    fn variable(
        &mut self,
        ty: Type,
        name: String,
        is_const: bool,
        at: Place,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Fault> {
        if ty == Type::Void {
            return meaning(at, "变量不能是 void", "a variable cannot be void");
        }
        let mut values = Vec::new();
        let has_init = self.is_sign("=") || self.is_sign("{");
        if has_init {
            self.take("=");
            if self.take("{") {
                self.list(&ty, &mut values)?;
            } else {
                let value = self.assignment()?;
                let value = self.convert(value, &ty)?;
                if is_const && value.constant().is_some() {
                    self.bind(name, Symbol::Constant(value));
                    return Ok(());
                }
                values.push(value);
            }
        }
        let slot = self.slot(ty.clone());
        self.bind(name, Symbol::Variable(slot, ty));
        if has_init {
            out.push(Stmt::Init { slot, values });
        }
        Ok(())
    }

    /// The values in braces, scalar by scalar; inner braces are as if they were not there.
    fn list(&mut self, ty: &Type, values: &mut Vec<Expr>) -> Result<(), Fault> {
        let (scalar, most) = ty.flat();
        while !self.take("}") {
            if self.take("{") {
                self.list(ty, values)?;
            } else {
                let value = self.assignment()?;
                let wanted = if matches!(value.ty, Type::Vector(..) | Type::Pointer(_)) {
                    value.ty.clone()
                } else {
                    Type::Scalar(scalar)
                };
                let value = self.convert(value, &wanted)?;
                values.push(value);
            }
            if values.len() > most {
                return meaning(self.at(), format!("最多 {most} 个值"), format!("there is room for {most} values"));
            }
            if !self.take(",") && !self.is_sign("}") {
                return syntax(self.at(), "值之间要有逗号", "a comma is needed between values");
            }
        }
        Ok(())
    }

    /// `auto name = value` or `auto name = [&](…) {…}`.
    fn auto(&mut self, is_const: bool, out: &mut Vec<Stmt>) -> Result<(), Fault> {
        let at = self.at();
        self.take("*");
        let name = self.name()?;
        self.expect("=")?;
        if self.is_sign("[") {
            return self.lambda(name);
        }
        let value = self.assignment()?;
        if is_const && value.constant().is_some() {
            self.bind(name, Symbol::Constant(value));
            return Ok(());
        }
        let ty = value.ty.clone();
        if ty == Type::Void {
            return meaning(at, "右边没有值", "there is no value on the right");
        }
        let slot: Slot = self.slot(ty.clone());
        self.bind(name, Symbol::Variable(slot, ty));
        out.push(Stmt::Init { slot, values: vec![value] });
        Ok(())
    }

    fn lambda(&mut self, name: String) -> Result<(), Fault> {
        let at = self.at();
        self.expect("[")?;
        let is_shared = self.take("&");
        self.expect("]")?;
        if !is_shared && self.frame.slots.is_empty() {
            return unsupported(at, "a lambda without [&]");
        }
        self.scopes.push(BTreeMap::new());
        let first = self.frame.slots.len();
        let n_params = self.parameters()?.len();
        let returns = if self.take("->") { Some(self.type_name()?) } else { None };
        let outer = std::mem::replace(&mut self.frame.returns, returns);
        self.expect("{")?;
        let body = self.statements()?;
        let returns = std::mem::replace(&mut self.frame.returns, outer).unwrap_or(Type::Void);
        self.scopes.pop();
        self.frame.lambdas.push(Lambda { params: (first..first + n_params).collect(), returns, body });
        self.bind(name, Symbol::Lambda(self.frame.lambdas.len() - 1));
        Ok(())
    }
}
