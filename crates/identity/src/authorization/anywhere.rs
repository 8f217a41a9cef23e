//! Clients that run in a browser, at whatever site (Fetch, CORS). What programs ask of this server holds no cookie and is
//! answered by what the request itself proves, so that any site may read the answer. The pages for people are not among it.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

pub(super) async fn readable(request: Request, next: Next) -> Response {
    let preflight = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response =
        if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    if preflight {
        set(headers, header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
        let allowed = "authorization, content-type, dpop, mcp-protocol-version";
        set(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        set(headers, header::ACCESS_CONTROL_MAX_AGE, "600");
    }
    set(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    set(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, "dpop-nonce, www-authenticate");
    response
}

fn set(headers: &mut HeaderMap, name: header::HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}
