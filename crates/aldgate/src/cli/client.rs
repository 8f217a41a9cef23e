//! The commands that are clients of the gateway, as agents are.

use clap::{Args, Subcommand, ValueEnum};

use super::{AdminTarget, AgentTarget};

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
    /// Work on a task, such as "work ticket SR-20031". Exit code 0 where it came to its end and nothing is left waiting for
    /// a person.
    Run(AgentArguments),
}

#[derive(Debug, Args)]
pub(crate) struct AgentArguments {
    /// The task.
    pub(crate) task: String,
    /// Who plans.
    #[arg(long, value_enum, default_value_t = PlannerName::Scripted)]
    pub(crate) planner: PlannerName,
    /// The model; `claude-sonnet-4-5` for `anthropic` and `gpt-5-mini` for `openai` where it is left out.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Where the API is served: `https://…`, or `http://` with a loopback address. Where it is left out,
    /// ANTHROPIC_BASE_URL or OPENAI_BASE_URL, else the service itself (`https://api.anthropic.com`,
    /// `https://api.openai.com/v1`).
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// End where more calls than this are wanted.
    #[arg(long, value_name = "NUMBER", default_value_t = 32)]
    pub(crate) max_steps: usize,
    /// End where the model has taken this many tokens, in and out, in all its answers.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000)]
    pub(crate) max_tokens: u64,
    /// Tokens of one answer of the model.
    #[arg(long, value_name = "NUMBER", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_answer_tokens: u32,
    #[command(flatten)]
    pub(crate) target: AgentTarget,
}

/// Who decides what an agent does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlannerName {
    /// Fixed rules for field-service tickets, without a model.
    Scripted,
    /// A model behind the Messages API of Anthropic; its key is in ANTHROPIC_API_KEY.
    Anthropic,
    /// A model behind chat completions with tools, of OpenAI or of whoever else serves them; its key is in
    /// OPENAI_API_KEY, which a loopback address can do without.
    Openai,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// The newest traces.
    List {
        /// So many at most.
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=2000))]
        limit: u16,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// One trace as a tree.
    Show {
        /// Its id, as `trace list` prints it; the beginning of it where only one begins so. The newest where it is left out.
        id: Option<String>,
        #[command(flatten)]
        target: AdminTarget,
    },
}
