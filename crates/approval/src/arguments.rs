//! The digest under which two spellings of the same arguments are one action.
//!
//! Key order, white space, string escapes and the spelling of a number (`1`, `1.0`, `1e0`) do not count, so that a
//! denial cannot be walked around by writing the same arguments differently. Integers are compared exactly over the
//! whole range of i64 and u64, where RFC 8785 would merge those above 2^53.

#[cfg(test)]
mod tests;

use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// Below this a whole double is written as an integer: every spelling of it that fits i64 or u64 reads as one.
const INTEGERS: f64 = 18_446_744_073_709_551_616.0;

/// Arguments that are not JSON; the guard has refused such a body before.
#[derive(Debug, thiserror::Error)]
#[error("the arguments are not valid JSON; send one JSON object")]
pub struct ArgumentsFault(#[from] serde_json::Error);

/// SHA-256 over the normal form of `arguments`, as `sha256:<hex>`; absent arguments count as `{}`.
///
/// # Errors
/// Where the text is not JSON or nested deeper than 128.
pub fn digest(arguments: Option<&RawValue>) -> Result<String, ArgumentsFault> {
    let value: Value = match arguments {
        Some(raw) => serde_json::from_str(raw.get())?,
        None => Value::Object(serde_json::Map::new()),
    };
    let mut normal = String::new();
    write(&value, &mut normal);
    Ok(format!("sha256:{}", hex::encode(Sha256::digest(normal.as_bytes()))))
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&spelling(number)),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|left, right| left.0.cmp(right.0));
            out.push('{');
            for (index, (key, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&Value::String(text.to_owned()).to_string());
}

fn spelling(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float == 0.0 => "0".to_owned(),
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < INTEGERS => {
            format!("{float:.0}")
        }
        _ => number.to_string(),
    }
}
