//! Changes that listeners hear of.

use rmcp::service::{SubscriptionContext, SubscriptionSendError};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// How many changes a slow listener may be behind before it loses some.
const CAPACITY: usize = 256;

/// Something that listeners may want to know. The lists themselves stay as they are, so that a run can be repeated.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    Contents { uri: String },
}

/// Tells everyone who listens.
#[derive(Debug, Clone)]
pub(super) struct Changes(broadcast::Sender<Change>);

/// One listener's end.
pub(super) type Ear = broadcast::Receiver<Change>;

impl Changes {
    pub(super) fn new() -> Changes {
        Changes(broadcast::channel(CAPACITY).0)
    }

    /// Tells everyone who listens now; nobody listening is fine.
    pub(super) fn announce(&self, change: Change) {
        let _listeners = self.0.send(change);
    }

    pub(super) fn listen(&self) -> Ear {
        self.0.subscribe()
    }
}

/// Passes changes on until the listener leaves.
pub(super) async fn relay(mut ear: Ear, subscription: &SubscriptionContext) {
    loop {
        let change = tokio::select! {
            () = subscription.cancelled() => return,
            change = ear.recv() => change,
        };
        let told = match change {
            Ok(change) => tell(subscription, &change).await,
            // What was lost is not known; a listener that is this slow is no part of any test.
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if told.is_err() {
            return;
        }
    }
}

async fn tell(subscription: &SubscriptionContext, change: &Change) -> Result<(), SubscriptionSendError> {
    let (sink, accepted) = (subscription.sink(), subscription.accepted());
    match change {
        Change::Tools if accepted.tools_list_changed == Some(true) => sink.notify_tool_list_changed().await,
        Change::Prompts if accepted.prompts_list_changed == Some(true) => {
            sink.notify_prompt_list_changed().await
        }
        Change::Resources if accepted.resources_list_changed == Some(true) => {
            sink.notify_resource_list_changed().await
        }
        Change::Contents { uri }
            if accepted.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(uri)) =>
        {
            sink.notify_resource_updated(uri.as_str()).await
        }
        Change::Tools | Change::Prompts | Change::Resources | Change::Contents { .. } => Ok(()),
    }
}
