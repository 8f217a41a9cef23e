//! `aldgate`: a governed gateway for the tools that agents use.

mod admin;
mod cli;
mod command;
mod config;
mod demo;
mod out;
mod random;
mod signal;

use std::process::ExitCode;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    start_log();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(fault) => {
            eprintln!("the program cannot start its threads: {fault}");
            return ExitCode::FAILURE;
        }
    };
    let done = runtime.block_on(command::run(arguments));
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    match done {
        Ok(code) => code,
        Err(report) if out::is_broken_pipe(&report) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::FAILURE
        }
    }
}

/// The log goes to standard error; `ALDGATE_LOG` sets what is in it.
fn start_log() {
    let filter = EnvFilter::try_from_env("ALDGATE_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
