//! Objects read one level deep, their values left as raw JSON.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What a JSON text is, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`
    Null,
}

impl Kind {
    /// The kind with its article, for messages.
    pub const fn described(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
        }
    }
}

/// What a raw value is.
pub fn kind(raw: &RawValue) -> Kind {
    match raw.get().bytes().next() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'n') => Kind::Null,
        _ => Kind::Number,
    }
}

/// A string value, unescaped; `None` for other kinds and for strings that hold half a surrogate pair.
pub(crate) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Whether the value is a number spelled as an integer, without fraction or exponent.
pub(crate) fn is_integer(raw: &RawValue) -> bool {
    let text = raw.get();
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// A key that an object holds more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeated(pub(crate) String);

/// The members of one object in the order of the text. Keys are unescaped bytes, because a key of a foreign object
/// may hold half a surrogate pair; values borrow from the text.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    list: Vec<(Cow<'a, [u8]>, &'a RawValue)>,
}

impl<'a> Members<'a> {
    /// Reads an object; `None` if the text is not one JSON object.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value under a key, refused if the key occurs twice.
    pub(crate) fn get(&self, key: &str) -> Result<Option<&'a RawValue>, Repeated> {
        let mut found = None;
        for (candidate, value) in &self.list {
            if candidate.as_ref() == key.as_bytes() {
                if found.is_some() {
                    return Err(Repeated(key.to_owned()));
                }
                found = Some(*value);
            }
        }
        Ok(found)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether every key is Unicode text.
    pub(crate) fn are_named_in_text(&self) -> bool {
        self.list.iter().all(|(key, _)| std::str::from_utf8(key).is_ok())
    }

    /// The members in order; keys that are not Unicode are replaced where they are not.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, &'a RawValue)> {
        self.list.iter().map(|(key, value)| (String::from_utf8_lossy(key), *value))
    }

    /// The first key that equals a known one but for the case of ASCII letters, with the known one.
    pub(crate) fn miscased<'k>(&self, known: &[&'k str]) -> Option<(String, &'k str)> {
        self.list.iter().find_map(|(key, _)| {
            if known.iter().any(|name| name.as_bytes() == key.as_ref()) {
                return None;
            }
            let meant = known.iter().find(|name| name.as_bytes().eq_ignore_ascii_case(key))?;
            Some((String::from_utf8_lossy(key).into_owned(), *meant))
        })
    }
}

/// Whether a key begins with a prefix, whatever the case of its letters: some readers fold case.
pub(crate) fn has_prefix(key: &str, prefix: &str) -> bool {
    key.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

struct Key<'a>(Cow<'a, [u8]>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_bytes<E>(self, v: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(v)))
            }

            fn visit_bytes<E>(self, v: &[u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(v.to_vec())))
            }
        }
        deserializer.deserialize_bytes(KeyVisitor)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    list.push((key, map.next_value()?));
                }
                Ok(Members { list })
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}
