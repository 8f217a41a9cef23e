//! The Cedar context of a request, built value by value and never from JSON.
//!
//! Cedar's own JSON reader turns `{"__entity": …}` and `{"__extn": …}` into entities and extension values. Here
//! an argument of that form stays the record of strings that it is.

use cedar_policy::{Context, ContextCreationError, RestrictedExpression};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::action::{Action, Question};
use crate::entity::{string, strings};
use crate::principal::{Principal, PrincipalKind};
use crate::reads::{self, Path};
use crate::shape::Shape;
use crate::template::Variables;

mod members;
mod number;
#[cfg(test)]
mod tests;

use members::Members;

/// Levels of nesting that policies can see; what lies deeper is unmapped.
const MAX_DEPTH: usize = 32;
/// Nulls and unmapped values within one argument; an argument with more is unmapped as a whole.
const MAX_GAPS: usize = 256;

/// The members of the context that are the same for every request with the same item, client and snapshot.
pub(crate) const FIXED: [&str; 2] = ["client", "contract"];

/// A context, and what of the arguments is not in it.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) context: Context,
    /// Where a `null` was: absent.
    pub(crate) nulls: Vec<Path>,
    /// What Cedar cannot represent: absent, and a policy that reads it refuses the call.
    pub(crate) unmapped: Vec<Path>,
}

/// Why arguments cannot be shown to policies.
#[derive(Debug, Error)]
pub(crate) enum ContextFault {
    #[error("`{at}` cannot be read as JSON; expected one value without duplicate keys")]
    Unreadable { at: String, source: serde_json::Error },
    #[error("`{at}` is not an object; send the members by name")]
    NotAnObject { at: String },
    #[error("the context cannot be built")]
    Cedar(#[source] Box<ContextCreationError>),
    #[error("`{at}` cannot be built as a record")]
    Record { at: String, source: Box<cedar_policy::ExpressionConstructionError> },
}

/// The URI of a request, and what its template's variables are in it.
#[derive(Debug)]
pub(crate) struct Located {
    /// The normal form.
    pub(crate) uri: String,
    pub(crate) variables: Variables,
}

/// The context of a request whose policies read nothing but [`FIXED`].
pub(crate) fn fixed_alone(question: &Question<'_>, contract: &str) -> Result<Built, ContextFault> {
    let context = Context::from_pairs(fixed(question, contract)).map_err(engine)?;
    Ok(Built { context, nulls: Vec::new(), unmapped: Vec::new() })
}

/// The context of a request; `shape` is that of its arguments.
pub(crate) fn of_request(
    question: &Question<'_>,
    contract: &str,
    shape: &Shape,
    located: Option<&Located>,
) -> Result<Built, ContextFault> {
    let mut converter = Converter::default();
    let mut members: Vec<(String, RestrictedExpression)> = fixed(question, contract).into();
    let arguments = match located {
        Some(located) => {
            members.push(("uri".to_owned(), string(&located.uri)));
            let variables = located.variables.iter().map(|(name, value)| (name.clone(), string(value)));
            record("args", variables.collect())?
        }
        None => converter.object("args", question.arguments, shape)?,
    };
    members.push(("args".to_owned(), arguments));
    if question.action.may_wait() {
        let responses = converter.object("responses", question.input_responses, &Shape::Unknown)?;
        members.push(("responses".to_owned(), responses));
    }
    if let (Action::Complete, Some(argument)) = (question.action, question.argument) {
        let parts = [("name", argument.name), ("value", argument.value)];
        let parts = parts.map(|(name, text)| (name.to_owned(), string(text)));
        members.push(("argument".to_owned(), record("argument", parts.into())?));
    }
    let listed = |paths: &[Path]| {
        let pointers: Vec<String> = paths.iter().map(|path| reads::pointer(path)).collect();
        strings(pointers.iter().map(String::as_str))
    };
    members.push(("null_paths".to_owned(), listed(&converter.nulls)));
    members.push(("unmapped".to_owned(), listed(&converter.unmapped)));
    let context = Context::from_pairs(members).map_err(engine)?;
    Ok(Built { context, nulls: converter.nulls, unmapped: converter.unmapped })
}

/// The context of a decision of `approver` on a call of `caller`.
pub(crate) fn of_decision(
    approver: &Principal,
    caller: &Principal,
    contract: &str,
) -> Result<Context, ContextFault> {
    let kind = match caller.kind {
        PrincipalKind::Person => "person",
        PrincipalKind::Service => "service",
    };
    let members = [
        ("tenant", string(&caller.tenant)),
        ("issuer", string(&caller.issuer)),
        ("subject", string(&caller.subject)),
        ("kind", string(kind)),
        ("client", string(&caller.client)),
        ("roles", strings(caller.roles.iter().map(String::as_str))),
    ];
    let caller = record("caller", members.map(|(name, value)| (name.to_owned(), value)).into())?;
    let members = [("caller", caller), ("client", string(&approver.client)), ("contract", string(contract))];
    Context::from_pairs(members.map(|(name, value)| (name.to_owned(), value))).map_err(engine)
}

/// The context of what is done to the gateway itself.
pub(crate) fn of_gateway(client: &str) -> Result<Context, ContextFault> {
    Context::from_pairs([("client".to_owned(), string(client))]).map_err(engine)
}

fn fixed(question: &Question<'_>, contract: &str) -> [(String, RestrictedExpression); 2] {
    [("client".to_owned(), string(question.client)), ("contract".to_owned(), string(contract))]
}

fn engine(source: ContextCreationError) -> ContextFault {
    ContextFault::Cedar(Box::new(source))
}

fn record(
    at: &str,
    members: Vec<(String, RestrictedExpression)>,
) -> Result<RestrictedExpression, ContextFault> {
    RestrictedExpression::new_record(members)
        .map_err(|source| ContextFault::Record { at: at.to_owned(), source: Box::new(source) })
}

#[derive(Default)]
struct Converter {
    path: Path,
    nulls: Vec<Path>,
    unmapped: Vec<Path>,
}

impl Converter {
    /// A member of the context that is an object; absent counts as empty.
    fn object(
        &mut self,
        name: &str,
        raw: Option<&RawValue>,
        shape: &Shape,
    ) -> Result<RestrictedExpression, ContextFault> {
        self.path = vec![name.to_owned()];
        let Some(raw) = raw else { return record(name, Vec::new()) };
        if !raw.get().starts_with('{') {
            return Err(ContextFault::NotAnObject { at: self.at() });
        }
        let members: Members<'_> = self.read(raw)?;
        let mut converted = Vec::with_capacity(members.0.len());
        for (name, raw) in members.0 {
            let (nulls, unmapped) = (self.nulls.len(), self.unmapped.len());
            self.path.push(name.clone());
            let mut value = self.convert(raw, shape.member(&name))?;
            if self.nulls.len() + self.unmapped.len() - nulls - unmapped > MAX_GAPS {
                self.nulls.truncate(nulls);
                self.unmapped.truncate(unmapped);
                value = self.unmapped();
            }
            self.path.pop();
            converted.extend(value.map(|value| (name, value)));
        }
        record(name, converted)
    }

    /// The value at the current path; `None` where it is absent from the context.
    fn convert(
        &mut self,
        raw: &RawValue,
        shape: &Shape,
    ) -> Result<Option<RestrictedExpression>, ContextFault> {
        if self.path.len() > MAX_DEPTH {
            return Ok(self.unmapped());
        }
        Ok(match raw.get().as_bytes().first() {
            Some(b'n') => {
                self.nulls.push(self.path.clone());
                None
            }
            Some(b't' | b'f') => Some(RestrictedExpression::new_bool(self.read(raw)?)),
            Some(b'"') => Some(RestrictedExpression::new_string(self.read(raw)?)),
            Some(b'[') => Some(self.set(raw, shape.element())?),
            Some(b'{') => Some(self.record(raw, shape)?),
            _ => number::convert(raw.get(), shape).or_else(|| self.unmapped()),
        })
    }

    fn set(&mut self, raw: &RawValue, shape: &Shape) -> Result<RestrictedExpression, ContextFault> {
        let items: Vec<&RawValue> = self.read(raw)?;
        let mut converted = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            self.path.push(index.to_string());
            converted.extend(self.convert(item, shape)?);
            self.path.pop();
        }
        Ok(RestrictedExpression::new_set(converted))
    }

    fn record(&mut self, raw: &RawValue, shape: &Shape) -> Result<RestrictedExpression, ContextFault> {
        let members: Members<'_> = self.read(raw)?;
        let mut converted = Vec::with_capacity(members.0.len());
        for (name, value) in members.0 {
            self.path.push(name.clone());
            let value = self.convert(value, shape.member(&name))?;
            self.path.pop();
            converted.extend(value.map(|value| (name, value)));
        }
        record(&self.at(), converted)
    }

    fn unmapped(&mut self) -> Option<RestrictedExpression> {
        self.unmapped.push(self.path.clone());
        None
    }

    fn read<'a, T: serde::Deserialize<'a>>(&self, raw: &'a RawValue) -> Result<T, ContextFault> {
        serde_json::from_str(raw.get()).map_err(|source| ContextFault::Unreadable { at: self.at(), source })
    }

    fn at(&self) -> String {
        reads::pointer(&self.path)
    }
}
