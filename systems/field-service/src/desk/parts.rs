//! Parts catalogue and ordering.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::{Answer, Call, Caller, Desk, DeskFault, Features, flag, icon, integer, refused, text};
use crate::contracts::ServerContract;
use crate::hub::Hub;
use crate::order::{Binding, Decision, Form, Seal, ask, read};
use crate::store::{CURRENCY, NewOrder, Part, Spent, Store, TicketStatus, money};

const ORDER_TOOL: &str = "raise_parts_order";
const BAD_STATE: &str = "`requestState` is not one that this server gave for this caller and these arguments, or it has \
     expired or was used; call again without it to ask for a new decision";

/// The server of the parts catalogue.
pub(crate) struct Parts {
    pub(crate) contract: ServerContract,
    pub(crate) store: Arc<Store>,
    pub(crate) hub: Hub,
    pub(crate) seal: Seal,
    pub(crate) model_variants: Vec<String>,
}

/// An order that could be raised, with everything that the person is shown.
struct Draft {
    part: Part,
    quantity: i64,
    ticket_id: String,
    account_no: String,
    customer: String,
    justification: String,
}

#[async_trait]
impl Desk for Parts {
    fn contract(&self) -> &ServerContract {
        &self.contract
    }

    fn features(&self) -> Features {
        Features { resources: false, prompts: false }
    }

    fn instructions(&self) -> &'static str {
        "Spare parts by exact model variant. Orders cost money and wait for the decision of a person."
    }

    fn icon(&self) -> Value {
        icon("M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v4M12 18v4M2 12h4M18 12h4")
    }

    fn hub(&self) -> &Hub {
        &self.hub
    }

    async fn call(&self, call: Call) -> Result<Answer, DeskFault> {
        match call.tool.as_str() {
            "find_part" => self.find(&call.arguments).await,
            "check_availability" => self.availability(&call.arguments).await,
            ORDER_TOOL => self.order(&call).await,
            other => Err(DeskFault::params(format!("unknown tool `{other}`, see tools/list"))),
        }
    }
}

impl Parts {
    async fn find(&self, arguments: &Map<String, Value>) -> Result<Answer, DeskFault> {
        let model_variant = text(arguments, "model_variant").unwrap_or_default();
        if !self.model_variants.iter().any(|known| known == model_variant) {
            return Ok(refused(format!(
                "no machine `{model_variant}` is known, expected one of {}",
                self.model_variants.join(", ")
            )));
        }
        let category = text(arguments, "category").unwrap_or_default();
        let parts =
            self.store.fitting_parts(model_variant, category, flag(arguments, "in_stock_only")).await?;
        Ok(Answer::Done(json!({ "count": parts.len(), "parts": parts })))
    }

    async fn availability(&self, arguments: &Map<String, Value>) -> Result<Answer, DeskFault> {
        let part_no = text(arguments, "part_no").unwrap_or_default();
        let Some(part) = self.store.part(part_no).await? else { return Ok(unknown_part(part_no)) };
        Ok(Answer::Done(json!({
            "part_no": part.part_no,
            "description": part.description,
            "stock": part.stock,
            "lead_time_days": part.lead_time_days,
            "reserved": false,
        })))
    }

    async fn order(&self, call: &Call) -> Result<Answer, DeskFault> {
        let draft = match self.draft(&call.arguments).await? {
            Ok(draft) => draft,
            Err(reason) => return Ok(refused(reason)),
        };
        let terms = draft.terms();
        let binding = Binding {
            principal: &call.caller.principal,
            tool: ORDER_TOOL,
            arguments: &call.arguments,
            terms: &terms,
        };
        // Without a state there is nothing that an answer could belong to, so the person is asked.
        let Some(sealed) = &call.request_state else {
            let nonce = self.store.nonce().await?;
            return self.ask(&draft, &call.caller, &nonce, &binding, "");
        };
        let nonce = self.seal.open(sealed, &binding).map_err(|fault| {
            tracing::warn!(%fault, "order state refused");
            DeskFault::params(BAD_STATE)
        })?;
        if self.store.is_spent(&nonce).await? {
            return Err(DeskFault::params(BAD_STATE));
        }
        let form = read(call.input_responses.as_ref())
            .map_err(|fault| DeskFault::params(format!("the answer to the form is malformed: {fault}")))?;
        match form {
            Form::Missing => self.ask(&draft, &call.caller, &nonce, &binding, ""),
            Form::Nameless => {
                self.ask(&draft, &call.caller, &nonce, &binding, "A decision needs the approver's name. ")
            }
            Form::Decided(decision) if decision.approved => self.place(&draft, &nonce, &decision).await,
            Form::Decided(decision) => self.refuse(&draft, &nonce, "deny", Some(&decision)).await,
            Form::Declined => self.refuse(&draft, &nonce, "decline", None).await,
            Form::Cancelled => self.refuse(&draft, &nonce, "cancel", None).await,
        }
    }

    /// Checks what can be checked before a person is asked.
    async fn draft(&self, arguments: &Map<String, Value>) -> Result<Result<Draft, String>, DeskFault> {
        let part_no = text(arguments, "part_no").unwrap_or_default();
        let ticket_id = text(arguments, "ticket_id").unwrap_or_default();
        let Some(part) = self.store.part(part_no).await? else {
            return Ok(Err(format!("no part `{part_no}` exists, find the number with find_part")));
        };
        let Some(ticket) = self.store.ticket(ticket_id).await? else {
            return Ok(Err(format!("no ticket `{ticket_id}` exists, nothing was ordered")));
        };
        if ticket.status == TicketStatus::Closed {
            return Ok(Err(format!(
                "ticket `{ticket_id}` is closed, parts are ordered for open tickets only"
            )));
        }
        if !part.fits.contains(&ticket.model_variant) {
            return Ok(Err(format!(
                "part `{part_no}` does not fit {}, the machine of ticket {ticket_id}; it fits {}",
                ticket.model_variant,
                part.fits.join(", ")
            )));
        }
        Ok(Ok(Draft {
            part,
            quantity: integer(arguments, "quantity").unwrap_or(1),
            ticket_id: ticket.ticket_id,
            account_no: ticket.account_no,
            customer: ticket.customer,
            justification: text(arguments, "justification").unwrap_or_default().to_owned(),
        }))
    }

    fn ask(
        &self,
        draft: &Draft,
        caller: &Caller,
        nonce: &str,
        binding: &Binding<'_>,
        remark: &str,
    ) -> Result<Answer, DeskFault> {
        if !caller.shows_forms {
            return Err(DeskFault::NoForms);
        }
        let state = self.seal.seal(nonce, binding).map_err(|fault| {
            tracing::error!(%fault, "order state could not be sealed");
            DeskFault::params("the order cannot be prepared")
        })?;
        Ok(Answer::Ask(ask(&format!("{remark}{}", draft.question()), state)?))
    }

    async fn place(&self, draft: &Draft, nonce: &str, decision: &Decision) -> Result<Answer, DeskFault> {
        let order = NewOrder {
            part_no: &draft.part.part_no,
            quantity: draft.quantity,
            unit_price_cents: draft.part.price_cents,
            ticket_id: &draft.ticket_id,
            account_no: &draft.account_no,
            justification: &draft.justification,
            approver: &decision.approver,
            approver_note: &decision.note,
        };
        let now = OffsetDateTime::now_utc().unix_timestamp();
        match self.store.place_order(nonce, &order, now).await? {
            Spent::Now(placed) => {
                let mut order = draft.terms_shown();
                order.insert("order_id".to_owned(), placed.order_id.into());
                order.insert("status".to_owned(), "raised".into());
                order.insert("ordered_at".to_owned(), placed.ordered_at.into());
                order.insert("approver".to_owned(), decision.approver.clone().into());
                order.insert("approver_note".to_owned(), decision.note.clone().into());
                Ok(Answer::Done(Value::Object(order)))
            }
            Spent::Before => Err(DeskFault::params(BAD_STATE)),
            Spent::TicketClosed => {
                Ok(refused(format!("ticket `{}` was closed meanwhile, nothing was ordered", draft.ticket_id)))
            }
        }
    }

    async fn refuse(
        &self,
        draft: &Draft,
        nonce: &str,
        kind: &str,
        decision: Option<&Decision>,
    ) -> Result<Answer, DeskFault> {
        let now = OffsetDateTime::now_utc().unix_timestamp();
        match self.store.refuse_order(nonce, kind, now).await? {
            Spent::Before => return Err(DeskFault::params(BAD_STATE)),
            Spent::Now(()) | Spent::TicketClosed => {}
        }
        let who = decision.map_or("the person who was asked", |decision| decision.approver.as_str());
        let reason = match kind {
            "cancel" => "the form was closed without a decision; nothing was ordered".to_owned(),
            _ => format!(
                "the order was denied by {who}; nothing was ordered, and this decision is final for this call: do not \
                 retry and do not order another part instead"
            ),
        };
        let details = json!({
            "status": if kind == "cancel" { "cancelled" } else { "denied" },
            "part_no": draft.part.part_no,
            "ticket_id": draft.ticket_id,
            "approver": decision.map(|decision| &decision.approver),
            "approver_note": decision.map(|decision| &decision.note),
        });
        Ok(Answer::Refused { reason, details: Some(details) })
    }
}

impl Draft {
    fn total(&self) -> i64 {
        self.part.price_cents.saturating_mul(self.quantity)
    }

    fn terms(&self) -> String {
        format!("{} {} {}", self.part.price_cents, self.account_no, self.part.lead_time_days)
    }

    fn terms_shown(&self) -> Map<String, Value> {
        let terms = json!({
            "ticket_id": self.ticket_id,
            "part_no": self.part.part_no,
            "description": self.part.description,
            "quantity": self.quantity,
            "unit_price": self.part.price,
            "total": money(self.total()),
            "currency": CURRENCY,
            "account_charged": self.account_no,
            "customer": self.customer,
            "stock": self.part.stock,
            "lead_time_days": self.part.lead_time_days,
            "justification": self.justification,
        });
        terms.as_object().cloned().unwrap_or_default()
    }

    fn question(&self) -> String {
        let reason = if self.justification.is_empty() {
            String::new()
        } else {
            format!(" Justification given by the caller: \"{}\".", self.justification)
        };
        format!(
            "Raise an order of {} x {} ({}) for {} {}, charged to account {} of {}, for ticket {}? Stock {}, lead time \
             {} days.{reason} The order cannot be recalled.",
            self.quantity,
            self.part.part_no,
            self.part.description,
            CURRENCY,
            money(self.total()),
            self.account_no,
            self.customer,
            self.ticket_id,
            self.part.stock,
            self.part.lead_time_days,
        )
    }
}

fn unknown_part(part_no: &str) -> Answer {
    refused(format!("no part `{part_no}` exists, find the number with find_part"))
}
