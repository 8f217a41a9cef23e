//! Who is one person, and whom an upstream serves.

use super::said;

#[test]
fn a_person_is_who_there_is_and_one_person_alone() {
    let principal = |name: &str, digit: u8| {
        let hash = format!("sha256:{digit:064}");
        format!("[[principals]]\nname = \"{name}\"\nkind = \"person\"\ntoken_sha256 = \"{hash}\"\n")
    };
    let issuer = "[[identity.issuers]]\nissuer = \"https://login.example.com\"\ntenants = [\"default\"]\n";
    let base = format!("{}{}{issuer}", principal("maya", 1), principal("lena", 2));
    let person = |name: &str, what: &str| format!("[[people]]\nname = \"{name}\"\n{what}\n");
    let subject = |issuer: &str| format!("subjects = [{{ issuer = \"{issuer}\", subject = \"81\" }}]");
    let good = format!("principals = [\"maya\"]\n{}", subject("https://login.example.com"));
    assert_eq!(said(&format!("{base}{}", person("maya", &good))), Ok(()));
    let server = format!("{base}[identity.server]\nenabled = true\n");
    let own = "principals = [\"maya\"]\naccounts = [\"Maya\"]\nclients = [\"bot\"]";
    assert_eq!(said(&format!("{server}{}", person("maya", own))), Ok(()));
    for (what, told) in [
        ("principals = [\"mara\"]".to_owned(), "there is no principal `mara`"),
        (subject("https://login.example.com/"), "there is no issuer `https://login.example.com/`"),
        ("accounts = [\"maya\"]".to_owned(), "no authorization server of its own"),
        ("clients = [\"bot\"]".to_owned(), "no authorization server of its own"),
    ] {
        let said = said(&format!("{base}{}", person("maya", &what))).expect_err("a fault");
        assert!(said.contains("AG-CONFIG-PEOPLE") && said.contains(told), "{said}");
    }
    for (text, told) in [
        (
            format!("{base}{}{}", person("maya", &good), person("m", &good)),
            "is the person `maya` and the person `m`",
        ),
        (format!("{base}{}{}", person("maya", &good), person("maya", "")), "two people are named `maya`"),
        (
            format!(
                "{server}{}{}",
                person("a", "accounts = [\"maya\"]"),
                person("b", "accounts = [\"MAYA\"]")
            ),
            "is the person `a` and the person `b`",
        ),
    ] {
        let said = said(&text).expect_err("a fault");
        assert!(said.contains("AG-CONFIG-PEOPLE") && said.contains(told), "{said}");
    }
}

#[test]
fn an_upstream_serves_tenants_that_there_are() {
    let upstream = |tenants: &str| {
        let lines = "kind = \"http\"\nurl = \"http://127.0.0.1:1/mcp\"\nlock = \"a.json\"\n";
        format!("[identity.server]\ntenants = [\"acme\"]\n[upstreams.a]\n{lines}tenants = [\"{tenants}\"]\n")
    };
    let unknown = said(&upstream("acmee")).expect_err("a fault");
    assert!(
        unknown.contains("AG-CONFIG-UPSTREAM") && unknown.contains("the tenant `acmee` in its `tenants`"),
        "{unknown}"
    );
    // What is wrong next is the lock, which is not there.
    let known = said(&upstream("acme")).expect_err("a fault");
    assert!(known.contains("AG-CONFIG-LOCK"), "{known}");
}
