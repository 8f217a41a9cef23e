//! The permit: the one thing that a dispatch takes, and the ways to get one.
//!
//! **Invariant:** a [`Permit`] has private fields, is not `Clone`, owns upstream, name and argument bytes, and is made in
//! this file alone: from a ruling and an intent that was recorded, or from a redemption that the store has committed.

use aldgate_approval::Decision;
use aldgate_authority::{Action, Principal, Question, Verdict};
use aldgate_store::Redeemed;
use aldgate_wire::request::{Method, RequestMeta};
use http::{HeaderName, HeaderValue};
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use crate::catalog::{Completion, Offer, Progress, Target};
use crate::record::Intent;
use crate::refusal::Refusal;
use crate::rule::Ruled;
use crate::snapshot::Snapshot;

/// Permission to make exactly one request of an upstream, with exactly these bytes. Nothing outside of the gateway can make one, nothing
/// can copy one, and [`crate::Gate::dispatch`] takes it by value.
#[must_use = "a permit that is not dispatched was given for nothing"]
pub struct Permit {
    spent: Spent,
}

/// What a permit allowed, once it is used up.
pub(crate) struct Spent {
    pub(crate) target: Target,
    pub(crate) method: Method,
    /// What the client named: a visible name, or a URI.
    pub(crate) named: String,
    pub(crate) arguments: Option<Box<RawValue>>,
    pub(crate) upstream_state: Option<String>,
    pub(crate) responses: Option<Box<RawValue>>,
    /// Answers that came with the first request, to questions that may yet be asked.
    pub(crate) early: Option<Box<RawValue>>,
    /// The approval that was redeemed for this call, in this round or an earlier one.
    pub(crate) approval: Option<String>,
    /// The decision that it rests on, where one was redeemed in this round.
    pub(crate) decision: Option<Decision>,
    pub(crate) meta: RequestMeta,
    /// What is to be completed.
    pub(crate) completion: Option<Completion>,
    /// `Mcp-Param-*` of the pinned contract.
    pub(crate) params: Vec<(HeaderName, HeaderValue)>,
    /// `Mcp-Param-*` that are only passed on.
    pub(crate) passed: Vec<(HeaderName, HeaderValue)>,
    /// The upstream's place, given back when the call has ended.
    _place: OwnedSemaphorePermit,
}

impl Spent {
    /// What the request is about.
    pub(crate) fn offer(&self) -> &Offer {
        self.target.offer()
    }

    /// What a caller is told of the approval when the call failed.
    pub(crate) fn used_up(&self) -> String {
        let burnt = self.decision.as_ref().and(self.approval.as_ref());
        burnt
            .map(|id| format!(" (approval `{id}` is used up; repeat the call to ask anew)"))
            .unwrap_or_default()
    }
}

impl Permit {
    /// For a call that runs by itself.
    pub(crate) fn automatic(
        ruled: Ruled,
        _recorded: Intent,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, Refusal> {
        match (ruled.ruling.verdict(), &ruled.call.progress) {
            (Verdict::Automatic, Progress::Fresh | Progress::Waiting { .. }) => Ok(Self::of(ruled, place)),
            _ => Err(Refusal::host("AG-INTERNAL", "a permit was asked for without a ruling that gives one")),
        }
    }

    /// For a later round of a call, automatic or approved in its first round.
    pub(crate) fn next_round(
        ruled: Ruled,
        _recorded: Intent,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, Refusal> {
        match (ruled.ruling.verdict(), &ruled.call.progress) {
            (Verdict::Automatic, Progress::Round { .. })
            | (Verdict::RequiresApproval, Progress::Round { approval: Some(_), .. }) => {
                let permit = Self::of(ruled, place);
                Ok(if permit.spent.approval.is_some() { permit.exactly() } else { permit })
            }
            _ => Err(Refusal::host("AG-INTERNAL", "a permit was asked for without a ruling that gives one")),
        }
    }

    /// For a call that a person approved: the store took the approval for it.
    pub(crate) fn redeemed(ruled: Ruled, redeemed: Redeemed, place: OwnedSemaphorePermit) -> Self {
        let (approval, decision) = redeemed.into_parts();
        let mut permit = Self::of(ruled, place).exactly();
        permit.spent.approval = Some(approval);
        permit.spent.decision = Some(decision);
        permit
    }

    /// The same without what the person did not see: headers and `_meta` members that are only passed on.
    fn exactly(mut self) -> Self {
        self.spent.early = None;
        self.spent.passed.clear();
        self.spent.meta.other.clear();
        self.spent.meta.tracestate = None;
        self
    }

    fn of(ruled: Ruled, place: OwnedSemaphorePermit) -> Self {
        let call = *ruled.call;
        let early = match call.progress {
            Progress::Fresh => call.request.params.input_responses,
            Progress::Waiting { .. } | Progress::Round { .. } => None,
        };
        let (upstream_state, responses, approval) = match call.progress {
            Progress::Round { upstream_state, responses, approval } => (upstream_state, responses, approval),
            Progress::Fresh | Progress::Waiting { .. } => (None, None, None),
        };
        let spent = Spent {
            target: call.target,
            method: call.request.method,
            named: call.named,
            arguments: call.request.params.arguments,
            upstream_state,
            responses,
            early,
            approval,
            decision: None,
            meta: call.request.meta,
            completion: call.completion,
            params: call.params,
            passed: call.passed,
            _place: place,
        };
        Self { spent }
    }

    /// Uses the permit up.
    pub(crate) fn spend(self) -> Spent {
        self.spent
    }
}

/// Permission to hear of changes of exactly one resource. `Watch::want` takes it by value.
pub(crate) struct WatchPermit {
    uri: String,
}

impl WatchPermit {
    /// Rules on listening to this URI. Nobody is asked: it is permitted by itself or not at all.
    pub(crate) fn rule(
        snapshot: &Snapshot,
        principal: &Principal,
        offer: &Offer,
        uri: &str,
    ) -> Result<Self, Refusal> {
        let ruling = snapshot.rule(&Question {
            principal,
            action: Action::Listen,
            target: offer.item().into(),
            uri: Some(uri),
            arguments: None,
            argument: None,
            input_responses: None,
            client: &principal.client,
        });
        match ruling.verdict() {
            Verdict::Automatic => Ok(Self { uri: uri.to_owned() }),
            Verdict::RequiresApproval | Verdict::Prohibited => Err(Refusal::ruled(&ruling)),
        }
    }

    /// Uses the permit up.
    pub(crate) fn spend(self) -> String {
        self.uri
    }
}
