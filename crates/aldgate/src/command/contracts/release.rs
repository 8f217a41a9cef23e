//! `aldgate contracts release`

use std::process::ExitCode;

use serde_json::{Value, json};

use super::item::{Named, member};
use crate::admin::Admin;
use crate::cli::ReleaseArguments;
use crate::out;

pub(super) async fn run(arguments: &ReleaseArguments) -> miette::Result<ExitCode> {
    let named = Named::parse(&arguments.what)?;
    let admin = Admin::of(&arguments.target).await?;
    let body = json!({"upstream": named.upstream, "kind": member(named.item.kind), "name": named.item.name});
    let found = admin.post("/v1/quarantine/release", &body).await?;
    let released = found.get("released").and_then(Value::as_bool).ok_or_else(|| admin.no_answer())?;
    if arguments.target.json {
        out::json(&found)?;
    } else {
        let how = if released { "released" } else { "was not in quarantine" };
        out::line(format!("{}: {how}", out::plain(&named.to_string())))?;
    }
    Ok(ExitCode::SUCCESS)
}
