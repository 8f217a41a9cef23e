use miette::Diagnostic as _;

use super::{Coded, Told, WithCode as _};

#[test]
fn what_a_peer_wrote_is_plain_in_every_cause() {
    #[derive(Debug, thiserror::Error)]
    #[error("outer \u{202e}txt")]
    struct Outer(#[source] std::io::Error);
    let fault = Outer(std::io::Error::other("inner \u{1b}[2J"));
    let coded = Coded { code: "AG-X".to_owned(), told: Told::of(&fault), help: None };
    assert_eq!(coded.to_string(), "outer \\u{202e}txt");
    let cause = std::error::Error::source(&coded).expect("a cause");
    assert_eq!(cause.to_string(), "inner \\u{1b}[2J");
    assert!(cause.source().is_none());
    assert_eq!(coded.code().expect("a code").to_string(), "AG-X");
}

#[test]
fn a_store_that_does_not_work_says_so_by_its_code() {
    let fault = aldgate_store::StoreFault::NoApproval { id: "ap_1".to_owned() };
    let report = Err::<(), _>(aldgate_gateway::StartFault::Store(fault)).coded().expect_err("a fault");
    assert_eq!(report.code().expect("a code").to_string(), "AG-STORE");
    assert!(report.chain().nth(1).expect("its cause").to_string().contains("ap_1"));
}
