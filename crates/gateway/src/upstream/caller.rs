//! Whom an upstream is called for, where each caller has a credential of its own there.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use aldgate_authority::Verdict;
use aldgate_identity::client::Secret;
use aldgate_identity::client::upstream::{Caller, CredentialFault, SubjectToken};
use aldgate_wire::elicitation::Action;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use time::OffsetDateTime;

use crate::catalog::Progress;
use crate::gate::Gate;
use crate::identify::{self, Credentials};
use crate::refusal::Refusal;
use crate::rule::Ruled;
use crate::scope;
use crate::trail::Trail;

/// How often it is looked whether a user who opened the page has connected an account.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Sees that there is a credential for the caller, and puts the caller into the trail. Nothing is asked for a call that is
/// prohibited.
pub(crate) async fn named(
    gate: &Gate,
    trail: &mut Trail,
    ruled: &Ruled,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    if ruled.ruling.verdict() == Verdict::Prohibited {
        return Ok(());
    }
    let principal =
        trail.principal.clone().ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))?;
    let caller = Caller { principal, token: subject(headers, trail.expires_at) };
    let answer = ruled.call.connecting;
    let source = ruled.call.target.offer().source.clone();
    let until = Instant::now() + gate.settings.approvals.hold;
    let mut closing = gate.closing.subscribe();
    let mut waited = false;
    let (upstream, page) = loop {
        match source.upstream.look(&caller).await {
            Ok(()) => {
                if waited {
                    // Whoever waited may not be who it was any more.
                    identify::still(gate, trail, &Credentials::of(headers, trail.expires_at)).await?;
                    scope::covers_target(gate, trail, &ruled.call.target)?;
                }
                trail.caller = Some(Box::new(caller));
                return Ok(());
            }
            Err(CredentialFault::NotConnected { upstream, page }) => {
                let left = until.saturating_duration_since(Instant::now());
                if answer != Some(Action::Accept) || left.is_zero() || *closing.borrow() {
                    break (upstream, page);
                }
                waited = true;
                let _ = tokio::time::timeout(left.min(LOOK_EVERY), closing.wait_for(|now| *now)).await;
            }
            Err(CredentialFault::Unfit(why)) => {
                return Err(Refusal::unfit_caller(source.upstream.name(), why));
            }
            Err(fault) => {
                let message = format!(
                    "upstream `{}`: there is no credential for this caller now; the call was not made",
                    source.upstream.name()
                );
                return Err(Refusal::upstream("AG-UPSTREAM-CREDENTIAL", message).because(fault));
            }
        }
    };
    // A later round cannot be begun again, and somebody who said no is not asked again.
    let is_round = matches!(ruled.call.progress, Progress::Round { .. });
    let declined = answer.is_some_and(|answer| answer != Action::Accept);
    let asks = ruled.call.request.meta.capabilities.elicitation_url
        && ruled.call.request.method.may_ask()
        && !is_round
        && !declined;
    Err(Refusal::unconnected(&upstream, page, asks))
}

/// The token that the caller sent, where whoever holds it may use it.
fn subject(headers: &HeaderMap, expires_at: Option<OffsetDateTime>) -> Option<SubjectToken> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    let token = Secret::new(token.trim_matches(' ').to_owned());
    scheme.eq_ignore_ascii_case("bearer").then_some(SubjectToken { token, expires_at })
}
