//! `aldgate token new`.

use std::process::ExitCode;

use aldgate_identity::TokenHash;

use crate::cli::TokenCommand;
use crate::{out, random};

pub(super) fn run(what: TokenCommand) -> miette::Result<ExitCode> {
    let TokenCommand::New { name, kind, role } = what;
    let token = random::token()?;
    let roles = role.iter().map(|role| format!("{role:?}")).collect::<Vec<_>>().join(", ");
    note!("# the token, shown once: hand it to the principal, keep it nowhere else");
    out::line(&token)?;
    note!("# for aldgate.toml:");
    note!("[[principals]]\nname = {name:?}\nkind = {kind:?}\nroles = [{roles}]");
    note!("token_sha256 = \"{}\"", TokenHash::of(&token));
    Ok(ExitCode::SUCCESS)
}
