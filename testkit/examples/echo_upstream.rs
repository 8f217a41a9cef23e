//! Serves an MCP server that answers at once, and prints its URL on standard error:
//! `cargo run -p aldgate-testkit --example echo_upstream -- --tools 10`

use std::net::SocketAddr;

use aldgate_testkit::bench::Echo;
use clap::Parser;

#[derive(Parser)]
struct Arguments {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How many tools it has.
    #[arg(long, default_value_t = 10)]
    tools: usize,
    /// Bytes that each result carries beside the key.
    #[arg(long, default_value_t = 64)]
    result_bytes: usize,
    /// Bytes that the list carries beside the tools.
    #[arg(long, default_value_t = 0)]
    list_bytes: usize,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let Arguments { listen, tools, result_bytes, list_bytes } = Arguments::parse();
    let listener = tokio::net::TcpListener::bind(listen).await?;
    eprintln!("echo: http://{}/mcp", listener.local_addr()?);
    Echo::new(tools, result_bytes, list_bytes).serve(listener).await
}
