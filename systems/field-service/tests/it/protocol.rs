//! What the protocol demands, asked of each of the three servers in raw requests.

use aldgate_field_service::ServerName;
use serde_json::{Value, json};

use crate::site::{VERSION, headers, meta, request, sample, send_with, start, with, without};

#[tokio::test]
async fn no_session_and_no_handshake() {
    let site = start().await;
    for server in ServerName::ALL {
        let reply = send_with(&site, server, |head| with(head, "Mcp-Session-Id", "made-up")).await;
        assert_eq!(reply.status, 200);
        assert!(!reply.head.to_lowercase().contains("mcp-session-id"), "{}", reply.head);
        for removed in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list"] {
            let reply = site.ask(server, removed, json!({})).await;
            assert_eq!((reply.status, reply.code()), (404, -32601), "{removed}");
            assert_eq!(reply.json()["id"], json!(1));
        }
        let legacy = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } } });
        let head = without(&without(&headers(&legacy), "MCP-Protocol-Version"), "Mcp-Method");
        let reply = site.post(server, &head, legacy.to_string().as_bytes()).await;
        assert_eq!((reply.status, reply.code()), (400, -32020));
        assert!(reply.body.contains(VERSION), "the answer names what is spoken: {}", reply.body);
    }
}

#[tokio::test]
async fn what_a_server_does_not_advertise_it_does_not_know() {
    let site = start().await;
    for (server, method) in [
        (ServerName::Parts, "resources/list"),
        (ServerName::Parts, "resources/templates/list"),
        (ServerName::Parts, "resources/read"),
        (ServerName::Parts, "prompts/list"),
        (ServerName::Parts, "completion/complete"),
        (ServerName::Manuals, "prompts/list"),
        (ServerName::Manuals, "prompts/get"),
    ] {
        let reply = site.ask(server, method, json!({})).await;
        assert_eq!((reply.status, reply.code()), (404, -32601), "{server} {method}");
    }
}

#[tokio::test]
async fn metadata_is_needed_on_each_request() {
    let site = start().await;
    for server in ServerName::ALL {
        for key in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
            let mut body = sample(server);
            body["params"]["_meta"].as_object_mut().unwrap().remove(key);
            let reply = site.send(server, &body).await;
            assert_eq!((reply.status, reply.code()), (400, -32602), "{key}");
            assert!(reply.body.contains(key));
        }
        let mut body = sample(server);
        body["params"].as_object_mut().unwrap().remove("_meta");
        let reply = site.send(server, &body).await;
        assert_eq!((reply.status, reply.code()), (400, -32602));
        let mut body = sample(server);
        body["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
        assert_eq!(site.send(server, &body).await.status, 200, "the client's name is optional");
    }
}

#[tokio::test]
async fn discover_names_versions_capabilities_and_identity() {
    let site = start().await;
    for server in ServerName::ALL {
        let result = site.ask(server, "server/discover", json!({})).await.result();
        assert_eq!(result["supportedVersions"], json!([VERSION]));
        assert_eq!(result["resultType"], json!("complete"));
        assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{result}");
        assert!(result["capabilities"]["tools"]["listChanged"].as_bool().unwrap());
        let has = |name: &str| result["capabilities"].get(name).is_some();
        let expected = match server {
            ServerName::Tickets => [true, true, true],
            ServerName::Parts => [false, false, false],
            ServerName::Manuals => [true, false, true],
        };
        assert_eq!([has("resources"), has("prompts"), has("completions")], expected, "{server}");
        let name = &result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
        assert_eq!(*name, json!(format!("atlas.field-service.{server}")));
        assert!(result.get("serverInfo").is_none());
    }
}

#[tokio::test]
async fn lists_are_cacheable_and_in_a_fixed_order() {
    let site = start().await;
    for server in ServerName::ALL {
        let first = site.ask(server, "tools/list", json!({})).await.result();
        assert!(first["ttlMs"].is_u64());
        assert_eq!(first["cacheScope"], json!("public"));
        let names: Vec<&str> =
            first["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.is_sorted(), "{names:?}");
        for _ in 0..3 {
            assert_eq!(site.ask(server, "tools/list", json!({})).await.result()["tools"], first["tools"]);
        }
        let reply = site.ask(server, "tools/list", json!({ "cursor": "made-up" })).await;
        assert_eq!(reply.code(), -32602);
    }
}

#[tokio::test]
async fn calls_have_structured_content_and_the_same_as_text() {
    let site = start().await;
    for server in ServerName::ALL {
        let result = site.send(server, &sample(server)).await.result();
        assert_eq!(result["resultType"], json!("complete"));
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert!(text.is_object());
    }
}

#[tokio::test]
async fn every_result_says_its_type_and_who_answered() {
    let site = start().await;
    let form = json!({ "_meta": meta(json!({ "elicitation": { "form": {} } })), "name": "raise_parts_order",
        "arguments": { "part_no": "AC250-TV-S1", "quantity": 1, "ticket_id": "SR-20031" } });
    let mut requests: Vec<(ServerName, &str, Value, &str)> = Vec::new();
    for server in ServerName::ALL {
        requests.push((server, "server/discover", json!({}), "complete"));
        requests.push((server, "tools/list", json!({}), "complete"));
        requests.push((server, "tools/call", sample(server)["params"].clone(), "complete"));
        if server != ServerName::Parts {
            requests.push((server, "resources/list", json!({}), "complete"));
            requests.push((server, "resources/templates/list", json!({}), "complete"));
        }
    }
    requests.push((ServerName::Tickets, "prompts/list", json!({}), "complete"));
    requests.push((ServerName::Parts, "tools/call", form, "input_required"));
    requests.push((ServerName::Tickets, "resources/read", json!({ "uri": "ticket://SR-20031" }), "complete"));
    requests.push((
        ServerName::Manuals,
        "resources/read",
        json!({ "uri": "manual://FM-AC-250/R2/12" }),
        "complete",
    ));
    let prompt =
        json!({ "name": "diagnose_fault", "arguments": { "model_variant": "AC-250-S", "symptom": "hot" } });
    requests.push((ServerName::Tickets, "prompts/get", prompt, "complete"));
    let complete = json!({ "ref": { "type": "ref/prompt", "name": "diagnose_fault" },
        "argument": { "name": "fault_code", "value": "F-10" } });
    requests.push((ServerName::Tickets, "completion/complete", complete, "complete"));
    for (server, method, params, kind) in requests {
        let result = site.ask(server, method, params).await.result();
        assert_eq!(result["resultType"], json!(kind), "{server} {method}");
        let name = &result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
        assert_eq!(*name, json!(format!("atlas.field-service.{server}")), "{server} {method}");
    }
}

#[tokio::test]
async fn tool_faults_are_results_and_protocol_faults_are_errors() {
    let site = start().await;
    let bad_values = [
        (ServerName::Tickets, "get_ticket", json!({ "ticket_id": "20031" }), "SR-"),
        (ServerName::Tickets, "get_ticket", json!({ "ticket_id": "SR-99999" }), "no ticket"),
        (ServerName::Tickets, "search_tickets", json!({ "model_variant": "AC-250-S", "limit": 26 }), "25"),
        (ServerName::Tickets, "search_tickets", json!({}), "model_variant"),
        (ServerName::Parts, "find_part", json!({ "model_variant": "AC-250-S", "category": "wheel" }), "belt"),
        (ServerName::Parts, "check_availability", json!({ "part_no": "NOPE" }), "no part"),
        (ServerName::Parts, "check_availability", json!({ "part_no": 7 }), "string"),
        (ServerName::Manuals, "search_manual", json!({ "query": "x", "k": 11 }), "10"),
        (ServerName::Manuals, "search_manual", json!({ "query": "x", "extra": 1 }), "extra"),
        (ServerName::Manuals, "search_manual", json!({ "query": "x", "product_family": "ZZ-99" }), "AC-250"),
    ];
    for (server, tool, arguments, expected) in bad_values {
        let text = site.refused(server, tool, arguments).await;
        assert!(text.contains(expected), "`{text}` does not say `{expected}`");
    }
    for server in ServerName::ALL {
        let reply = site.ask(server, "tools/call", json!({ "name": "nope", "arguments": {} })).await;
        assert_eq!(reply.code(), -32602);
        assert!(reply.json().get("result").is_none());
    }
}

#[tokio::test]
async fn malformed_calls_are_invalid_params() {
    let site = start().await;
    for server in ServerName::ALL {
        let tool = sample(server)["params"]["name"].clone();
        let malformed = [
            json!({ "arguments": {} }),
            json!({ "name": 5 }),
            json!({ "name": tool, "arguments": [1] }),
            json!({ "name": tool, "arguments": "x" }),
            json!({ "name": tool, "arguments": null }),
            json!({ "name": tool, "arguments": {}, "requestState": 1 }),
            json!({ "name": tool, "arguments": {}, "inputResponses": [] }),
        ];
        for params in malformed {
            let mut body = request(json!(9), "tools/call", params.clone());
            let mut head = headers(&body);
            if !params["name"].is_string() {
                head.push(("Mcp-Name".to_owned(), "5".to_owned()));
            }
            let reply = site.post(server, &head, body.to_string().as_bytes()).await;
            assert_eq!(reply.code(), -32602, "{params}");
            body["params"] = json!([1]);
            assert_eq!(site.post(server, &head, body.to_string().as_bytes()).await.code(), -32600);
        }
    }
    for (method, params) in [
        ("resources/read", json!({})),
        ("prompts/get", json!({ "name": "diagnose_fault", "arguments": { "symptom": 1 } })),
        ("completion/complete", json!({ "ref": {}, "argument": { "name": "a", "value": "b" } })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a" } }),
        ),
        ("subscriptions/listen", json!({ "notifications": { "toolsListChanged": "yes" } })),
        ("subscriptions/listen", json!({})),
        ("tools/list", json!({ "cursor": 1 })),
    ] {
        let reply = site.ask(ServerName::Tickets, method, params.clone()).await;
        assert_eq!(reply.code(), -32602, "{method} {params}");
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let site = start().await;
    for server in ServerName::ALL {
        for id in [json!(0), json!(-7), json!(9_007_199_254_740_993_i64), json!("7"), json!("")] {
            let mut body = sample(server);
            body["id"] = id.clone();
            assert_eq!(site.send(server, &body).await.json()["id"], id);
        }
    }
}

#[tokio::test]
async fn trace_context_is_continued() {
    let site = start().await;
    for server in ServerName::ALL {
        let mut body = sample(server);
        body["params"]["_meta"]["traceparent"] =
            json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        let result = site.send(server, &body).await.result();
        let traceparent = result["_meta"]["traceparent"].as_str().unwrap();
        assert!(traceparent.starts_with("00-0af7651916cd43dd8448eb211c80319c-"), "{traceparent}");
        assert!(traceparent.ends_with("-01") && !traceparent.contains("b7ad6b7169203331"), "{traceparent}");
        for invalid in ["00-0-0-0", "", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] {
            body["params"]["_meta"]["traceparent"] = json!(invalid);
            let result = site.send(server, &body).await.result();
            assert!(result["_meta"].get("traceparent").is_none(), "{result}");
        }
    }
}
