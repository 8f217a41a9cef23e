//! The schemas that one place of a value is checked against, references followed.

use serde_json::Value;

use crate::schema::reference::References;

/// The most schemas that are looked at for one place.
const MAX_VIEWS: usize = 64;

/// Which alternatives of `anyOf` and `oneOf` count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Alternatives {
    /// All: what may be there.
    All,
    /// The one that is left without `null`: what has to be there, once it is not null.
    Sole,
}

/// A whole schema, in which references are followed.
pub(crate) struct Whole<'a> {
    references: References<'a>,
}

impl<'a> Whole<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { references: References::new(root) }
    }

    /// The schemas in place of `schema`: itself, what it refers to, all of `allOf`, and the alternatives; at most
    /// 64. Each is there once, so circles end.
    pub(crate) fn views(&self, schema: &'a Value, alternatives: Alternatives) -> Vec<&'a Value> {
        let mut found: Vec<&Value> = vec![schema];
        let mut at = 0;
        while let Some(view) = found.get(at).copied() {
            at += 1;
            let referred = ["$ref", "$dynamicRef"]
                .iter()
                .filter_map(|key| self.references.target(view.get(*key)?.as_str()?));
            let all = view.get("allOf").and_then(Value::as_array).into_iter().flatten();
            let any = ["anyOf", "oneOf"].iter().filter_map(|key| view.get(*key)?.as_array());
            let any = any.flat_map(|branches| match alternatives {
                Alternatives::All => branches.iter().collect(),
                Alternatives::Sole => sole(branches),
            });
            for next in referred.chain(all).chain(any) {
                if found.len() >= MAX_VIEWS {
                    return found;
                }
                if !found.iter().any(|known| std::ptr::eq(*known, next)) {
                    found.push(next);
                }
            }
        }
        found
    }
}

fn sole(branches: &[Value]) -> Vec<&Value> {
    let mut other = branches.iter().filter(|branch| !is_null_type(branch));
    match (other.next(), other.next()) {
        (Some(sole), None) => vec![sole],
        _ => Vec::new(),
    }
}

fn is_null_type(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
        || schema.get("const").is_some_and(Value::is_null)
}
