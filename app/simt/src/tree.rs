//! A kernel as the reader leaves it: every name bound, every type known, every conversion written out. `run` plays it.

use crate::fault::{Fault, Place};
use crate::types::{Scalar, Type};

/// A local variable's place in its function.
pub type Slot = usize;

#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Function>,
    /// Static shared memory of the whole source in bytes; dynamic memory follows it.
    pub shared_bytes: u64,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    pub params: Vec<(String, Type)>,
    pub returns: Type,
    /// Types of all variables; the parameters are the first.
    pub slots: Vec<Type>,
    pub lambdas: Vec<Lambda>,
    pub body: Vec<Stmt>,
    /// Why the processor does not play it: something that only a GPU has, in it or in what it calls.
    pub unplayed: Option<Fault>,
    pub at: Place,
}

/// A lambda shares the variables of the function around it.
#[derive(Clone, Debug)]
pub struct Lambda {
    pub params: Vec<Slot>,
    pub returns: Type,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Expr(Expr),
    /// Writes `values`, scalar by scalar from the first, and zeros after them.
    Init {
        slot: Slot,
        values: Vec<Expr>,
    },
    If {
        cond: Expr,
        then: Vec<Stmt>,
        other: Vec<Stmt>,
    },
    /// `is_late`: the condition is asked after the first turn.
    Loop {
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Vec<Stmt>,
        is_late: bool,
        at: Place,
    },
    Block(Vec<Stmt>),
    Break,
    Continue,
    Return(Option<Expr>, Place),
}

/// Where a value lies.
#[derive(Clone, Debug)]
pub enum Where {
    /// In a variable, `offset` scalars from its first, and as many more as `index` says.
    Local { slot: Slot, offset: usize, index: Option<Box<Expr>> },
    /// Behind an address, in any memory.
    Memory(Box<Expr>),
}

#[derive(Clone, Debug)]
pub struct Lvalue {
    pub place: Where,
    pub ty: Type,
    pub at: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Neg,
    Not,
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    ThreadIdx,
    BlockIdx,
    BlockDim,
    GridDim,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub node: Node,
    pub ty: Type,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub enum Node {
    /// Bits of a scalar, or an address.
    Const(u64),
    Special(Special, u8),
    Read(Lvalue),
    AddressOf(Lvalue),
    Unary(Unary, Box<Expr>),
    /// Both sides are of one scalar; so is the result, but for comparisons.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// A pointer moved by `count` elements of `bytes`.
    Offset {
        pointer: Box<Expr>,
        count: Box<Expr>,
        bytes: u64,
    },
    /// Elements of `bytes` between two pointers.
    Distance {
        from: Box<Expr>,
        to: Box<Expr>,
        bytes: u64,
    },
    Cast {
        from: Scalar,
        to: Scalar,
        value: Box<Expr>,
    },
    /// `&&` or `||`: the right side only where the left does not decide.
    Logic {
        is_and: bool,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Choose {
        cond: Box<Expr>,
        then: Box<Expr>,
        other: Box<Expr>,
    },
    Assign(Box<Lvalue>, Box<Expr>),
    /// `place op= value`, computed in `in_type`; `is_after` gives the value from before.
    Update {
        place: Box<Lvalue>,
        op: Op,
        value: Box<Expr>,
        in_type: Scalar,
        is_after: bool,
    },
    Component(Box<Expr>, u8),
    Vector(Vec<Expr>),
    Call {
        function: usize,
        args: Vec<Expr>,
    },
    Lambda {
        lambda: usize,
        args: Vec<Expr>,
    },
    Builtin(Builtin, Vec<Expr>),
    /// Value of the last, after the others.
    Comma(Vec<Expr>),
}

/// What the hardware gives beside arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    SyncThreads,
    SyncWarp,
    Fence,
    /// Lanes exchange: by xor, down, up, or from a lane named.
    ShuffleXor,
    ShuffleDown,
    ShuffleUp,
    Shuffle,
    Ballot,
    Any,
    All,
    ReduceAdd,
    ReduceMax,
    ReduceMin,
    ActiveMask,
    Popc,
    Ffs,
    Clz,
    BytePerm,
    Min,
    Max,
    Abs,
    Fma,
    Exp,
    Exp2,
    Log,
    Log2,
    Sqrt,
    Rsqrt,
    Tanh,
    Sin,
    Cos,
    Pow,
    Floor,
    Ceil,
    Round,
    Divide,
    /// The same bits under another type.
    SameBits,
    AtomicAdd,
    AtomicSub,
    AtomicMax,
    AtomicMin,
    AtomicExchange,
    AtomicCas,
    AtomicOr,
    AtomicAnd,
}
