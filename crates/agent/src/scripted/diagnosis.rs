//! Turns a history of repairs into a fault, the part that was fitted, and its category.

use super::reading::Past;

#[cfg(test)]
mod tests;

/// What most of the matching repairs agree on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Diagnosis {
    pub(super) fault_code: String,
    pub(super) fault: Option<String>,
    /// The part that was fitted most often for this fault.
    pub(super) part_no: Option<String>,
    pub(super) category: String,
    /// How many of the records found show this fault.
    pub(super) agreeing: usize,
    pub(super) found: usize,
    /// The records that show it, best match first.
    pub(super) sources: Vec<String>,
    /// The middle repair time in minutes.
    pub(super) minutes: Option<u64>,
}

/// `history` is ranked, best match first; `categories` is what the catalogue knows.
pub(super) fn diagnose(history: &[Past], categories: &[String]) -> Option<Diagnosis> {
    let fault_code = most_common(history.iter().map(|past| past.fault_code.as_str()))?;
    let same: Vec<&Past> = history.iter().filter(|past| past.fault_code == fault_code).collect();
    let named = same.iter().filter_map(|past| past.category.as_deref());
    let category = most_common(named.filter(|category| categories.iter().any(|known| known == category)))
        .map(str::to_owned)
        .or_else(|| category_in_words(&same, categories))?;
    let mut minutes: Vec<u64> = same.iter().filter_map(|past| past.minutes).collect();
    minutes.sort_unstable();
    Some(Diagnosis {
        fault_code: fault_code.to_owned(),
        fault: same.iter().find_map(|past| past.fault.clone()),
        part_no: most_common(same.iter().filter_map(|past| past.part_no.as_deref())).map(str::to_owned),
        category,
        agreeing: same.len(),
        found: history.len(),
        sources: same.iter().map(|past| past.id.clone()).collect(),
        minutes: minutes.get(minutes.len() / 2).copied(),
    })
}

/// The most frequent value; of equals the one that comes first.
fn most_common<'a>(values: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(value, _)| value)
}

/// The category whose words (`thermostatic-valve`: "thermostatic valve") the most records hold.
fn category_in_words(same: &[&Past], categories: &[String]) -> Option<String> {
    let texts: Vec<String> = same.iter().map(|past| past.words.to_lowercase()).collect();
    let counted = categories.iter().map(|category| {
        let plain = category.replace('-', " ");
        (
            category,
            texts.iter().filter(|text| text.contains(&plain) || text.contains(category.as_str())).count(),
        )
    });
    let mut best: Option<(&String, usize)> = None;
    for (category, count) in counted {
        if count > best.map_or(0, |(_, most)| most) {
            best = Some((category, count));
        }
    }
    best.map(|(category, _)| category.clone())
}
