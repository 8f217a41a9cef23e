//! The clock and the random source of the gateway, in one place.

use std::time::{SystemTime, UNIX_EPOCH};

use aldgate_approval::Timestamp;

/// Now, in milliseconds since the Unix epoch.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The system's random source does not work; no id and no nonce can be made.
#[derive(Debug, thiserror::Error)]
#[error("the system's random source does not work")]
pub struct NoRandomness;

/// Fresh random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// An instant as RFC 3339 writes it, in UTC, to the second.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    let instant = time::OffsetDateTime::from_unix_timestamp(at.0.div_euclid(1000))
        .unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
    instant.format(&time::format_description::well_known::Rfc3339).unwrap_or_default()
}
