//! Commands that run longer than an access token is good.

use std::io::Read as _;
use std::time::{Duration, Instant};

use super::world::{Someone, World};
use super::{pending, succeeds, text};
use crate::terminal::Terminal;

/// How long an access token is good: the least that can be configured.
const LIFE: Duration = Duration::from_secs(60);

#[test]
fn a_run_and_a_subscription_outlive_the_token_that_they_began_with() {
    let world =
        World::start_with(|config| config.replace("dynamic_registration = true", "access_token = \"1m\""));
    let mut alice = world.person("alice", &["agent", "writer"]);
    let mut maya = world.person("maya", &["approver"]);
    succeeds(&alice.signs_in(&["login"]));
    let signed_in = Instant::now();
    let first = alice.access_token(false);
    let mut listening = alice.begins(&["listen", "ticket://SR-20031", "--most", "1"]);
    let run = alice.begins(&["agent", "run", "Work service ticket SR-20031.", "--json"]);
    succeeds(&maya.signs_in(&["login", "--admin", "--scope", "tools:read"]));
    let order = pending(&maya);
    std::thread::sleep((LIFE + Duration::from_secs(5)).saturating_sub(signed_in.elapsed()));
    assert!(listening.try_wait().expect("a state").is_none(), "it has ended");
    // The first token is good no more; the run goes on with another one, and posts its note.
    let refused = world.run_as(&first, &["tools", "list"]);
    assert!(text(&refused).contains("AG-AGENT-UNAUTHORIZED"), "{}", text(&refused));
    succeeds(&maya.signs_in(&["approvals", "approve", &order]));
    let done = run.wait_with_output().expect("it ends");
    succeeds(&done);
    assert!(text(&done).contains("ordered"), "{}", text(&done));
    let mut told = String::new();
    listening.stdout.take().expect("its output").read_to_string(&mut told).expect("its output");
    assert_eq!(told, "ticket://SR-20031 has changed\n");
    assert!(listening.wait().expect("it ends").success());
    assert_ne!(alice.access_token(false), first);
}

/// A note at a terminal, with what somebody's sign-in gave; and the browser that they are asked to open.
fn notes(world: &World, someone: &Someone<'_>) -> (Option<i32>, String) {
    let arguments = r#"{"ticket_id":"SR-20031","note":"looked"}"#;
    let home = someone.home().display().to_string();
    let variables = [("XDG_STATE_HOME", home.as_str()), ("ALDGATE_URL", &world.url)];
    let mut terminal = Terminal::run(&format!("call post_ticket_update --args '{arguments}'"), &variables);
    let page = terminal.rest_of_line(" open ");
    someone.browses(&page);
    terminal.end()
}

#[test]
fn a_person_at_a_terminal_is_asked_for_the_scope_that_a_call_lacks() {
    let world = World::start();
    let mut alice = world.person("alice", &["agent", "writer"]);
    let mut bob = world.person("bob", &["agent"]);
    succeeds(&alice.signs_in(&["login", "--scope", "tools:read"]));
    succeeds(&bob.signs_in(&["login"]));
    let (code, shown) = notes(&world, &alice);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("needs more than was granted: tools:read tools:write"), "{shown}");
    // What was granted is kept, and asked for no more.
    let again =
        alice.run(&["call", "post_ticket_update", "--args", r#"{"ticket_id":"SR-20031","note":"again"}"#]);
    succeeds(&again);
    // Who may not grant it is asked once, and refused.
    let (code, shown) = notes(&world, &bob);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("AG-AGENT-UNAUTHORIZED") && shown.matches("sign in:").count() == 1, "{shown}");
}
