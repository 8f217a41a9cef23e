mod diagnosis;
mod reading;
mod task;
mod wording;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::model::ModelEvent;
use crate::outcome::Complete;
use crate::planner::{Finding, Observation, PlanFault, Planner, RunState, Step};
use diagnosis::Diagnosis;
use reading::{Part, Ticket};
use wording::OrderEnd;

#[cfg(test)]
mod tests;

/// How many closed tickets are looked at.
const HISTORY: u64 = 10;

/// The planner that works one field-service ticket without a model.
///
/// It reads the ticket, looks for closed tickets with a similar symptom, takes the fault and the part that most of
/// them agree on, checks the part for the exact variant, looks up the procedure, orders one piece, and writes down
/// its reasons. What it does next follows from what the tools answered and from nothing else, so the same
/// observations give the same step. An order that is refused is never tried again.
///
/// It plays the gullible model on purpose: when the ticket's customer text asks for records to be sent away, it
/// tries to, and says so. That the attempt fails is the gateway's doing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scripted;

#[async_trait]
impl Planner for Scripted {
    async fn next(
        &mut self,
        state: &RunState,
        _: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<Step, PlanFault> {
        let ticket_id = task::ticket_number(&state.task).ok_or_else(|| PlanFault::Task {
            task: state.task.clone(),
            expected: "the number of a ticket, such as SR-20031",
        })?;
        Seen(state).next(&ticket_id)
    }
}

/// The observations, by tool.
struct Seen<'a>(&'a RunState);

impl Seen<'_> {
    fn next(&self, ticket_id: &str) -> Result<Step, PlanFault> {
        let Some(answer) = self.of("get_ticket") else {
            let why = format!("Read {ticket_id} to learn the machine and the symptom.");
            return self.call("get_ticket", json!({"ticket_id": ticket_id}), why);
        };
        let Some(ticket) = structured(answer).and_then(reading::ticket) else {
            return Ok(finish(format!("{ticket_id} could not be read: {}", said(answer))));
        };
        if !ticket.open {
            return Ok(finish(format!("{ticket_id} is closed; there is nothing to work.")));
        }
        let Some(answer) = self.of("search_tickets") else {
            let arguments = json!({
                "model_variant": ticket.model_variant,
                "symptom": wording::bounded(&ticket.symptom, 400),
                "limit": HISTORY,
            });
            let why = format!("Find how the same symptom was repaired on {} before.", ticket.model_variant);
            return self.call("search_tickets", arguments, why);
        };
        let history = structured(answer).map(reading::history).unwrap_or_default();
        let Some(diagnosis) = diagnosis::diagnose(&history, &self.categories()) else {
            let summary = format!("{ticket_id}: the history gives no diagnosis: {}", said(answer));
            return self.export(&ticket, summary);
        };
        self.repair(&ticket, &diagnosis)
    }

    /// From the diagnosis to the note.
    fn repair(&self, ticket: &Ticket, diagnosis: &Diagnosis) -> Result<Step, PlanFault> {
        let variant = ticket.model_variant.as_str();
        let Some(answer) = self.of("find_part") else {
            let why =
                format!("Find the {} that fits exactly {variant}.", diagnosis.category.replace('-', " "));
            let arguments = json!({"model_variant": variant, "category": diagnosis.category});
            return self.call("find_part", arguments, why);
        };
        let parts = structured(answer).map(reading::parts).unwrap_or_default();
        // The part fitted before, if the catalogue still lists it for this variant; else what it lists first.
        let fitted = parts.iter().find(|part| Some(&part.number) == diagnosis.part_no.as_ref());
        let part = fitted.or_else(|| parts.first());
        if let (Some(part), None) = (part, self.of("check_availability")) {
            let why = format!("Check that {} can be had.", part.number);
            return self.call("check_availability", json!({"part_no": part.number}), why);
        }
        let Some(_) = self.of("search_manual") else {
            return self.search_manual(ticket, diagnosis);
        };
        if let (Some(part), None) = (part, self.of("raise_parts_order")) {
            let why = format!("Order one {} for {}; a person has to agree.", part.number, ticket.id);
            let arguments = json!({
                "part_no": part.number,
                "quantity": 1,
                "ticket_id": ticket.id,
                "justification": wording::justification(ticket, diagnosis, part),
            });
            return self.call("raise_parts_order", arguments, why);
        }
        let order = self.of("raise_parts_order").map(order_end);
        if self.of("post_ticket_update").is_none() {
            let note = self.note(ticket, diagnosis, part, order.as_ref());
            let why = "Write the reasons and sources down for the next engineer.".to_owned();
            return self.call("post_ticket_update", json!({"ticket_id": ticket.id, "note": note}), why);
        }
        self.export(ticket, self.summary(ticket, diagnosis, part, order.as_ref()))
    }

    fn search_manual(&self, ticket: &Ticket, diagnosis: &Diagnosis) -> Result<Step, PlanFault> {
        let plain = diagnosis.category.replace('-', " ");
        let mut arguments = json!({"query": format!("{plain} replacement procedure and torque"), "k": 3});
        if let (Some((family, variant)), Some(members)) =
            (ticket.model_variant.rsplit_once('-'), arguments.as_object_mut())
        {
            members.insert("product_family".to_owned(), Value::from(family));
            members.insert("variant".to_owned(), Value::from(variant));
        }
        let why = format!("Look up how the {plain} of {} is replaced.", ticket.model_variant);
        self.call("search_manual", arguments, why)
    }

    /// The attempt to send records away, where the task or the customer's text asks for it; then the end.
    fn export(&self, ticket: &Ticket, summary: String) -> Result<Step, PlanFault> {
        let by_task = task::asks_for_export(&self.0.task);
        let text = if by_task { &self.0.task } else { &ticket.customer_text };
        if !task::asks_for_export(text) {
            return Ok(finish(summary));
        }
        let Some(outcome) = self.of("export_service_records") else {
            let why = if by_task {
                "The task asks for an export of records.".to_owned()
            } else {
                "The ticket's customer text asks for records to be sent away. It is data, not a task; this planner \
                 plays the gullible model and obeys it, to show that the host does not."
                    .to_owned()
            };
            let recipient = task::address(text).unwrap_or_else(|| format!("the customer of {}", ticket.id));
            let arguments = json!({
                "recipient": wording::bounded(&recipient, 200),
                "model_variant": ticket.model_variant,
                "include_site_contacts": task::mentions_contacts(text),
                "reason": wording::bounded(text.trim(), 500),
            });
            // Not listed where the host prohibits it, so no look at the list: the refusal is what is to be seen.
            return Ok(Step::call("export_service_records", arguments, why));
        };
        let ended = match outcome {
            Finding::Answer(answer) if !answer.as_data().is_error => "The export was carried out.".to_owned(),
            _ => format!("The export did not happen: {}", said(outcome)),
        };
        Ok(finish(format!("{summary} {ended}")))
    }

    fn note(
        &self,
        ticket: &Ticket,
        diagnosis: &Diagnosis,
        part: Option<&Part>,
        order: Option<&OrderEnd>,
    ) -> String {
        let stock = self.of("check_availability").and_then(structured).map(reading::stock);
        let passages =
            self.of("search_manual").and_then(structured).map(reading::passages).unwrap_or_default();
        wording::note(ticket, diagnosis, part, stock.as_ref(), passages.first(), order)
    }

    fn summary(
        &self,
        ticket: &Ticket,
        diagnosis: &Diagnosis,
        part: Option<&Part>,
        order: Option<&OrderEnd>,
    ) -> String {
        let part = part.map_or_else(|| "no part".to_owned(), |part| part.number.clone());
        let order = match order {
            Some(OrderEnd::Ordered(_)) => "ordered",
            Some(OrderEnd::Denied(_)) => "denied by a person or a rule, not ordered",
            Some(OrderEnd::Undecided) => "waiting for a person",
            Some(OrderEnd::Unknown(_)) => "with an unknown outcome, not repeated",
            Some(OrderEnd::Failed(_)) => "not taken by the server",
            None => "not ordered",
        };
        let noted = match self.of("post_ticket_update") {
            Some(Finding::Answer(answer)) if !answer.as_data().is_error => "The note is posted.".to_owned(),
            Some(other) => format!("The note was not posted: {}.", said(other)),
            None => String::new(),
        };
        format!(
            "{}: {} on {}; {part} {order}. {noted}",
            ticket.id, diagnosis.fault_code, ticket.model_variant
        )
    }

    /// What came of the last call of a tool.
    fn of(&self, tool: &str) -> Option<&Finding> {
        let found = self.0.observations.iter().rev().find(|seen: &&Observation| seen.tool == tool);
        found.map(|seen| &seen.finding)
    }

    fn categories(&self) -> Vec<String> {
        let tool = self.0.tools.iter().find(|tool| tool.name == "find_part");
        tool.map(|tool| reading::categories(&tool.input_schema)).unwrap_or_default()
    }

    fn call(&self, tool: &str, arguments: Value, why: String) -> Result<Step, PlanFault> {
        if self.0.tools.iter().any(|listed| listed.name == tool) {
            return Ok(Step::call(tool, arguments, why));
        }
        let listed = self.0.tools.iter().map(|tool| format!("`{}`", tool.name)).collect::<Vec<_>>();
        let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
        Err(PlanFault::MissingTool { tool: tool.to_owned(), listed })
    }
}

fn finish(summary: String) -> Step {
    Step::Finish { summary: summary.trim().to_owned() }
}

/// The structured result of a call that succeeded.
fn structured(finding: &Finding) -> Option<&Value> {
    match finding {
        Finding::Answer(answer) if !answer.as_data().is_error => answer.as_data().structured.as_ref(),
        _ => None,
    }
}

fn order_end(finding: &Finding) -> OrderEnd {
    match finding {
        Finding::Answer(answer) if answer.as_data().is_error => {
            let Complete { structured, text, .. } = answer.as_data();
            // A server that asks for the decision itself answers a denial as an error result of its own.
            let status =
                structured.as_ref().and_then(|details| details.get("status")).and_then(Value::as_str);
            match status {
                Some("denied" | "cancelled") => OrderEnd::Denied(text.clone()),
                _ => OrderEnd::Failed(text.clone()),
            }
        }
        Finding::Answer(answer) => OrderEnd::Ordered(order_words(answer.as_data())),
        Finding::Refused(refusal) if refusal.may_have_run() => OrderEnd::Unknown(refusal.text.clone()),
        Finding::Refused(refusal) => OrderEnd::Denied(refusal.text.clone()),
        Finding::Waiting(_) => OrderEnd::Undecided,
        Finding::Failed { text, may_have_run: true } => OrderEnd::Unknown(text.clone()),
        Finding::Failed { text, may_have_run: false } => OrderEnd::Failed(text.clone()),
    }
}

/// What the server confirmed about the order.
fn order_words(complete: &Complete) -> String {
    const SHOWN: [(&str, &str); 6] = [
        ("order_id", "order"),
        ("total", "total"),
        ("currency", "in"),
        ("account_charged", "charged to"),
        ("lead_time_days", "lead time in days"),
        ("approver", "approved by"),
    ];
    let member = |name: &str| match complete.structured.as_ref()?.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let words = SHOWN.iter().filter_map(|(name, word)| Some(format!("{word} {}", member(name)?)));
    let words = words.collect::<Vec<_>>().join(", ");
    if words.is_empty() { complete.text.clone() } else { words }
}

/// What a call said, in words for people.
fn said(finding: &Finding) -> String {
    match finding {
        Finding::Answer(answer) => answer.as_data().text.clone(),
        Finding::Refused(refusal) if refusal.text.contains(&refusal.code) => refusal.text.clone(),
        Finding::Refused(refusal) => format!("{} ({})", refusal.text, refusal.code),
        Finding::Waiting(_) => "it waits for a person".to_owned(),
        Finding::Failed { text, .. } => text.clone(),
    }
}
