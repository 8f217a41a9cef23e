//! Part of the fourth step: whether the credentials were made for what they are used for.
//!
//! A scope says what somebody let a client do in their name. It comes before the host's own registry and policies, which
//! say what the somebody may do: a client that lacks a scope can go and ask for it.

use aldgate_authority::Entry;
use aldgate_identity::{Door, Scopes, scopes};
use aldgate_wire::request::Method;

use crate::catalog::{Resolved, Target};
use crate::gate::Gate;
use crate::refusal::Refusal;
use crate::trail::Trail;

/// Refuses what the scopes of the request's token do not cover. Every request that was resolved comes by here; calls were
/// looked at as soon as their target was known.
pub(crate) fn covered(gate: &Gate, trail: &Trail, resolved: &Resolved) -> Result<(), Refusal> {
    let needs = match resolved {
        Resolved::Call(call) => of_target(&call.target),
        Resolved::Host(_) if trail.method == Some(Method::Discover.as_str()) => return Ok(()),
        // Of each thing that is to be heard of its own, once it is known what that is.
        Resolved::Listen(wanted) if wanted.any() => return Ok(()),
        Resolved::Host(_) | Resolved::Listen(_) => scopes::TOOLS_READ,
    };
    if covers(&trail.scopes, needs) { Ok(()) } else { Err(lacking(gate, trail, needs)) }
}

/// Refuses a call of what the token was not made for: before anything is said of its arguments, and once more after a person
/// was waited for.
pub(crate) fn covers_target(gate: &Gate, trail: &Trail, target: &Target) -> Result<(), Refusal> {
    let needs = of_target(target);
    if covers(&trail.scopes, needs) { Ok(()) } else { Err(lacking(gate, trail, needs)) }
}

/// What is told where the token lacks one scope or several.
pub(crate) fn lacking(gate: &Gate, trail: &Trail, needs: &str) -> Refusal {
    let what = match &trail.tool {
        Some(tool) => format!("`{tool}`"),
        None => format!("`{}`", trail.method.unwrap_or_default()),
    };
    let protected = gate.protected(&trail.snapshot, Door::Mcp);
    Refusal::scope(&what, needs, &trail.scopes, protected.as_ref())
}

/// Whether `scopes` cover one that is needed. Who may write may read (MCP 2026-07-28, authorization: hierarchies count).
pub(crate) fn covers(scopes: &Scopes, needed: &str) -> bool {
    scopes.has(needed) || needed == scopes::TOOLS_READ && scopes.has(scopes::TOOLS_WRITE)
}

fn of_target(target: &Target) -> &str {
    let entry: &Entry = &target.offer().entry;
    match target {
        Target::Tool(_) if entry.scope.is_none() && !entry.read_only => scopes::TOOLS_WRITE,
        _ => of_reading(entry),
    }
}

/// The scope of what changes nothing: resources and prompts do so by their nature.
pub(crate) fn of_reading(entry: &Entry) -> &str {
    entry.scope.as_deref().unwrap_or(scopes::TOOLS_READ)
}
