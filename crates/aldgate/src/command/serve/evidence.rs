//! `aldgate serve evidence`: the evidence server alone, over standard input and output.

use std::collections::BTreeMap;
use std::sync::Arc;

use aldgate_authority::Action;
use aldgate_evidence_server::{EvidenceServer, Reader, Shelf, Stored, serve_stdio};
use aldgate_gateway::settings::Pins;
use aldgate_store::Store;

use crate::cli::EvidenceArguments;
use crate::coded::WithCode as _;
use crate::command::host_configuration;
use crate::config::{principal, read_host_key, reviewed, upstreams_of};
use crate::fault::{CommandFault, quoted};

/// Serves one principal of the configuration, whose tenant's evidence it reads beside a gateway that may run.
pub(super) async fn run(arguments: &EvidenceArguments) -> miette::Result<()> {
    let loaded = host_configuration(&arguments.file)?;
    let reviewed = reviewed(&loaded)?;
    let name = &arguments.principal;
    let principals = &loaded.config.principals;
    let found = principals.iter().find(|one| one.name == *name);
    let found = found.ok_or_else(|| CommandFault::Unknown {
        kind: "principal",
        name: name.clone(),
        known: quoted(principals.iter().map(|one| one.name.as_str())),
        help: None,
    })?;
    let principal = principal(found);
    if reviewed.authorizer.may(&principal, Action::Audit).is_err() {
        return Err(CommandFault::MayNotAudit { name: name.clone() }.into());
    }
    let folder = loaded.state_dir();
    let store = Store::open_to_read(&folder).await.coded()?;
    let mut visible: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for tool in reviewed.tools {
        visible.entry(tool.upstream).or_default().insert(tool.visible, tool.tool);
    }
    let shelves = upstreams_of(&loaded)?.into_iter().filter_map(|upstream| {
        let Pins::Locked(lock) = upstream.pins else { return None };
        let visible = visible.remove(&upstream.name).unwrap_or_default();
        Some(Shelf { tenants: upstream.tenants, lock: Arc::new(lock), visible })
    });
    let key = read_host_key(&folder)?;
    let source = Arc::new(Stored::new(Arc::new(store)));
    let server = EvidenceServer::new(source, shelves.collect(), key.as_ref()).coded()?;
    let reader = Reader::of_tenant(principal.tenant);
    serve_stdio(&server, &reader, tokio::io::stdin(), tokio::io::stdout()).await.coded()?;
    Ok(())
}
