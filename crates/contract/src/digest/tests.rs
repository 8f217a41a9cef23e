use super::Digest;

/// FIPS 180-2, appendix B.1.
const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn is_written_and_read_in_one_form() {
    let digest = Digest::of("abc");
    assert_eq!(digest.to_string(), ABC);
    assert_eq!(format!("{digest:?}"), ABC);
    assert_eq!(ABC.parse(), Ok(digest));
    assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{ABC}\""));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{ABC}\"")).unwrap(), digest);
}

#[test]
fn refuses_every_other_form() {
    let digits = ABC.strip_prefix("sha256:").unwrap();
    for text in [
        String::new(),
        digits.to_owned(),
        format!("SHA256:{digits}"),
        format!("sha256:{}", digits.to_uppercase()),
        format!("sha256:{digits}0"),
        format!("sha256: {digits}"),
        format!("sha512:{digits}"),
        format!("sha256:{}", &digits.replace('b', "g")),
        "sha256:é".to_owned(),
    ] {
        assert!(text.parse::<Digest>().is_err(), "{text}");
        assert!(serde_json::from_str::<Digest>(&format!("\"{text}\"")).is_err());
    }
    assert_eq!(
        "sha256:12".parse::<Digest>().unwrap_err().to_string(),
        "expected `sha256:` and 64 lower-case hexadecimal digits, found `sha256:12`"
    );
}
