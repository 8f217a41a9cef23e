//! Serves the everything-server on a loopback address, and prints its URL:
//! `cargo run -p aldgate-testkit --example everything -- 127.0.0.1:8322`

use std::error::Error;

use aldgate_testkit::everything;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let place = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = tokio::net::TcpListener::bind(&place).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    everything::serve(listener).await?;
    Ok(())
}
