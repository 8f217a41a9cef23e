use std::sync::Arc;

use aldgate_identity::client::upstream::NoCredential;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::{CredentialFault, Shown, Whose};
use crate::settings::Credential;

#[tokio::test]
async fn a_callers_request_is_never_shown_with_what_the_gateway_has_for_itself() {
    let own = Box::new(Credential::Bearer("of-the-gateway".to_owned()));
    let of_callers = Credential::OfCallers { shown: Arc::new(NoCredential), own };
    let shown = Shown::new(&of_callers).unwrap();
    let mut headers = HeaderMap::new();
    let refused = shown.show(&mut headers, Whose::Caller(None)).await;
    assert!(matches!(refused, Err(CredentialFault::NoCaller)));
    assert!(headers.is_empty());
    shown.show(&mut headers, Whose::Gateway).await.unwrap();
    assert_eq!(headers[AUTHORIZATION], "Bearer of-the-gateway");
}

#[tokio::test]
async fn what_was_shown_last_is_looked_for_without_being_spelled_anew() {
    let shown = Shown::new(&Credential::None).unwrap();
    let [one, other] = ["Bearer one-credential", "Bearer other-credential"].map(HeaderValue::from_static);
    for value in [&one, &one, &other, &one] {
        let said = format!("{} and nothing", value.to_str().unwrap());
        assert_eq!(&*shown.hidden(value).out_of(said.as_bytes()), b"Bearer [credential] and nothing");
    }
}
