//! Ruling on a subscription, and opening it: what is honoured is what the policies allow and the upstreams take on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use aldgate_authority::{Action, Principal, Question, Ruling, Target, Uri, Verdict};
use aldgate_identity::Scopes;
use aldgate_identity::scopes::TOOLS_READ;
use aldgate_wire::list::ListKind;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::{ListChange, Lists, Seat, Wanted};
use crate::catalog::{Answer, Resource, listed};
use crate::gate::Gate;
use crate::permit::WatchPermit;
use crate::refusal::Refusal;
use crate::rule::word;
use crate::scope::{self, covers, of_reading};
use crate::snapshot::Snapshot;
use crate::trail::Trail;
use crate::upstream::Watched;

/// How long the upstreams may take to take on the resources that a client subscribes to. A client may wait for the
/// acknowledgement no longer than for any answer.
const TAKEN_ON_WITHIN: Duration = Duration::from_secs(5);
/// What was refused that one row of evidence names.
const TOLD: usize = 16;

/// A subscription that is open; its first event is the acknowledgement.
pub(crate) struct Opened {
    pub(crate) seat: Seat,
    pub(crate) view: View,
    /// What is honoured.
    pub(crate) honoured: Wanted,
    /// What the credentials may be used for.
    pub(crate) scopes: Arc<Scopes>,
}

/// What a subscription sees: it is made anew when the configuration is.
pub(crate) struct View {
    pub(crate) snapshot: Arc<Snapshot>,
    /// The lists that may be listened to.
    pub(crate) lists: Lists,
    /// The resources, each listened to while this is held.
    pub(crate) held: BTreeMap<String, Held>,
    pub(crate) digests: Digests,
}

/// One resource that is listened to.
pub(crate) struct Held {
    watched: Watched,
    resource: Arc<Resource>,
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
    let (most, each) = (bounds.listens, bounds.listens_per_principal);
    let seat = gate.listeners.take(&principal.entity_id(), most, each)?;
    // Looked at once there is a seat, which whoever closes the gateway ends: none is left between the two.
    if *gate.closing.borrow() {
        return Err(Refusal::busy("the gateway stops; listen again at another one, or later"));
    }
    let snapshot = trail.snapshot.clone();
    let (mut view, mut refused) = view(&snapshot, &principal, &trail.scopes, &wanted, &seat);
    let until = tokio::time::Instant::now() + TAKEN_ON_WITHIN;
    let mut not_taken_on = Vec::new();
    for (uri, held) in std::mem::take(&mut view.held) {
        let taken = tokio::time::timeout_at(until, held.watched.taken_on()).await;
        // By now the upstream was compared, or could not be.
        match (taken, held.refusal()) {
            (Ok(true), None) => {
                view.held.insert(uri, held);
            }
            (_, Some(refusal)) => refused.add(&uri, refusal),
            (Ok(false) | Err(_), None) => not_taken_on.push(uri),
        }
    }
    let honoured = Wanted { lists: view.lists, uris: view.held.keys().cloned().collect() };
    let nothing = wanted.any() && !honoured.any();
    let first = if !nothing {
        None
    } else if refused.lacks.is_empty() {
        refused.first.take()
    } else {
        // A client can go and ask for them, all at once.
        let lacks: Vec<_> = refused.lacks.iter().map(String::as_str).collect();
        Some(scope::lacking(gate, trail, &lacks.join(" ")))
    };
    trail.ruling = Some(word(if first.is_some() { Verdict::Prohibited } else { Verdict::Automatic }));
    let explanation = json!({
        "honoured": honoured.as_filter(),
        "not_permitted": refused.explained(),
        "not_taken_on": shortened(not_taken_on.iter().map(String::as_str)),
    });
    trail.explanation = to_raw_value(&explanation).ok().map(Arc::from);
    match first {
        Some(refusal) => Err(refusal),
        None => {
            let answer = Answer(honoured.as_filter().to_string().into());
            Ok((Opened { seat, view, honoured, scopes: trail.scopes.clone() }, answer))
        }
    }
}

/// What somebody may not listen to: the first refusal, and what the evidence says of all.
#[derive(Default)]
pub(super) struct Refused {
    first: Option<Refusal>,
    /// The scopes that would be needed.
    pub(super) lacks: BTreeSet<String>,
    what: Vec<serde_json::Value>,
    more: usize,
}

impl Refused {
    fn add(&mut self, what: &str, refusal: Refusal) {
        self.note(json!({"what": cut(what), "code": refusal.code(), "rule": refusal.rule()}));
        self.first.get_or_insert(refusal);
    }

    fn lacks(&mut self, what: &str, scope: &str) {
        self.note(json!({"what": cut(what), "code": "AG-SCOPE", "scope": scope}));
        self.lacks.insert(scope.to_owned());
    }

    fn note(&mut self, said: serde_json::Value) {
        if self.what.len() < TOLD {
            self.what.push(said);
        } else {
            self.more += 1;
        }
    }

    /// Whether anything was refused.
    pub(super) fn any(&self) -> bool {
        !self.what.is_empty()
    }

    fn explained(&self) -> serde_json::Value {
        json!({"these": self.what, "and_more": self.more})
    }
}

/// What a peer named, cut to what fits in a row.
fn cut(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

fn shortened<'a>(texts: impl ExactSizeIterator<Item = &'a str>) -> serde_json::Value {
    let count = texts.len();
    json!({"these": texts.take(TOLD).map(cut).collect::<Vec<_>>(), "and_more": count.saturating_sub(TOLD)})
}

/// What a principal may hear of what it wants, under this configuration.
pub(super) fn view(
    snapshot: &Arc<Snapshot>,
    principal: &Principal,
    scopes: &Scopes,
    wanted: &Wanted,
    seat: &Seat,
) -> (View, Refused) {
    let mut refused = Refused::default();
    let mut lists = wanted.lists;
    if lists.any() && !covers(scopes, TOOLS_READ) {
        lists = Lists::default();
        refused.lacks("lists", TOOLS_READ);
    }
    if lists.any() {
        let ruling = rule_lists(snapshot, principal);
        if ruling.verdict() != Verdict::Automatic {
            lists = Lists::default();
            refused.add("lists", Refusal::ruled(&ruling));
        }
    }
    let mut held = BTreeMap::new();
    for uri in &wanted.uris {
        let found = find(snapshot, &principal.tenant, uri);
        let needs = found.as_ref().map_or(TOOLS_READ, |resource| of_reading(&resource.offer.entry));
        if !covers(scopes, needs) {
            refused.lacks(uri, needs);
            continue;
        }
        match found.and_then(|resource| hold(snapshot, principal, uri, resource, seat)) {
            Ok(kept) => {
                held.insert(uri.clone(), kept);
            }
            Err(refusal) => refused.add(uri, refusal),
        }
    }
    let digests = Digests::of(snapshot, principal, lists);
    (View { snapshot: snapshot.clone(), lists, held, digests }, refused)
}

fn find(snapshot: &Snapshot, tenant: &str, uri: &str) -> Result<Arc<Resource>, Refusal> {
    let parsed = Uri::parse(uri).map_err(|fault| Refusal::resource_uri(uri, &fault))?;
    let found = snapshot.catalog.resource(tenant, snapshot.authorizer.registry(), &parsed);
    found.ok_or_else(|| Refusal::unknown_resource(uri))
}

/// Has one resource listened to, where that is permitted.
fn hold(
    snapshot: &Snapshot,
    principal: &Principal,
    uri: &str,
    resource: Arc<Resource>,
    seat: &Seat,
) -> Result<Held, Refusal> {
    let offer = &resource.offer;
    let permit = WatchPermit::rule(snapshot, principal, offer, uri)?;
    let watched = offer.source.watch.want(permit, seat).ok_or_else(|| {
        let message = format!(
            "upstream `{}` is listened to for as many resources as may be; end another subscription first",
            offer.source.upstream.name()
        );
        Refusal::too_many("AG-BUSY-UPSTREAM", message)
    })?;
    Ok(Held { watched, resource })
}

impl Held {
    /// Whether its contract is not the pinned one any more.
    pub(super) fn is_changed(&self) -> bool {
        self.resource.offer.change().is_some()
    }

    /// Why the resource is not listened to now, though it is permitted: nothing is known of its contract, or that is not the
    /// pinned one any more.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let offer = &self.resource.offer;
        if let Some(what) = offer.change() {
            return Some(Refusal::changed(&offer.visible, &what));
        }
        let upstream = offer.source.upstream.name();
        (!offer.source.is_current()).then(|| {
            let message =
                format!("upstream `{upstream}` could not be asked for its contracts; try again later");
            Refusal::upstream("AG-UPSTREAM-UNREACHABLE", message)
        })
    }
}

/// Whether a principal may hear of a part of something that it subscribed to.
pub(super) fn may_hear(snapshot: &Snapshot, principal: &Principal, scopes: &Scopes, part: &str) -> bool {
    find(snapshot, &principal.tenant, part).is_ok_and(|resource| {
        covers(scopes, of_reading(&resource.offer.entry))
            && WatchPermit::rule(snapshot, principal, &resource.offer, part).is_ok()
    })
}

fn rule_lists(snapshot: &Snapshot, principal: &Principal) -> Ruling {
    snapshot.authorizer.rule(&Question {
        principal,
        action: Action::Listen,
        target: Target::Gateway,
        uri: None,
        arguments: None,
        argument: None,
        input_responses: None,
        client: &principal.client,
    })
}
