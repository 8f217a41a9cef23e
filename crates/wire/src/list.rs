//! A `tools/list` result, read without loss: a bad element is reported and does not spoil the others.

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::OWN_META_PREFIX;
use crate::json::{Kind, Members, Repeated, has_prefix, kind, string};
use crate::quote::{Quoted, shortened};

/// One page of tools.
#[derive(Debug, Clone)]
pub struct ToolPage {
    /// The definitions that can be used, in the upstream's order.
    pub tools: Vec<RawTool>,
    /// Those that cannot.
    pub refused: Vec<RefusedTool>,
    /// Where the list goes on; `""` is a cursor too.
    pub next_cursor: Option<String>,
    /// How long the page is fresh, in milliseconds; 0 where the upstream does not say, or says it in a wrong way.
    pub ttl_ms: u64,
    /// Whether the upstream lets the page be shared between callers.
    pub public: bool,
}

/// One definition, as the upstream serves it.
#[derive(Debug, Clone)]
pub struct RawTool {
    /// The tool's name.
    pub name: String,
    /// The whole definition.
    pub raw: Box<RawValue>,
}

/// One definition that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedTool {
    /// Its place in the page, from 0.
    pub index: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Why.
    pub fault: ElementFault,
}

/// Why one definition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElementFault {
    /// The element is no object.
    #[error("a tool must be an object, found {found}")]
    NotObject {
        /// What it is.
        found: &'static str,
    },
    /// The definition has no name that can be used.
    #[error("a tool must have `name`, a string that is not empty")]
    NoName,
    /// A member that we read occurs twice.
    #[error("the definition repeats the member {}", Quoted(.member))]
    Repeated {
        /// The member.
        member: String,
    },
    /// An earlier element of the page has the same name.
    #[error("an earlier tool of the list has the same name")]
    SameName,
    /// `_meta` is no object.
    #[error("`_meta` of a tool must be an object, found {found}")]
    MetaNotObject {
        /// What it is.
        found: &'static str,
    },
    /// A `_meta` in the definition holds a key under our own prefix.
    #[error("`_meta` holds the key {}, which only the gateway may set", Quoted(.key))]
    ReservedKey {
        /// The key.
        key: String,
    },
}

/// Why a whole page cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListFault {
    /// The result is no object.
    #[error("the list must be an object")]
    NotObject,
    /// A member that we read occurs twice.
    #[error("the list repeats the member `{member}`")]
    Repeated {
        /// The member.
        member: String,
    },
    /// `tools` is missing or no array.
    #[error("the list must have `tools`, an array")]
    NoTools,
    /// `nextCursor` is no string.
    #[error("`nextCursor` of the list must be a string")]
    Cursor,
}

impl From<Repeated> for ListFault {
    fn from(Repeated(member): Repeated) -> Self {
        Self::Repeated { member }
    }
}

/// Reads one page of `tools/list`.
///
/// # Errors
/// A page that does not hold a list. Bad elements are in [`ToolPage::refused`].
pub fn read_tools(result: &RawValue) -> Result<ToolPage, ListFault> {
    let members = Members::read(result.get()).ok_or(ListFault::NotObject)?;
    let tools = members.get("tools")?.ok_or(ListFault::NoTools)?;
    let elements: Vec<&RawValue> = serde_json::from_str(tools.get()).map_err(|_| ListFault::NoTools)?;
    let next_cursor = match members.get("nextCursor")? {
        // Older servers send null at the end.
        Some(raw) if kind(raw) != Kind::Null => Some(string(raw).ok_or(ListFault::Cursor)?),
        _ => None,
    };
    let ttl_ms = members.get("ttlMs")?.map_or(0, milliseconds);
    let public = members.get("cacheScope")?.and_then(string).as_deref() == Some("public");

    let mut page = ToolPage { tools: Vec::new(), refused: Vec::new(), next_cursor, ttl_ms, public };
    let mut names = std::collections::HashSet::new();
    for (index, raw) in elements.into_iter().enumerate() {
        match element(raw) {
            Ok(name) if names.insert(name.clone()) => page.tools.push(RawTool { name, raw: raw.to_owned() }),
            Ok(name) => {
                page.refused.push(RefusedTool { index, name: Some(name), fault: ElementFault::SameName });
            }
            Err((name, fault)) => page.refused.push(RefusedTool { index, name, fault }),
        }
    }
    Ok(page)
}

/// An integer, however it is spelled; anything else counts as stale.
fn milliseconds(raw: &RawValue) -> u64 {
    let digits = crate::decimal::Decimal::parse(raw.get()).and_then(|value| value.integer(19));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn element(raw: &RawValue) -> Result<String, (Option<String>, ElementFault)> {
    let Some(members) = Members::read(raw.get()) else {
        return Err((None, ElementFault::NotObject { found: kind(raw).described() }));
    };
    let get = |key| members.get(key).map_err(|Repeated(member)| (None, ElementFault::Repeated { member }));
    let name = get("name")?.and_then(string).filter(|name| !name.is_empty());
    let name = name.ok_or((None, ElementFault::NoName))?;
    let meta = match get("_meta")? {
        Some(meta) if kind(meta) != Kind::Object => {
            Err(ElementFault::MetaNotObject { found: kind(meta).described() })
        }
        _ => check_meta(raw),
    };
    match meta {
        Ok(()) => Ok(name),
        Err(fault) => Err((Some(name), fault)),
    }
}

/// Looks at every member called `_meta`, wherever it stands in a definition: icons and vendor objects have them too.
fn check_meta(definition: &RawValue) -> Result<(), ElementFault> {
    let mut open = vec![(definition, false)];
    while let Some((raw, is_meta)) = open.pop() {
        match kind(raw) {
            Kind::Object => {
                let Some(members) = Members::read(raw.get()) else { continue };
                for (key, value) in members.iter() {
                    if is_meta && has_prefix(&key, OWN_META_PREFIX) {
                        return Err(ElementFault::ReservedKey { key: shortened(&key) });
                    }
                    if matches!(kind(value), Kind::Object | Kind::Array) {
                        open.push((value, key == "_meta"));
                    }
                }
            }
            Kind::Array => {
                let elements: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
                open.extend(elements.into_iter().map(|element| (element, false)));
            }
            _ => {}
        }
    }
    Ok(())
}
