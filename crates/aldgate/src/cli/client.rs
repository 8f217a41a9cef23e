//! The commands that are clients of the gateway, as agents are.

use clap::{Args, Subcommand};

use super::AgentTarget;

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// The tools that this principal may use.
    List {
        #[command(flatten)]
        target: AgentTarget,
    },
    /// One contract, as the gateway serves it: its hints, what they imply, what the host says, its schemas and
    /// boundaries. An operator sees also tools that are in nobody's list, and whether the tool is refused now.
    Show {
        /// The tool, by its visible name.
        name: String,
        #[command(flatten)]
        target: AgentTarget,
        /// The admin API, asked for tools that this principal's list does not hold.
        #[arg(long, value_name = "URL", env = "ALDGATE_ADMIN_URL", default_value = "http://127.0.0.1:7301")]
        admin: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The tool, by its visible name.
    pub(crate) tool: String,
    /// The arguments, a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    #[command(flatten)]
    pub(crate) target: AgentTarget,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ResourcesCommand {
    /// The resources that this principal may read, and the templates of further ones.
    List {
        #[command(flatten)]
        target: AgentTarget,
    },
    /// The contents of one resource. Contents that are no text are told of; `--json` prints them.
    Read {
        /// Its URI.
        uri: String,
        #[command(flatten)]
        target: AgentTarget,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptsCommand {
    /// The prompts that this principal may use.
    List {
        #[command(flatten)]
        target: AgentTarget,
    },
    /// The messages of one prompt.
    Get {
        /// The prompt, by its visible name.
        name: String,
        /// Its arguments.
        #[arg(value_name = "NAME=VALUE")]
        arguments: Vec<String>,
        #[command(flatten)]
        target: AgentTarget,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ListenArguments {
    /// Resources to hear of, by their URIs.
    #[arg(value_name = "URI")]
    pub(crate) uris: Vec<String>,
    /// End after so many changes.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) most: Option<u64>,
    #[command(flatten)]
    pub(crate) target: AgentTarget,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Work on a task, such as "work ticket SR-20031".
    Run {
        /// The task.
        task: String,
        /// Who plans; `scripted` works field-service tickets by fixed rules, without a model.
        #[arg(long, default_value = "scripted", value_parser = ["scripted"])]
        planner: String,
        #[command(flatten)]
        target: AgentTarget,
    },
}
