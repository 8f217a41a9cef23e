//! Exact decimal values of JSON numbers, compared without floating point.

#[cfg(test)]
mod tests;

/// The value `digits × 10^exponent`; `digits` has no zero at either end, and zero has no digits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// Beyond this no two exponents are told apart; far outside of every binary format.
const FURTHEST: i64 = i64::MAX / 4;

impl Decimal {
    /// Reads a number in JSON's grammar (leading zeros are tolerated); `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, read_power(power)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (mantissa, ""),
        };
        let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let mut digits = [whole, fraction].concat();
        let scale = i64::try_from(fraction.len()).ok()?;
        let kept = digits.trim_end_matches('0').len();
        let dropped = i64::try_from(digits.len() - kept).ok()?;
        digits.truncate(kept);
        let digits = digits.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        Some(Self { negative, digits, exponent: power - scale + dropped })
    }

    /// The plain decimal digits, if the value is an integer of at most `longest` digits.
    pub(crate) fn integer(&self, longest: usize) -> Option<String> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.digits.len().checked_add(zeros)? > longest {
            return None;
        }
        if self.digits.is_empty() {
            return Some("0".to_owned());
        }
        let sign = if self.negative { "-" } else { "" };
        Some(format!("{sign}{}{}", self.digits, "0".repeat(zeros)))
    }
}

fn read_power(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(FURTHEST).min(FURTHEST);
    Some(if negative { -size } else { size })
}

/// Whether a JSON number keeps its value in every common reader: it is exact as `i64` or `u64`, or its decimal value
/// is the shortest decimal that names its nearest `f64` (so `0.1` and `1.10` pass, `12345678901234567890123` does not).
///
/// Where two decimals are equally short and equally near, printers differ, and both pass: the standard library rounds
/// such a tie up, JavaScript and Python round it to even (RFC 8785, appendix B, last example).
pub(crate) fn is_exact(text: &str) -> bool {
    let integral = !text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
    if integral && (text.len() <= 18 || text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()) {
        return true;
    }
    let Some(value) = Decimal::parse(text) else { return false };
    match text.parse::<f64>() {
        Ok(nearest) if nearest.is_finite() => {
            let is_value = |shortest: &str| Decimal::parse(shortest).is_some_and(|printed| printed == value);
            is_value(&format!("{nearest:e}")) || is_value(&serde_json::Value::from(nearest).to_string())
        }
        _ => false,
    }
}
