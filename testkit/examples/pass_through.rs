//! Passes requests to an upstream and its responses back, and prints its address on standard error:
//! `cargo run -p aldgate-testkit --example pass_through -- --upstream 127.0.0.1:8322`

use std::net::SocketAddr;

use aldgate_testkit::bench::PassThrough;
use clap::Parser;
use http::uri::Authority;

#[derive(Parser)]
struct Arguments {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Host and port of the upstream.
    #[arg(long)]
    upstream: Authority,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let Arguments { listen, upstream } = Arguments::parse();
    #[cfg(feature = "count-allocations")]
    aldgate_testkit::bench::allocations::tell_at_signal();
    let listener = tokio::net::TcpListener::bind(listen).await?;
    eprintln!("pass-through: http://{}/mcp", listener.local_addr()?);
    PassThrough::new(upstream).serve(listener).await
}
