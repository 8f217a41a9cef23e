use std::collections::{BTreeMap, VecDeque};

use super::{DELIMITERS, Piece, Template};
use crate::registry::{self, Registry};

/// Two resources of different upstreams that one URI could mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The key of one, `upstream/template`.
    pub one: String,
    /// The key of the other.
    pub other: String,
    /// A URI that both stand for.
    pub example: String,
}

/// Every pair of the registry's resources, of different upstreams, that could match one URI.
///
/// A gateway with such a pair must not start: nobody could say whose resource a client means. Within one upstream there
/// is no doubt; see [`Registry::matching`].
#[must_use]
pub fn overlaps(registry: &Registry) -> Vec<Overlap> {
    let all: Vec<(&str, &str, &Template)> = registry
        .templates()
        .filter_map(|(key, template)| Some((key, registry::split(key)?.0, template)))
        .collect();
    let mut found = Vec::new();
    for (index, (one, upstream, template)) in all.iter().enumerate() {
        for (other, _, against) in all.iter().skip(index + 1).filter(|(_, with, _)| with != upstream) {
            if let Some(example) = template.common(against) {
                found.push(Overlap { one: (*one).to_owned(), other: (*other).to_owned(), example });
            }
        }
    }
    found
}

/// A place in two templates that are walked side by side.
type Place = (usize, usize);
/// From where a place was first reached, and over which character.
type Reached = BTreeMap<Place, (Place, char)>;

/// What a template takes at one place.
#[derive(Clone, Copy)]
enum Step {
    /// This character.
    One(char),
    /// One or more characters, of several segments if it spans.
    Some { spans: bool },
}

impl Step {
    /// A character that both take, the plainest there is.
    fn common(self, other: Self) -> Option<char> {
        match (self, other) {
            (Self::One(one), Self::One(other)) => (one == other).then_some(one),
            (Self::One(one), Self::Some { spans }) | (Self::Some { spans }, Self::One(one)) => {
                (spans || !DELIMITERS.contains(&one)).then_some(one)
            }
            (Self::Some { .. }, Self::Some { .. }) => Some('x'),
        }
    }

    /// Whether it may take another character behind this one.
    fn goes_on(self) -> bool {
        matches!(self, Self::Some { .. })
    }
}

impl Template {
    /// A URI that both templates stand for, by their syntax; `None` where there is none.
    ///
    /// Both are walked as the automata that they are, side by side, shortest first.
    fn common(&self, other: &Self) -> Option<String> {
        // Most pairs differ in what both write out first.
        if let (Some(Piece::Literal(one)), Some(Piece::Literal(two))) =
            (self.pieces.first(), other.pieces.first())
            && !one.starts_with(two.as_str())
            && !two.starts_with(one.as_str())
        {
            return None;
        }
        let (ours, theirs) = (self.steps(), other.steps());
        let mut before = Reached::new();
        let mut open = VecDeque::from([(0, 0)]);
        while let Some(at) = open.pop_front() {
            let (Some(one), Some(two)) = (ours.get(at.0), theirs.get(at.1)) else {
                if at == (ours.len(), theirs.len()) {
                    return Some(way(&before, at));
                }
                continue;
            };
            let Some(letter) = one.common(*two) else { continue };
            for stays in [(false, false), (true, false), (false, true), (true, true)] {
                if (stays.0 && !one.goes_on()) || (stays.1 && !two.goes_on()) {
                    continue;
                }
                let next = (at.0 + usize::from(!stays.0), at.1 + usize::from(!stays.1));
                if next != at && !before.contains_key(&next) {
                    before.insert(next, (at, letter));
                    open.push_back(next);
                }
            }
        }
        None
    }

    fn steps(&self) -> Vec<Step> {
        let steps = |piece: &Piece| match piece {
            Piece::Literal(literal) => literal.chars().map(Step::One).collect::<Vec<_>>(),
            Piece::Variable { spans, .. } => vec![Step::Some { spans: *spans }],
        };
        self.pieces.iter().flat_map(steps).collect()
    }
}

/// The letters on the way to a place.
fn way(before: &Reached, end: Place) -> String {
    let mut letters: Vec<char> = Vec::new();
    let mut at = end;
    while let Some((from, letter)) = before.get(&at) {
        letters.push(*letter);
        at = *from;
    }
    letters.iter().rev().collect()
}
