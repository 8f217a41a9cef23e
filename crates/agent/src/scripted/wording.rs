//! The texts that the scripted planner writes: bounded as the contracts demand, with their sources.

use super::diagnosis::Diagnosis;
use super::reading::{Part, Passage, Stock, Ticket};

#[cfg(test)]
mod tests;

/// The contract's bound on `justification`, in characters.
const JUSTIFICATION: usize = 600;
/// The contract's bound on `note`, in characters.
const NOTE: usize = 2000;

/// How the order ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OrderEnd {
    /// The server's own words about the order that it took.
    Ordered(String),
    /// Refused by a person or by a rule: what was said.
    Denied(String),
    /// Nobody has decided yet.
    Undecided,
    /// The answer was lost: the order may exist.
    Unknown(String),
    /// The server could not take it.
    Failed(String),
}

pub(super) fn justification(ticket: &Ticket, diagnosis: &Diagnosis, part: &Part) -> String {
    let text = format!(
        "{} ({}): {} of {} similar closed tickets show {}{}, repaired with {} ({}). Sources: {}.",
        ticket.id,
        ticket.model_variant,
        diagnosis.agreeing,
        diagnosis.found,
        diagnosis.fault_code,
        diagnosis.fault.as_ref().map(|fault| format!(" ({fault})")).unwrap_or_default(),
        part.number,
        part.description.as_deref().unwrap_or(&diagnosis.category),
        some(&diagnosis.sources),
    );
    bounded(&text, JUSTIFICATION)
}

pub(super) fn note(
    ticket: &Ticket,
    diagnosis: &Diagnosis,
    part: Option<&Part>,
    stock: Option<&Stock>,
    passage: Option<&Passage>,
    order: Option<&OrderEnd>,
) -> String {
    let mut lines = vec![format!(
        "Diagnosis {}{} for {}: {} of {} similar closed tickets of this variant agree ({}).",
        diagnosis.fault_code,
        diagnosis.fault.as_ref().map(|fault| format!(", {fault}")).unwrap_or_default(),
        ticket.model_variant,
        diagnosis.agreeing,
        diagnosis.found,
        some(&diagnosis.sources),
    )];
    match part {
        Some(part) => lines.push(format!(
            "Part: {} ({}), listed for exactly {}{}.",
            part.number,
            part.description.as_deref().unwrap_or(&diagnosis.category),
            ticket.model_variant,
            stock.map(in_words).unwrap_or_default(),
        )),
        None => lines.push(format!(
            "No catalogue part of category {} is listed for exactly {}.",
            diagnosis.category, ticket.model_variant
        )),
    }
    lines.extend(order.map(|order| match order {
        OrderEnd::Ordered(said) => format!("Order raised for 1 piece, approved by a person: {said}"),
        OrderEnd::Denied(said) => {
            format!("The parts order was denied and nothing was ordered ({said}). Not tried again.")
        }
        OrderEnd::Undecided => {
            "The parts order still waits for a person; nothing was ordered yet.".to_owned()
        }
        OrderEnd::Unknown(said) => {
            format!(
                "The answer to the parts order was lost ({said}); check the orders before ordering again."
            )
        }
        OrderEnd::Failed(said) => format!("The parts order was not taken: {said}"),
    }));
    lines.extend(diagnosis.minutes.map(|minutes| format!("Earlier repairs took about {minutes} minutes.")));
    lines.extend(passage.map(|passage| format!("Procedure ({}): {}", passage.source, passage.text)));
    bounded(&lines.join("\n"), NOTE)
}

fn in_words(stock: &Stock) -> String {
    let quantity = stock.quantity.map(|quantity| format!(", {quantity} in stock"));
    let lead = stock.lead_time_days.map(|days| format!(", lead time {days} days"));
    [quantity, lead].into_iter().flatten().collect()
}

fn some(sources: &[String]) -> String {
    let shown = sources.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    if sources.len() > 5 { format!("{shown} and others") } else { shown }
}

/// At most `limit` characters, with a mark where something was cut.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}
