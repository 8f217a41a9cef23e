//! How a call is ruled. The order of the steps is the order of this file.

use std::sync::Arc;

use cedar_policy::Context;

use crate::action::{Action, Question};
use crate::authorizer::{Answered, Authorizer};
use crate::context::{self, Built, ContextFault};
use crate::policy::Policy;
use crate::reads::{self, Path};
use crate::registry::{Authority, Entry};
use crate::ruling::{Cause, Decision, Explanation, Guardrail, Reason, RegistryRef, Ruling, Verdict};
use crate::slice::{self, Slice};

#[cfg(test)]
mod laws;
#[cfg(test)]
pub(crate) mod tests;

/// Paths that an explanation lists at most.
const SHOWN_PATHS: usize = 64;

/// What a ruling has gathered so far.
struct Trail {
    explanation: Explanation,
    read_only: bool,
    read_paths: Arc<[String]>,
}

impl Authorizer {
    /// Rules a call of a tool.
    ///
    /// Everything that cannot be answered is prohibited: other actions than [`Action::Call`], an unregistered
    /// tool, arguments that policies read and cannot see, a policy that fails.
    #[must_use]
    pub fn rule(&self, question: &Question<'_>) -> Ruling {
        let mut trail = Trail::new(question);
        let (cause, message) = self.judge(question, &mut trail);
        trail.end(cause, message)
    }

    fn judge(&self, question: &Question<'_>, trail: &mut Trail) -> (Cause, String) {
        if question.action != Action::Call {
            let action = question.action.as_str();
            return (Cause::NotACall, format!("the registry holds tools, which have no action `{action}`"));
        }
        let Some((entry, slice)) = self.slice_of(&question.target) else {
            trail.step("registry", Decision::Block);
            return (Cause::Unregistered, "the tool is not in the registry".to_owned());
        };
        let digest = self.registry.digest(question.target.upstream, question.target.tool);
        trail.registered(entry, digest.unwrap_or_default(), &slice);
        if entry.authority == Authority::Prohibited {
            return (Cause::RegistryProhibits, "the registry prohibits the tool".to_owned());
        }
        let built = match build_context(question, &slice) {
            Ok(built) => built,
            Err(fault) => {
                trail.step("arguments", Decision::Block);
                return (Cause::Unreadable, chain(&fault));
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
        self.ask_policies(question, entry, &slice, &built.context, trail)
    }

    fn ask_policies(
        &self,
        question: &Question<'_>,
        entry: &Entry,
        slice: &Slice,
        context: &Context,
        trail: &mut Trail,
    ) -> (Cause, String) {
        let subject = match self.subject(question.principal, &slice.entities) {
            Ok(subject) => subject,
            Err(fault) => return (Cause::PolicyFault, fault.to_string()),
        };
        let ask = |action, policies| self.ask(&subject, action, &slice.tool, context.clone(), policies);

        let call = ask(Action::Call, &slice.call);
        trail.explanation.policies.extend(slice.deciding(&call, Action::Call));
        let called = if call.faults.is_empty() && call.allowed { Decision::Allow } else { Decision::Block };
        trail.step("policy call", called);
        if let Some(fault) = fault(&call) {
            return fault;
        }
        if !call.allowed {
            return denied(&call, Action::Call);
        }

        let unattended = ask(Action::CallUnattended, &slice.unattended);
        trail.explanation.policies.extend(slice.deciding(&unattended, Action::CallUnattended));
        let step = match (unattended.faults.is_empty(), unattended.allowed) {
            (false, _) => Decision::Block,
            (true, true) => Decision::Allow,
            (true, false) => Decision::RequireApproval,
        };
        trail.step("policy call_unattended", step);
        if let Some(fault) = fault(&unattended) {
            return fault;
        }
        match (entry.authority, unattended.allowed, entry.policy_may_relax) {
            (Authority::Automatic, true, _) => {
                (Cause::Automatic, "registry and policy let the call run by itself".to_owned())
            }
            (Authority::RequiresApproval, true, true) => {
                (Cause::PolicyRelaxes, "the registry lets policy relax the tool, and it does".to_owned())
            }
            (Authority::Automatic, false, _) => {
                let (_, why) = denied(&unattended, Action::CallUnattended);
                (Cause::PolicyAsks, format!("a person must decide: {why}"))
            }
            (Authority::RequiresApproval, ..) => {
                (Cause::RegistryAsks, "the registry wants a person to decide".to_owned())
            }
            (Authority::Prohibited, ..) => {
                (Cause::RegistryProhibits, "the registry prohibits the tool".to_owned())
            }
        }
    }

    /// A policy that may concern the call and reads something that is not in the context.
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
        let concerned = slice.policies.iter().filter(|policy| {
            (policy.admits(Action::Call) || policy.admits(Action::CallUnattended))
                && slice::matches_principal(policy, &principal, &parents)
        });
        concerned.flat_map(|policy| policy.reads.iter().map(move |read| (policy, read))).find_map(
            |(policy, read)| {
                let path = unmapped.iter().find(|path| reads::overlap(read, path))?;
                Some((policy.as_ref(), path.clone()))
            },
        )
    }
}

fn build_context(question: &Question<'_>, slice: &Slice) -> Result<Built, ContextFault> {
    if slice.reads_context {
        context::of_call(question, &slice.shape)
    } else {
        context::without_arguments(question)
    }
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

impl Trail {
    fn new(question: &Question<'_>) -> Self {
        let target = &question.target;
        Self {
            read_only: false,
            read_paths: Arc::from([]),
            explanation: Explanation {
                tool: format!("{}/{}", target.upstream, target.tool),
                contract: target.contract.to_owned(),
                verdict: Verdict::Prohibited,
                rule: "",
                code: None,
                registry: None,
                implied: None,
                policies: Vec::new(),
                policy_digest: None,
                null_paths: Vec::new(),
                unmapped: Vec::new(),
                guardrails: Vec::new(),
                reasons: Vec::new(),
            },
        }
    }

    fn registered(&mut self, entry: &Entry, digest: &str, slice: &Slice) {
        self.read_only = entry.read_only;
        self.read_paths = Arc::clone(&slice.read_paths);
        self.explanation.registry = Some(RegistryRef {
            authority: entry.authority,
            labels: entry.labels.clone(),
            digest: digest.to_owned(),
        });
        self.explanation.policy_digest = Some(slice.digest.clone());
        let step = match entry.authority {
            Authority::Automatic => Decision::Allow,
            Authority::RequiresApproval => Decision::RequireApproval,
            Authority::Prohibited => Decision::Block,
        };
        self.step("registry", step);
    }

    fn context(&mut self, built: &Built) {
        let shown =
            |paths: &[Path]| paths.iter().take(SHOWN_PATHS).map(|path| reads::pointer(path)).collect();
        self.explanation.null_paths = shown(&built.nulls);
        self.explanation.unmapped = shown(&built.unmapped);
    }

    fn step(&mut self, name: &'static str, decision: Decision) {
        self.explanation.guardrails.push(Guardrail { name, decision });
    }

    fn end(mut self, cause: Cause, message: String) -> Ruling {
        let reason: Reason = cause.reason(message);
        self.explanation.verdict = cause.verdict();
        self.explanation.rule = cause.rule();
        self.explanation.code = (cause.verdict() == Verdict::Prohibited).then(|| cause.code());
        self.explanation.reasons.insert(0, reason);
        Ruling::new(cause, self.read_only, self.read_paths, self.explanation)
    }
}
