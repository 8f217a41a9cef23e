use std::collections::HashMap;

use serde_json::Value;

use crate::pointer::escaped;
use crate::schema::reference::References;

/// One of two schemas that are compared, with the place of each value in it.
pub(super) struct Document<'a> {
    pub(super) root: &'a Value,
    references: References<'a>,
    /// By address: the index of the value's place.
    places: HashMap<*const Value, usize>,
    steps: Vec<Step<'a>>,
    /// Where the whole is in its definition.
    member: &'static str,
}

struct Step<'a> {
    parent: usize,
    last: Token<'a>,
}

enum Token<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> Document<'a> {
    /// `member` is the pointer of the whole within the definition, such as `/inputSchema`.
    pub(super) fn new(root: &'a Value, member: &'static str) -> Self {
        let mut document = Self {
            root,
            references: References::new(root),
            places: HashMap::new(),
            steps: Vec::new(),
            member,
        };
        let mut waiting = vec![(root, 0, Token::Root)];
        while let Some((value, parent, last)) = waiting.pop() {
            let here = document.steps.len();
            document.places.insert(std::ptr::from_ref(value), here);
            document.steps.push(Step { parent, last });
            match value {
                Value::Object(members) => {
                    waiting.extend(members.iter().map(|(key, value)| (value, here, Token::Key(key))));
                }
                Value::Array(items) => {
                    waiting.extend(
                        items.iter().enumerate().map(|(index, value)| (value, here, Token::Index(index))),
                    );
                }
                _ => {}
            }
        }
        document
    }

    /// The schema that a schema's reference leads to.
    pub(super) fn target(&self, schema: &Value, key: &str) -> Option<&'a Value> {
        self.references.target(schema.get(key)?.as_str()?)
    }

    /// Whether it is in doubt where references lead.
    pub(super) fn doubtful(&self) -> bool {
        self.references.repeated()
    }

    /// The JSON Pointer of a value of this schema, from the definition's root.
    pub(super) fn place(&self, value: &Value) -> String {
        let mut tokens = Vec::new();
        let mut at = self.places.get(&std::ptr::from_ref(value)).copied();
        while let Some(step) = at.and_then(|index| self.steps.get(index)) {
            at = match step.last {
                Token::Root => None,
                Token::Key(key) => {
                    tokens.push(escaped(key));
                    Some(step.parent)
                }
                Token::Index(index) => {
                    tokens.push(index.to_string());
                    Some(step.parent)
                }
            };
        }
        tokens.iter().rev().fold(self.member.to_owned(), |path, token| path + "/" + token)
    }

    /// What is here where the other schema has this value.
    pub(super) fn at_place_of(&self, other: &Self, value: &Value) -> Option<&'a Value> {
        self.root.pointer(other.place(value).strip_prefix(other.member)?)
    }

    /// How many values there are.
    pub(super) fn size(&self) -> usize {
        self.steps.len()
    }

    /// The place of a value of this schema within it, as a fragment of a URI.
    pub(super) fn fragment(&self, value: &Value) -> String {
        let place = self.place(value);
        let inner = place.strip_prefix(self.member).unwrap_or_default();
        inner.bytes().fold("#".to_owned(), |fragment, byte| {
            if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
                fragment + char::from(byte).encode_utf8(&mut [0; 4])
            } else {
                fragment + &format!("%{byte:02X}")
            }
        })
    }
}

/// The place of a member of an object.
pub(super) fn member_of(path: &str, key: &str) -> String {
    format!("{path}/{}", escaped(key))
}
