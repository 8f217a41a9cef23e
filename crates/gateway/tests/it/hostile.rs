//! Peers that mean harm. While each of them is at it, somebody else is served.

mod answers;
mod bytes;
mod changing;
mod connections;
mod heads;
mod requests;

use std::future::Future;
use std::time::Duration;

use aldgate_testkit::{RawUpstream, Reply, Step};

use crate::fake;
use crate::world::{Config, World, http, settings_of, text};

/// What every good answer says.
const GOOD: &str = "done";
/// Stands for the id of the request in the texts of answers.
const ID: &str = "%ID%";

/// How long a call may take where one is waited for that hangs; the others have to be served in this time too.
const HANG: Duration = Duration::from_secs(2);
/// Held by whoever opens hundreds of connections: the descriptors of the process are all tests' together.
static MANY_CONNECTIONS: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A gateway with the good upstream `up`, and beside it `bad`, which answers calls as `script` says.
async fn beside(
    script: impl Fn(&str, &str) -> Vec<Step> + Send + Sync + 'static,
    change: impl FnOnce(&mut Config),
) -> (World, RawUpstream) {
    let bad = RawUpstream::start(fake::upstream(), script).await.unwrap();
    let url = bad.url();
    let world = World::start(|config| {
        config.upstreams.push(settings_of("bad", "bad_", http(&url)));
        config.entries.extend(fake::entries("bad"));
        change(config);
    })
    .await;
    // The contracts of both are compared before anything goes wrong.
    assert_eq!(text(&look(&world).await), GOOD);
    (world, bad)
}

/// A call of the good upstream.
async fn look(world: &World) -> Reply {
    world.call("look", r#"{"text":"t"}"#).await
}

/// Attacks, and has others served in the meantime; gives what came of the attack.
async fn meanwhile<T>(world: &World, attack: impl Future<Output = T>) -> T {
    let (attacked, served) = in_the_end(futures::future::join(attack, look(world))).await;
    assert_eq!(text(&served), GOOD, "others are not served: {}", served.text());
    attacked
}

/// Fails where something does not end at all.
async fn in_the_end<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.unwrap()
}

/// The good result, as it stands in a response with this id.
fn answer(id: &str) -> String {
    let result = r#"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}
