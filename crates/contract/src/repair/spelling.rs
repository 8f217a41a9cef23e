//! Members of an enumeration, and their new spelling.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::canonical::same_value;
use crate::rename::{Types, type_of};

/// The longest text that is compared, in bytes.
const MAX_TEXT: usize = 256;

/// The members that one schema enumerates. Only scalars are compared.
pub(super) struct Members<'a> {
    /// Of which types they are.
    pub(super) types: Types,
    texts: HashSet<&'a str>,
    others: Vec<&'a Value>,
    /// By form; nothing where several have it.
    forms: HashMap<String, Option<&'a str>>,
}

impl<'a> Members<'a> {
    pub(super) fn new(members: &[&'a Value]) -> Self {
        let types = members.iter().fold(0, |types, member| types | type_of(member));
        let texts: HashSet<&str> = members.iter().filter_map(|member| member.as_str()).collect();
        let scalar = |member: &&&Value| !member.is_array() && !member.is_object() && !member.is_string();
        let others = members.iter().filter(scalar).copied().collect();
        let mut forms: HashMap<String, Option<&str>> = HashMap::new();
        for text in &texts {
            if let Some(form) = form(text) {
                forms.entry(form).and_modify(|known| *known = None).or_insert(Some(text));
            }
        }
        Self { types, texts, others, forms }
    }

    /// How many are compared with a value one by one.
    pub(super) fn compared(&self) -> usize {
        self.others.len()
    }

    /// Whether a value is one of them.
    pub(super) fn holds(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.texts.contains(text.as_str()),
            _ => self.others.iter().any(|member| same_value(value, member)),
        }
    }

    /// The one member that differs in case and separators alone; `None` where there is none, or more than one.
    pub(super) fn respelled(&self, text: &str) -> Option<&'a str> {
        *self.forms.get(&form(text)?)?
    }
}

/// Lower case without the separators between two characters, unless both are digits. One character alone may mean
/// something else in the other case (`m`, `M`), so it has no form.
fn form(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT || text.chars().count() < 2 {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let mut form = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1);
        let between = before.zip(after).is_some_and(|(before, after)| {
            before.is_alphanumeric()
                && after.is_alphanumeric()
                && !(before.is_numeric() && after.is_numeric())
        });
        if !(matches!(c, ' ' | '_' | '-' | '.') && between) {
            form.extend(c.to_lowercase());
        }
    }
    Some(form)
}
