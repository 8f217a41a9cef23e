use std::collections::BTreeMap;
use std::sync::Arc;

use cedar_policy::{AuthorizationError, Context, Decision, Entities, EntityUid, Request};
use thiserror::Error;

use crate::action::{Action, Item, Kind};
use crate::aliases::Aliases;
use crate::check::ToolContract;
use crate::entity::{self, EngineFault, Types};
use crate::policy::{Policy, PolicySet};
use crate::principal::Principal;
use crate::registry::{self, Entry, Registry};
use crate::shape::Shape;
use crate::slice::{self, Slice, Voices};
#[cfg(test)]
use crate::slice::{Asked, Voice};

/// Rules requests by registry and policies. Built once for each snapshot of the configuration.
#[derive(Debug)]
pub struct Authorizer {
    pub(crate) types: Types,
    pub(crate) registry: Registry,
    pub(crate) policies: PolicySet,
    pub(crate) gateway: Vec<Arc<Policy>>,
    pub(crate) aliases: Aliases,
    shapes: BTreeMap<String, Shape>,
    slices: BTreeMap<(Kind, String), Arc<Slice>>,
    cedar: cedar_policy::Authorizer,
}

/// Why an authorizer could not be built.
#[derive(Debug, Error)]
pub enum AuthorizerFault {
    /// Cedar refused a part that it should accept.
    #[error(
        "`{what}` of `{subject}` was refused by the policy engine; report it with the policies that show it"
    )]
    Cedar {
        /// The part.
        what: &'static str,
        /// What it is about.
        subject: String,
        /// What Cedar said.
        source: EngineFault,
    },
}

/// Who asks Cedar.
pub(crate) struct Subject {
    uid: EntityUid,
    entities: Entities,
}

/// What Cedar answered.
pub(crate) struct Answered {
    pub(crate) allowed: bool,
    pub(crate) deciding: Vec<String>,
    /// Policies that could not be evaluated, with why.
    pub(crate) faults: Vec<(String, String)>,
}

impl AuthorizerFault {
    pub(crate) fn cedar(what: &'static str, subject: &str, source: EngineFault) -> Self {
        Self::Cedar { what, subject: subject.to_owned(), source }
    }
}

impl Authorizer {
    /// An authorizer of this registry and these policies, which are sliced for each registered item.
    ///
    /// # Errors
    /// Only where Cedar refuses what it parsed before.
    pub fn new(registry: Registry, policies: PolicySet) -> Result<Self, AuthorizerFault> {
        let types = Types::new().map_err(|source| AuthorizerFault::cedar("types", "aldgate", source))?;
        let mut authorizer = Self {
            gateway: slice::of_gateway(&types, &policies),
            types,
            registry,
            policies,
            aliases: Aliases::default(),
            shapes: BTreeMap::new(),
            slices: BTreeMap::new(),
            cedar: cedar_policy::Authorizer::new(),
        };
        authorizer.rebuild()?;
        Ok(authorizer)
    }

    /// The authorizer with the types that the pinned contracts give to arguments.
    ///
    /// With them a `number` is a decimal and an `integer` a long however a client writes it. Without them
    /// `5` is a long and `5.0` a decimal, and a policy that expects the other refuses the call.
    ///
    /// # Errors
    /// As [`Authorizer::new`].
    pub fn with_contracts(mut self, contracts: &[ToolContract<'_>]) -> Result<Self, AuthorizerFault> {
        for contract in contracts {
            if let Some(key) = registry::key(contract.upstream, contract.tool) {
                self.shapes.insert(key, Shape::of(contract.input_schema));
            }
        }
        self.rebuild()?;
        Ok(self)
    }

    /// The authorizer, told which principals are one person. Without it each is one of its own.
    #[must_use]
    pub fn with_aliases(self, aliases: Aliases) -> Self {
        Self { aliases, ..self }
    }

    /// The registry that it rules by.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Whether a policy that can match the item with this action reads more of the context than client and contract.
    ///
    /// Where none does, a ruling depends on principal, client, item and snapshot alone (a URI must still be the
    /// template's). True for what is not registered, and for an action that the item does not have.
    #[must_use]
    pub fn reads_context(&self, item: &Item<'_>, action: Action) -> bool {
        let slice = self.slice_of(item);
        slice.is_none_or(|(_, slice)| slice.voice.asked.get(&action).is_none_or(|asked| asked.reads_context))
    }

    /// The authorizer without slicing: every question is asked of all policies, with the whole context.
    #[cfg(test)]
    pub(crate) fn unsliced(mut self) -> Self {
        let all = || {
            let policies = self.policies.iter().map(|policy| policy.cedar.clone());
            cedar_policy::PolicySet::from_policies(policies).unwrap()
        };
        let whole = |slice: Arc<Slice>| {
            let slice = Arc::into_inner(slice).unwrap();
            let voice = &slice.voice;
            let asked =
                voice.asked.keys().map(|action| (*action, Asked { policies: all(), reads_context: true }));
            let voice = Voice {
                asked: asked.collect(),
                unattended: all(),
                decide: all(),
                policies: voice.policies.clone(),
                generous: voice.generous.clone(),
                digest: voice.digest.clone(),
            };
            Arc::new(Slice { voice: Arc::new(voice), ..slice })
        };
        let slices = std::mem::take(&mut self.slices);
        let slices = slices.into_iter().map(|(key, slice)| (key, whole(slice))).collect();
        Self { slices, ..self }
    }

    fn rebuild(&mut self) -> Result<(), AuthorizerFault> {
        let (mut slices, mut voices) = (BTreeMap::new(), Voices::default());
        for kind in Kind::ALL {
            for (key, entry) in self.registry.entries(kind) {
                slices.insert((kind, key.to_owned()), Arc::new(self.build(kind, key, entry, &mut voices)?));
            }
        }
        self.slices = slices;
        Ok(())
    }

    fn build(
        &self,
        kind: Kind,
        key: &str,
        entry: &Entry,
        voices: &mut Voices,
    ) -> Result<Slice, AuthorizerFault> {
        let shape = match kind {
            Kind::Tool => self.shapes.get(key).cloned().unwrap_or_default(),
            Kind::Resource | Kind::Prompt => Shape::default(),
        };
        Slice::of_item(&self.types, &self.policies, (kind, key), entry, shape, voices)
    }

    /// The entry and the slice of a registered item.
    pub(crate) fn slice_of(&self, item: &Item<'_>) -> Option<(&Entry, Arc<Slice>)> {
        let entry = self.registry.entry(item.kind, item.upstream, item.name)?;
        let key = registry::key(item.upstream, item.name)?;
        let known = (item.kind, key);
        let slice = match self.slices.get(&known) {
            Some(slice) => Arc::clone(slice),
            // Only the registry of `aldgate dev` has items without an entry of their own.
            None => Arc::new(self.build(known.0, &known.1, entry, &mut Voices::default()).ok()?),
        };
        Some((entry, slice))
    }

    /// The principal beside the entities of a slice; made once for a ruling.
    pub(crate) fn subject(&self, principal: &Principal, base: &Entities) -> Result<Subject, EngineFault> {
        let entity = self.types.principal(principal)?;
        Ok(Subject { uid: entity.uid(), entities: entity::with(base, entity)? })
    }

    pub(crate) fn ask(
        &self,
        subject: &Subject,
        action: Action,
        resource: &EntityUid,
        context: Context,
        policies: &cedar_policy::PolicySet,
    ) -> Answered {
        let action = self.types.action(action);
        let request = match Request::new(subject.uid.clone(), action, resource.clone(), context, None) {
            Ok(request) => request,
            Err(fault) => return Answered::failed(&fault),
        };
        let response = self.cedar.is_authorized(&request, policies, &subject.entities);
        let diagnostics = response.diagnostics();
        let text = |id: &cedar_policy::PolicyId| AsRef::<str>::as_ref(id).to_owned();
        let mut deciding: Vec<String> = diagnostics.reason().map(text).collect();
        deciding.sort_unstable();
        let mut faults: Vec<(String, String)> = diagnostics
            .errors()
            .map(|AuthorizationError::PolicyEvaluationError(error)| {
                (text(error.policy_id()), error.inner().to_string())
            })
            .collect();
        faults.sort_unstable();
        Answered { allowed: response.decision() == Decision::Allow, deciding, faults }
    }
}

impl Answered {
    /// Whether it lets the action happen: a policy that failed could have forbidden it.
    pub(crate) fn permits(&self) -> bool {
        self.allowed && self.faults.is_empty()
    }

    fn failed(fault: &dyn std::error::Error) -> Self {
        Self { allowed: false, deciding: Vec::new(), faults: vec![("-".to_owned(), fault.to_string())] }
    }
}
