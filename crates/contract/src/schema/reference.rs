use std::collections::HashMap;

use serde_json::Value;

/// Where the references of one schema lead. None leads out of it.
pub(crate) struct References<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    repeated: bool,
}

impl<'a> References<'a> {
    /// Finds every schema that has a name of its own (JSON Schema 2020-12, core §8.2.2).
    pub(crate) fn new(root: &'a Value) -> Self {
        let (mut anchors, mut repeated) = (HashMap::new(), false);
        let mut waiting = vec![root];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(members) => {
                    for key in ["$anchor", "$dynamicAnchor"] {
                        if let Some(Value::String(name)) = members.get(key) {
                            repeated |= anchors.insert(name.as_str(), value).is_some();
                        }
                    }
                    waiting.extend(members.values());
                }
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        Self { root, anchors, repeated }
    }

    /// The schema that a reference leads to; `None` where it leads out or to nothing.
    pub(crate) fn target(&self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() {
            return Some(self.root);
        }
        let pointer = percent_decoded(fragment)?;
        if pointer.starts_with('/') {
            self.root.pointer(&pointer)
        } else {
            self.anchors.get(pointer.as_str()).copied()
        }
    }

    /// Whether a name is given twice, so that a reference by it could lead to either.
    pub(crate) fn repeated(&self) -> bool {
        self.repeated
    }
}

/// The text behind percent-encoding (RFC 3986 §2.1); `None` where it is malformed.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
