//! What a page shows of an approval. All of it may have been written by somebody who wishes the reader ill: every text is
//! escaped, has a bound, and shows what a screen would hide.

use aldgate_approval::{RecordState, Timestamp, Verdict};
use aldgate_authority::{Label, PrincipalKind};
use aldgate_gateway::{Earlier, Seen};
use aldgate_identity::people::clock;
use maud::{Markup, html};
use serde_json::Value;
use time::OffsetDateTime;

use crate::out::{plain, plain_lines, shown_in_json};

/// Bytes of arguments that are shown. What has more can be denied here, and not approved: nobody has seen it whole.
pub(super) const WHOLE: usize = 64 << 10;
/// Characters of a text of one line.
const LINE: usize = 300;
/// Characters of one argument, where arguments are shown one by one.
const VALUE: usize = 2000;
/// Arguments that are shown one by one.
const VALUES: usize = 50;

/// A text from elsewhere, on one line.
pub(super) fn line(text: &str) -> String {
    bounded(text, LINE, plain)
}

fn bounded(text: &str, most: usize, shown: impl Fn(&str) -> String) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", shown(text.get(..end).unwrap_or_default())),
        None => shown(text),
    }
}

/// A time of the store.
pub(super) fn when(at: Timestamp) -> Markup {
    let nanos = i128::from(at.0) * 1_000_000;
    clock(OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH))
}

/// Whether all that would be approved can be seen on the page.
pub(super) fn is_whole(seen: &Seen) -> bool {
    seen.arguments.as_ref().is_some_and(|text| text.len() <= WHOLE)
}

/// The call: who asks for what, with which arguments.
pub(super) fn call(seen: &Seen) -> Markup {
    let binding = &seen.record.binding;
    let caller = &binding.caller;
    let kind = match caller.kind {
        PrincipalKind::Person => "a person",
        PrincipalKind::Service => "a program",
    };
    html! {
        dl {
            dt { "Who asks" } dd { strong { (line(&caller.name)) } ", " (kind) br; code { (line(&caller.id())) } }
            dt { "Through" } dd { code { (line(&caller.client)) } }
            dt { "What" } dd {
                strong { (line(&binding.tool)) }
                @if let Some(title) = &seen.title { br; (line(title)) }
            }
            dt { "At" } dd { code { (line(&binding.upstream)) } }
            @if let Some(entry) = &seen.entry {
                dt { "What it does" } dd {
                    @if entry.labels.is_empty() { "nothing that this server marks" } @else {
                        ul { @for label in &entry.labels { li { (in_words(*label)) } } }
                    }
                }
                @if !entry.boundaries.is_empty() {
                    dt { "It stays within" } dd { ul { @for one in &entry.boundaries { li { (line(one)) } } } }
                }
            } @else {
                dt { "What it does" } dd { "it is not registered any more" }
            }
            dt { "Asked" } dd { (when(seen.record.created_at)) }
            dt { "Contract" } dd { code { (line(&binding.contract)) } }
            dt { "Approval" } dd { code { (seen.record.id) } }
        }
        h2 { "Arguments" }
        (arguments(seen))
    }
}

fn arguments(seen: &Seen) -> Markup {
    let Some(text) = seen.arguments.as_deref() else {
        return html! {
            p { "They cannot be shown: they are not kept after a denial, and cannot be opened where the sealing key was changed." }
        };
    };
    if text.is_empty() {
        return html! { p { "None." } };
    }
    let exact = text.get(..text.floor_char_boundary(WHOLE)).unwrap_or_default();
    html! {
        @if let Ok(Value::Object(members)) = serde_json::from_str::<Value>(exact) {
            @if members.is_empty() { p { "None." } } @else {
                dl {
                    @for (name, value) in members.iter().take(VALUES) {
                        dt { (line(name)) }
                        dd { (readable(value)) }
                    }
                }
                @if members.len() > VALUES { p.hint { "More of them stand in the exact text." } }
            }
        }
        p.hint { "The exact text, with what a screen would not show written as " code { "\\u…" } ":" }
        pre tabindex="0" { code { (shown_in_json(exact)) } }
        @if exact.len() < text.len() {
            div role="alert" { p {
                "These are the first " (exact.len()) " of " (text.len()) " bytes. What cannot be shown whole cannot be approved on \
                 this page: look at it with " code { "aldgate approvals show " (seen.record.id) } "."
            } }
        }
    }
}

fn readable(value: &Value) -> String {
    let text = match value {
        Value::String(text) => return bounded(text, VALUE, plain_lines),
        other => other.to_string(),
    };
    bounded(&text, VALUE, shown_in_json)
}

fn in_words(label: Label) -> &'static str {
    match label {
        Label::UntrustedInput => "reads what people outside the organisation wrote",
        Label::SensitiveData => "reads data that must not leave the organisation",
        Label::Consequential => "changes something that matters outside the conversation",
        Label::Exfiltration => "can carry data out of the organisation",
    }
}

/// How it stands, in words.
pub(super) fn state(seen: &Seen) -> Markup {
    let record = &seen.record;
    let decided = record.decision.as_ref().map(|decision| {
        let does = match decision.verdict {
            Verdict::Approve => "approved",
            Verdict::Deny => "denied",
        };
        html! {
            p { strong { (line(&decision.by.name)) } " " (does) " it on " (when(decision.at)) "." }
            @if !decision.note.is_empty() { p { "Note: " (bounded(&decision.note, 500, plain_lines)) } }
        }
    });
    let stands = match seen.state {
        RecordState::Pending => {
            html! { p { "It waits for a decision until " (when(record.expires_at)) "." } }
        }
        RecordState::Approved => html! {
            p { "It was not made yet. The program has to repeat it until " (when(record.expires_at)) "." }
        },
        RecordState::Denied => html! { p { "It is not made." } },
        RecordState::Redeemed => html! { p { "The call was made under it, once." } },
        RecordState::Expired if record.decision.is_some() => {
            html! { p { "The program did not repeat the call in time; it was not made." } }
        }
        RecordState::Expired => html! { p { "Nobody decided in time; the call was not made." } },
    };
    html! { div role="status" { (decided.unwrap_or_default()) (stands) } }
}

/// What was done before of the same action.
pub(super) fn earlier(before: &[Earlier]) -> Markup {
    html! {
        @if !before.is_empty() {
            h2 { "The same was done before" }
            ul { @for one in before { li { (line(&one.asked_at)) ": " (line(&one.outcome)) " " code { (one.call) } } } }
        }
    }
}
