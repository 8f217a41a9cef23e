//! `aldgate policy explain`: the ruling on one request, and what it rests on.

use std::collections::BTreeMap;
use std::process::ExitCode;

use aldgate_authority::{Action, Argument, Explanation, Item, PolicyRef, Question, Target, Uri, implied};
use aldgate_gateway::{Reviewed, ReviewedPrompt, ReviewedResource, ReviewedTool};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cli::ExplainArguments;
use crate::command::call::object;
use crate::command::configuration;
use crate::command::prompts::argument;
use crate::config::{principal, reviewed};
use crate::fault::{CommandFault, quoted};
use crate::out;

/// What the command line names.
enum Named<'a> {
    Tool(&'a ReviewedTool),
    /// By its URI, or by its template alone.
    Resource(&'a ReviewedResource, Option<Uri>),
    Prompt(&'a ReviewedPrompt),
    Gateway,
}

pub(super) fn run(asked: &ExplainArguments) -> miette::Result<ExitCode> {
    let loaded = configuration(&asked.file)?;
    let reviewed = reviewed(&loaded)?;
    let named = Named::find(&reviewed, &asked.what)?;
    let name = &asked.principal;
    let configured = loaded.config.principals.iter().find(|known| known.name == *name).ok_or_else(|| {
        CommandFault::Unknown {
            kind: "principal",
            name: name.clone(),
            known: quoted(loaded.config.principals.iter().map(|known| known.name.as_str())),
            help: None,
        }
    })?;
    let principal = principal(configured);
    if let Some(upstream) =
        named.upstream().filter(|upstream| !loaded.config.serves(upstream, &principal.tenant))
    {
        let what = format!(
            "upstream `{upstream}` does not serve the tenant `{}` of `{}`: for it, what it offers does not exist",
            out::plain(&principal.tenant),
            out::plain(name),
        );
        return Err(CommandFault::usage(what).into());
    }
    let action = asked.action.as_deref().and_then(Action::parse).unwrap_or(named.used_by());
    let arguments: Box<RawValue> = object(&asked.args)?;
    let completed = asked.argument.as_deref().map(argument).transpose()?;
    if action == Action::Complete && completed.is_none() {
        let what = "an argument is completed; name it, and what is typed of it, with `--argument NAME=VALUE`";
        return Err(CommandFault::usage(what).into());
    }
    let ruling = reviewed.authorizer.rule(&Question {
        principal: &principal,
        action,
        target: named.target(),
        uri: named.uri(),
        arguments: Some(&arguments),
        argument: completed.map(|(name, value)| Argument { name, value }),
        input_responses: None,
        client: &principal.client,
    });
    let ruling = match &named {
        Named::Tool(tool) => ruling.with_implied(implied(&tool.hints)),
        Named::Resource(..) | Named::Prompt(_) | Named::Gateway => ruling,
    };
    let unfit = named.unfit(action, &arguments)?;
    if asked.json {
        let mut explained = serde_json::to_value(ruling.explanation()).unwrap_or_default();
        if let Value::Object(members) = &mut explained {
            members.insert("action".to_owned(), action.as_str().into());
            members.insert("arguments_unfit".to_owned(), unfit.into());
        }
        out::json(&explained)?;
    } else {
        told(ruling.explanation())?;
        for place in unfit {
            out::line(format!("  unfit     {}", out::plain(&place)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl<'a> Named<'a> {
    fn find(reviewed: &'a Reviewed, what: &str) -> Result<Self, CommandFault> {
        let tool = reviewed.tools.iter().find(|known| known.visible == what || known.key == what);
        if let Some(tool) = tool {
            return Ok(Self::Tool(tool));
        }
        if what == "gateway" {
            return Ok(Self::Gateway);
        }
        if let Some(name) = what.strip_prefix("prompt:") {
            let mut prompts = reviewed.prompts.iter();
            let found = prompts.find(|known| known.visible == name || known.key == name);
            return found.map(Self::Prompt).ok_or_else(|| CommandFault::Unknown {
                kind: "prompt",
                name: name.to_owned(),
                known: quoted(reviewed.prompts.iter().map(|prompt| prompt.visible.as_str())),
                help: Some("a prompt that is in no lock, or not in the configuration, is prohibited"),
            });
        }
        let written = what.strip_prefix("resource:").unwrap_or(what);
        let template = reviewed.resources.iter().find(|one| one.template == written || one.key == written);
        let Ok(uri) = Uri::parse(written) else {
            return template.map(|one| Self::Resource(one, None)).ok_or_else(|| CommandFault::Unknown {
                kind: "tool",
                name: what.to_owned(),
                known: quoted(reviewed.tools.iter().map(|tool| tool.visible.as_str())),
                help: Some("a tool that is in no lock, or not in the registry, is prohibited"),
            });
        };
        let ruled = reviewed.authorizer.registry().matching(&uri);
        let key = ruled.first().map(|one| format!("{}/{}", one.upstream, one.template));
        let resource = key.and_then(|key| reviewed.resources.iter().find(|one| one.key == key));
        resource.map(|one| Self::Resource(one, Some(uri))).ok_or_else(|| CommandFault::Unknown {
            kind: "resource",
            name: written.to_owned(),
            known: quoted(reviewed.resources.iter().map(|one| one.template.as_str())),
            help: Some("a URI that no resource of the configuration stands for cannot be read"),
        })
    }

    /// The upstream that it is of.
    fn upstream(&self) -> Option<&str> {
        match self {
            Self::Tool(tool) => Some(&tool.upstream),
            Self::Resource(resource, _) => Some(&resource.upstream),
            Self::Prompt(prompt) => Some(&prompt.upstream),
            Self::Gateway => None,
        }
    }

    /// What it is there for.
    fn used_by(&self) -> Action {
        match self {
            Self::Tool(_) => Action::Call,
            Self::Resource(..) => Action::Read,
            Self::Prompt(_) => Action::GetPrompt,
            Self::Gateway => Action::Listen,
        }
    }

    fn target(&self) -> Target<'a> {
        match self {
            Self::Tool(tool) => Item::tool(&tool.upstream, &tool.tool, &tool.contract).into(),
            Self::Resource(one, _) => Item::resource(&one.upstream, &one.template, &one.contract).into(),
            Self::Prompt(one) => Item::prompt(&one.upstream, &one.prompt, &one.contract).into(),
            Self::Gateway => Target::Gateway,
        }
    }

    fn uri(&self) -> Option<&str> {
        match self {
            Self::Resource(_, uri) => uri.as_ref().map(Uri::as_str),
            Self::Tool(_) | Self::Prompt(_) | Self::Gateway => None,
        }
    }

    /// Where the arguments do not fit the pinned contract: the gateway refuses such a request before it is ruled.
    fn unfit(&self, action: Action, arguments: &RawValue) -> miette::Result<Vec<String>> {
        match (self, action) {
            (Self::Tool(tool), Action::Call) => unfit_of_tool(&tool.input_schema, arguments),
            (Self::Prompt(prompt), Action::GetPrompt) => Ok(unfit_of_prompt(&prompt.arguments, arguments)),
            _ => Ok(Vec::new()),
        }
    }
}

/// Where the arguments do not fit a pinned input schema. The schema was found to be within the gateway's bounds when the
/// configuration was reviewed.
fn unfit_of_tool(schema: &Value, arguments: &RawValue) -> miette::Result<Vec<String>> {
    let broken = |what: String| CommandFault::usage(format!("the arguments cannot be compared: {what}"));
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(schema)
        .map_err(|fault| broken(fault.to_string()))?;
    let arguments: Value =
        serde_json::from_str(arguments.get()).map_err(|fault| broken(fault.to_string()))?;
    let told = |fault: jsonschema::ValidationError<'_>| {
        let place = fault.instance_path().to_string();
        let place = if place.is_empty() { "the arguments".to_owned() } else { format!("`{place}`") };
        format!("{place}: {fault}; the gateway refuses this with AG-ARGUMENTS before it is ruled")
    };
    Ok(validator.iter_errors(&arguments).map(told).collect())
}

fn unfit_of_prompt(known: &Value, arguments: &RawValue) -> Vec<String> {
    let refused = "the gateway refuses this with AG-PARAMS before it is ruled";
    let Ok(given) = serde_json::from_str::<BTreeMap<String, String>>(arguments.get()) else {
        return vec![format!("the arguments of a prompt are texts; {refused}")];
    };
    let known: BTreeMap<&str, bool> = known
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| {
            Some((one.get("name")?.as_str()?, one.get("required").and_then(Value::as_bool) == Some(true)))
        })
        .collect();
    let unknown = given.keys().filter(|name| !known.contains_key(name.as_str()));
    let missing = known.iter().filter(|(name, required)| **required && !given.contains_key(**name));
    unknown
        .map(|name| format!("`{name}` is no argument of the prompt; {refused}"))
        .chain(missing.map(|(name, _)| format!("`{name}` is missing; {refused}")))
        .collect()
}

fn told(explanation: &Explanation) -> miette::Result<()> {
    let verdict = serde_json::to_value(explanation.verdict).ok();
    let verdict = verdict.as_ref().and_then(Value::as_str).unwrap_or_default();
    out::line(format!("{}: {verdict}, by {}", explanation.concern, explanation.rule))?;
    for reason in &explanation.reasons {
        out::line(format!("  because   {} ({})", reason.message, reason.rule))?;
    }
    if let Some(entry) = &explanation.registry {
        out::line(format!("  registry  {} ({})", entry.authority.as_str(), entry.digest))?;
    }
    if let Some(implied) = explanation.implied {
        out::line(format!("  implied   {} by the annotations alone; shown, never used", implied.as_str()))?;
    }
    // A policy speaks for each action that it was asked about; it is one policy all the same.
    let mut policies: Vec<(&PolicyRef, Vec<&str>)> = Vec::new();
    for policy in &explanation.policies {
        match policies.iter_mut().find(|(known, _)| (&known.id, &known.file) == (&policy.id, &policy.file)) {
            Some((_, actions)) => actions.push(policy.action),
            None => policies.push((policy, vec![policy.action])),
        }
    }
    for (policy, mut actions) in policies {
        actions.dedup();
        let (id, effect, actions) = (&policy.id, policy.effect, actions.join(", "));
        out::line(format!("  policy    {id} ({effect} {actions}) in {}:{}", policy.file, policy.line))?;
    }
    for path in &explanation.unmapped {
        out::line(format!("  unseen    {path} cannot be seen by policies"))?;
    }
    if explanation.contract.is_empty() {
        return Ok(());
    }
    out::line(format!("  contract  {}", explanation.contract))
}
