//! Which parts of the context a policy reads, found in its syntax tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use cedar_policy::pst::{BinaryOp, Clause, Expr, UnaryOp, Var};

#[cfg(test)]
mod tests;

/// A place in the context: the member names from its root. The empty path is the whole context.
pub(crate) type Path = Vec<String>;

/// Every path that an expression reads. A path stands for everything below it.
pub(crate) fn of_expression(expression: &Expr) -> BTreeSet<Path> {
    expression.reduce(
        &|node| read_here(node).map(|path| BTreeSet::from([path])),
        &|mut one, other| {
            one.extend(other);
            one
        },
        BTreeSet::new(),
    )
}

/// Every path that the clauses read.
pub(crate) fn of_clauses(clauses: &[Clause]) -> BTreeSet<Path> {
    clauses
        .iter()
        .flat_map(|clause| match clause {
            Clause::When(expression) | Clause::Unless(expression) => of_expression(expression),
        })
        .collect()
}

/// Whether reading one of the two can touch the other: one begins with the other.
pub(crate) fn overlap(one: &[String], other: &[String]) -> bool {
    one.iter().zip(other).all(|(a, b)| a == b)
}

/// The path as a JSON Pointer (RFC 6901) from the context's root, such as `/args/quantity`.
pub(crate) fn pointer(path: &[String]) -> String {
    path.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

/// The conjuncts of the clauses: the policy applies when all of them hold.
///
/// `when { a && b }` gives `a`, `b`; `unless { a || b }` gives `!a`, `!b`.
pub(crate) fn conjuncts(clauses: &[Clause]) -> Vec<Arc<Expr>> {
    let mut found = Vec::new();
    for clause in clauses {
        match clause {
            Clause::When(expression) => split(expression, &mut found),
            Clause::Unless(expression) => split_negated(expression, &mut found),
        }
    }
    found
}

fn split(expression: &Arc<Expr>, found: &mut Vec<Arc<Expr>>) {
    match expression.as_ref() {
        Expr::BinaryOp { op: BinaryOp::And, left, right } => {
            split(left, found);
            split(right, found);
        }
        Expr::UnaryOp { op: UnaryOp::Not, expr } => split_negated(expr, found),
        _ => found.push(Arc::clone(expression)),
    }
}

fn split_negated(expression: &Arc<Expr>, found: &mut Vec<Arc<Expr>>) {
    match expression.as_ref() {
        Expr::BinaryOp { op: BinaryOp::Or, left, right } => {
            split_negated(left, found);
            split_negated(right, found);
        }
        _ => found.push(Arc::new(Expr::UnaryOp { op: UnaryOp::Not, expr: Arc::clone(expression) })),
    }
}

/// The path that this node reads as a whole; its children then read nothing else.
fn read_here(node: &Expr) -> Option<Path> {
    match node {
        Expr::HasAttr { expr, attrs } => path_of(expr).map(|mut path| {
            path.extend(attrs.iter().map(ToString::to_string));
            path
        }),
        other => path_of(other),
    }
}

fn path_of(expression: &Expr) -> Option<Path> {
    match expression {
        Expr::Var(Var::Context) => Some(Path::new()),
        Expr::GetAttr { expr, attr } => {
            let mut path = path_of(expr)?;
            path.push(attr.to_string());
            Some(path)
        }
        _ => None,
    }
}
