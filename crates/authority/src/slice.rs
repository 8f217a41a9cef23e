//! The policies that can match one tool, picked once for each snapshot.

use std::sync::Arc;

use cedar_policy::{Entities, EntityUid, PrincipalConstraint, ResourceConstraint};

use crate::action::Action;
use crate::authorizer::{Answered, AuthorizerFault};
use crate::context::FIXED;
use crate::digest;
use crate::entity::{self, EngineFault, Types};
use crate::matrix::relax;
use crate::policy::{Policy, PolicySet};
use crate::reads;
use crate::registry::{self, Entry};
use crate::ruling::PolicyRef;
use crate::shape::Shape;

/// Everything that ruling calls of one tool needs, but for the call itself.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) tool: EntityUid,
    pub(crate) entities: Entities,
    pub(crate) shape: Shape,
    /// The policies whose scope can match the tool with `call`, `call_unattended` or `decide`.
    pub(crate) policies: Vec<Arc<Policy>>,
    pub(crate) call: cedar_policy::PolicySet,
    pub(crate) unattended: cedar_policy::PolicySet,
    pub(crate) decide: cedar_policy::PolicySet,
    /// `call` at its most generous: what the arguments could allow is allowed.
    pub(crate) generous: cedar_policy::PolicySet,
    /// Over what the policies mean: not their files, places or comments.
    pub(crate) digest: String,
    /// Whether a policy reads more of the context than client and contract.
    ///
    /// Where none does, a ruling depends on principal, client, tool and snapshot alone.
    pub(crate) reads_context: bool,
    /// What the policies read of the context, as JSON Pointers.
    pub(crate) read_paths: Arc<[String]>,
}

impl Slice {
    pub(crate) fn of_tool(
        types: &Types,
        policies: &PolicySet,
        key: &str,
        entry: &Entry,
        shape: Shape,
    ) -> Result<Self, AuthorizerFault> {
        let fault = |what| move |source| AuthorizerFault::cedar(what, key, source);
        let (upstream, name) = registry::split(key).unwrap_or((key, key));
        let (tool, parent) = (types.tool_uid(key), types.upstream_uid(upstream));
        let policies: Vec<Arc<Policy>> = policies
            .iter()
            .filter(|policy| {
                matches_resource(policy, &tool, &[&parent])
                    && [Action::Call, Action::CallUnattended, Action::Decide]
                        .iter()
                        .any(|a| policy.admits(*a))
            })
            .cloned()
            .collect();
        let entity = types.tool(key, upstream, name, entry).map_err(fault("the tool's entity"))?;
        let entities = entity::with(&Entities::empty(), entity).map_err(fault("the tool's entity"))?;
        let mut meanings: Vec<&str> = policies.iter().map(|policy| policy.meaning.as_str()).collect();
        meanings.sort_unstable();
        let calling =
            || policies.iter().filter(|p| p.admits(Action::Call) || p.admits(Action::CallUnattended));
        let read =
            |path: &reads::Path| !FIXED.iter().any(|fixed| path.first().is_some_and(|name| name == fixed));
        let mut read_paths: Vec<String> =
            calling().flat_map(|policy| &policy.reads).map(|path| reads::pointer(path)).collect();
        read_paths.sort_unstable();
        read_paths.dedup();
        Ok(Self {
            call: admitting(&policies, Action::Call).map_err(fault("the policies"))?,
            unattended: admitting(&policies, Action::CallUnattended).map_err(fault("the policies"))?,
            decide: admitting(&policies, Action::Decide).map_err(fault("the policies"))?,
            generous: relax::generous(policies.iter().filter(|p| p.admits(Action::Call)).map(Arc::as_ref))
                .map_err(fault("the policies for lists"))?,
            digest: digest::canonical(&meanings).map_err(|e| fault("the policies' digest")(e.into()))?,
            reads_context: calling().flat_map(|policy| &policy.reads).any(read),
            read_paths: read_paths.into(),
            tool,
            entities,
            shape,
            policies,
        })
    }
}

impl Slice {
    /// The policies that determined an answer.
    pub(crate) fn deciding(&self, answered: &Answered, action: Action) -> impl Iterator<Item = PolicyRef> {
        let by_id = |id: &String| self.policies.iter().find(|policy| policy.id == *id);
        answered.deciding.iter().filter_map(by_id).map(move |policy| PolicyRef::new(policy, action.as_str()))
    }
}

/// The policies for `audit` and `operate`, which are about the gateway itself.
pub(crate) fn of_gateway(types: &Types, policies: &PolicySet) -> Vec<Arc<Policy>> {
    let gateway = types.gateway();
    policies
        .iter()
        .filter(|policy| {
            matches_resource(policy, &gateway, &[])
                && [Action::Audit, Action::Operate].iter().any(|action| policy.admits(*action))
        })
        .cloned()
        .collect()
}

/// Those that admit the action, as Cedar evaluates them.
pub(crate) fn admitting(
    policies: &[Arc<Policy>],
    action: Action,
) -> Result<cedar_policy::PolicySet, EngineFault> {
    let admitted = policies.iter().filter(|policy| policy.admits(action)).map(|policy| policy.cedar.clone());
    Ok(cedar_policy::PolicySet::from_policies(admitted)?)
}

fn matches_resource(policy: &Policy, resource: &EntityUid, parents: &[&EntityUid]) -> bool {
    let within = |uid: &EntityUid| uid == resource || parents.contains(&uid);
    match policy.cedar.resource_constraint() {
        ResourceConstraint::Any => true,
        ResourceConstraint::Eq(uid) => uid == *resource,
        ResourceConstraint::In(uid) => within(&uid),
        ResourceConstraint::Is(kind) => kind == *resource.type_name(),
        ResourceConstraint::IsIn(kind, uid) => kind == *resource.type_name() && within(&uid),
    }
}

/// Whether the policy's scope can match the principal.
pub(crate) fn matches_principal(
    policy: &Policy,
    principal: &EntityUid,
    parents: &std::collections::HashSet<EntityUid>,
) -> bool {
    let within = |uid: &EntityUid| uid == principal || parents.contains(uid);
    match policy.cedar.principal_constraint() {
        PrincipalConstraint::Any => true,
        PrincipalConstraint::Eq(uid) => uid == *principal,
        PrincipalConstraint::In(uid) => within(&uid),
        PrincipalConstraint::Is(kind) => kind == *principal.type_name(),
        PrincipalConstraint::IsIn(kind, uid) => kind == *principal.type_name() && within(&uid),
    }
}
