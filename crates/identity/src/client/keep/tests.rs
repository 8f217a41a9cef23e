use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::client::register::Registration;

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

pub(in crate::client) fn kept(issuer: &str, scopes: Option<&str>) -> Kept {
    Kept {
        issuer: issuer.to_owned(),
        resource: "https://h/mcp".to_owned(),
        account: "default".to_owned(),
        indicator: "https://h/mcp".to_owned(),
        client_id: "client".to_owned(),
        access: AccessToken {
            token: Secret::new("access-canary".to_owned()),
            scopes: scopes.map(|scopes| Scopes::parse(scopes).unwrap()),
            expires_at: Some(NOW),
            key: Some(DpopKey::generate().unwrap()),
        },
        refresh: Some(Secret::new("refresh-canary".to_owned())),
        signed_in_at: NOW,
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn what_is_written_comes_back_and_only_its_owner_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("a/b");
    let keep = Keep::open(&at).unwrap();
    let one = kept("https://as.example", Some("tools:read"));
    assert!(keep.write(&one).unwrap());
    let found = keep.read(one.key()).unwrap().unwrap();
    assert!(found.access.token == one.access.token && found.refresh == one.refresh);
    assert_eq!((found.access.scopes, found.access.expires_at), (one.access.scopes.clone(), Some(NOW)));
    assert!(found.access.key.unwrap().document() == one.access.key.as_ref().unwrap().document());
    assert_eq!(mode(&at), 0o700);
    assert_eq!(files(&at).iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o600]);
    keep.write(&one).unwrap();
    assert_eq!(files(&at).len(), 1, "nothing is left of a replacement");
    keep.remove(one.key()).unwrap();
    keep.remove(one.key()).unwrap();
    assert!(keep.read(one.key()).unwrap().is_none() && files(&at).is_empty());
    assert!(!format!("{one:?}").contains("canary"));
}

#[test]
fn keys_do_not_run_into_each_other_and_the_latest_sign_in_counts() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Keep::open(&folder.path().join("t")).unwrap();
    let key = |issuer, resource, account| Key { issuer, resource, account }.name();
    assert_ne!(key("a", "bc", "d"), key("ab", "c", "d"));
    let (old, new) = (kept("https://old.example", None), kept("https://new.example", None));
    keep.write(&Kept { signed_in_at: NOW + time::Duration::SECOND, ..new }).unwrap();
    keep.write(&old).unwrap();
    assert_eq!(keep.latest("https://h/mcp", "default").unwrap().unwrap().issuer, "https://new.example");
    assert!(keep.latest("https://h/mcp", "other").unwrap().is_none());
    assert!(keep.latest("https://h/mcp/", "default").unwrap().is_none());
    std::fs::write(folder.path().join("t/tokens-of-another-version.json"), "{}").unwrap();
    let path = folder.path().join("t/tokens-of-another-version.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(keep.latest("https://h/mcp", "default").unwrap().is_some());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o604)).unwrap();
    assert!(keep.latest("https://h/mcp", "default").is_err());
}

#[test]
fn what_may_decide_approvals_is_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("t");
    let keep = Keep::open(&at).unwrap();
    assert!(!keep.write(&kept("https://as.example", Some("approvals:decide tools:read"))).unwrap());
    assert!(files(&at).is_empty());
}

#[test]
fn what_others_may_read_or_have_written_is_refused_without_showing_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("t");
    let keep = Keep::open(&at).unwrap();
    let one = kept("https://as.example", None);
    keep.write(&one).unwrap();
    let path = files(&at).remove(0);
    let set = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap()
    };
    set(&path, 0o644);
    let fault = keep.read(one.key()).unwrap_err();
    assert!(matches!(fault, KeepFault::Open { mode: 0o644, expected: 0o600, .. }), "{fault}");
    set(&path, 0o600);
    for content in ["{\"access_token\":\"canary", "{\"version\":\"canary\"}", ""] {
        std::fs::write(&path, content).unwrap();
        let fault = keep.read(one.key()).unwrap_err();
        assert!(
            matches!(fault, KeepFault::Content { .. }) && !format!("{fault} {fault:?}").contains("canary")
        );
    }
    // The file of another key, put in this one's place.
    let other = kept("https://other.example", None);
    keep.write(&other).unwrap();
    std::fs::rename(file::path(&at, &other.key().name()), &path).unwrap();
    assert!(matches!(keep.read(one.key()), Err(KeepFault::Content { .. })));
    set(&at, 0o750);
    assert!(matches!(Keep::open(&at), Err(KeepFault::Open { mode: 0o750, .. })));
}

#[test]
fn a_registration_is_of_one_issuer() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("t");
    let keep = Keep::open(&at).unwrap();
    let client = Registration {
        client_id: "c".to_owned(),
        authentication: ClientAuthentication::Post(Secret::new("canary".to_owned())),
        port: Some(7),
    };
    keep.write_client("https://as.example", &client).unwrap();
    let found = keep.read_client("https://as.example").unwrap().unwrap();
    assert_eq!((found.client_id.as_str(), found.port), ("c", Some(7)));
    assert!(
        matches!(found.authentication, ClientAuthentication::Post(secret) if secret.expose() == "canary")
    );
    assert!(keep.read_client("https://as.example/").unwrap().is_none());
    assert_eq!(mode(&files(&at)[0]), 0o600);
    keep.remove_client("https://as.example").unwrap();
    assert!(keep.read_client("https://as.example").unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_holds_a_lock_and_nobody_waits_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Keep::open(&folder.path().join("t")).unwrap();
    let one = kept("https://as.example", None);
    let held = keep.lock(one.key()).await.unwrap();
    let other = kept("https://other.example", None);
    assert!(keep.lock(other.key()).await.is_ok(), "another key is not held");
    assert!(matches!(keep.lock(one.key()).await, Err(KeepFault::Held { .. })));
    drop(held);
    assert!(keep.lock(one.key()).await.is_ok());
}
