#[cfg(test)]
mod tests;

use serde_json::Value;

/// Which types a value may have; whole numbers and others apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Mask(u8);

impl Mask {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const WHOLE: Self = Self(4);
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const ALL: Self = Self(127);
    pub(super) const EACH: [Self; 7] =
        [Self::NULL, Self::BOOLEAN, Self::WHOLE, Self::FRACTION, Self::STRING, Self::ARRAY, Self::OBJECT];

    /// Of the value of the keyword `type`.
    pub(super) fn of_type(value: &Value) -> Self {
        let one = |name: &str| match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::WHOLE,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        };
        match value {
            Value::String(name) => one(name),
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).fold(Self::NONE, |mask, name| mask.or(one(name)))
            }
            _ => Self::NONE,
        }
    }

    /// Of one value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.as_f64().is_some_and(|value| value.fract() != 0.0) => {
                Self::FRACTION
            }
            Value::Number(_) => Self::WHOLE,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Such as "a string or an array".
    pub(super) fn words(self) -> String {
        let number = self.and(Self::NUMBER) == Self::NUMBER;
        let words = [
            (Self::NULL, "null"),
            (Self::BOOLEAN, "a boolean"),
            (Self::WHOLE, if number { "a number" } else { "an integer" }),
            (Self::FRACTION, if number { "" } else { "a number with a fraction" }),
            (Self::STRING, "a string"),
            (Self::ARRAY, "an array"),
            (Self::OBJECT, "an object"),
        ];
        let words: Vec<&str> = words
            .iter()
            .filter(|(mask, word)| self.any(*mask) && !word.is_empty())
            .map(|(_, word)| *word)
            .collect();
        words.join(" or ")
    }
}
