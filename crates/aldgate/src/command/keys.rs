//! `aldgate keys`.

use std::process::ExitCode;

use aldgate_identity::authorization::rotate;
use serde_json::json;
use time::OffsetDateTime;

use super::users::server;
use crate::cli::KeysCommand;
use crate::coded::WithCode as _;
use crate::config::secrets;
use crate::identity::{identity_store, server_settings_of};
use crate::out;

pub(super) async fn run(what: KeysCommand) -> miette::Result<ExitCode> {
    let KeysCommand::Rotate(target) = what;
    let loaded = server(&target)?;
    let settings = server_settings_of(&loaded)?;
    let seal = secrets(loaded.config.gateway.sealing_key_env.as_deref(), &loaded.state_dir())?.seal;
    let store = identity_store(&loaded).await?;
    let id = rotate(&store, &seal, &settings, OffsetDateTime::now_utc()).await.coded()?;
    if target.json {
        out::json(&json!({"kid": id}))?;
    } else {
        out::line(format!(
            "tokens are signed with the new key `{id}`; those of the old one stay good until they expire"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
