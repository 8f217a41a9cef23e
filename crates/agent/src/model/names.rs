use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

#[cfg(test)]
mod tests;

/// The longest name that both APIs accept.
const MAX_NAME: usize = 64;

/// The names that a model knows tools by, and the tools' own.
///
/// Both APIs accept `^[a-zA-Z0-9_-]{1,64}$`. A name of that form stays. Of any other one the characters that are not
/// accepted become `_`, and a part of the digest of the whole name is added, so that two names never become one and
/// each is the same in every run.
#[derive(Debug, Default)]
pub(super) struct Names {
    own: BTreeMap<String, String>,
    mapped: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let (good, other): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| is_accepted(name));
        let mut all = Self::default();
        for name in good {
            all.add(name, name.to_owned());
        }
        for name in other {
            // A name that is taken already makes the digest one of the name and the number of the try.
            let free = (0_u64..).map(|n| mapped(name, n)).find(|mapped| !all.own.contains_key(mapped));
            all.add(name, free.unwrap_or_default());
        }
        all
    }

    fn add(&mut self, own: &str, mapped: String) {
        self.own.insert(mapped.clone(), own.to_owned());
        self.mapped.insert(own.to_owned(), mapped);
    }

    /// The tool's own name.
    pub(super) fn own(&self, mapped: &str) -> Option<&str> {
        self.own.get(mapped).map(String::as_str)
    }

    /// The name that the model knows the tool by.
    pub(super) fn mapped(&self, own: &str) -> Option<&str> {
        self.mapped.get(own).map(String::as_str)
    }

    /// All names that the model knows.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.own.keys().map(String::as_str)
    }
}

/// A name that a model made up, so that an API accepts it in what is given back to the model.
pub(super) fn acceptable(name: &str) -> String {
    if is_accepted(name) { name.to_owned() } else { mapped(name, 0) }
}

fn accepts(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

fn is_accepted(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(accepts)
}

fn mapped(name: &str, n: u64) -> String {
    let mut digest = Sha256::new_with_prefix(name);
    if n > 0 {
        digest.update(n.to_be_bytes());
    }
    let tail: String = digest.finalize().iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    let letters = name.chars().map(|letter| if accepts(letter) { letter } else { '_' });
    let head: String = letters.take(MAX_NAME - 1 - tail.len()).collect();
    format!("{head}_{tail}")
}
