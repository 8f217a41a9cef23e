use super::*;

fn check(typed: &str) -> Result<(), Weak> {
    let name = SignInName::parse("maya.lindqvist").unwrap();
    Password::from(typed.to_owned()).check(&name, "Maya Lindqvist")
}

#[test]
fn passwords_that_are_easy_to_find_are_refused() {
    for (typed, expected) in [
        ("kW7-vq9", Err(Weak::Short)),
        ("kW7-vq9-mZx", Err(Weak::Short)),
        ("kW7-vq9-mZxP", Ok(())),
        ("Maya.Lindqvist", Err(Weak::Name)),
        ("maya lindqvist 1", Err(Weak::Guessable)),
        ("password1234", Err(Weak::Guessable)),
        ("Passw0rd!Passw0rd!", Err(Weak::Guessable)),
        ("qwertyuiop[]", Err(Weak::Guessable)),
        ("123456789012", Err(Weak::Guessable)),
        ("aaaaaaaaaaaaaaaaaaaa", Err(Weak::Guessable)),
        ("aldgatealdgate", Err(Weak::Guessable)),
        ("wooden anchor over Leiden", Ok(())),
        ("žluťoučký kůň úpěl", Ok(())),
    ] {
        assert_eq!(check(typed), expected, "{typed}");
    }
    let mixed = |length: usize| "kW7-vq9-mZxP ".chars().cycle().take(length).collect::<String>();
    assert_eq!(check(&mixed(256)), Ok(()));
    assert_eq!(check(&mixed(257)), Err(Weak::Long));
    assert_eq!(check(&"é".repeat(129)), Err(Weak::Long));
}

#[test]
fn a_password_is_the_same_from_every_keyboard() {
    let composed = Password::from("caf\u{e9}".to_owned());
    let combined = Password::from("cafe\u{301}".to_owned());
    assert!(composed.is_same(&combined) && !composed.is_same(&Password::from("cafe".to_owned())));
    assert_eq!(format!("{composed:?}"), "Password(…)");
}

#[tokio::test]
async fn a_hash_is_argon2id_with_the_default_parameters_and_a_salt_of_its_own() {
    let hashing = crate::people::Hashing::default();
    let (one, other) = (Password::from("one".to_owned()), Password::from("other".to_owned()));
    let kept = hash(&one, &hashing.params).unwrap();
    assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
    let hasher = Hasher::new(&hashing);
    assert_ne!(hasher.hash(one.clone()).await.unwrap(), kept);
    let verified = hasher.verify(one.clone(), Some(kept.clone()), false).await.unwrap();
    assert!(verified.matches && !verified.stale);
    assert!(!hasher.verify(other, Some(kept), false).await.unwrap().matches);
    assert!(!hasher.verify(one.clone(), None, false).await.unwrap().matches);
    assert_eq!(hasher.calls(), 4);
    assert!(hasher.verify(one, Some("plain".to_owned()), false).await.is_err());
}
