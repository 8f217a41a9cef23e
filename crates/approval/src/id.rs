//! Identifiers and instants, as types of their own.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The instant `milliseconds` later; saturates at the end of time.
    #[must_use]
    pub fn plus(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(milliseconds).unwrap_or(i64::MAX)))
    }
}

macro_rules! random_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Makes an id from 128 random bits.
            #[must_use]
            pub fn from_random(bits: [u8; 16]) -> Self {
                Self(format!(concat!($prefix, "{}"), hex::encode(bits)))
            }

            /// Reads an id that was written by [`Self::as_str`]; `None` where the form is another.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let digits = text.strip_prefix($prefix)?;
                let well_formed = digits.len() == 32
                    && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
                well_formed.then(|| Self(text.to_owned()))
            }

            /// The id as it is shown and stored.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

random_id!(
    /// Names one approval record: `ap_` and 32 lower-case hexadecimal digits.
    ApprovalId,
    "ap_"
);
random_id!(
    /// Names one governed call over all its rounds: `c_` and 32 lower-case hexadecimal digits.
    CallId,
    "c_"
);

impl CallId {
    /// Makes the id of a call that begins at this time: its milliseconds in 48 bits, then 80 random bits. Ids that follow each
    /// other in time stand beside each other in an index.
    #[must_use]
    pub fn at(now: Timestamp, random: [u8; 10]) -> Self {
        let [_, _, time @ ..] = now.0.to_be_bytes();
        let mut bits = [0; 16];
        for (bit, byte) in bits.iter_mut().zip(time.into_iter().chain(random)) {
            *bit = byte;
        }
        Self::from_random(bits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CallId, Timestamp};

    proptest! {
        #[test]
        fn ids_of_calls_are_in_the_order_of_time_and_hold_all_that_is_random(
            now in 0..(1_i64 << 47),
            later in 1..1_000_000_i64,
            random in any::<[u8; 10]>(),
            other in any::<[u8; 10]>(),
        ) {
            let (one, two) = (CallId::at(Timestamp(now), random), CallId::at(Timestamp(now + later), other));
            prop_assert!(one < two);
            prop_assert_eq!(one.as_str(), format!("c_{now:012x}{}", hex::encode(random)));
            prop_assert_eq!(CallId::parse(one.as_str()), Some(one));
        }
    }
}
