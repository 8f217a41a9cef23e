//! The seventh step: the upstream is called, under a permit that is used up by it.
//!
//! There are three ways to an upstream: [`crate::Gate::dispatch`], which takes a [`crate::Permit`] by value; [`Upstream::fetch`],
//! which takes a [`HostFetch`] and carries nothing of a client; and the one stream on which it tells of changes
//! ([`keep_listening`]), which carries of clients only the URIs that [`Watch::want`] took permits for.

mod answer;
mod caller;
mod dispatch;
mod error;
mod exchange;
mod fetched;
mod hidden;
mod listening;
mod notices;
mod patience;
mod relay;
mod result;
mod shown;
mod watch;

use std::sync::atomic::{AtomicU64, Ordering};

use aldgate_identity::client::upstream::{Caller, CredentialFault};
use aldgate_telemetry::TraceParent;
use aldgate_telemetry::attributes::Way;
use aldgate_wire::code;
use aldgate_wire::outbound::{self, OutboundCall};
use aldgate_wire::request::Method;
use aldgate_wire::response::Answer;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::catalog::HostFetch;
use crate::receive::VERSIONS;
use crate::settings::{Bounds, Credential, Transport};
use exchange::{Outgoing, Wire};
use patience::Patience;

pub(crate) use caller::named;
pub(crate) use dispatch::Ended;
pub use dispatch::Outcome;
pub use exchange::{ExchangeFault, TransportFault};
pub(crate) use fetched::{Abilities, Fetched};
pub(crate) use listening::keep_listening;
pub(crate) use watch::{Watch, Watched};

/// One upstream server.
pub(crate) struct Upstream {
    name: String,
    endpoint: String,
    wire: Wire,
    /// Host and port, where it is reached over HTTP.
    address: Option<(String, u16)>,
    next_id: AtomicU64,
}

impl Upstream {
    /// An upstream that is reached in this way.
    pub(crate) fn new(
        name: &str,
        transport: Transport,
        credential: &Credential,
    ) -> Result<Self, TransportFault> {
        let address = match &transport {
            Transport::Http(uri) => uri.host().map(|host| (host.to_owned(), uri.port_u16().unwrap_or(80))),
            Transport::InProcess(..) => None,
        };
        let endpoint = match &transport {
            Transport::Http(uri) => uri.to_string(),
            Transport::InProcess(_, path) => format!("inproc:{path}"),
        };
        Ok(Self {
            name: name.to_owned(),
            endpoint,
            wire: Wire::new(transport, credential)?,
            address,
            next_id: AtomicU64::new(1),
        })
    }

    /// The host's name of it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where it is: its URL, or `inproc:` and a path.
    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// How it is reached.
    pub(crate) fn way(&self) -> Way {
        if self.address.is_some() { Way::Http } else { Way::Inproc }
    }

    /// Host and port, where it is reached over HTTP.
    pub(crate) fn address(&self) -> Option<(&str, u16)> {
        self.address.as_ref().map(|(host, port)| (host.as_str(), *port))
    }

    /// What an approval is bound to: name and endpoint.
    pub(crate) fn identity(&self) -> String {
        format!("{} {}", self.name, self.endpoint)
    }

    /// Whether the gateway shows the same credential there with requests of its own: what contracts were compared with.
    pub(crate) fn shows_the_same_as(&self, other: &Self) -> bool {
        self.wire.shown().is_same(other.wire.shown())
    }

    /// Whether each caller has a credential of its own there.
    pub(crate) fn is_of_callers(&self) -> bool {
        self.wire.shown().is_of_callers()
    }

    /// Whether there is a credential for this caller.
    async fn look(&self, caller: &Caller) -> Result<(), CredentialFault> {
        self.wire.shown().look(caller).await
    }

    fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes a request on the gateway's own behalf. One that is refused for its version, by a server that says in the
    /// same breath that it speaks it, is made once more (basic/versioning).
    pub(crate) async fn fetch(&self, fetch: HostFetch, bounds: &Bounds) -> Result<Fetched, ExchangeFault> {
        let mut answer = self.ask(&fetch, bounds).await?;
        if refuses_its_own_version(&answer) {
            answer = self.ask(&fetch, bounds).await?;
        }
        Ok(Fetched::new(answer))
    }

    /// A request of the gateway's own: its id, body and headers.
    fn own_request(
        &self,
        method: Method,
        cursor: Option<&str>,
        members: outbound::Members<'_>,
    ) -> Result<(u64, Vec<u8>, HeaderMap), ExchangeFault> {
        let id = self.new_id();
        let (capabilities, client_info) = (raw("{}")?, client_info()?);
        // Comparing contracts and listening go on all the time; traces are of what somebody did.
        let traceparent = TraceParent::unkept().to_header();
        let call = OutboundCall {
            id,
            method,
            name: None,
            arguments: None,
            input_responses: None,
            request_state: None,
            cursor,
            capabilities,
            client_info,
            log_level: None,
            progress_token: None,
            traceparent: Some(&traceparent),
            tracestate: None,
            extra_meta: &[],
            version: VERSIONS.first().copied().unwrap_or_default(),
        };
        Ok((id, call.body_with(members), call.headers(&[])))
    }

    async fn ask(&self, fetch: &HostFetch, bounds: &Bounds) -> Result<Answer, ExchangeFault> {
        let (id, body, headers) = self.own_request(fetch.method(), fetch.cursor(), &[])?;
        let mut patience = Patience::new(bounds.call_timeout, bounds.longest_call);
        let most = bounds.response_bytes;
        let message = Outgoing { body, headers, id, whose: shown::Whose::Gateway };
        self.wire.exchange(message, most, &mut patience, None).await
    }
}

/// Whether a server refuses the version that it was asked in and names it among those that it supports. That is a reason
/// to ask again, which a call never has: who calls decides about that.
fn refuses_its_own_version(answer: &Answer) -> bool {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let Answer::Error { code: code::UNSUPPORTED_PROTOCOL_VERSION, data: Some(data), .. } = answer else {
        return false;
    };
    let supported = serde_json::from_str::<Data>(data.get()).map(|data| data.supported).unwrap_or_default();
    supported.iter().any(|version| VERSIONS.first().is_some_and(|asked| asked == version))
}

fn raw(text: &str) -> Result<&RawValue, ExchangeFault> {
    serde_json::from_str(text).map_err(ExchangeFault::Request)
}

/// What the gateway says of itself to upstreams.
fn client_info() -> Result<&'static RawValue, ExchangeFault> {
    raw(concat!(r#"{"name":"aldgate","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#))
}
