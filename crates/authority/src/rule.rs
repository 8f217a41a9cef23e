//! How a request is ruled. The order of the steps is the order of this file.

use std::sync::Arc;

use cedar_policy::{Context, Entities};

use crate::action::{Action, Item, Kind, Question, Target};
use crate::authorizer::{Answered, Authorizer};
use crate::context::{self, Built, ContextFault, Located};
use crate::entity::EngineFault;
use crate::policy::Policy;
use crate::reads::{self, Path};
use crate::registry::{Authority, Entry};
use crate::ruling::{Cause, Decision, Ruling};
use crate::slice::{self, Asked, Slice};
use crate::template::Uri;

#[cfg(test)]
mod laws;
#[cfg(test)]
pub(crate) mod tests;
mod trail;

use trail::Trail;

impl Authorizer {
    /// Rules a request.
    ///
    /// Everything that cannot be answered is prohibited: an action that the target does not have, what is not in the
    /// registry, a URI that is not the template's, arguments that policies read and cannot see, a policy that fails.
    #[must_use]
    pub fn rule(&self, question: &Question<'_>) -> Ruling {
        let mut trail = Trail::new(question);
        let (cause, message) = match &question.target {
            Target::Gateway => self.judge_gateway(question, &mut trail),
            Target::Item(item) => self.judge(question, item, &mut trail),
        };
        trail.end(cause, message)
    }

    fn judge(&self, question: &Question<'_>, item: &Item<'_>, trail: &mut Trail) -> (Cause, String) {
        let kind = item.kind;
        if !kind.actions().contains(&question.action) {
            let (kind, action) = (kind.as_str(), question.action.as_str());
            return (Cause::Unfit, format!("a {kind} has no action `{action}`"));
        }
        let (Some((entry, slice)), Some(digest)) =
            (self.slice_of(item), self.registry.entry_digest(kind, item.upstream, item.name))
        else {
            trail.step("registry", Decision::Block);
            return (Cause::Unregistered, unregistered(kind));
        };
        let Some(asked) = slice.voice.asked.get(&question.action) else {
            return (Cause::Unfit, format!("`{}` is not asked", question.action.as_str()));
        };
        trail.registered(entry, digest, &slice);
        if entry.authority == Authority::Prohibited {
            return (Cause::RegistryProhibits, prohibited(kind));
        }
        let built = match locate(question, &slice) {
            Ok(located) => build_context(question, item, &slice, asked, located.as_ref())
                .map_err(|fault| (Cause::Unreadable, chain(&fault))),
            Err(why) => Err((Cause::Unreadable, why)),
        };
        let built = match built {
            Ok(built) => built,
            Err(refused) => {
                trail.step("arguments", Decision::Block);
                return refused;
            }
        };
        trail.context(&built);
        if let Some((policy, path)) = self.blind_policy(question, &slice, &built.unmapped) {
            trail.step("arguments", Decision::Block);
            let at = reads::pointer(&path);
            return (
                Cause::Unmapped,
                format!("policy `{}` reads `{at}`, whose value Cedar cannot represent exactly", policy.id),
            );
        }
        trail.step("arguments", Decision::Allow);
        self.ask_policies(question, entry, (&slice, asked), &built.context, trail)
    }

    fn ask_policies(
        &self,
        question: &Question<'_>,
        entry: &Entry,
        (slice, asked): (&Slice, &Asked),
        context: &Context,
        trail: &mut Trail,
    ) -> (Cause, String) {
        let (kind, action) = (slice.kind.as_str(), question.action);
        let subject = match self.subject(question.principal, &slice.entities) {
            Ok(subject) => subject,
            Err(fault) => return (Cause::PolicyFault, fault.to_string()),
        };
        let ask = |action, policies| self.ask(&subject, action, &slice.item, context.clone(), policies);

        let answered = ask(action, &asked.policies);
        trail.explanation.policies.extend(slice.deciding(&answered, action));
        trail.policy(action, if answered.permits() { Decision::Allow } else { Decision::Block });
        if let Some(refused) = refusal(&answered, action) {
            return refused;
        }
        if !action.may_wait() {
            return match entry.authority {
                Authority::Automatic => {
                    (Cause::Automatic, format!("registry and policy allow `{}`", action.as_str()))
                }
                Authority::RequiresApproval | Authority::Prohibited => (
                    Cause::CannotWait,
                    format!(
                        "the registry wants a person to decide on the {kind}, and `{}` cannot wait for one",
                        action.as_str()
                    ),
                ),
            };
        }

        let unattended = ask(Action::CallUnattended, &slice.voice.unattended);
        trail.explanation.policies.extend(slice.deciding(&unattended, Action::CallUnattended));
        let step = match (unattended.faults.is_empty(), unattended.allowed) {
            (false, _) => Decision::Block,
            (true, true) => Decision::Allow,
            (true, false) => Decision::RequireApproval,
        };
        trail.policy(Action::CallUnattended, step);
        if let Some(fault) = fault(&unattended) {
            return fault;
        }
        match (entry.authority, unattended.allowed, entry.policy_may_relax) {
            (Authority::Automatic, true, _) => {
                let what = match action {
                    Action::Read => "read",
                    Action::GetPrompt => "prompt",
                    _ => "call",
                };
                (Cause::Automatic, format!("registry and policy let the {what} run by itself"))
            }
            (Authority::RequiresApproval, true, true) => {
                (Cause::PolicyRelaxes, format!("the registry lets policy relax the {kind}, and it does"))
            }
            (Authority::Automatic, false, _) => {
                let (_, why) = denied(&unattended, Action::CallUnattended);
                (Cause::PolicyAsks, format!("a person must decide: {why}"))
            }
            (Authority::RequiresApproval, ..) => {
                (Cause::RegistryAsks, "the registry wants a person to decide".to_owned())
            }
            (Authority::Prohibited, ..) => (Cause::RegistryProhibits, prohibited(slice.kind)),
        }
    }

    /// Listening to the gateway itself: there is no entry, and policy alone decides.
    fn judge_gateway(&self, question: &Question<'_>, trail: &mut Trail) -> (Cause, String) {
        let action = question.action;
        if action != Action::Listen {
            return (Cause::Unfit, format!("`{}` is not asked of the gateway itself", action.as_str()));
        }
        trail.read_only = true;
        let policies: Vec<Arc<Policy>> =
            self.gateway.iter().filter(|policy| policy.admits(action)).cloned().collect();
        let ask = || -> Result<Answered, EngineFault> {
            let context = context::of_gateway(question.client)?;
            let subject = self.subject(question.principal, &Entities::empty())?;
            let set = slice::admitting(&policies, action)?;
            Ok(self.ask(&subject, action, &self.types.gateway(), context, &set))
        };
        let (answered, digest) = match (ask(), slice::meaning(&policies)) {
            (Ok(answered), Ok(digest)) => (answered, digest),
            (Err(fault), _) => return (Cause::PolicyFault, chain(fault.as_ref())),
            (_, Err(fault)) => return (Cause::PolicyFault, fault.to_string()),
        };
        trail.explanation.policy_digest = Some(digest);
        trail.explanation.policies.extend(slice::deciding(&policies, &answered, action));
        trail.policy(action, if answered.permits() { Decision::Allow } else { Decision::Block });
        refusal(&answered, action).unwrap_or_else(|| (Cause::Automatic, "policy allows `listen`".to_owned()))
    }

    /// A policy that may concern the request and reads something that is not in the context.
    fn blind_policy<'a>(
        &self,
        question: &Question<'_>,
        slice: &'a Slice,
        unmapped: &[Path],
    ) -> Option<(&'a Policy, Path)> {
        if unmapped.is_empty() {
            return None;
        }
        let principal = self.types.principal_uid(question.principal);
        let parents = self.types.parents(question.principal);
        let concerned = slice.voice.policies.iter().filter(|policy| {
            slice::concerns(policy, question.action) && slice::matches_principal(policy, &principal, &parents)
        });
        concerned.flat_map(|policy| policy.reads.iter().map(move |read| (policy, read))).find_map(
            |(policy, read)| {
                let path = unmapped.iter().find(|path| reads::overlap(read, path))?;
                Some((policy.as_ref(), path.clone()))
            },
        )
    }
}

/// Where a request about a resource points; the URI must be one that the registry's entry stands for.
fn locate(question: &Question<'_>, slice: &Slice) -> Result<Option<Located>, String> {
    let located = matches!(question.action, Action::Read | Action::Listen);
    let Some(template) = slice.template.as_ref().filter(|_| located) else {
        return if question.action == Action::Complete && question.argument.is_none() {
            Err("a completion must name the argument that it completes".to_owned())
        } else {
            Ok(None)
        };
    };
    let text = question.uri.ok_or("a resource must be named by its URI")?;
    let uri = Uri::parse(text).map_err(|fault| format!("the URI cannot be ruled on: {fault}"))?;
    let variables =
        template.matches(&uri).ok_or_else(|| format!("the URI is not one that `{template}` stands for"))?;
    Ok(Some(Located { uri: uri.normal().to_owned(), variables }))
}

fn build_context(
    question: &Question<'_>,
    item: &Item<'_>,
    slice: &Slice,
    asked: &Asked,
    located: Option<&Located>,
) -> Result<Built, ContextFault> {
    if asked.reads_context {
        context::of_request(question, item.contract, &slice.shape, located)
    } else {
        context::fixed_alone(question, item.contract)
    }
}

pub(crate) fn unregistered(kind: Kind) -> String {
    format!("the {} is not in the registry", kind.as_str())
}

pub(crate) fn prohibited(kind: Kind) -> String {
    format!("the registry prohibits the {}", kind.as_str())
}

/// Why the answer refuses, if it does.
fn refusal(answered: &Answered, action: Action) -> Option<(Cause, String)> {
    fault(answered).or_else(|| (!answered.allowed).then(|| denied(answered, action)))
}

/// The refusal for policies that could not be evaluated. Cedar itself would skip them.
fn fault(answered: &Answered) -> Option<(Cause, String)> {
    let faults: Vec<String> =
        answered.faults.iter().map(|(id, why)| format!("policy `{id}`: {why}")).collect();
    (!faults.is_empty()).then(|| (Cause::PolicyFault, faults.join("; ")))
}

pub(crate) fn denied(answered: &Answered, action: Action) -> (Cause, String) {
    let action = action.as_str();
    if answered.deciding.is_empty() {
        (Cause::NoPermit, format!("no policy permits `{action}`"))
    } else {
        (Cause::PolicyForbids, format!("`{action}` is forbidden by `{}`", answered.deciding.join("`, `")))
    }
}

/// An error and what caused it, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |error| error.source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}
