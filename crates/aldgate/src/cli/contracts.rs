//! `aldgate contracts`: what its commands take.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{AdminTarget, ConfigFile, HostFile};

#[derive(Debug, Subcommand)]
pub(crate) enum ContractsCommand {
    /// Write what upstreams serve now into their locks, and say what changed. Where a lock holds something that changed
    /// for callers or models, or is gone, nothing is written without `--all`.
    Pin(PinArguments),
    /// Compare two files or servers, or what upstreams serve now with their locks. No gateway has to run.
    ///
    /// Exit code 0: the same; 1: compatible or cosmetic changes; 2: breaking changes, or changes of what a model reads or
    /// of annotations; 3: nothing could be compared.
    Diff(DiffArguments),
    /// Pin what an upstream serves now of one tool, prompt or resource template, after a check of its words.
    Accept(AcceptArguments),
    /// Show one pinned contract: its digests, its signature, and what registry and annotations say of it.
    Show(ItemArguments),
    /// The contracts that a tool, prompt or resource template has had, and what changed from each to the next.
    History(ItemArguments),
    /// Compare what upstreams serve now with their locks, and check the locks' signatures. Exit codes as of `diff`; what
    /// is new is named, not offered, and no difference.
    Verify(VerifyArguments),
    /// Sign the contracts in locks with a reviewer's key. Asks no server.
    Sign(SignArguments),
    /// Keys of reviewers.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Say how arguments that were written for an earlier contract of a tool would have to change. Nothing is called.
    Repair(RepairArguments),
    /// Have the running gateway lift the quarantine of a tool, prompt or resource template.
    Release(ReleaseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PinArguments {
    /// Only this upstream.
    pub(crate) upstream: Option<String>,
    /// Take responsibility for what a check of words found: `CHECK` wherever it was found, or `UPSTREAM/TOOL=CHECK`. May
    /// be given several times.
    #[arg(long, value_name = "[ITEM=]CHECK")]
    pub(crate) acknowledge: Vec<String>,
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Pin also what changed for callers or models, and take out what is gone: it was reviewed as a whole.
    #[arg(long)]
    pub(crate) all: bool,
    /// Write a lock that cannot be read anew, without its history.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The side before: a file with a definition, a list as a server answers it, or a lock; or the URL of a server. An
    /// upstream's name alone compares its lock with what it serves, `UPSTREAM/TOOL`, `prompt:UPSTREAM/NAME` or
    /// `resource:UPSTREAM/TEMPLATE` alone that of one contract, and nothing at all does so for every upstream.
    #[arg(value_name = "BEFORE | UPSTREAM | ITEM")]
    pub(crate) before: Option<String>,
    /// The side after.
    pub(crate) after: Option<String>,
    /// Environment variable with a bearer token for the servers that are given by URL.
    #[arg(long, value_name = "VAR")]
    pub(crate) bearer_env: Option<String>,
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArguments {
    /// `UPSTREAM/TOOL`, `prompt:UPSTREAM/NAME` or `resource:UPSTREAM/TEMPLATE`.
    #[arg(value_name = "ITEM")]
    pub(crate) what: String,
    /// What was renamed: a property of the arguments, its place written `a/b`, with `*` for the elements of an array; or
    /// the tool itself, whose earlier name it is. May be given several times.
    #[arg(long, value_name = "OLD=NEW")]
    pub(crate) rename: Vec<String>,
    /// A signed manifest of what was renamed.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Take responsibility for what this check of words found. May be given several times.
    #[arg(long, value_name = "CHECK")]
    pub(crate) acknowledge: Vec<String>,
    /// Only if this is what is served: the digest of the contract that was reviewed.
    #[arg(long, value_name = "SHA256")]
    pub(crate) digest: Option<aldgate_contract::Digest>,
    /// The version that it gets, above all that it has had; the next one where this is left out.
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<u32>,
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ItemArguments {
    /// `UPSTREAM/TOOL`, `prompt:UPSTREAM/NAME` or `resource:UPSTREAM/TEMPLATE`.
    #[arg(value_name = "ITEM")]
    pub(crate) what: String,
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Only this upstream.
    pub(crate) upstream: Option<String>,
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SignArguments {
    /// Only this upstream, or only this of its contracts: `UPSTREAM/TOOL`, `prompt:UPSTREAM/NAME` or
    /// `resource:UPSTREAM/TEMPLATE`.
    #[arg(value_name = "UPSTREAM | ITEM")]
    pub(crate) what: Option<String>,
    /// Sign a manifest of what was renamed instead, and print it; its form is in docs/contracts.md.
    #[arg(long, value_name = "FILE", conflicts_with = "what")]
    pub(crate) manifest: Option<PathBuf>,
    /// The file with the reviewer's private key, as `aldgate contracts key new` writes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key: the private half goes into a file of its own, the public half is printed, and what `aldgate.toml` needs.
    New {
        /// The file, which must not be there yet.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The key's id; its thumbprint (RFC 7638) where it is left out.
        #[arg(long, value_name = "ID")]
        kid: Option<String>,
        /// Print the public half alone, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the public half of a key, and what `aldgate.toml` needs.
    Public {
        /// The file with the private key.
        key: PathBuf,
        /// Print the public half alone, as JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RepairArguments {
    /// `UPSTREAM/TOOL`.
    #[arg(value_name = "UPSTREAM/TOOL")]
    pub(crate) tool: String,
    /// The arguments, a JSON object, or `@` and a file with one.
    #[arg(long, value_name = "JSON | @FILE")]
    pub(crate) args: String,
    /// How far the repair goes.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: RepairMode,
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum RepairMode {
    /// The arguments stay as they are; the changes that would be made are listed.
    Observe,
    /// Likely renames, lossless coercion, enumerations, defaults, and dropping of what is no longer allowed.
    #[default]
    Repair,
    /// Confirmed renames and lossless coercion alone.
    Strict,
}

#[derive(Debug, Args)]
pub(crate) struct ReleaseArguments {
    /// `UPSTREAM/TOOL`, `prompt:UPSTREAM/NAME` or `resource:UPSTREAM/TEMPLATE`.
    #[arg(value_name = "ITEM")]
    pub(crate) what: String,
    #[command(flatten)]
    pub(crate) target: AdminTarget,
}
