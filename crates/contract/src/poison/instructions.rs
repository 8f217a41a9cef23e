//! Words that tell a model what to do, apart from what the tool does.

mod english;
mod languages;

use std::sync::LazyLock;

use regex::Regex;

use super::fold::{lowered, readings};
use super::phrases::{WARNING, compiled};
use super::{Finding, MODEL_INSTRUCTIONS, Text, quoted};
use english::{HANDS_OVER, NAMES_FILE, READS, SPREADS};

/// Weak signs, of which a text must have a source, a way to hand it over, and one more.
static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"{path}|\b{secret}\b|{talk}|\bclipboard\b|\bhome directory\b|\bconfidential\b|\bprivate (?:data|information|messages?|files?|notes?)\b",
    )
});
static HANDING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"\b{pass}\b{gap}{0,100}\b{into} (?:the |this |a |its |your )?(?:\w+ ){0,2}{aim}\b")
});
static URGING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:before|prior to|whenever|each time|every time|after|when|while) {using}\b|\bfirst\b|\b(?:for|as part of|required (?:for|by)|due to) (?:\w+ ){0,2}(?:audit|security|compliance|verification|validation|diagnostics?|telemetry|quality|integrity|calibration|authentication|logging|debugging|billing|analytics|personali[sz]ation|optimi[sz]ation)\w*\b|\botherwise\b|\bwill not work\b|\bwill fail\b|\bmandatory\b|\byou (?:must|should|need to|have to)\b|\bbest results\b",
    )
});

/// What is known of the item whose words are looked at.
pub(super) struct About<'a> {
    /// Its own name says that it deals with keys and configuration.
    pub(super) files: bool,
    /// The words of its upstream's name.
    pub(super) upstream: &'a [String],
}

impl About<'_> {
    /// Whether words, or the few after them in the text, name the item's upstream.
    fn is_named_in(&self, words: &str, text: &str) -> bool {
        let after = text.split_once(words).map_or("", |(_, after)| after);
        let near: String = after.chars().take(30).collect();
        self.upstream.iter().any(|name| words.contains(name.as_str()) || near.contains(name.as_str()))
    }
}

/// Finds each sign once in a text.
pub(super) fn check(text: &Text<'_>, about: &About<'_>, findings: &mut Vec<Finding>) {
    let mut add = |what: &'static str, words: &str| {
        let finding = Finding::new(MODEL_INSTRUCTIONS, text, format!("{what}: {}", quoted(words)));
        let known = |known: &Finding| {
            known.check == MODEL_INSTRUCTIONS && known.path == finding.path && known.what.starts_with(what)
        };
        if !findings.iter().any(known) {
            findings.push(finding);
        }
    };
    for reading in readings(text.text) {
        for (what, words) in english::TELLING.find(&reading) {
            // `before any other tool of Contoso` is about its own tools.
            let of_itself = what == SPREADS && about.is_named_in(words, &reading);
            if !of_itself {
                add(what, words);
            }
        }
        let asking = WARNING.replace_all(&reading, " ");
        for (what, words) in english::ASKING.find(&asking) {
            add(what, words);
        }
        let handed =
            asking.split(". ").filter(|sentence| SOURCE.is_match(sentence)).find_map(|s| HANDING.find(s));
        if let Some(words) = handed.filter(|_| URGING.is_match(&asking)) {
            add(HANDS_OVER, words.as_str());
        }
        if !about.files
            && let Some(words) = PRIVATE_FILE.find(&reading)
        {
            add(NAMES_FILE, words.as_str());
        }
        if !about.files
            && let Some(words) = FILE_ASKED.find(&asking)
        {
            add(HANDS_OVER, words.as_str());
        }
        if text.is_key
            && !about.files
            && let Some(words) = PATH.find(&reading)
        {
            add(READS, words.as_str());
        }
    }
    if !text.text.is_ascii() || text.text.contains(' ') {
        for (what, words) in languages::OTHERS.find(&lowered(text.text)) {
            add(what, words);
        }
    }
}

/// Files of which no tool speaks that is not about them.
static PRIVATE_FILE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?:^|[\s/~(])\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|pgpass|cursor)\b|\bid (?:rsa|ed25519|ecdsa|dsa)\b|etc/(?:passwd|shadow)|\bmcp\.json|claude desktop config|\bgit credentials|(?:bash|zsh|shell) history|wallet\.dat|\bkeychain\b|proc/self/environ|cookies\.sqlite",
    )
});
/// What such a file, or one of configuration, holds is wanted.
static FILE_ASKED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:{pass}|hold(?:s|ing)?|contain(?:s|ing)?|needs?|requires?|expects?|wants?|must be|filled with)\b{gap}{0,40}?\b(?:text|contents?|body|lines?|values?|copy|dump|output) of\b(?: \w+){0,4}?(?:{path})",
    )
});
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:ssh|aws|gnupg|kube|cursor) (?:id )?(?:rsa|credentials|config|key|dir)\b|\bid (?:rsa|ed25519)\b|{path}",
    )
});
