//! `aldgate contracts`.

mod accept;
mod compare;
mod comparison;
mod diff;
mod fault;
mod item;
mod key;
mod locks;
mod pin;
mod release;
mod renamed;
mod repair;
mod show;
mod side;
mod sign;
mod signed;
mod suspect;
mod verify;

use std::process::ExitCode;

use aldgate_contract::diff::Severity;

use crate::cli::ContractsCommand;
use crate::out;

pub(crate) use fault::ContractsFault;

/// Nothing could be compared, told apart from every result of a comparison.
pub(crate) const INCOMPARABLE: u8 = 3;

pub(super) async fn run(what: ContractsCommand) -> miette::Result<ExitCode> {
    match what {
        ContractsCommand::Pin(arguments) => pin::run(&arguments).await,
        ContractsCommand::Diff(arguments) => judged(diff::run(&arguments).await),
        ContractsCommand::Accept(arguments) => accept::run(&arguments).await,
        ContractsCommand::Show(arguments) => show::show(&arguments),
        ContractsCommand::History(arguments) => show::history(&arguments),
        ContractsCommand::Verify(arguments) => judged(verify::run(&arguments).await),
        ContractsCommand::Sign(arguments) => sign::run(&arguments),
        ContractsCommand::Key(what) => key::run(&what),
        ContractsCommand::Repair(arguments) => repair::run(&arguments),
        ContractsCommand::Release(arguments) => release::run(&arguments).await,
    }
}

/// The exit code of a comparison, for CI.
fn exit(severity: Option<Severity>) -> ExitCode {
    ExitCode::from(match severity {
        None => 0,
        Some(Severity::Cosmetic | Severity::Compatible) => 1,
        Some(Severity::Behavioural | Severity::Breaking) => 2,
    })
}

/// A failure of a command whose exit codes say how a comparison ended. Output that nobody read is one too: whoever reads
/// the code alone is not to be told that nothing changed.
fn judged(done: miette::Result<ExitCode>) -> miette::Result<ExitCode> {
    done.or_else(|report| {
        if !out::is_broken_pipe(&report) {
            out::report(&report);
        }
        Ok(ExitCode::from(INCOMPARABLE))
    })
}
