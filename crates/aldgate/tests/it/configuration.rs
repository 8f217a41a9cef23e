//! `aldgate config check`: what a configuration may not say.

mod whose;

use crate::running::{aldgate, run};
use crate::upstream::{Upstream, tool};

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
fn resources_and_prompts_have_sections_of_their_own() {
    let entry = "authority = \"automatic\"\nlabels = []\n";
    let file = |keys: &[&str]| keys.iter().map(|key| format!("[{key}]\n{entry}")).collect::<String>();
    let good =
        file(&["resources.\"a/ticket://{id}\"", "resources.\"b/part://{id}\"", "prompts.\"a/diagnose\""]);
    // The sections are read; what they name must be there.
    let missing = said(&good).expect_err("a fault");
    assert!(missing.contains("`a/ticket://{id}`, but there is no upstream of this name"), "{missing}");
    refused(&file(&["resources.\"a/ticket\""]), "`ticket` is not a URI or a template of one");
    refused(&file(&["prompts.diagnose"]), "`diagnose` is not a prompt's key");
    refused(
        &file(&["resources.\"a/ticket://{id}\"", "resources.\"b/ticket://SR-1\""]),
        "`ticket://SR-1` in `a/ticket://{id}` and in `b/ticket://SR-1`",
    );
    let misspelt = said(&good.replace("labels", "lables")).expect_err("a fault");
    assert!(misspelt.contains("AG-CONFIG-KEY") && misspelt.contains("did you mean `labels`?"), "{misspelt}");
}

#[test]
fn lengths_of_time_have_bounds() {
    for (setting, least, most, below, above) in [
        ("approvals.pending_for", "1s", "30days", "999ms", "31days"),
        ("approvals.redeem_within", "1s", "1day", "0s", "25h"),
        ("limits.longest_call", "1m", "24h", "0s", "25h"),
        ("limits.keep_alive", "1s", "1h", "999ms", "61m"),
    ] {
        for good in [least, most] {
            assert_eq!(said(&format!("{setting} = \"{good}\"\n")), Ok(()), "{setting} {good}");
        }
        for bad in [below, above] {
            refused(&format!("{setting} = \"{bad}\"\n"), &format!("`{setting}` is"));
        }
    }
    let both = |call: &str| format!("limits.longest_call = \"2h\"\nlimits.call_timeout = \"{call}\"\n");
    for good in ["1s", "1h"] {
        assert_eq!(said(&both(good)), Ok(()), "{good}");
    }
    for bad in ["0s", "61m"] {
        refused(&both(bad), "`limits.call_timeout` is");
    }
    refused("limits.call_timeout = \"6m\"\n", "longer than `limits.longest_call`");
    refused("approvals.hold = \"26s\"\n", "`approvals.hold` is longer than `25s`");
}

#[test]
fn numbers_have_bounds() {
    for (setting, least, most) in [
        ("header_bytes", 8 << 10, 1 << 20),
        ("rounds", 0, 100),
        ("list_items", 1, 1_000_000),
        ("list_pages", 1, 10_000),
        ("list_page", 1, 100_000),
        ("listens", 0, 1_000_000),
        ("listens_per_principal", 0, 1_000_000),
        ("listen_uris", 0, 4096),
    ] {
        for good in [least, most] {
            assert_eq!(said(&format!("limits.{setting} = {good}\n")), Ok(()), "{setting} {good}");
        }
        refused(
            &format!("limits.{setting} = {}\n", most + 1),
            &format!("`limits.{setting}` is {}", most + 1),
        );
        if least > 0 {
            refused(&format!("limits.{setting} = {}\n", least - 1), &format!("expected {least} to {most}"));
        }
    }
}

#[test]
fn a_tools_own_time_is_within_that_of_all() {
    let tool = |seconds: u32| {
        format!("[registry.\"a/b\"]\nauthority = \"automatic\"\nlabels = []\ntimeout_s = {seconds}\n")
    };
    refused(
        &tool(301),
        "`timeout_s` of `a/b` is `5m 1s`; expected at most `limits.longest_call`, which is `5m`",
    );
    let none = said(&tool(0)).expect_err("a fault");
    assert!(none.contains("`timeout_s = 0`"), "{none}");
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
        assert!(said.contains("AG-CONFIG-LOCK") && said.contains("`aldgate contracts pin a`"), "{said}");
    }
}

#[test]
fn what_an_upstream_is_shown_fits_together() {
    let upstream = |more: &str| {
        format!(
            "[upstreams.a]\nkind = \"http\"\nurl = \"http://127.0.0.1:1/mcp\"\nlock = \"a.json\"\n{more}\n"
        )
    };
    let section = |name: &str, members: &str| format!("[upstreams.a.{name}]\n{members}\n");
    let header = "kind = \"header\"\nfile = \"a\"";
    let connection = "kind = \"connection\"\nissuer = \"https://as.example\"\nclient_id = \"a\"";
    let both = |of_callers: &str, own: &str| {
        upstream(&format!("{}{}", section("credential", of_callers), section("own_credential", own)))
    };
    let nobody = "[identity.server]\nenabled = false\n";
    for (toml, expected) in [
        (upstream(&format!("bearer_env = \"A\"\n{}", section("credential", header))), "stand together"),
        (both(header, header), "belongs to a `credential` of each caller"),
        (upstream(&section("own_credential", header)), "belongs to a `credential` of each caller"),
        (both(connection, connection), "is for requests that no caller makes"),
        (
            upstream(&section("credential", &format!("{connection}\naudience = \"a\""))),
            "`audience` does nothing",
        ),
        (format!("{nobody}{}", upstream(&section("credential", connection))), "`identity.server.enabled`"),
    ] {
        let said = said(&toml).expect_err(&toml);
        assert!(said.contains("AG-CONFIG-UPSTREAM") && said.contains(expected), "{toml}: {said}");
    }
    // The right one gets as far as the lock, which is not there.
    let right = said(&both(connection, header)).expect_err("no lock");
    assert!(right.contains("AG-CONFIG-LOCK"), "{right}");
}

#[test]
fn an_origin_that_could_never_be_met_is_refused() {
    let upstream = |asking: &str| {
        format!(
            "[upstreams.a]\nkind = \"http\"\nurl = \"http://127.0.0.1:1/mcp\"\nlock = \"a.json\"\n{asking}\n"
        )
    };
    let both = |origin: &str| upstream(&format!("may_ask = [\"url\"]\nask_origins = [\"{origin}\"]"));
    let unfit = |toml: &str, expected: &str| {
        let said = said(toml).expect_err(toml);
        assert!(said.contains("AG-CONFIG-UPSTREAM") && said.contains(expected), "{said}");
    };
    for bad in ["https://a.example/", "https://A.example", "https://a.example:443"] {
        unfit(&both(bad), "is no origin; expected `https://a.example`");
    }
    unfit(&both("a.example"), "expected `https://host` or `https://host:port`");
    unfit(&upstream("may_ask = [\"url\"]"), "belong together");
    unfit(&upstream("ask_origins = [\"https://a.example\"]"), "belong together");
    // The right one gets as far as the lock, which is not there.
    let right = said(&both("https://a.example:8443")).expect_err("no lock");
    assert!(right.contains("AG-CONFIG-LOCK"), "{right}");
}

/// Checks a configuration of one upstream with one pinned tool, and returns its exit code and what is printed.
fn checked(
    upstream: &Upstream,
    more: &str,
    policy: &str,
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aldgate.toml");
    let text = format!(
        "{more}\n[policy]\nfiles = [\"p.cedar\"]\n[upstreams.a]\nkind = \"http\"\nurl = \"{}\"\nlock = \"a.json\"\n\
         bearer_env = \"ALDGATE_TEST_BEARER\"\n[registry.\"a/look\"]\nauthority = \"automatic\"\nlabels = []\n",
        upstream.url
    );
    std::fs::write(&path, text).expect("written");
    std::fs::write(folder.path().join("p.cedar"), policy).expect("written");
    let run = |arguments: [&str; 2], variables: &[(&str, &str)]| {
        let mut command = aldgate();
        command.args(arguments).arg("--config").arg(&path).envs(variables.iter().copied());
        command.output().expect("the binary runs")
    };
    assert!(run(["contracts", "pin"], &[("ALDGATE_TEST_BEARER", "x")]).status.success());
    let output = run(["config", "check"], variables);
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn what_is_empty_or_not_set_here_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aldgate.toml");
    std::fs::write(&path, "[identity.server]\nenabled = false\n").expect("written");
    let output = run(&["config", "check", "--config", path.to_str().expect("UTF-8")]);
    assert!(output.status.success());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    for said in [
        "there are no principals",
        "there are no upstreams",
        "the registry is empty",
        "there are no policies",
    ] {
        assert!(printed.contains(&format!("warning: {said}")), "{printed}");
    }
    assert_eq!(printed.matches("warning: ").count(), 4, "{printed}");

    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let seal = "[gateway]\nsealing_key_env = \"ALDGATE_TEST_SEAL\"";
    let (code, printed) = checked(&upstream, seal, "", &[]);
    assert_eq!(code, Some(0));
    for said in
        ["`ALDGATE_TEST_BEARER` is not set", "`upstreams.a.bearer_env`", "`ALDGATE_TEST_SEAL` is not set"]
    {
        assert!(printed.contains(said), "{printed}");
    }
    let set = [("ALDGATE_TEST_BEARER", "x"), ("ALDGATE_TEST_SEAL", "too short")];
    let (code, printed) = checked(&upstream, seal, "", &set);
    assert_eq!(code, Some(0));
    assert!(printed.contains("9 bytes, at least 32") && !printed.contains("is not set"), "{printed}");
}

#[test]
fn policies_that_do_not_fit_the_contracts_are_errors() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let policy = r#"@id("odd") forbid (principal, action == Action::"call", resource == Tool::"a/look")
        when { context.args.nothing == 1 };"#;
    let (code, printed) = checked(&upstream, "", policy, &[]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("policy `odd`") && !printed.contains("is good"), "{printed}");
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named_by_its_setting() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("written");
    let path = folder.path().join("aldgate.toml");
    for state in ["file/state", "file"] {
        let config = format!(
            "[gateway]\nlisten = \"127.0.0.1:0\"\nstate_dir = \"{state}\"\n[admin]\nlisten = \"127.0.0.1:0\"\n\
             [identity.server]\nenabled = false\n"
        );
        std::fs::write(&path, config).expect("written");
        let output = run(&["serve", "gateway", "--config", path.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("gateway.state_dir"), "{said}");
        // What `config check` warns of is told at the start as well.
        assert!(said.contains("warning: there are no principals"), "{said}");
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

#[test]
fn more_connections_than_the_system_has_descriptors_for_are_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aldgate.toml");
    let text =
        "[gateway]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[limits]\nin_flight = 9\n";
    std::fs::write(&path, text).expect("written");
    let binary = aldgate();
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -n 600; exec \"$0\" serve gateway --config \"$1\""])
        .args([binary.get_program(), path.as_os_str()])
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("AG-CLI-DESCRIPTORS"), "{said}");
    assert!(said.contains("2569") && said.contains("600"), "{said}");
}

#[test]
fn what_nobody_may_decide_and_what_no_lock_holds_are_warnings() {
    let upstream = Upstream::start(&[tool("look", "Looks.")]);
    let people = "[[principals]]\nname = \"caller\"\nkind = \"service\"\ntoken_sha256 = \"sha256:0000000000000000000000000000000000000000000000000000000000000001\"\n[[principals]]\nname = \"decider\"\nkind = \"person\"\ntoken_sha256 = \"sha256:0000000000000000000000000000000000000000000000000000000000000002\"\n";
    let entry = "[resources.\"a/note://{id}\"]\nauthority = \"requires_approval\"\nlabels = []\n";
    let more = format!("{people}{entry}");
    for (policy, warned) in [
        ("permit (principal, action == Action::\"decide\", resource is Tool);", true),
        ("permit (principal, action == Action::\"decide\", resource);", false),
    ] {
        let (_, printed) = checked(&upstream, &more, policy, &[]);
        let nobody = "warning: nobody may decide approvals of the resource `a/note://{id}`";
        assert_eq!(printed.contains(nobody), warned, "{printed}");
        assert!(
            printed.contains("warning: `note://{id}` is no template that the lock of `a` holds (none)"),
            "{printed}"
        );
    }
}

#[test]
fn where_spans_go_and_how_many_are_kept_has_bounds() {
    let section = |line: &str| format!("[telemetry]\n{line}\n");
    for good in [
        "otlp_endpoint = \"http://127.0.0.1:4318\"",
        "otlp_endpoint = \"https://collector.example/base\"",
        "sample_ratio = 0.0",
        "sample_ratio = 1",
        "content = true",
        "spans = 0",
        "spans = 100000",
    ] {
        let said = said(&section(good));
        assert!(said.is_ok(), "{good}: {said:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aldgate.toml");
    for (content, warned) in [(true, true), (false, false)] {
        std::fs::write(&path, section(&format!("content = {content}"))).expect("written");
        let output = run(&["config", "check", "--config", path.to_str().expect("UTF-8")]);
        let told = String::from_utf8_lossy(&output.stdout).contains("`telemetry.content` is on");
        assert_eq!(told, warned, "{output:?}");
    }
    refused(&section("sample_ratio = 1.5"), "`telemetry.sample_ratio` is 1.5; expected 0 to 1");
    refused(&section("sample_ratio = -0.1"), "expected 0 to 1");
    refused(&section("sample_ratio = nan"), "expected 0 to 1");
    refused(&section("spans = 100001"), "`telemetry.spans` is 100001");
    for endpoint in ["127.0.0.1:4318", "ftp://127.0.0.1", "http://user:secret@127.0.0.1:4318"] {
        refused(&section(&format!("otlp_endpoint = \"{endpoint}\"")), "expected a base URL");
    }
}
