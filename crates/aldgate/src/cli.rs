//! The command line.

mod client;
mod contracts;
mod identity;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use client::{
    AgentArguments, AgentCommand, CallArguments, ListenArguments, PlannerName, PromptsCommand,
    ResourcesCommand, ToolsCommand, TraceCommand,
};
pub(crate) use contracts::{
    AcceptArguments, ContractsCommand, DiffArguments, ItemArguments, KeyCommand, PinArguments,
    ReleaseArguments, RepairArguments, RepairMode, SignArguments, VerifyArguments,
};
pub(crate) use identity::{
    AddClient, ClientsCommand, DoorArguments, IdentityTarget, KeysCommand, LoginArguments, LogoutArguments,
    UsersCommand,
};

/// A governed gateway for the tools that agents use (MCP 2026-07-28).
#[derive(Debug, Parser)]
#[command(name = "aldgate", version, about, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Work one service ticket through the gateway, and go on serving.
    Demo(DemoArguments),
    /// Put one server behind the gateway, for development on this machine.
    Dev(DevArguments),
    /// Run a server.
    #[command(subcommand)]
    Serve(Serve),
    /// Check and describe the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check, show and explain what registry and policies say.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Pin, review, accept, sign and compare the contracts of upstreams.
    #[command(subcommand)]
    Contracts(ContractsCommand),
    /// Decide what waits for a person.
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Read the evidence.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Say why one call was ruled as it was, from its evidence alone.
    Explain {
        /// The call's id, as replies and `aldgate audit list` show it.
        call: String,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// The last traces of a running gateway.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// How the gateway and its upstreams stand.
    Status(AdminTarget),
    /// Have a running gateway read its configuration, locks and policies again.
    Reload(AdminTarget),
    /// List tools, or show one contract.
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Call one tool.
    Call(CallArguments),
    /// List resources, or read one.
    #[command(subcommand)]
    Resources(ResourcesCommand),
    /// List prompts, or get one.
    #[command(subcommand)]
    Prompts(PromptsCommand),
    /// Tell of changes of the lists, and of resources.
    Listen(ListenArguments),
    /// Let an agent work on a task.
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Make tokens.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Sign in with a browser. Tokens are kept for this user alone, and other commands use them.
    Login(LoginArguments),
    /// Give up what `aldgate login` kept.
    Logout(LogoutArguments),
    /// Accounts of people who sign in here.
    #[command(subcommand)]
    Users(UsersCommand),
    /// Clients that people sign in with.
    #[command(subcommand)]
    Clients(ClientsCommand),
    /// Keys that tokens are signed with.
    #[command(subcommand)]
    Keys(KeysCommand),
}

/// Where the configuration is.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfigFile {
    /// The configuration; `aldgate.toml` if there is one, else the one of the demonstration.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Where the configuration of a host is.
#[derive(Clone, Debug, Args)]
pub(crate) struct HostFile {
    /// The configuration; `aldgate.toml` in this folder where it is left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The gateway as an agent sees it.
#[derive(Clone, Debug, Args)]
pub(crate) struct AgentTarget {
    /// The MCP endpoint.
    #[arg(long, value_name = "URL", env = "ALDGATE_URL", default_value = "http://127.0.0.1:7300/mcp")]
    pub(crate) url: String,
    /// The bearer token.
    #[arg(long, value_name = "TOKEN", env = "ALDGATE_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The gateway's admin API.
#[derive(Clone, Debug, Args)]
pub(crate) struct AdminTarget {
    /// The admin API.
    #[arg(long, value_name = "URL", env = "ALDGATE_ADMIN_URL", default_value = "http://127.0.0.1:7301")]
    pub(crate) admin: String,
    /// The bearer token.
    #[arg(long, value_name = "TOKEN", env = "ALDGATE_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DemoArguments {
    /// The ticket to work on.
    #[arg(long, default_value = "SR-20031")]
    pub(crate) ticket: String,
    /// Approve the order as the second principal, without asking.
    #[arg(long, conflicts_with = "deny")]
    pub(crate) approve: bool,
    /// Deny the order as the second principal, without asking.
    #[arg(long)]
    pub(crate) deny: bool,
    /// Only serve: work no ticket.
    #[arg(long, conflicts_with_all = ["approve", "deny", "once"])]
    pub(crate) no_run: bool,
    /// End after the ticket.
    #[arg(long)]
    pub(crate) once: bool,
    /// Print one JSON object for each event.
    #[arg(long)]
    pub(crate) json: bool,
    /// Call the three servers inside the gateway's process instead of over HTTP.
    #[arg(long)]
    pub(crate) inproc: bool,
    /// Address of the gateway.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7300")]
    pub(crate) listen: SocketAddr,
    /// Address of the admin API.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7301")]
    pub(crate) admin_listen: SocketAddr,
    /// Tickets to generate.
    #[arg(long, default_value_t = aldgate_field_service::DEFAULT_TICKETS)]
    pub(crate) tickets: usize,
    /// Keep stores and evidence in this folder; otherwise they are removed at the end.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) state_dir: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DevArguments {
    /// The server to put behind the gateway, `http://host:port/path`.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: String,
    /// The host's name of it.
    #[arg(long, default_value = "dev")]
    pub(crate) name: String,
    /// Environment variable with the bearer token for it.
    #[arg(long, value_name = "VAR")]
    pub(crate) bearer_env: Option<String>,
    /// Address of the gateway; loopback only.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7300")]
    pub(crate) listen: SocketAddr,
    /// Address of the admin API; loopback only.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7301")]
    pub(crate) admin_listen: SocketAddr,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Serve {
    /// The gateway of a configuration.
    Gateway {
        #[command(flatten)]
        file: HostFile,
    },
    /// The field-service servers: tickets, parts and manuals.
    FieldService(FieldServiceArguments),
    /// The evidence server over standard input and output, for one principal. It reads what a gateway of the same
    /// configuration writes; a running gateway serves it at `/evidence/mcp` too.
    Evidence(EvidenceArguments),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct EvidenceArguments {
    /// Serve over standard input and output; the one way that there is without a gateway.
    #[arg(long, required = true)]
    pub(crate) stdio: bool,
    /// The principal of the configuration that reads; its tenant's evidence is what is read.
    #[arg(long, value_name = "NAME")]
    pub(crate) principal: String,
    #[command(flatten)]
    pub(crate) file: HostFile,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct FieldServiceArguments {
    /// Serve `/tickets/mcp`, `/parts/mcp` and `/manuals/mcp` over HTTP at this address.
    #[arg(long, value_name = "ADDR", required_unless_present = "stdio", conflicts_with = "stdio")]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve one of `tickets`, `parts`, `manuals` over standard input and output.
    #[arg(long, value_name = "SERVER")]
    pub(crate) stdio: Option<aldgate_field_service::ServerName>,
    /// Keep the data in this folder; otherwise it is made anew and removed at the end.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) store: Option<PathBuf>,
    /// Tickets to generate.
    #[arg(long, default_value_t = aldgate_field_service::DEFAULT_TICKETS)]
    pub(crate) tickets: usize,
    /// Seed of the generator.
    #[arg(long, default_value_t = aldgate_field_service::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Environment variable with a bearer token that every HTTP request must carry.
    #[arg(long, value_name = "VAR")]
    pub(crate) bearer_env: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read the configuration and everything that it names.
    Check {
        #[command(flatten)]
        file: ConfigFile,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the configuration.
    Schema,
    /// Print the page about the configuration.
    #[command(hide = true)]
    Docs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Validate the policies against the pinned contracts.
    Check {
        #[command(flatten)]
        file: ConfigFile,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show the ruling of each role on each tool, resource and prompt, beside what a tool's annotations imply.
    Matrix {
        #[command(flatten)]
        file: ConfigFile,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Explain the ruling on one request.
    Explain(ExplainArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// A tool by its visible name, a resource by its URI, `prompt:NAME`, or `gateway` for its lists.
    pub(crate) what: String,
    /// The principal of the configuration that asks.
    #[arg(long = "as", value_name = "PRINCIPAL")]
    pub(crate) principal: String,
    /// What is done with it; what it is there for where this is left out.
    #[arg(long, value_parser = ["call", "read", "get_prompt", "complete", "listen"])]
    pub(crate) action: Option<String>,
    /// The arguments of a tool or prompt, a JSON object; for `complete` those that were chosen before.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// The argument that is completed and what is typed of it, for `complete`.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) argument: Option<String>,
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// What waits for a decision.
    List {
        /// `pending`, `approved`, `denied`, `expired`, `redeemed` or `all`.
        #[arg(long, default_value = "pending")]
        state: String,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// One approval with its arguments.
    Show {
        /// The approval's id.
        id: String,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Let the call be made, once.
    Approve(DecisionArguments),
    /// Refuse the call for good.
    Deny(DecisionArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DecisionArguments {
    /// The approval's id.
    pub(crate) id: String,
    /// Why; the caller and the evidence get it.
    #[arg(long, default_value = "")]
    pub(crate) note: String,
    #[command(flatten)]
    pub(crate) target: AdminTarget,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// The newest rows of evidence.
    List {
        /// Only rows of this tool, `upstream/tool`, or the tool's name alone; `resource:upstream/template` and
        /// `prompt:upstream/name` of the others.
        #[arg(long)]
        tool: Option<String>,
        /// Only rows of this kind: `answer`, `intent`, `outcome`, `refusal`, `approval_asked`, `approval_decided`,
        /// `drift`, `identity`.
        #[arg(long)]
        kind: Option<String>,
        /// So many at most.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// All rows of one call.
    Show {
        /// The call's id.
        call: String,
        #[command(flatten)]
        target: AdminTarget,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token, and the entry for `aldgate.toml` that knows its hash.
    New {
        /// The principal's name.
        name: String,
        /// `person` or `service`.
        #[arg(long, default_value = "service", value_parser = ["person", "service"])]
        kind: String,
        /// A role; may be given several times.
        #[arg(long)]
        role: Vec<String>,
        /// The tenant; `default` where it is left out.
        #[arg(long)]
        tenant: Option<String>,
        /// The name to show to people; the principal's name where it is left out.
        #[arg(long, value_name = "NAME")]
        display_name: Option<String>,
    },
}
