//! Ruling on a subscription, and opening it: what is honoured is what the policies allow and the upstreams take on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use aldgate_authority::{Action, Principal, Question, Ruling, Target, Uri, Verdict};
use aldgate_wire::list::ListKind;
use serde_json::json;

use super::{ListChange, Lists, Seat, Wanted};
use crate::catalog::{Answer, Offer, listed};
use crate::gate::Gate;
use crate::permit::WatchPermit;
use crate::refusal::Refusal;
use crate::rule::word;
use crate::snapshot::Snapshot;
use crate::trail::Trail;
use crate::upstream::Watched;

/// How long the upstreams may take to take on the resources that a client subscribes to. A client may wait for the
/// acknowledgement no longer than for any answer.
const TAKEN_ON_WITHIN: Duration = Duration::from_secs(5);

/// A subscription that is open; its first event is the acknowledgement.
pub(crate) struct Opened {
    pub(crate) seat: Seat,
    pub(crate) view: View,
    /// What is honoured.
    pub(crate) honoured: Wanted,
}

/// What a subscription sees: it is made anew when the configuration is.
pub(crate) struct View {
    pub(crate) snapshot: Arc<Snapshot>,
    /// The lists that may be listened to.
    pub(crate) lists: Lists,
    /// The resources, each kept on by its upstream while this is.
    pub(crate) watched: BTreeMap<String, Watched>,
    pub(crate) digests: Digests,
}

/// Numbers that differ where the lists do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digests([u64; 3]);

impl Digests {
    /// Of the lists that are wanted, as they are now.
    pub(crate) fn of(snapshot: &Snapshot, principal: &Principal, lists: Lists) -> Self {
        Self(ListChange::ALL.map(|list| {
            if !lists.has(list) {
                return 0;
            }
            kinds(list)
                .iter()
                .fold(0, |sum: u64, kind| sum.rotate_left(1) ^ listed(snapshot, principal, *kind).digest)
        }))
    }

    /// The lists that differ.
    pub(crate) fn differing(&self, other: &Self) -> impl Iterator<Item = ListChange> {
        let pairs = self.0.iter().zip(&other.0).zip(ListChange::ALL);
        pairs.filter(|((one, two), _)| one != two).map(|(_, list)| list).collect::<Vec<_>>().into_iter()
    }
}

/// The lists whose changes are told as one.
pub(super) fn kinds(list: ListChange) -> &'static [ListKind] {
    match list {
        ListChange::Tools => &[ListKind::Tools],
        ListChange::Prompts => &[ListKind::Prompts],
        ListChange::Resources => &[ListKind::Resources, ListKind::Templates],
    }
}

/// Opens a subscription: rules on all that is wanted, has the upstreams take on the resources, and says what is honoured.
pub(crate) async fn open(
    gate: &Gate,
    trail: &mut Trail,
    wanted: Wanted,
) -> Result<(Opened, Answer), Refusal> {
    let principal =
        trail.principal.clone().ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))?;
    let bounds = &gate.settings.bounds;
    if *gate.closing.borrow() {
        return Err(Refusal::busy("the gateway stops; listen again at another one, or later"));
    }
    let (most, each) = (bounds.listens, bounds.listens_per_principal);
    let seat = gate.listeners.take(&principal.entity_id(), most, each)?;
    let snapshot = trail.snapshot.clone();
    let (view, refused) = view(&snapshot, &principal, &wanted, &seat);
    let asked = wanted.lists.any() || !wanted.uris.is_empty();
    if asked && !view.lists.any() && view.watched.is_empty() {
        trail.ruling = Some(word(Verdict::Prohibited));
        trail.explanation = Some(refused.explained());
        return Err(Refusal::prohibited(refused.code, refused.rule));
    }
    // What is not permitted of it stands beside.
    trail.ruling = Some(word(Verdict::Automatic));
    let until = tokio::time::Instant::now() + TAKEN_ON_WITHIN;
    let mut uris = BTreeSet::new();
    for (uri, watched) in &view.watched {
        if tokio::time::timeout_at(until, watched.taken_on()).await == Ok(true) {
            uris.insert(uri.clone());
        }
    }
    let honoured = Wanted { lists: view.lists, uris };
    trail.explanation = Some(json!({
        "honoured": honoured.as_filter(),
        "not_permitted": refused.explained(),
        "not_taken_on": view.watched.keys().filter(|uri| !honoured.uris.contains(*uri)).collect::<Vec<_>>(),
    }));
    let mut view = view;
    view.watched.retain(|uri, _| honoured.uris.contains(uri));
    let answer = Answer(honoured.as_filter().to_string().into());
    Ok((Opened { seat, view, honoured }, answer))
}

/// What the policies do not let somebody listen to.
pub(super) struct Refused {
    code: &'static str,
    rule: &'static str,
    what: Vec<serde_json::Value>,
}

impl Refused {
    fn add(&mut self, what: &str, code: &'static str, rule: &'static str) {
        if self.what.is_empty() {
            (self.code, self.rule) = (code, rule);
        }
        self.what.push(json!({"what": what, "code": code, "rule": rule}));
    }

    fn explained(&self) -> serde_json::Value {
        json!(self.what)
    }
}

/// What a principal may hear of what it wants, under this configuration.
pub(super) fn view(
    snapshot: &Arc<Snapshot>,
    principal: &Principal,
    wanted: &Wanted,
    seat: &Seat,
) -> (View, Refused) {
    let mut refused = Refused { code: "AG-PROHIBITED", rule: "registry.missing", what: Vec::new() };
    let mut lists = wanted.lists;
    if lists.any() {
        let ruling = rule(snapshot, principal, Target::Gateway, None);
        if ruling.verdict() != Verdict::Automatic {
            lists = Lists::default();
            refused.add("lists", ruling.code().unwrap_or("AG-PROHIBITED"), ruling.rule());
        }
    }
    let mut watched = BTreeMap::new();
    for uri in &wanted.uris {
        let registry = snapshot.authorizer.registry();
        let found = Uri::parse(uri).ok().and_then(|uri| snapshot.catalog.resource(registry, &uri));
        let Some(resource) = found else {
            refused.add(uri, "AG-RESOURCE-UNKNOWN", "registry.missing");
            continue;
        };
        let offer = &resource.offer;
        let ruling = rule(snapshot, principal, offer.item().into(), Some(uri));
        match WatchPermit::of(&ruling, offer, uri) {
            Some(permit) if may_watch(offer) => {
                if let Some(kept) = offer.source.watch.want(permit, &seat.listener) {
                    watched.insert(uri.clone(), kept);
                } else {
                    refused.add(uri, "AG-BUSY-UPSTREAM", "limits");
                }
            }
            Some(_) => refused.add(uri, "AG-CONTRACT-CHANGED", "contract"),
            None => {
                refused.add(uri, ruling.code().unwrap_or("AG-PROHIBITED"), ruling.rule());
            }
        }
    }
    let digests = Digests::of(snapshot, principal, lists);
    (View { snapshot: snapshot.clone(), lists, watched, digests }, refused)
}

/// A template that is not the pinned one any more is not listened to.
fn may_watch(offer: &Offer) -> bool {
    !offer.differs(&offer.source.standing.load())
}

fn rule(snapshot: &Snapshot, principal: &Principal, target: Target<'_>, uri: Option<&str>) -> Ruling {
    snapshot.authorizer.rule(&Question {
        principal,
        action: Action::Listen,
        target,
        uri,
        arguments: None,
        argument: None,
        input_responses: None,
        client: &principal.client,
    })
}
