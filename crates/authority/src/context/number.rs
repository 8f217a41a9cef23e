use cedar_policy::RestrictedExpression;

use crate::shape::Shape;

/// Cedar's `decimal` holds a 64-bit count of ten-thousandths.
const SCALE: i64 = 10_000;
const SCALE_DIGITS: i64 = 4;

/// A JSON number as a Cedar value; `None` where neither `Long` nor `decimal` holds it exactly.
///
/// The contract's type rules: `integer` is a `Long` (also when written `5.0`), `number` a `decimal` (also when
/// written `5`). Where it says nothing, a whole number without fraction or exponent is a `Long`.
pub(super) fn convert(text: &str, shape: &Shape) -> Option<RestrictedExpression> {
    match shape {
        Shape::Decimal => decimal(text),
        Shape::Long => text.parse().ok().or_else(|| whole(text)).map(RestrictedExpression::new_long),
        _ => match text.parse() {
            Ok(whole) => Some(RestrictedExpression::new_long(whole)),
            Err(_) => decimal(text),
        },
    }
}

fn whole(text: &str) -> Option<i64> {
    let scaled = scaled(text)?;
    (scaled % SCALE == 0).then_some(scaled / SCALE)
}

fn decimal(text: &str) -> Option<RestrictedExpression> {
    let scaled = scaled(text)?;
    let (sign, count, scale) =
        (if scaled < 0 { "-" } else { "" }, scaled.unsigned_abs(), SCALE.unsigned_abs());
    Some(RestrictedExpression::new_decimal(format!("{sign}{}.{:04}", count / scale, count % scale)))
}

/// The number as a count of ten-thousandths, if it is one.
fn scaled(text: &str) -> Option<i64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or((1, whole), |whole| (-1, whole));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let power = exponent.checked_add(SCALE_DIGITS)?.checked_add(dropped)?.checked_sub(fraction)?;
    let factor = 10_i128.checked_pow(u32::try_from(power).ok()?)?;
    let count = significant.parse::<i128>().ok()?.checked_mul(factor)?;
    i64::try_from(count * sign).ok()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(shape: &Shape, texts: &[&str], expected: Expect) {
        let shown: Vec<String> = texts
            .iter()
            .map(|text| {
                let value = convert(text, shape).map_or("unmapped".to_owned(), |e| e.as_ref().to_string());
                format!("{text} -> {value}")
            })
            .collect();
        expected.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn numbers_are_exact_or_unmapped() {
        let odd = [
            "0",
            "-0",
            "7",
            "-7",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "1.5",
            "-0.0001",
            "1.10",
            "0.00001",
            "1.00000000000000000001",
            "5.0",
            "1e3",
            "1E-4",
            "1e-5",
            "12.5e1",
            "922337203685477.5807",
            "922337203685477.5808",
            "-922337203685477.5808",
            "1e400",
            "0e999",
            "1e99999999999999999999",
            "1e15",
            "0.000100000000000000000000000000000000000000000000",
        ];
        check(
            &Shape::Unknown,
            &odd,
            expect![[r#"
            0 -> 0
            -0 -> 0
            7 -> 7
            -7 -> (-7)
            9223372036854775807 -> 9223372036854775807
            -9223372036854775808 -> (-9223372036854775808)
            9223372036854775808 -> unmapped
            1.5 -> decimal("1.5000")
            -0.0001 -> decimal("-0.0001")
            1.10 -> decimal("1.1000")
            0.00001 -> unmapped
            1.00000000000000000001 -> unmapped
            5.0 -> decimal("5.0000")
            1e3 -> decimal("1000.0000")
            1E-4 -> decimal("0.0001")
            1e-5 -> unmapped
            12.5e1 -> decimal("125.0000")
            922337203685477.5807 -> decimal("922337203685477.5807")
            922337203685477.5808 -> unmapped
            -922337203685477.5808 -> decimal("-922337203685477.5808")
            1e400 -> unmapped
            0e999 -> decimal("0.0000")
            1e99999999999999999999 -> unmapped
            1e15 -> unmapped
            0.000100000000000000000000000000000000000000000000 -> decimal("0.0001")"#]],
        );
        check(
            &Shape::Long,
            &["7", "5.0", "5.5", "1e3", "9223372036854775808"],
            expect![[r#"
            7 -> 7
            5.0 -> 5
            5.5 -> unmapped
            1e3 -> 1000
            9223372036854775808 -> unmapped"#]],
        );
        check(
            &Shape::Decimal,
            &["7", "5.5", "5.55555", "9223372036854775807"],
            expect![[r#"
            7 -> decimal("7.0000")
            5.5 -> decimal("5.5000")
            5.55555 -> unmapped
            9223372036854775807 -> unmapped"#]],
        );
    }
}
