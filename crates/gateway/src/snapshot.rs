//! One snapshot of the configuration: what a request sees does not change under it, however long it takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_authority::{
    Action, Aliases, Authorizer, PolicySet, Principal, Question, Registry, Ruling, Uri, Verdict, implied,
};
use aldgate_contract::signature::Keyring;
use aldgate_contract::{Lock, UpstreamIdentity};
use aldgate_evidence::Recorder;
use aldgate_identity::Authenticator;
use aldgate_store::Store;
use async_trait::async_trait;
use tokio::task::AbortHandle;

use crate::catalog::{
    Asking, Catalog, DriftLog, Opened, Source, Stand, Standing, Target, Watched, keep_verifying, live_list,
};
use crate::clock;
use crate::gateway::StartFault;
use crate::kept::{Kept, Key, Reasoned};
use crate::listen::Listeners;
use crate::review::authorizer;
use crate::settings::{Pins, Settings, Signatures, UpstreamSettings};
use crate::upstream::{Upstream, keep_listening};

/// How long a start or a reload waits for the upstreams to be compared.
const FIRST_COMPARISON: std::time::Duration = std::time::Duration::from_secs(2);

/// What can be changed while the gateway runs.
pub struct Configured {
    /// The upstreams.
    pub upstreams: Vec<UpstreamSettings>,
    /// The host's registry.
    pub registry: Registry,
    /// The host's policies.
    pub policies: PolicySet,
    /// Who calls.
    pub identity: Arc<dyn Authenticator>,
    /// Which principals are one person.
    pub aliases: Aliases,
    /// The issuers whose tokens are taken, which the metadata of the gateway's doors name (RFC 9728 §2). Where there is
    /// none, nobody is sent to one.
    pub issuers: Vec<String>,
    /// Every tenant that there is.
    pub tenants: BTreeSet<String>,
    /// Whose signatures of contracts count.
    pub signatures: Signatures,
}

/// Where every configuration keeps what becomes of contracts.
pub(crate) struct Books {
    pub(crate) store: Arc<Store>,
    pub(crate) recorder: Recorder,
}

/// Where a running gateway reads its configuration again.
#[async_trait]
pub trait ConfigurationSource: Send + Sync {
    /// The configuration as it is now.
    ///
    /// # Errors
    /// In words for an operator, where it cannot be used; then the gateway goes on with the one that it has.
    async fn read(&self) -> Result<Configured, String>;
}

/// A configuration that is in use.
pub(crate) struct Snapshot {
    pub(crate) catalog: Catalog,
    pub(crate) authorizer: Authorizer,
    pub(crate) identity: Arc<dyn Authenticator>,
    pub(crate) issuers: Vec<String>,
    pub(crate) keyring: Keyring,
    kept: Kept,
    tasks: Vec<AbortHandle>,
}

impl Snapshot {
    /// Builds the catalogue and begins to compare live contracts with their locks.
    pub(crate) async fn build(
        configured: Configured,
        settings: &Settings,
        listeners: &Arc<Listeners>,
        books: &Books,
        before: Option<&Self>,
    ) -> Result<Self, StartFault> {
        let Configured { upstreams, registry, policies, identity, aliases, issuers, tenants, signatures } =
            configured;
        let log = DriftLog::new(books.store.clone(), books.recorder.clone(), tenants, settings.violations);
        let mut sources = Vec::with_capacity(upstreams.len());
        let mut opened = Vec::new();
        let mut strict = true;
        for one in upstreams {
            strict &= matches!(one.pins, Pins::Locked(_));
            let prefix = one.prefix.clone();
            let (source, found) = source(one, settings, listeners, &log, before).await?;
            opened.extend(found.map(|(found, log)| (source.lock.clone(), log, found)));
            sources.push((source, prefix));
        }
        let catalog = Catalog::build(sources, &registry, &signatures, strict)?;
        let authorizer = authorizer(&catalog, registry, policies)?.with_aliases(aliases);
        // Everything fits together: from here on the locks are in use.
        for (lock, log, opened) in &opened {
            let name = || lock.upstream.name.clone();
            log.used(lock, opened).await.map_err(|source| StartFault::Drift { name: name(), source })?;
        }
        let known: Vec<u64> = catalog.sources.iter().map(|source| source.stand.comparisons()).collect();
        let tasks = catalog.sources.iter().flat_map(|source| {
            let comparing = tokio::spawn(keep_verifying(source.clone(), settings.bounds.clone()));
            let listening = tokio::spawn(keep_listening(source.clone()));
            [comparing.abort_handle(), listening.abort_handle()]
        });
        let snapshot = Self {
            tasks: tasks.collect(),
            kept: Kept::default(),
            catalog,
            authorizer,
            identity,
            issuers,
            keyring: signatures.keyring,
        };
        // Lists are whole from the first request on where the upstreams answer in time; nobody waits for one that does not.
        let compared = snapshot
            .catalog
            .sources
            .iter()
            .zip(known)
            .map(|(source, known)| source.stand.compared_after(known));
        let _ = tokio::time::timeout(FIRST_COMPARISON, futures::future::join_all(compared)).await;
        Ok(snapshot)
    }

    /// Rules on a request. Where its URI is one that several entries stand for, each is ruled on, and the strictest ruling
    /// holds: a policy on one of them is not passed by in the name of another.
    pub(crate) fn rule(&self, question: &Question<'_>) -> Ruling {
        let mut strictest = self.authorizer.rule(question);
        let located = matches!(question.action, Action::Read | Action::Listen);
        let Some(uri) = question.uri.filter(|_| located).and_then(|uri| Uri::parse(uri).ok()) else {
            return strictest;
        };
        let registry = self.authorizer.registry();
        for found in self.catalog.matching(&question.principal.tenant, registry, &uri) {
            let key = format!("{}/{}", found.upstream, found.template);
            let Some(resource) = self.catalog.resource_named(&key) else { continue };
            let target = resource.offer.item().into();
            if target == question.target {
                continue;
            }
            let ruling = self.authorizer.rule(&Question { target, ..*question });
            if severity(&ruling) > severity(&strictest) {
                strictest = ruling;
            }
        }
        strictest
    }

    /// Rules on a request about `target`, or takes the ruling that is kept where nothing else can have come out.
    pub(crate) fn reasoned(
        &self,
        principal: &Arc<Principal>,
        question: &Question<'_>,
        target: &Target,
    ) -> Arc<Reasoned> {
        let offer = target.offer();
        let key =
            Key { principal: principal.clone(), action: question.action, concern: offer.concern.clone() };
        if let Some(kept) = self.kept.get(&key) {
            return kept;
        }
        let ruling = self.rule(question);
        let reasoned = Arc::new(Reasoned::new(match target.hints() {
            Some(hints) => ruling.with_implied(implied(hints)),
            None => ruling,
        }));
        // A resource is ruled on by its URI too.
        let keeps = matches!(question.action, Action::Call | Action::GetPrompt);
        if keeps && !self.authorizer.reads_context(&offer.item(), question.action) {
            self.kept.keep(key, &reasoned);
        }
        reasoned
    }

    /// Stops comparing and listening; requests that still hold the snapshot compare at need.
    pub(crate) fn retire(&self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// The stricter, the more.
fn severity(ruling: &Ruling) -> u8 {
    match ruling.verdict() {
        Verdict::Automatic => 0,
        Verdict::RequiresApproval => 1,
        Verdict::Prohibited => 2,
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.retire();
    }
}

async fn source(
    one: UpstreamSettings,
    settings: &Settings,
    listeners: &Arc<Listeners>,
    log: &DriftLog,
    before: Option<&Snapshot>,
) -> Result<(Source, Option<(Opened, DriftLog)>), StartFault> {
    let name = one.name;
    let log = log.of_tenants(one.tenants.as_ref());
    let upstream = Upstream::new(&name, one.transport, &one.credential)
        .map_err(|source| StartFault::Upstream { name: name.clone(), source })?;
    let mut known = before.iter().flat_map(|before| &before.catalog.sources);
    let earlier = known.find(|source| source.upstream.identity() == upstream.identity());
    let reviewed = matches!(one.pins, Pins::Locked(_));
    let (lock, stand, opened) = match one.pins {
        Pins::Locked(lock) if lock.upstream.name != name => {
            return Err(StartFault::OtherLock { name, found: lock.upstream.name });
        }
        Pins::Locked(lock) => {
            let same = earlier.filter(|source| source.lock.to_pretty_json() == lock.to_pretty_json());
            if let Some(same) = same {
                let stand = if same.upstream.shows_the_same_as(&upstream) {
                    same.stand.clone()
                } else {
                    // A server may show each credential something else. What is quarantined stays, and nothing is called
                    // before it is compared.
                    let standing = same.standing();
                    Stand::of(standing.carried(standing.drifts.as_ref().clone()))
                };
                (lock, stand, None)
            } else {
                let opened = log.open(&lock).await;
                let mut opened = opened.map_err(|source| StartFault::Drift { name: name.clone(), source })?;
                let drifts = std::mem::take(&mut opened.drifts);
                let standing = match earlier {
                    Some(source) => source.standing().carried(drifts),
                    None => Standing::unknown(drifts),
                };
                (lock, Stand::of(standing), Some(opened))
            }
        }
        Pins::FirstUse => {
            let begun = clock::now();
            let mut live = live_list(&upstream, &settings.bounds)
                .await
                .map_err(|source| StartFault::FirstUse { name: name.clone(), source })?;
            for unreadable in &live.unreadable {
                tracing::warn!(upstream = name, unreadable, "something that it lists was left out");
            }
            let identity = UpstreamIdentity {
                name: name.clone(),
                endpoint: upstream.endpoint().to_owned(),
                server: live.server.clone(),
            };
            // One definition that cannot be pinned does not keep the others from being served.
            for left_out in live.leave_out_unfit() {
                tracing::warn!(upstream = name, left_out, "something that cannot be pinned was left out");
            }
            let lock = Lock::pin(identity, live.as_live(), &clock::rfc3339(clock::now()))
                .map_err(|source| StartFault::Pin { name: name.clone(), source })?;
            let standing = Standing::found(&lock, live, begun, &Standing::default()).numbered();
            (lock, Stand::of(standing), None)
        }
    };
    let opened = opened.map(|opened| (opened, log.clone()));
    let mut source = Source::new(
        upstream,
        Asking { kinds: one.may_ask, origins: one.ask_origins },
        lock,
        stand,
        Watched { verify_every: one.verify_every, on_drift: one.on_drift, log: Some(log), reviewed },
        settings.bounds.in_flight_per_upstream,
        listeners.clone(),
    );
    source.tenants = one.tenants;
    source.inherited = earlier.map(|earlier| earlier.watch.uris()).unwrap_or_default();
    Ok((source, opened))
}
