//! The commands, one file for each group.

pub(crate) mod agent;
pub(crate) mod approvals;
pub(crate) mod asker;
mod audit;
mod call;
mod clients;
mod config;
mod contracts;
mod dev;
mod explain;
mod keys;
mod listen;
mod login;
mod policy;
mod prompts;
mod reload;
mod resources;
pub(crate) mod serve;
mod status;
mod token;
mod tools;
mod trace;
mod users;

pub(crate) use contracts::ContractsFault;

use std::path::Path;
use std::process::ExitCode;

use crate::cli::{Arguments, Command, ConfigFile, HostFile};
use crate::config::{Loaded, embedded, load};
use crate::demo;
use crate::fault::CommandFault;

/// Runs what the command line says.
pub(crate) async fn run(arguments: Arguments) -> miette::Result<ExitCode> {
    match arguments.command {
        Command::Demo(arguments) => demo::run(arguments).await,
        Command::Dev(arguments) => dev::run(arguments).await,
        Command::Serve(what) => serve::run(what).await,
        Command::Config(what) => config::run(what),
        Command::Policy(what) => policy::run(what),
        Command::Contracts(what) => contracts::run(what).await,
        Command::Approvals(what) => approvals::run(what).await,
        Command::Audit(what) => audit::run(what).await,
        Command::Explain { call, target } => explain::run(&call, &target).await,
        Command::Reload(target) => reload::run(&target).await,
        Command::Trace(what) => trace::run(what).await,
        Command::Status(target) => status::run(&target).await,
        Command::Tools(what) => tools::run(what).await,
        Command::Call(arguments) => call::run(arguments).await,
        Command::Resources(what) => resources::run(what).await,
        Command::Prompts(what) => prompts::run(what).await,
        Command::Listen(arguments) => listen::run(arguments).await,
        Command::Agent(what) => agent::run(what).await,
        Command::Token(what) => token::run(what),
        Command::Login(arguments) => login::run(arguments).await,
        Command::Logout(arguments) => login::out(arguments).await,
        Command::Users(what) => users::run(what).await,
        Command::Clients(what) => clients::run(what).await,
        Command::Keys(what) => keys::run(what).await,
    }
}

/// Tells what is wrong with a command line, or the help that was asked for. The exit codes of a comparison mean something
/// else than 2 for a mistake.
pub(crate) fn unparsed(wrong: &clap::Error) -> ExitCode {
    // Nobody reading it is no reason to end otherwise.
    let _ = wrong.print();
    let judged = |word: &std::ffi::OsString| word == "diff" || word == "verify";
    let mut words = std::env::args_os().skip(1);
    match wrong.exit_code() {
        0 => ExitCode::SUCCESS,
        _ if words.next().is_some_and(|word| word == "contracts")
            && words.next().is_some_and(|word| judged(&word)) =>
        {
            ExitCode::from(contracts::INCOMPARABLE)
        }
        code => ExitCode::from(u8::try_from(code).unwrap_or(1)),
    }
}

/// The configuration of a host: the named file, or `aldgate.toml`.
fn host_configuration(file: &HostFile) -> miette::Result<Loaded> {
    let path = file.config.as_deref().unwrap_or(Path::new(USUAL));
    if file.config.is_none() && !path.exists() {
        let what = format!("there is no `{USUAL}` here");
        let help =
            "write one (see docs/configuration.md), or name one with `--config`; `aldgate demo` needs none";
        return Err(CommandFault::Configuration { what, help }.into());
    }
    Ok(load(path)?)
}

/// The file that is read where none is named.
const USUAL: &str = "aldgate.toml";

/// The configuration that a command works on: the named file, `aldgate.toml`, or the demonstration's.
fn configuration(file: &ConfigFile) -> miette::Result<Loaded> {
    if let Some(path) = &file.config {
        return Ok(load(path)?);
    }
    let usual = Path::new(USUAL);
    if usual.exists() {
        return Ok(load(usual)?);
    }
    note!(
        "no `aldgate.toml` here: using the configuration of the demonstration; name another with `--config`"
    );
    Ok(embedded()?)
}
