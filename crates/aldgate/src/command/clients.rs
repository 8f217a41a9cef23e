//! `aldgate clients`.

use std::process::ExitCode;
use std::sync::Arc;

use aldgate_identity::authorization::{
    AddedClient, ClientMethod, ClientRecord, ClientStore, ListedClient, Service,
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::users::{rfc3339, server, tenant_of};
use crate::cli::{AddClient, ClientsCommand, IdentityTarget};
use crate::coded::WithCode as _;
use crate::config::Loaded;
use crate::fault::CommandFault;
use crate::identity::{CLI, identity_store};
use crate::out;

pub(super) async fn run(what: ClientsCommand) -> miette::Result<ExitCode> {
    let now = OffsetDateTime::now_utc();
    match what {
        ClientsCommand::Add(arguments) => add(&arguments, now).await?,
        ClientsCommand::List(target) => list(&target, &clients(&server(&target)?).await?).await?,
        ClientsCommand::Disable { id, target } => {
            clients(&server(&target)?).await?.set_disabled(&id, true, now).await.coded()?;
            told(&target, &id, "is disabled, and what was granted to it is revoked")?;
        }
        ClientsCommand::Enable { id, target } => {
            clients(&server(&target)?).await?.set_disabled(&id, false, now).await.coded()?;
            told(&target, &id, "may be used again")?;
        }
        ClientsCommand::Remove { id, target } => {
            if id == CLI {
                let what = format!(
                    "`{CLI}` is what `aldgate login` signs in with; `aldgate clients disable {CLI}` keeps it out"
                );
                return Err(CommandFault::usage(what).into());
            }
            clients(&server(&target)?).await?.remove(&id, now).await.coded()?;
            told(&target, &id, "is removed, and what was granted to it is revoked")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn clients(loaded: &Loaded) -> miette::Result<ClientStore> {
    Ok(ClientStore::new(Arc::new(identity_store(loaded).await?)))
}

async fn add(arguments: &AddClient, now: OffsetDateTime) -> miette::Result<()> {
    let loaded = server(&arguments.target)?;
    let (method, jwks) = match &arguments.keys {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(CommandFault::file(path, "read"))?;
            let keys = serde_json::from_str(&text).map_err(|fault| {
                let told = out::plain(&fault.to_string());
                CommandFault::usage(format!("`{}` holds no JSON Web Key Set: {told}", path.display()))
            })?;
            (ClientMethod::Assertion, Some(keys))
        }
        None if arguments.secret => (ClientMethod::Secret, None),
        None => (ClientMethod::Public, None),
    };
    let service = match &arguments.service {
        Some(tenant) => Some(Service {
            tenant: tenant_of(&loaded, Some(tenant.clone()))?,
            roles: arguments.role.iter().cloned().collect(),
        }),
        None => None,
    };
    let record = ClientRecord {
        name: arguments.name.clone().unwrap_or_else(|| arguments.id.clone()),
        redirect_uris: arguments.redirect.clone(),
        method,
        jwks,
        refresh: arguments.refresh,
        scope: arguments.scope.clone(),
        service,
        exchange_for: arguments.exchange_for.clone(),
    };
    let AddedClient { id, secret } =
        clients(&loaded).await?.add(&arguments.id, &record, now).await.coded()?;
    if arguments.target.json {
        return out::json(&json!({"client_id": id, "client_secret": secret}));
    }
    match secret {
        Some(secret) => {
            note!("# the secret of `{id}`, shown once");
            out::line(secret)?;
        }
        None => out::line(format!("`{id}` is known"))?,
    }
    Ok(())
}

fn told(target: &IdentityTarget, id: &str, what: &str) -> miette::Result<()> {
    if target.json {
        return out::json(&json!({"client_id": id}));
    }
    out::line(format!("`{}` {what}", out::plain(id)))
}

async fn list(target: &IdentityTarget, clients: &ClientStore) -> miette::Result<()> {
    let listed = clients.list().await.coded()?;
    if target.json {
        let all: Vec<Value> = listed.iter().map(shown).collect();
        return out::json(&all);
    }
    if listed.is_empty() {
        note!("no client is written down; `aldgate clients add ID` does it");
    }
    for client in &listed {
        let mut told = format!("{}  {}", out::plain(&client.id), out::plain(&client.record.name));
        if client.dynamic {
            told.push_str("  registered itself");
        }
        if let Some(Service { tenant, .. }) = &client.record.service {
            told.push_str(&format!("  a service of tenant {}", out::plain(tenant)));
        }
        for redirect in &client.record.redirect_uris {
            told.push_str(&format!("  {}", out::plain(redirect)));
        }
        if client.disabled {
            told.push_str("  disabled");
        }
        out::line(told)?;
    }
    Ok(())
}

fn shown(client: &ListedClient) -> Value {
    let ListedClient { id, record, dynamic, disabled, created_at, used_at } = client;
    json!({
        "client_id": id, "record": record, "dynamic": dynamic, "disabled": disabled,
        "created_at": rfc3339(*created_at), "used_at": used_at.map(rfc3339),
    })
}
