//! What stands at the top of a source: functions, templates of functions, constants, dynamic shared memory.

use super::names::Specifiers;
use super::token::Tok;
use super::{Frame, Reader, Symbol, Template, refuse};
use crate::fault::{Fault, Kind, Place, meaning, syntax, unsupported};
use crate::run::memory::DYNAMIC_SHARED;
use crate::tree::{Expr, Function, Node};
use crate::types::Type;
use std::collections::BTreeMap;

impl Reader {
    pub(super) fn item(&mut self) -> Result<(), Fault> {
        if self.take(";") {
            return Ok(());
        }
        if self.take_name("template") {
            return self.template();
        }
        if self.is_name("using") {
            return self.using();
        }
        let at = self.at();
        let spec = self.specifiers()?;
        let ty = match spec.ty.clone() {
            Some(ty) => self.stars(ty),
            None => return meaning(at, "auto 不能用在这里", "auto cannot stand here"),
        };
        let name = self.name()?;
        if self.is_sign("(") {
            self.function(&spec, ty, name, at).map(|_| ())
        } else if spec.is_shared {
            self.dynamic_shared(&spec, ty, name, at)
        } else {
            self.global_constant(&spec, ty, name, at)
        }
    }

    pub(super) fn using(&mut self) -> Result<(), Fault> {
        self.pos += 1;
        let name = self.name()?;
        self.expect("=")?;
        let ty = self.type_name()?;
        self.expect(";")?;
        self.bind(name, Symbol::TypeName(ty));
        Ok(())
    }

    /// `extern __shared__ float tile[];`
    pub(super) fn dynamic_shared(&mut self, spec: &Specifiers, ty: Type, name: String, at: Place) -> Result<(), Fault> {
        if !spec.is_extern {
            return meaning(at, "__shared__ 变量要写在函数里", "a __shared__ variable belongs inside a function");
        }
        self.expect("[")?;
        self.expect("]")?;
        self.expect(";")?;
        // Its length is the launch's; an array of one stands for it and bounds are held against the memory.
        self.bind(name, Symbol::Shared(DYNAMIC_SHARED, Type::Array(Box::new(ty), 1)));
        Ok(())
    }

    fn global_constant(&mut self, spec: &Specifiers, ty: Type, name: String, at: Place) -> Result<(), Fault> {
        if self.is_sign("[") || !spec.is_const {
            return unsupported(at, "a variable outside all functions");
        }
        self.expect("=")?;
        let value = self.assignment()?;
        let value = self.convert(value, &ty)?;
        self.expect(";")?;
        if value.constant().is_none() {
            return meaning(
                at,
                format!("{name} 的值编译时还不知道"),
                format!("the value of {name} is not known when compiling"),
            );
        }
        self.bind(name, Symbol::Constant(value));
        Ok(())
    }

    /// Keeps a template and goes past it.
    fn template(&mut self) -> Result<(), Fault> {
        let at = self.at();
        self.expect("<")?;
        let mut params = Vec::new();
        while !self.take(">") {
            let is_type = self.take_name("typename") || self.take_name("class");
            if !is_type {
                self.specifiers()?;
            }
            params.push((self.name()?, is_type));
            if !self.take(",") && !self.is_sign(">") {
                return syntax(self.at(), "模板参数之间要有逗号", "a comma is needed between template parameters");
            }
        }
        let start = self.pos;
        let name = self.function_name_ahead(at)?;
        self.templates.insert(name, Template { params, start });
        Ok(())
    }

    /// The name of the function whose words begin here; goes past its body.
    fn function_name_ahead(&mut self, at: Place) -> Result<String, Fault> {
        let mut found = None;
        while let Some(tok) = self.peek().cloned() {
            match tok {
                Tok::Name(name) if matches!(name.as_str(), "__launch_bounds__" | "__align__") => {
                    self.pos += 1;
                    self.skip_brackets()?;
                    continue;
                }
                Tok::Name(name) if matches!(name.as_str(), "struct" | "class" | "using") => refuse(&name, self.at())?,
                Tok::Name(name) if found.is_none() && self.peek_at(1) == Some(&Tok::Sign("(")) => found = Some(name),
                Tok::Sign("{") => break,
                Tok::Sign(";") => return unsupported(at, "a template that is only declared"),
                _ => {}
            }
            self.pos += 1;
        }
        let Some(name) = found else { return unsupported(at, "a template that is no function") };
        self.skip_body()?;
        Ok(name)
    }

    /// Goes past the `}` of the `{` that is next.
    fn skip_body(&mut self) -> Result<(), Fault> {
        let (at, mut depth) = (self.at(), 0_usize);
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Sign("{") => depth += 1,
                Tok::Sign("}") => depth -= 1,
                _ => {}
            }
            self.pos += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        syntax(at, "函数没有结束的 }", "a function has no closing }")
    }

    /// The function that a template makes of `args`, read now if it has not been.
    pub(super) fn instance(&mut self, name: &str, args: Vec<Symbol>, at: Place) -> Result<usize, Fault> {
        let Some(template) = self.templates.get(name).cloned() else {
            return meaning(at, format!("没有模板 {name}"), format!("there is no template {name}"));
        };
        if args.len() != template.params.len() {
            let (want, got) = (template.params.len(), args.len());
            return meaning(
                at,
                format!("模板 {name} 要写出 {want} 个参数，这里有 {got} 个"),
                format!("template {name} takes {want} arguments in < >, {got} are here"),
            );
        }
        let words: Vec<String> = args.iter().map(spelling).collect();
        let full = format!("{name}<{}>", words.join(","));
        if let Some(found) = self.by_name.get(&full) {
            return Ok(*found);
        }
        let outer = (self.pos, std::mem::take(&mut self.frame), self.scopes.split_off(1));
        let bound = template.params.iter().map(|(param, _)| param.clone()).zip(args).collect::<BTreeMap<_, _>>();
        self.scopes.push(bound);
        self.pos = template.start;
        let made = self.deeper(|this| {
            let at = this.at();
            let spec = this.specifiers()?;
            let ty = spec.ty.clone().unwrap_or(Type::Void);
            let ty = this.stars(ty);
            this.name()?;
            this.function(&spec, ty, full, at)
        });
        (self.pos, self.frame) = (outer.0, outer.1);
        self.scopes.truncate(1);
        self.scopes.extend(outer.2);
        made
    }

    /// A function from its `(` on.
    fn function(&mut self, spec: &Specifiers, returns: Type, name: String, at: Place) -> Result<usize, Fault> {
        self.frame = Frame { returns: Some(returns.clone()), ..Frame::default() };
        self.scopes.push(BTreeMap::new());
        let params = self.parameters()?;
        if self.take(";") {
            self.scopes.pop();
            return Ok(usize::MAX);
        }
        let index = self.functions.len();
        self.by_name.insert(name.clone(), index);
        self.functions.push(Function {
            name,
            is_kernel: spec.is_kernel,
            params,
            returns,
            slots: Vec::new(),
            lambdas: Vec::new(),
            body: Vec::new(),
            unplayed: None,
            at,
        });
        let before = (self.pos, self.depth, self.scopes.len(), self.shared_bytes);
        self.expect("{")?;
        let (body, unplayed) = match self.statements() {
            // It spoils who calls it, and no other function of the source.
            Err(fault) if fault.kind == Kind::Unsupported => {
                (self.pos, self.depth, self.shared_bytes) = (before.0, before.1, before.3);
                self.scopes.truncate(before.2);
                self.skip_body()?;
                self.frame = Frame::default();
                (Vec::new(), Some(fault))
            }
            body => (body?, None),
        };
        self.scopes.pop();
        let frame = std::mem::take(&mut self.frame);
        let function = &mut self.functions[index];
        (function.slots, function.lambdas, function.body) = (frame.slots, frame.lambdas, body);
        function.unplayed = unplayed;
        Ok(index)
    }

    /// Parameters with their brackets, bound to the first slots.
    pub(super) fn parameters(&mut self) -> Result<Vec<(String, Type)>, Fault> {
        self.expect("(")?;
        let mut params = Vec::new();
        if self.is_name("void") && self.peek_at(1) == Some(&Tok::Sign(")")) {
            self.pos += 1;
        }
        while !self.take(")") {
            let at = self.at();
            let Some(ty) = self.specifiers()?.ty else {
                return unsupported(at, "a parameter of type auto");
            };
            let mut ty = self.stars(ty);
            if self.is_sign("&") || self.is_sign("(") {
                return unsupported(self.at(), "a reference as a parameter");
            }
            let name = if self.is_sign(",") || self.is_sign(")") { String::new() } else { self.name()? };
            if self.take("[") {
                if !self.is_sign("]") {
                    self.assignment()?;
                }
                self.expect("]")?;
                ty = ty.pointer_to();
            }
            let slot = self.slot(ty.clone());
            self.bind(name.clone(), Symbol::Variable(slot, ty.clone()));
            params.push((name, ty));
            if !self.take(",") && !self.is_sign(")") {
                return syntax(self.at(), "参数之间要有逗号", "a comma is needed between parameters");
            }
        }
        Ok(params)
    }
}

/// A template's argument as part of its function's name.
fn spelling(symbol: &Symbol) -> String {
    match symbol {
        Symbol::TypeName(ty) => ty.name(),
        Symbol::Constant(Expr { node: Node::Const(bits), .. }) => bits.to_string(),
        _ => String::new(),
    }
}
