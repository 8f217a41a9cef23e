//! `aldgate config check`: what a configuration may not say.

use crate::running::run;

/// What is said of a configuration, without the frame around it.
fn said(text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aldgate.toml");
    std::fs::write(&path, text).expect("written");
    let output = run(&["config", "check", "--config", path.to_str().expect("UTF-8")]);
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" "))
}

#[test]
fn an_unknown_setting_names_the_nearest() {
    let said = said("[gateway]\nlisen = \"127.0.0.1:1\"\n").expect_err("a fault");
    assert!(said.contains("gateway.lisen") && said.contains("did you mean `listen`?"), "{said}");
    assert!(said.contains("AG-CONFIG-KEY"), "{said}");
}

fn refused(text: &str, what: &str) {
    let said = said(text).expect_err(text);
    assert!(said.contains("AG-CONFIG-VALUE") && said.contains(what), "{text}: {said}");
}

#[test]
fn lengths_of_time_have_bounds() {
    for (setting, least, most, below, above) in [
        ("approvals.pending_for", "1s", "30days", "999ms", "31days"),
        ("approvals.redeem_within", "1s", "1day", "0s", "25h"),
        ("limits.call_timeout", "1s", "1h", "0s", "61m"),
    ] {
        for good in [least, most] {
            assert_eq!(said(&format!("{setting} = \"{good}\"\n")), Ok(()), "{setting} {good}");
        }
        for bad in [below, above] {
            refused(&format!("{setting} = \"{bad}\"\n"), &format!("`{setting}` is"));
        }
    }
    refused("approvals.hold = \"26s\"\n", "`approvals.hold` is longer than `25s`");
}

#[test]
fn live_contracts_are_compared_at_least_every_five_minutes() {
    let upstream = |every: &str| {
        format!(
            "[upstreams.a]\nkind = \"http\"\nurl = \"http://127.0.0.1:1/mcp\"\nlock = \"a.json\"\nverify_every = \"{every}\"\n"
        )
    };
    for bad in ["0s", "500ms", "301s", "1day"] {
        refused(&upstream(bad), "`upstreams.a.verify_every` is");
    }
    // What is within the bounds gets as far as the lock, which is not there.
    for good in ["1s", "5m"] {
        let said = said(&upstream(good)).expect_err("no lock");
        assert!(said.contains("AG-CONFIG-FILE"), "{said}");
    }
}

#[test]
fn addresses_are_an_ip_address_and_a_port() {
    for table in ["gateway", "admin"] {
        for bad in ["localhost:7300", "127.0.0.1", ":7300", "http://127.0.0.1:7300", "127.0.0.1:99999"] {
            refused(&format!("[{table}]\nlisten = \"{bad}\"\n"), "is not an IP address with a port");
        }
        assert_eq!(said(&format!("[{table}]\nlisten = \"[::1]:0\"\n")), Ok(()));
    }
}
