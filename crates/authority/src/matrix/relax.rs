//! Policies without their arguments: the most generous and the most severe reading.

use std::sync::Arc;

use cedar_policy::PolicySet;
use cedar_policy::pst::{Clause, Expr, StaticPolicy};

use crate::entity::EngineFault;
use crate::policy::Policy;
use crate::reads;

/// Permits that read the context permit whatever it holds; forbids that read it are absent.
pub(crate) fn generous<'a>(policies: impl Iterator<Item = &'a Policy>) -> Result<PolicySet, EngineFault> {
    relaxed(policies, |policy| !policy.is_forbid())
}

/// Forbids that read the context forbid whatever it holds; permits that read it are absent.
pub(crate) fn severe<'a>(policies: impl Iterator<Item = &'a Policy>) -> Result<PolicySet, EngineFault> {
    relaxed(policies, Policy::is_forbid)
}

fn relaxed<'a>(
    policies: impl Iterator<Item = &'a Policy>,
    widen: impl Fn(&Policy) -> bool,
) -> Result<PolicySet, EngineFault> {
    let mut set = PolicySet::new();
    for policy in policies {
        if !policy.reads_context() {
            set.add(policy.cedar.clone())?;
        } else if widen(policy) {
            set.add(widened(policy)?)?;
        }
    }
    Ok(set)
}

/// The policy without those of its conditions that read the context.
fn widened(policy: &Policy) -> Result<cedar_policy::Policy, EngineFault> {
    let reads_nothing = |condition: &Arc<Expr>| reads::of_expression(condition).is_empty();
    let kept = reads::conjuncts(policy.clauses()).into_iter().filter(reads_nothing).map(Clause::When);
    let body = policy.syntax.body().clone().try_with_clauses(kept)?;
    Ok(cedar_policy::Policy::from_pst(StaticPolicy::try_from(body)?.into())?)
}
