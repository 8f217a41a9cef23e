//! Serves the three servers on a loopback address, without a gateway:
//! `cargo run -p aldgate-field-service --example serve -- 127.0.0.1:8321`, or one of them over standard input and
//! output: `… --example serve -- tickets`

use std::error::Error;
use std::io::Read as _;

use aldgate_field_service::{Access, DEFAULT_SEED, DEFAULT_TICKETS, FieldService, Options, ServerName};
use axum::serve::ListenerExt as _;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let place = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    // The key lives as long as the data, which is private to this process and removed at its end.
    let mut state_key = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut state_key)?;
    let options = Options {
        store: None,
        tickets: DEFAULT_TICKETS,
        seed: DEFAULT_SEED,
        access: Access::Open,
        state_key,
    };
    let service = FieldService::open(options).await?;
    if let Ok(server) = place.parse::<ServerName>() {
        return Ok(service.stdio(server).await?);
    }
    let listener = tokio::net::TcpListener::bind(&place).await?;
    for server in ServerName::ALL {
        println!("http://{}/{server}/mcp", listener.local_addr()?);
    }
    // Without this a small answer waits for the acknowledgement of the one before it.
    let listener = listener.tap_io(|stream| {
        if let Err(fault) = stream.set_nodelay(true) {
            eprintln!("TCP_NODELAY cannot be set: {fault}");
        }
    });
    axum::serve(listener, service.router()).await?;
    Ok(())
}
