use super::*;

fn check(text: &str, status: u16, code: Option<&str>, message: &str) {
    let found = Refused::of_text(text).unwrap();
    assert_eq!((found.status, found.code.as_deref()), (Some(status), code), "{text}");
    assert!(found.message.contains(message), "{found:?}");
}

#[test]
fn a_status_is_read_from_what_the_library_says() {
    check("server/discover rejected with HTTP 404 Not Found: ", 404, None, "no MCP endpoint at this path");
    check("HTTP 503 Service Unavailable: down", 503, None, "HTTP 503");
    check(
        r#"HTTP 403 Forbidden: {"jsonrpc":"2.0","error":{"code":1,"message":"the host `a: b`","data":{"code":"AG-HEAD-HOST"}}}"#,
        403,
        Some("AG-HEAD-HOST"),
        "the host `a: b`",
    );
    check(
        r#"server/discover rejected with HTTP 404 Not Found: {"error":{"code":"AG-ADMIN-ROUTE","message":"no route"}}"#,
        404,
        Some("AG-ADMIN-ROUTE"),
        "no route",
    );
    // A code that is not the gateway's is nobody's word here.
    check(r#"HTTP 400 Bad Request: {"error":{"code":"X","message":"m"}}"#, 400, None, "HTTP 400");
    assert_eq!(Refused::of_text("no such method"), None);
    assert_eq!(Refused::of_text("HTTP error"), None);
}

#[test]
fn only_what_was_not_begun_is_called_so() {
    let begun = |status: u16| !Refused::of_status(status).was_not_begun();
    assert!([200, 408, 409, 500, 502, 503].into_iter().all(begun));
    assert!(![400, 401, 404, 405, 413, 429].into_iter().any(begun));
}
