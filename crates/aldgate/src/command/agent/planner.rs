//! Who plans, by the command line and the environment. Keys come from the environment alone.

use aldgate_agent::{Api, Key, ModelConfig, ModelLimits, ModelPlanner, Planner, Scripted};

use crate::cli::{AgentArguments, PlannerName};
use crate::coded::WithCode as _;
use crate::fault::CommandFault;

pub(super) fn of(arguments: &AgentArguments) -> miette::Result<Box<dyn Planner>> {
    let (api, base_variable) = match arguments.planner {
        PlannerName::Scripted => return scripted(arguments),
        PlannerName::Anthropic => (Api::Anthropic, "ANTHROPIC_BASE_URL"),
        PlannerName::Openai => (Api::OpenAi, "OPENAI_BASE_URL"),
    };
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let base_url = arguments.base_url.clone().or_else(|| set(base_variable));
    let limits = ModelLimits { max_answer_tokens: arguments.max_answer_tokens, ..ModelLimits::default() };
    let config = ModelConfig {
        api,
        model: arguments.model.clone().unwrap_or_else(|| api.default_model().to_owned()),
        base_url: base_url.unwrap_or_else(|| api.default_base_url().to_owned()),
        key: set(api.key_variable()).and_then(|key| Key::new(&key)),
        limits,
    };
    Ok(Box::new(ModelPlanner::new(config).coded()?))
}

fn scripted(arguments: &AgentArguments) -> miette::Result<Box<dyn Planner>> {
    let given = [("--model", &arguments.model), ("--base-url", &arguments.base_url)];
    if let Some((name, _)) = given.iter().find(|(_, value)| value.is_some()) {
        return Err(CommandFault::Usage {
            what: format!("`{name}` is of no use to the scripted planner, which asks no model"),
            help: Some("name who plans: `--planner anthropic` or `--planner openai`".to_owned()),
        }
        .into());
    }
    Ok(Box::new(Scripted))
}
