//! What is known of a request while it travels; evidence and reply are made of it.

use std::borrow::Cow;
use std::sync::Arc;

use aldgate_approval::CallId;
use aldgate_authority::Principal;
use aldgate_evidence::{Digests, Kind, Queued, Row};
use aldgate_identity::Scopes;
use aldgate_identity::client::upstream::Caller;
use aldgate_wire::request::RequestId;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use tokio::sync::OwnedSemaphorePermit;

use crate::catalog::Target;
use crate::clock;
use crate::observe::{self, Seen};
use crate::snapshot::Snapshot;

/// The trail of one request. Each step of the journey adds what it settled.
pub struct Trail {
    /// The configuration that the request goes by.
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) call: CallId,
    pub(crate) round: u32,
    pub(crate) principal: Option<Arc<Principal>>,
    /// What the principal's credentials may be used for.
    pub(crate) scopes: Arc<Scopes>,
    /// From when on the principal's credentials are good no more.
    pub(crate) expires_at: Option<OffsetDateTime>,
    /// Whom the upstream is called for, where each caller has a credential of its own there.
    pub(crate) caller: Option<Box<Caller>>,
    pub(crate) request_id: Option<RequestId>,
    pub(crate) method: Option<&'static str>,
    pub(crate) tool: Option<Arc<str>>,
    pub(crate) contract: Option<Arc<str>>,
    pub(crate) contract_version: Option<u32>,
    pub(crate) ruling: Option<&'static str>,
    pub(crate) explanation: Option<Arc<RawValue>>,
    pub(crate) approval: Option<String>,
    pub(crate) arguments: Option<String>,
    pub(crate) responses: Option<String>,
    /// The span of this request, as a `traceparent`.
    pub(crate) trace: Option<String>,
    /// What traces and metrics learn of it.
    pub(crate) seen: Seen,
    pub(crate) digests: Digests,
    /// The principal's place; kept until the request has ended.
    pub(crate) place: Option<OwnedSemaphorePermit>,
    /// Whether an intent was written, so that what follows is its outcome.
    pub(crate) intended: bool,
    /// The intent of a call that changes nothing, whose commit is waited for together with the outcome's.
    pub(crate) queued: Option<Queued>,
}

impl Trail {
    /// The trail of a request that has just arrived.
    pub(crate) fn begin(snapshot: Arc<Snapshot>) -> Result<Self, clock::NoRandomness> {
        let random: [u8; 26] = clock::random()?;
        let of_call = random.first_chunk().ok_or(clock::NoRandomness)?;
        let key = random.last_chunk().ok_or(clock::NoRandomness)?;
        Ok(Self {
            snapshot,
            call: CallId::at(clock::now(), *of_call),
            round: 0,
            principal: None,
            scopes: Arc::default(),
            expires_at: None,
            caller: None,
            request_id: None,
            method: None,
            tool: None,
            contract: None,
            contract_version: None,
            ruling: None,
            explanation: None,
            approval: None,
            arguments: None,
            responses: None,
            trace: None,
            seen: Seen::begin(),
            digests: Digests::new(*key),
            place: None,
            intended: false,
            queued: None,
        })
    }

    /// What the request turned out to be about, and its arguments.
    pub(crate) fn about(&mut self, target: &Target, arguments: Option<&RawValue>) {
        let offer = target.offer();
        self.tool = Some(offer.concern.clone());
        self.contract = Some(offer.contract.clone()).filter(|digest| !digest.is_empty());
        self.contract_version = offer.version;
        self.arguments = Some(self.digests.of(arguments.map_or("{}", RawValue::get).as_bytes()));
        observe::resolved(self, target, arguments);
    }

    /// A row of evidence with all that is known so far; `None` while nobody knows who called.
    pub(crate) fn row(&self, kind: Kind) -> Option<Row> {
        let principal = self.principal.clone()?;
        let mut row = Row::new(kind, clock::now(), self.call.clone(), principal, self.method.unwrap_or(""));
        row.round = self.round;
        row.tool.clone_from(&self.tool);
        row.contract.clone_from(&self.contract);
        row.contract_version = self.contract_version;
        row.ruling = self.ruling.map(Cow::Borrowed);
        row.approval.clone_from(&self.approval);
        row.arguments.clone_from(&self.arguments);
        row.responses.clone_from(&self.responses);
        row.trace.clone_from(&self.trace);
        // The reasons stand in the row that the ruling led to; the outcome refers to it by the call id.
        if kind != Kind::Outcome {
            row.explanation.clone_from(&self.explanation);
        }
        Some(row)
    }
}
