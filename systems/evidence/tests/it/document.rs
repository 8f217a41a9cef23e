//! The document's commands do what it says.

use std::process::Stdio;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use serde_json::Value;
use tokio::process::Command;

use crate::world::{TOKEN_A, world};

const DOCUMENT: &str = include_str!("../../../../docs/evidence.md");

/// Commands and what they print, in order.
fn commands() -> Vec<(String, String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in DOCUMENT.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    let mut commands = Vec::new();
    let mut blocks = blocks.into_iter();
    while let Some((language, command)) = blocks.next() {
        let (form, printed) = blocks.next().unwrap();
        // What the whole program does over stdio is run by its own tests.
        if language == "bash" {
            continue;
        }
        assert_eq!(language, "sh", "a block that is no command: {command}");
        commands.push((command, form, printed));
    }
    commands
}

/// Whether a value is what the document shows; `"…"` stands for any.
fn is_shown(shown: &Value, found: &Value) -> bool {
    match (shown, found) {
        (Value::String(any), _) if any == "…" => true,
        (Value::Object(shown), Value::Object(found)) => {
            shown.len() == found.len()
                && shown.iter().all(|(key, value)| found.get(key).is_some_and(|found| is_shown(value, found)))
        }
        (Value::Array(shown), Value::Array(found)) => {
            shown.len() == found.len() && shown.iter().zip(found).all(|(shown, found)| is_shown(shown, found))
        }
        (shown, found) => shown == found,
    }
}

#[tokio::test]
async fn every_command_prints_what_the_document_shows() {
    let world = Arc::new(world());
    let served = move |request: Request| {
        let world = world.clone();
        async move { world.endpoint.respond(request).await.map(axum::body::Body::new) }
    };
    let router = Router::new().route("/evidence/mcp", axum::routing::any(served));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/evidence/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });

    let commands = commands();
    assert!(commands.len() >= 8, "{} commands", commands.len());
    for (command, form, printed) in commands {
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &command])
            .env("EVIDENCE_URL", &url)
            .env("EVIDENCE_TOKEN", TOKEN_A.trim_start_matches("Bearer "))
            .env("NO_PROXY", "*")
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "bash and curl are needed; {command}: {complaint}");
        if form == "json" {
            let shown: Value = serde_json::from_str(&printed).unwrap();
            let found: Value = serde_json::from_str(&found).unwrap();
            assert!(is_shown(&shown, &found), "{command}\nshown: {shown}\nfound: {found}");
        } else {
            assert_eq!(found, printed, "{command}");
        }
    }
    serving.abort();
}

#[test]
fn the_limits_in_the_document_are_those_of_the_program() {
    let bounds = aldgate_evidence_server::Bounds::default();
    let row = |what: &str, value: String| {
        assert!(DOCUMENT.contains(&format!("| {what} | {value} |")), "{what}: {value}");
    };
    row("body, or line of stdio", format!("{} KiB", bounds.body_bytes >> 10));
    row("nesting of a body", bounds.depth.to_string());
    row("time for the body", format!("{} s", bounds.body_within.as_secs()));
    row("requests that are worked on at once", bounds.in_flight.to_string());
}
