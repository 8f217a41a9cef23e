//! The policies that can match one item, picked once for each snapshot.

use std::collections::hash_map::Entry as Place;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cedar_policy::{Entities, EntityUid, PrincipalConstraint, ResourceConstraint};

use crate::action::{Action, Kind};
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
use crate::template::Template;

/// Everything that ruling requests about one item needs, but for the request itself.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) kind: Kind,
    pub(crate) item: EntityUid,
    pub(crate) entities: Entities,
    pub(crate) shape: Shape,
    /// Of a resource.
    pub(crate) template: Option<Template>,
    /// What speaks on it; items on which the same policies speak share it.
    pub(crate) voice: Arc<Voice>,
}

/// The policies that speak on items of one kind, as Cedar evaluates them. Made once for all items on which they speak alike:
/// Cedar's own form of them is large.
#[derive(Debug)]
pub(crate) struct Voice {
    /// The policies whose scope can match the item with one of its actions, `call_unattended` or `decide`.
    pub(crate) policies: Vec<Arc<Policy>>,
    /// For each action that requests have on it.
    pub(crate) asked: BTreeMap<Action, Asked>,
    pub(crate) unattended: cedar_policy::PolicySet,
    pub(crate) decide: cedar_policy::PolicySet,
    /// Those of [`Kind::use_action`] at their most generous: what the arguments could allow is allowed.
    pub(crate) generous: cedar_policy::PolicySet,
    /// Over what the policies mean: not their files, places or comments.
    pub(crate) digest: String,
}

/// Those that were made already, by kind and by the ids of the policies.
#[derive(Debug, Default)]
pub(crate) struct Voices(HashMap<(Kind, Vec<String>), Arc<Voice>>);

/// What one action needs.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) policies: cedar_policy::PolicySet,
    /// Whether a policy reads more of the context than client and contract.
    ///
    /// Where none does, a ruling depends on principal, client, item and snapshot alone.
    pub(crate) reads_context: bool,
}

impl Slice {
    pub(crate) fn of_item(
        types: &Types,
        policies: &PolicySet,
        (kind, key): (Kind, &str),
        entry: &Entry,
        shape: Shape,
        voices: &mut Voices,
    ) -> Result<Self, AuthorizerFault> {
        let fault = |what| move |source| AuthorizerFault::cedar(what, key, source);
        let (upstream, name) = registry::split(key).unwrap_or((key, key));
        let template = (kind == Kind::Resource).then(|| Template::parse(name)).transpose();
        let template = template.map_err(|e| fault("the template")(e.into()))?;
        let (item, parent) = (types.item_uid(kind, key), types.upstream_uid(upstream));
        let others = [Action::CallUnattended, Action::Decide];
        let policies: Vec<Arc<Policy>> = policies
            .iter()
            .filter(|policy| {
                matches_resource(policy, &item, &[&parent])
                    && kind.actions().iter().chain(&others).any(|action| policy.admits(*action))
            })
            .cloned()
            .collect();
        let entity = types.item(kind, key, upstream, name, entry).map_err(fault("the entity"))?;
        let entities = entity::with(&Entities::empty(), entity).map_err(fault("the entity"))?;
        let voice = voices.of(kind, policies).map_err(fault("the policies"))?;
        Ok(Self { kind, item, entities, shape, template, voice })
    }

    /// The policies that determined an answer.
    pub(crate) fn deciding(&self, answered: &Answered, action: Action) -> impl Iterator<Item = PolicyRef> {
        deciding(&self.voice.policies, answered, action)
    }
}

impl Voices {
    fn of(&mut self, kind: Kind, policies: Vec<Arc<Policy>>) -> Result<Arc<Voice>, EngineFault> {
        let ids = policies.iter().map(|policy| policy.id.clone()).collect();
        Ok(match self.0.entry((kind, ids)) {
            Place::Occupied(known) => known.get().clone(),
            Place::Vacant(place) => place.insert(Arc::new(Voice::new(kind, policies)?)).clone(),
        })
    }
}

impl Voice {
    fn new(kind: Kind, policies: Vec<Arc<Policy>>) -> Result<Self, EngineFault> {
        let asked = |action: &Action| Ok((*action, Asked::new(&policies, *action)?));
        let listing = policies.iter().filter(|policy| policy.admits(kind.use_action())).map(Arc::as_ref);
        Ok(Self {
            asked: kind.actions().iter().map(asked).collect::<Result<_, EngineFault>>()?,
            unattended: admitting(&policies, Action::CallUnattended)?,
            decide: admitting(&policies, Action::Decide)?,
            generous: relax::generous(listing)?,
            digest: meaning(&policies)?,
            policies,
        })
    }
}

impl Asked {
    fn new(policies: &[Arc<Policy>], action: Action) -> Result<Self, EngineFault> {
        let asking = || policies.iter().filter(|policy| concerns(policy, action));
        let read =
            |path: &reads::Path| !FIXED.iter().any(|fixed| path.first().is_some_and(|name| name == fixed));
        Ok(Self {
            policies: admitting(policies, action)?,
            reads_context: asking().flat_map(|policy| &policy.reads).any(read),
        })
    }
}

/// Whether the policy can speak when the action is ruled.
pub(crate) fn concerns(policy: &Policy, action: Action) -> bool {
    policy.admits(action) || (action.may_wait() && policy.admits(Action::CallUnattended))
}

/// The policies that determined an answer.
pub(crate) fn deciding(
    policies: &[Arc<Policy>],
    answered: &Answered,
    action: Action,
) -> impl Iterator<Item = PolicyRef> {
    let by_id = |id: &String| policies.iter().find(|policy| policy.id == *id);
    answered.deciding.iter().filter_map(by_id).map(move |policy| PolicyRef::new(policy, action.as_str()))
}

/// The digest over what policies mean.
pub(crate) fn meaning(policies: &[Arc<Policy>]) -> Result<String, serde_json::Error> {
    let mut meanings: Vec<&str> = policies.iter().map(|policy| policy.meaning.as_str()).collect();
    meanings.sort_unstable();
    digest::canonical(&meanings)
}

/// What is done to the gateway itself.
pub(crate) const GATEWAY_ACTIONS: [Action; 3] = [Action::Audit, Action::Operate, Action::Listen];

/// The policies for `audit`, `operate` and `listen`, as far as they are about the gateway itself.
pub(crate) fn of_gateway(types: &Types, policies: &PolicySet) -> Vec<Arc<Policy>> {
    let gateway = types.gateway();
    policies
        .iter()
        .filter(|policy| {
            matches_resource(policy, &gateway, &[])
                && GATEWAY_ACTIONS.iter().any(|action| policy.admits(*action))
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
