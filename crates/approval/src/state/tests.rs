use std::collections::{BTreeMap, BTreeSet};

use aldgate_authority::{Principal, PrincipalKind};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{Presented, Purpose, RequestState, StateFault};
use crate::{ApprovalId, CallId, SealKey, Timestamp};

fn caller() -> Principal {
    Principal {
        issuer: "config".into(),
        subject: "agent".into(),
        tenant: "main".into(),
        kind: PrincipalKind::Service,
        roles: BTreeSet::new(),
        name: "agent".into(),
        client: "cli".into(),
        actors: Vec::new(),
    }
}

fn key() -> SealKey {
    SealKey::derive(&[9; 32]).expect("key")
}

fn state(purpose: Purpose) -> RequestState {
    RequestState {
        tenant: "main".into(),
        principal: caller().id(),
        client: "cli".into(),
        method: "tools/call".into(),
        name: "raise_parts_order".into(),
        arguments: "sha256:a".into(),
        expires_at: Timestamp(2_000),
        purpose,
    }
}

fn approval() -> RequestState {
    state(Purpose::Approval {
        approval: ApprovalId::from_random([3; 16]),
        call: CallId::from_random([4; 16]),
    })
}

fn presented(caller: &Principal) -> Presented<'_> {
    Presented { caller, method: "tools/call", name: "raise_parts_order", arguments: "sha256:a" }
}

#[test]
fn a_relayed_state_comes_back_as_it_was() {
    let schema = RawValue::from_string(r#"{"type":"object", "x":1.10}"#.into()).expect("JSON");
    let purpose = Purpose::Relay {
        call: CallId::from_random([4; 16]),
        round: 2,
        upstream: "parts".into(),
        upstream_state: Some("théirs".into()),
        asked: BTreeMap::from([("form".into(), Some(schema)), ("roots".into(), None)]),
        approval: None,
    };
    let sealed = state(purpose).seal(&key(), [5; 12]).expect("sealed");
    let opened = RequestState::open(&sealed, &key(), presented(&caller()), Timestamp(1_000)).expect("opens");
    let Purpose::Relay { round, upstream_state, asked, .. } = opened.purpose else {
        panic!("another purpose")
    };
    assert_eq!((round, upstream_state.as_deref()), (2, Some("théirs")));
    assert_eq!(asked["form"].as_ref().expect("schema").get(), r#"{"type":"object", "x":1.10}"#);
}

#[test]
fn a_state_is_good_for_its_own_request_alone() {
    let sealed = approval().seal(&key(), [5; 12]).expect("sealed");
    let open = |caller: &Principal, presented: Presented<'_>, now| {
        RequestState::open(&sealed, &key(), Presented { caller, ..presented }, Timestamp(now)).map(|_| ())
    };
    let mine = caller();
    let plain = presented(&mine);
    assert_eq!(open(&mine, plain, 1_999), Ok(()));
    assert_eq!(open(&mine, plain, 2_000), Err(StateFault::Expired));
    for other in [
        Principal { tenant: "other".into(), ..caller() },
        Principal { subject: "other".into(), ..caller() },
        Principal { issuer: "other".into(), ..caller() },
        Principal { client: "other".into(), ..caller() },
    ] {
        assert_eq!(open(&other, plain, 1_000), Err(StateFault::Swapped { what: "caller" }));
    }
    let swapped = [
        ("method", Presented { method: "prompts/get", ..plain }),
        ("name", Presented { name: "get_ticket", ..plain }),
        ("arguments", Presented { arguments: "sha256:b", ..plain }),
    ];
    for (what, presented) in swapped {
        assert_eq!(open(&mine, presented, 1_000), Err(StateFault::Swapped { what }));
    }
}

proptest! {
    #[test]
    fn an_altered_state_is_refused(at: prop::sample::Index, replacement in "[A-Za-z0-9._-]") {
        let sealed = approval().seal(&key(), [5; 12]).expect("sealed");
        let at = at.index(sealed.len());
        let mut altered = sealed.clone();
        altered.replace_range(at..=at, &replacement);
        prop_assume!(altered != sealed);
        let refused = RequestState::open(&altered, &key(), presented(&caller()), Timestamp(1_000)).map(|_| ());
        prop_assert_eq!(refused, Err(StateFault::Foreign));
    }
}
