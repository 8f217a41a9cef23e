use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cedar_policy::pst::{self, Clause, Expr};
use cedar_policy::{ActionConstraint, EntityUid};
use miette::Diagnostic;
use thiserror::Error;

use crate::action::Action;
use crate::entity::{self, EngineFault};
use crate::reads::{self, Path};

pub(crate) mod position;
#[cfg(test)]
mod tests;

use position::Position;

/// The Cedar policies of the host, parsed and analysed.
#[derive(Clone, Debug, Default)]
pub struct PolicySet {
    policies: Vec<Arc<Policy>>,
}

/// One policy with what a ruling must know of it beforehand.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) cedar: cedar_policy::Policy,
    pub(crate) syntax: pst::Policy,
    /// What it means, in the canonical form of Cedar's JSON: neither its place nor its comments.
    pub(crate) meaning: String,
    pub(crate) reads: BTreeSet<Path>,
    /// `None`: every action.
    actions: Option<BTreeSet<Action>>,
}

/// Why a policy file was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct PolicyFault {
    /// The file's name as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl PolicySet {
    /// Parses policy files, each given as its name and text.
    ///
    /// A policy is known by its `@id("…")`; without one, as `<file>:<line>:<column>`.
    ///
    /// # Errors
    /// Text that is not Cedar; a template; an id that is used twice; an action or entity type that Aldgate does
    /// not have, because such a policy would silently never apply.
    pub fn parse(sources: &[(String, String)]) -> Result<Self, PolicyFault> {
        let mut policies: Vec<Arc<Policy>> = Vec::new();
        for (file, text) in sources {
            for policy in parse_file(file, text)? {
                if let Some(first) = policies.iter().find(|known| known.id == policy.id) {
                    return Err(policy.fault(
                        format!(
                            "policy id `{}` is used twice, first at {}:{}",
                            policy.id, first.file, first.line
                        ),
                        "give each policy an `@id` of its own",
                    ));
                }
                policies.push(Arc::new(policy));
            }
        }
        Ok(Self { policies })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Policy>> {
        self.policies.iter()
    }
}

impl Policy {
    /// Whether the policy's scope admits the action.
    pub(crate) fn admits(&self, action: Action) -> bool {
        self.actions.as_ref().is_none_or(|actions| actions.contains(&action))
    }

    pub(crate) fn is_forbid(&self) -> bool {
        self.cedar.effect() == cedar_policy::Effect::Forbid
    }

    pub(crate) fn reads_context(&self) -> bool {
        !self.reads.is_empty()
    }

    pub(crate) fn clauses(&self) -> &[Clause] {
        self.syntax.body().clauses()
    }

    fn fault(&self, message: String, help: &str) -> PolicyFault {
        PolicyFault {
            file: self.file.clone(),
            line: self.line,
            column: self.column,
            message,
            help: Some(help.to_owned()),
        }
    }
}

fn parse_file(file: &str, text: &str) -> Result<Vec<Policy>, PolicyFault> {
    let fault_at = |at: Position, message: String, help: Option<String>| PolicyFault {
        file: file.to_owned(),
        line: at.line,
        column: at.column,
        message,
        help,
    };
    let parsed: cedar_policy::PolicySet = text.parse().map_err(|errors: cedar_policy::ParseErrors| {
        let at = position::of_label(text, errors.labels());
        let labels: Vec<String> = errors
            .labels()
            .into_iter()
            .flatten()
            .filter_map(|label| label.label().map(str::to_owned))
            .collect();
        let message = std::iter::once(errors.to_string()).chain(labels).collect::<Vec<_>>().join(": ");
        fault_at(at, message, errors.help().map(|help| help.to_string()))
    })?;
    if let Some(template) = parsed.templates().next() {
        let at = position::of_offset(text, template.as_ref().loc().map_or(0, |loc| loc.start()));
        return Err(fault_at(
            at,
            "templates with `?principal` or `?resource` are not supported".to_owned(),
            Some("write the principal or resource instead of the slot".to_owned()),
        ));
    }
    let mut policies = Vec::new();
    for cedar in parsed.policies() {
        let offset = cedar.as_ref().loc().map_or(0, |loc| loc.start());
        let at = position::of_offset(text, offset);
        let policy = analysed(file, at, cedar)
            .map_err(|source| fault_at(at, format!("the policy cannot be analysed: {source}"), None))?;
        known_words(&policy)?;
        policies.push((offset, policy));
    }
    policies.sort_by_key(|(offset, _)| *offset);
    Ok(policies.into_iter().map(|(_, policy)| policy).collect())
}

fn analysed(file: &str, at: Position, cedar: &cedar_policy::Policy) -> Result<Policy, EngineFault> {
    let id = match cedar.annotation("id") {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => format!("{file}:{}:{}", at.line, at.column),
    };
    let cedar = cedar.new_id(cedar_policy::PolicyId::new(&id));
    let syntax = cedar.to_pst()?;
    let actions = match cedar.action_constraint() {
        ActionConstraint::Any => None,
        ActionConstraint::Eq(uid) => Some(vec![uid]),
        ActionConstraint::In(uids) => Some(uids),
    };
    Ok(Policy {
        id,
        file: file.to_owned(),
        line: at.line,
        column: at.column,
        annotations: cedar.annotations().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        meaning: serde_json_canonicalizer::to_string(&cedar.to_json()?)?,
        reads: reads::of_clauses(syntax.body().clauses()),
        actions: actions
            .map(|uids| uids.iter().filter_map(|uid| Action::parse(uid.id().unescaped())).collect()),
        syntax,
        cedar,
    })
}

/// Refuses actions and entity types that do not exist: a `forbid` that names one would never apply.
fn known_words(policy: &Policy) -> Result<(), PolicyFault> {
    for uid in literals(policy) {
        let kind = uid.type_name().to_string();
        known_type(policy, &kind)?;
        let id = uid.id().unescaped();
        if kind == entity::ACTION && Action::parse(id).is_none() {
            let near = nearest(id, Action::ALL.iter().map(|action| action.as_str()));
            return Err(policy
                .fault(format!("action `{id}` does not exist"), &format!("the nearest one is `{near}`")));
        }
    }
    tested_types(policy).iter().try_for_each(|kind| known_type(policy, kind))
}

fn literals(policy: &Policy) -> Vec<EntityUid> {
    policy.cedar.entity_literals()
}

fn known_type(policy: &Policy, kind: &str) -> Result<(), PolicyFault> {
    if entity::TYPES.contains(&kind) {
        return Ok(());
    }
    let near = nearest(kind, entity::TYPES.into_iter());
    Err(policy.fault(format!("entity type `{kind}` does not exist"), &format!("the nearest one is `{near}`")))
}

/// The types that the policy tests with `is`, in its scope and its conditions.
fn tested_types(policy: &Policy) -> Vec<String> {
    let body = policy.syntax.body();
    let mut types = Vec::new();
    if let pst::PrincipalConstraint::Is(kind) | pst::PrincipalConstraint::IsIn(kind, _) = &body.principal {
        types.push(kind.to_string());
    }
    if let pst::ResourceConstraint::Is(kind) | pst::ResourceConstraint::IsIn(kind, _) = &body.resource {
        types.push(kind.to_string());
    }
    for clause in body.clauses() {
        let (Clause::When(expression) | Clause::Unless(expression)) = clause;
        types.extend(tested_in(expression));
    }
    types
}

fn tested_in(expression: &Expr) -> Vec<String> {
    expression.reduce(
        &|node| match node {
            Expr::Is { expr, entity_type, in_expr } => {
                let mut types = vec![entity_type.to_string()];
                types.extend(tested_in(expr));
                types.extend(in_expr.iter().flat_map(|parent| tested_in(parent)));
                Some(types)
            }
            _ => None,
        },
        &|one, other| [one, other].concat(),
        Vec::new(),
    )
}

/// The word that is spelled most alike.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    known.min_by_key(|candidate| strsim::osa_distance(word, candidate)).unwrap_or_default()
}
