//! What waits for somebody: for them to decide, and of their own calls.

use aldgate_approval::{Record, RecordState};
use aldgate_authority::Principal;
use aldgate_store::ApprovalFilter;

use super::{DecisionFault, stand};
use crate::clock;
use crate::gate::Gate;

/// Approvals that are read at once.
const AT_ONCE: u32 = 200;
/// Times that is done for one list. So much more than one caller may leave pending is read that none of them hides what others
/// asked.
const READS: usize = 25;

/// What is pending, as far as somebody may see it.
#[derive(Debug, Default)]
pub struct Pending {
    /// What they may decide.
    pub others: Waiting,
    /// What they asked for themselves, under whichever name.
    pub own: Waiting,
    /// Whether so many wait in the tenant that older ones were not looked at.
    pub unread: bool,
}

/// The newest of what waits.
#[derive(Debug, Default)]
pub struct Waiting {
    /// The records, the oldest first.
    pub records: Vec<Record>,
    /// Whether there are older ones.
    pub more: bool,
}

impl Waiting {
    /// Takes an older one, where there is a place.
    fn take(&mut self, record: Record, most: usize) {
        if self.records.len() < most {
            self.records.push(record);
        } else {
            self.more = true;
        }
    }
}

/// At most `most` of each; what somebody may not see takes no place.
pub(super) async fn pending(
    gate: &Gate,
    principal: &Principal,
    most: usize,
) -> Result<Pending, DecisionFault> {
    let (snapshot, now) = (gate.snapshot(), clock::now());
    let mut filter = ApprovalFilter {
        tenant: principal.tenant.clone(),
        state: Some(RecordState::Pending),
        before: None,
        limit: AT_ONCE,
    };
    let mut found = Pending { unread: true, ..Pending::default() };
    for _ in 0..READS {
        let read = gate.store.newest_approvals(&filter, now).await?;
        filter.before = read.last().map(|oldest| oldest.id.to_string());
        let is_last = u32::try_from(read.len()).is_ok_and(|read| read < AT_ONCE);
        for record in read {
            match stand(&snapshot, principal, &record) {
                Some(stand) if stand.own => found.own.take(record, most),
                Some(_) => found.others.take(record, most),
                None => {}
            }
        }
        if is_last || (found.others.more && found.own.more) {
            found.unread = false;
            break;
        }
        // Others have their turn.
        tokio::task::yield_now().await;
    }
    found.others.records.reverse();
    found.own.records.reverse();
    Ok(found)
}
