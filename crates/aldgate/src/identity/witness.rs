//! Brings what became of accounts, clients, grants and keys into the evidence, whichever process did it.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aldgate_approval::{CallId, Timestamp};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_evidence::{Kind, Row};
use aldgate_gateway::View;
use aldgate_identity::authorization::PAGES;
use aldgate_store::identity::{IdentityStore, StoredEvent};
use serde_json::Value;

/// How often events are looked for.
const EVERY: Duration = Duration::from_secs(1);
/// Events that are read at once.
const AT_ONCE: u32 = 64;

/// Whose events they are, and whose evidence has those that are about no account.
#[derive(Clone, Debug)]
pub(super) struct Whose {
    /// The issuer of the people.
    pub(super) issuer: String,
    /// The tenants that accounts can be of.
    pub(super) tenants: BTreeSet<String>,
}

/// Brings events into the evidence for as long as it is awaited. One is forgotten when the evidence has it.
pub(super) async fn witness(store: Arc<IdentityStore>, view: View, whose: Whose) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(fault) = bring(&store, &view, &whose).await {
            let fault: &dyn std::error::Error = &*fault;
            tracing::warn!(error = fault, "what became of accounts and clients is not in the evidence yet");
        }
    }
}

async fn bring(
    store: &IdentityStore,
    view: &View,
    whose: &Whose,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    loop {
        let events = store.events(AT_ONCE).await?;
        let Some(last) = events.last() else { return Ok(()) };
        for row in events.iter().flat_map(|event| rows(event, whose)) {
            view.note_once(&row).await?;
        }
        store.forget_events(last.id).await?;
    }
}

/// The rows of an event: one, or one for each tenant where it is about no account.
fn rows(event: &StoredEvent, whose: &Whose) -> Vec<Row> {
    let detail: Value = serde_json::from_str(&event.detail).unwrap_or_default();
    let at = Timestamp(event.at);
    // The store gives each event ten bytes.
    let mark = <[u8; 10]>::try_from(event.mark.as_slice()).unwrap_or_default();
    let row = |principal: Principal| {
        let mut row = Row::new(Kind::Identity, at, CallId::at(at, mark), Arc::new(principal), "identity");
        row.outcome = Some(event.what.clone().into());
        row.detail = Some(words(event, &detail));
        row
    };
    match &event.account {
        Some(account) if is_by_person(&event.what) => {
            let roles: BTreeSet<String> = serde_json::from_str(&account.roles).unwrap_or_default();
            let client = detail.get("client").and_then(Value::as_str).unwrap_or(PAGES);
            vec![row(Principal {
                issuer: whose.issuer.clone(),
                subject: account.id.clone(),
                tenant: account.tenant.clone(),
                kind: PrincipalKind::Person,
                roles,
                name: account.display_name.clone(),
                client: client.to_owned(),
                actors: Vec::new(),
            })]
        }
        // By the person, by the client, by the host, or because a token was used twice: the gateway did it for them.
        Some(account) if matches!(event.what.as_str(), "revoked" | "connection_ended") => {
            vec![row(own("gateway", "the gateway", &account.tenant))]
        }
        Some(account) => vec![row(own("host", "the host", &account.tenant))],
        None => whose.tenants.iter().map(|tenant| row(own("host", "the host", tenant))).collect(),
    }
}

/// Whether the person did it, and not whoever runs the gateway.
fn is_by_person(what: &str) -> bool {
    matches!(
        what,
        "signed_in"
            | "granted"
            | "password_changed"
            | "signed_out_everywhere"
            | "passkey_added"
            | "passkey_removed"
            | "connected"
            | "disconnected"
    )
}

/// What happened, in a sentence.
fn words(event: &StoredEvent, detail: &Value) -> String {
    let text = |member: &str| match detail.pointer(&format!("/{member}")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    };
    let whose = event.account.as_ref().map(|account| account.display_name.as_str()).unwrap_or_default();
    match event.what.as_str() {
        "signed_in" if detail.get("for_request").is_some_and(|is| is == 1) => {
            "signed in to answer the request of a client".to_owned()
        }
        "signed_in" => "signed in".to_owned(),
        "granted" => {
            format!("let the client `{}` have `{}` at {}", text("client"), text("scope"), text("resource"))
        }
        "revoked" => format!(
            "what {whose} let the client `{}` have (`{}` at {}) was taken back",
            text("client"),
            text("scope"),
            text("resource"),
        ),
        "password_changed" => "changed the password; all other sessions ended".to_owned(),
        "signed_out_everywhere" => "signed out everywhere; what was granted before is over".to_owned(),
        "passkey_added" => format!("added the passkey `{}`", text("name")),
        "passkey_removed" => format!("removed the passkey `{}`", text("name")),
        "connected" => {
            format!("connected an account at {} for the upstream `{}`", text("issuer"), text("upstream"))
        }
        "disconnected" => {
            format!("took back the account at {} for the upstream `{}`", text("issuer"), text("upstream"))
        }
        "connection_ended" => format!(
            "the account of {whose} at {} is not connected any more for the upstream `{}`",
            text("issuer"),
            text("upstream"),
        ),
        "account_added" => {
            format!("the account `{}` was added, with the roles `{}`", text("name"), text("roles"))
        }
        "account_changed" => format!(
            "the account `{}` has the roles `{}` in the tenant `{}`, before `{}` in `{}`",
            text("name"),
            text("roles"),
            text("tenant"),
            text("before/roles"),
            text("before/tenant"),
        ),
        "account_disabled" => format!("the account `{}` was disabled", text("name")),
        "account_enabled" => format!("the account `{}` was enabled", text("name")),
        "password_reset" => {
            format!("the password of the account `{}` was reset, and its passkeys were removed", text("name"))
        }
        "client_added" => format!("the client `{}` was written down", text("client")),
        "client_disabled" => format!("the client `{}` was disabled", text("client")),
        "client_enabled" => format!("the client `{}` was enabled", text("client")),
        "client_removed" => format!("the client `{}` was removed", text("client")),
        "key_made" => format!("the key `{}` signs tokens from now on", text("kid")),
        other => format!("{other}: {}", event.detail),
    }
}

/// The gateway, or whoever works on its machine, as the evidence of a tenant names them.
fn own(subject: &str, name: &str, tenant: &str) -> Principal {
    Principal {
        issuer: "aldgate".to_owned(),
        subject: subject.to_owned(),
        tenant: tenant.to_owned(),
        kind: PrincipalKind::Service,
        roles: BTreeSet::new(),
        name: name.to_owned(),
        client: "aldgate".to_owned(),
        actors: Vec::new(),
    }
}
