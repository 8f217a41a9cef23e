//! `aldgate contracts repair`

use std::path::Path;
use std::process::ExitCode;

use aldgate_contract::repair::{Change, Mode, Repair, Rule, simulate};
use serde_json::{Map, Value};

use super::item::Named;
use super::locks;
use crate::cli::{RepairArguments, RepairMode};
use crate::command::call::object;
use crate::command::configuration;
use crate::fault::CommandFault;
use crate::out;

pub(super) fn run(arguments: &RepairArguments) -> miette::Result<ExitCode> {
    let named = Named::parse(&arguments.tool)?;
    if named.item.kind != aldgate_contract::Kind::Tool {
        let what = format!("`{named}` is no tool; only arguments of tools are repaired");
        return Err(CommandFault::usage(out::plain(&what)).into());
    }
    let text = match arguments.args.strip_prefix('@') {
        Some(path) => {
            let path = Path::new(path);
            std::fs::read_to_string(path).map_err(CommandFault::file(path, "read"))?
        }
        None => arguments.args.clone(),
    };
    let given: Map<String, Value> = object(&text)?;
    let loaded = configuration(&arguments.file)?;
    let lock = locks::pinned(&loaded, &named.upstream)?;
    let lineage = lock.lineage(named.item.kind, &named.item.name);
    let revisions = lineage.as_ref().map(aldgate_contract::Lineage::revisions).unwrap_or_default();
    let mode = match arguments.mode {
        RepairMode::Observe => Mode::Observe,
        RepairMode::Repair => Mode::Repair,
        RepairMode::Strict => Mode::Strict,
    };
    let found = simulate(&revisions, &given, mode);
    if arguments.json {
        out::json(&found)?;
    } else {
        show(&found)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(found: &Repair) -> miette::Result<()> {
    let how = if found.applied { "repaired" } else { "unchanged" };
    out::line(format!("{how}: {}", out::plain(&found.reason)))?;
    for change in &found.changes {
        out::line(line(change))?;
    }
    out::json(&found.args)
}

fn line(change: &Change) -> String {
    let rule = match change.rule {
        Rule::Rename => "rename",
        Rule::Coerce => "coerce",
        Rule::MapEnum => "map enum",
        Rule::Default => "default",
        Rule::Drop => "drop",
    };
    let value = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
    let what = match &change.to {
        Some(to) => format!("-> {to}"),
        None => format!("{} -> {}", value(&change.before), value(&change.after)),
    };
    let path = out::plain(&change.path);
    format!("  {rule:<8}  {path}  {}  confidence {:.2}", out::plain(&what), change.confidence)
}
