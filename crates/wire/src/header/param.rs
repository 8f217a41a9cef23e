use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{PARAM_PREFIX, ParamHeader, ParamType, decode_value, encode_value};
use crate::decimal::Decimal;

/// A `Mcp-Param-*` header and the argument that it mirrors do not agree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamFault {
    /// The argument is there, the header is not.
    #[error("the header `{header}` is missing; mirror the argument `{argument}` in it")]
    Missing {
        /// The header.
        header: HeaderName,
        /// The argument's path, joined with dots.
        argument: String,
    },
    /// The header is there, the argument is absent or `null`.
    #[error("the header `{header}` is there, but the argument `{argument}` is not; leave the header out")]
    Unexpected {
        /// The header.
        header: HeaderName,
        /// The argument's path, joined with dots.
        argument: String,
    },
    /// The header occurs more than once.
    #[error("the header `{header}` is repeated; send it once")]
    Repeated {
        /// The header.
        header: HeaderName,
    },
    /// The header's value cannot be read.
    #[error("the header `{header}` is malformed; send printable ASCII, or UTF-8 as `=?base64?…?=`")]
    Malformed {
        /// The header.
        header: HeaderName,
    },
    /// The two values differ.
    #[error("the header `{header}` differs from the argument `{argument}`; send the same in both")]
    Unequal {
        /// The header.
        header: HeaderName,
        /// The argument's path, joined with dots.
        argument: String,
    },
    /// The argument has another type than its schema says, or is an integer beyond ±(2^53−1).
    #[error(
        "the argument `{argument}` cannot stand in the header `{header}`; send the type that the schema names, integers within ±(2^53−1)"
    )]
    Unrepresentable {
        /// The header.
        header: HeaderName,
        /// The argument's path, joined with dots.
        argument: String,
    },
}

/// Checks the headers that a tool declares against the arguments (§ Server Validation). Integers compare by value.
///
/// # Errors
/// The first header that does not agree; the answer is 400 with [`crate::code::HEADER_MISMATCH`].
pub fn check_params(
    headers: &HeaderMap,
    declared: &[ParamHeader],
    arguments: Option<&RawValue>,
) -> Result<(), ParamFault> {
    let arguments = tree(declared, arguments);
    declared.iter().try_for_each(|param| param.check(headers, arguments.as_ref()))
}

/// The headers that mirror the arguments of one upstream call.
///
/// # Errors
/// An argument that no header can mirror.
pub fn make_params(
    declared: &[ParamHeader],
    arguments: Option<&RawValue>,
) -> Result<Vec<(HeaderName, HeaderValue)>, ParamFault> {
    let arguments = tree(declared, arguments);
    let mut made = Vec::with_capacity(declared.len());
    for param in declared {
        if let Some(text) = param.expected(arguments.as_ref())? {
            let value = HeaderValue::try_from(encode_value(&text)).map_err(|_| param.unrepresentable())?;
            made.push((param.header.clone(), value));
        }
    }
    Ok(made)
}

/// The `Mcp-Param-*` headers that the tool does not declare, which an intermediary forwards: as many as fit the two
/// limits, the rest is left out.
pub fn unrecognised_params(
    headers: &HeaderMap,
    declared: &[ParamHeader],
    max_headers: usize,
    max_bytes: usize,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut room = max_bytes;
    headers
        .iter()
        .filter(|(name, _)| name.as_str().starts_with(PARAM_PREFIX))
        .filter(|(name, _)| !declared.iter().any(|param| param.header == **name))
        .take(max_headers)
        .map_while(|(name, value)| {
            room = room.checked_sub(name.as_str().len() + value.len())?;
            Some((name.clone(), value.clone()))
        })
        .collect()
}

/// The guard and the schema were here before: numbers are exact and depth is bounded.
fn tree(declared: &[ParamHeader], arguments: Option<&RawValue>) -> Option<Value> {
    if declared.is_empty() { None } else { serde_json::from_str(arguments?.get()).ok() }
}

/// The largest integer that all readers of a header agree on has 16 digits: 2^53 − 1.
const LARGEST: i64 = (1 << 53) - 1;

impl ParamHeader {
    /// The text that the header should have; `None` where there should be no header.
    fn expected(&self, arguments: Option<&Value>) -> Result<Option<String>, ParamFault> {
        let found = self.path.iter().try_fold(arguments, |value, step| match value {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(members)) => Ok(members.get(step)),
            Some(_) => Err(self.unrepresentable()),
        })?;
        match (self.kind, found) {
            (_, None | Some(Value::Null)) => Ok(None),
            (ParamType::String, Some(Value::String(text))) => Ok(Some(text.clone())),
            (ParamType::Boolean, Some(Value::Bool(value))) => Ok(Some(value.to_string())),
            (ParamType::Integer, Some(Value::Number(number))) => {
                let digits = Decimal::parse(&number.to_string()).and_then(|value| value.integer(16));
                match digits {
                    Some(digits) if within_bounds(&digits) => Ok(Some(digits)),
                    _ => Err(self.unrepresentable()),
                }
            }
            _ => Err(self.unrepresentable()),
        }
    }

    fn check(&self, headers: &HeaderMap, arguments: Option<&Value>) -> Result<(), ParamFault> {
        let expected = self.expected(arguments)?;
        let mut values = headers.get_all(&self.header).iter();
        let found = values.next();
        if values.next().is_some() {
            return Err(ParamFault::Repeated { header: self.header.clone() });
        }
        let found = found
            .map(|value| decode_value(value.as_bytes()))
            .transpose()
            .map_err(|_| ParamFault::Malformed { header: self.header.clone() })?;
        match (expected, found) {
            (None, None) => Ok(()),
            (Some(_), None) => {
                Err(ParamFault::Missing { header: self.header.clone(), argument: self.argument() })
            }
            (None, Some(_)) => {
                Err(ParamFault::Unexpected { header: self.header.clone(), argument: self.argument() })
            }
            (Some(expected), Some(found)) if self.same(&expected, &found) => Ok(()),
            (Some(_), Some(_)) => {
                Err(ParamFault::Unequal { header: self.header.clone(), argument: self.argument() })
            }
        }
    }

    fn same(&self, expected: &str, found: &str) -> bool {
        match self.kind {
            ParamType::Integer => {
                matches!((Decimal::parse(expected), Decimal::parse(found)), (Some(a), Some(b)) if a == b)
            }
            ParamType::String | ParamType::Boolean => expected == found,
        }
    }

    fn argument(&self) -> String {
        self.path.join(".")
    }

    fn unrepresentable(&self) -> ParamFault {
        ParamFault::Unrepresentable { header: self.header.clone(), argument: self.argument() }
    }
}

fn within_bounds(digits: &str) -> bool {
    digits.parse::<i64>().is_ok_and(|value| (-LARGEST..=LARGEST).contains(&value))
}
