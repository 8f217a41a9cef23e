//! `aldgate`: a governed gateway for the tools that agents use.

#[macro_use]
mod out;

mod admin;
mod approvals;
mod cli;
mod coded;
mod command;
mod config;
mod demo;
mod evidence;
mod fault;
mod identity;
mod observing;
mod random;
mod signal;
mod signed_in;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

/// Bytes of stack of each worker: a value of the allowed depth is checked against the allowed chains of schemas on it.
const STACK: usize = 16 << 20;

/// A call makes some hundred small allocations on several threads; this allocator is made for that.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match cli::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(wrong) => return command::unparsed(&wrong),
    };
    start_log();
    let runtime =
        match tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build() {
            Ok(runtime) => runtime,
            Err(fault) => {
                out::report(&fault::CommandFault::Machine(fault).into());
                return ExitCode::FAILURE;
            }
        };
    let done = runtime.block_on(async {
        #[cfg(feature = "count-allocations")]
        aldgate_testkit::bench::allocations::tell_at_signal();
        command::run(arguments).await
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    match done {
        Ok(code) => code,
        Err(report) if out::is_broken_pipe(&report) => ExitCode::SUCCESS,
        Err(report) => {
            out::report(&report);
            ExitCode::FAILURE
        }
    }
}

/// The log goes to standard error; `ALDGATE_LOG` sets what is in it.
fn start_log() {
    // What the client library logs of a failure is told as the command's own error.
    let filter = EnvFilter::try_from_env("ALDGATE_LOG").unwrap_or_else(|_| EnvFilter::new("warn,rmcp=off"));
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours).init();
}
