#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::canonical::whole;

/// A number, exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Num {
    /// Whole, below 2^100.
    Whole(i128),
    /// Any other.
    Real(f64),
}

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound {
    pub(super) at: Num,
    /// Whether the end is not in the range.
    pub(super) open: bool,
}

/// Which end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Low,
    High,
}

impl Num {
    fn of(number: &Number) -> Option<Self> {
        whole(number).map(Self::Whole).or_else(|| number.as_f64().map(Self::Real))
    }

    pub(super) fn of_value(value: &Value) -> Option<Self> {
        value.as_number().and_then(Self::of)
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (Self::Real(a), Self::Real(b)) => a.total_cmp(&b),
            (Self::Whole(a), Self::Real(b)) => against(a, b),
            (Self::Real(a), Self::Whole(b)) => against(b, a).reverse(),
        }
    }

    /// Whether every multiple of this is one of `other`, and the validator sees it so: it reckons whole divisors with
    /// integers and others with floating-point numbers, which are exact for halves, quarters and so on up to 2^-20 of
    /// what is whole, and for nothing else. No divisor is negative or zero.
    pub(super) fn multiple_of(self, other: Self) -> bool {
        const SAFE: i128 = 1 << 53;
        if self == other {
            return true;
        }
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a <= SAFE && b <= SAFE && a.checked_rem(b) == Some(0),
            (Self::Whole(a), Self::Real(b)) => {
                a <= SAFE && (1..=20).any(|power| 2f64.powi(-power).total_cmp(&b).is_eq())
            }
            (Self::Real(_), _) => false,
        }
    }
}

/// A whole number beside one that is not whole or beyond 2^100.
fn against(whole: i128, real: f64) -> Ordering {
    if real.abs() >= 2f64.powi(100) {
        return if real.is_sign_positive() { Ordering::Less } else { Ordering::Greater };
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 2^100")]
    let floor = real.floor() as i128;
    if whole <= floor { Ordering::Less } else { Ordering::Greater }
}

impl Bound {
    /// The tighter of both ends that a schema may give.
    pub(super) fn of(schema: &Value, end: End) -> Option<Self> {
        let (closed, open) = match end {
            End::Low => ("minimum", "exclusiveMinimum"),
            End::High => ("maximum", "exclusiveMaximum"),
        };
        let closed = schema.get(closed).and_then(Num::of_value).map(|at| Self { at, open: false });
        let open = schema.get(open).and_then(Num::of_value).map(|at| Self { at, open: true });
        match (closed, open) {
            (Some(a), Some(b)) => Some(if a.within(b, end) { a } else { b }),
            (a, b) => a.or(b),
        }
    }

    /// Whether all that this end lets pass, the other does.
    pub(super) fn within(self, other: Self, end: End) -> bool {
        let order = match end {
            End::Low => self.at.order(other.at),
            End::High => other.at.order(self.at),
        };
        order == Ordering::Greater || (order == Ordering::Equal && (self.open || !other.open))
    }

    /// The same end for whole numbers only.
    pub(super) fn of_whole(self, end: End) -> Self {
        let at = match (self.at, self.open, end) {
            (Num::Whole(at), true, End::Low) => at + 1,
            (Num::Whole(at), true, End::High) => at - 1,
            #[expect(clippy::cast_possible_truncation, reason = "below 2^100")]
            (Num::Real(at), _, _) if at.abs() < 2f64.powi(100) => match end {
                End::Low => at.ceil() as i128,
                End::High => at.floor() as i128,
            },
            _ => return self,
        };
        Self { at: Num::Whole(at), open: false }
    }

    /// Whether nothing is from this low end to that high end.
    pub(super) fn above(self, high: Self) -> bool {
        match self.at.order(high.at) {
            Ordering::Greater => true,
            Ordering::Equal => self.open || high.open,
            Ordering::Less => false,
        }
    }
}
