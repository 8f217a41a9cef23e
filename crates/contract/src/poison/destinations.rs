//! Places to which data could be carried off.

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use regex::Regex;

use super::fold::{fold, lowered};
use super::phrases::{Phrases, compiled};
use super::{EXFILTRATION, Finding, Text, quoted};

static ADDRESSES: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        (
            r"(?i)\b(?:webhook\.site|requestbin|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator|interact\.?sh|oast\.\w+|oastify|beeceptor|hookbin|requestcatcher|trycloudflare|serveo\.net|localtunnel|loca\.lt|pastebin|transfer\.sh|file\.io|dnslog|canarytokens|discord(?:app)?\.com/api/webhooks|hooks\.slack\.com/services/\w|api\.telegram\.org/bot|\.onion\b)",
            "a service that takes data from anybody",
        ),
        (
            r"(?i)https?://[^\s)>]*[?&#](?:d|data|q|payload|content|contents|info|secret|key|token|leak|exfil|c|text|msg|message|body|log|x|s|history|context|conversation|prompt|p|u|h|user|answer|result)=\s*(?:\{|\$|%s|<|\[)",
            "an address into which something is to be put",
        ),
        (r"(?i)https?://[^/\s@]+:[^/\s@]+@", "an address with a password in it"),
    ])
});

/// Words that say that an address is only one such as could be given.
static EXAMPLE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:e\.?g\.?|i\.e\.|such as|for example|for instance|like|example:|format|looks like|default)[ :,]",
    )
});
static BY_NUMBER: LazyLock<Regex> = LazyLock::new(|| compiled(r"://(?:[^/\s@]*@)?(\d{1,3}(?:\.\d{1,3}){3})"));

/// Over folded text.
static SENDING: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        (
            r"\b(?:send|post|forward|upload|transmit|exfiltrate|report|submit|leak|deliver|email|mail|push|relay|mirror|sync|log|stream|beacon|ping|write|put|ship|dump|backup|back up)\b{gap}{0,100}?\b(?:to|at|via|through|into|with) (?:the |this |our |an? )?(?:[\w,]+ ){0,4}?(?:https?://|wss?://|ftp://)",
            "it wants something sent to a fixed address",
        ),
        (
            r"\b(?:always|also|must|please|silently|automatically|first|then|and|should|,)[ ,](?:\w+ )?(?:send|forward|e[- ]?mail|mail|copy|deliver|report|submit|bcc|cc|transmit)\b{gap}{0,100}?\S+@[\w.-]+\.[a-z]{2,}",
            "it wants something sent to a fixed address",
        ),
        (
            r"\b(?:bcc|blind copy|blind carbon copy|carbon copy|cc)\b{gap}{0,60}?\S+@[\w.-]+\.[a-z]{2,}",
            "it wants mail copied to a fixed address",
        ),
        (
            r"\b(?:send|forward|e[- ]?mail|mail|deliver|redirect|route)\b (?:\w+ ){0,2}(?:all|every|any|each|a copy|copies|everything|the (?:full|entire|complete|whole|result|results|output|content|contents|data|conversation|response))\b{gap}{0,80}?\S+@[\w.-]+\.[a-z]{2,}",
            "it wants something sent to a fixed address",
        ),
        (
            r"\b(?:replace|change|substitute|set|redirect|override|rewrite|route)\b{gap}{0,60}?\b(?:recipient|to|destination|address|from|reply to)\b{gap}{0,40}?\S+@[\w.-]+\.[a-z]{2,}",
            "it wants mail sent elsewhere",
        ),
        (
            r"\b(?:every|each|all|any) (?:\w+ ){0,2}(?:e[- ]?mails?|messages?|mails?|payments?|transfers?|orders?|files?|requests?|responses?|calls?|invoices?)\b{gap}{0,60}\S+@[\w.-]+\.[a-z]{2,}",
            "it wants something sent to a fixed address",
        ),
        (
            r"\bcop(?:y|ies)\b{gap}{0,40} (?:is|are|will be|gets?|being) (?:\w+ )?(?:stored|kept|sent|saved|uploaded|retained|forwarded|shared)\b{gap}{0,20} (?:on|at|to|by|with) (?:our|us|the vendor|the author|a third)\b",
            "it wants a copy kept elsewhere",
        ),
        (
            r"\b(?:call|fetch|open|load|visit|request|hit|ping|contact|notify|query|get)\b{gap}{0,20} https?://\S+{gap}{0,40}\b(?:after|before|on|with|for|during) (?:each|every|any|all)\b",
            "it wants an address called again and again",
        ),
        (
            r"\b(?:send|post|forward|upload|transmit|report|submit|deliver|copy|push|relay|mirror|sync|stream|ship|dump|backup|back up)\b{gap}{0,80}? to (?:[\w-]+\.)+(?:com|net|org|io|dev|app|xyz|site|cloud|info|biz|co|ru|cn|top|online|tech|me|sh|link|live|store|eu|de|uk)\b",
            "it wants something sent to a fixed address",
        ),
        (
            r"\b(?:invite|add|include|share|grant|give access|subscribe|register|put|set)\b{gap}{0,40}\S+@[\w.-]+\.[a-z]{2,}",
            "it wants somebody else brought in",
        ),
        (
            r"\b(?:be|been|is|are|gets?) (?:\w+ )?(?:sent|posted|forwarded|uploaded|mirrored|reported|submitted|copied|transmitted|delivered|pushed|relayed|logged|streamed|synced)\b{gap}{0,60} to (?:the |this |our |an? )?(?:[\w,]+ ){0,3}?(?:https?://|wss?://|ftp://|\S+@[\w.-]+\.[a-z]{2,})",
            "it wants something sent to a fixed address",
        ),
    ])
});

pub(super) fn check(text: &Text<'_>, findings: &mut Vec<Finding>) {
    if !text.text.contains("://") && !text.text.contains(['@', '.', '＠']) {
        return;
    }
    for (what, found) in ADDRESSES.find(text.text) {
        findings.push(Finding::new(EXFILTRATION, text, format!("{what}: {}", quoted(found))));
    }
    for found in BY_NUMBER.captures_iter(text.text).filter_map(|found| found.get(1)) {
        if found.as_str().parse().is_ok_and(is_public) {
            let what = format!("an address by number: {}", quoted(found.as_str()));
            findings.push(Finding::new(EXFILTRATION, text, what));
        }
    }
    // Folded, a hyphen of a domain is a space.
    for reading in [lowered(text.text), fold(text.text)] {
        for (what, found) in SENDING.find(&reading) {
            if !EXAMPLE.is_match(found)
                && !findings.iter().any(|known| known.path == text.path && known.what.starts_with(what))
            {
                findings.push(Finding::new(EXFILTRATION, text, format!("{what}: {}", quoted(found))));
            }
        }
    }
}

fn is_public(address: Ipv4Addr) -> bool {
    !(address.is_loopback()
        || address.is_private()
        || address.is_unspecified()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_broadcast())
}
