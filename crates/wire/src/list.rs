//! A page of a list result, read without loss: a bad element is reported and does not spoil the others.

mod kind;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::OWN_META_PREFIX;
use crate::json::{Kind, Members, Repeated, has_prefix, kind, string};
use crate::quote::{Quoted, shortened};

pub use kind::ListKind;

/// One page of a list.
#[derive(Debug, Clone)]
pub struct Page {
    /// The definitions that can be used, in the upstream's order.
    pub items: Vec<RawItem>,
    /// Those that cannot.
    pub refused: Vec<RefusedItem>,
    /// Where the list goes on; `""` is a cursor too.
    pub next_cursor: Option<String>,
    /// How long the page is fresh, in milliseconds; 0 where the upstream does not say, or says it in a wrong way.
    pub ttl_ms: u64,
    /// Whether the upstream lets the page be shared between callers.
    pub public: bool,
}

/// One definition, as the upstream serves it.
#[derive(Debug, Clone)]
pub struct RawItem {
    /// What names it within its list: see [`ListKind::key`].
    pub key: String,
    /// The whole definition.
    pub raw: Box<RawValue>,
}

/// One definition that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedItem {
    /// Its place in the page, from 0.
    pub index: usize,
    /// What names it, where it has that.
    pub key: Option<String>,
    /// Why.
    pub fault: ElementFault,
}

/// Why one definition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElementFault {
    /// The element is no object.
    #[error("a {of} must be an object, found {found}")]
    NotObject {
        /// What the list holds.
        of: ListKind,
        /// What it is.
        found: &'static str,
    },
    /// The definition has nothing to name it by.
    #[error("a {of} must have `{key}`, a string that is not empty", key = .of.key())]
    NoKey {
        /// What the list holds.
        of: ListKind,
    },
    /// A member that we read occurs twice.
    #[error("the definition repeats the member {}", Quoted(.member))]
    Repeated {
        /// The member.
        member: String,
    },
    /// An earlier element of the page has the same key.
    #[error("an earlier {of} of the list has the same `{key}`", key = .of.key())]
    SameKey {
        /// What the list holds.
        of: ListKind,
    },
    /// A member is missing or has the wrong type: one such element makes a strict client refuse the whole list.
    #[error("`{member}` of a {of} must be {expected}, found {found}")]
    Wrong {
        /// What the list holds.
        of: ListKind,
        /// The member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// `_meta` is no object.
    #[error("`_meta` of a {of} must be an object, found {found}")]
    MetaNotObject {
        /// What the list holds.
        of: ListKind,
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
    /// The elements are missing or no array.
    #[error("the list must have `{member}`, an array")]
    NoElements {
        /// The member that must hold them.
        member: &'static str,
    },
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
/// A page that does not hold a list. Bad elements are in [`Page::refused`].
pub fn read_tools(result: &RawValue) -> Result<Page, ListFault> {
    read(ListKind::Tools, result)
}

/// Reads one page of `resources/list`.
///
/// # Errors
/// As [`read_tools`].
pub fn read_resources(result: &RawValue) -> Result<Page, ListFault> {
    read(ListKind::Resources, result)
}

/// Reads one page of `resources/templates/list`.
///
/// # Errors
/// As [`read_tools`].
pub fn read_templates(result: &RawValue) -> Result<Page, ListFault> {
    read(ListKind::Templates, result)
}

/// Reads one page of `prompts/list`.
///
/// # Errors
/// As [`read_tools`].
pub fn read_prompts(result: &RawValue) -> Result<Page, ListFault> {
    read(ListKind::Prompts, result)
}

/// Reads one page of the list of this kind.
///
/// # Errors
/// As [`read_tools`].
pub fn read(of: ListKind, result: &RawValue) -> Result<Page, ListFault> {
    let none = || ListFault::NoElements { member: of.member() };
    let members = Members::read(result.get()).ok_or(ListFault::NotObject)?;
    let elements = members.get(of.member())?.ok_or_else(none)?;
    let elements: Vec<&RawValue> = serde_json::from_str(elements.get()).map_err(|_| none())?;
    let next_cursor = match members.get("nextCursor")? {
        // Older servers send null at the end.
        Some(raw) if kind(raw) != Kind::Null => Some(string(raw).ok_or(ListFault::Cursor)?),
        _ => None,
    };
    let ttl_ms = members.get("ttlMs")?.map_or(0, milliseconds);
    let public = members.get("cacheScope")?.and_then(string).as_deref() == Some("public");

    let mut page = Page { items: Vec::new(), refused: Vec::new(), next_cursor, ttl_ms, public };
    let mut keys = HashSet::new();
    for (index, raw) in elements.into_iter().enumerate() {
        match element(of, raw) {
            Ok(key) if keys.insert(key.clone()) => page.items.push(RawItem { key, raw: raw.to_owned() }),
            Ok(key) => {
                let fault = ElementFault::SameKey { of };
                page.refused.push(RefusedItem { index, key: Some(key), fault });
            }
            Err((key, fault)) => page.refused.push(RefusedItem { index, key, fault }),
        }
    }
    Ok(page)
}

/// An integer, however it is spelled; anything else counts as stale.
fn milliseconds(raw: &RawValue) -> u64 {
    let digits = crate::decimal::Decimal::parse(raw.get()).and_then(|value| value.integer(19));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn element(of: ListKind, raw: &RawValue) -> Result<String, (Option<String>, ElementFault)> {
    let Some(members) = Members::read(raw.get()) else {
        return Err((None, ElementFault::NotObject { of, found: kind(raw).described() }));
    };
    let get = |key| members.get(key).map_err(|Repeated(member)| ElementFault::Repeated { member });
    let key = get(of.key()).map_err(|fault| (None, fault))?.and_then(string).filter(|key| !key.is_empty());
    let key = key.ok_or((None, ElementFault::NoKey { of }))?;
    let checked = || {
        of.check(&members)?;
        match get("_meta")? {
            Some(meta) if kind(meta) != Kind::Object => {
                Err(ElementFault::MetaNotObject { of, found: kind(meta).described() })
            }
            _ => check_meta(raw),
        }
    };
    match checked() {
        Ok(()) => Ok(key),
        Err(fault) => Err((Some(key), fault)),
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
