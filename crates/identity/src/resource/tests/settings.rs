use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use time::Duration;
use zeroize::Zeroizing;

use super::*;

fn check(change: impl FnOnce(&mut Settings), expected: Expect) {
    let keys = KeySource::Jwks("https://login.example.com/keys".to_owned());
    let mut settings = super::settings(keys);
    change(&mut settings);
    let told = Verifier::new(settings).err().map_or("good".to_owned(), |fault| fault.to_string());
    expected.assert_eq(&told);
}

fn asked(endpoint: &str) -> Option<Introspection> {
    let [endpoint, client_id] = [endpoint, "gateway"].map(str::to_owned);
    Some(Introspection { endpoint, client_id, secret: Zeroizing::new("s".to_owned()) })
}

#[test]
fn good_settings_are_taken() {
    check(|_| {}, expect!["good"]);
    check(|settings| settings.issuers.clear(), expect!["good"]);
    for local in ["http://127.0.0.1:4444", "http://localhost:4444/t1", "http://[::1]:4444"] {
        let local = local.to_owned();
        check(
            |settings| {
                settings.issuers[0].keys = KeySource::Jwks(format!("{local}/keys"));
                settings.issuers[0].url = local;
            },
            expect!["good"],
        );
    }
}

#[test]
fn issuer_has_to_be_https_or_loopback() {
    for odd in [
        "http://login.example.com",
        "http://127.0.0.1.example.com",
        "http://10.0.0.1",
        "ftp://login.example.com",
        "https://login.example.com?tenant=a",
        "https://login.example.com#a",
        "https://user@login.example.com",
        "login",
    ] {
        let told = format!(
            "the issuer `{odd}` is no https URL without query, fragment and user; http is taken of loopback addresses alone"
        );
        let keys = KeySource::Discovered;
        let fault =
            Verifier::new(Settings::new(doors(), vec![Issuer::new(odd, keys, tenants(&["a"]))])).err();
        assert_eq!(fault.unwrap().to_string(), told);
    }
}

#[test]
fn endpoints_have_to_be_https_or_loopback_of_a_loopback_issuer() {
    check(
        |settings| settings.issuers[0].keys = KeySource::Jwks("http://127.0.0.1/keys".to_owned()),
        expect![
            "`http://127.0.0.1/keys` of issuer `https://login.example.com` is no https URL without fragment and user; http is taken where both are loopback addresses"
        ],
    );
    check(
        |settings| settings.issuers[0].introspection = asked("http://login.example.com/introspect"),
        expect![
            "`http://login.example.com/introspect` of issuer `https://login.example.com` is no https URL without fragment and user; http is taken where both are loopback addresses"
        ],
    );
}

#[test]
fn other_faults_are_named() {
    check(
        |settings| settings.issuers.push(settings.issuers[0].clone()),
        expect!["two issuers have the URL `https://login.example.com`; each needs its own"],
    );
    check(
        |settings| settings.issuers[0].algorithms.clear(),
        expect![
            "issuer `https://login.example.com` may sign with no algorithm; name those that it uses, such as `ES256`"
        ],
    );
    for odd in [tenants(&[]), tenants(&["acme", ""]), Tenants::One("a\nb".to_owned())] {
        check(
            |settings| settings.issuers[0].tenants = odd,
            expect![
                "issuer `https://login.example.com` may assert no tenant, or one that is no name of 1 to 128 characters without control characters"
            ],
        );
    }
    check(
        |settings| settings.issuers[0].claims.roles = ClaimName("realm_access..roles".to_owned()),
        expect![
            "a claim of issuer `https://login.example.com` has the name `realm_access..roles`; expected members with a point between two"
        ],
    );
    let one = BTreeSet::from(["api://aldgate".to_owned()]);
    check(
        |settings| {
            settings.issuers[0].audiences = BTreeMap::from([(Door::Mcp, one.clone()), (Door::Admin, one)]);
        },
        expect![
            "the audience `api://aldgate` of issuer `https://login.example.com` stands for two doors; each needs its own"
        ],
    );
    check(
        |settings| {
            settings.issuers[0].introspection = asked("https://login.example.com/introspect");
            let mut second = settings.issuers[0].clone();
            second.url = "https://second.example.com".to_owned();
            settings.issuers.push(second);
        },
        expect![
            "the issuers `https://login.example.com` and `https://second.example.com` are both asked about tokens that are no JWT; one would see the tokens of the other"
        ],
    );
    check(
        |settings| settings.leeway = Duration::seconds(6),
        expect!["the leeway is 6s; expected 0 to 5 seconds"],
    );
    check(
        |settings| settings.leeway = Duration::seconds(-1),
        expect!["the leeway is -1s; expected 0 to 5 seconds"],
    );
}

#[test]
fn algorithms_with_a_shared_secret_cannot_be_configured() {
    for name in ["none", "HS256", "HS384", "HS512", "es256"] {
        assert!(serde_json::from_value::<SigningAlgorithm>(name.into()).is_err(), "{name}");
    }
    for algorithm in SigningAlgorithm::ALL {
        assert_eq!(serde_json::from_value::<SigningAlgorithm>(algorithm.name().into()).unwrap(), algorithm);
    }
}
