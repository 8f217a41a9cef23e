//! `aldgate token new`.

use std::process::ExitCode;

use aldgate_authority::PrincipalKind;
use aldgate_identity::{ConfiguredPrincipal, TokenHash, TokenTable};

use crate::cli::TokenCommand;
use crate::coded::WithCode as _;
use crate::fault::CommandFault;
use crate::{out, random};

pub(super) fn run(what: TokenCommand) -> miette::Result<ExitCode> {
    let TokenCommand::New { name, kind, role, tenant, display_name } = what;
    for (option, value) in role
        .iter()
        .map(|role| ("--role", role))
        .chain(tenant.iter().map(|tenant| ("--tenant", tenant)))
        .chain(display_name.iter().map(|name| ("--display-name", name)))
    {
        if value.trim().is_empty() || value.chars().any(char::is_control) {
            let what =
                format!("`{option}` is `{}`; expected a name without control characters", out::plain(value));
            return Err(CommandFault::usage(what).into());
        }
    }
    let token = random::token()?;
    let hash = TokenHash::of(&token);
    let principal = ConfiguredPrincipal {
        scopes: None,
        name: name.clone(),
        display_name: display_name.clone(),
        kind: if kind == "person" { PrincipalKind::Person } else { PrincipalKind::Service },
        tenant: tenant.clone().unwrap_or_else(|| "default".to_owned()),
        roles: role.iter().cloned().collect(),
        token_sha256: hash.to_string(),
        expires_at: None,
    };
    // What the gateway would refuse is not printed.
    TokenTable::new(&[principal]).coded()?;
    note!("# the token, shown once: hand it to the principal, keep it nowhere else");
    out::line(&token)?;
    note!("# for aldgate.toml:");
    note!("[[principals]]\nname = {}\nkind = {}", quoted(&name), quoted(&kind));
    if let Some(display_name) = &display_name {
        note!("display_name = {}", quoted(display_name));
    }
    if let Some(tenant) = &tenant {
        note!("tenant = {}", quoted(tenant));
    }
    note!("roles = [{}]", role.iter().map(|role| quoted(role)).collect::<Vec<_>>().join(", "));
    note!("token_sha256 = {}", quoted(&hash.to_string()));
    Ok(ExitCode::SUCCESS)
}

/// A string as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
