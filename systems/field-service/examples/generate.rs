//! Generates a store and says how long it took and how much memory it needed:
//! `cargo run -p aldgate-field-service --example generate -- 100000 /tmp/fs.sqlite`

use std::error::Error;
use std::time::Instant;

use aldgate_field_service::{Access, DEFAULT_SEED, DEFAULT_TICKETS, FieldService, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let tickets = arguments.next().map_or(Ok(DEFAULT_TICKETS), |text| text.parse())?;
    let store = arguments.next().map(Into::into);
    let options = Options { store, tickets, seed: DEFAULT_SEED, access: Access::Open, state_key: [0; 32] };
    let start = Instant::now();
    let service = FieldService::open_with(options, |progress| {
        println!("{} of {} tickets after {:.1?}", progress.tickets, progress.of, start.elapsed());
    })
    .await?;
    println!("open after {:.2?}, peak memory {}", start.elapsed(), peak_memory()?);
    service.close().await;
    Ok(())
}

/// The peak of the resident set, as Linux reports it.
fn peak_memory() -> Result<String, std::io::Error> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.unwrap_or("unknown").trim().to_owned())
}
