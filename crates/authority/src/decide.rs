use cedar_policy::Entities;

use crate::action::{Action, Item};
use crate::authorizer::{Answered, Authorizer};
use crate::context;
use crate::principal::{Principal, PrincipalKind};
use crate::registry::Authority;
use crate::rule;
use crate::ruling::{Cause, PolicyRef, Reason};
use crate::slice;

#[cfg(test)]
mod tests;

/// Whether a principal may decide an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decide {
    /// It may, by these policies.
    Allowed {
        /// The policies that permit it.
        policies: Vec<PolicyRef>,
    },
    /// It may not.
    Refused {
        /// Every reason against it.
        reasons: Vec<Reason>,
    },
}

impl Authorizer {
    /// Whether `approver` may decide the approval of a request of `caller`.
    ///
    /// A person for whom nobody acts, of the caller's tenant, allowed the Cedar action `decide`, and another person than the
    /// caller, whoever acts for it, and whoever the client belongs to ([`Aliases`](crate::Aliases)), unless the registry says
    /// `self_approval = true`. Every reason against it is named.
    #[must_use]
    pub fn may_decide(&self, approver: &Principal, caller: &Principal, item: &Item<'_>) -> Decide {
        let Some((entry, slice)) = self.slice_of(item) else {
            return refused(Cause::Unregistered.reason(rule::unregistered(item.kind)));
        };
        let mut reasons = Vec::new();
        if entry.authority == Authority::Prohibited {
            reasons.push(Cause::RegistryProhibits.reason(rule::prohibited(item.kind)));
        }
        if approver.kind != PrincipalKind::Person {
            reasons.push(reason("AG-DECIDE-PERSON", "decide.person", "only a person decides, not a service"));
        } else if !approver.actors.is_empty() {
            let message = "only a person decides, not whoever acts for one";
            reasons.push(reason("AG-DECIDE-PERSON", "decide.person", message));
        }
        if approver.tenant != caller.tenant {
            reasons.push(reason("AG-DECIDE-TENANT", "decide.tenant", "the call is another tenant's"));
        }
        if self.aliases.meet(approver, caller) && !entry.self_approval {
            reasons.push(reason(
                "AG-DECIDE-SELF",
                "decide.self",
                "the caller cannot decide its own call; the registry does not say `self_approval = true`",
            ));
        }
        let context = match context::of_decision(approver, caller, item.contract) {
            Ok(context) => context,
            Err(fault) => return refused(Cause::Unreadable.reason(rule::chain(&fault))),
        };
        let subject = match self.subject(approver, &slice.entities) {
            Ok(subject) => subject,
            Err(fault) => return refused(Cause::PolicyFault.reason(fault.to_string())),
        };
        let answered = self.ask(&subject, Action::Decide, &slice.item, context, &slice.voice.decide);
        reasons.extend(against(&answered, Action::Decide));
        if !reasons.is_empty() {
            return Decide::Refused { reasons };
        }
        Decide::Allowed { policies: slice.deciding(&answered, Action::Decide).collect() }
    }

    /// Whether the principal may audit or operate the gateway. To listen is a request like others, which
    /// [`Authorizer::rule`] rules.
    ///
    /// # Errors
    /// Every reason against it; for other actions than [`Action::Audit`] and [`Action::Operate`] always one.
    pub fn may(&self, principal: &Principal, action: Action) -> Result<(), Vec<Reason>> {
        if !matches!(action, Action::Audit | Action::Operate) {
            let message = format!("`{}` is not done to the gateway itself", action.as_str());
            return Err(vec![Cause::Unfit.reason(message)]);
        }
        let policies = slice::admitting(&self.gateway, action)
            .map_err(|error| vec![Cause::PolicyFault.reason(error.to_string())])?;
        let context = context::of_gateway(&principal.client)
            .map_err(|fault| vec![Cause::Unreadable.reason(rule::chain(&fault))])?;
        let gateway = self.types.gateway();
        let subject = self
            .subject(principal, &Entities::empty())
            .map_err(|fault| vec![Cause::PolicyFault.reason(fault.to_string())])?;
        let answered = self.ask(&subject, action, &gateway, context, &policies);
        let reasons: Vec<Reason> = against(&answered, action).collect();
        if reasons.is_empty() { Ok(()) } else { Err(reasons) }
    }
}

pub(crate) fn against(answered: &Answered, action: Action) -> impl Iterator<Item = Reason> {
    let faults =
        answered.faults.iter().map(|(id, why)| Cause::PolicyFault.reason(format!("policy `{id}`: {why}")));
    let denied = (!answered.allowed).then(|| {
        let (cause, message) = rule::denied(answered, action);
        cause.reason(message)
    });
    faults.chain(denied)
}

fn reason(code: &'static str, rule: &'static str, message: &str) -> Reason {
    Reason { code, rule, message: message.to_owned() }
}

fn refused(reason: Reason) -> Decide {
    Decide::Refused { reasons: vec![reason] }
}
