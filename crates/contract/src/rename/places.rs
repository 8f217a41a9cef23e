//! Candidates between the places of two schemas.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::outline::{Node, Outline};
use super::pairing::{Pair, one_to_one};
use super::prose::{Corpus, Prose, Proses};
use super::score::{Property, of_properties};
use super::words::Name;
use super::{Confirmed, Rename, THRESHOLD, one_each};
use crate::pointer::unescaped;

/// At one object, the most on either side.
const MAX_AT_ONE: usize = 40;
/// The most pairs in all.
const MAX_PAIRS: usize = 2048;
/// What seems to be a part of the other is at most this sure.
const PART: f64 = 0.6;
/// What moved to another object is less sure by this factor.
const MOVED: f64 = 0.95;

/// All candidates, the surest first. At most `left` pairs are compared, and taken off it.
pub(super) fn renames(
    before: &Outline<'_>,
    after: &Outline<'_>,
    confirmed: &[Confirmed],
    left: &mut usize,
) -> Vec<Rename> {
    let sure = happened(before, after, confirmed);
    let mut search = Search {
        before,
        after,
        sure_from: sure.iter().map(|pair| (pair.from.as_str(), pair.to.as_str())).collect(),
        sure_to: sure.iter().map(|pair| pair.to.as_str()).collect(),
        left: MAX_PAIRS.min(*left),
        proses: Proses::default(),
        seen: [HashSet::new(), HashSet::new()],
        found: sure.iter().copied().map(Rename::confirmed).collect(),
    };
    let most = search.left;
    search.descend();
    search.moved();
    *left = left.saturating_sub(most - search.left);
    search.found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    search.found
}

/// Those of which the old name is one before and the new one is one after. The old one is gone and the new one was not
/// there, unless the name itself, or one on the way to it, is of another that counts: two names may be swapped.
fn happened<'a>(before: &Outline<'_>, after: &Outline<'_>, confirmed: &'a [Confirmed]) -> Vec<&'a Confirmed> {
    let exist = |pair: &&Confirmed| before.at(&pair.from).is_some() && after.at(&pair.to).is_some();
    let mut sure = one_each(confirmed.iter().filter(exist));
    loop {
        let from: HashMap<&str, &Confirmed> = sure.iter().map(|pair| (pair.from.as_str(), *pair)).collect();
        let to: HashMap<&str, &Confirmed> = sure.iter().map(|pair| (pair.to.as_str(), *pair)).collect();
        let counts = |pair: &&Confirmed| {
            let told = |path: &str, ends: &HashMap<&str, &Confirmed>| {
                on_the_way(path).any(|step| ends.get(step).is_some_and(|other| *other != *pair))
            };
            (after.at(&pair.from).is_none() || told(&pair.from, &to))
                && (before.at(&pair.to).is_none() || told(&pair.to, &from))
        };
        let kept: Vec<&Confirmed> = sure.iter().copied().filter(counts).collect();
        if kept.len() == sure.len() {
            return kept;
        }
        sure = kept;
    }
}

/// A path, and those of the places around it.
fn on_the_way(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(around, _)| around))
}

struct Search<'a> {
    before: &'a Outline<'a>,
    after: &'a Outline<'a>,
    sure_from: HashMap<&'a str, &'a str>,
    sure_to: HashSet<&'a str>,
    /// Pairs that may still be compared.
    left: usize,
    proses: Proses<'a>,
    /// Places that have a counterpart, before and after.
    seen: [HashSet<usize>; 2],
    found: Vec<Rename>,
}

impl<'a> Search<'a> {
    /// From the whole down, wherever two places are counterparts.
    fn descend(&mut self) {
        let mut waiting = VecDeque::from([(0, 0)]);
        for (from, to) in &self.sure_from {
            if let (Some(from), Some(to)) = (self.before.number_at(from), self.after.number_at(to)) {
                waiting.push_back((from, to));
            }
        }
        let mut begun = HashSet::new();
        while let Some((left, right)) = waiting.pop_front() {
            if begun.insert((left, right)) {
                self.seen[0].insert(left);
                self.seen[1].insert(right);
                waiting.extend(self.children(left, right));
            }
        }
    }

    /// The counterparts below two counterparts.
    fn children(&mut self, left: usize, right: usize) -> Vec<(usize, usize)> {
        let (before, after) = (self.before, self.after);
        let by_name: HashMap<(&str, bool), usize> =
            after.children(right).map(|(number, node)| ((node.name, node.is_items), number)).collect();
        let names: HashSet<(&str, bool)> =
            before.children(left).map(|(_, node)| (node.name, node.is_items)).collect();
        let is_kept = |node: &Node<'_>| {
            let name = (node.name, node.is_items);
            names.contains(&name) && by_name.contains_key(&name)
        };
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (number, node) in before.children(left) {
            if let Some(same) = by_name.get(&(node.name, node.is_items))
                && !self.sure_from.contains_key(node.path.as_str())
            {
                pairs.push((number, *same));
            }
        }
        let (sure_from, sure_to) = (&self.sure_from, &self.sure_to);
        let proses = &mut self.proses;
        let settled = |node: &Node<'_>| sure_from.contains_key(node.path.as_str());
        let gone = properties(before, left, proses, is_kept, settled);
        let new = properties(after, right, proses, is_kept, |node| sure_to.contains(node.path.as_str()));
        if gone.is_empty() || new.is_empty() {
            return pairs;
        }
        let kept = pairs.iter().flat_map(|(left, right)| [before.get(*left), after.get(*right)]).flatten();
        let kept: Vec<Rc<Prose>> = kept.map(|node| proses.of(node.facets.description)).collect();
        let described = gone.iter().chain(&new).map(|(_, property)| &property.prose);
        let corpus = Corpus::new(described.chain(&kept).map(Rc::as_ref));
        let mut taken = one_to_one(self.scored(&gone, &new, |a, b| of_properties(a, b, &corpus)));
        doubt_parts(&mut taken, &gone, &new);
        for pair in taken {
            let (Some((from, one)), Some((to, other))) = (gone.get(pair.left), new.get(pair.right)) else {
                continue;
            };
            self.list(one.node, other.node, pair.confidence);
            if pair.confidence >= THRESHOLD {
                pairs.push((*from, *to));
            }
        }
        pairs
    }

    /// What is left on both sides, at whatever depth, where the way to it is in the name.
    fn moved(&mut self) {
        let listed: HashSet<&str> = self
            .found
            .iter()
            .filter(|one| one.confidence >= THRESHOLD)
            .flat_map(|one| [one.from.as_str(), one.to.as_str()])
            .collect();
        let proses = &mut self.proses;
        let mut open = |outline: &'a Outline<'a>, seen: &HashSet<usize>| -> Vec<(usize, Property<'a>)> {
            let free = outline.nodes().filter(|(number, node)| {
                !seen.contains(number) && !listed.contains(node.path.as_str()) && node.children.is_empty()
            });
            let free =
                free.filter(|(_, node)| !node.is_items && !node.path.split('/').any(|step| step == "*"));
            let all = free.map(|(number, node)| {
                let mut property = Property::new(outline, number, node, proses);
                let way: Vec<String> = node.path.split('/').map(unescaped).collect();
                property.name = Name::new(&way.join("_"));
                (number, property)
            });
            all.take(MAX_AT_ONE).collect()
        };
        let gone = open(self.before, &self.seen[0]);
        let new = open(self.after, &self.seen[1]);
        let corpus = Corpus::new(gone.iter().chain(&new).map(|(_, property)| property.prose.as_ref()));
        let depth = |property: &Property<'_>| property.node.path.split('/').count();
        let pairs = self.scored(&gone, &new, |a, b| {
            let named = a.name.tokens == b.name.tokens;
            let told = a.node.name == b.node.name
                && a.node.facets.description.is_some_and(|text| text.len() > 11)
                && a.node.facets.description == b.node.facets.description;
            if depth(a) != depth(b) && (named || told) { of_properties(a, b, &corpus) * MOVED } else { 0.0 }
        });
        for pair in one_to_one(pairs) {
            if let (Some((_, one)), Some((_, other))) = (gone.get(pair.left), new.get(pair.right)) {
                let (from, to) = (&one.node.path, &other.node.path);
                // One to one: what moved surely leaves its doubtful neighbours no place.
                let rival = |old: &Rename| old.from == *from || old.to == *to;
                if self.found.iter().any(|old| rival(old) && old.confidence >= pair.confidence) {
                    continue;
                }
                self.found.retain(|old| !rival(old));
                self.list(one.node, other.node, pair.confidence);
            }
        }
    }

    fn scored(
        &mut self,
        gone: &[(usize, Property<'_>)],
        new: &[(usize, Property<'_>)],
        mut score: impl FnMut(&Property<'_>, &Property<'_>) -> f64,
    ) -> Vec<Pair> {
        let mut possible = Vec::new();
        for (left, (_, one)) in gone.iter().enumerate() {
            for (right, (_, other)) in new.iter().enumerate() {
                if self.left == 0 {
                    return possible;
                }
                self.left -= 1;
                possible.push(Pair { left, right, confidence: score(one, other) });
            }
        }
        possible
    }

    fn list(&mut self, from: &Node<'_>, to: &Node<'_>, confidence: f64) {
        self.found.push(Rename {
            from: from.path.clone(),
            to: to.path.clone(),
            confidence,
            identity_confirmed: false,
        });
    }
}

/// Lowers what seems to be one of several that became one, or one of those that one became: where the description of one
/// end speaks of another property that found no counterpart, and that of the other end does not.
fn doubt_parts(pairs: &mut [Pair], gone: &[(usize, Property<'_>)], new: &[(usize, Property<'_>)]) {
    let sure = |pair: &&Pair| pair.confidence >= THRESHOLD;
    let left: HashSet<usize> = pairs.iter().filter(sure).map(|pair| pair.left).collect();
    let right: HashSet<usize> = pairs.iter().filter(sure).map(|pair| pair.right).collect();
    let lone = |all: &[(usize, Property<'_>)], paired: &HashSet<usize>| -> Vec<Vec<String>> {
        let lone = all.iter().enumerate().filter(|(at, _)| !paired.contains(at));
        lone.map(|(_, (_, property))| property.name.tokens.clone()).collect()
    };
    let (lone_gone, lone_new) = (lone(gone, &left), lone(new, &right));
    for pair in pairs {
        let (Some((_, one)), Some((_, other))) = (gone.get(pair.left), new.get(pair.right)) else { continue };
        let part = |names: &[Vec<String>], speaks: &Prose, silent: &Prose| {
            names.iter().any(|name| speaks.holds_all(name) && !silent.holds_all(name))
        };
        if part(&lone_gone, &other.prose, &one.prose) || part(&lone_new, &one.prose, &other.prose) {
            pair.confidence = pair.confidence.min(PART);
        }
    }
}

/// The properties below a place that are not kept and not settled, with their kept neighbours.
fn properties<'a>(
    outline: &'a Outline<'a>,
    parent: usize,
    proses: &mut Proses<'a>,
    is_kept: impl Fn(&Node<'_>) -> bool,
    is_settled: impl Fn(&Node<'_>) -> bool,
) -> Vec<(usize, Property<'a>)> {
    let mut found: Vec<(usize, Property<'a>)> = Vec::new();
    let mut before = None;
    let mut without_next = 0;
    for (number, node) in outline.children(parent) {
        if is_kept(node) {
            before = Some(node.name);
            for (_, property) in found.iter_mut().skip(without_next) {
                property.neighbours[1] = before;
            }
            without_next = found.len();
        } else if !is_settled(node) && !node.is_items && found.len() < MAX_AT_ONE {
            let mut property = Property::new(outline, number, node, proses);
            property.neighbours[0] = before;
            found.push((number, property));
        }
    }
    found
}
