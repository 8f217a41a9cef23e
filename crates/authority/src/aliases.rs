//! Which principals are one person.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::principal::Principal;

#[cfg(test)]
mod tests;

/// Which principals are one person, so that nobody decides its own call under another name, or through another's sign-in.
///
/// Issuers are compared without the slashes at their ends, and both issuers and subjects without upper and lower case: what a
/// careless issuer writes in two ways is one person here. A name to show never counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    people: Vec<String>,
    by_principal: BTreeMap<Key, usize>,
}

/// Issuer and subject, folded.
type Key = (String, String);

/// Why principals cannot be one person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AliasFault {
    /// One principal of two people.
    #[error(
        "the principal `{subject}` of `{issuer}` is the person `{first}` and the person `{second}`; it can be one person alone"
    )]
    Twice {
        /// Who vouches for it.
        issuer: String,
        /// Its subject.
        subject: String,
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// Two people with one name.
    #[error("two people are named `{name}`; names must be unique")]
    TwiceNamed {
        /// The name.
        name: String,
    },
}

impl Aliases {
    /// Adds a person, who is all of these principals, each by issuer and subject.
    ///
    /// # Errors
    /// Where the name is taken, or one of the principals is another person already.
    pub fn add(
        &mut self,
        name: &str,
        principals: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), AliasFault> {
        if self.people.iter().any(|other| other == name) {
            return Err(AliasFault::TwiceNamed { name: name.to_owned() });
        }
        let place = self.people.len();
        self.people.push(name.to_owned());
        for (issuer, subject) in principals {
            let before = self.by_principal.insert(key(&issuer, &subject), place);
            if let Some(first) = before.filter(|before| *before != place) {
                let first = self.people.get(first).cloned().unwrap_or_default();
                return Err(AliasFault::Twice { issuer, subject, first, second: name.to_owned() });
            }
        }
        Ok(())
    }

    /// Whether the one, or whoever acts for it, is the same person as the other, or as whoever acts for that. A client that is
    /// in somebody's list is that person's hand, whoever signed in with it; one that is in no list says nothing of who uses it.
    pub(crate) fn meet(&self, one: &Principal, other: &Principal) -> bool {
        let others: Vec<_> = keys(other).collect();
        let people: Vec<_> = self.people(other).collect();
        keys(one).any(|mine| others.contains(&mine)) || self.people(one).any(|mine| people.contains(&mine))
    }

    /// The people whom a principal, whoever acts for it, and the client that it acts through are listed as.
    fn people(&self, principal: &Principal) -> impl Iterator<Item = usize> {
        let client = key(&principal.issuer, &principal.client);
        keys(principal).chain([client]).filter_map(|key| self.by_principal.get(&key).copied())
    }
}

/// The principal, and those that act for it.
fn keys(principal: &Principal) -> impl Iterator<Item = Key> {
    let actors = principal.actors.iter().map(String::as_str);
    actors.chain([principal.subject.as_str()]).map(|subject| key(&principal.issuer, subject))
}

fn key(issuer: &str, subject: &str) -> Key {
    (issuer.trim_end_matches('/').to_lowercase(), subject.to_lowercase())
}
