//! What a complete result must be, by what was asked for, and the members of it that are the gateway's own.

use std::borrow::Cow;

use aldgate_wire::Presence;
use aldgate_wire::guard::{self, Limits};
use aldgate_wire::replace::replaced;
use aldgate_wire::request::Method;
use aldgate_wire::response::{AnswerFault, ResultView};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::dispatch::Fault;
use super::exchange::MAX_DEPTH;
use crate::catalog::Target;
use crate::permit::Spent;

/// Values of one completion (MCP 2026-07-28, server/utilities/completion).
const MAX_VALUES: usize = 100;

/// Checks a complete result. Members that are not looked at may be anything; one that is may not stand twice.
pub(super) fn check(spent: &Spent, view: &ResultView) -> Result<(), Fault> {
    let twice = |fault: AnswerFault| Fault::Invalid(fault.to_string());
    let checked = match spent.method {
        Method::ReadResource => view.members(["contents"]).map(|[raw]| contents(raw)),
        Method::GetPrompt => view.members(["messages"]).map(|[raw]| messages(raw)),
        Method::Complete => view.members(["completion"]).map(|[raw]| completion(raw)),
        _ => return output(spent, view),
    };
    checked.map_err(twice)?.map_err(|what| Fault::Invalid(what.to_owned()))
}

/// The structured content of a result that is no error must fit the pinned output schema. It is held to one reading first:
/// of a member that stands twice, the client could read the one that was not checked.
fn output(spent: &Spent, view: &ResultView) -> Result<(), Fault> {
    let Target::Tool(tool) = &spent.target else { return Ok(()) };
    let Some(schema) = &tool.output else { return Ok(()) };
    if view.failed() {
        return Ok(());
    }
    let value: Value = match &view.structured_content {
        Presence::Value(raw) => {
            let limits = Limits { max_bytes: usize::MAX, max_depth: MAX_DEPTH };
            guard::check(raw.get().as_bytes(), &limits).map_err(|fault| {
                Fault::Invalid(format!("its `structuredContent` cannot be checked without doubt: {fault}"))
            })?;
            serde_json::from_str(raw.get()).map_err(Fault::Own)?
        }
        Presence::Null => Value::Null,
        Presence::Absent => {
            return Err(Fault::Unfit(
                "it has no `structuredContent`, which its contract promises".to_owned(),
            ));
        }
    };
    schema.check(&value).map_err(|places| {
        Fault::Unfit(format!("its `structuredContent` does not fit its pinned output schema: {places}"))
    })
}

/// A resource has contents, each with a URI and with text or a blob (server/resources#reading-resources).
fn contents(raw: Option<&RawValue>) -> Result<(), &'static str> {
    #[derive(Deserialize)]
    struct Content<'a> {
        #[serde(borrow)]
        uri: Option<Cow<'a, str>>,
        #[serde(borrow)]
        text: Option<&'a RawValue>,
        #[serde(borrow)]
        blob: Option<&'a RawValue>,
        #[serde(rename = "_meta")]
        meta: Option<std::collections::BTreeMap<String, serde::de::IgnoredAny>>,
    }
    let contents: Vec<&RawValue> = read(raw).ok_or("it has no `contents`, an array")?;
    if contents.is_empty() {
        return Err("its `contents` are empty; a resource that is not there is an error");
    }
    let whole = contents.iter().all(|one| {
        let content: Option<Content<'_>> = serde_json::from_str(one.get()).ok();
        content.is_some_and(|content| {
            let body = content.text.or(content.blob);
            let own = |key: &String| key.starts_with(aldgate_wire::OWN_META_PREFIX);
            let forged = content.meta.is_some_and(|meta| meta.keys().any(own));
            content.uri.is_some() && body.is_some_and(|body| body.get().starts_with('"')) && !forged
        })
    });
    if whole {
        Ok(())
    } else {
        Err(
            "one of its `contents` has no `uri`, neither `text` nor `blob`, or a `_meta` that only the gateway may set",
        )
    }
}

fn messages(raw: Option<&RawValue>) -> Result<(), &'static str> {
    let messages: Vec<&RawValue> = read(raw).ok_or("it has no `messages`, an array")?;
    let objects = messages.iter().all(|one| one.get().starts_with('{'));
    if objects { Ok(()) } else { Err("one of its `messages` is no object") }
}

fn completion(raw: Option<&RawValue>) -> Result<(), &'static str> {
    #[derive(Deserialize)]
    struct Completion<'a> {
        // Values that stand twice are refused by the reader.
        #[serde(borrow)]
        values: Vec<Cow<'a, str>>,
    }
    let Completion { values } =
        read(raw).ok_or("it has no `completion` with `values`, an array of strings")?;
    if values.len() > MAX_VALUES {
        return Err("its `completion` has more than 100 `values`");
    }
    Ok(())
}

fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// The result with the caching hints that the gateway answers for: what a policy let one principal read is not for
/// others, and a hint that is missing means that the result is stale at once (server/utilities/caching).
pub(super) fn cached_by_caller(spent: &Spent, view: ResultView) -> Result<ResultView, Fault> {
    if spent.method != Method::ReadResource {
        return Ok(view);
    }
    let invalid = |fault: AnswerFault| Fault::Invalid(fault.to_string());
    let [ttl, scope] = view.members(["ttlMs", "cacheScope"]).map_err(invalid)?;
    let private = to_raw_value("private").map_err(Fault::Own)?;
    let stale = to_raw_value(&0).map_err(Fault::Own)?;
    let mut set: Vec<(&str, &RawValue)> = Vec::new();
    if read::<u64>(ttl).is_none() {
        set.push(("ttlMs", &stale));
    }
    if scope.is_none_or(|scope| scope.get() != private.get()) {
        set.push(("cacheScope", &private));
    }
    if set.is_empty() {
        return Ok(view);
    }
    let replaced = replaced(view.raw(), &set).map_err(|fault| Fault::Invalid(fault.to_string()))?;
    ResultView::read(&replaced).map_err(invalid)
}
