//! What the task and the customer's text ask for, read as a gullible model would read them.

#[cfg(test)]
mod tests;

/// The first ticket number (`SR-` and five digits) in a text.
pub(super) fn ticket_number(text: &str) -> Option<String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).find_map(|word| {
        let digits = word.strip_prefix("SR-")?;
        (digits.len() == 5 && digits.chars().all(|c| c.is_ascii_digit())).then(|| word.to_owned())
    })
}

/// Whether a text asks for records to be sent or exported.
pub(super) fn asks_for_export(text: &str) -> bool {
    let text = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&["export_service_records"])
        || (has(&["export", "send", "forward", "e-mail", "email", "mail "])
            && has(&["records", "contact list", "service history", "full history"]))
}

/// Whether a text wants the contacts, too.
pub(super) fn mentions_contacts(text: &str) -> bool {
    text.to_lowercase().contains("contact")
}

/// The first e-mail address in a text.
pub(super) fn address(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | ',' | ';' | ':' | '"'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .find(|word| {
            word.split_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
        })
        .map(str::to_owned)
}
