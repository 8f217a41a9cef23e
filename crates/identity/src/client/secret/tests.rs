use super::*;

#[test]
fn a_secret_is_shown_nowhere() {
    let secret = Secret::new("canary".to_owned());
    assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "Secret Some(\n    Secret,\n)");
    let read: Secret = serde_json::from_str("\"canary\"").unwrap();
    assert_eq!(read.expose(), "canary");
}
