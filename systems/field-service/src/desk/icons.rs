//! Icons as `data:` URIs, so that a client fetches nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// An icon of 24 by 24 units with one path.
pub(crate) fn icon(path: &str) -> Value {
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\"><path fill=\"none\" stroke=\"#1f5f8b\" \
         stroke-width=\"2\" d=\"{path}\"/></svg>"
    );
    json!({
        "src": format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg)),
        "mimeType": "image/svg+xml",
        "sizes": ["any"],
    })
}
