use aldgate_identity::proof::{Asked, NonceRule};

use super::*;

#[test]
fn nothing_of_a_token_or_a_proof_is_shown() {
    let secret = b"Bearer sesame".as_slice();
    let presented = Presented {
        authorization: Some(secret),
        proof: Proof::Sent(Some(b"sesame")),
        method: "POST",
        url: "https://g.example/mcp",
        door: Door::Mcp,
    };
    let asked = Asked {
        method: "POST",
        url: "https://g.example/mcp",
        access_token: Some("sesame"),
        nonce: NonceRule::Open,
    };
    let credentials = Credentials { value: Some(secret.into()), expires_at: None };
    let letters = format!("{:?}", b"sesame").replace(['[', ']'], "");
    for shown in [format!("{presented:?}"), format!("{asked:?}"), format!("{credentials:?}")] {
        assert!(!shown.contains("sesame") && !shown.contains(&letters), "{shown}");
        assert!(shown.contains("Some(\"…\")"), "that there is one is shown: {shown}");
    }
}
