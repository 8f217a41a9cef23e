//! What each tool answers: from the shelves and the source of one tenant to the bare value.

use aldgate_contract::rename::of_properties;
use aldgate_contract::repair::{Revision, simulate};
use aldgate_contract::{Lineage, Pin};
use serde_json::{Value, json};

use crate::arguments::{Audit, Coverage, Drift, OneTool, Repair};
use crate::shelf::{Shelf, find};
use crate::source::{Source, Unavailable};

/// The version of an artefact's form.
const ARTEFACT_VERSION: &str = "1";
/// Why coverage is never validated.
const UNVALIDATED: &str = "Observed coverage is not a production drift-safety guarantee.";

/// Bytes of diffs in one answer; each diff is bounded where it is recorded, but their number is not small.
const MOST_OF_DIFFS: usize = 1 << 20;

/// What one tenant may see, while one request is answered.
pub(crate) struct View<'a> {
    pub(crate) source: &'a dyn Source,
    pub(crate) shelves: &'a [Shelf],
    pub(crate) tenant: &'a str,
}

impl View<'_> {
    pub(crate) fn contract(&self, asked: &OneTool) -> Result<Value, Unavailable> {
        let Some(found) = find(self.shelves, self.tenant, &asked.tool) else { return Ok(Value::Null) };
        let Some(pin) = found.pin else { return Ok(Value::Null) };
        let lineage = pin.lineage();
        let revisions = lineage.revisions();
        let schema = revisions.last().and_then(|current| current.definition.get("inputSchema"));
        let mut value = json!({
            "tool": asked.tool,
            "version": pin.version.to_string(),
            "schema": schema,
            "key": found.key,
            "digest": pin.digest,
            "pinnedAt": pin.pinned_at,
        });
        let text = |text: &Option<String>| text.clone().map(Value::String);
        let more = [
            ("renames", renames(&revisions)?),
            ("renamedFrom", text(&pin.renamed_from)),
            ("signature", text(&pin.signature)),
        ];
        if let Value::Object(members) = &mut value {
            let given = more.into_iter().filter_map(|(member, value)| Some((member.to_owned(), value?)));
            members.extend(given);
        }
        Ok(value)
    }

    pub(crate) async fn drift(&self, asked: &Drift) -> Result<Value, Unavailable> {
        let Some(key) = self.key(&asked.tool) else { return Ok(json!([])) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the schema allows 1 to 100"
        )]
        let limit = asked.limit as u32;
        let mut events = self.source.drift_events(self.tenant, &key, limit).await?;
        events.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let mut room = MOST_OF_DIFFS;
        for event in &mut events {
            match room.checked_sub(event.diff.to_string().len()) {
                Some(left) => room = left,
                None => event.diff = Value::Null,
            }
        }
        valued(&events)
    }

    pub(crate) async fn audit(&self, asked: &Audit) -> Result<Value, Unavailable> {
        let Some(artefact) = self.source.artefact(self.tenant, &asked.id).await? else {
            return Ok(Value::Null);
        };
        let mut value = json!({ "version": ARTEFACT_VERSION, "id": asked.id, "kind": artefact.kind });
        if let Value::Object(members) = &mut value {
            if let Some(tool) = artefact.tool {
                members.insert("tool".to_owned(), tool.into());
            }
            members.insert("record".to_owned(), artefact.record.into());
            members.insert("whole".to_owned(), artefact.whole.into());
            members.insert("proof".to_owned(), Value::Null);
            members.insert("checkpoint".to_owned(), Value::Null);
        }
        Ok(value)
    }

    pub(crate) fn repair(&self, asked: &Repair) -> Result<Value, Unavailable> {
        let pin = find(self.shelves, self.tenant, &asked.tool).and_then(|found| found.pin);
        let lineage = pin.map(Pin::lineage);
        let revisions = lineage.as_ref().map(Lineage::revisions).unwrap_or_default();
        let mut value = valued(&simulate(&revisions, &asked.args, asked.mode))?;
        if let Value::Object(members) = &mut value {
            members.insert("dispatched".to_owned(), false.into());
        }
        Ok(value)
    }

    pub(crate) async fn coverage(&self, asked: &Coverage) -> Result<Value, Unavailable> {
        let mut tools = Vec::with_capacity(asked.tools.len());
        for name in &asked.tools {
            let found = find(self.shelves, self.tenant, name);
            let contract = found.is_some_and(|found| found.pin.is_some());
            let observed = match self.key(name) {
                Some(key) => self.source.observations(self.tenant, &key).await?,
                None => Vec::new(),
            };
            let observations = observed.iter().fold(0_u64, |sum, one| sum.saturating_add(one.calls));
            let mut tool = json!({ "tool": name, "contract": contract, "observations": observations });
            if let (false, Value::Object(members)) = (observed.is_empty(), &mut tool) {
                members.insert("versions".to_owned(), valued(&observed)?);
            }
            tools.push(tool);
        }
        Ok(json!({ "status": "unvalidated", "reason": UNVALIDATED, "tools": tools }))
    }

    /// What evidence calls a tool. One that is on no shelf any more may still have left some under its full name.
    fn key(&self, name: &str) -> Option<String> {
        find(self.shelves, self.tenant, name)
            .map(|found| found.key)
            .or_else(|| name.contains('/').then(|| name.to_owned()))
    }
}

/// Candidate renames from the version before; `None` where there is none.
fn renames(revisions: &[Revision<'_>]) -> Result<Option<Value>, Unavailable> {
    let [.., before, current] = revisions else { return Ok(None) };
    let schema =
        |revision: &Revision<'_>| revision.definition.get("inputSchema").cloned().unwrap_or_default();
    valued(&of_properties(&schema(before), &schema(current), current.confirmed)).map(Some)
}

fn valued(value: &impl serde::Serialize) -> Result<Value, Unavailable> {
    serde_json::to_value(value).map_err(|_| Unavailable::Invalid("it has no JSON form".to_owned()))
}
