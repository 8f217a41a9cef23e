//! From arguments to valid ones, by as many plans as it takes.
//!
//! Valid arguments are planned for again until nothing gets better, so that a result that is given again is not changed.
//! That ends: each plan leaves fewer members that the current version does not declare, or as many and fewer numbers
//! such as `3.0`. Strict mode makes no change that a repair does not: where a repair's own plan ends invalid, it goes strict
//! mode's way, and where it does not hold all of that way, strict mode does not go it.

use serde_json::Value;

use super::fit::Fit;
use super::plan::{Limit, Plan, size};
use super::schemas::Schemas;
use super::versions::{Origin, Versions};
use super::{Change, DOUBT, moves};
use crate::rename::Rename;

/// Schemas, members and names that are looked at for one set of arguments.
const MAX_EFFORT: usize = 1 << 19;
/// The most plans.
const MAX_PLANS: usize = 24;

/// What both modes come to.
pub(super) struct Ways {
    pub(super) given: Value,
    /// Why the given arguments are not valid.
    pub(super) fault: Option<String>,
    pub(super) origin: Origin,
    pub(super) strict: Way,
    pub(super) repair: Way,
    /// Whether a bound was reached; nothing is applied then.
    pub(super) is_spent: bool,
}

/// What one mode comes to.
pub(super) struct Way {
    /// Where it led, if anything was changed.
    pub(super) done: Option<Course>,
    /// The first plan that was not followed.
    pub(super) refused: Planned,
}

/// Arguments as they became.
#[derive(Clone)]
pub(super) struct Course {
    pub(super) args: Value,
    pub(super) changes: Vec<Change>,
    /// How far they are from what the current version declares, where they are valid.
    rest: Option<(usize, usize)>,
}

/// Arguments as they would be, and how they would come to be so.
pub(super) struct Planned {
    args: Value,
    pub(super) changes: Vec<Change>,
    /// Why properties were left where they are, as the end of a sentence.
    pub(super) doubts: String,
    /// Whether a bound was reached.
    pub(super) is_full: bool,
    /// Why the result is not valid.
    pub(super) fault: Option<String>,
}

impl Planned {
    fn new(plan: Plan, fault: Option<String>) -> Self {
        let doubts = plan.why_left();
        Self { args: plan.args, changes: plan.changes, doubts, is_full: plan.is_full, fault }
    }

    fn makes(&self, change: &Change) -> bool {
        let same = |own: &Change| {
            own.rule == change.rule
                && own.path == change.path
                && own.to == change.to
                && own.after == change.after
        };
        self.changes.iter().any(same)
    }
}

/// Follows plans from the given arguments on.
pub(super) fn ways(versions: &Versions<'_>, schema: &Value, given: Value) -> Ways {
    let schemas = Schemas::new(schema);
    let mut planner = Planner { versions, schemas, effort: MAX_EFFORT, plans: MAX_PLANS };
    let fault = versions.validator().check(&given).err();
    let rest = fault.is_none().then(|| planner.rest(&given));
    let first = planner.step(&Course { args: given.clone(), changes: Vec::new(), rest });
    let mut repaired = first.next;
    while let Some(next) = repaired.as_ref().and_then(|course| planner.step(course).next) {
        repaired = Some(next);
    }
    let is_spent = planner.effort == 0 || planner.plans == 0;
    let done = |course: Option<Course>| course.filter(|course| !is_spent && !course.changes.is_empty());
    let strict = Way { done: done(Some(first.strict)), refused: first.strict_plan };
    let repair = Way { done: done(repaired), refused: first.plan };
    let origin = versions.origin(&given);
    Ways { given, fault, origin, strict, repair, is_spent }
}

struct Planner<'v, 'a> {
    versions: &'v Versions<'a>,
    /// Of the current version.
    schemas: Schemas<'v>,
    effort: usize,
    plans: usize,
}

/// What is found from one place of a course on.
struct Step {
    /// Where strict mode leads.
    strict: Course,
    /// Strict mode's plan that is not followed.
    strict_plan: Planned,
    /// Repair's plan, followed or not.
    plan: Planned,
    /// Where repair goes, if anywhere.
    next: Option<Course>,
}

impl Planner<'_, '_> {
    fn step(&mut self, course: &Course) -> Step {
        let origin = self.versions.origin(&course.args);
        let (mut strict, mut strict_plan) = (course.clone(), self.plan(&course.args, origin, Limit::Strict));
        while let Some(next) = self.followed(&strict, &strict_plan) {
            let origin = self.versions.origin(&next.args);
            (strict_plan, strict) = (self.plan(&next.args, origin, Limit::Strict), next);
        }
        let plan = self.plan(&course.args, origin, Limit::Repair);
        let confirmed = strict.changes.get(course.changes.len()..).unwrap_or_default();
        let next = match self.followed(course, &plan) {
            // Strict mode makes no change that a repair does not.
            Some(_) if !confirmed.iter().all(|change| plan.makes(change)) => {
                strict = course.clone();
                self.followed(course, &plan)
            }
            None if !confirmed.is_empty() => Some(strict.clone()),
            next => next,
        };
        if !strict_plan.changes.iter().all(|change| plan.makes(change)) {
            strict_plan.changes.clear();
        }
        Step { strict, strict_plan, plan, next }
    }

    /// Where a plan leads, if it is followed.
    fn followed(&self, course: &Course, plan: &Planned) -> Option<Course> {
        if plan.is_full || plan.changes.is_empty() || plan.fault.is_some() {
            return None;
        }
        let rest = self.rest(&plan.args);
        if course.rest.is_some_and(|before| rest >= before) {
            return None;
        }
        let changes = [course.changes.as_slice(), plan.changes.as_slice()].concat();
        Some(Course { args: plan.args.clone(), changes, rest: Some(rest) })
    }

    /// What a mode would change at once.
    fn plan(&mut self, args: &Value, origin: Origin, limit: Limit) -> Planned {
        let mut plan = Plan::new(args.clone(), limit, self.effort);
        self.plans = self.plans.saturating_sub(1);
        plan.is_full = self.plans == 0;
        if !plan.spend(size(args)) {
            return Planned::new(plan, None);
        }
        for index in origin.index + 1..=self.versions.last() {
            let renames = self.versions.renames(index);
            let (taken, left): (Vec<&Rename>, Vec<&Rename>) = renames
                .iter()
                .filter(|rename| rename.confidence >= DOUBT)
                .partition(|rename| limit.takes(rename));
            left.into_iter().for_each(|rename| moves::doubt(&mut plan, rename));
            moves::apply(&mut plan, &taken);
        }
        Fit::run(&mut plan, &mut self.schemas, self.versions.history(origin));
        self.effort = plan.effort;
        let validator = self.versions.validator();
        plan.is_full |= validator.is_dear(&plan.args);
        let fault = if plan.is_full { None } else { validator.check(&plan.args).err() };
        Planned::new(plan, fault)
    }

    /// How far valid arguments are from what the current version declares: members that it does not know, and numbers
    /// such as `3.0`.
    fn rest(&self, args: &Value) -> (usize, usize) {
        (self.versions.undeclared(args), whole_floats(args))
    }
}

fn whole_floats(args: &Value) -> usize {
    let (mut found, mut waiting) = (0, vec![args]);
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => waiting.extend(members.values()),
            Value::Array(items) => waiting.extend(items),
            Value::Number(number) if number.is_f64() => {
                found += usize::from(number.as_f64().is_some_and(|number| number.fract() == 0.0));
            }
            _ => {}
        }
    }
    found
}
