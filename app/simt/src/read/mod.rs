//! The reader: CUDA C in, a typed tree out. A subset, in which the course's kernels and exercises are written: functions with
//! templates over numbers and types, lambdas that share the variables around them, scalars, short vectors, pointers, arrays, shared
//! memory, loops, the warp's functions, atomics. No structs, no 16-bit floats, no inline assembly: those are refused by name.
//!
//! First file to read: here; then `item` (what stands at the top of a source), `stmt`, `expr`, `call`.

mod call;
mod expr;
mod item;
mod names;
mod place;
mod prepare;
mod stmt;
mod token;

use crate::fault::{Fault, Kind, Place, meaning, syntax, unsupported};
use crate::tree::{Expr, Function, Lambda, Node, Program, Slot};
use crate::types::{Scalar, Type};
use std::collections::BTreeMap;
use token::{Tok, Token};

/// Brackets in brackets: the reader calls itself for each.
const MOST_DEPTH: usize = 48;
/// Operators in a row: the tree is as high.
const MOST_CHAIN: usize = 100;

/// What a name stands for.
#[derive(Clone, Debug)]
enum Symbol {
    Variable(Slot, Type),
    Constant(Expr),
    /// A variable of shared memory, by its address.
    Shared(u64, Type),
    Lambda(usize),
    TypeName(Type),
}

/// A template's function, read again for every set of arguments.
#[derive(Clone)]
struct Template {
    /// Name, and whether it stands for a type.
    params: Vec<(String, bool)>,
    /// The first token after `template <…>`.
    start: usize,
}

/// The function that is being read.
#[derive(Default)]
struct Frame {
    slots: Vec<Type>,
    lambdas: Vec<Lambda>,
    returns: Option<Type>,
}

struct Reader {
    tokens: Vec<Token>,
    pos: usize,
    scopes: Vec<BTreeMap<String, Symbol>>,
    functions: Vec<Function>,
    by_name: BTreeMap<String, usize>,
    templates: BTreeMap<String, Template>,
    frame: Frame,
    shared_bytes: u64,
    depth: usize,
}

/// Reads `source` with the definitions of the compiler's command line.
pub fn read(source: &str, define: &[(String, String)]) -> Result<Program, Fault> {
    let mut reader = Reader::over(prepare::prepare(source, define)?);
    while reader.pos < reader.tokens.len() {
        reader.item()?;
    }
    Ok(Program { functions: reader.functions, shared_bytes: reader.shared_bytes })
}

/// The whole number that the tokens of an `#if` are worth.
fn constant_of(tokens: Vec<Token>, at: Place) -> Result<i64, Fault> {
    let mut reader = Reader::over(tokens);
    let value = reader.expression()?;
    match (value.constant(), reader.peek()) {
        (Some((scalar, bits)), None) => Ok(crate::ops::int(scalar, bits)),
        _ => syntax(at, "#if 后面要是一个常数", "an #if needs a constant"),
    }
}

impl Reader {
    fn over(tokens: Vec<Token>) -> Self {
        Self {
            tokens,
            pos: 0,
            scopes: vec![BTreeMap::new()],
            functions: Vec::new(),
            by_name: BTreeMap::new(),
            templates: BTreeMap::new(),
            frame: Frame::default(),
            shared_bytes: 0,
            depth: 0,
        }
    }

    fn peek(&self) -> Option<&Tok> {
        self.tokens.get(self.pos).map(|token| &token.tok)
    }

    fn peek_at(&self, ahead: usize) -> Option<&Tok> {
        self.tokens.get(self.pos + ahead).map(|token| &token.tok)
    }

    /// The place of the next token; of the last one at the end.
    fn at(&self) -> Place {
        self.tokens.get(self.pos).or(self.tokens.last()).map_or(Place::default(), |token| token.at)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Tok::Sign(found)) if *found == sign)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Tok::Name(found)) if found == name)
    }

    /// Takes the sign if it is next.
    fn take(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(sign);
        self.pos += usize::from(is_next);
        is_next
    }

    fn take_name(&mut self, name: &str) -> bool {
        let is_next = self.is_name(name);
        self.pos += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        if self.take(sign) {
            return Ok(());
        }
        let found = self.found();
        syntax(self.at(), format!("这里要有 {sign}，却是 {found}"), format!("expected {sign}, found {found}"))
    }

    /// The next token in words.
    fn found(&self) -> String {
        match self.peek() {
            Some(Tok::Name(name)) => name.clone(),
            Some(Tok::Sign(sign)) => (*sign).to_owned(),
            Some(Tok::Int { value, .. }) => value.to_string(),
            Some(Tok::Real { value, .. }) => value.to_string(),
            Some(Tok::Text(text)) => format!("{text:?}"),
            Some(Tok::Hash) => "#".to_owned(),
            None => "EOF".to_owned(),
        }
    }

    fn name(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Tok::Name(name)) => {
                let name = name.clone();
                self.pos += 1;
                Ok(name)
            }
            _ => {
                let found = self.found();
                syntax(self.at(), format!("这里要有名字，却是 {found}"), format!("expected a name, found {found}"))
            }
        }
    }

    fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn bind(&mut self, name: String, symbol: Symbol) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, symbol);
        }
    }

    fn slot(&mut self, ty: Type) -> Slot {
        self.frame.slots.push(ty);
        self.frame.slots.len() - 1
    }

    /// Counts how deep the reader is in itself.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return syntax(self.at(), "括号套得太深", "brackets are nested too deep");
        }
        let out = inner(self);
        self.depth -= 1;
        out
    }
}

impl Expr {
    fn new(node: Node, ty: Type, at: Place) -> Self {
        Self { node, ty, at }
    }

    /// The scalar and its bits, if it is known before the kernel runs.
    fn constant(&self) -> Option<(Scalar, u64)> {
        match (&self.node, &self.ty) {
            (Node::Const(bits), Type::Scalar(scalar)) => Some((*scalar, *bits)),
            _ => None,
        }
    }

    /// The scalar type, or a fault that names what was found.
    fn scalar(&self) -> Result<Scalar, Fault> {
        match self.ty.scalar() {
            Some(scalar) => Ok(scalar),
            None => {
                let name = self.ty.name();
                meaning(
                    self.at,
                    format!("这里要一个数，却是 {name}"),
                    format!("a number is needed here, this is {name}"),
                )
            }
        }
    }
}

/// Names of the language or the toolkit that are known and not played.
fn refuse(name: &str, at: Place) -> Result<(), Fault> {
    const REFUSED: &[(&str, &str)] = &[
        ("asm", "inline assembly (asm)"),
        ("half", "half"),
        ("__half", "__half"),
        ("__half2", "__half2"),
        ("__nv_bfloat16", "__nv_bfloat16"),
        ("__nv_bfloat162", "__nv_bfloat162"),
        ("struct", "struct"),
        ("union", "union"),
        ("class", "class"),
        ("enum", "enum"),
        ("switch", "switch"),
        ("goto", "goto"),
        ("printf", "printf"),
        ("namespace", "namespace"),
        ("__constant__", "__constant__"),
        ("typedef", "typedef"),
        ("__cvta_generic_to_shared", "__cvta_generic_to_shared"),
        ("clock", "clock()"),
    ];
    match REFUSED.iter().find(|(refused, _)| *refused == name) {
        Some((_, what)) => unsupported(at, what),
        None => Ok(()),
    }
}

fn unknown<T>(at: Place, name: &str) -> Result<T, Fault> {
    refuse(name, at)?;
    Err(Fault::new(at, Kind::Meaning, format!("没有名为 {name} 的东西"), format!("nothing is named {name}")))
}
