use super::*;

fn challenge(scope: &str) -> Challenge {
    Challenge::of_oauth([format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"").as_str()]).unwrap()
}

fn scopes(text: &str) -> Scopes {
    Scopes::parse(text).unwrap()
}

#[test]
fn each_try_asks_for_all_that_was_asked_for_before_and_there_are_three() {
    let mut step_up = StepUp::with(Some(&scopes("tools:read")));
    assert_eq!(step_up.next(&challenge("tools:write")), Ok(scopes("tools:read tools:write")));
    assert_eq!(step_up.next(&challenge("admin")), Ok(scopes("admin tools:read tools:write")));
    assert_eq!(step_up.next(&challenge("admin")), Ok(scopes("admin tools:read tools:write")));
    let often = StepUpFault::Often { scopes: scopes("admin tools:read tools:write") };
    assert_eq!(step_up.next(&challenge("admin")), Err(often.clone()));
    assert_eq!(step_up.next(&challenge("admin")), Err(often));
}

#[test]
fn the_sign_in_that_an_operation_began_with_counts() {
    let mut step_up = StepUp::default();
    step_up.signed_in(Some(&scopes("a"))).unwrap();
    assert!(step_up.next(&challenge("b")).is_ok() && step_up.next(&challenge("b")).is_ok());
    assert!(step_up.next(&challenge("b")).is_err());
}

#[test]
fn another_refusal_is_no_reason_to_sign_in() {
    let other = Challenge::of_oauth(["Bearer error=\"invalid_token\", scope=\"a\""]).unwrap();
    let mut step_up = StepUp::default();
    assert_eq!(step_up.next(&other), Err(StepUpFault::Other));
    assert!(step_up.next(&challenge("a")).is_ok());
}
