use std::collections::BTreeSet;

use cedar_policy::Context;
use serde::Serialize;

use crate::action::{Action, Target};
use crate::authorizer::{Answered, Authorizer};
use crate::implied::{Hints, implied};
use crate::principal::{Principal, PrincipalKind};
use crate::registry::{Authority, Entry};
use crate::slice::Slice;

pub(crate) mod relax;
#[cfg(test)]
mod tests;

/// A tool to show in the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Surveyed<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// What the server's annotations say.
    pub hints: Hints,
}

/// A role to show in the matrix: a principal with this role alone.
#[derive(Clone, Debug)]
pub struct Column {
    /// The role's name.
    pub role: String,
    /// Person or service.
    pub kind: PrincipalKind,
    /// The tenant.
    pub tenant: String,
}

/// One tool with the ruling for each column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatrixRow {
    /// The tool's name.
    pub tool: String,
    /// The host's name of its upstream.
    pub upstream: String,
    /// What its annotations imply; never used to rule.
    pub implied: Authority,
    /// What the registry says; a tool that is not in it is prohibited.
    pub registry: Authority,
    /// What a principal with one role gets, in the order of the columns.
    pub roles: Vec<RoleRuling>,
}

/// What one column gets. Two principals of one role need not get the same: policies see kind and tenant too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoleRuling {
    /// The role's name.
    pub role: String,
    /// Person or service.
    pub kind: PrincipalKind,
    /// The tenant.
    pub tenant: String,
    /// The ruling.
    pub ruling: Cell,
}

/// A ruling without knowing the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Cell {
    /// Runs by itself, whatever the arguments.
    #[serde(rename = "automatic")]
    Automatic,
    /// Waits for a person, whatever the arguments.
    #[serde(rename = "requires_approval")]
    RequiresApproval,
    /// Does not run, whatever the arguments.
    #[serde(rename = "prohibited")]
    Prohibited,
    /// A policy reads the context and could decide either way.
    #[serde(rename = "depends on arguments")]
    DependsOnArguments,
}

impl Authorizer {
    /// Whether the tool is listed for the principal: not prohibited, with permits that depend on the arguments
    /// taken as allowing and forbids that do as absent.
    #[must_use]
    pub fn listed(&self, principal: &Principal, target: &Target<'_>) -> bool {
        let Some((entry, slice)) = self.slice_of(target) else { return false };
        if entry.authority == Authority::Prohibited {
            return false;
        }
        let Ok(subject) = self.subject(principal, &slice.entities) else { return false };
        let answered = self.ask(&subject, Action::Call, &slice.tool, Context::empty(), &slice.generous);
        may_be_allowed(&slice, &answered)
    }

    /// What each column gets for each tool, without knowing the arguments.
    ///
    /// It holds for policies that pass [`Authorizer::check`], and for arguments that Cedar can represent: a policy
    /// that fails, or reads what is unmapped, refuses the call, whatever a cell says.
    #[must_use]
    pub fn matrix(&self, tools: &[Surveyed<'_>], roles: &[Column]) -> Vec<MatrixRow> {
        tools.iter().map(|tool| self.row(tool, roles)).collect()
    }

    fn row(&self, tool: &Surveyed<'_>, roles: &[Column]) -> MatrixRow {
        let target = Target { upstream: tool.upstream, tool: tool.tool, contract: "" };
        let found = self.slice_of(&target);
        let cell = |column: &Column| match &found {
            Some((entry, slice)) => self.cell(&column.principal(), entry, slice),
            None => Cell::Prohibited,
        };
        MatrixRow {
            tool: tool.tool.to_owned(),
            upstream: tool.upstream.to_owned(),
            implied: implied(&tool.hints),
            registry: found.as_ref().map_or(Authority::Prohibited, |(entry, _)| entry.authority),
            roles: roles.iter().map(|column| column.ruled(cell(column))).collect(),
        }
    }

    fn cell(&self, principal: &Principal, entry: &Entry, slice: &Slice) -> Cell {
        let bounds = |action| self.bounds(principal, action, slice);
        let (Some(call), Some(unattended)) = (bounds(Action::Call), bounds(Action::CallUnattended)) else {
            return Cell::Prohibited;
        };
        let verdict = |call: bool, unattended: bool| match entry.authority {
            Authority::Prohibited => Authority::Prohibited,
            _ if !call => Authority::Prohibited,
            Authority::Automatic if unattended => Authority::Automatic,
            Authority::RequiresApproval if unattended && entry.policy_may_relax => Authority::Automatic,
            _ => Authority::RequiresApproval,
        };
        let best = verdict(call.best, unattended.best);
        if best != verdict(call.worst, unattended.worst) {
            return Cell::DependsOnArguments;
        }
        match best {
            Authority::Automatic => Cell::Automatic,
            Authority::RequiresApproval => Cell::RequiresApproval,
            Authority::Prohibited => Cell::Prohibited,
        }
    }

    /// What the action gets at best and at worst; `None` where every call is refused by a failing policy.
    fn bounds(&self, principal: &Principal, action: Action, slice: &Slice) -> Option<Bounds> {
        let admitted = || slice.policies.iter().filter(|policy| policy.admits(action)).map(AsRef::as_ref);
        let subject = self.subject(principal, &slice.entities).ok()?;
        let ask = |policies: &cedar_policy::PolicySet| {
            self.ask(&subject, action, &slice.tool, Context::empty(), policies)
        };
        let (generous, severe) = (relax::generous(admitted()).ok()?, relax::severe(admitted()).ok()?);
        let (best, worst) = (ask(&generous), ask(&severe));
        if failed_for_sure(slice, &best) {
            return None;
        }
        // A policy that fails once its conditions on the context are gone fails for some arguments.
        let sound = best.faults.is_empty() && worst.faults.is_empty();
        Some(Bounds { best: may_be_allowed(slice, &best), worst: worst.allowed && sound })
    }
}

struct Bounds {
    best: bool,
    worst: bool,
}

/// Whether a policy failed that reads no context, and so fails for all arguments.
fn failed_for_sure(slice: &Slice, answered: &Answered) -> bool {
    let reads_context =
        |id: &str| slice.policies.iter().any(|policy| policy.id == id && policy.reads_context());
    answered.faults.iter().any(|(id, _)| !reads_context(id))
}

/// With generous policies: one that failed only because it was relaxed may allow.
fn may_be_allowed(slice: &Slice, answered: &Answered) -> bool {
    !failed_for_sure(slice, answered) && (answered.allowed || !answered.faults.is_empty())
}

impl Column {
    fn ruled(&self, ruling: Cell) -> RoleRuling {
        RoleRuling { role: self.role.clone(), kind: self.kind, tenant: self.tenant.clone(), ruling }
    }

    fn principal(&self) -> Principal {
        Principal {
            issuer: "matrix".to_owned(),
            subject: self.role.clone(),
            tenant: self.tenant.clone(),
            kind: self.kind,
            roles: BTreeSet::from([self.role.clone()]),
            name: self.role.clone(),
            client: "matrix".to_owned(),
        }
    }
}
