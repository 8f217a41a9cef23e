//! `aldgate users`.

use std::process::ExitCode;
use std::sync::Arc;

use aldgate_identity::people::{Accounts, Change, Hashing, Listed, NewPerson, OneTimePassword, User};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::host_configuration;
use crate::cli::{IdentityTarget, UsersCommand};
use crate::coded::WithCode as _;
use crate::config::Loaded;
use crate::fault::{CommandFault, quoted};
use crate::identity::identity_store;
use crate::out;

pub(super) async fn run(what: UsersCommand) -> miette::Result<ExitCode> {
    let now = OffsetDateTime::now_utc();
    match what {
        UsersCommand::Add { name, role, tenant, display_name, target } => {
            let loaded = server(&target)?;
            let tenant = tenant_of(&loaded, tenant)?;
            let person = NewPerson { name, display_name, tenant, roles: role.into_iter().collect() };
            let (user, password) = accounts(&loaded).await?.add(&person, now).await.coded()?;
            told_password(&target, &user, &password)?;
        }
        UsersCommand::Change { name, role, no_roles, tenant, display_name, target } => {
            let loaded = server(&target)?;
            let tenant = tenant.map(|tenant| tenant_of(&loaded, Some(tenant))).transpose()?;
            let roles = (no_roles || !role.is_empty()).then(|| role.into_iter().collect());
            if tenant.is_none() && roles.is_none() && display_name.is_none() {
                let what =
                    "nothing is to be changed; give `--role`, `--no-roles`, `--tenant` or `--display-name`";
                return Err(CommandFault::usage(what).into());
            }
            let change = Change { name, display_name, tenant, roles };
            let user = accounts(&loaded).await?.change(&change, now).await.coded()?;
            told(
                &target,
                &user,
                "is changed: its sessions have ended, and what was granted to clients ends within seconds",
            )?;
        }
        UsersCommand::Reset { name, target } => {
            let loaded = server(&target)?;
            let (user, password) = accounts(&loaded).await?.reset(&name, now).await.coded()?;
            told_password(&target, &user, &password)?;
        }
        UsersCommand::Disable { name, target } => {
            let loaded = server(&target)?;
            let user = accounts(&loaded).await?.disable(&name, now).await.coded()?;
            told(
                &target,
                &user,
                "is disabled: its sessions have ended, and what was granted to clients ends within seconds",
            )?;
        }
        UsersCommand::Enable { name, target } => {
            let loaded = server(&target)?;
            let user = accounts(&loaded).await?.enable(&name, now).await.coded()?;
            told(&target, &user, "may sign in again")?;
        }
        UsersCommand::List(target) => list(&target, accounts(&server(&target)?).await?).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The configuration of a gateway that has an authorization server of its own.
pub(super) fn server(target: &IdentityTarget) -> miette::Result<Loaded> {
    let loaded = host_configuration(&target.file)?;
    if loaded.config.runs_a_server() {
        return Ok(loaded);
    }
    let what = "this gateway has no authorization server of its own".to_owned();
    let help = "accounts and clients are kept at the issuers in `[[identity.issuers]]`; `identity.server.enabled = true` \
        has one run beside them";
    Err(CommandFault::Configuration { what, help }.into())
}

/// The tenant that somebody is to belong to.
pub(super) fn tenant_of(loaded: &Loaded, named: Option<String>) -> miette::Result<String> {
    let tenants = &loaded.config.identity.server.tenants;
    let mut all = tenants.iter();
    match (named, all.next(), all.next()) {
        (Some(tenant), _, _) if tenants.contains(&tenant) => Ok(tenant),
        (None, Some(only), None) => Ok(only.clone()),
        (named, _, _) => {
            let found =
                named.map_or_else(|| "no `--tenant`".to_owned(), |named| format!("`{}`", out::plain(&named)));
            let known = quoted(tenants.iter().map(String::as_str));
            let what = format!("{found} was given; expected one of `identity.server.tenants`: {known}");
            Err(CommandFault::usage(what).into())
        }
    }
}

async fn accounts(loaded: &Loaded) -> miette::Result<Accounts> {
    let store = Arc::new(identity_store(loaded).await?);
    Ok(Accounts::new(store, &Hashing::default()))
}

fn told_password(target: &IdentityTarget, user: &User, password: &OneTimePassword) -> miette::Result<()> {
    let OneTimePassword { password, until } = password;
    if target.json {
        let mut shown = shown(user);
        if let Value::Object(members) = &mut shown {
            members.insert("one_time_password".to_owned(), password.as_str().into());
            members.insert("one_time_until".to_owned(), rfc3339(*until).into());
        }
        return out::json(&shown);
    }
    note!("# a password that is good once, until {}; shown only here", rfc3339(*until));
    out::line(password.as_str())?;
    note!("# `{}` signs in with it and chooses another", out::plain(&user.name));
    Ok(())
}

fn told(target: &IdentityTarget, user: &User, what: &str) -> miette::Result<()> {
    if target.json {
        return out::json(&shown(user));
    }
    out::line(format!("`{}` {what}", out::plain(&user.name)))
}

async fn list(target: &IdentityTarget, accounts: Accounts) -> miette::Result<()> {
    let listed = accounts.list().await.coded()?;
    if target.json {
        let all: Vec<Value> = listed.iter().map(with_times).collect();
        return out::json(&all);
    }
    if listed.is_empty() {
        note!("there are no accounts; `aldgate users add NAME` makes one");
    }
    for Listed { user, one_time_until, .. } in &listed {
        let roles = user.roles.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let mut state = String::new();
        if user.disabled {
            state.push_str("  disabled");
        }
        if let Some(until) = one_time_until {
            state.push_str(&format!("  has to change its password by {}", rfc3339(*until)));
        }
        out::line(format!(
            "{}  {}  tenant {}  roles {}{state}",
            out::plain(&user.name),
            out::plain(&user.display_name),
            out::plain(&user.tenant),
            if roles.is_empty() { "none".to_owned() } else { out::plain(&roles) }
        ))?;
    }
    Ok(())
}

fn shown(user: &User) -> Value {
    json!({
        "id": user.id, "name": user.name, "display_name": user.display_name, "tenant": user.tenant,
        "roles": user.roles, "disabled": user.disabled,
    })
}

fn with_times(listed: &Listed) -> Value {
    let mut shown = shown(&listed.user);
    if let Value::Object(members) = &mut shown {
        members.insert("created_at".to_owned(), rfc3339(listed.created_at).into());
        members.insert("changed_at".to_owned(), rfc3339(listed.changed_at).into());
        members.insert("one_time_until".to_owned(), listed.one_time_until.map(rfc3339).into());
    }
    shown
}

/// A time as RFC 3339 writes it.
pub(super) fn rfc3339(at: OffsetDateTime) -> String {
    at.replace_nanosecond(0).unwrap_or(at).format(&Rfc3339).unwrap_or_default()
}
