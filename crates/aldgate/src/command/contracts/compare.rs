//! What differs between two definitions of one item, for whoever reviews it.

#[cfg(test)]
mod tests;

use std::error::Error as _;

use aldgate_authority::{Authority, Hints, implied};
use aldgate_contract::diff::{Change, Diff, Severity, Word, diff};
use aldgate_contract::rename::{Confirmed, Rename, THRESHOLD, of_properties};
use aldgate_contract::{Digest, Item, Kind, fingerprint};
use serde_json::{Map, Value, json};

use super::item::{member, quoted, shown_item};
use crate::out;

/// Characters of a value that are shown.
const SHOWN: usize = 300;
/// Words that are shown on each side of what changed.
const AROUND: usize = 6;

/// One item on two sides.
pub(super) struct Compared {
    /// Which.
    pub(super) item: Item,
    /// How the two compare.
    pub(super) state: State,
    /// Of the canonical forms before and after.
    pub(super) digests: (Option<Digest>, Option<Digest>),
    /// What tells the side after from every other definition.
    pub(super) telling: Option<Digest>,
    /// Of a tool: what the annotations alone would give, before and after.
    implied: (Option<Authority>, Option<Authority>),
    renames: Vec<Rename>,
    /// Whether what may have been renamed is shown with what would confirm it.
    hints: bool,
}

/// How two sides of one item compare.
pub(super) enum State {
    /// The same definition.
    Same,
    /// The same definition in other bytes.
    OtherBytes,
    /// Another definition.
    Changed(Diff),
    /// On the side after alone.
    New,
    /// On the side before alone.
    Gone,
    /// It cannot be read, so nothing is known of it.
    Unreadable(String),
}

impl Compared {
    /// Compares two definitions, or one with none; `confirmed` are renames that somebody stated.
    pub(super) fn of(item: Item, before: Option<&str>, after: Option<&str>, confirmed: &[Confirmed]) -> Self {
        let print = |side: Option<&str>| side.map(fingerprint).transpose();
        let (prints, why) = match (print(before), print(after)) {
            (Ok(before), Ok(after)) => ((before, after), None),
            (Err(fault), _) | (_, Err(fault)) => ((None, None), Some(told(&fault))),
        };
        let mut renames = Vec::new();
        let state = match (before, after, why) {
            (_, _, Some(why)) => State::Unreadable(why),
            (Some(_), Some(_), None) if prints.0.map(|one| one.raw) == prints.1.map(|one| one.raw) => {
                State::Same
            }
            (Some(before), Some(after), None) => match diff(item.kind, before, after) {
                Ok(found) => {
                    let same = prints.0.map(|one| one.jcs) == prints.1.map(|one| one.jcs);
                    if item.kind == Kind::Tool {
                        renames = of_properties(&schema(before), &schema(after), confirmed);
                    }
                    if same && found.changes().is_empty() { State::OtherBytes } else { State::Changed(found) }
                }
                Err(fault) => State::Unreadable(told(&fault)),
            },
            (Some(_), None, None) => State::Gone,
            (None, _, None) => State::New,
        };
        let implied_by = |side: Option<&str>| side.filter(|_| item.kind == Kind::Tool).map(implied_authority);
        Self {
            implied: (implied_by(before), implied_by(after)),
            telling: prints.1.map(|one| one.telling),
            digests: (prints.0.map(|one| one.jcs), prints.1.map(|one| one.jcs)),
            item,
            state,
            renames,
            hints: true,
        }
    }

    /// The same where nobody accepts anything.
    pub(super) fn without_hints(self) -> Self {
        Self { hints: false, ..self }
    }

    /// How grave it is; `None` where nothing changed. What cannot be shown to be compatible is breaking.
    pub(super) fn severity(&self) -> Option<Severity> {
        match &self.state {
            State::Same | State::OtherBytes => None,
            State::Changed(found) => found.severity().or(Some(Severity::Breaking)),
            State::New => Some(Severity::Compatible),
            State::Gone | State::Unreadable(_) => Some(Severity::Breaking),
        }
    }

    /// The renames of properties that are candidates, those that somebody stated among them.
    pub(super) fn renames(&self) -> &[Rename] {
        &self.renames
    }

    /// One word, and what it is about where there is more to say.
    pub(super) fn word(&self) -> String {
        match &self.state {
            State::Same => "same".to_owned(),
            State::OtherBytes => "same (other bytes, the same canonical form)".to_owned(),
            State::New => "new".to_owned(),
            State::Gone => "gone".to_owned(),
            State::Unreadable(why) => format!("cannot be read: {why}"),
            State::Changed(_) => self.severity().map(Severity::word).unwrap_or_default().to_owned(),
        }
    }

    /// The item and how it compares, then what changed, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{}: {}", shown_item(&self.item), out::plain(&self.word()))];
        lines.extend(self.details().iter().map(|line| format!("  {line}")));
        lines
    }

    /// What changed, a line each.
    pub(super) fn details(&self) -> Vec<String> {
        let State::Changed(found) = &self.state else { return Vec::new() };
        let mut lines: Vec<String> = found.changes().iter().flat_map(change).collect();
        if lines.is_empty() {
            lines.push(
                "the definitions differ in a way that is not told apart here: compare the texts".to_owned(),
            );
        }
        if let (Some(before), Some(after)) = self.implied
            && before != after
        {
            lines.push(format!("annotations alone would imply {} -> {}", before.as_str(), after.as_str()));
        }
        for rename in &self.renames {
            lines.push(rename_line(rename, self.hints));
        }
        lines
    }

    /// The same as JSON.
    pub(super) fn described(&self) -> Value {
        let mut told = Map::new();
        told.insert(member(self.item.kind).to_owned(), self.item.name.clone().into());
        let state = match &self.state {
            State::Same | State::OtherBytes => "same",
            State::Changed(_) => "changed",
            State::New => "new",
            State::Gone => "gone",
            State::Unreadable(_) => "unreadable",
        };
        told.insert("state".to_owned(), state.into());
        told.insert("severity".to_owned(), json!(self.severity()));
        let mut pair = |key: &str, before: Option<Value>, after: Option<Value>| {
            let sides = [("before", before), ("after", after)];
            let sides = sides.into_iter().filter_map(|(side, value)| Some((side.to_owned(), value?)));
            told.insert(key.to_owned(), Value::Object(sides.collect()));
        };
        let text = |digest: Option<Digest>| digest.map(|digest| Value::from(digest.to_string()));
        pair("digest", text(self.digests.0), text(self.digests.1));
        if self.item.kind == Kind::Tool {
            let text = |implied: Option<Authority>| implied.map(|implied| Value::from(implied.as_str()));
            pair("implied_authority", text(self.implied.0), text(self.implied.1));
        }
        match &self.state {
            State::Changed(found) => {
                told.insert("changes".to_owned(), json!(found));
                if self.item.kind == Kind::Tool {
                    told.insert("renames".to_owned(), json!(self.renames));
                }
            }
            State::Unreadable(why) => {
                told.insert("why".to_owned(), why.clone().into());
            }
            _ => {}
        }
        Value::Object(told)
    }
}

/// The gravest of what was found.
pub(super) fn gravest<'a>(all: impl IntoIterator<Item = &'a Compared>) -> Option<Severity> {
    all.into_iter().filter_map(Compared::severity).max()
}

/// What a tool's annotations alone would give.
pub(super) fn implied_authority(definition: &str) -> Authority {
    let value: Value = serde_json::from_str(definition).unwrap_or_default();
    let hint = |name: &str| value.pointer(&format!("/annotations/{name}")).and_then(Value::as_bool);
    implied(&Hints {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
    })
}

/// A candidate for a rename, and with `hint` what makes it more.
pub(super) fn rename_line(rename: &Rename, hint: bool) -> String {
    let (from, to) = (out::plain(&rename.from), out::plain(&rename.to));
    if rename.identity_confirmed {
        return format!("renamed: {from} -> {to}, confirmed");
    }
    let sure = if rename.confidence < THRESHOLD { "perhaps" } else { "likely" };
    let told = format!("{sure} renamed: {from} -> {to}, confidence {:.2}", rename.confidence);
    if !hint {
        return told;
    }
    let option = quoted(&format!("{}={}", rename.from, rename.to));
    format!("{told}; `--rename {}` confirms it", out::plain(&option))
}

fn told(fault: &aldgate_contract::CanonicalFault) -> String {
    match fault.source() {
        Some(cause) => format!("{fault}: {cause}"),
        None => fault.to_string(),
    }
}

/// The schema of the arguments; any, where the definition has none.
fn schema(definition: &str) -> Value {
    let value: Value = serde_json::from_str(definition).unwrap_or_default();
    value.get("inputSchema").cloned().unwrap_or_else(|| json!({}))
}

/// One change: its severity and place, what changed, and the values or the words.
fn change(change: &Change) -> Vec<String> {
    let head = format!(
        "{:<12} {}: {}",
        change.severity.word(),
        if change.path.is_empty() { "(the whole definition)".to_owned() } else { out::plain(&change.path) },
        out::plain(&change.what)
    );
    let mut lines = vec![head];
    if change.words.is_empty() {
        let value = |sign: char, value: &Value| format!("  {sign} {}", out::plain(&cut(&value.to_string())));
        lines.extend(change.before.as_ref().map(|before| value('-', before)));
        lines.extend(change.after.as_ref().map(|after| value('+', after)));
    } else {
        lines.push(format!("  {}", out::plain(&words(&change.words))));
    }
    lines
}

fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(SHOWN).collect();
    format!("{beginning}… (`--json` has the whole)")
}

/// The text with what is gone as `[-gone-]` and what is new as `{+new+}`; of what stays, the words around those.
fn words(words: &[Word]) -> String {
    let last = words.len().saturating_sub(1);
    words
        .iter()
        .enumerate()
        .map(|(at, word)| match word {
            Word::Gone(text) => format!("[-{text}-]"),
            Word::New(text) => format!("{{+{text}+}}"),
            Word::Same(text) => around(text, at > 0, at < last),
        })
        .collect()
}

/// The words of a text that stand next to a change before it and after it.
fn around(text: &str, after_change: bool, before_change: bool) -> String {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let (head, tail) = (if after_change { AROUND } else { 0 }, if before_change { AROUND } else { 0 });
    if words.len() <= head + tail + 1 {
        return text.to_owned();
    }
    let first: String = words.iter().take(head).copied().collect();
    let rest: String = words.iter().skip(words.len() - tail).copied().collect();
    let gap = if tail > 0 { "… " } else { "…" };
    format!("{first}{gap}{rest}")
}
