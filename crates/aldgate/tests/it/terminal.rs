//! The demonstration at a terminal.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::clients::python;
use crate::running::aldgate;

/// A program under `script`, which gives it a terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    shown: String,
}

impl Terminal {
    fn start() -> Self {
        Self::run("demo --once --tickets 400 --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0", &[])
    }

    /// A command of the binary, with these environment variables.
    pub(crate) fn run(command: &str, variables: &[(&str, &str)]) -> Self {
        // What never comes is not waited for: the program is ended, and its screen with it.
        let command =
            format!("timeout --foreground --signal=KILL 180 {} {command}", env!("CARGO_BIN_EXE_aldgate"));
        let mut child = Command::new("script")
            .args(["-qefc", &command, "/dev/null"])
            .env_remove("ALDGATE_LOG")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` runs; it is in the package bsdutils");
        let (keys, screen) = (child.stdin.take().expect("keys"), child.stdout.take().expect("a screen"));
        Self { child, keys, screen, shown: String::new() }
    }

    pub(crate) fn until(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.shown.contains(text) {
            let read = self.screen.read(&mut buffer).expect("a screen");
            assert_ne!(read, 0, "`{text}` never came: {}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    /// What stands behind a text, to the end of its line.
    pub(crate) fn rest_of_line(&mut self, text: &str) -> String {
        let mut buffer = [0; 4096];
        loop {
            let line = self.shown.split_once(text).and_then(|(_, after)| after.split_once("\r\n"));
            if let Some((line, _)) = line {
                return line.to_owned();
            }
            let read = self.screen.read(&mut buffer).expect("a screen");
            assert_ne!(read, 0, "`{text}` never came: {}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys");
        self.keys.flush().expect("keys");
    }

    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        self.screen.read_to_end(&mut rest).expect("the rest");
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        (self.child.wait().expect("it ends").code(), self.shown)
    }
}

#[test]
fn an_interrupt_at_the_question_ends_it_at_once() {
    let mut terminal = Terminal::start();
    terminal.until("[a]pprove, [d]eny");
    let pressed = Instant::now();
    terminal.press("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(!shown.contains("dispatch  raise_parts_order"));
    // A thread that waits for a line would keep it for five seconds.
    assert!(pressed.elapsed() < Duration::from_secs(5), "it took {:?}", pressed.elapsed());
}

#[test]
fn capital_letters_decide_too_and_no_note_is_made_up() {
    let mut terminal = Terminal::start();
    terminal.until("[a]pprove, [d]eny");
    terminal.press("x\nA\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("`a` or `d`"), "{shown}");
    assert!(shown.contains("exactly one order was dispatched"), "{shown}");
    assert!(!shown.contains("checked against the ticket"), "{shown}");
}

#[test]
fn a_person_who_signs_in_elsewhere_decides_and_the_demonstration_goes_on() {
    let mut terminal = Terminal::start();
    terminal.until("[a]pprove, [d]eny");
    let word = |before: &str| {
        let (_, after) =
            terminal.shown.split_once(before).unwrap_or_else(|| panic!("no `{before}`: {}", terminal.shown));
        after.split_whitespace().next().expect("a word").to_owned()
    };
    let (url, admin) = (word("export ALDGATE_URL="), word(" ALDGATE_ADMIN_URL="));
    let (password, approval) = (word("with the password "), word("approvals approve "));
    let mut command = aldgate();
    command
        .args(["approvals", "approve", &approval])
        .env("ALDGATE_URL", &url)
        .env("ALDGATE_ADMIN_URL", &admin);
    let mut child =
        command.env("PATH", "/nonexistent").stderr(Stdio::piped()).spawn().expect("the binary starts");
    let said = BufReader::new(child.stderr.take().expect("its messages"));
    let mut lines = said.lines().map_while(Result::ok);
    let page = lines.find_map(|line| line.split_once(" open ").map(|(_, url)| url.trim().to_owned()));
    let browser =
        python("browser.py").args([&page.expect("where to sign in"), "approver", &password]).output();
    assert!(browser.expect("it runs").status.success());
    assert!(child.wait().expect("it ends").success());
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("exactly one order was dispatched"), "{shown}");
    assert!(!shown.contains("this program goes through the pages"), "{shown}");
}

#[test]
fn a_password_that_was_changed_elsewhere_is_tried_once() {
    let mut terminal = Terminal::start();
    terminal.until("[a]pprove, [d]eny");
    let url = terminal.rest_of_line("export ALDGATE_URL=");
    let (url, admin) = url.split_once(" ALDGATE_ADMIN_URL=").expect("two addresses");
    let password = terminal.rest_of_line("with the password ");
    let password = password.split_whitespace().next().expect("a password");
    // Somebody signs in with it, which changes it, and decides nothing.
    let home = tempfile::tempdir().expect("a folder");
    let mut command = aldgate();
    command.args(["login", "--admin", "--scope", "tools:read"]).env("PATH", "/nonexistent");
    command.env("XDG_STATE_HOME", home.path());
    command.env("ALDGATE_URL", url).env("ALDGATE_ADMIN_URL", admin).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let said = BufReader::new(child.stderr.take().expect("its messages"));
    let mut lines = said.lines().map_while(Result::ok);
    let page = lines.find_map(|line| line.split_once(" open ").map(|(_, url)| url.trim().to_owned()));
    let browser =
        python("browser.py").args([&page.expect("where to sign in"), "approver", password]).output();
    assert!(browser.expect("it runs").status.success());
    assert!(child.wait().expect("it ends").success());
    terminal.press("a\n");
    let (_, shown) = terminal.end();
    assert!(shown.contains("could not sign in as `approver`") && shown.contains("(status 403)"), "{shown}");
    assert!(shown.contains("nobody decided on the order") || shown.contains("nobody decided"), "{shown}");
}
