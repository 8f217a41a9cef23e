use super::*;

#[test]
fn the_challenge_is_that_of_rfc_7636_appendix_b() {
    let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned());
    assert_eq!(challenge_of(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

#[test]
fn a_verifier_has_the_length_that_is_asked_for_and_is_never_the_same() {
    let (one, other) = (random_text().unwrap(), random_text().unwrap());
    assert_eq!(one.expose().len(), 43);
    assert!(one != other);
}
