//! Typed plans: what a query computes, checked before any thread starts.

use std::sync::Arc;

use crate::bridge::ffi;
use crate::function::ScalarFunction;
use crate::run::Options;
use crate::{Error, Result, Table, Type};

/// An operation; the numbers are those of `engine::Op` in `expr.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Op {
    Column,
    Literal,
    Cast,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,
    IsNull,
    Length,
    Contains,
    Call,
}

impl Op {
    /// As SQL writes it.
    fn sign(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Subtract | Op::Negate => "-",
            Op::Multiply => "*",
            Op::Divide => "/",
            Op::Remainder => "%",
            Op::Equal => "=",
            Op::NotEqual => "<>",
            Op::Less => "<",
            Op::LessEqual => "<=",
            Op::Greater => ">",
            Op::GreaterEqual => ">=",
            Op::And => "AND",
            Op::Or => "OR",
            Op::Not => "NOT",
            Op::Length => "length",
            Op::Contains => "contains",
            _ => "this operation",
        }
    }
}

/// An aggregate; the numbers are those of `engine::Aggregate` in `query.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Aggregate {
    None,
    CountRows,
    Count,
    Sum,
    Min,
    Max,
}

/// A constant in a query.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
}

/// An expression within one [`Plan`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node(usize);

struct Step {
    op: Op,
    kind: Type,
    column: usize,
    literal: Option<Literal>,
    function: usize,
    arguments: Vec<usize>,
}

/// A query over one table, built from the operands up.
pub struct Plan {
    pub(crate) table: Arc<Table>,
    pub(crate) functions: Vec<Arc<dyn ScalarFunction>>,
    pub(crate) outputs: Vec<(String, Type)>,
    steps: Vec<Step>,
    columns: Vec<usize>,
    filter: Option<Node>,
    group: Option<Node>,
    aggregates: Vec<(Aggregate, Option<Node>)>,
}

const NONE: usize = usize::MAX;

fn refuse<T>(text: String) -> Result<T> {
    Err(Error::Sql(text))
}

impl Plan {
    /// An empty plan over `table`.
    pub fn new(table: Arc<Table>) -> Self {
        Self {
            table,
            functions: vec![],
            outputs: vec![],
            steps: vec![],
            columns: vec![],
            filter: None,
            group: None,
            aggregates: vec![],
        }
    }

    /// The type of an expression.
    pub fn kind(&self, node: Node) -> Type {
        self.steps[node.0].kind
    }

    fn push(&mut self, op: Op, kind: Type, arguments: &[Node]) -> Node {
        let arguments = arguments.iter().map(|node| node.0).collect();
        self.steps.push(Step { op, kind, column: 0, literal: None, function: 0, arguments });
        Node(self.steps.len() - 1)
    }

    /// A column, by name.
    pub fn column(&mut self, name: &str) -> Result<Node> {
        let Some((index, _)) = self.table.schema.column_with_name(name) else {
            let names: Vec<_> =
                self.table.schema.fields().iter().map(|f| f.name().as_str()).collect();
            return refuse(format!("no column {name:?}; the table has {}", names.join(", ")));
        };
        let place = self.columns.iter().position(|c| *c == index).unwrap_or_else(|| {
            self.columns.push(index);
            self.columns.len() - 1
        });
        let node = self.push(Op::Column, self.table.types[index], &[]);
        self.steps[node.0].column = place;
        Ok(node)
    }

    /// A constant. NULL is an int64 until an operation gives it another type.
    pub fn literal(&mut self, value: Literal) -> Node {
        let kind = match value {
            Literal::Bool(_) => Type::Bool,
            Literal::Null | Literal::Int(_) => Type::Int64,
            Literal::Float(_) => Type::Float64,
            Literal::String(_) => Type::String,
        };
        let node = self.push(Op::Literal, kind, &[]);
        self.steps[node.0].literal = Some(value);
        node
    }

    /// A new constant with the value of `node` and the type `to`, if it is a constant that has one.
    fn retyped(&mut self, node: Node, to: Type) -> Option<Node> {
        let value = self.steps[node.0].literal.clone()?;
        let value = match value {
            Literal::Null => Literal::Null,
            Literal::Int(value) => match to.integer() {
                Some((bits, signed)) => {
                    let fits = if signed {
                        bits == 64 || (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(&value)
                    } else {
                        value >= 0 && (bits == 64 || value < 1i64 << bits)
                    };
                    fits.then_some(Literal::Int(value))?
                }
                None if to == Type::Float64 && value as f64 as i128 == i128::from(value) => {
                    Literal::Float(value as f64)
                }
                None => return None,
            },
            Literal::Float(value) if to == Type::Float32 => Literal::Float(value),
            _ => return None,
        };
        let new = self.push(Op::Literal, to, &[]);
        self.steps[new.0].literal = Some(value);
        Some(new)
    }

    fn to(&mut self, node: Node, kind: Type) -> Node {
        if self.kind(node) == kind {
            return node;
        }
        self.retyped(node, kind).unwrap_or_else(|| self.push(Op::Cast, kind, &[node]))
    }

    fn is_null_literal(&self, node: Node) -> bool {
        self.steps[node.0].literal == Some(Literal::Null)
    }

    /// Numbers become int64 or float64; everything else stays.
    fn widened(&mut self, node: Node) -> Node {
        match self.kind(node) {
            kind if kind.integer().is_some() => self.to(node, Type::Int64),
            Type::Float32 => self.to(node, Type::Float64),
            _ => node,
        }
    }

    /// A unary operation: negation, NOT, IS NULL, length.
    pub fn unary(&mut self, op: Op, node: Node) -> Result<Node> {
        let node = if op == Op::IsNull { node } else { self.widened(node) };
        let kind = self.kind(node);
        let result = match (op, kind) {
            (Op::Negate, Type::Int64 | Type::Float64) => kind,
            (Op::Not, Type::Bool) | (Op::IsNull, _) => Type::Bool,
            (Op::Length, Type::String) => Type::Int64,
            _ => return refuse(format!("{} does not take {kind}", op.sign())),
        };
        Ok(self.push(op, result, &[node]))
    }

    /// A binary operation. Numbers of different types meet as float64 if one is a float, else as
    /// int64; `/` always divides floats.
    pub fn binary(&mut self, op: Op, left: Node, right: Node) -> Result<Node> {
        // A NULL takes the type of the other side.
        let (left, right) = match (self.is_null_literal(left), self.is_null_literal(right)) {
            (true, false) => (self.to(left, self.kind(right)), right),
            (false, true) => (left, self.to(right, self.kind(left))),
            _ => (left, right),
        };
        let (left, right) = (self.widened(left), self.widened(right));
        let (a, b) = (self.kind(left), self.kind(right));
        let both = |kind: Type| a == kind && b == kind;
        let numbers = a.is_number() && b.is_number();
        match op {
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder if numbers => {
                let integers = both(Type::Int64) && op != Op::Divide;
                let kind = if integers { Type::Int64 } else { Type::Float64 };
                let operands = [self.to(left, kind), self.to(right, kind)];
                Ok(self.push(op, kind, &operands))
            }
            Op::Equal
            | Op::NotEqual
            | Op::Less
            | Op::LessEqual
            | Op::Greater
            | Op::GreaterEqual
                if numbers || both(Type::String) || both(Type::Bool) =>
            {
                let kind = if numbers && a != b { Type::Float64 } else { a };
                let operands = [self.to(left, kind), self.to(right, kind)];
                Ok(self.push(op, Type::Bool, &operands))
            }
            Op::And | Op::Or if both(Type::Bool) => Ok(self.push(op, Type::Bool, &[left, right])),
            Op::Contains if both(Type::String) => Ok(self.push(op, Type::Bool, &[left, right])),
            _ => refuse(format!("{} does not take {a} and {b}", op.sign())),
        }
    }

    /// A call of a user-defined function.
    pub fn call(&mut self, function: Arc<dyn ScalarFunction>, arguments: &[Node]) -> Result<Node> {
        let name = function.name().to_owned();
        let declared = function.parameters(arguments.len()).map_err(Error::Sql)?;
        let mut nodes = Vec::with_capacity(arguments.len());
        for (index, (node, kind)) in arguments.iter().zip(&declared).enumerate() {
            let given = self.kind(*node);
            if given == *kind {
                nodes.push(*node);
            } else if let Some(constant) = self.retyped(*node, *kind) {
                nodes.push(constant);
            } else if given.widens_to(*kind) {
                nodes.push(self.push(Op::Cast, *kind, &[*node]));
            } else {
                return refuse(format!(
                    "argument {} of {name} is {given}, which does not widen to the declared {kind}",
                    index + 1
                ));
            }
        }
        let known = self.functions.iter().position(|f| Arc::ptr_eq(f, &function));
        let index = known.unwrap_or_else(|| {
            self.functions.push(function.clone());
            self.functions.len() - 1
        });
        let node = self.push(Op::Call, function.returns(), &nodes);
        self.steps[node.0].function = index;
        Ok(node)
    }

    /// Keeps the rows for which `node` is true.
    pub fn filter(&mut self, node: Node) -> Result<()> {
        if self.kind(node) != Type::Bool {
            return refuse(format!("WHERE needs a bool and got {}", self.kind(node)));
        }
        self.filter = Some(node);
        Ok(())
    }

    /// Groups by `node`; an output of [`Plan::key`] gives it back.
    pub fn group(&mut self, node: Node) -> Result<()> {
        let node = self.widened(node);
        let kind = self.kind(node);
        if !matches!(kind, Type::Int64 | Type::Float64 | Type::Bool | Type::String) {
            return refuse(format!("cannot group by {kind}"));
        }
        self.group = Some(node);
        Ok(())
    }

    /// Outputs an expression.
    pub fn output(&mut self, name: &str, node: Node) {
        self.outputs.push((name.into(), self.kind(node)));
        self.aggregates.push((Aggregate::None, Some(node)));
    }

    /// Outputs the grouping key.
    pub fn key(&mut self, name: &str) -> Result<()> {
        let Some(node) = self.group else { return refuse("there is no GROUP BY".into()) };
        self.output(name, node);
        Ok(())
    }

    /// Outputs an aggregate; `None` counts rows.
    pub fn aggregate(&mut self, name: &str, which: Aggregate, over: Option<Node>) -> Result<()> {
        let over = match (which, over) {
            (Aggregate::CountRows, _) | (_, None) => None,
            (Aggregate::Count, Some(node)) => Some(node),
            (_, Some(node)) => Some(self.widened(node)),
        };
        let kind = over.map_or(Type::Int64, |node| self.kind(node));
        let fits = match which {
            Aggregate::Sum => matches!(kind, Type::Int64 | Type::Float64),
            Aggregate::Min | Aggregate::Max => {
                matches!(kind, Type::Int64 | Type::Float64 | Type::Bool | Type::String)
            }
            _ => true,
        };
        if !fits {
            return refuse(format!("{which:?} does not take {kind}").to_lowercase());
        }
        let counts = matches!(which, Aggregate::CountRows | Aggregate::Count);
        self.outputs.push((name.into(), if counts { Type::Int64 } else { kind }));
        self.aggregates.push((which, over));
        Ok(())
    }

    pub(crate) fn spec(&self, options: Options) -> ffi::QuerySpec {
        let nodes = self.steps.iter().map(|step| {
            let literal = step.literal.as_ref();
            ffi::Node {
                op: step.op as u8,
                type_id: step.kind as u8,
                column: step.column,
                null: literal == Some(&Literal::Null),
                integer: match literal {
                    Some(Literal::Int(value)) => *value,
                    Some(Literal::Bool(value)) => i64::from(*value),
                    _ => 0,
                },
                real: if let Some(Literal::Float(value)) = literal { *value } else { 0.0 },
                text: match literal {
                    Some(Literal::String(value)) => value.clone(),
                    _ => String::new(),
                },
                function: step.function,
                arguments: step.arguments.clone(),
            }
        });
        ffi::QuerySpec {
            nodes: nodes.collect(),
            columns: self.columns.clone(),
            filter: self.filter.map_or(NONE, |node| node.0),
            group: self.group.map_or(NONE, |node| node.0),
            outputs: self
                .aggregates
                .iter()
                .map(|(which, node)| ffi::OutputSpec {
                    aggregate: *which as u8,
                    node: node.map_or(NONE, |node| node.0),
                })
                .collect(),
            block_rows: i64::try_from(options.block_rows).unwrap_or(i64::MAX),
            threads: options.threads,
        }
    }
}
