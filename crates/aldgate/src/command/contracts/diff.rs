//! `aldgate contracts diff`

use std::process::ExitCode;

use serde_json::Value;

use super::comparison::{Comparison, compare};
use super::exit;
use super::fault::ReviewFault;
use super::item::Named;
use super::locks::{self, chosen};
use super::side::Side;
use crate::cli::DiffArguments;
use crate::command::host_configuration;
use crate::fault::CommandFault;
use crate::out;

pub(super) async fn run(arguments: &DiffArguments) -> miette::Result<ExitCode> {
    let mut all = Vec::new();
    match (&arguments.before, &arguments.after) {
        (Some(before), Some(after)) => {
            let bearer = arguments.bearer_env.as_deref().map(bearer).transpose()?;
            let before = Side::of(before, bearer.as_deref()).await?;
            let after = Side::of(after, bearer.as_deref()).await?;
            all.push(compare(&before, &after, None)?);
        }
        (only, _) => {
            let loaded = host_configuration(&arguments.file)?;
            let named = only.as_deref().filter(|what| what.contains('/')).map(Named::parse).transpose()?;
            let upstream = named.as_ref().map(|named| named.upstream.as_str()).or(only.as_deref());
            for (settings, path) in chosen(&loaded, upstream)? {
                let lock = locks::required(&path)?;
                let live = locks::live(&settings).await?;
                let before = Side::lock(path.display().to_string(), &lock);
                let after = Side::live(settings.name.clone(), &live);
                let mut compared = compare(&before, &after, Some(&settings.name))?;
                if let Some(named) = &named
                    && !compared.keep(&named.item)
                {
                    return Err(ReviewFault::nothing(named, &live).into());
                }
                all.push(compared);
            }
        }
    }
    if arguments.json {
        let told: Vec<Value> = all.iter().map(Comparison::described).collect();
        out::json(&told)?;
    } else {
        all.iter().try_for_each(Comparison::show)?;
    }
    Ok(exit(all.iter().filter_map(Comparison::severity).max()))
}

fn bearer(variable: &str) -> Result<String, CommandFault> {
    let found = std::env::var(variable).ok().filter(|value| !value.is_empty());
    found.ok_or_else(|| CommandFault::Environment { name: variable.to_owned() })
}
