//! The first step: what can be refused before a byte of the body is read.

#[cfg(test)]
mod tests;

use aldgate_wire::head::{self, HeadFault};
use axum::body::Body;
use http::request::Parts;

use crate::refusal::Refusal;
use crate::settings::{Bounds, Doors};

/// A request whose head was found acceptable.
pub(crate) struct Head {
    pub(crate) parts: Parts,
    pub(crate) body: Body,
}

/// Checks method, `Host`, `Origin`, media types, encoding, announced size and repeated headers.
pub(crate) fn check(doors: &Doors, bounds: &Bounds, parts: &Parts) -> Result<(), Refusal> {
    doorway(doors, parts)?;
    head::method(&parts.method, &parts.headers)?;
    head::content(&parts.headers, bounds.body_bytes)?;
    Ok(())
}

/// Checks `Host` and `Origin` alone; the admin listener uses it too.
pub(crate) fn doorway(doors: &Doors, parts: &Parts) -> Result<(), Refusal> {
    Ok(head::doorway(doors, &parts.headers, &parts.uri)?)
}

impl From<HeadFault> for Refusal {
    fn from(fault: HeadFault) -> Self {
        match fault {
            HeadFault::Size { announced, limit } => Self::too_large(announced, limit),
            fault => Self::http(fault.http(), fault.code(), fault.to_string()),
        }
    }
}
