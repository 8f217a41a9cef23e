//! Renames that somebody signed.

use super::*;

fn renames(pairs: &[(&str, &str)]) -> Vec<Confirmed> {
    pairs.iter().map(|(from, to)| Confirmed { from: (*from).to_owned(), to: (*to).to_owned() }).collect()
}

fn manifest(upstream: Option<&str>, pairs: &[(&str, &str)]) -> Result<Manifest, ManifestFault> {
    let contracts = (Digest::of("before"), Digest::of("after"));
    Manifest::new(upstream.map(str::to_owned), "get_ticket".to_owned(), None, contracts, renames(pairs))
}

#[test]
fn a_signed_manifest_confirms_the_renames_of_its_two_contracts() {
    let vendor = key(4, "vendor");
    let jws = vendor.sign_manifest(&manifest(None, &[("id", "ticket_id")]).unwrap());
    let (read, kid) = keyring(&[&vendor], &[]).manifest(&format!("{jws}\n")).unwrap();
    assert_eq!(kid, "vendor");
    let (before, after) = (Digest::of("before"), Digest::of("after"));
    assert_eq!(read.of("tickets", "get_ticket", before, after), Some(&*renames(&[("id", "ticket_id")])));
    assert_eq!(read.of("tickets", "get_tickets", before, after), None);
    assert_eq!(read.of("tickets", "get_ticket", after, before), None);
    let (_, payload) = jws.split_once('.').unwrap();
    let payload = decode(payload.split_once('.').unwrap().0.as_bytes()).unwrap();
    let payload = String::from_utf8(payload).unwrap();
    assert_eq!(Manifest::parse(&payload).unwrap(), read);
    expect![[r#"{"tool":"get_ticket","before":"sha256:6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb","after":"sha256:f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8","renames":[{"from":"id","to":"ticket_id"}]}"#]].assert_eq(&payload);

    let named = manifest(Some("tickets"), &[("id", "ticket_id")]).unwrap();
    assert!(named.of("tickets", "get_ticket", before, after).is_some());
    assert!(named.of("parts", "get_ticket", before, after).is_none());
}

#[test]
fn a_manifest_of_a_renamed_tool_says_so() {
    let contracts = (Digest::of("before"), Digest::of("after"));
    let was = Some("fetch_ticket".to_owned());
    let manifest = Manifest::new(None, "get_ticket".to_owned(), was, contracts, Vec::new()).unwrap();
    let vendor = key(4, "vendor");
    let (read, _) = keyring(&[&vendor], &[]).manifest(&vendor.sign_manifest(&manifest)).unwrap();
    assert_eq!(read, manifest);
    assert_eq!(read.of_tool(), renames(&[("fetch_ticket", "get_ticket")]).pop());
}

#[test]
fn renames_that_cannot_all_be_true_are_no_manifest() {
    let fault = |pairs: &[(&str, &str)]| manifest(None, pairs).unwrap_err().to_string();
    expect!["the manifest names no rename"].assert_eq(&fault(&[]));
    expect!["`a` is renamed to itself; leave it out"].assert_eq(&fault(&[("a", "a")]));
    expect!["`a` is renamed twice; renames are one to one"].assert_eq(&fault(&[("a", "b"), ("a", "c")]));
    expect!["`c` is renamed twice; renames are one to one"].assert_eq(&fault(&[("a", "c"), ("b", "c")]));
    assert!(manifest(None, &[("a", "b"), ("b", "a")]).is_ok());
    for text in ["", "[]", r#"{"tool":"t"}"#] {
        assert!(Manifest::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_manifest_is_checked_like_a_signature() {
    let (vendor, other) = (key(4, "vendor"), key(5, "vendor"));
    let jws = vendor.sign_manifest(&manifest(None, &[("a", "b")]).unwrap());
    let said = |keyring: &Keyring, jws: &str| keyring.manifest(jws).unwrap_err().to_string();
    let ring = keyring(&[&vendor], &[]);
    expect!["the signature is by the key `vendor`, which is none of the configured keys; add the key, or review and sign anew"].assert_eq(&said(&keyring(&[], &[]), &jws));
    expect!["the signature is by the key `vendor`, which is revoked; review the contract and sign anew with another key"].assert_eq(&said(&keyring(&[&vendor], &["vendor"]), &jws));
    expect!["the signature by the key `vendor` is of something else, or was altered; restore it from version control, or review what is there now and sign that"]
        .assert_eq(&said(&keyring(&[&other], &[]), &jws));
    expect!["the signature cannot be read: the header's `typ` is that of another kind of statement"]
        .assert_eq(&said(&ring, &vendor.sign(&statement())));
    let mut parts: Vec<&str> = jws.split('.').collect();
    let forged = encode(manifest(None, &[("a", "c")]).unwrap().payload());
    parts[1] = &forged;
    expect!["the signature by the key `vendor` is of something else, or was altered; restore it from version control, or review what is there now and sign that"]
        .assert_eq(&said(&ring, &parts.join(".")));
    // A manifest is no signature of a contract.
    expect!["the signature cannot be read: the header's `typ` is that of another kind of statement"]
        .assert_eq(&ring.verify(&statement(), Some(&jws)).unwrap_err().to_string());
}

proptest! {
    #[test]
    fn an_altered_signature_is_refused(at in 0_usize..200, byte in any::<u8>()) {
        let mut jws = key(1, "ann").sign(&statement()).into_bytes();
        let at = at % jws.len();
        prop_assume!(jws[at] != byte);
        jws[at] = byte;
        if let Ok(altered) = String::from_utf8(jws) {
            prop_assert!(keyring(&[&key(1, "ann")], &[]).verify(&statement(), Some(&altered)).is_err());
        }
    }

    #[test]
    fn no_text_makes_reading_fail_otherwise(text in any::<String>(), dots in "[A-Za-z0-9_-]{0,80}(\\.[A-Za-z0-9_-]{0,90}){0,4}") {
        for text in [text, dots] {
            prop_assert!(keyring(&[&key(1, "ann")], &[]).verify(&statement(), Some(&text)).is_err());
            prop_assert!(keyring(&[&key(1, "ann")], &[]).manifest(&text).is_err());
            prop_assert!(PublicKey::from_jwk(&text).is_err());
        }
    }
}
