//! The SQL front door: `SELECT exprs FROM table [WHERE ...] [GROUP BY expr]`, and nothing else.
//!
//! What is not supported is refused by name, never ignored.

use std::sync::Arc;

use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr,
    ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor, UnaryOperator, Value,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use crate::plan::{Aggregate, Literal, Node, Op, Plan};
use crate::{Error, Result, ScalarFunction, Table};

/// Where a query finds what it names.
pub trait Catalog {
    /// The table of this name.
    fn table(&self, name: &str) -> Option<Arc<Table>>;
    /// The user-defined function of this name.
    fn function(&self, name: &str) -> Option<Arc<dyn ScalarFunction>>;
}

fn refuse<T>(text: impl Into<String>) -> Result<T> {
    Err(Error::Sql(text.into()))
}

fn unsupported<T>(what: &str) -> Result<T> {
    refuse(format!(
        "{what} is not supported; this engine reads SELECT ... FROM one table [WHERE ...] \
         [GROUP BY one expression]"
    ))
}

/// Reads one SELECT and plans it.
///
/// # Errors
/// Text that is not SQL, names that the catalog does not have, types that do not fit, and parts of
/// SQL that this engine does not have.
pub fn plan(sql: &str, catalog: &dyn Catalog) -> Result<Plan> {
    let mut statements = Parser::parse_sql(&GenericDialect {}, sql)
        .map_err(|error| Error::Sql(error.to_string()))?;
    let Some(Statement::Query(query)) = statements.pop() else {
        return refuse("only SELECT can be run");
    };
    if !statements.is_empty() {
        return refuse("one statement at a time");
    }
    let select = select_of(&query)?;
    let name = table_of(select)?;
    let Some(table) = catalog.table(&name) else { return refuse(format!("no table {name:?}")) };
    let mut planner = Planner { plan: Plan::new(table), catalog };
    planner.select(select)?;
    Ok(planner.plan)
}

fn select_of(query: &Query) -> Result<&Select> {
    if query.with.is_some() {
        return unsupported("WITH");
    }
    if query.order_by.is_some() {
        return unsupported("ORDER BY");
    }
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return unsupported("LIMIT");
    }
    let select = match &*query.body {
        SetExpr::Select(select) => select,
        SetExpr::SetOperation { op, .. } => return unsupported(&op.to_string()),
        _ => return unsupported("a query without SELECT"),
    };
    match &select.distinct {
        None | Some(Distinct::All) => {}
        Some(_) => return unsupported("DISTINCT"),
    }
    if select.having.is_some() {
        return unsupported("HAVING");
    }
    if select.qualify.is_some() {
        return unsupported("QUALIFY");
    }
    // Whatever else the dialect knows: the query must read the same with the known parts alone.
    let mut plain = Vec::new();
    plain.push("SELECT".to_owned());
    plain.push(select.projection.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    if !select.from.is_empty() {
        let from: Vec<_> = select.from.iter().map(ToString::to_string).collect();
        plain.push(format!("FROM {}", from.join(", ")));
    }
    if let Some(filter) = &select.selection {
        plain.push(format!("WHERE {filter}"));
    }
    if let GroupByExpr::Expressions(keys, _) = &select.group_by
        && !keys.is_empty()
    {
        let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
        plain.push(format!("GROUP BY {}", keys.join(", ")));
    }
    let (plain, whole) = (plain.join(" "), query.to_string());
    if plain != whole {
        return unsupported(&format!("{whole:?} (only {plain:?} of it)"));
    }
    Ok(select)
}

fn table_of(select: &Select) -> Result<String> {
    let [from] = &select.from[..] else {
        return if select.from.is_empty() {
            unsupported("a SELECT without FROM")
        } else {
            unsupported("a list of tables")
        };
    };
    if !from.joins.is_empty() {
        return unsupported("JOIN");
    }
    match &from.relation {
        TableFactor::Table { name, .. } if from.relation.to_string() == name.to_string() => {
            single(name, "table")
        }
        TableFactor::Table { .. } => unsupported(&format!("FROM {}", from.relation)),
        TableFactor::Derived { .. } => unsupported("a subquery"),
        other => unsupported(&format!("FROM {other}")),
    }
}

fn single(name: &ObjectName, what: &str) -> Result<String> {
    match &name.0[..] {
        [part] => match part.as_ident() {
            Some(ident) => Ok(ident.value.clone()),
            None => unsupported(&format!("{what} name {name}")),
        },
        _ => unsupported(&format!("the qualified {what} name {name}")),
    }
}

struct Planner<'a> {
    plan: Plan,
    catalog: &'a dyn Catalog,
}

impl Planner<'_> {
    fn select(&mut self, select: &Select) -> Result<()> {
        if let Some(filter) = &select.selection {
            let node = self.expr(filter)?;
            self.plan.filter(node)?;
        }
        let key = match &select.group_by {
            GroupByExpr::Expressions(keys, _) => match &keys[..] {
                [] => None,
                [key] => {
                    let node = self.expr(key)?;
                    self.plan.group(node)?;
                    Some(key)
                }
                _ => return unsupported("GROUP BY more than one expression"),
            },
            GroupByExpr::All(_) => return unsupported("GROUP BY ALL"),
        };
        let aggregating = key.is_some()
            || select.projection.iter().any(|item| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    aggregate_of(expr).is_some()
                }
                _ => false,
            });
        for item in &select.projection {
            let (expr, name) = match item {
                SelectItem::UnnamedExpr(Expr::Identifier(ident)) => {
                    (&Expr::Identifier(ident.clone()), ident.value.clone())
                }
                SelectItem::UnnamedExpr(expr) => (expr, expr.to_string()),
                SelectItem::ExprWithAlias { expr, alias } => (expr, alias.value.clone()),
                SelectItem::Wildcard(_) if item.to_string() == "*" && !aggregating => {
                    let names: Vec<String> = self
                        .plan
                        .table
                        .schema()
                        .fields()
                        .iter()
                        .map(|f| f.name().clone())
                        .collect();
                    for name in names {
                        let node = self.plan.column(&name)?;
                        self.plan.output(&name, node);
                    }
                    continue;
                }
                other => return unsupported(&other.to_string()),
            };
            if let Some(which) = aggregate_of(expr) {
                self.aggregate(&name, which, expr)?;
            } else if key == Some(expr) {
                self.plan.key(&name)?;
            } else if aggregating {
                return refuse(format!(
                    "{expr} is neither an aggregate nor the GROUP BY expression; expressions over \
                     aggregates are not supported"
                ));
            } else {
                let node = self.expr(expr)?;
                self.plan.output(&name, node);
            }
        }
        Ok(())
    }

    fn aggregate(&mut self, name: &str, which: Aggregate, expr: &Expr) -> Result<()> {
        let Expr::Function(call) = expr else { return unsupported(&expr.to_string()) };
        let arguments = arguments_of(call)?;
        match &arguments[..] {
            [FunctionArgExpr::Wildcard] if which == Aggregate::Count => {
                self.plan.aggregate(name, Aggregate::CountRows, None)
            }
            [FunctionArgExpr::Expr(argument)] => {
                let node = self.expr(argument)?;
                self.plan.aggregate(name, which, Some(node))
            }
            _ => refuse(format!("{expr}: this aggregate takes one argument")),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Result<Node> {
        match expr {
            Expr::Identifier(ident) => self.plan.column(&ident.value),
            Expr::Nested(inner) => self.expr(inner),
            Expr::Value(value) => self.value(&value.value),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => {
                // -9223372036854775808 is a literal that its digits alone are not.
                if let Expr::Value(value) = &**inner
                    && let Value::Number(digits, _) = &value.value
                {
                    return self.number(&format!("-{digits}"));
                }
                let node = self.expr(inner)?;
                self.plan.unary(Op::Negate, node)
            }
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => self.expr(expr),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => self.unary(Op::Not, expr),
            Expr::IsNull(inner) => self.unary(Op::IsNull, inner),
            Expr::IsNotNull(inner) => {
                let node = self.unary(Op::IsNull, inner)?;
                self.plan.unary(Op::Not, node)
            }
            Expr::BinaryOp { left, op, right } => {
                let op = match op {
                    BinaryOperator::Plus => Op::Add,
                    BinaryOperator::Minus => Op::Subtract,
                    BinaryOperator::Multiply => Op::Multiply,
                    BinaryOperator::Divide => Op::Divide,
                    BinaryOperator::Modulo => Op::Remainder,
                    BinaryOperator::Eq => Op::Equal,
                    BinaryOperator::NotEq => Op::NotEqual,
                    BinaryOperator::Lt => Op::Less,
                    BinaryOperator::LtEq => Op::LessEqual,
                    BinaryOperator::Gt => Op::Greater,
                    BinaryOperator::GtEq => Op::GreaterEqual,
                    BinaryOperator::And => Op::And,
                    BinaryOperator::Or => Op::Or,
                    other => return unsupported(&format!("the operator {other}")),
                };
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.plan.binary(op, left, right)
            }
            Expr::Function(call) => {
                if let Some(which) = aggregate_of(expr) {
                    return refuse(format!(
                        "{which:?} within an expression: an aggregate stands alone in the SELECT list"
                    ));
                }
                let name = single(&call.name, "function")?;
                let mut nodes = Vec::new();
                for argument in arguments_of(call)? {
                    let FunctionArgExpr::Expr(argument) = argument else {
                        return unsupported(&format!("{argument} as an argument of {name}"));
                    };
                    nodes.push(self.expr(argument)?);
                }
                self.call(&name, &nodes)
            }
            Expr::Between { .. } => unsupported("BETWEEN"),
            Expr::In { .. } => unsupported("IN"),
            Expr::Like { .. } | Expr::ILike { .. } => unsupported("LIKE (use contains)"),
            Expr::Case { .. } => unsupported("CASE"),
            Expr::Cast { .. } => unsupported("CAST"),
            Expr::Subquery(_) | Expr::Exists { .. } => unsupported("a subquery"),
            other => unsupported(&other.to_string()),
        }
    }

    fn unary(&mut self, op: Op, inner: &Expr) -> Result<Node> {
        let node = self.expr(inner)?;
        self.plan.unary(op, node)
    }

    fn call(&mut self, name: &str, nodes: &[Node]) -> Result<Node> {
        // A function that the user registered goes before a built-in one of the same name.
        if let Some(function) = self.catalog.function(name) {
            return self.plan.call(function, nodes);
        }
        match (name.to_lowercase().as_str(), nodes) {
            ("length", [node]) => self.plan.unary(Op::Length, *node),
            ("contains", [text, part]) => self.plan.binary(Op::Contains, *text, *part),
            ("length", _) => refuse("length takes one argument"),
            ("contains", _) => refuse("contains takes two arguments"),
            _ => refuse(format!("no function {name:?}; register it first, or check its spelling")),
        }
    }

    fn value(&mut self, value: &Value) -> Result<Node> {
        let literal = match value {
            Value::Number(digits, _) => return self.number(digits),
            Value::SingleQuotedString(text) => Literal::String(text.clone()),
            Value::Boolean(value) => Literal::Bool(*value),
            Value::Null => Literal::Null,
            other => return unsupported(&format!("the literal {other}")),
        };
        Ok(self.plan.literal(literal))
    }

    fn number(&mut self, digits: &str) -> Result<Node> {
        let literal = if let Ok(value) = digits.parse::<i64>() {
            Literal::Int(value)
        } else if digits.contains(['.', 'e', 'E']) {
            match digits.parse::<f64>() {
                Ok(value) => Literal::Float(value),
                Err(_) => return refuse(format!("{digits} is not a number")),
            }
        } else {
            return refuse(format!("{digits} does not fit int64; write {digits}.0 for a float64"));
        };
        Ok(self.plan.literal(literal))
    }
}

fn aggregate_of(expr: &Expr) -> Option<Aggregate> {
    let Expr::Function(call) = expr else { return None };
    match single(&call.name, "function").ok()?.to_lowercase().as_str() {
        "sum" => Some(Aggregate::Sum),
        "count" => Some(Aggregate::Count),
        "min" => Some(Aggregate::Min),
        "max" => Some(Aggregate::Max),
        _ => None,
    }
}

fn arguments_of(call: &sqlparser::ast::Function) -> Result<Vec<&FunctionArgExpr>> {
    if call.over.is_some() {
        return unsupported("OVER");
    }
    let FunctionArguments::List(list) = &call.args else {
        return unsupported(&call.to_string());
    };
    if list.duplicate_treatment.is_some() {
        return unsupported(&format!("DISTINCT or ALL in {call}"));
    }
    if call.filter.is_some()
        || call.null_treatment.is_some()
        || !call.within_group.is_empty()
        || !list.clauses.is_empty()
        || call.parameters != FunctionArguments::None
    {
        return unsupported(&call.to_string());
    }
    list.args
        .iter()
        .map(|argument| match argument {
            FunctionArg::Unnamed(expr) => Ok(expr),
            other => unsupported(&format!("the named argument {other}")),
        })
        .collect()
}
