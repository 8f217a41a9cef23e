use std::collections::BTreeSet;

use cedar_policy::Context;
use serde::Serialize;

use crate::action::{Action, Concern, Item, Kind};
use crate::authorizer::{Answered, Authorizer};
use crate::implied::{Hints, implied};
use crate::principal::{Principal, PrincipalKind};
use crate::registry::{Authority, Entry};
use crate::slice::Slice;

pub(crate) mod relax;
#[cfg(test)]
mod tests;

/// Something to show in the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Surveyed<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// What it is.
    pub kind: Kind,
    /// What the upstream calls it; for a resource its URI or template as the registry writes it.
    pub name: &'a str,
    /// What the server's annotations say of a tool; nothing else has any.
    pub hints: Option<Hints>,
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

/// One tool, resource or prompt with the ruling for each column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatrixRow {
    /// What it is.
    pub kind: Kind,
    /// What its upstream calls it, under the word for what it is: `"tool": "get_ticket"`.
    #[serde(flatten)]
    pub name: Concern,
    /// The host's name of its upstream.
    pub upstream: String,
    /// What a tool's annotations imply; never used to rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implied: Option<Authority>,
    /// What the registry says; what is not in it is prohibited.
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
    /// Whether the item is listed for the principal: not prohibited, with permits that depend on the arguments
    /// taken as allowing and forbids that do as absent.
    #[must_use]
    pub fn listed(&self, principal: &Principal, item: &Item<'_>) -> bool {
        let Some((entry, slice)) = self.slice_of(item) else { return false };
        if entry.authority == Authority::Prohibited {
            return false;
        }
        let Ok(subject) = self.subject(principal, &slice.entities) else { return false };
        let answered =
            self.ask(&subject, item.kind.use_action(), &slice.item, Context::empty(), &slice.voice.generous);
        may_be_allowed(&slice, &answered)
    }

    /// What each column gets for each item, without knowing the arguments: for a tool that is called, a resource that is
    /// read, a prompt that is got.
    ///
    /// It holds for policies that pass [`Authorizer::check`], and for arguments that Cedar can represent: a policy
    /// that fails, or reads what is unmapped, refuses the call, whatever a cell says.
    #[must_use]
    pub fn matrix(&self, items: &[Surveyed<'_>], roles: &[Column]) -> Vec<MatrixRow> {
        items.iter().map(|item| self.row(item, roles)).collect()
    }

    fn row(&self, surveyed: &Surveyed<'_>, roles: &[Column]) -> MatrixRow {
        let found = self.slice_of(&Item {
            upstream: surveyed.upstream,
            kind: surveyed.kind,
            name: surveyed.name,
            contract: "",
        });
        let cell = |column: &Column| match &found {
            Some((entry, slice)) => self.cell(&column.principal(), entry, slice),
            None => Cell::Prohibited,
        };
        MatrixRow {
            kind: surveyed.kind,
            name: surveyed.kind.concern(surveyed.name),
            upstream: surveyed.upstream.to_owned(),
            implied: surveyed.hints.as_ref().map(implied),
            registry: found.as_ref().map_or(Authority::Prohibited, |(entry, _)| entry.authority),
            roles: roles.iter().map(|column| column.ruled(cell(column))).collect(),
        }
    }

    fn cell(&self, principal: &Principal, entry: &Entry, slice: &Slice) -> Cell {
        let bounds = |action| self.bounds(principal, action, slice);
        let (Some(call), Some(unattended)) =
            (bounds(slice.kind.use_action()), bounds(Action::CallUnattended))
        else {
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
        let admitted =
            || slice.voice.policies.iter().filter(|policy| policy.admits(action)).map(AsRef::as_ref);
        let subject = self.subject(principal, &slice.entities).ok()?;
        let ask = |policies: &cedar_policy::PolicySet| {
            self.ask(&subject, action, &slice.item, Context::empty(), policies)
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
        |id: &str| slice.voice.policies.iter().any(|policy| policy.id == id && policy.reads_context());
    answered.faults.iter().any(|(id, _)| !reads_context(id))
}

/// With generous policies: one that failed only because it was relaxed may allow.
fn may_be_allowed(slice: &Slice, answered: &Answered) -> bool {
    !failed_for_sure(slice, answered) && (answered.allowed || !answered.faults.is_empty())
}

impl<'a> Surveyed<'a> {
    /// A tool with what the server's annotations say of it.
    #[must_use]
    pub fn tool(upstream: &'a str, name: &'a str, hints: Hints) -> Self {
        Self { upstream, kind: Kind::Tool, name, hints: Some(hints) }
    }

    /// A resource, by its URI or template as the registry writes it.
    #[must_use]
    pub fn resource(upstream: &'a str, template: &'a str) -> Self {
        Self { upstream, kind: Kind::Resource, name: template, hints: None }
    }

    /// A prompt.
    #[must_use]
    pub fn prompt(upstream: &'a str, name: &'a str) -> Self {
        Self { upstream, kind: Kind::Prompt, name, hints: None }
    }
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
            actors: Vec::new(),
        }
    }
}
