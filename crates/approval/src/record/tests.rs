use std::collections::BTreeSet;

use aldgate_authority::{Principal, PrincipalKind};
use proptest::prelude::*;

use super::{DecideFault, Decision, Record, RecordState, RedeemFault, Verdict};
use crate::{ApprovalId, Binding, CallId, Timestamp};

fn principal(subject: &str) -> Principal {
    Principal {
        issuer: "config".into(),
        subject: subject.into(),
        tenant: "main".into(),
        kind: PrincipalKind::Person,
        roles: BTreeSet::new(),
        name: subject.into(),
        client: "cli".into(),
        actors: Vec::new(),
    }
}

fn binding() -> Binding {
    Binding {
        caller: principal("agent"),
        upstream: "parts http://127.0.0.1:1/mcp".into(),
        tool: "parts/raise_parts_order".into(),
        contract: "sha256:c".into(),
        arguments: "sha256:a".into(),
        registry: "sha256:r".into(),
        policy: "sha256:p".into(),
    }
}

fn pending() -> Record {
    Record::ask(
        ApprovalId::from_random([1; 16]),
        binding(),
        CallId::from_random([2; 16]),
        Timestamp(1_000),
        500,
    )
}

fn decision(verdict: Verdict, at: i64) -> Decision {
    Decision { verdict, by: principal("maya"), note: String::new(), at: Timestamp(at) }
}

fn approved() -> Record {
    pending().decide(decision(Verdict::Approve, 1_100), 100).expect("decided")
}

#[test]
fn an_approval_covers_the_call_that_it_was_given_for() {
    let redemption = approved().redeem(&binding(), Timestamp(1_150)).expect("covered");
    assert_eq!(redemption.decision().by.subject, "maya");
}

#[test]
fn only_a_pending_record_can_be_decided() {
    let id = pending().id;
    for (record, at, state) in [
        (pending(), 1_500, RecordState::Expired),
        (approved(), 1_150, RecordState::Approved),
        (pending().decide(decision(Verdict::Deny, 1_100), 100).expect("denied"), 1_150, RecordState::Denied),
    ] {
        let refused = record.decide(decision(Verdict::Approve, at), 100);
        assert_eq!(refused, Err(DecideFault::NotPending { id: id.clone(), state }));
    }
}

#[test]
fn only_an_approved_record_can_be_redeemed_and_not_for_long() {
    let denied = pending().decide(decision(Verdict::Deny, 1_100), 100).expect("denied");
    let redeemed = Record { state: RecordState::Redeemed, ..approved() };
    for (record, at, state) in [
        (pending(), 1_050, RecordState::Pending),
        (denied, 1_150, RecordState::Denied),
        (redeemed, 1_150, RecordState::Redeemed),
        (approved(), 1_200, RecordState::Expired),
    ] {
        let refused = record.redeem(&binding(), Timestamp(at)).expect_err("refused");
        assert_eq!(refused, RedeemFault::NotApproved { id: record.id.clone(), state });
    }
}

#[test]
fn a_change_of_any_bound_value_is_named() {
    type Change = fn(&mut Binding);
    let alter: Vec<(&str, Change)> = vec![
        ("tenant", |binding| binding.caller.tenant.push('x')),
        ("issuer", |binding| binding.caller.issuer.push('x')),
        ("principal", |binding| binding.caller.subject.push('x')),
        ("client", |binding| binding.caller.client.push('x')),
        ("upstream", |binding| binding.upstream.push('x')),
        ("tool", |binding| binding.tool.push('x')),
        ("contract", |binding| binding.contract.push('x')),
        ("arguments", |binding| binding.arguments.push('x')),
        ("registry entry", |binding| binding.registry.push('x')),
        ("policies", |binding| binding.policy.push('x')),
    ];
    for (what, change) in alter {
        let mut other = binding();
        change(&mut other);
        let refused = approved().redeem(&other, Timestamp(1_150)).expect_err("refused");
        assert_eq!(refused, RedeemFault::Changed { id: approved().id, what });
        assert_ne!(other.key(), binding().key(), "{what}");
        let resets_a_denial = other.denial_key() != binding().denial_key();
        let expected = ["tenant", "issuer", "principal", "tool", "arguments"].contains(&what);
        assert_eq!(resets_a_denial, expected, "{what}");
    }
}

proptest! {
    #[test]
    fn parts_that_run_into_each_other_make_other_keys(left in "[ab]{0,6}", right in "[ab]{0,6}", cut in 0usize..6) {
        let whole = format!("{left}{right}");
        let cut = cut.min(whole.len());
        let one = Binding { upstream: left, tool: right, ..binding() };
        let (front, back) = whole.split_at(cut);
        let two = Binding { upstream: front.into(), tool: back.into(), ..binding() };
        prop_assert_eq!(one == two, one.key() == two.key());
    }
}
