use serde_json::Value;

use super::case::Case;
use super::obligation::{Obligation, Part, Unmet};
use super::{Id, Prover, Reason, Side};

use crate::diff::show::quoted;
use crate::pointer::escaped;

/// Reasons that are told, at most.
const MAX_REASONS: usize = 50;
/// Cases of one schema of which the reasons are told.
const MAX_CASES: usize = 4;

impl<'a> Prover<'a> {
    /// Tells why it is not shown that the case lies within the schema.
    pub(super) fn tell(&mut self, case: &Case<'a>, outer: Id) {
        if self.reasons.len() >= MAX_REASONS
            || self.spent()
            || self.is_too_deep()
            || !self.told.insert((case.clone(), outer))
        {
            self.tellings += 1;
            return;
        }
        let before = self.tellings;
        self.depth += 1;
        let known = self.known(case);
        if let Some(cases) = self.split(&known, case, outer) {
            let failing: Vec<_> =
                cases.into_iter().filter(|case| !self.proves(case, outer)).take(MAX_CASES).collect();
            failing.iter().for_each(|case| self.tell(case, outer));
        } else {
            for obligation in self.obligations(&known, case, outer) {
                if !self.meets(&obligation) {
                    self.tell_obligation(outer, &obligation, &known.mask.words());
                }
            }
        }
        self.depth -= 1;
        if self.tellings == before {
            let what = self.sentence(&format!("a value that is {}", known.mask.words()));
            self.reason(outer, "", what);
        }
    }

    fn tell_obligation(&mut self, outer: Id, obligation: &Obligation<'a>, types: &str) {
        match obligation {
            Obligation::Unmet { key, what } => {
                let what = match (what, self.side) {
                    (Unmet::Phrase(phrase), _) => self.sentence(phrase),
                    (Unmet::Required(name), Side::Input) => format!("{} is required now", quoted(name)),
                    (Unmet::Required(name), Side::Output) => {
                        format!("{} is no longer always there", quoted(name))
                    }
                    (Unmet::Undecided, _) => {
                        format!("{} cannot be decided here, so it is not shown to be compatible", quoted(key))
                    }
                };
                self.reason(outer, &format!("/{key}"), what);
            }
            Obligation::Within { schema, part, .. } if *self.value(*schema) == Value::Bool(false) => {
                let (suffix, what) = match part {
                    Part::Property(name) => (format!("/properties/{}", escaped(name)), quoted(name)),
                    Part::OtherProperties => (String::new(), "properties that are not named".to_owned()),
                    Part::Items => (String::new(), "further items".to_owned()),
                    Part::Names | Part::Whole => (String::new(), "values".to_owned()),
                };
                let one = matches!(part, Part::Property(_));
                let what = match (self.side, one) {
                    (Side::Input, true) => format!("{what} is no longer allowed"),
                    (Side::Input, false) => format!("{what} are no longer allowed"),
                    (Side::Output, true) => format!("{what} was not allowed before"),
                    (Side::Output, false) => format!("{what} were not allowed before"),
                };
                let at = if one { outer } else { *schema };
                self.reason(at, &suffix, what);
            }
            Obligation::Within { case, schema, part: Part::Property(name) } if case.is_anything() => {
                let name = quoted(name);
                let what = match self.side {
                    Side::Input => format!("{name} has a schema now; before, any value of it was accepted"),
                    Side::Output => format!("{name} has no schema any more, so it may hold any value"),
                };
                self.reason(*schema, "", what);
            }
            Obligation::Within { case, schema, .. } => self.tell(case, *schema),
            Obligation::OneOf { case, key, options, alone } => {
                if let [only] = self.candidates(case, options).as_slice()
                    && !self.proves(case, *only)
                {
                    self.tell(case, *only);
                    return;
                }
                let fits_one = options.iter().any(|option| self.proves(case, *option));
                let what = if *alone && fits_one {
                    self.sentence(&format!("a value that is {types} and fits several alternatives"))
                } else {
                    self.sentence(&format!("a value that is {types} and fits none of the alternatives"))
                };
                self.reason(outer, &format!("/{key}"), what);
            }
            Obligation::Empty { key, .. } => {
                let what = self.sentence(&format!("a value that is {types} and fits what is excluded"));
                self.reason(outer, &format!("/{key}"), what);
            }
        }
    }

    fn sentence(&self, phrase: &str) -> String {
        match self.side {
            Side::Input => format!("{phrase} may no longer be accepted"),
            Side::Output => format!("{phrase} may be returned now"),
        }
    }

    fn reason(&mut self, at: Id, suffix: &str, what: String) {
        let path = self.document(at).place(self.value(at)) + suffix;
        let reason = Reason { path, what };
        self.tellings += 1;
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}
