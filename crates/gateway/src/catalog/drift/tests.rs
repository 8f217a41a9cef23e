use aldgate_approval::Timestamp;
use aldgate_contract::diff::{Diff, Severity};
use expect_test::{Expect, expect};

use super::{Drift, Found, State, Why, settle};
use crate::settings::OnDrift;

fn found(form: &str) -> Option<Found> {
    let (why, severity) = match form.split_once(' ') {
        Some(("missing", _)) => (Why::Missing, Severity::Breaking),
        Some(("breaking", _)) => (Why::Changed, Severity::Breaking),
        Some(("words", _)) => (Why::Changed, Severity::Behavioural),
        Some(("compatible", _)) => (Why::Changed, Severity::Compatible),
        Some(("title", _)) => (Why::Changed, Severity::Cosmetic),
        _ => return None,
    };
    Some(Found {
        why,
        severity,
        form: form.to_owned(),
        after: None,
        told: String::new(),
        detail: String::new(),
        diff: Diff::default(),
        renames: Vec::new(),
    })
}

/// What becomes of a contract over these comparisons: a line for each that changed something.
fn check(on_drift: OnDrift, comparisons: &[&str], expected: &Expect) {
    let (mut kept, mut told): (Option<Drift>, String) = (None, String::new());
    for (at, form) in comparisons.iter().enumerate() {
        let now = Timestamp(i64::try_from(at).expect("few"));
        if let Some((next, event)) = settle(on_drift, kept.as_ref(), found(form).as_ref(), now) {
            let event = event.map_or_else(|| "-".to_owned(), |event| format!("{event:?}"));
            told += &format!("{form}: {:?} {:?} since {}, {event}\n", next.state, next.why, next.since.0);
            kept = Some(next);
        }
    }
    expected.assert_eq(&told);
}

#[test]
fn the_severity_and_the_setting_decide_and_the_end_is_told() {
    let each = ["breaking a", "pin", "pin"];
    check(
        OnDrift::AllowCompatible,
        &each,
        &expect![[r#"
            breaking a: Quarantined Changed since 0, Quarantined
            pin: Quarantined Changed since 0, -
        "#]],
    );
    check(
        OnDrift::Warn,
        &each,
        &expect![[r#"
        breaking a: Noted Changed since 0, Noted
        pin: Ended Changed since 1, Ended
    "#]],
    );
    for (form, default) in [
        ("breaking a", State::Quarantined),
        ("words a", State::Quarantined),
        ("compatible a", State::Noted),
        ("title a", State::Noted),
        ("missing x", State::Quarantined),
    ] {
        let state =
            |on_drift| settle(on_drift, None, found(form).as_ref(), Timestamp(0)).map(|(kept, _)| kept.state);
        assert_eq!(state(OnDrift::AllowCompatible), Some(default), "{form}");
        assert_eq!(state(OnDrift::Quarantine), Some(State::Quarantined), "{form}");
        assert_eq!(state(OnDrift::Warn), Some(State::Noted), "{form}");
    }
    assert!(settle(OnDrift::Quarantine, None, None, Timestamp(0)).is_none());
}

#[test]
fn what_is_quarantined_for_its_definition_stays_so_and_is_told_of_once_for_each_definition() {
    let comparisons =
        ["words a", "words a", "pin", "words a", "breaking b", "pin", "breaking b", "missing x", "pin"];
    check(
        OnDrift::AllowCompatible,
        &comparisons,
        &expect![[r#"
            words a: Quarantined Changed since 0, Quarantined
            pin: Quarantined Changed since 0, -
            words a: Quarantined Changed since 0, -
            breaking b: Quarantined Changed since 0, Changed
            pin: Quarantined Changed since 0, -
            breaking b: Quarantined Changed since 0, -
            missing x: Quarantined Changed since 0, Changed
            pin: Quarantined Changed since 0, -
        "#]],
    );
}

#[test]
fn a_compatible_definition_that_comes_back_is_quarantined() {
    let comparisons = ["compatible a", "compatible a", "pin", "compatible a", "pin"];
    check(
        OnDrift::AllowCompatible,
        &comparisons,
        &expect![[r#"
            compatible a: Noted Changed since 0, Noted
            pin: Ended Changed since 2, Ended
            compatible a: Quarantined Alternates since 3, Quarantined
            pin: Quarantined Alternates since 3, -
        "#]],
    );
    let comparisons = ["compatible a", "compatible b", "compatible a"];
    check(
        OnDrift::AllowCompatible,
        &comparisons,
        &expect![[r#"
        compatible a: Noted Changed since 0, Noted
        compatible b: Noted Changed since 1, Noted
        compatible a: Quarantined Alternates since 2, Quarantined
    "#]],
    );
}

#[test]
fn what_is_missing_comes_back_and_goes_and_is_told_of_once() {
    let comparisons = ["missing x", "pin", "missing x", "pin", "missing x", "breaking a", "pin"];
    check(
        OnDrift::AllowCompatible,
        &comparisons,
        &expect![[r#"
            missing x: Quarantined Missing since 0, Quarantined
            pin: Ended Missing since 1, Ended
            missing x: Quarantined Missing since 2, -
            pin: Ended Missing since 3, -
            missing x: Quarantined Missing since 4, -
            breaking a: Quarantined Changed since 5, Quarantined
            pin: Quarantined Changed since 5, -
        "#]],
    );
}

#[test]
fn more_definitions_than_are_remembered_are_an_alternation() {
    let forms: Vec<String> = (0..17).map(|number| format!("compatible {number}")).collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    let mut kept: Option<Drift> = None;
    for form in &forms {
        let (next, event) =
            settle(OnDrift::AllowCompatible, kept.as_ref(), found(form).as_ref(), Timestamp(0))
                .expect("a change");
        assert!(event.is_some());
        kept = Some(next);
    }
    let kept = kept.expect("kept");
    assert_eq!((kept.state, kept.why, kept.seen.len()), (State::Quarantined, Why::Alternates, 16));
}

#[test]
fn what_was_noted_is_quarantined_where_the_setting_is_another_one_now() {
    let noted = settle(OnDrift::Warn, None, found("breaking a").as_ref(), Timestamp(0)).expect("noted").0;
    let (now, event) =
        settle(OnDrift::AllowCompatible, Some(&noted), found("breaking a").as_ref(), Timestamp(1))
            .expect("a change");
    assert_eq!((now.state, event.is_some()), (State::Quarantined, true));
}

#[test]
fn where_all_is_only_told_of_each_definition_is_told_of_once() {
    let comparisons = ["compatible a", "compatible b", "compatible a", "compatible b", "pin", "compatible a"];
    check(
        OnDrift::Warn,
        &comparisons,
        &expect![[r#"
        compatible a: Noted Changed since 0, Noted
        compatible b: Noted Changed since 1, Noted
        compatible a: Noted Changed since 2, -
        compatible b: Noted Changed since 3, -
        pin: Ended Changed since 4, -
        compatible a: Noted Changed since 5, -
    "#]],
    );
    let forms: Vec<String> = (0..40).map(|number| format!("breaking {number}")).collect();
    let (mut kept, mut told): (Option<Drift>, usize) = (None, 0);
    for form in forms.iter().chain(&forms) {
        let next = settle(OnDrift::Warn, kept.as_ref(), found(form).as_ref(), Timestamp(0));
        let (next, event) = next.expect("a change");
        told += usize::from(event.is_some());
        kept = Some(next);
    }
    assert_eq!(told, 16);
}
