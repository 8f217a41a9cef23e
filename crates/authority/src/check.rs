use std::collections::BTreeMap;

use cedar_policy::{Schema, ValidationError, ValidationMode, ValidationResult, ValidationWarning, Validator};
use miette::Diagnostic;
use serde::Serialize;
use serde_json::Value;

use crate::action::{Concern, Item, Kind};
use crate::authorizer::Authorizer;
use crate::entity;
use crate::policy::{Policy, nearest, position};
use crate::reads;
use crate::registry;
use crate::shape::{Certainty, Shape};

mod schema;
#[cfg(test)]
mod tests;

/// A pinned contract, as far as authority needs it.
#[derive(Clone, Copy, Debug)]
pub struct ToolContract<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The contract's `inputSchema`.
    pub input_schema: &'a Value,
}

/// A pinned prompt, as far as authority needs it.
#[derive(Clone, Copy, Debug)]
pub struct PromptContract<'a> {
    /// The host's name of the upstream.
    pub upstream: &'a str,
    /// The prompt's name.
    pub prompt: &'a str,
    /// The contract's `arguments`, a list of objects with `name` and `required`; `null` where it has none.
    pub arguments: &'a Value,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The policy can fail, and so refuse calls.
    Error,
    /// The policy has no effect, or another one than it seems.
    Warning,
}

/// What `aldgate policy check` found in a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyFinding {
    /// How bad it is.
    pub severity: Severity,
    /// The policy's id.
    pub policy: String,
    /// Its file.
    pub file: String,
    /// Line of the finding, from 1.
    pub line: usize,
    /// Column of the finding, from 1.
    pub column: usize,
    /// What shows it, as `"tool": "upstream/name"` and so for the other kinds; absent where it is about the gateway or
    /// about the policy alone.
    #[serde(flatten)]
    pub concern: Option<Concern>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Authorizer {
    /// Validates each policy against every contract that it can match, every registered resource, and the gateway.
    ///
    /// The types of the arguments come from the contracts, those of a resource's variables from its template. On
    /// arguments that are valid under them, a policy without findings fails only by arithmetic overflow. What is not
    /// registered is passed over.
    #[must_use]
    pub fn check(&self, tools: &[ToolContract<'_>], prompts: &[PromptContract<'_>]) -> Vec<PolicyFinding> {
        let mut findings = self.unknown_names();
        let mut coverage = Coverage::default();
        for contract in tools {
            let item = Item::tool(contract.upstream, contract.tool, "");
            findings.extend(self.check_item(&item, &Shape::of(contract.input_schema), &mut coverage));
        }
        for (key, template) in self.registry.templates() {
            let Some((upstream, name)) = registry::split(key) else { continue };
            let shape = Shape::of_variables(template.variables());
            findings.extend(self.check_item(&Item::resource(upstream, name, ""), &shape, &mut coverage));
        }
        for contract in prompts {
            let item = Item::prompt(contract.upstream, contract.prompt, "");
            findings.extend(self.check_item(&item, &Shape::of_prompt(contract.arguments), &mut coverage));
        }
        let gateway: Vec<&Policy> = self.gateway.iter().map(AsRef::as_ref).collect();
        findings.extend(validated(&gateway, schema::of_gateway(), None, &mut coverage));
        findings.extend(self.policies.iter().filter_map(|policy| coverage.useless(policy)));
        findings
    }

    fn check_item(&self, item: &Item<'_>, shape: &Shape, coverage: &mut Coverage) -> Vec<PolicyFinding> {
        let Some((_, slice)) = self.slice_of(item) else { return Vec::new() };
        let concern = item.kind.concern(&format!("{}/{}", item.upstream, item.name));
        let mut findings: Vec<PolicyFinding> =
            slice.voice.policies.iter().filter_map(|policy| untyped(policy, shape, &concern)).collect();
        // What Cedar says of a policy that reads an argument of several types only follows from that.
        let typed = |policy: &&Policy| {
            findings.iter().all(|f| f.policy != policy.id || f.severity != Severity::Error)
        };
        let policies: Vec<&Policy> = slice.voice.policies.iter().map(AsRef::as_ref).filter(typed).collect();
        let schema = schema::of_item(item.kind, &policies, shape);
        let invalid = validated(&policies, schema, Some(&concern), coverage);
        findings.extend(invalid);
        findings
    }

    /// Tools, resources, prompts and upstreams that policies name and the registry does not have.
    fn unknown_names(&self) -> Vec<PolicyFinding> {
        let keys = |kind| self.registry.entries(kind).map(|(key, _)| key).collect::<Vec<_>>();
        let (tools, resources, prompts) = (keys(Kind::Tool), keys(Kind::Resource), keys(Kind::Prompt));
        let all = tools.iter().chain(&resources).chain(&prompts);
        let upstreams: Vec<&str> = all.filter_map(|key| Some(key.split_once('/')?.0)).collect();
        let mut findings = Vec::new();
        for policy in self.policies.iter() {
            for uid in policy.cedar.entity_literals() {
                let (what, known) = match uid.type_name().to_string().as_str() {
                    entity::TOOL => ("tool", &tools),
                    entity::RESOURCE => ("resource", &resources),
                    entity::PROMPT => ("prompt", &prompts),
                    entity::UPSTREAM => ("upstream", &upstreams),
                    _ => continue,
                };
                let name = uid.id().unescaped();
                if self.registry.has_default() || known.contains(&name) {
                    continue;
                }
                let near = nearest(name, known.iter().copied());
                let message =
                    format!("the registry has no {what} `{name}`, so the policy does nothing for it");
                let help = (!near.is_empty()).then(|| format!("the nearest one is `{near}`"));
                findings.push(PolicyFinding::of(policy, Severity::Warning, None, message, help));
            }
        }
        findings
    }
}

/// For each policy, how often it was validated and how often it could never apply.
#[derive(Default)]
struct Coverage(BTreeMap<String, (usize, usize)>);

impl Coverage {
    fn useless(&self, policy: &Policy) -> Option<PolicyFinding> {
        let (validated, impossible) = self.0.get(&policy.id)?;
        let message = "the policy can never apply to anything that its head names".to_owned();
        (validated == impossible).then(|| PolicyFinding::of(policy, Severity::Warning, None, message, None))
    }
}

impl PolicyFinding {
    fn of(
        policy: &Policy,
        severity: Severity,
        concern: Option<&Concern>,
        message: String,
        help: Option<String>,
    ) -> Self {
        Self {
            severity,
            policy: policy.id.clone(),
            file: policy.file.clone(),
            line: policy.line,
            column: policy.column,
            concern: concern.cloned(),
            message,
            help,
        }
    }
}

/// An argument that the policy reads and to which the contract gives no single type.
///
/// Cedar cannot find this: to its validator an undeclared member is one that is never there.
fn untyped(policy: &Policy, arguments: &Shape, concern: &Concern) -> Option<PolicyFinding> {
    let read = |path: &reads::Path| {
        let below = path.strip_prefix(["args".to_owned()].as_slice())?;
        let severity = match arguments.certainty(below) {
            Certainty::Typed | Certainty::Absent => return None,
            Certainty::AnyType => Severity::Error,
            Certainty::Undeclared => Severity::Warning,
        };
        let at = reads::pointer(path);
        let message = match severity {
            Severity::Error => format!("the contract lets `{at}` have several types, and Cedar needs one"),
            Severity::Warning => format!("the contract does not declare `{at}` and lets it have any type"),
        };
        let help = "where the value has another type than the policy expects, the call is refused; have the \
                    contract give it one, or name the tools in the policy's head";
        Some(PolicyFinding::of(policy, severity, Some(concern), message, Some(help.to_owned())))
    };
    policy.reads.iter().filter_map(read).min_by_key(|finding| finding.severity)
}

fn validated(
    policies: &[&Policy],
    schema: Value,
    concern: Option<&Concern>,
    coverage: &mut Coverage,
) -> Vec<PolicyFinding> {
    let validate = || -> Result<ValidationResult, entity::EngineFault> {
        let schema = Schema::from_json_value(schema)?;
        let set = cedar_policy::PolicySet::from_policies(policies.iter().map(|policy| policy.cedar.clone()))?;
        Ok(Validator::new(schema).validate(&set, ValidationMode::Strict))
    };
    let result = match validate() {
        Ok(result) => result,
        Err(fault) => {
            let message = format!("the contract's types cannot be given to Cedar: {fault}");
            let whole = |p: &&Policy| PolicyFinding::of(p, Severity::Error, concern, message.clone(), None);
            return policies.iter().map(whole).collect();
        }
    };
    let find = |id: &str| policies.iter().find(|policy| policy.id == id);
    for policy in policies {
        coverage.0.entry(policy.id.clone()).or_default().0 += 1;
    }
    let mut findings = Vec::new();
    for error in result.validation_errors() {
        let policy = find(error.policy_id().as_ref());
        findings
            .extend(policy.map(|policy| finding(policy, Severity::Error, error, own_help(error), concern)));
    }
    for warning in result.validation_warnings() {
        let policy = find(warning.policy_id().as_ref());
        match warning {
            // A policy for several tools may be without effect on some.
            ValidationWarning::ImpossiblePolicy(_) => {
                coverage.0.entry(warning.policy_id().to_string()).or_default().1 += 1;
            }
            _ => findings.extend(policy.map(|p| finding(p, Severity::Warning, warning, None, concern))),
        }
    }
    findings.sort_by(|one, other| {
        (&one.file, one.line, one.column, &one.message).cmp(&(
            &other.file,
            other.line,
            other.column,
            &other.message,
        ))
    });
    findings.dedup();
    findings
}

/// A finding of Cedar's validator, at the place that it points to.
fn finding(
    policy: &Policy,
    severity: Severity,
    found: &dyn Diagnostic,
    own_help: Option<&str>,
    concern: Option<&Concern>,
) -> PolicyFinding {
    let source = policy.cedar.as_ref().loc().map_or("", |loc| loc.src.as_ref());
    let at = position::of_label(source, found.labels());
    let message = found.to_string();
    let message =
        message.strip_prefix(&format!("for policy `{}`, ", policy.id)).unwrap_or(&message).to_owned();
    let help = own_help.map(str::to_owned).or_else(|| found.help().map(|help| help.to_string()));
    let finding = PolicyFinding::of(policy, severity, concern, message, help);
    PolicyFinding { line: at.line, column: at.column, ..finding }
}

fn own_help(error: &ValidationError) -> Option<&'static str> {
    match error {
        ValidationError::UnsafeAttributeAccess(_) => {
            Some("name the actions and tools that have it in the policy's head, or ask with `has` first")
        }
        ValidationError::UnsafeOptionalAttributeAccess(_) => {
            Some("it may be absent or `null`; ask with `has` first")
        }
        _ => None,
    }
}
