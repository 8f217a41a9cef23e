//! Clients that are described by a document at their URL, on a host inside a private network that the configuration names.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use aldgate_testkit::RmcpRegistration;
use serde_json::Value;

use super::world::{SERVER, World};
use super::{rmcp, succeeds, text};
use crate::clients::{python, typescript};
use crate::running::{aldgate, json_of};

/// A host with a document, and its certificate authority in `ca.pem` of the folder.
struct Site {
    child: Child,
    url: String,
}

impl Site {
    fn start(folder: &Path) -> Self {
        let mut child = python("document.py")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().expect("its output"));
        said.read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        Self { child, url: told["url"].as_str().expect("a URL").to_owned() }
    }

    /// Its name and port.
    fn host(&self) -> &str {
        self.url.split('/').nth(2).expect("a host")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // One that has ended already cannot be killed; that is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The authorization server, for clients at these hosts.
fn server(hosts: &str, ca: &str) -> String {
    let lines = format!("[identity.server]\nclient_metadata_hosts = [{hosts}]\n{ca}\n");
    SERVER.replacen("[identity.server]\n", &lines, 1)
}

#[test]
fn clients_of_this_house_are_known_by_their_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let (site, other) = (Site::start(folder.path()), tempfile::tempdir().expect("a folder"));
    let other = Site::start(other.path());
    let named = server(&format!("{:?}", site.host()), "client_metadata_ca = \"ca.pem\"");
    let world = World::in_folder(folder, &named);

    let someone = world.person("someone", &["agent", "writer"]);
    let name = "A client of this house";
    let consent =
        rmcp::signs_in(&world.url, RmcpRegistration::Document(&site.url), "someone", &someone.password);
    assert!(consent.contains(name) && consent.contains("localhost"), "{consent}");
    for (way, mut script) in [("python", python("sign_in.py")), ("typescript", typescript("sign-in.mjs"))] {
        let someone = world.person(way, &["agent", "writer"]);
        let output = script.args([&world.url, way, &someone.password, "document", &site.url]).output();
        let output = output.expect("it runs");
        succeeds(&output);
        let told = json_of(&output);
        assert_eq!(
            (&told["client_id"], &told["refreshed"]),
            (&site.url.as_str().into(), &1.into()),
            "{told}"
        );
    }

    // Another port of that host is not named, and neither is another host there.
    let own = world.url.trim_end_matches("/mcp");
    for (elsewhere, why) in [
        (other.url.clone(), "as it is written when it is normalised"),
        ("https://localhost/desk.json".to_owned(), "not of the public internet"),
    ] {
        let page = format!(
            "{own}/oauth/authorize?response_type=code&client_id={elsewhere}&redirect_uri=http://127.0.0.1/callback\
             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&resource={}",
            world.url
        );
        let refused = python("browser.py").args([&page, "someone", &someone.password, "--stay"]).output();
        let refused = refused.expect("it runs");
        assert!(!refused.status.success() && text(&refused).contains(why), "{}", text(&refused));
    }
}

#[test]
fn a_host_without_its_authority_is_not_believed() {
    let (folder, of_site) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let site = Site::start(of_site.path());
    let world = World::in_folder(folder, &server(&format!("{:?}", site.host()), ""));
    let someone = world.person("someone", &["agent", "writer"]);
    let mut script = python("sign_in.py");
    let output = script.args([&world.url, "someone", &someone.password, "document", &site.url]).output();
    let output = output.expect("it runs");
    assert!(!output.status.success() && text(&output).contains("the connection failed"), "{}", text(&output));
}

#[test]
fn hosts_and_authorities_that_cannot_be_are_found_by_the_check() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("no.pem"), "no certificate").expect("written");
    let host = "client_metadata_hosts = [\"clients.example.com\"]\n";
    for (lines, code, why) in [
        ("client_metadata_hosts = [\"*.example.com\"]", "AG-CONFIG-VALUE", "`*.example.com` is no host"),
        ("client_metadata_hosts = [\"10.0.0.7\"]", "AG-CONFIG-VALUE", "`10.0.0.7` is no host"),
        ("client_metadata_ca = \"no.pem\"", "AG-CONFIG-VALUE", "name the hosts too"),
        (&format!("{host}client_metadata_ca = \"no.pem\""), "AG-CONFIG-VALUE", "at least one `CERTIFICATE`"),
        (&format!("{host}client_metadata_ca = \"none.pem\""), "AG-CONFIG-FILE", "none.pem"),
        (&format!("{host}client_metadata = false"), "AG-CONFIG-VALUE", "`client_metadata` is off"),
    ] {
        std::fs::write(folder.path().join("aldgate.toml"), format!("[identity.server]\n{lines}\n"))
            .expect("written");
        let output = aldgate().current_dir(&folder).args(["config", "check"]).output().expect("it runs");
        // Messages are wrapped where they are long.
        let told = text(&output).split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && told.contains(code) && told.contains(why), "{lines}: {told}");
    }
}
