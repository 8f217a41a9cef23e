//! What changed between two contracts of one item, and how grave each change is.

#[cfg(test)]
mod tests;

mod definition;
mod document;
mod schema;
mod show;
mod spelling;
mod subsume;
mod walk;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical::{self, CanonicalFault, same_value};
use crate::kind::Kind;
use crate::lock::UpstreamIdentity;

/// How grave a change is, from the least to the gravest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Titles and icons: what a person sees, and neither a model nor a validator reads.
    Cosmetic,
    /// Whatever was valid stays valid: of arguments under the new schema, of results under the old one.
    Compatible,
    /// Words that a model reads, and annotations.
    Behavioural,
    /// All that cannot be shown to be one of the others.
    Breaking,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// How grave it is.
    pub severity: Severity,
    /// JSON Pointer (RFC 6901) into the definition.
    pub path: String,
    /// What changed and, for a breaking change, why it breaks: one line without a final period.
    pub what: String,
    /// The value before; absent where the member is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after; absent where the member is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// Of text that a model reads, the words; both texts as a whole where there is too much of it to compare.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Word>,
}

/// A run of words in a text that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is", content = "text")]
pub enum Word {
    /// In both.
    Same(String),
    /// In the text before only.
    Gone(String),
    /// In the text after only.
    New(String),
}

/// Everything that changed; empty where nothing did.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct Diff {
    changes: Vec<Change>,
}

impl Diff {
    /// The changes, in the order of the definition's members; within a schema those that break come first.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The gravest change; `None` where nothing changed.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.changes.iter().map(|change| change.severity).max()
    }

    /// One line for a refusal or a log, such as `1 breaking: /inputSchema/properties/id: …`. Empty where nothing changed.
    #[must_use]
    pub fn summary(&self) -> String {
        show::summary(&self.changes)
    }
}

impl Severity {
    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cosmetic => "cosmetic",
            Self::Compatible => "compatible",
            Self::Behavioural => "behavioural",
            Self::Breaking => "breaking",
        }
    }
}

/// Compares two definitions of one item, given as JSON text. What differs in the order of keys, in white space and in
/// the spelling of values alone is no change.
///
/// # Errors
/// A text that is no definition.
pub fn diff(kind: Kind, before: &str, after: &str) -> Result<Diff, CanonicalFault> {
    let (old, new) = (Value::Object(canonical::parse(before)?), Value::Object(canonical::parse(after)?));
    if same_value(&old, &new) {
        return Ok(Diff::default());
    }
    let mut changes = definition::compare(kind, &old, &new);
    changes.extend(spelling::unspoken(&old, &new, &changes));
    words::refine(&mut changes);
    Ok(Diff { changes })
}

/// Compares the identities of one upstream: every difference makes it another one than the one that was reviewed.
#[must_use]
pub fn diff_identity(before: &UpstreamIdentity, after: &UpstreamIdentity) -> Diff {
    let text = |text: &str| Some(Value::from(text));
    let members = [
        ("/name", text(&before.name), text(&after.name), "the host calls it by another name"),
        ("/endpoint", text(&before.endpoint), text(&after.endpoint), "it is at another place"),
        (
            "/server",
            before.server.as_deref().and_then(text),
            after.server.as_deref().and_then(text),
            "the server gives another name of itself",
        ),
    ];
    let changed = members.into_iter().filter(|(_, before, after, _)| before != after);
    Diff {
        changes: changed
            .map(|(path, before, after, what)| {
                change(Severity::Breaking, path, what, before.as_ref(), after.as_ref())
            })
            .collect(),
    }
}

fn change(
    severity: Severity,
    path: &str,
    what: &str,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Change {
    Change {
        severity,
        path: path.to_owned(),
        what: what.to_owned(),
        before: before.cloned(),
        after: after.cloned(),
        words: Vec::new(),
    }
}

/// A change of what is read, with its words where it is text.
fn text_change(
    severity: Severity,
    path: &str,
    key: &str,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Change {
    let key = show::quoted(key);
    let text = |value: Option<&Value>| match value {
        None => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => None,
    };
    let plain = |value: &Value| show::quoted(value.to_string());
    let words = match (text(before), text(after)) {
        (Some(before), Some(after)) => words::whole(&before, &after),
        _ => Vec::new(),
    };
    let what = match (before, after) {
        (Some(before), Some(after)) if words.is_empty() => {
            format!("{key} was {} and is {}", plain(before), plain(after))
        }
        (Some(_), Some(_)) => format!("{key} has other words"),
        (None, Some(value)) if words.is_empty() => format!("{key} is new: {}", plain(value)),
        (None, _) => format!("{key} is new"),
        (Some(value), None) if words.is_empty() => format!("{key} is gone: {}", plain(value)),
        (Some(_), None) => format!("{key} is gone"),
    };
    Change { words, ..change(severity, path, &what, before, after) }
}
