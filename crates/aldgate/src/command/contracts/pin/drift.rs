//! What changed since the lock was written, and is not for `pin` to take over unreviewed.

use aldgate_contract::diff::Severity;

use super::super::comparison::{Comparison, compare};
use super::super::fault::ReviewFault;
use super::super::locks;
use super::super::side::Side;
use super::Pinned;
use crate::cli::PinArguments;

/// Refuses what is breaking or behavioural, and another server than the reviewed one, where it is not all to be pinned;
/// shows what that is.
pub(super) fn refuse(all: &[Pinned], arguments: &PinArguments) -> miette::Result<()> {
    if arguments.all {
        return Ok(());
    }
    let (mut drifted, mut strange) = (Vec::new(), Vec::new());
    for pinned in all {
        let Some(before) = &pinned.before else { continue };
        let stranger = locks::stranger(&before.upstream, &pinned.lock.upstream);
        let compared = pinned.compared(before)?;
        let name = &pinned.lock.upstream.name;
        if let Some(what) = stranger {
            strange.push(what);
        } else if compared.severity() >= Some(Severity::Behavioural) {
            drifted.push(format!("`{name}`"));
        } else {
            continue;
        }
        if !arguments.json {
            compared.show()?;
        }
    }
    let what = match (drifted.as_slice(), strange.as_slice()) {
        ([], []) => return Ok(()),
        (_, [_, ..]) => strange.join("; "),
        ([_], _) => format!("the contracts of {} are not those of the lock", drifted.join(", ")),
        _ => format!("the contracts of {} are not those of their locks", drifted.join(", ")),
    };
    Err(ReviewFault::Drifted { what }.into())
}

impl Pinned {
    fn compared(&self, before: &aldgate_contract::Lock) -> Result<Comparison, ReviewFault> {
        let name = &self.lock.upstream.name;
        let now = Side::lock(name.clone(), &self.lock);
        compare(&Side::lock(self.path.display().to_string(), before), &now, Some(name))
    }
}
