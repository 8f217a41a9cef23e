//! What the protocol asks of a server, as far as no other test shows it.

use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call, Reply};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::rounds::{question, relaying};
use crate::world::{World, code, text, token};

const TEXT: &str = r#"{"text":"t"}"#;

/// Whether a key of `_meta` is named as the protocol wants it (basic/index#meta), and with a prefix.
fn is_well_named(key: &str) -> bool {
    let Some((prefix, name)) = key.split_once('/') else { return false };
    let ends = |part: &str| {
        let edges = [part.chars().next(), part.chars().last()];
        edges.iter().all(|edge| edge.is_some_and(|letter| letter.is_ascii_alphanumeric()))
    };
    let label = |part: &str| {
        ends(part)
            && part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    let named = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    prefix.split('.').all(label) && ends(name) && named
}

#[tokio::test]
async fn every_result_says_its_kind_and_whose_it_is() {
    let world = World::start(relaying).await;
    world.up.does("note", Behaviour::asking(question(), "never"));
    let order = Call::tool("order", r#"{"item":"bolts"}"#);
    for (what, call, kind) in [
        ("discovery", Call::method("server/discover"), "complete"),
        ("a list", Call::method("tools/list"), "complete"),
        ("a tool's result", Call::tool("look", TEXT), "complete"),
        ("a refusal", Call::tool("look", "{}"), "complete"),
        ("an approval that is asked for", order.clone(), "complete"),
        ("a notice of one", order.with_forms(), "input_required"),
        ("an upstream's question", Call::tool("note", TEXT).with_forms(), "input_required"),
    ] {
        let result = world.send(&call).await.result().unwrap();
        assert_eq!(result["resultType"], kind, "{what}: {result}");
        let meta = result["_meta"].as_object().unwrap();
        assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["name"], "aldgate", "{what}: {result}");
        assert!(meta.keys().all(|key| is_well_named(key)), "{what}: {meta:?}");
    }
}

#[tokio::test]
async fn what_may_be_kept_says_for_how_long_and_for_whom() {
    let world = World::plain().await;
    for (method, scope) in [("server/discover", "public"), ("tools/list", "private")] {
        let result = world.send(&Call::method(method)).await.result().unwrap();
        assert!(result["ttlMs"].is_u64(), "{method}: {result}");
        assert_eq!(result["cacheScope"], scope, "{method}");
    }
    // What was kept ready for one principal is not given to another.
    let nothing = world.client("approver").send(&Call::method("tools/list")).await.unwrap();
    assert_eq!(nothing.result().unwrap()["tools"], json!([]));
    let result = world.call("look", TEXT).await.result().unwrap();
    assert!(result.get("ttlMs").is_none() && result.get("cacheScope").is_none(), "{result}");
}

/// One connection that stays open.
struct Connection {
    requests: SendRequest<Full<Bytes>>,
    host: String,
}

impl Connection {
    async fn open(world: &World) -> Self {
        let stream = TcpStream::connect(world.agents()).await.unwrap();
        let (requests, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self { requests, host: world.agents().to_string() }
    }

    async fn send(&mut self, who: Option<&str>, method: &str, name: Option<&str>, call: &Call) -> Reply {
        let mut request = Request::post("/mcp")
            .header("host", &self.host)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        if let Some(who) = who {
            request = request.header("authorization", format!("Bearer {}", token(who)));
        }
        self.requests.ready().await.unwrap();
        let request = request.body(Full::new(Bytes::from(call.text()))).unwrap();
        let (head, body) = self.requests.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: head.status.as_u16(), headers: head.headers, body }
    }
}

#[tokio::test]
async fn no_request_knows_what_an_earlier_one_of_its_connection_said() {
    let world = World::start(relaying).await;
    world.up.does("look", Behaviour::asking(question(), "never"));
    let mut connection = Connection::open(&world).await;
    let look = Call::tool("look", TEXT);
    let (list, called) = (Call::method("tools/list"), "tools/call");
    let listed = connection.send(Some("agent"), "tools/list", None, &list).await;
    assert_ne!(listed.result().unwrap()["tools"], json!([]));
    let asked = connection.send(Some("agent"), called, Some("look"), &look.clone().with_forms()).await;
    assert_eq!(asked.result().unwrap()["resultType"], "input_required");
    let silent = connection.send(Some("agent"), called, Some("look"), &look).await;
    assert_eq!(code(&silent), "AG-UPSTREAM-ASKS", "forms were declared before, and not now");
    let unnamed = look.clone().meta("io.modelcontextprotocol/protocolVersion", Value::Null);
    let unnamed = connection.send(Some("agent"), called, Some("look"), &unnamed).await;
    assert_eq!((unnamed.status, code(&unnamed).as_str()), (400, "AG-WIRE-META"));
    let nobody = connection.send(None, called, Some("look"), &look).await;
    assert_eq!((nobody.status, code(&nobody).as_str()), (401, "AG-IDENTITY"));
    let other = connection.send(Some("approver"), "tools/list", None, &list).await;
    assert_eq!(other.result().unwrap()["tools"], json!([]), "another principal on the same connection");
}

#[tokio::test]
async fn the_list_is_the_same_whatever_went_before() {
    let world = World::plain().await;
    let list = Call::method("tools/list");
    let first = world.send(&list).await.result().unwrap();
    world.call("note", TEXT).await;
    world.call("nothing", "{}").await;
    let mut connection = Connection::open(&world).await;
    for _ in 0..2 {
        let again = connection.send(Some("agent"), "tools/list", None, &list).await.result().unwrap();
        assert_eq!(again["tools"], first["tools"], "another connection, after calls");
    }
    let declaring = list.declaring(json!({"sampling": {}, "roots": {}}));
    assert_eq!(world.send(&declaring).await.result().unwrap()["tools"], first["tools"]);
}

#[tokio::test]
async fn sessions_and_event_ids_of_older_revisions_mean_nothing() {
    let world = World::plain().await;
    let look = Call::tool("look", TEXT).header("mcp-session-id", "s-1").header("last-event-id", "7");
    for call in [look, Call::method("server/discover").header("mcp-session-id", "s-2")] {
        let reply = world.send(&call).await;
        assert_eq!((reply.status, code(&reply).as_str()), (200, "-"), "{}", reply.text());
        assert!(!reply.headers.contains_key("mcp-session-id"), "{:?}", reply.headers);
    }
}

#[tokio::test]
async fn an_extension_that_only_the_client_has_changes_nothing() {
    let world = World::plain().await;
    let extensions = json!({"extensions": {"io.modelcontextprotocol/tasks": {}, "com.example/x": {}}});
    let reply = world.send(&Call::tool("look", TEXT).declaring(extensions)).await;
    assert_eq!(text(&reply), "done");
    let seen = world.up.calls("look").remove(0);
    assert_eq!(seen.meta("io.modelcontextprotocol/clientCapabilities"), Some(&json!({})), "not passed on");
}

#[tokio::test]
async fn a_capability_that_an_upstream_needs_is_named_where_the_client_lacks_it() {
    let world = World::start(|config| config.up().may_ask = vec![MayAsk::Sampling]).await;
    let needs = |capability: &str| {
        let data = json!({"requiredCapabilities": {capability: {}}});
        let error = json!({"code": -32021, "message": "needs it", "data": data});
        Behaviour::Json { status: 400, body: format!(r#"{{"jsonrpc":"2.0","id":%ID%,"error":{error}}}"#) }
    };
    world.up.does("look", needs("sampling"));
    let lacking = world.call("look", TEXT).await;
    let error = lacking.error().unwrap();
    assert_eq!((lacking.status, &error["code"]), (400, &json!(-32021)), "{error}");
    assert_eq!(error["data"]["requiredCapabilities"], json!({"sampling": {}}), "{error}");
    // The client has this one, and the host keeps it from the upstream: that is the host's doing.
    world.up.does("look", needs("elicitation"));
    let withheld = world.send(&Call::tool("look", TEXT).with_forms()).await;
    assert_eq!((withheld.status, code(&withheld).as_str()), (200, "AG-UPSTREAM-ASKS"), "{}", withheld.text());
}

#[tokio::test]
async fn an_upstreams_headers_stay_with_it() {
    let world = World::plain().await;
    let marked = |status: u16| {
        let body = r#"{"jsonrpc":"2.0","id":%ID%,"result":{"resultType":"complete","content":[]}}"#;
        let headers = [
            ("content-type", "application/json"),
            ("set-cookie", "marked=1"),
            ("www-authenticate", r#"Bearer resource_metadata="http://marked.example/""#),
            ("mcp-session-id", "marked"),
            ("x-marked", "1"),
        ];
        let headers = headers.map(|(name, value)| (name, value.to_owned())).to_vec();
        Behaviour::Http { status, headers, body: Bytes::from_static(body.as_bytes()) }
    };
    for (status, expected) in [(200, "-"), (401, "AG-UPSTREAM-CREDENTIAL"), (403, "AG-UPSTREAM-CREDENTIAL")] {
        world.up.does("look", marked(status));
        let reply = world.call("look", TEXT).await;
        assert_eq!((reply.status, code(&reply).as_str()), (200, expected), "{status}: {}", reply.text());
        assert!(!format!("{:?}", reply.headers).contains("marked"), "{status}: {:?}", reply.headers);
        assert!(!reply.headers.contains_key("www-authenticate"), "{status}");
        assert!(!reply.text().contains("marked"), "{status}: {}", reply.text());
    }
}
