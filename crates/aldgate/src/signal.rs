//! When to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves at the first interrupt or termination signal.
pub(crate) async fn stop() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::error!("signals cannot be listened to; end the program with SIGKILL");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
