//! Resources, templates, prompts and completion, each through the journey.

mod completing;
mod listing;
mod prompting;
mod reading;
mod scoping;

use aldgate_authority::{Authority, Entry};
use aldgate_gateway::settings::Pins;

use crate::fake;
use crate::world::{Config, POLICY, World};

/// Agents read, get, complete and listen.
pub(crate) const MORE: &str = r#"
@id("agents-read") permit (principal in Role::"agent", action in [Action::"read", Action::"get_prompt", Action::"call_unattended", Action::"complete", Action::"listen"], resource);
@id("approvers-decide-all") permit (principal in Role::"approver", action == Action::"decide", resource);
"#;

/// The library behind the gateway: `note://{id}` and the prompt `greet` are registered, `secret://b` is not.
pub(crate) fn shelves(config: &mut Config) {
    let reading = Entry { read_only: true, ..Entry::of(Authority::Automatic) };
    config.resources = vec![("up/note://{id}".to_owned(), reading.clone())];
    config.prompts = vec![("up/greet".to_owned(), reading)];
    config.policy = format!("{POLICY}{MORE}");
    config.up().pins = Pins::Locked(fake::whole_lock("up"));
}

/// A running library.
pub(crate) async fn library() -> World {
    World::start_with(fake::library(), shelves).await
}
