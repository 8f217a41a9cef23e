//! What the HTTP transport demands, asked of each of the three servers in raw requests.

use aldgate_field_service::{Access, ServerName};
use serde_json::{Value, json};

use crate::site::{VERSION, headers, raw, sample, send_with, start, start_with, with, without};

#[tokio::test]
async fn the_router_serves_inside_the_process_too() {
    use tower::ServiceExt as _;
    let site = start().await;
    let body = sample(ServerName::Tickets);
    let mut request = http::Request::post("/tickets/mcp");
    for (name, value) in headers(&body) {
        request = request.header(name, value);
    }
    let request = request.body(axum::body::Body::from(body.to_string())).unwrap();
    let response = site.service.router().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let answer: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["ticket_id"], json!("SR-20031"));
}

#[tokio::test]
async fn only_post_is_served() {
    let site = start().await;
    for server in ServerName::ALL {
        for method in ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"] {
            let reply = raw(site.address, &format!("{method} /{server}/mcp"), &[], b"").await;
            assert_eq!(reply.status, 405, "{method}");
            assert!(reply.head.to_lowercase().contains("allow: post"), "{}", reply.head);
        }
    }
}

#[tokio::test]
async fn accept_must_list_both_media_types() {
    let site = start().await;
    for server in ServerName::ALL {
        for accept in
            ["application/json", "text/event-stream", "*/*", "application/json, text/event-stream;q=0"]
        {
            let reply = send_with(&site, server, |head| with(head, "Accept", accept)).await;
            assert_eq!(reply.status, 406, "{accept}");
        }
        let reply = send_with(&site, server, |head| without(head, "Accept")).await;
        assert_eq!(reply.status, 406);
        let accept = "text/event-stream;q=0.5,  application/json; charset=utf-8";
        assert_eq!(send_with(&site, server, |head| with(head, "Accept", accept)).await.status, 200);
        let reply = send_with(&site, server, |head| with(head, "Content-Type", "text/plain")).await;
        assert_eq!(reply.status, 415);
        let reply = send_with(&site, server, |head| with(head, "Content-Encoding", "gzip")).await;
        assert_eq!(reply.status, 415);
    }
}

#[tokio::test]
async fn mirrored_headers_must_equal_the_body() {
    let site = start().await;
    for server in ServerName::ALL {
        for name in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"] {
            let reply = send_with(&site, server, |head| without(head, name)).await;
            assert_eq!((reply.status, reply.code()), (400, -32020), "{name} missing");
            let reply = send_with(&site, server, |head| with(head, name, "other")).await;
            assert_eq!((reply.status, reply.code()), (400, -32020), "{name} differs");
            let reply = send_with(&site, server, |head| {
                let mut twice = head.to_vec();
                twice.extend(head.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).cloned());
                twice
            })
            .await;
            assert_eq!((reply.status, reply.code()), (400, -32020), "{name} repeated");
            assert_eq!(reply.json()["id"], json!("call-1"));
        }
        // The value of a header is case-sensitive, its name is not, and its base64 form is decoded.
        let reply = send_with(&site, server, |head| with(head, "Mcp-Method", "TOOLS/CALL")).await;
        assert_eq!(reply.code(), -32020);
        let reply = send_with(&site, server, |head| {
            head.iter().map(|(name, value)| (name.to_uppercase(), value.clone())).collect()
        })
        .await;
        assert_eq!(reply.status, 200);
        let encoded = match server {
            ServerName::Tickets => "=?base64?Z2V0X3RpY2tldA==?=",
            ServerName::Parts => "=?base64?Y2hlY2tfYXZhaWxhYmlsaXR5?=",
            ServerName::Manuals => "=?base64?c2VhcmNoX21hbnVhbA==?=",
        };
        assert_eq!(send_with(&site, server, |head| with(head, "Mcp-Name", encoded)).await.status, 200);
        let reply = send_with(&site, server, |head| with(head, "Mcp-Name", "=?base64?!!!?=")).await;
        assert_eq!(reply.code(), -32020);
    }
}

#[tokio::test]
async fn another_version_is_refused_with_those_supported() {
    let site = start().await;
    for server in ServerName::ALL {
        for version in ["2025-11-25", "2099-01-01"] {
            let mut body = sample(server);
            body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
            let head = with(&headers(&body), "MCP-Protocol-Version", version);
            let reply = site.post(server, &head, body.to_string().as_bytes()).await;
            assert_eq!((reply.status, reply.code()), (400, -32022));
            assert_eq!(
                reply.json()["error"]["data"],
                json!({ "supported": [VERSION], "requested": version })
            );
        }
    }
}

#[tokio::test]
async fn foreign_origins_and_hosts_are_forbidden() {
    let site = start().await;
    for server in ServerName::ALL {
        for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://localhost"] {
            let reply = send_with(&site, server, |head| with(head, "Origin", origin)).await;
            assert_eq!(reply.status, 403, "{origin}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:80", "localhost.", "[::2]:80"] {
            let reply = send_with(&site, server, |head| with(head, "Host", host)).await;
            assert_eq!(reply.status, 403, "{host}");
        }
        for origin in ["http://localhost:5173", "http://127.0.0.1", "https://[::1]:8443"] {
            assert_eq!(
                send_with(&site, server, |head| with(head, "Origin", origin)).await.status,
                200,
                "{origin}"
            );
        }
        for host in ["localhost", "127.0.0.1:1", "[::1]:80", "LOCALHOST:80"] {
            assert_eq!(send_with(&site, server, |head| with(head, "Host", host)).await.status, 200, "{host}");
        }
        let reply = raw(
            site.address,
            &format!("GET /{server}/mcp"),
            &[("Origin".into(), "https://evil.example".into())],
            b"",
        )
        .await;
        assert_eq!(reply.status, 403, "Origin is checked on every connection");
    }
    let allowed = site.service.clone().allow(["gw.example".to_owned()], ["https://gw.example".to_owned()]);
    let address = crate::site::serve(allowed.router()).await;
    let body = sample(ServerName::Parts);
    let head = with(&with(&headers(&body), "Host", "gw.example:8080"), "Origin", "https://gw.example");
    let reply = raw(address, "POST /parts/mcp", &head, body.to_string().as_bytes()).await;
    assert_eq!(reply.status, 200, "{reply:?}");
}

#[tokio::test]
async fn broken_json_and_wrong_shapes_have_codes_of_their_own() {
    let site = start().await;
    for server in ServerName::ALL {
        let head = headers(&sample(server));
        for body in ["{", "", "nope", "{\"jsonrpc\":\"2.0\",}"] {
            let reply = site.post(server, &head, body.as_bytes()).await;
            assert_eq!((reply.status, reply.code()), (400, -32700), "{body}");
        }
        let call = sample(server);
        let mut changed = Vec::new();
        for (member, value) in [
            ("jsonrpc", json!("1.0")),
            ("id", json!(null)),
            ("id", json!(1.5)),
            ("id", json!({})),
            ("method", json!(1)),
            ("params", json!([])),
        ] {
            let mut body = call.clone();
            body[member] = value;
            changed.push(body);
        }
        changed.push(json!([call]));
        changed.push(json!("text"));
        changed.push(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        for body in changed {
            let reply = site.post(server, &head, body.to_string().as_bytes()).await;
            assert_eq!((reply.status, reply.code()), (400, -32600), "{body}");
        }
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {} });
        let reply = site.post(server, &head, notification.to_string().as_bytes()).await;
        assert_eq!((reply.status, reply.body.as_str()), (202, ""));
        let long =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "x", "params": { "a": "b".repeat(300_000) } });
        assert_eq!(site.post(server, &head, long.to_string().as_bytes()).await.status, 413);
    }
}

#[tokio::test]
async fn the_secret_is_demanded_where_one_is_set() {
    let site = start_with(Access::Bearer("s3cret".to_owned())).await;
    for server in ServerName::ALL {
        for wrong in [
            None,
            Some("Bearer wrong"),
            Some("Basic s3cret"),
            Some("Bearer "),
            Some("s3cret"),
            Some("Bearer s3crets"),
        ] {
            let reply = send_with(&site, server, |head| match wrong {
                None => head.to_vec(),
                Some(value) => with(head, "Authorization", value),
            })
            .await;
            assert_eq!(reply.status, 401, "{wrong:?}");
            assert!(reply.head.to_lowercase().contains("www-authenticate: bearer"));
        }
        let reply = send_with(&site, server, |head| with(head, "Authorization", "Bearer s3cret")).await;
        assert_eq!(reply.status, 200);
    }
}

#[tokio::test]
async fn one_server_alone_is_at_mcp() {
    let site = start().await;
    for server in ServerName::ALL {
        let address = crate::site::serve(site.service.server(server)).await;
        let body = sample(server);
        let reply = raw(address, "POST /mcp", &headers(&body), body.to_string().as_bytes()).await;
        assert_eq!(reply.status, 200);
        assert_eq!(raw(address, "POST /other", &headers(&body), b"{}").await.status, 404);
    }
}
