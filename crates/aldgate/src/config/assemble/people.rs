//! Which principals are one person.

use std::collections::{BTreeMap, BTreeSet};

use aldgate_authority::Aliases;
use aldgate_identity::CONFIGURED;
use aldgate_identity::people::SignInName;

use super::AssembleFault;
use crate::config::Config;
use crate::config::types::PersonSection;

/// What is known of the gateway's own authorization server.
pub(crate) enum OwnNames {
    /// There is none.
    None,
    /// Nobody looked: the configuration is checked alone.
    Unread,
    /// Its accounts and clients.
    Read {
        /// Its issuer.
        issuer: String,
        /// The subjects of accounts, by the names that people sign in with.
        accounts: BTreeMap<String, String>,
        /// The ids of clients, which are their subjects.
        clients: BTreeSet<String>,
    },
}

/// Reads `[[people]]`. Each name has to be one that there is.
pub(super) fn aliases(config: &Config, own: &OwnNames) -> Result<Aliases, AssembleFault> {
    let own = if config.runs_a_server() { own } else { &OwnNames::None };
    let mut aliases = Aliases::default();
    for person in &config.people {
        aliases.add(&person.name, principals(config, person, own)?)?;
    }
    Ok(aliases)
}

fn principals(
    config: &Config,
    person: &PersonSection,
    own: &OwnNames,
) -> Result<Vec<(String, String)>, AssembleFault> {
    let mut found = Vec::new();
    for name in &person.principals {
        if !config.principals.iter().any(|principal| principal.name == *name) {
            return Err(unknown(person, "principal", name, "`[[principals]]` lists those that there are"));
        }
        found.push((CONFIGURED.to_owned(), name.clone()));
    }
    for one in &person.subjects {
        if !config.identity.issuers.iter().any(|issuer| issuer.issuer == one.issuer) {
            let help = "write it to the last letter as in `[[identity.issuers]]`";
            return Err(unknown(person, "issuer", &one.issuer, help));
        }
        found.push((one.issuer.clone(), one.subject.clone()));
    }
    for name in &person.accounts {
        found.push(account(person, name, own)?);
    }
    for id in &person.clients {
        found.push(client(person, id, own)?);
    }
    Ok(found)
}

fn account(person: &PersonSection, name: &str, own: &OwnNames) -> Result<(String, String), AssembleFault> {
    let unknown = |help: &str| unknown(person, "account", name, help);
    let folded = SignInName::parse(name).map_err(|fault| unknown(&fault.to_string()))?;
    match own {
        OwnNames::None => Err(unknown(NO_SERVER)),
        OwnNames::Unread => Ok(("account".to_owned(), folded.as_str().to_owned())),
        OwnNames::Read { issuer, accounts, .. } => match accounts.get(folded.as_str()) {
            Some(id) => Ok((issuer.clone(), id.clone())),
            None => Err(unknown("`aldgate users list` shows those that there are")),
        },
    }
}

fn client(person: &PersonSection, id: &str, own: &OwnNames) -> Result<(String, String), AssembleFault> {
    let unknown = |help: &str| unknown(person, "client", id, help);
    match own {
        OwnNames::None => Err(unknown(NO_SERVER)),
        OwnNames::Unread => Ok(("client".to_owned(), id.to_owned())),
        OwnNames::Read { issuer, clients, .. } if clients.contains(id) => Ok((issuer.clone(), id.to_owned())),
        OwnNames::Read { .. } => Err(unknown("`aldgate clients list` shows those that there are")),
    }
}

const NO_SERVER: &str = "this gateway has no authorization server of its own; name `subjects` of its issuers";

fn unknown(person: &PersonSection, what: &str, name: &str, help: &str) -> AssembleFault {
    let what = format!(
        "there is no {what} `{name}`, which the person `{}` in `[[people]]` is said to be",
        person.name
    );
    AssembleFault::Person { what, help: help.to_owned() }
}
