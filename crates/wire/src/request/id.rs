use std::fmt;

use serde_json::value::RawValue;

use crate::json::{Kind, is_integer, kind, string};

/// Bytes of an id as it is spelled: it is kept as long as the request, and repeated in every message about it.
const MOST: usize = 256;

/// A request id: a string or an integer. Its bytes are kept, so that an answer repeats them exactly.
#[derive(Clone)]
pub struct RequestId(Box<RawValue>);

impl RequestId {
    /// Takes a raw id; `None` for `null`, fractions, exponents, what is neither string nor number, and what is
    /// spelled with more than 256 bytes.
    pub fn from_raw(raw: &RawValue) -> Option<Self> {
        if raw.get().len() > MOST {
            return None;
        }
        let valid = match kind(raw) {
            Kind::String => string(raw).is_some(),
            Kind::Number => is_integer(raw),
            Kind::Object | Kind::Array | Kind::Boolean | Kind::Null => false,
        };
        valid.then(|| Self(raw.to_owned()))
    }

    /// The id as JSON text.
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Eq for RequestId {}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({})", self.0.get())
    }
}
