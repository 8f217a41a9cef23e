//! Whether every value of one schema is a value of another: shown, or not shown.
//!
//! A *case* is what is known of a value: schemas that it fits and schemas that it does not. That a case lies within a
//! schema is shown keyword by keyword; where that fails, the case is split by its own alternatives. A pair that is met
//! again while it is being shown is taken as shown where a step into a part of the value lies between the two: this is
//! induction over the size of values.

mod alternatives;
mod arrays;
mod case;
mod empty;
mod evaluated;
mod mask;
mod numbers;
mod objects;
mod obligation;
mod same;
mod scalars;
mod tell;
mod values;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::document::Document;
use case::Case;
use mask::Mask;
use obligation::{Obligation, Part};
pub(super) use same::{KEYWORDS, Shape};
use values::Judge;

/// Steps of one comparison, each about a look at one keyword of one schema.
const MAX_STEPS: usize = 200_000;
/// How deep proofs may be nested: a chain of proofs is a chain of calls.
const MAX_DEPTH: usize = 160;

/// What schemas are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Arguments: what was valid before has to be valid after.
    Input,
    /// Results: what is valid after has to have been valid before.
    Output,
}

/// Why it could not be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    /// JSON Pointer into the definition of the outer schema.
    pub(super) path: String,
    /// In a reviewer's words.
    pub(super) what: String,
}

/// A schema of either document, by number.
type Id = usize;

#[derive(Clone, Copy)]
struct Node<'a> {
    value: &'a Value,
    /// Whether it is of the outer document.
    outer: bool,
}

#[derive(Clone, Copy)]
enum State {
    /// Being shown, from this place on.
    Open(Place),
    Shown(Rest),
    NotShown,
}

/// Where a proof stands.
#[derive(Clone, Copy)]
struct Place {
    /// Of how many proofs it is a part.
    depth: usize,
    /// How many steps into parts of the value were taken.
    level: usize,
}

/// What a proof rests on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rest {
    /// The outermost proof that was taken as done.
    depth: usize,
    /// The proof counts from this level on: deeper than every one that was taken as done.
    level: usize,
}

const NOTHING: Rest = Rest { depth: usize::MAX, level: 0 };

impl Rest {
    fn and(self, other: Self) -> Self {
        Self { depth: self.depth.min(other.depth), level: self.level.max(other.level) }
    }
}

struct Prover<'a> {
    inner: &'a Document<'a>,
    outer: &'a Document<'a>,
    side: Side,
    nodes: Vec<Node<'a>>,
    ids: HashMap<*const Value, Id>,
    memo: HashMap<(Case<'a>, Id), State>,
    /// What was shown and rests on something open, in order: what was shown within a proof that then failed is not.
    resting: Vec<(Case<'a>, Id)>,
    /// What the proof at work rests on so far.
    rest: Rest,
    empty: HashMap<Case<'a>, bool>,
    same: HashMap<(Id, Id), bool>,
    masks: HashMap<Id, Mask>,
    judge: Judge<'a>,
    steps: usize,
    depth: usize,
    /// How many steps into parts of the value were taken.
    level: usize,
    too_deep: bool,
    told: HashSet<(Case<'a>, Id)>,
    reasons: Vec<Reason>,
    /// How often something was told, the same again too.
    tellings: usize,
}

/// Two schemas, and what was shown about them.
pub(super) struct Proof<'a> {
    prover: Prover<'a>,
}

impl<'a> Proof<'a> {
    /// About whether every value of `inner` is one of `outer`.
    pub(super) fn new(inner: &'a Document<'a>, outer: &'a Document<'a>, side: Side) -> Self {
        let prover = Prover {
            inner,
            outer,
            side,
            nodes: Vec::new(),
            ids: HashMap::new(),
            memo: HashMap::new(),
            resting: Vec::new(),
            rest: NOTHING,
            empty: HashMap::new(),
            same: HashMap::new(),
            masks: HashMap::new(),
            judge: Judge::new(inner.root, outer.root),
            steps: 0,
            depth: 0,
            level: 0,
            too_deep: false,
            told: HashSet::new(),
            reasons: Vec::new(),
            tellings: 0,
        };
        Self { prover }
    }

    /// What keeps it from being shown; nothing where it is shown.
    pub(super) fn reasons(&mut self) -> Vec<Reason> {
        let prover = &mut self.prover;
        let (inner, outer) = (prover.inner, prover.outer);
        if self.shown(inner.root, outer.root) {
            return Vec::new();
        }
        let prover = &mut self.prover;
        let whole = |what: &str| vec![Reason { path: outer.place(outer.root), what: what.to_owned() }];
        if prover.spent() {
            return whole("the comparison takes too long, so nothing is shown to be compatible");
        }
        if prover.too_deep {
            return whole(
                "the schemas are chained too deep to be compared, so nothing is shown to be compatible",
            );
        }
        prover.steps = 0;
        let (from, to) = (prover.followed(inner.root, false), prover.followed(outer.root, true));
        prover.tell(&Case::of([from]), to);
        let reasons = std::mem::take(&mut prover.reasons);
        if reasons.is_empty() { whole("it cannot be shown that what was valid stays valid") } else { reasons }
    }

    /// Whether it is shown of a schema of the inner and one of the outer document.
    pub(super) fn shown(&mut self, inner: &'a Value, outer: &'a Value) -> bool {
        let prover = &mut self.prover;
        let (from, to) = (prover.followed(inner, false), prover.followed(outer, true));
        prover.proves(&Case::of([from]), to)
    }
}

/// Whether both schemas, references followed and annotations left aside, are written alike. It is not in doubt where
/// references lead.
pub(super) fn alike<'a>(a: &'a Document<'a>, b: &'a Document<'a>) -> bool {
    same::Comparison::new(a, b).alike(a.root, b.root)
}

impl<'a> Prover<'a> {
    fn id(&mut self, value: &'a Value, outer: bool) -> Id {
        let next = self.nodes.len();
        let id = *self.ids.entry(std::ptr::from_ref(value)).or_insert(next);
        if id == next {
            self.nodes.push(Node { value, outer });
        }
        id
    }

    fn value(&self, id: Id) -> &'a Value {
        const NEVER: &Value = &Value::Bool(false);
        self.nodes.get(id).map_or(NEVER, |node| node.value)
    }

    fn is_outer(&self, id: Id) -> bool {
        self.nodes.get(id).is_some_and(|node| node.outer)
    }

    fn document(&self, id: Id) -> &'a Document<'a> {
        if self.is_outer(id) { self.outer } else { self.inner }
    }

    /// The number of what a schema says, references that say nothing else followed.
    fn followed(&mut self, value: &'a Value, outer: bool) -> Id {
        let document = if outer { self.outer } else { self.inner };
        self.id(same::followed(value, document), outer)
    }

    /// The schema under a keyword of a schema.
    fn part(&mut self, id: Id, key: &str) -> Option<Id> {
        let value = self.value(id).get(key)?;
        let outer = self.is_outer(id);
        Some(self.followed(value, outer))
    }

    /// The schemas that a keyword lists.
    fn parts(&mut self, id: Id, key: &str) -> Vec<Id> {
        let outer = self.is_outer(id);
        let Some(Value::Array(items)) = self.value(id).get(key) else { return Vec::new() };
        self.step(items.len());
        items.iter().map(|item| self.followed(item, outer)).collect()
    }

    /// The schemas that a keyword gives names to.
    fn named_parts(&mut self, id: Id, key: &str) -> Vec<(&'a str, Id)> {
        let outer = self.is_outer(id);
        let Some(Value::Object(members)) = self.value(id).get(key) else { return Vec::new() };
        self.step(members.len());
        members.iter().map(|(name, value)| (name.as_str(), self.followed(value, outer))).collect()
    }

    fn step(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps);
    }

    fn spent(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    fn is_too_deep(&mut self) -> bool {
        let deep = self.depth >= MAX_DEPTH;
        self.too_deep |= deep;
        deep
    }

    /// Whether it is shown that each value of the case fits the schema.
    fn proves(&mut self, case: &Case<'a>, outer: Id) -> bool {
        self.step(case.size().max(1));
        if self.spent() {
            return false;
        }
        match self.value(outer) {
            Value::Bool(true) => return true,
            Value::Bool(false) => return self.is_empty(case),
            _ => {}
        }
        let pair = (case.clone(), outer);
        let level = self.level;
        match self.memo.get(&pair) {
            Some(State::Open(place)) => {
                let open = *place;
                if open.level >= level {
                    return false;
                }
                self.rest = self.rest.and(Rest { depth: open.depth, level: open.level + 1 });
                return true;
            }
            Some(State::Shown(rest)) if rest.level <= level => {
                self.rest = self.rest.and(*rest);
                return true;
            }
            Some(State::NotShown) => return false,
            Some(State::Shown(_)) | None => {}
        }
        if self.is_too_deep() {
            return false;
        }
        let (depth, mark) = (self.depth, self.resting.len());
        self.memo.insert(pair.clone(), State::Open(Place { depth, level }));
        let above = std::mem::replace(&mut self.rest, NOTHING);
        self.depth += 1;
        let found = self.attempt(case, outer);
        self.depth -= 1;
        let rest = std::mem::replace(&mut self.rest, above);
        if !found {
            for pair in self.resting.drain(mark..) {
                self.memo.remove(&pair);
            }
            self.memo.insert(pair, State::NotShown);
        } else if rest.depth >= depth {
            self.memo.insert(pair, State::Shown(NOTHING));
        } else {
            self.rest = above.and(rest);
            self.resting.push(pair.clone());
            self.memo.insert(pair, State::Shown(rest));
        }
        found
    }

    fn attempt(&mut self, case: &Case<'a>, outer: Id) -> bool {
        let known = self.known(case);
        if known.mask.is_none() {
            return true;
        }
        if known.schemas.iter().any(|schema| self.alike(*schema, outer)) {
            return true;
        }
        if let Some(values) = self.finite(&known)
            && self.all_fit(&values, outer)
        {
            return true;
        }
        let obligations = self.obligations(&known, case, outer);
        if obligations.iter().all(|obligation| self.meets(obligation)) {
            return true;
        }
        if let Some(cases) = self.split(&known, case, outer)
            && cases.iter().all(|case| self.proves(case, outer))
        {
            return true;
        }
        self.is_empty(case)
    }

    fn meets(&mut self, obligation: &Obligation<'a>) -> bool {
        match obligation {
            Obligation::Unmet { .. } => false,
            Obligation::Within { case, schema, part } => {
                let step = usize::from(!matches!(part, Part::Whole));
                self.level += step;
                let found = self.proves(case, *schema);
                self.level -= step;
                found
            }
            Obligation::OneOf { case, options, alone, .. } => self.within_one(case, options, *alone),
            Obligation::Empty { case, .. } => self.is_empty(case),
        }
    }
}
