//! The same value in another type, where nothing is lost.

#[cfg(test)]
mod tests;

use serde_json::{Number, Value};

use crate::rename::{ARRAY, BOOLEAN, INTEGER, NUMBER, STRING, Types, type_of};

/// Up to which a whole number is exact as an `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Up to which a number with a fraction is written without an exponent by everybody.
const PLAIN: f64 = 1e15;

/// Whether a value is of one of the types, as it is spelled: `3.0` is a number and no integer.
pub(super) fn is_of(value: &Value, types: Types) -> bool {
    let own = type_of(value);
    own & types != 0 || (own == INTEGER && types & NUMBER != 0)
}

/// The value as the one of the types that it can be without loss; `None` where there is none, or more than one.
pub(super) fn lossless(value: &Value, types: Types) -> Option<Value> {
    let mut found: Vec<Value> = Vec::new();
    for target in [INTEGER, NUMBER, BOOLEAN, STRING] {
        if types & target != 0
            && let Some(other) = to(value, target)
            && !found.contains(&other)
        {
            found.push(other);
        }
    }
    if found.len() == 1 { found.pop() } else { None }
}

/// Whether a value may become the only item of an array of such items.
pub(super) fn fits_alone(value: &Value, items: Option<Types>) -> bool {
    let scalar_or_object = !value.is_null() && !value.is_array();
    scalar_or_object
        && items.is_none_or(|types| {
            types & ARRAY == 0 && (is_of(value, types) || lossless(value, types).is_some())
        })
}

fn to(value: &Value, target: Types) -> Option<Value> {
    match (value, target) {
        (Value::String(text), INTEGER) => integer(text).map(Value::Number),
        (Value::String(text), NUMBER) => integer(text).or_else(|| fraction(text)).map(Value::Number),
        (Value::String(text), BOOLEAN) => match text.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        (Value::Bool(truth), STRING) => Some(Value::String(truth.to_string())),
        (Value::Number(number), STRING) => written(number).map(Value::String),
        (Value::Number(number), INTEGER) => whole(number).map(Value::Number),
        _ => None,
    }
}

/// Digits as [`Number`] writes them: no sign but a minus, no leading zero, exact in 64 bits.
fn integer(text: &str) -> Option<Number> {
    let number =
        text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()?;
    (number.to_string() == text).then_some(number)
}

/// A number that is written the same way again.
fn fraction(text: &str) -> Option<Number> {
    let number = Number::from_f64(text.parse::<f64>().ok()?)?;
    (written(&number)? == text).then_some(number)
}

/// How everybody writes a number.
fn written(number: &Number) -> Option<String> {
    if !number.is_f64() {
        return Some(number.to_string());
    }
    let value = number.as_f64()?;
    let text = number.to_string();
    let is_plain = (0.0..PLAIN).contains(&value.abs()) && !text.contains(['e', 'E']);
    (value.fract() != 0.0 && is_plain).then_some(text)
}

/// `3.0` as 3.
fn whole(number: &Number) -> Option<Number> {
    let value = number.as_f64().filter(|_| number.is_f64())?;
    let exact = value.fract() == 0.0 && value.abs() <= EXACT && !(value == 0.0 && value.is_sign_negative());
    #[expect(clippy::cast_possible_truncation, reason = "whole, and exact as an `i64`")]
    exact.then_some(Number::from(value as i64))
}
