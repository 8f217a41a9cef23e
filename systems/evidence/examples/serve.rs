//! Serves a host's store and locks to one reader over standard input and output, beside a gateway that may run with them:
//! `serve TENANT STATE_DIR [LOCK…]`. Tools are known by the names that their upstreams have for them.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use aldgate_contract::Lock;
use aldgate_evidence_server::{EvidenceServer, Reader, Shelf, Stored, serve_stdio};
use aldgate_store::Store;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(tenant), Some(state)) = (arguments.next(), arguments.next()) else {
        return Err("expected: serve TENANT STATE_DIR [LOCK…]".into());
    };
    let mut shelves = Vec::new();
    for path in arguments {
        let lock = Lock::parse(&std::fs::read_to_string(path)?)?;
        let visible = lock.tools.keys().map(|tool| (tool.clone(), tool.clone())).collect();
        shelves.push(Shelf { tenants: None, lock: Arc::new(lock), visible });
    }
    let store = Store::open_to_read(Path::new(&state)).await?;
    let server = EvidenceServer::new(Arc::new(Stored::new(Arc::new(store))), shelves, None)?;
    let reader = Reader::of_tenant(tenant);
    Ok(serve_stdio(&server, &reader, tokio::io::stdin(), tokio::io::stdout()).await?)
}
