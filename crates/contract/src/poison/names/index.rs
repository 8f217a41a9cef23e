use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::super::Neighbour;
use super::super::fold::words;
use super::{ALIKE_UP_TO, confusable, letters, without_affixes};

/// Names by what makes another one look like them.
pub(super) struct Index<'a> {
    names: Vec<Neighbour<'a>>,
    by_sign: HashMap<u64, Vec<usize>>,
}

/// What two names have in common of which one passes for the other.
#[derive(Hash)]
enum Sign<'t> {
    Whole(&'t str),
    Letters(&'t str),
    Confusable(&'t str),
    Words(&'t [&'t str]),
    Sorted(&'t [&'t str]),
}

impl Sign<'_> {
    fn number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl<'a> Index<'a> {
    pub(super) fn of(names: Vec<Neighbour<'a>>) -> Self {
        let mut by_sign: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, other) in names.iter().enumerate() {
            for sign in signs(other.tool, |words| words.to_vec()) {
                by_sign.entry(sign).or_default().push(at);
            }
        }
        Self { names, by_sign }
    }

    /// Those that a name may look like, in their order: every one that it does look like is among them.
    pub(super) fn candidates(&self, name: &str) -> impl Iterator<Item = &Neighbour<'a>> {
        let found: BTreeSet<usize> = signs(name, without_affixes)
            .iter()
            .filter_map(|sign| self.by_sign.get(sign))
            .flatten()
            .copied()
            .collect();
        found.into_iter().filter_map(|at| self.names.get(at))
    }
}

/// The signs of a name; `kept` are the words that count in their order.
fn signs(name: &str, kept: for<'w> fn(&[&'w str]) -> Vec<&'w str>) -> Vec<u64> {
    let (plain, spaced) = (letters(name), words(name));
    let mut parts: Vec<&str> = spaced.split(' ').collect();
    let ordered = kept(&parts);
    parts.sort_unstable();
    let mut found = vec![
        Sign::Whole(name).number(),
        Sign::Letters(&plain).number(),
        Sign::Confusable(&confusable(name)).number(),
        Sign::Words(&ordered).number(),
        Sign::Sorted(&parts).number(),
    ];
    let all: Vec<char> = plain.chars().take(ALIKE_UP_TO + 1).collect();
    if all.len() <= ALIKE_UP_TO {
        found.push(of_letters(&all, &[]));
        let halves = (0..all.len()).filter_map(|at| Some((all.get(..at)?, all.get(at + 1..)?)));
        found.extend(halves.map(|(before, after)| of_letters(before, after)));
    }
    found
}

fn of_letters(before: &[char], after: &[char]) -> u64 {
    let mut hasher = DefaultHasher::new();
    before.iter().chain(after).for_each(|letter| letter.hash(&mut hasher));
    hasher.finish()
}
