//! Sends one kind of request again and again, checks each answer, and prints on standard output what it measured, as JSON.

use std::error::Error;
use std::time::Duration;

use aldgate_testkit::bench::{Load, Method};
use clap::{Parser, ValueEnum};
use http::Uri;

#[derive(Parser)]
struct Arguments {
    /// The endpoint.
    #[arg(long)]
    url: Uri,
    /// The bearer token to show.
    #[arg(long, env = "ALDGATE_BENCH_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// What is sent.
    #[arg(long)]
    what: What,
    /// The tool that is called.
    #[arg(long, default_value = "lookup_00000")]
    tool: String,
    /// Bytes that fill the key of a call up.
    #[arg(long, default_value_t = 32)]
    argument_bytes: usize,
    /// How many tools a list has to give.
    #[arg(long, default_value_t = 10)]
    tools: usize,
    /// Connections.
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// Requests on each connection that only warm up.
    #[arg(long, default_value_t = 20)]
    warm: u64,
    /// Seconds that it lasts at most.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Requests at most.
    #[arg(long, default_value_t = 1_000_000)]
    requests: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Call,
    List,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let load = Load {
        url: arguments.url,
        token: arguments.token,
        method: match arguments.what {
            What::Call => Method::Call(arguments.tool, arguments.argument_bytes),
            What::List => Method::List(arguments.tools),
        },
        connections: arguments.connections,
        warm: arguments.warm,
        lasts: Duration::try_from_secs_f64(arguments.seconds)?,
        most: arguments.requests,
    };
    println!("{}", serde_json::to_string(&load.run().await?)?);
    Ok(())
}
